// SPDX-License-Identifier: MIT
#include "kernels/tuned/tuned.h"

#include <math.h>

// Blocks of k and of x that stay in the caches, and in them tiles that stay in registers.
enum { TILE_ROWS = 4, TILE_COLUMNS = 16, BLOCK_K = 256 };

static void tile(const float *restrict a, const float *restrict m, float *restrict c, uint32_t n,
                 uint32_t k0, uint32_t k1) {
  float t[TILE_ROWS][TILE_COLUMNS];
  for (int r = 0; r < TILE_ROWS; r++)
    for (int x = 0; x < TILE_COLUMNS; x++) t[r][x] = k0 ? c[(uint32_t)r * n + (uint32_t)x] : 0;
  for (uint32_t k = k0; k < k1; k++)
    for (int r = 0; r < TILE_ROWS; r++)
      SIMD for (int x = 0; x < TILE_COLUMNS; x++) t[r][x] =
          fmaf(a[(uint32_t)r * n + k], m[k * n + (uint32_t)x], t[r][x]);
  for (int r = 0; r < TILE_ROWS; r++)
    for (int x = 0; x < TILE_COLUMNS; x++) c[(uint32_t)r * n + (uint32_t)x] = t[r][x];
}

void TUNED(matmul)(ARGUMENTS) {
  (void)s;
  const float *a = F(0), *m = F(1);
  float *c = F(2);
  uint32_t n = p[0];
  PARALLEL for (uint32_t y = 0; y < n;
                y += 64) for (uint32_t k = 0; k < n;
                              k += BLOCK_K) for (uint32_t x = 0; x < n;
                                                 x += TILE_COLUMNS) for (uint32_t r = y; r < y + 64;
                                                                         r += TILE_ROWS)
      tile(a + r * n, m + x, c + r * n + x, n, k, k + BLOCK_K < n ? k + BLOCK_K : n);
}
