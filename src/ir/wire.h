// SPDX-License-Identifier: MIT
//
// The wire form of a program (`.vyreb`): what docs/WIRE.md describes byte by byte. The public calls
// are vyre_program_encode and vyre_program_decode; this header has what the encoder, the decoder,
// the fingerprint and the tests share. One program has exactly one encoding: the decoder refuses
// every other spelling. Pure functions of their arguments: any thread.
#ifndef VYRE_IR_WIRE_H
#define VYRE_IR_WIRE_H

#include "ir/program.h"

// A program without tunables is written as version 1, which every vyre reads; one with tunables as
// version 2, which has them behind the names.
enum { WIRE_VERSION = 1, WIRE_VERSION_TUNABLE = 2 };

// Where things are in a file. All numbers of the header and the table are little-endian.
enum {
  WIRE_AT_MAGIC = 0,     // 4 bytes
  WIRE_AT_VERSION = 4,   // 2 bytes
  WIRE_AT_FLAGS = 6,     // 2 bytes, 0
  WIRE_AT_LENGTH = 8,    // 8 bytes: bytes from WIRE_AT_TABLE to the end
  WIRE_AT_CHECKSUM = 16, // HASH_BYTES: wire_checksum
  WIRE_AT_TABLE = 48,    // one 8-byte length per section
};

typedef enum wire_section { // in the order of the file
  WIRE_INTERFACE,
  WIRE_CONSTANTS,
  WIRE_CODE,
  WIRE_NAMES, // of people's interest only: not in the fingerprint
  WIRE_SECTION_COUNT
} wire_section;

enum { WIRE_AT_SECTIONS = WIRE_AT_TABLE + 8 * WIRE_SECTION_COUNT };

enum { WIRE_FIRST_BYTE = 0x89 };
static const uint8_t wire_magic[4] = {WIRE_FIRST_BYTE, 'V', 'Y', 'R'}; // no text begins like this

// A buffer's flags: its access in the low two bits.
enum { WIRE_ACCESS_MASK = 3, WIRE_TRANSIENT = 4 };

// The first bytes are those of a wire file, so it is not a text.
bool wire_has_magic(const void *data, size_t size);

// Where each section begins, and the end of the last. False when the lengths in the table do not
// add up to the size, which is at least WIRE_AT_SECTIONS.
typedef size_t wire_offsets[WIRE_SECTION_COUNT + 1];
bool wire_find_sections(const uint8_t *file, size_t size, wire_offsets offsets);

// The identity of a program: BLAKE3-256 of its interface, constants and code sections, in key
// derivation mode. Names of values and of shared arrays do not count.
void wire_fingerprint(const vyre_program *program, uint8_t out[HASH_BYTES]);
// The same from a file.
void wire_file_fingerprint(const uint8_t *file, const wire_offsets offsets,
                           uint8_t out[HASH_BYTES]);

// BLAKE3-256 of the names, the table and the fingerprint: it covers every byte of the sections, and
// the larger part of them is hashed once for both.
void wire_checksum(const uint8_t *file, const wire_offsets offsets,
                   const uint8_t fingerprint[HASH_BYTES], uint8_t out[HASH_BYTES]);

// Fills the length and the checksum of a file whose other bytes are final, if its sections can be
// found: for tests, which make files that the encoder would not.
void wire_seal(uint8_t *file, size_t size);

static inline void wire_put_u64(uint8_t *to, uint64_t value) {
  for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t wire_get_u64(const uint8_t *from) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value |= (uint64_t)from[i] << 8 * i;
  return value;
}

#endif
