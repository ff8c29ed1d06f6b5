// SPDX-License-Identifier: MIT
//
// Any bytes given to the parser: a program or an error, never anything else. A program that was
// parsed, or decoded from the wire form, prints as a text that reads back as the same program and
// prints as the same text. Telling every mistake finds one where there is one; what is laid out
// means the same, and stays as it is.
#include "ir/program.h"
#include "ir/text_format.h"
#include "require.h"

#include <string.h>

static void check(const vyre_program *program) {
  vyre_error error;
  char *text = NULL, *text_again = NULL;
  void *wire = NULL, *wire_again = NULL;
  size_t text_size, text_again_size, wire_size, wire_again_size;
  vyre_program *again = NULL;
  REQUIRE(vyre_program_print(program, &text, &text_size, &error) == VYRE_OK);
  REQUIRE(vyre_program_parse(text, text_size, NULL, &again, &error) == VYRE_OK);
  REQUIRE(vyre_program_print(again, &text_again, &text_again_size, &error) == VYRE_OK);
  REQUIRE(text_size == text_again_size && !memcmp(text, text_again, text_size));
  REQUIRE(vyre_program_encode(program, &wire, &wire_size, &error) == VYRE_OK);
  REQUIRE(vyre_program_encode(again, &wire_again, &wire_again_size, &error) == VYRE_OK);
  REQUIRE(wire_size == wire_again_size && !memcmp(wire, wire_again, wire_size));
  vyre_program_release(again);
  vyre_free(text);
  vyre_free(text_again);
  vyre_free(wire);
  vyre_free(wire_again);
}

static void check_layout(const vyre_program *program, const char *text, size_t size) {
  vyre_error error;
  strbuf once = {0}, twice = {0};
  vyre_program *again = NULL;
  text_format(text, size, &once);
  text_format(once.at, once.size, &twice);
  REQUIRE(once.size == twice.size && !memcmp(once.at, twice.at, once.size));
  REQUIRE(vyre_program_parse(once.at, once.size, NULL, &again, &error) == VYRE_OK);
  REQUIRE(!memcmp(program_fingerprint(program), program_fingerprint(again), HASH_BYTES));
  vyre_program_release(again);
  strbuf_fini(&once);
  strbuf_fini(&twice);
}

static void count_mistake(void *data, const vyre_error *mistake) {
  REQUIRE(strstr(mistake->message, "Fix: "));
  ++*(unsigned *)data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  vyre_program *program = NULL;
  vyre_error error;
  vyre_status status = vyre_program_parse((const char *)data, size, NULL, &program, &error);
  REQUIRE(status == VYRE_OK || (!program && strstr(error.message, "Fix: ")));
  unsigned mistakes = 0;
  vyre_status all =
      vyre_source_check("text", data, size, NULL, NULL, count_mistake, &mistakes, &error);
  REQUIRE((all == VYRE_OK) == (status == VYRE_OK) && (all == VYRE_OK) == !mistakes);
  if (status == VYRE_OK) check_layout(program, (const char *)data, size);
  if (status != VYRE_OK && vyre_program_decode(data, size, &program, &error) != VYRE_OK) return 0;
  check(program);
  vyre_program_release(program);
  return 0;
}
