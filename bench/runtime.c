// SPDX-License-Identifier: MIT
//
// The runtime that learns, beside its anchors in the same run: a direct call, PoCL, Vulkan, the
// best backend of each cell, the best of all launch shapes, a runtime that does not look ahead.
// Words pick parts: dispatch routes tuner speculation store loop special; other words pick kernels
// and sizes where a part has several. Ends with status 1 when a bar is missed.
#include "base/file.h"
#include "bench.h"
#include "runtime/parts.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  bool (*run)(void);
} parts[] = {
    {"dispatch", part_dispatch},       {"routes", part_routes}, {"tuner", part_tuner},
    {"speculation", part_speculation}, {"store", part_store},   {"loop", part_loop},
    {"special", part_special},
};
enum { PARTS = sizeof parts / sizeof *parts };

void must(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "bench_runtime: %s\n", error->message);
  exit(2);
}

vyre_program *parse(const char *name, const char *text) {
  vyre_program *p;
  vyre_error error;
  must(vyre_program_parse(text, strlen(text), name, &p, &error), &error);
  return p;
}

vyre_program *parse_kernel(const char *name) {
  char path[400], *text;
  size_t size;
  vyre_error error;
  snprintf(path, sizeof path, "%s/bench/kernels/%s.vyre", VYRE_SOURCE_DIR, name);
  must(file_read(path, 1 << 20, &text, &size, &error), &error);
  vyre_program *p = parse(name, text);
  free(text);
  return p;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

double median_of(double *values, uint32_t count) {
  qsort(values, count, sizeof *values, by_value);
  return values[count / 2];
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

static bool is_part(const char *word) {
  for (int i = 0; i < PARTS; i++)
    if (!strcmp(parts[i].name, word)) return true;
  return false;
}

static char **words; // that are no parts, up to a NULL

bool is_picked(const char *word, bool (*is_of_kind)(const char *word)) {
  bool is_open = true;
  for (char **at = words; *at; at++) {
    if (!strcmp(*at, word)) return true;
    is_open &= !is_of_kind(*at);
  }
  return is_open;
}

// Moves the words that are no parts to the end; returns how many parts were named.
static int split_words(int argc, char **argv) {
  int count = 1;
  for (int i = 1; i < argc; i++) {
    if (!is_part(argv[i])) continue;
    char *part = argv[i];
    memmove(argv + count + 1, argv + count, (size_t)(i - count) * sizeof *argv);
    argv[count++] = part;
  }
  words = argv + count;
  return count - 1;
}

static bool is_wanted(int count, char **argv, const char *name) {
  for (int i = 1; i <= count; i++)
    if (!strcmp(argv[i], name)) return true;
  return !count;
}

int main(int argc, char **argv) {
  char home[] = "/tmp/vyre-bench-XXXXXX";
  bool ok = true;
  if (argc == 3 && !strcmp(argv[1], "--step")) return loop_step(argv[2]) ? 0 : 1;
  int count = split_words(argc, argv);
  if (!mkdtemp(home)) return 2;
  setenv("VYRE_HOME", home, 1);
  unsetenv("VYRE_AUTOTUNER");
  for (int i = 0; i < PARTS; i++) {
    if (!is_wanted(count, argv, parts[i].name)) continue;
    printf("%s\n", parts[i].name);
    ok &= parts[i].run();
    fflush(stdout);
  }
  nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  return ok ? 0 : 1;
}
