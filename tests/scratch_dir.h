// SPDX-License-Identifier: MIT
//
// A directory for the files of one test program, below TMPDIR, removed with all it holds.
#ifndef VYRE_TESTS_SCRATCH_DIR_H
#define VYRE_TESTS_SCRATCH_DIR_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_dir[200];

static inline int scratch_dir_make(void **state) {
  (void)state;
  const char *where = getenv("TMPDIR");
  snprintf(scratch_dir, sizeof scratch_dir, "%s/vyre-test-XXXXXX", where ? where : "/tmp");
  return mkdtemp(scratch_dir) ? 0 : -1;
}

static inline int scratch_dir_remove_one(const char *path, const struct stat *info, int kind,
                                         struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

static inline int scratch_dir_remove(void **state) {
  (void)state;
  chmod(scratch_dir, 0755);
  return nftw(scratch_dir, scratch_dir_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// `name` in the directory. Eight results may be in use at once.
static inline char *scratch_path(const char *name) {
  static char paths[8][512];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", scratch_dir, name);
  return path;
}

static inline void scratch_write(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  if (!f || fputs(text, f) < 0 || fclose(f)) abort();
}

// The whole file, malloc'ed with a NUL; NULL when there is none.
static inline char *scratch_read(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) return NULL;
  char *text = calloc(1, 1 << 22);
  if (!text || fread(text, 1, (1 << 22) - 1, f) == 0) {
    // An empty file is an empty text.
  }
  fclose(f);
  return text;
}

#endif
