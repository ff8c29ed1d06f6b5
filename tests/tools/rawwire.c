// SPDX-License-Identifier: MIT
//
// rawwire FILE: writes the wire form of a listing of raw records (tests/raw_listing.h) to standard
// output, with a checksum that matches: `rawwire bad.raw | vyre check -`.
#include "../raw_listing.h"
#include "base/file.h"
#include "ir/wire.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: rawwire FILE\n");
    return 2;
  }
  char *text = NULL;
  size_t size = 0;
  vyre_error error;
  if (file_read(argv[1], (size_t)1 << 24, &text, &size, &error) != VYRE_OK) {
    fprintf(stderr, "rawwire: %s\n", error.message);
    return 2;
  }
  vyre_program *program = raw_parse(text);
  free(text);
  if (!program) return 2;
  void *bytes = NULL;
  vyre_status status = vyre_program_encode(program, &bytes, &size, &error);
  vyre_program_release(program);
  bool written = status == VYRE_OK && fwrite(bytes, 1, size, stdout) == size && !fflush(stdout);
  vyre_free(bytes);
  if (written) return 0;
  fprintf(stderr, "rawwire: %s\n", status == VYRE_OK ? "cannot write" : error.message);
  return 2;
}
