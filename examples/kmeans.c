// SPDX-License-Identifier: MIT
//
// k-means clustering with kernels of OpenCL C: one finds the nearest centre of each point, one adds
// up the points of each centre with integer atomics, so that every run gives the same bits.
//   cc kmeans.c $(pkg-config --cflags --libs vyre) && ./a.out
#include <vyre/vyre.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 4096, CENTRES = 4, ROUNDS = 12 };

static const char source[] =
    "__kernel void nearest(__global const float2 *points, __global const float2 *centres, int k,\n"
    "                      __global int *owner) {\n"
    "  int i = get_global_id(0), best = 0;\n"
    "  float least = INFINITY;\n"
    "  for (int c = 0; c < k; c++) {\n"
    "    float2 d = points[i] - centres[c];\n"
    "    float apart = d.x * d.x + d.y * d.y;\n"
    "    if (apart < least) { least = apart; best = c; }\n"
    "  }\n"
    "  owner[i] = best;\n"
    "}\n"
    "__kernel void gather(__global const float2 *points, __global const int *owner,\n"
    "                     __global int *sums) {\n" // x, y in 1/65536, and how many
    "  int i = get_global_id(0), c = owner[i];\n"
    "  atomic_add(&sums[3 * c], (int)(points[i].x * 65536.0f));\n"
    "  atomic_add(&sums[3 * c + 1], (int)(points[i].y * 65536.0f));\n"
    "  atomic_add(&sums[3 * c + 2], 1);\n"
    "}\n";

static vyre_error error;

static void must(vyre_status status) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "kmeans: %s:%u: %s\n%s\n", error.file, error.line, error.message, error.excerpt);
  exit(1);
}

static vyre_kernel *load(vyre_runtime *runtime, const char *entry) {
  vyre_program *program;
  vyre_kernel *kernel;
  vyre_source_options options = {.entry = entry, .rank = 1};
  must(vyre_program_from("opencl", source, sizeof source - 1, "kmeans.cl", &options, &program,
                         &error));
  must(vyre_runtime_load(runtime, program, &kernel, &error));
  vyre_program_release(program); // the kernel keeps it
  return kernel;
}

int main(void) {
  static float points[POINTS][2];
  static int32_t owner[POINTS];
  const float seeds[CENTRES][2] = {{0.1f, 0.2f}, {0.2f, 0.1f}, {0.8f, 0.9f}, {0.9f, 0.2f}};
  float centres[CENTRES][2];
  int32_t sums[CENTRES][3];
  uint32_t random = 1;
  for (int i = 0; i < POINTS; i++) // clouds around four places
    for (int k = 0; k < 2; k++) {
      random = random * 1664525u + 1013904223u;
      float offset = (float)(random >> 8) / 16777216.0f * 0.2f;
      points[i][k] = (i % 4 & (1 << k) ? 0.7f : 0.1f) + offset;
    }
  memcpy(centres, seeds, sizeof centres);

  vyre_runtime *runtime;
  must(vyre_runtime_new(NULL, &runtime, &error));
  vyre_kernel *nearest = load(runtime, "nearest"), *gather = load(runtime, "gather");
  // Parameters: the kernel's own, then the grid.
  vyre_scalar by_centre[] = {vyre_scalar_i32(CENTRES), vyre_scalar_u32(POINTS)};
  vyre_scalar by_point[] = {vyre_scalar_u32(POINTS)};
  for (int n = 0; n < ROUNDS; n++) {
    vyre_span first[] = {{points, sizeof points}, {centres, sizeof centres}, {owner, sizeof owner}};
    vyre_span second[] = {{points, sizeof points}, {owner, sizeof owner}, {sums, sizeof sums}};
    vyre_dispatch_args find = {
        .params = by_centre, .param_count = 2, .buffers = first, .buffer_count = 3};
    vyre_dispatch_args add = {
        .params = by_point, .param_count = 1, .buffers = second, .buffer_count = 3};
    memset(sums, 0, sizeof sums);
    must(vyre_kernel_dispatch(nearest, &find, NULL, &error));
    must(vyre_kernel_dispatch(gather, &add, NULL, &error));
    for (int c = 0; c < CENTRES; c++)
      for (int k = 0; k < 2 && sums[c][2]; k++)
        centres[c][k] = (float)sums[c][k] / 65536.0f / (float)sums[c][2];
  }
  int total = 0;
  for (int c = 0; c < CENTRES; c++) {
    printf("centre %d: (%.3f, %.3f), %d points\n", c, (double)centres[c][0], (double)centres[c][1],
           (int)sums[c][2]);
    total += sums[c][2];
  }
  vyre_kernel_free(nearest);
  vyre_kernel_free(gather);
  vyre_runtime_free(runtime);
  return total != POINTS;
}
