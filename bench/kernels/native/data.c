// SPDX-License-Identifier: MIT
//
// data.cl as loops in C.
#include "kernels/native.h"

#include <float.h>

// A block of the input for each element of the result: the sums differ from those of the kernel in
// their order only because a block is what a group of the kernel strides through.
void NAME(reduce)(ARGUMENTS) {
  (void)s;
  const float *in = F(0);
  float *out = F(1);
  PARALLEL for (size_t g = 0; g < REDUCE_GROUPS; g++) {
    float sum = 0;
    for (size_t first = g * 512; first < p[0]; first += 512 * REDUCE_GROUPS)
      for (size_t i = first; i < first + 512; i++) sum += in[i];
    out[g] = sum;
  }
}

void NAME(radix)(ARGUMENTS) {
  (void)s;
  const uint32_t *key = U(0);
  uint32_t *count = U(1);
  size_t block = p[0] / REDUCE_GROUPS, shift = p[1];
  PARALLEL for (size_t g = 0; g < REDUCE_GROUPS; g++) {
    uint32_t digits[16] = {0};
    for (size_t i = g * block; i < (g + 1) * block; i++) digits[(key[i] >> shift) & 15]++;
    for (size_t d = 0; d < 16; d++) count[d * REDUCE_GROUPS + g] = digits[d];
  }
}

void NAME(bitonic)(ARGUMENTS) {
  (void)s;
  uint32_t *key = U(0);
  size_t distance = p[0], run = p[1];
  PARALLEL for (size_t i = 0; i < BITONIC_KEYS / 2; i++) {
    size_t low = 2 * i - (i & (distance - 1)), high = low + distance;
    uint32_t a = key[low], c = key[high];
    if ((a > c) == ((low & run) == 0)) {
      key[low] = c;
      key[high] = a;
    }
  }
}

void NAME(kmeans)(ARGUMENTS) {
  (void)s;
  const float *feature = F(0), *centre = F(1);
  uint32_t *nearest = U(2);
  size_t n = p[0], features = p[1], centres = p[2];
  PARALLEL for (size_t i = 0; i < n; i++) {
    uint32_t best = 0;
    float least = FLT_MAX;
    for (size_t c = 0; c < centres; c++) {
      float sum = 0;
      for (size_t f = 0; f < features; f++) {
        float d = feature[f * n + i] - centre[c * features + f];
        sum += d * d;
      }
      if (sum < least) {
        least = sum;
        best = c;
      }
    }
    nearest[i] = best;
  }
}

void NAME(gain)(ARGUMENTS) {
  (void)s;
  const float *coord = F(0), *weight = F(1), *cost = F(2);
  const uint32_t *centre = U(3), *table = U(4);
  uint32_t *moves = U(5);
  size_t n = p[0], candidate = p[1], centres = p[2];
  float *lower = F(6);
  PARALLEL for (size_t i = 0; i < n; i++) {
    float sum = 0;
    for (size_t d = 0; d < 16; d++) {
      float x = coord[d * n + i] - coord[d * n + candidate];
      sum += x * x;
    }
    float would = sum * weight[i];
    if (would < cost[i]) {
      moves[i] = 1;
      lower[i * (centres + 1) + centres] = would - cost[i];
    } else {
      lower[i * (centres + 1) + table[centre[i]]] = cost[i] - would;
    }
  }
}

static int32_t larger(int32_t a, int32_t b) {
  return a > b ? a : b;
}

void NAME(align)(ARGUMENTS) {
  (void)s;
  const int32_t *edge = b[0], *score = b[1];
  int32_t *out = b[2], n = (int32_t)p[0], penalty = (int32_t)p[1];
  PARALLEL for (int32_t top = 0; top < n; top += 16) for (int32_t left = 0; left < n; left += 16) {
    int32_t t[17][17];
    for (int32_t i = 0; i < 17; i++) {
      t[i][0] = edge[(top + i) * (n + 1) + left];
      t[0][i] = edge[top * (n + 1) + left + i];
    }
    for (int32_t y = 1; y < 17; y++)
      for (int32_t x = 1; x < 17; x++) {
        int32_t match = t[y - 1][x - 1] + score[(top + y - 1) * n + left + x - 1];
        t[y][x] = larger(match, larger(t[y][x - 1], t[y - 1][x]) - penalty);
        out[(top + y - 1) * n + left + x - 1] = t[y][x];
      }
  }
}

typedef struct complex {
  float x, y;
} complex;

static complex times(complex a, complex b) {
  return (complex){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

void NAME(fft)(ARGUMENTS) {
  (void)s;
  const complex *in = b[0], *turn = b[1];
  complex *out = b[2];
  size_t n = p[0], size = p[1], quarter = n / 4, step = n / (4 * size);
  PARALLEL for (size_t i = 0; i < quarter; i++) {
    size_t k = i & (size - 1), at = (i - k) * 4 + k;
    complex a = in[i], c = times(in[i + quarter], turn[k * step]);
    complex d = times(in[i + 2 * quarter], turn[2 * k * step]);
    complex e = times(in[i + 3 * quarter], turn[3 * k * step]);
    complex x = {a.x + d.x, a.y + d.y}, y = {a.x - d.x, a.y - d.y};
    complex z = {c.x + e.x, c.y + e.y}, u = {c.y - e.y, e.x - c.x};
    out[at] = (complex){x.x + z.x, x.y + z.y};
    out[at + size] = (complex){y.x + u.x, y.y + u.y};
    out[at + 2 * size] = (complex){x.x - z.x, x.y - z.y};
    out[at + 3 * size] = (complex){y.x - u.x, y.y - u.y};
  }
}
