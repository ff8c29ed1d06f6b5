// SPDX-License-Identifier: MIT
//
// wire_seeds FOLDER: writes the seeds of the wire fuzzer, one file per sample program.
#include "../sample_programs.h"
#include "base/file.h"

static int write_seed(const char *folder, const char *name, vyre_program *p, vyre_error *error) {
  char path[4096];
  void *bytes = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, "%s/%s.vyreb", folder, name);
  if (!p || vyre_program_encode(p, &bytes, &size, error) != VYRE_OK ||
      file_replace(path, bytes, size, error) != VYRE_OK) {
    fprintf(stderr, "wire_seeds: %s: %s\n", path, error->message);
    return 1;
  }
  vyre_free(bytes);
  vyre_program_release(p);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: wire_seeds FOLDER\n");
    return 2;
  }
  vyre_error error = {0};
  int bad = write_seed(argv[1], "saxpy", sample_saxpy(&error), &error);
  bad |= write_seed(argv[1], "structure", sample_structure(&error), &error);
  bad |= write_seed(argv[1], "every_op", sample_every_op(&error), &error);
  for (unsigned seed = 1; seed <= 4; seed++) {
    char name[32];
    snprintf(name, sizeof name, "random%u", seed);
    bad |= write_seed(argv[1], name, sample_random(seed, 2 * seed, &error), &error);
  }
  return bad;
}
