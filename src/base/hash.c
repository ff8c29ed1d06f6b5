// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <string.h>

void hash_init(hasher *h) {
  llvm_blake3_hasher_init(h);
}

void hash_update(hasher *h, const void *data, size_t size) {
  llvm_blake3_hasher_update(h, data, size);
}

void hash_final(const hasher *h, uint8_t out[HASH_BYTES]) {
  llvm_blake3_hasher_finalize(h, out, HASH_BYTES);
}

void hash_bytes(const void *data, size_t size, uint8_t out[HASH_BYTES]) {
  hasher h;
  hash_init(&h);
  hash_update(&h, data, size);
  hash_final(&h, out);
}

void hash_hex(const uint8_t hash[HASH_BYTES], char out[HASH_HEX]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < HASH_BYTES; i++) {
    out[2 * i] = digits[hash[i] >> 4];
    out[2 * i + 1] = digits[hash[i] & 15];
  }
  out[2 * HASH_BYTES] = 0;
}

static uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// Multiply-and-fold over 8-byte words, in the manner of wyhash.
uint64_t hash_fast(const void *data, size_t size) {
  const unsigned char *p = data;
  uint64_t h = mix(size ^ 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u), word;
  for (; size >= 8; size -= 8, p += 8) {
    memcpy(&word, p, 8);
    h = mix(h ^ word, 0xa0761d6478bd642fu);
  }
  word = 0;
  if (size) memcpy(&word, p, size);
  return mix(h ^ word, 0xe7037ed1a0b428dbu);
}
