// SPDX-License-Identifier: MIT
//
// How long the frontend takes for OpenCL C, beside `clang-19 -fsyntax-only` on the same file, run
// in turn. The goal is less than three times. Files: those of tests/golden/front, and a long one
// made of many kernels.
#include <vyre/vyre.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  uint64_t start = clock_now_ns();
  pid_t child;
  int status = 1;
  if (posix_spawnp(&child, args[0], &actions, NULL, (char *const *)args, environ) == 0)
    waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return status == 0 ? (double)(clock_now_ns() - start) * 1e-6 : -1;
}

// The first kernel of the file.
static double vyre_ms(const char *path, const char *text, size_t size, const char *kernel) {
  static const vyre_opencl_local locals[] = {{"t", 4096}};
  vyre_opencl_options options = {.kernel = kernel, .locals = locals, .local_count = 1};
  vyre_program *program;
  vyre_error error;
  uint64_t start = clock_now_ns();
  vyre_status status = vyre_program_from_opencl(text, size, path, &options, &program, &error);
  uint64_t end = clock_now_ns();
  if (status != VYRE_OK) return -1;
  vyre_program_release(program);
  return (double)(end - start) * 1e-6;
}

// The ratio, or 0 when one of the two refuses the file.
static double compare(const char *path) {
  char *text;
  size_t size;
  vyre_error error;
  vyre_opencl_kernel *kernels;
  uint32_t count;
  if (file_read(path, (size_t)1 << 26, &text, &size, &error) != VYRE_OK) return 0;
  if (vyre_opencl_kernels(text, size, path, "", &kernels, &count, &error) != VYRE_OK || !count) {
    free(text);
    return 0;
  }
  double clang[REPEATS], vyre[REPEATS];
  bool ok = true;
  for (int i = 0; i < REPEATS && ok; i++) {
    clang[i] = clang_ms(path);
    vyre[i] = vyre_ms(path, text, size, kernels[0].name);
    ok = clang[i] > 0 && vyre[i] > 0;
  }
  double ratio = 0;
  if (ok) {
    double a = median(clang), b = median(vyre);
    ratio = b / a;
    const char *name = strrchr(path, '/');
    printf("  %-34s %8zu bytes  clang %7.1f ms  vyre %7.1f ms  %5.2f times\n",
           name ? name + 1 : path, size, a, b, ratio);
  }
  vyre_free(kernels);
  free(text);
  return ratio;
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

int main(void) {
  const char *folder = VYRE_SOURCE_DIR "/tests/golden/front";
  DIR *dir = opendir(folder);
  char *paths[MOST_FILES];
  int count = 0;
  for (struct dirent *e; dir && (e = readdir(dir)) && count < MOST_FILES - 1;) {
    if (!strstr(e->d_name, "program-")) continue;
    paths[count] = malloc(strlen(folder) + strlen(e->d_name) + 2);
    sprintf(paths[count++], "%s/%s", folder, e->d_name);
  }
  if (dir) closedir(dir);
  qsort(paths, (size_t)count, sizeof *paths, by_name);
  char long_path[] = "/tmp/vyre-bench-front-XXXXXX.cl";
  int file = mkstemps(long_path, 3);
  if (file >= 0) close(file);
  double worst = 0, sum = 0;
  int measured = 0;
  printf("front: OpenCL C to a program, beside clang-19 -fsyntax-only; medians of %d\n", REPEATS);
  for (int i = 0; i <= count; i++) {
    if (i == count && !make_long_file(long_path)) break;
    double ratio = compare(i == count ? long_path : paths[i]);
    if (ratio > worst) worst = ratio;
    sum += ratio;
    measured += ratio > 0;
  }
  unlink(long_path);
  for (int i = 0; i < count; i++) free(paths[i]);
  if (!measured) return 1;
  printf("  mean %.2f times, worst %.2f times; the goal is below 3\n", sum / measured, worst);
  return 0;
}
