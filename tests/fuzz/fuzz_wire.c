// SPDX-License-Identifier: MIT
//
// Any bytes given to the decoder: a program or an error, and an accepted file is the one encoding
// of its program. The input is tried as it is, and again with section lengths that add up and a
// checksum that matches, so that the fuzzer gets past them.
#include "ir/wire.h"
#include "require.h"

#include <string.h>

static void check_encoding(const vyre_program *program, const uint8_t *file, size_t size) {
  void *again = NULL;
  size_t again_size = 0;
  vyre_error error;
  REQUIRE(vyre_program_encode(program, &again, &again_size, &error) == VYRE_OK);
  REQUIRE(again_size == size && !memcmp(again, file, size));
  vyre_free(again);
}

static void check_text(const vyre_program *program, const uint8_t *file, size_t size) {
  char *text = NULL;
  size_t text_size = 0;
  vyre_program *parsed = NULL;
  vyre_error error;
  REQUIRE(vyre_program_print(program, &text, &text_size, &error) == VYRE_OK);
  REQUIRE(vyre_program_parse(text, text_size, NULL, &parsed, &error) == VYRE_OK);
  check_encoding(parsed, file, size);
  vyre_free(text);
  vyre_program_release(parsed);
}

static void check(const uint8_t *file, size_t size) {
  vyre_program *program = NULL;
  vyre_error error;
  vyre_status status = vyre_program_decode(file, size, &program, &error);
  if (status != VYRE_OK) {
    REQUIRE(!program && strstr(error.message, "Fix: "));
    return;
  }
  check_encoding(program, file, size);
  check_text(program, file, size);
  uint8_t fingerprint[HASH_BYTES];
  wire_fingerprint(program, fingerprint);
  REQUIRE(!memcmp(fingerprint, program_fingerprint(program), HASH_BYTES));
  vyre_program_release(program);
}

static void repair(uint8_t *file, size_t size) {
  memcpy(file + WIRE_AT_MAGIC, wire_magic, sizeof wire_magic);
  bool has_tunables = file[WIRE_AT_VERSION] == WIRE_VERSION_TUNABLE;
  uint8_t version = has_tunables ? WIRE_VERSION_TUNABLE : WIRE_VERSION;
  memcpy(file + WIRE_AT_VERSION, (uint8_t[]){version, 0, 0, 0}, 4);
  uint64_t left = size - WIRE_AT_SECTIONS;
  for (int i = 0; i < WIRE_SECTION_COUNT; i++) {
    uint8_t *at = file + WIRE_AT_TABLE + 8 * i;
    uint64_t length = wire_get_u64(at);
    if (length > left || i + 1 == WIRE_SECTION_COUNT) length = left;
    wire_put_u64(at, length);
    left -= length;
  }
  wire_seal(file, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check(data, size);
  if (size < WIRE_AT_SECTIONS) return 0;
  uint8_t *file = malloc(size);
  if (!file) return 0;
  memcpy(file, data, size);
  repair(file, size);
  check(file, size);
  free(file);
  return 0;
}
