// SPDX-License-Identifier: MIT
//
// Loops over vectors: told that nothing overlaps and that iterations are independent.
#include "kernels/tuned/tuned.h"

#include <math.h>

void TUNED(saxpy)(ARGUMENTS) {
  const float *restrict x = F(0);
  float *restrict y = F(1), a = s[0];
  PARALLEL_SIMD for (int i = 0; i < (int)p[0]; i++) y[i] = a * x[i] + y[i];
}

// The sum of 256 as a tree of eight accumulators each: any order is right here, for the kernel's
// own is a tree as well.
static float dot256(const float *restrict x, const float *restrict y) {
  float sum[32] = {0};
  for (int i = 0; i < 256; i += 32) SIMD for (int l = 0; l < 32; l++) sum[l] += x[i + l] * y[i + l];
  for (int half = 16; half > 0; half /= 2)
    SIMD for (int l = 0; l < half; l++) sum[l] += sum[l + half];
  return sum[0];
}

void TUNED(dot)(ARGUMENTS) {
  (void)s;
  const float *x = F(0), *y = F(1);
  float *out = F(2);
  PARALLEL for (int g = 0; g < (int)p[0] / 256; g++) out[g] = dot256(x + g * 256, y + g * 256);
}

void TUNED(stencil3)(ARGUMENTS) {
  (void)s;
  const float *restrict in = F(0);
  float *restrict out = F(1);
  int n = (int)p[0];
  out[0] = in[0];
  out[n - 1] = in[n - 1];
  PARALLEL_SIMD for (int i = 1; i < n - 1; i++) out[i] =
      in[i - 1] * 0.25f + (in[i] * 0.5f + in[i + 1] * 0.25f);
}

void TUNED(divergent)(ARGUMENTS) {
  (void)s;
  const float *restrict v = F(0), *restrict w = F(1);
  float *restrict out = F(2);
  PARALLEL_SIMD for (int i = 0; i < (int)p[0]; i++) {
    float x = v[i], root = sqrtf(fmaxf(x, 0.0f)) * 2.0f + w[i], cube = x * (x * x) - 1.0f;
    out[i] = x > 0.0f ? root : cube;
  }
}

void TUNED(gather)(ARGUMENTS) {
  const float *restrict x = F(0);
  const uint32_t *restrict at = U(1);
  float *restrict out = F(2), a = s[0];
  PARALLEL_SIMD for (int i = 0; i < (int)p[0]; i++) out[i] = x[at[i]] * a;
}

void TUNED(aos)(ARGUMENTS) {
  (void)s;
  const float *restrict e = F(0);
  float *restrict out = F(1);
  PARALLEL_SIMD for (int i = 0; i < (int)p[0]; i++) out[i] = e[4 * i] * e[4 * i + 1] + e[4 * i + 2];
}

// Four rows at once, so that their chains of additions overlap.
void TUNED(scan)(ARGUMENTS) {
  (void)s;
  const float *restrict in = F(0);
  float *restrict out = F(1);
  PARALLEL for (int g = 0; g < (int)p[0]; g += 1024) {
    float sum[4] = {0};
    for (int i = g; i < g + 256; i++)
      UNROLL(4) for (int r = 0; r < 4; r++) out[i + r * 256] = sum[r] += in[i + r * 256];
  }
}

// Counters of their own for neighbours, which would wait for each other, and for threads.
void TUNED(histogram)(ARGUMENTS) {
  (void)s;
  const uint32_t *restrict key = U(0);
  uint32_t *count = U(1);
  PARALLEL for (int begin = 0; begin < (int)p[0]; begin += BLOCK) {
    uint32_t part[4][256] = {{0}};
    for (int i = begin; i < begin + BLOCK; i += 4)
      UNROLL(4) for (int r = 0; r < 4; r++) part[r][key[i + r]]++;
    for (int k = 0; k < 256; k++) ADD(count[k], part[0][k] + part[1][k] + part[2][k] + part[3][k]);
  }
}

void TUNED(bytes)(ARGUMENTS) {
  (void)s;
  const uint8_t *restrict data = b[0];
  uint32_t *count = U(1);
  PARALLEL for (int begin = 0; begin < (int)p[0]; begin += BLOCK) {
    uint32_t part[4][256] = {{0}};
    for (int i = begin; i < begin + BLOCK; i += 4)
      UNROLL(4) for (int r = 0; r < 4; r++) part[r][data[i + r]]++;
    for (int k = 0; k < 256; k++) ADD(count[k], part[0][k] + part[1][k] + part[2][k] + part[3][k]);
  }
}

static inline float cnd(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228040143267794f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f +
                                     k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}

void TUNED(blackscholes)(ARGUMENTS) {
  const float *restrict price = F(0), *restrict strike = F(1), *restrict years = F(2);
  float *restrict call = F(3), r = s[0], v = s[1];
  PARALLEL_SIMD for (int i = 0; i < (int)p[0]; i++) {
    float t = years[i], q = sqrtf(t);
    float d1 = (logf(price[i] / strike[i]) + (r + 0.5f * v * v) * t) / (v * q), d2 = d1 - v * q;
    call[i] = price[i] * cnd(d1) - strike[i] * expf(-r * t) * cnd(d2);
  }
}

// Sixteen bodies at once against each of the others.
void TUNED(nbody)(ARGUMENTS) {
  const float *restrict px = F(0), *restrict py = F(1), *restrict pz = F(2), *restrict m = F(3);
  float *restrict ax = F(4), *restrict ay = F(5), *restrict az = F(6), soft = s[0];
  int n = (int)p[0];
  PARALLEL for (int first = 0; first < n; first += 16) {
    float fx[16] = {0}, fy[16] = {0}, fz[16] = {0};
    for (int j = 0; j < n; j++) SIMD for (int l = 0; l < 16; l++) {
        float dx = px[j] - px[first + l], dy = py[j] - py[first + l], dz = pz[j] - pz[first + l];
        float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + soft);
        float f = m[j] * (inv * inv * inv);
        fx[l] += dx * f;
        fy[l] += dy * f;
        fz[l] += dz * f;
      }
    for (int l = 0; l < 16; l++)
      ax[first + l] = fx[l], ay[first + l] = fy[l], az[first + l] = fz[l];
  }
}

// Points that are done wait for their neighbours.
void TUNED(mandelbrot)(ARGUMENTS) {
  enum { LANES = 16 };
  (void)s;
  uint32_t *restrict out = U(0);
  int w = (int)p[0], h = (int)p[1], limit = (int)p[2];
  PARALLEL_UNEVEN for (int py = 0; py < h; py++) for (int first = 0; first < w; first += LANES) {
    float x[LANES] = {0}, y[LANES] = {0}, cx[LANES], cy = (float)py / (float)h * 2.0f - 1.0f;
    int n[LANES] = {0};
    for (int l = 0; l < LANES; l++) cx[l] = (float)(first + l) / (float)w * 3.5f - 2.5f;
    for (int k = 0; k < limit; k++) {
      int alive = 0;
      _Pragma("omp simd reduction(+ : alive)") for (int l = 0; l < LANES; l++) {
        float xx = x[l] * x[l], yy = y[l] * y[l];
        int in = xx + yy <= 4.0f;
        float t = xx - yy + cx[l], u = 2.0f * x[l] * y[l] + cy;
        x[l] = in ? t : x[l];
        y[l] = in ? u : y[l];
        n[l] += in;
        alive += in;
      }
      if (!alive) break;
    }
    for (int l = 0; l < LANES; l++) out[py * w + first + l] = (uint32_t)n[l];
  }
}
