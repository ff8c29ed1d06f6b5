// SPDX-License-Identifier: MIT
//
// Stencils: edges apart from the inside, which has no conditions.
#include "kernels/tuned/tuned.h"

#include <stdbool.h>

// Rows of eight results for each coefficient, so that a row of the input is loaded once for them.
void TUNED(conv2d)(ARGUMENTS) {
  (void)s;
  const float *restrict in = F(0), *restrict k = F(1);
  float *restrict out = F(2);
  int w = (int)p[0];
  PARALLEL for (int y = 0; y < w; y++) for (int first = 0; first < w; first += 64) {
    float sum[64] = {0};
    for (int j = 0; j < 5; j++) UNROLL(5) for (int i = 0; i < 5; i++) {
        const float *row = in + (y + j) * (w + 4) + first + i;
        float f = k[j * 5 + i];
        SIMD for (int x = 0; x < 64; x++) sum[x] += row[x] * f;
      }
    SIMD for (int x = 0; x < 64; x++) out[y * w + first + x] = sum[x];
  }
}

static inline float heat(float here, float north, float south, float west, float east,
                         float power) {
  return (north + south - 2.0f * here) + (east + west - 2.0f * here) + power;
}

void TUNED(heat2d)(ARGUMENTS) {
  const float *restrict in = F(0), *restrict power = F(1);
  float *restrict out = F(2), rate = s[0], ambient = s[1];
  int w = (int)p[0], h = (int)p[1];
  PARALLEL for (int y = 0; y < h; y++) {
    const float *c = in + y * w, *n = y > 0 ? c - w : c, *d = y < h - 1 ? c + w : c;
    const float *q = power + y * w;
    float *restrict o = out + y * w;
    int e = w - 1;
    o[0] = c[0];
    SIMD for (int x = 1; x < e; x++) o[x] =
        c[x] + rate * heat(c[x], n[x], d[x], c[x - 1], c[x + 1], q[x]);
    o[e] = c[e] + rate * (heat(c[e], n[e], d[e], c[e - 1], c[e], q[e]) + (ambient - c[e]));
  }
}

static float box_edge(const float *in, const float *weight, int w, int h, int x, int y) {
  float sum = 0, total = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h) continue;
      float f = weight[(dy + 1) * 3 + dx + 1];
      sum += f * in[(y + dy) * w + x + dx];
      total += f;
    }
  return sum / total;
}

void TUNED(box2d)(ARGUMENTS) {
  (void)s;
  const float *restrict in = F(0), *restrict f = F(1);
  float *restrict out = F(2);
  int w = (int)p[0], h = (int)p[1];
  float total = 0;
  for (int i = 0; i < 9; i++) total += f[i];
  PARALLEL for (int y = 0; y < h; y++) {
    float *restrict o = out + y * w;
    const float *c = in + y * w;
    if (y == 0 || y == h - 1) {
      for (int x = 0; x < w; x++) o[x] = box_edge(in, f, w, h, x, y);
      continue;
    }
    o[0] = box_edge(in, f, w, h, 0, y);
    o[w - 1] = box_edge(in, f, w, h, w - 1, y);
    SIMD for (int x = 1; x < w - 1; x++) {
      float sum = f[0] * c[x - w - 1] + f[1] * c[x - w] + f[2] * c[x - w + 1];
      sum = sum + f[3] * c[x - 1] + f[4] * c[x] + f[5] * c[x + 1];
      sum = sum + f[6] * c[x + w - 1] + f[7] * c[x + w] + f[8] * c[x + w + 1];
      o[x] = sum / total;
    }
  }
}

static inline float diffuse(float here, float n, float d, float l, float r, float q0) {
  float g2 = (n * n + d * d + l * l + r * r) / (here * here);
  float lap = (n + d + l + r) / here;
  float num = 0.5f * g2 - (1.0f / 16.0f) * (lap * lap);
  float den = 1.0f + 0.25f * lap;
  float q = num / (den * den);
  float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
  return c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

void TUNED(diffusion)(ARGUMENTS) {
  const float *restrict image = F(0);
  const uint32_t *restrict up = U(1), *restrict down = U(2), *restrict left = U(3);
  const uint32_t *restrict right = U(4);
  float *restrict north = F(5), *restrict south = F(6), *restrict west = F(7);
  float *restrict east = F(8), *restrict coefficient = F(9), q0 = s[0];
  int w = (int)p[0], h = (int)p[1];
  PARALLEL for (int y = 0; y < h; y++) {
    const float *c = image + y * w, *u = image + (int)up[y] * w, *d = image + (int)down[y] * w;
    int at = y * w;
    SIMD for (int x = 0; x < w; x++) {
      float v = c[x];
      float a = u[x] - v, e = d[x] - v, l = c[left[x]] - v, r = c[right[x]] - v;
      north[at + x] = a;
      south[at + x] = e;
      west[at + x] = l;
      east[at + x] = r;
      coefficient[at + x] = diffuse(v, a, e, l, r, q0);
    }
  }
}

void TUNED(stencil3d)(ARGUMENTS) {
  const float *restrict in = F(0);
  float *restrict out = F(1), a = s[0], c = s[1];
  int w = (int)p[0], h = (int)p[1], d = (int)p[2], plane = w * h;
  PARALLEL for (int z = 0; z < d; z++) for (int y = 0; y < h; y++) {
    const float *i = in + z * plane + y * w;
    float *restrict o = out + z * plane + y * w;
    bool is_edge = z == 0 || z == d - 1 || y == 0 || y == h - 1;
    if (is_edge)
      SIMD for (int x = 0; x < w; x++) o[x] = i[x];
    else
      SIMD for (int x = 1; x < w - 1; x++) o[x] =
          a * i[x] + c * (i[x - 1] + i[x + 1] + i[x - w] + i[x + w] + i[x - plane] + i[x + plane]);
    o[0] = i[0];
    o[w - 1] = i[w - 1];
  }
}

#define LESS(x, y) ((x) < (y) ? (x) : (y))
#define MORE(x, y) ((x) < (y) ? (y) : (x))

// The middle of the largest of the least, the middle ones and the least of the largest of three
// columns: vectors of bytes, without tables.
void TUNED(median)(ARGUMENTS) {
  (void)s;
  const uint8_t *restrict in = b[0];
  uint8_t *restrict out = b[1];
  int w = (int)p[0], h = (int)p[1];
  PARALLEL for (int y = 0; y < h; y++) {
    const uint8_t *m = in + y * w, *u = y > 0 ? m - w : m, *d = y < h - 1 ? m + w : m;
    uint8_t low[4096 + 2], middle[4096 + 2], high[4096 + 2];
    SIMD for (int x = 0; x < w; x++) {
      uint8_t a = LESS(u[x], m[x]), c = MORE(u[x], m[x]), e = LESS(c, d[x]);
      high[x + 1] = MORE(c, d[x]);
      low[x + 1] = LESS(a, e);
      middle[x + 1] = MORE(a, e);
    }
    low[0] = low[1], middle[0] = middle[1], high[0] = high[1];
    low[w + 1] = low[w], middle[w + 1] = middle[w], high[w + 1] = high[w];
    SIMD for (int x = 0; x < w; x++) {
      uint8_t a0 = MORE(low[x], low[x + 1]), a = MORE(a0, low[x + 2]);
      uint8_t c0 = LESS(high[x], high[x + 1]), c = LESS(c0, high[x + 2]);
      uint8_t e0 = LESS(middle[x], middle[x + 1]), e1 = MORE(middle[x], middle[x + 1]);
      uint8_t e2 = LESS(e1, middle[x + 2]), e = MORE(e0, e2);
      uint8_t f0 = LESS(a, c), f1 = MORE(a, c), f2 = LESS(f1, e);
      out[y * w + x] = MORE(f0, f2);
    }
  }
}

// Eight rows at once: their chains of divisions overlap.
void TUNED(adi)(ARGUMENTS) {
  enum { ROWS = 8 };
  (void)s;
  const float *restrict x = F(0), *restrict a = F(1), *restrict c = F(2);
  float *restrict xs = F(3), *restrict cs = F(4);
  int n = (int)p[0];
  PARALLEL for (int row = 0; row < n; row += ROWS) {
    float px[ROWS], pc[ROWS];
    for (int r = 0; r < ROWS; r++) {
      int at = (row + r) * n;
      xs[at] = px[r] = x[at];
      cs[at] = pc[r] = c[at] + 2.0f;
    }
    for (int k = 1; k < n; k++) UNROLL(8) for (int r = 0; r < ROWS; r++) {
        int at = (row + r) * n + k;
        px[r] = x[at] - px[r] * a[at] / pc[r];
        pc[r] = c[at] + 2.0f - a[at] * a[at] / pc[r];
        xs[at] = px[r];
        cs[at] = pc[r];
      }
  }
}
