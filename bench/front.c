// SPDX-License-Identifier: MIT
//
// How long the frontend takes for OpenCL C, beside `clang-19 -fsyntax-only` on the same file, run
// in turn: as a call of the library, as a command, which opens libclang and prints the program, and
// as `vyre check` of all kernels. The goals are less than three times, and twice for all. Files:
// the programs of tests/golden/front, and a long one made of many kernels.
#include <vyre/vyre.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 7, LONG_KERNELS = 400, MOST_FILES = 200 };

static double median(double *times) {
  for (int i = 1; i < REPEATS; i++)
    for (int k = i; k > 0 && times[k] < times[k - 1]; k--) {
      double t = times[k];
      times[k] = times[k - 1];
      times[k - 1] = t;
    }
  return times[REPEATS / 2];
}

static double clang_ms(const char *path) {
  const char *args[] = {"clang-19", "-fsyntax-only",          "-w", "-x", "cl", "-cl-std=CL1.2",
                        "-target",  "spir64-unknown-unknown", path, NULL};
  return process_ms(args);
}

static double command_ms(const char *vyre, const char *path, const char *kernel) {
  char entry[600];
  snprintf(entry, sizeof entry, "%s:%s", path, kernel);
  const char *args[] = {vyre, "convert", entry, "t=local:4096", NULL};
  return process_ms(args);
}

static double check_ms(const char *vyre, const char *path) {
  const char *args[] = {vyre, "check", path, "t=local:4096", NULL};
  return process_ms(args);
}

// The first kernel of the file.
static double vyre_ms(const char *path, const char *text, size_t size, const char *kernel) {
  static const vyre_source_local locals[] = {{"t", 4096}};
  vyre_source_options options = {.entry = kernel, .locals = locals, .local_count = 1};
  vyre_program *program;
  vyre_error error;
  uint64_t start = clock_now_ns();
  vyre_status status = vyre_program_from("opencl", text, size, path, &options, &program, &error);
  uint64_t end = clock_now_ns();
  if (status != VYRE_OK) return -1;
  vyre_program_release(program);
  return (double)(end - start) * 1e-6;
}

typedef struct ratios {
  double call, command, check; // 0 when one of them refuses the file
} ratios;

static ratios compare(const char *command, const char *path) {
  char *text;
  size_t size;
  vyre_error error;
  vyre_source_entry *kernels;
  uint32_t count;
  ratios made = {0};
  if (file_read(path, (size_t)1 << 26, &text, &size, &error) != VYRE_OK) return made;
  if (vyre_source_entries("opencl", text, size, path, "", &kernels, &count, &error) != VYRE_OK ||
      !count) {
    free(text);
    return made;
  }
  double clang[REPEATS], call[REPEATS], whole[REPEATS], all[REPEATS];
  bool ok = true;
  for (int i = 0; i < REPEATS && ok; i++) {
    clang[i] = clang_ms(path);
    call[i] = vyre_ms(path, text, size, kernels[0].name);
    whole[i] = command_ms(command, path, kernels[0].name);
    all[i] = check_ms(command, path);
    ok = clang[i] > 0 && call[i] > 0 && whole[i] > 0 && all[i] > 0;
  }
  if (ok) {
    double a = median(clang), b = median(call), c = median(whole), d = median(all);
    made = (ratios){b / a, c / a, d / a};
    const char *name = strrchr(path, '/');
    printf("  %-30s %7zu bytes  clang %6.1f ms  call %6.1f ms %5.2f  command %6.1f ms %5.2f  check "
           "of %3u %6.1f ms %5.2f\n",
           name ? name + 1 : path, size, a, b, made.call, c, made.command, count, d, made.check);
  }
  vyre_free(kernels);
  free(text);
  return made;
}

static bool make_long_file(const char *path) {
  strbuf s = {0};
  for (int i = 0; i < LONG_KERNELS; i++)
    strbuf_printf(&s,
                  "float f%d(float x, int n) {\n"
                  "  float s = 0;\n"
                  "  for (int i = 0; i < n; i++) s += x * i - sin(x + %d);\n"
                  "  return s > 0 ? s : -s;\n"
                  "}\n"
                  "kernel void k%d(global const float *x, global float *y, int n) {\n"
                  "  int i = get_global_id(0);\n"
                  "  if (i >= n) return;\n"
                  "  float4 v = (float4)(x[i], x[i] * 2.0f, 0, 1);\n"
                  "  y[i] = f%d(v.x, n) + dot(v, v) * %d;\n"
                  "}\n",
                  i, i, i, i, i);
  size_t size;
  char *text = strbuf_take(&s, &size);
  vyre_error error;
  bool ok = text && file_replace(path, text, size, &error) == VYRE_OK;
  free(text);
  return ok;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_programs(const char *folder, char **paths) {
  int count = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir)) && count < MOST_FILES - 1;) {
    if (!strstr(e->d_name, "program-")) continue;
    paths[count] = malloc(strlen(folder) + strlen(e->d_name) + 2);
    if (!paths[count]) break;
    sprintf(paths[count++], "%s/%s", folder, e->d_name);
  }
  if (dir) closedir(dir);
  qsort(paths, (size_t)count, sizeof *paths, by_name);
  return count;
}

int main(int argc, char **argv) {
  char *paths[MOST_FILES], *command = find_command(argc ? argv[0] : "");
  int count = list_programs(VYRE_SOURCE_DIR "/tests/golden/front", paths), measured = 0;
  char long_path[] = "/tmp/vyre-bench-front-XXXXXX.cl";
  int file = mkstemps(long_path, 3);
  if (file >= 0) close(file);
  ratios worst = {0}, sum = {0};
  printf("front: OpenCL C to a program, beside clang-19 -fsyntax-only; medians of %d\n", REPEATS);
  for (int i = 0; i <= count; i++) {
    if (i == count && !make_long_file(long_path)) break;
    ratios r = compare(command, i == count ? long_path : paths[i]);
    if (r.call > worst.call) worst.call = r.call;
    if (r.command > worst.command) worst.command = r.command;
    if (r.check > worst.check) worst.check = r.check;
    sum.check += r.check;
    sum.call += r.call;
    sum.command += r.command;
    measured += r.call > 0;
  }
  unlink(long_path);
  for (int i = 0; i < count; i++) free(paths[i]);
  free(command);
  if (!measured) return 1;
  printf("  call: mean %.2f times, worst %.2f; command: mean %.2f, worst %.2f; the bar is 3\n"
         "  check of all kernels: mean %.2f, worst %.2f; the bar is 2\n",
         sum.call / measured, worst.call, sum.command / measured, worst.command,
         sum.check / measured, worst.check);
  return worst.call >= 3 || worst.command >= 3 || worst.check >= 2;
}
