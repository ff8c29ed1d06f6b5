// SPDX-License-Identifier: MIT
//
// Matrices: blocks for caches and registers, several sums at once.
#include "kernels/tuned/tuned.h"

#include <math.h>

// Blocks of k and of rows that stay in the caches, and in them tiles that stay in registers. A
// panel of the right matrix is packed, so that its rows follow each other.
enum { TILE_ROWS = 4, TILE_COLUMNS = 2 * NATIVE_LANES, BLOCK_K = 256, BLOCK_ROWS = 128 };

static void tile(const float *restrict a, const float *restrict panel, float *restrict c, int n,
                 int k0, int k1) {
  float t[TILE_ROWS][TILE_COLUMNS];
  for (int r = 0; r < TILE_ROWS; r++)
    for (int x = 0; x < TILE_COLUMNS; x++) t[r][x] = k0 ? c[r * n + x] : 0;
  for (int k = k0; k < k1; k++)
    UNROLL(4)
    for (int r = 0; r < TILE_ROWS; r++) SIMD for (int x = 0; x < TILE_COLUMNS; x++) t[r][x] =
        fmaf(a[r * n + k], panel[(k - k0) * TILE_COLUMNS + x], t[r][x]);
  for (int r = 0; r < TILE_ROWS; r++)
    for (int x = 0; x < TILE_COLUMNS; x++) c[r * n + x] = t[r][x];
}

void TUNED(matmul)(ARGUMENTS) {
  (void)s;
  const float *a = F(0), *m = F(1);
  float *c = F(2);
  int n = (int)p[0];
  PARALLEL for (int y = 0; y < n; y += BLOCK_ROWS) for (int k0 = 0; k0 < n; k0 += BLOCK_K) {
    int k1 = k0 + BLOCK_K < n ? k0 + BLOCK_K : n;
    for (int x = 0; x < n; x += TILE_COLUMNS) {
      float panel[BLOCK_K * TILE_COLUMNS];
      for (int k = k0; k < k1; k++)
        SIMD for (int i = 0; i < TILE_COLUMNS; i++) panel[(k - k0) * TILE_COLUMNS + i] =
            m[k * n + x + i];
      for (int r = y; r < y + BLOCK_ROWS; r += TILE_ROWS)
        tile(a + r * n, panel, c + r * n + x, n, k0, k1);
    }
  }
}

void TUNED(gemm)(ARGUMENTS) {
  TUNED(matmul)(b, p, s);
}

void TUNED(transpose)(ARGUMENTS) {
  enum { TILE = 16 };
  (void)s;
  const float *restrict in = F(0);
  float *restrict out = F(1);
  int w = (int)p[0];
  PARALLEL for (int y0 = 0; y0 < w; y0 += TILE) for (int x0 = 0; x0 < w; x0 += TILE) {
    float t[TILE][TILE];
    for (int y = 0; y < TILE; y++)
      for (int x = 0; x < TILE; x++) t[x][y] = in[(y0 + y) * w + x0 + x];
    for (int x = 0; x < TILE; x++)
      SIMD for (int y = 0; y < TILE; y++) out[(x0 + x) * w + y0 + y] = t[x][y];
  }
}

// Sums in their order, of eight rows at once; fast arithmetic adds along the row instead.
void TUNED(sgemv)(ARGUMENTS) {
  (void)s;
  const float *restrict a = F(0), *restrict x = F(1);
  float *restrict y = F(2);
  int n = (int)p[0];
#ifdef __FAST_MATH__
  PARALLEL for (int row = 0; row < n; row += 4) {
    const float *r0 = a + row * n, *r1 = r0 + n, *r2 = r1 + n, *r3 = r2 + n;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    _Pragma("omp simd reduction(+ : s0, s1, s2, s3)") for (int k = 0; k < n; k++) {
      s0 += r0[k] * x[k];
      s1 += r1[k] * x[k];
      s2 += r2[k] * x[k];
      s3 += r3[k] * x[k];
    }
    y[row] = s0, y[row + 1] = s1, y[row + 2] = s2, y[row + 3] = s3;
  }
#else
  PARALLEL for (int row = 0; row < n; row += 8) {
    float sum[8] = {0};
    for (int k = 0; k < n; k++)
      UNROLL(8) for (int r = 0; r < 8; r++) sum[r] = fmaf(a[(row + r) * n + k], x[k], sum[r]);
    for (int r = 0; r < 8; r++) y[row + r] = sum[r];
  }
#endif
}

void TUNED(gauss)(ARGUMENTS) {
  (void)s;
  const float *restrict m = F(0), *restrict factor = F(1);
  float *restrict out = F(2);
  int n = (int)p[0], k = (int)p[1];
  PARALLEL for (int row = 0; row < n; row++) {
    float f = factor[row];
    SIMD for (int x = 0; x < n; x++) out[row * n + x] = m[row * n + x] - f * m[k * n + x];
  }
}

// In their order; fast arithmetic gathers vectors.
void TUNED(csr_scalar)(ARGUMENTS) {
  (void)s;
  const float *restrict value = F(0), *restrict x = F(3);
  const uint32_t *restrict column = U(1), *restrict first = U(2);
  float *restrict y = F(4);
  PARALLEL for (int row = 0; row < (int)p[0]; row++) {
    int from = (int)first[row], to = (int)first[row + 1];
    float sum = 0;
#ifdef __FAST_MATH__
    _Pragma("omp simd reduction(+ : sum)")
#endif
        for (int i = from; i < to; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}

// As the kernel adds: 32 sums, then a tree. Any order is right.
void TUNED(csr_vector)(ARGUMENTS) {
  (void)s;
  const float *restrict value = F(0), *restrict x = F(3);
  const uint32_t *restrict column = U(1), *restrict first = U(2);
  float *restrict y = F(4);
  PARALLEL for (int row = 0; row < (int)p[0]; row++) {
    int from = (int)first[row], to = (int)first[row + 1];
    float sum = 0;
    _Pragma("omp simd reduction(+ : sum)") for (int i = from; i < to; i++) sum +=
        value[i] * x[column[i]];
    y[row] = sum;
  }
}

void TUNED(floyd)(ARGUMENTS) {
  (void)s;
  uint32_t *distance = U(0);
  int n = (int)p[0], k = (int)p[1];
  PARALLEL for (int y = 0; y < n; y++) {
    uint32_t *restrict row = distance + y * n, to_k = row[k];
    const uint32_t *from_k = distance + k * n;
    if (y == k) continue; // by way of itself nothing gets nearer, so rows never overlap
    SIMD for (int x = 0; x < n; x++) {
      uint32_t by_k = to_k + from_k[x];
      row[x] = by_k < row[x] ? by_k : row[x];
    }
  }
}

// Four rows of the other matrix for each load of this one's.
void TUNED(dot8)(ARGUMENTS) {
  (void)s;
  const int8_t *restrict a = b[0], *restrict c = b[1];
  int32_t *restrict out = b[2];
  int n = (int)p[0], length = (int)p[1];
  PARALLEL for (int y = 0; y < n; y++) for (int x = 0; x < n; x += 4) {
    const int8_t *row = a + y * length, *c0 = c + x * length, *c1 = c0 + length, *c2 = c1 + length;
    const int8_t *c3 = c2 + length;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    _Pragma("omp simd reduction(+ : s0, s1, s2, s3)") for (int i = 0; i < length; i++) {
      s0 += (int16_t)row[i] * (int16_t)c0[i];
      s1 += (int16_t)row[i] * (int16_t)c1[i];
      s2 += (int16_t)row[i] * (int16_t)c2[i];
      s3 += (int16_t)row[i] * (int16_t)c3[i];
    }
    int32_t *o = out + y * n + x;
    o[0] = s0, o[1] = s1, o[2] = s2, o[3] = s3;
  }
}

// The kernels below add in 256 sums and a tree, so that vectors of sums are as right as one.
void TUNED(layernorm)(ARGUMENTS) {
  const float *restrict in = F(0), *restrict gain = F(1), *restrict bias = F(2);
  float *restrict out = F(3);
  int columns = (int)p[0];
  PARALLEL for (int r = 0; r < LAYER_ROWS; r++) {
    const float *row = in + r * columns;
    float sum = 0, squares = 0;
    _Pragma("omp simd reduction(+ : sum)") for (int c = 0; c < columns; c++) sum += row[c];
    float mean = sum / (float)columns;
    _Pragma("omp simd reduction(+ : squares)") for (int c = 0; c < columns; c++) squares +=
        (row[c] - mean) * (row[c] - mean);
    float scale = 1.0f / sqrtf(squares / (float)columns + s[0]);
    SIMD for (int c = 0; c < columns; c++) out[r * columns + c] =
        (row[c] - mean) * scale * gain[c] + bias[c];
  }
}

void TUNED(softmax)(ARGUMENTS) {
  (void)s;
  const float *restrict in = F(0);
  float *restrict out = F(1);
  int columns = (int)p[0];
  PARALLEL for (int r = 0; r < LAYER_ROWS; r++) {
    const float *row = in + r * columns;
    float *restrict o = out + r * columns;
    float most = row[0], sum = 0;
    _Pragma("omp simd reduction(max : most)") for (int c = 1; c < columns; c++) most =
        row[c] > most ? row[c] : most;
    SIMD for (int c = 0; c < columns; c++) o[c] = expf(row[c] - most);
    _Pragma("omp simd reduction(+ : sum)") for (int c = 0; c < columns; c++) sum += o[c];
    SIMD for (int c = 0; c < columns; c++) o[c] /= sum;
  }
}
