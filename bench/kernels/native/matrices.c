// SPDX-License-Identifier: MIT
//
// matrices.cl as loops in C.
#include "kernels/native.h"

#include <math.h>

void NAME(gemm)(ARGUMENTS) {
  NAME(matmul)(b, p, s);
}

void NAME(csr_scalar)(ARGUMENTS) {
  (void)s;
  const float *value = F(0), *x = F(3);
  const uint32_t *column = U(1), *first = U(2);
  float *y = F(4);
  PARALLEL for (size_t row = 0; row < p[0]; row++) {
    float sum = 0;
    for (size_t i = first[row]; i < first[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}

void NAME(csr_vector)(ARGUMENTS) {
  NAME(csr_scalar)(b, p, s);
}

void NAME(floyd)(ARGUMENTS) {
  (void)s;
  uint32_t *distance = U(0);
  size_t n = p[0], k = p[1];
  PARALLEL for (size_t y = 0; y < n; y++) for (size_t x = 0; x < n; x++) {
    uint32_t by_k = distance[y * n + k] + distance[k * n + x];
    if (by_k < distance[y * n + x]) distance[y * n + x] = by_k;
  }
}

void NAME(dot8)(ARGUMENTS) {
  (void)s;
  const int8_t *a = b[0], *c = b[1];
  int32_t *out = b[2];
  size_t n = p[0], length = p[1];
  PARALLEL for (size_t y = 0; y < n; y++) for (size_t x = 0; x < n; x++) {
    int32_t sum = 0;
    for (size_t i = 0; i < length; i++) sum += a[y * length + i] * c[x * length + i];
    out[y * n + x] = sum;
  }
}

void NAME(layernorm)(ARGUMENTS) {
  const float *in = F(0), *gain = F(1), *bias = F(2);
  float *out = F(3);
  size_t columns = p[0];
  PARALLEL for (size_t r = 0; r < LAYER_ROWS; r++) {
    const float *row = in + r * columns;
    float sum = 0;
    for (size_t c = 0; c < columns; c++) sum += row[c];
    float mean = sum / (float)columns;
    sum = 0;
    for (size_t c = 0; c < columns; c++) sum += (row[c] - mean) * (row[c] - mean);
    float scale = 1.0f / sqrtf(sum / (float)columns + s[0]);
    for (size_t c = 0; c < columns; c++)
      out[r * columns + c] = (row[c] - mean) * scale * gain[c] + bias[c];
  }
}

void NAME(softmax)(ARGUMENTS) {
  (void)s;
  const float *in = F(0);
  float *out = F(1);
  size_t columns = p[0];
  PARALLEL for (size_t r = 0; r < LAYER_ROWS; r++) {
    const float *row = in + r * columns;
    float most = row[0], sum = 0;
    for (size_t c = 1; c < columns; c++) most = row[c] > most ? row[c] : most;
    for (size_t c = 0; c < columns; c++) sum += out[r * columns + c] = expf(row[c] - most);
    for (size_t c = 0; c < columns; c++) out[r * columns + c] /= sum;
  }
}
