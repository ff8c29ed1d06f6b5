// SPDX-License-Identifier: MIT
//
// Reductions, sorting, clustering, alignment, transforms and hashing.
#include "kernels/tuned/tuned.h"

#include <float.h>
#include <stdbool.h>

// The kernel's order is a tree, so that vectors of sums are as right as one.
void TUNED(reduce)(ARGUMENTS) {
  (void)s;
  const float *restrict in = F(0);
  float *restrict out = F(1);
  int n = (int)p[0];
  PARALLEL for (int g = 0; g < REDUCE_GROUPS; g++) {
    float sum[64] = {0};
    for (int first = g * 512; first < n; first += 512 * REDUCE_GROUPS)
      for (int i = first; i < first + 512; i += 64)
        SIMD for (int l = 0; l < 64; l++) sum[l] += in[i + l];
    for (int half = 32; half > 0; half /= 2)
      SIMD for (int l = 0; l < half; l++) sum[l] += sum[l + half];
    out[g] = sum[0];
  }
}

void TUNED(radix)(ARGUMENTS) {
  (void)s;
  const uint32_t *restrict key = U(0);
  uint32_t *restrict count = U(1);
  int block = (int)p[0] / REDUCE_GROUPS;
  uint32_t shift = p[1];
  PARALLEL for (int g = 0; g < REDUCE_GROUPS; g++) {
    uint32_t digits[4][16] = {{0}};
    for (int i = g * block; i < (g + 1) * block; i += 4)
      UNROLL(4) for (int r = 0; r < 4; r++) digits[r][(key[i + r] >> shift) & 15]++;
    for (int d = 0; d < 16; d++)
      count[d * REDUCE_GROUPS + g] = digits[0][d] + digits[1][d] + digits[2][d] + digits[3][d];
  }
}

void TUNED(bitonic)(ARGUMENTS) {
  (void)s;
  uint32_t *key = U(0);
  int distance = (int)p[0], run = (int)p[1];
  PARALLEL for (int low = 0; low < BITONIC_KEYS; low += 2 * distance) {
    uint32_t *restrict a = key + low, *restrict c = a + distance;
    if ((low & run) == 0) SIMD for (int i = 0; i < distance; i++) {
        uint32_t x = a[i], y = c[i];
        a[i] = x < y ? x : y;
        c[i] = x < y ? y : x;
      }
    else
      SIMD for (int i = 0; i < distance; i++) {
        uint32_t x = a[i], y = c[i];
        a[i] = x < y ? y : x;
        c[i] = x < y ? x : y;
      }
  }
}

// Sixty-four points at once, whose distances stay in registers or in the first cache.
void TUNED(kmeans)(ARGUMENTS) {
  enum { LANES = 64 };
  (void)s;
  const float *restrict feature = F(0), *restrict centre = F(1);
  uint32_t *restrict nearest = U(2);
  int n = (int)p[0], features = (int)p[1], centres = (int)p[2];
  PARALLEL for (int first = 0; first < n; first += LANES) {
    float least[LANES], sum[LANES];
    uint32_t best[LANES];
    for (int l = 0; l < LANES; l++) least[l] = FLT_MAX, best[l] = 0;
    for (int c = 0; c < centres; c++) {
      for (int l = 0; l < LANES; l++) sum[l] = 0;
      for (int f = 0; f < features; f++) {
        float at = centre[c * features + f];
        SIMD for (int l = 0; l < LANES; l++) {
          float d = feature[f * n + first + l] - at;
          sum[l] += d * d;
        }
      }
      SIMD for (int l = 0; l < LANES; l++) {
        best[l] = sum[l] < least[l] ? (uint32_t)c : best[l];
        least[l] = sum[l] < least[l] ? sum[l] : least[l];
      }
    }
    for (int l = 0; l < LANES; l++) nearest[first + l] = best[l];
  }
}

void TUNED(gain)(ARGUMENTS) {
  enum { LANES = 64 };
  (void)s;
  const float *restrict coord = F(0), *restrict weight = F(1), *restrict cost = F(2);
  const uint32_t *restrict centre = U(3), *restrict table = U(4);
  uint32_t *restrict moves = U(5);
  float *restrict lower = F(6);
  int n = (int)p[0], candidate = (int)p[1], centres = (int)p[2];
  PARALLEL for (int first = 0; first < n; first += LANES) {
    float would[LANES] = {0};
    for (int d = 0; d < 16; d++) {
      float there = coord[d * n + candidate];
      SIMD for (int l = 0; l < LANES; l++) {
        float x = coord[d * n + first + l] - there;
        would[l] += x * x;
      }
    }
    SIMD for (int l = 0; l < LANES; l++) would[l] *= weight[first + l];
    for (int l = 0; l < LANES; l++) {
      int i = first + l;
      float *mine = lower + i * (centres + 1);
      bool is_moved = would[l] < cost[i];
      if (is_moved) moves[i] = 1;
      mine[is_moved ? (uint32_t)centres : table[centre[i]]] =
          is_moved ? would[l] - cost[i] : cost[i] - would[l];
    }
  }
}

static inline int32_t larger(int32_t a, int32_t b) {
  return a > b ? a : b;
}

// Eight tiles beside one another, in lanes.
void TUNED(align)(ARGUMENTS) {
  enum { LANES = 8 };
  (void)s;
  const int32_t *restrict edge = b[0], *restrict score = b[1];
  int32_t *restrict out = b[2];
  int n = (int)p[0], penalty = (int)p[1];
  PARALLEL for (int top = 0; top < n; top += 16) for (int left = 0; left < n; left += 16 * LANES) {
    int32_t above[17][LANES], before[LANES], corner[LANES];
    for (int i = 0; i < 17; i++)
      for (int l = 0; l < LANES; l++) above[i][l] = edge[top * (n + 1) + left + 16 * l + i];
    for (int y = 0; y < 16; y++) {
      for (int l = 0; l < LANES; l++) {
        corner[l] = above[0][l];
        before[l] = above[0][l] = edge[(top + y + 1) * (n + 1) + left + 16 * l];
      }
      for (int x = 0; x < 16; x++) SIMD for (int l = 0; l < LANES; l++) {
          int at = (top + y) * n + left + 16 * l + x;
          int32_t best = larger(before[l], above[x + 1][l]) - penalty;
          best = larger(best, corner[l] + score[at]);
          corner[l] = above[x + 1][l];
          before[l] = above[x + 1][l] = best;
          out[at] = best;
        }
    }
  }
}

// Within a run of `size` neighbours lie side by side.
void TUNED(fft)(ARGUMENTS) {
  (void)s;
  const float *restrict in = F(0), *restrict turn = F(1);
  float *restrict out = F(2);
  int n = (int)p[0], size = (int)p[1], quarter = n / 4, step = n / (4 * size);
  PARALLEL for (int base = 0; base < quarter; base += size) {
    const float *x = in + 2 * base;
    float *restrict o = out + 8 * base;
    SIMD for (int k = 0; k < size; k++) {
      const float *t1 = turn + 2 * k * step, *t2 = turn + 4 * k * step, *t3 = turn + 6 * k * step;
      const float *x1 = x + 2 * quarter, *x2 = x + 4 * quarter, *x3 = x + 6 * quarter;
      float ar = x[2 * k], ai = x[2 * k + 1];
      float br = x1[2 * k] * t1[0] - x1[2 * k + 1] * t1[1];
      float bi = x1[2 * k] * t1[1] + x1[2 * k + 1] * t1[0];
      float cr = x2[2 * k] * t2[0] - x2[2 * k + 1] * t2[1];
      float ci = x2[2 * k] * t2[1] + x2[2 * k + 1] * t2[0];
      float dr = x3[2 * k] * t3[0] - x3[2 * k + 1] * t3[1];
      float di = x3[2 * k] * t3[1] + x3[2 * k + 1] * t3[0];
      float pr = ar + cr, pi = ai + ci, qr = ar - cr, qi = ai - ci;
      float rr = br + dr, ri = bi + di, sr = bi - di, si = dr - br;
      o[2 * k] = pr + rr, o[2 * k + 1] = pi + ri;
      o[2 * (k + size)] = qr + sr, o[2 * (k + size) + 1] = qi + si;
      o[2 * (k + 2 * size)] = pr - rr, o[2 * (k + 2 * size) + 1] = pi - ri;
      o[2 * (k + 3 * size)] = qr - sr, o[2 * (k + 3 * size) + 1] = qi - si;
    }
  }
}

static inline uint32_t rotated(uint32_t x, int by) {
  return x << by | x >> (32 - by);
}

// Messages in lanes.
void TUNED(sha256)(ARGUMENTS) {
  enum { LANES = NATIVE_LANES };
  (void)s;
  const uint32_t *restrict message = U(0);
  uint32_t *restrict digest = U(1);
  PARALLEL for (int first = 0; first < (int)p[0]; first += LANES) {
    uint32_t w[64][LANES], v[8][LANES];
    for (int k = 0; k < 16; k++)
      for (int l = 0; l < LANES; l++) w[k][l] = message[(first + l) * 16 + k];
    for (int k = 16; k < 64; k++) SIMD for (int l = 0; l < LANES; l++) {
        uint32_t x = w[k - 15][l], y = w[k - 2][l];
        w[k][l] = w[k - 16][l] + (rotated(x, 25) ^ rotated(x, 14) ^ (x >> 3)) + w[k - 7][l] +
                  (rotated(y, 15) ^ rotated(y, 13) ^ (y >> 10));
      }
    for (int k = 0; k < 8; k++)
      for (int l = 0; l < LANES; l++) v[k][l] = sha256_start[k];
    // The eight words stay where they are and change their parts, by eight rounds at a time.
    for (int k = 0; k < 64; k += 8) UNROLL(8) for (int j = 0; j < 8; j++) {
        uint32_t *a = v[(8 - j) & 7], *c = v[(9 - j) & 7], *d = v[(10 - j) & 7];
        uint32_t *e = v[(11 - j) & 7], *f = v[(12 - j) & 7], *g = v[(13 - j) & 7];
        uint32_t *h = v[(14 - j) & 7], *i = v[(15 - j) & 7];
        SIMD for (int l = 0; l < LANES; l++) {
          uint32_t t = i[l] + (rotated(f[l], 26) ^ rotated(f[l], 21) ^ rotated(f[l], 7)) +
                       ((f[l] & g[l]) ^ (~f[l] & h[l])) + sha256_rounds[k + j] + w[k + j][l];
          uint32_t u = (rotated(a[l], 30) ^ rotated(a[l], 19) ^ rotated(a[l], 10)) +
                       ((a[l] & c[l]) ^ (a[l] & d[l]) ^ (c[l] & d[l]));
          e[l] += t;
          i[l] = t + u;
        }
      }
    for (int k = 0; k < 8; k++)
      for (int l = 0; l < LANES; l++) digest[(first + l) * 8 + k] = sha256_start[k] + v[k][l];
  }
}
