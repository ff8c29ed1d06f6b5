// SPDX-License-Identifier: MIT
//
// stencils.cl as loops in C.
#include "kernels/native.h"

void NAME(heat2d)(ARGUMENTS) {
  const float *in = F(0), *power = F(1);
  float *out = F(2), rate = s[0], ambient = s[1];
  size_t w = p[0], h = p[1];
  PARALLEL for (size_t y = 0; y < h; y++) for (size_t x = 0; x < w; x++) {
    float here = in[y * w + x];
    float north = y > 0 ? in[(y - 1) * w + x] : here;
    float south = y < h - 1 ? in[(y + 1) * w + x] : here;
    float west = x > 0 ? in[y * w + x - 1] : here;
    float east = x < w - 1 ? in[y * w + x + 1] : here;
    float sum = (north + south - 2.0f * here) + (east + west - 2.0f * here) + power[y * w + x];
    if (x == 0)
      out[y * w + x] = here;
    else if (x == w - 1)
      out[y * w + x] = here + rate * (sum + (ambient - here));
    else
      out[y * w + x] = here + rate * sum;
  }
}

void NAME(box2d)(ARGUMENTS) {
  (void)s;
  const float *in = F(0), *weight = F(1);
  float *out = F(2);
  int w = (int)p[0], h = (int)p[1];
  PARALLEL for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
    float sum = 0, total = 0;
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        int xx = x + dx, yy = y + dy;
        if (xx >= 0 && xx < w && yy >= 0 && yy < h) {
          float f = weight[(dy + 1) * 3 + dx + 1];
          sum += f * in[yy * w + xx];
          total += f;
        }
      }
    out[y * w + x] = sum / total;
  }
}

void NAME(diffusion)(ARGUMENTS) {
  const float *image = F(0);
  const uint32_t *up = U(1), *down = U(2), *left = U(3), *right = U(4);
  float *north = F(5), *south = F(6), *west = F(7), *east = F(8), *coefficient = F(9), q0 = s[0];
  size_t w = p[0], h = p[1];
  PARALLEL for (size_t y = 0; y < h; y++) for (size_t x = 0; x < w; x++) {
    size_t at = y * w + x;
    float here = image[at];
    float n = image[up[y] * w + x] - here, d = image[down[y] * w + x] - here;
    float l = image[y * w + left[x]] - here, r = image[y * w + right[x]] - here;
    float g2 = (n * n + d * d + l * l + r * r) / (here * here);
    float lap = (n + d + l + r) / here;
    float num = 0.5f * g2 - (1.0f / 16.0f) * (lap * lap);
    float den = 1.0f + 0.25f * lap;
    float q = num / (den * den);
    float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    north[at] = n;
    south[at] = d;
    west[at] = l;
    east[at] = r;
    coefficient[at] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
  }
}

void NAME(stencil3d)(ARGUMENTS) {
  const float *in = F(0);
  float *out = F(1), a = s[0], c = s[1];
  size_t w = p[0], h = p[1], d = p[2];
  PARALLEL for (size_t z = 0; z < d; z++) for (size_t y = 0; y < h; y++) for (size_t x = 0; x < w;
                                                                              x++) {
    size_t at = (z * h + y) * w + x;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1 && z > 0 && z < d - 1)
      out[at] = a * in[at] + c * (in[at - 1] + in[at + 1] + in[at - w] + in[at + w] +
                                  in[at - w * h] + in[at + w * h]);
    else
      out[at] = in[at];
  }
}

static void order(uint8_t *a, uint8_t *b) {
  uint8_t low = *a < *b ? *a : *b;
  *b = *a < *b ? *b : *a;
  *a = low;
}

void NAME(median)(ARGUMENTS) {
  static const uint8_t pairs[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2},
                                       {4, 5}, {7, 8}, {0, 3}, {5, 8}, {4, 7}, {3, 6}, {1, 4},
                                       {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
  (void)s;
  const uint8_t *in = b[0];
  uint8_t *out = b[1];
  int w = (int)p[0], h = (int)p[1];
  PARALLEL for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
    int l = x > 0 ? x - 1 : 0, r = x < w - 1 ? x + 1 : x;
    const uint8_t *u = in + (y > 0 ? y - 1 : 0) * w, *m = in + y * w;
    const uint8_t *d = in + (y < h - 1 ? y + 1 : y) * w;
    uint8_t v[9] = {u[l], u[x], u[r], m[l], m[x], m[r], d[l], d[x], d[r]};
    for (int k = 0; k < 19; k++) order(&v[pairs[k][0]], &v[pairs[k][1]]);
    out[y * w + x] = v[4];
  }
}

void NAME(adi)(ARGUMENTS) {
  (void)s;
  const float *x = F(0), *a = F(1), *c = F(2);
  float *xs = F(3), *cs = F(4);
  size_t n = p[0];
  PARALLEL for (size_t row = 0; row < n; row++) {
    xs[row * n] = x[row * n];
    cs[row * n] = c[row * n] + 2.0f;
    for (size_t at = row * n + 1; at < row * n + n; at++) {
      xs[at] = x[at] - xs[at - 1] * a[at] / cs[at - 1];
      cs[at] = c[at] + 2.0f - a[at] * a[at] / cs[at - 1];
    }
  }
}
