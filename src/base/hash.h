// SPDX-License-Identifier: MIT
//
// BLAKE3-256 for identity (fingerprints, checksums, keys), and a fast hash for tables in memory.
// BLAKE3 comes from LLVM's support library, linked statically: hashing does not load libLLVM.
#ifndef VYRE_BASE_HASH_H
#define VYRE_BASE_HASH_H

#include <llvm-c/blake3.h>

#include <stddef.h>
#include <stdint.h>

enum { HASH_BYTES = 32, HASH_HEX = 2 * HASH_BYTES + 1 };

typedef llvm_blake3_hasher hasher;

void hash_init(hasher *h);
// BLAKE3's key derivation mode: hashes for different purposes never meet.
void hash_init_for(hasher *h, const char *purpose);
void hash_update(hasher *h, const void *data, size_t size);
void hash_final(const hasher *h, uint8_t out[HASH_BYTES]);
void hash_bytes(const void *data, size_t size, uint8_t out[HASH_BYTES]);
// Lower-case hexadecimal with a NUL.
void hash_hex(const uint8_t hash[HASH_BYTES], char out[HASH_HEX]);

// Not for anything stored: may change between versions.
uint64_t hash_fast(const void *data, size_t size);

#endif
