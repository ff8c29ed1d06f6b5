// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <string.h>

void hash_init(hasher *h) {
  llvm_blake3_hasher_init(h);
}

void hash_init_for(hasher *h, const char *purpose) {
  llvm_blake3_hasher_init_derive_key(h, purpose);
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

static uint64_t read8(const unsigned char *p) {
  uint64_t x;
  memcpy(&x, p, 8);
  return x;
}

static uint64_t read4(const unsigned char *p) {
  uint32_t x;
  memcpy(&x, p, 4);
  return x;
}

// Multiply-and-fold, 16 bytes at a time, in the manner of wyhash. The last 16 bytes are read from
// the end, overlapping what came before, so that no length needs a loop over single bytes.
uint64_t hash_fast(const void *data, size_t size) {
  const unsigned char *p = data;
  uint64_t h = size ^ 0x9e3779b97f4a7c15u, a = 0, b = 0;
  if (size > 16) {
    const unsigned char *end = p + size;
    for (; size > 16; size -= 16, p += 16)
      h = mix(read8(p) ^ 0xa0761d6478bd642fu, read8(p + 8) ^ h);
    a = read8(end - 16);
    b = read8(end - 8);
  } else if (size >= 8) {
    a = read8(p);
    b = read8(p + size - 8);
  } else if (size >= 4) {
    a = read4(p);
    b = read4(p + size - 4);
  } else if (size) {
    a = (uint64_t)p[0] << 16 | (uint64_t)p[size / 2] << 8 | p[size - 1];
  }
  h ^= mix(a ^ 0xe7037ed1a0b428dbu, b ^ h);
  return mix(h, 0xbf58476d1ce4e5b9u);
}
