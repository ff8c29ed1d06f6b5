// SPDX-License-Identifier: MIT
//
// kernels.cl as the loops that one would write in C.
#include "kernels/native.h"

#include <math.h>

void NAME(saxpy)(ARGUMENTS) {
  const float *x = F(0);
  float *y = F(1), a = s[0];
  PARALLEL for (size_t i = 0; i < p[0]; i++) y[i] = a * x[i] + y[i];
}

void NAME(dot)(ARGUMENTS) {
  (void)s;
  const float *x = F(0), *y = F(1);
  float *out = F(2);
  PARALLEL for (size_t g = 0; g < p[0] / 256; g++) {
    float sum = 0;
    for (size_t i = 0; i < 256; i++) sum += x[g * 256 + i] * y[g * 256 + i];
    out[g] = sum;
  }
}

void NAME(stencil3)(ARGUMENTS) {
  (void)s;
  const float *in = F(0);
  float *out = F(1);
  size_t n = p[0];
  out[0] = in[0];
  out[n - 1] = in[n - 1];
  PARALLEL for (size_t i = 1; i < n - 1; i++) out[i] =
      in[i - 1] * 0.25f + (in[i] * 0.5f + in[i + 1] * 0.25f);
}

void NAME(conv2d)(ARGUMENTS) {
  (void)s;
  const float *in = F(0), *k = F(1);
  float *out = F(2);
  size_t w = p[0];
  PARALLEL for (size_t y = 0; y < w; y++) for (size_t x = 0; x < w; x++) {
    float sum = 0;
    for (size_t j = 0; j < 5; j++)
      for (size_t i = 0; i < 5; i++) sum += in[(y + j) * (w + 4) + x + i] * k[j * 5 + i];
    out[y * w + x] = sum;
  }
}

void NAME(matmul)(ARGUMENTS) {
  (void)s;
  const float *a = F(0), *m = F(1);
  float *c = F(2);
  size_t n = p[0];
  PARALLEL for (size_t y = 0; y < n; y++) {
    for (size_t x = 0; x < n; x++) c[y * n + x] = 0;
    for (size_t k = 0; k < n; k++)
      for (size_t x = 0; x < n; x++) c[y * n + x] = fmaf(a[y * n + k], m[k * n + x], c[y * n + x]);
  }
}

void NAME(transpose)(ARGUMENTS) {
  (void)s;
  const float *in = F(0);
  float *out = F(1);
  size_t w = p[0];
  PARALLEL for (size_t y = 0; y < w; y++) for (size_t x = 0; x < w; x++) out[x * w + y] =
      in[y * w + x];
}

void NAME(nbody)(ARGUMENTS) {
  const float *px = F(0), *py = F(1), *pz = F(2), *m = F(3);
  float *ax = F(4), *ay = F(5), *az = F(6), soft = s[0];
  size_t n = p[0];
  PARALLEL for (size_t i = 0; i < n; i++) {
    float x = px[i], y = py[i], z = pz[i], fx = 0, fy = 0, fz = 0;
    for (size_t j = 0; j < n; j++) {
      float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
      float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + soft);
      float f = m[j] * (inv * inv * inv);
      fx += dx * f;
      fy += dy * f;
      fz += dz * f;
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
  }
}

void NAME(mandelbrot)(ARGUMENTS) {
  (void)s;
  uint32_t *out = U(0);
  size_t w = p[0], h = p[1], limit = p[2];
  PARALLEL for (size_t py = 0; py < h; py++) for (size_t px = 0; px < w; px++) {
    float cx = (float)px / (float)w * 3.5f - 2.5f, cy = (float)py / (float)h * 2.0f - 1.0f;
    float x = 0, y = 0;
    size_t n = 0;
    while (n < limit && x * x + y * y <= 4.0f) {
      float t = x * x - y * y + cx;
      y = 2.0f * x * y + cy;
      x = t;
      n++;
    }
    out[py * w + px] = n;
  }
}

void NAME(divergent)(ARGUMENTS) {
  (void)s;
  const float *v = F(0), *w = F(1);
  float *out = F(2);
  PARALLEL for (size_t i = 0; i < p[0]; i++) {
    float x = v[i];
    if (x > 0.0f)
      out[i] = sqrtf(x) * 2.0f + w[i];
    else
      out[i] = x * (x * x) - 1.0f;
  }
}

void NAME(histogram)(ARGUMENTS) {
  (void)s;
  const uint32_t *key = U(0);
  uint32_t *count = U(1);
  PARALLEL for (size_t i = 0; i < p[0]; i++) {
#ifdef _OPENMP
#pragma omp atomic
#endif
    count[key[i]]++;
  }
}

void NAME(gather)(ARGUMENTS) {
  const float *x = F(0);
  const uint32_t *at = U(1);
  float *out = F(2), a = s[0];
  PARALLEL for (size_t i = 0; i < p[0]; i++) out[i] = x[at[i]] * a;
}

void NAME(aos)(ARGUMENTS) {
  (void)s;
  const float *e = F(0);
  float *out = F(1);
  PARALLEL for (size_t i = 0; i < p[0]; i++) out[i] = e[4 * i] * e[4 * i + 1] + e[4 * i + 2];
}

void NAME(scan)(ARGUMENTS) {
  (void)s;
  const float *in = F(0);
  float *out = F(1);
  PARALLEL for (size_t g = 0; g < p[0] / 256; g++) {
    float sum = 0;
    for (size_t i = g * 256; i < g * 256 + 256; i++) out[i] = sum += in[i];
  }
}

static float cnd(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228040143267794f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f +
                                     k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}

void NAME(blackscholes)(ARGUMENTS) {
  const float *price = F(0), *strike = F(1), *years = F(2);
  float *call = F(3), r = s[0], v = s[1];
  PARALLEL for (size_t i = 0; i < p[0]; i++) {
    float q = sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (r + 0.5f * v * v) * years[i]) / (v * q);
    float d2 = d1 - v * q;
    call[i] = price[i] * cnd(d1) - strike[i] * expf(-r * years[i]) * cnd(d2);
  }
}

void NAME(sgemv)(ARGUMENTS) {
  (void)s;
  const float *a = F(0), *x = F(1);
  float *y = F(2);
  size_t n = p[0];
  PARALLEL for (size_t row = 0; row < n; row++) {
    float sum = 0;
    for (size_t k = 0; k < n; k++) sum = fmaf(a[row * n + k], x[k], sum);
    y[row] = sum;
  }
}

void NAME(gauss)(ARGUMENTS) {
  (void)s;
  const float *m = F(0), *factor = F(1);
  float *out = F(2);
  size_t n = p[0], k = p[1];
  PARALLEL for (size_t row = 0; row < n; row++) for (size_t column = 0; column < n; column++)
      out[row * n + column] = m[row * n + column] - factor[row] * m[k * n + column];
}

void NAME(bytes)(ARGUMENTS) {
  (void)s;
  const uint8_t *data = b[0];
  uint32_t *count = U(1);
  PARALLEL for (size_t g = 0; g < p[0] / 4096; g++) {
    uint32_t part[256] = {0};
    for (size_t i = g * 4096; i < g * 4096 + 4096; i++) part[data[i]]++;
    for (size_t i = 0; i < 256; i++) {
#ifdef _OPENMP
#pragma omp atomic
#endif
      count[i] += part[i];
    }
  }
}
