// SPDX-License-Identifier: MIT
//
// The driver of a fuzz target where there is no libFuzzer: gives it every file below the paths on
// the command line, so that what fuzzing once found stays found. Paths that do not exist are left
// out; a run that met no file fails.
#include "base/file.h"
#include "require.h"

#include <ftw.h>

static unsigned files;

static int replay(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)where;
  if (kind != FTW_F) return 0;
  char *data;
  size_t size;
  vyre_error error;
  if (file_read(path, (size_t)1 << 30, &data, &size, &error) != VYRE_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  // A copy of the exact size, so that a sanitizer sees a read past the end.
  uint8_t *exact = malloc(size ? size : 1);
  if (!exact) return 1;
  for (size_t i = 0; i < size; i++) exact[i] = (uint8_t)data[i];
  free(data);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  files++;
  return 0;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (nftw(argv[i], replay, 16, FTW_PHYS) > 0) return 1;
  printf("%u files\n", files);
  return files ? 0 : 1;
}
