// SPDX-License-Identifier: MIT
#include "kernels/roof.h"

#include "base/clock.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

#if defined __AVX512F__
enum { LANES = 16 };
#elif defined __AVX__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

#ifdef __SSE__
#include <immintrin.h>
#endif

static inline void put(float *at, lanes v, bool streaming) {
#if defined __AVX512F__
  if (streaming) {
    _mm512_stream_ps(at, (__m512)v);
    return;
  }
#elif defined __AVX__
  if (streaming) {
    _mm256_stream_ps(at, (__m256)v);
    return;
  }
#elif defined __SSE__
  if (streaming) {
    _mm_stream_ps(at, (__m128)v);
    return;
  }
#else
  (void)streaming; // no such stores here: measured as plain ones
#endif
  *(lanes *)at = v;
}

static inline lanes get(const float *at) {
  return *(const lanes *)at;
}

static inline void fence(bool streaming) {
#ifdef __SSE__
  if (streaming) _mm_sfence();
#else
  (void)streaming;
#endif
}

// The share of a thread: whole cache lines.
#define SHARED(all, count, ...)                                                                    \
  _Pragma("omp parallel if (all)") {                                                               \
    size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();             \
    size_t from = (count) / 64 * me / threads * 64;                                                \
    size_t to = (count) / 64 * (me + 1) / threads * 64;                                            \
    __VA_ARGS__                                                                                    \
  }

static volatile float sink;

void roof_read(const float *x, size_t count, bool all) {
  SHARED(all, count, {
    lanes sum[4] = {{0}};
    for (size_t i = from; i < to; i += 4 * LANES)
      for (int k = 0; k < 4; k++) sum[k] += get(x + i + k * LANES);
    sum[0] += sum[1] + sum[2] + sum[3];
    sink = sum[0][0];
  })
}

void roof_copy(const float *x, float *out, size_t count, bool streaming, bool all) {
  SHARED(all, count, {
    if (streaming)
      for (size_t i = from; i < to; i += LANES) put(out + i, get(x + i), true);
    else
      for (size_t i = from; i < to; i += LANES) put(out + i, get(x + i), false);
    fence(streaming);
  })
}

void roof_update(const float *x, float *y, size_t count, bool streaming, bool all) {
  SHARED(all, count, {
    if (streaming)
      for (size_t i = from; i < to; i += LANES) put(y + i, get(x + i) + get(y + i), true);
    else
      for (size_t i = from; i < to; i += LANES) put(y + i, get(x + i) + get(y + i), false);
    fence(streaming);
  })
}

void roof_triad(const float *x, const float *y, float *out, size_t count, bool streaming,
                bool all) {
  SHARED(all, count, {
    if (streaming)
      for (size_t i = from; i < to; i += LANES) put(out + i, get(x + i) + get(y + i), true);
    else
      for (size_t i = from; i < to; i += LANES) put(out + i, get(x + i) + get(y + i), false);
    fence(streaming);
  })
}

// Twelve chains, more than two units with a latency of five can keep busy.
static double fma_seconds(uint64_t rounds) {
  enum { CHAINS = 12 };
  lanes x[CHAINS], factor, plus;
  for (int l = 0; l < LANES; l++) factor[l] = 0.999f, plus[l] = 0.001f;
  for (int k = 0; k < CHAINS; k++) x[k] = plus * (float)k;
  uint64_t start = clock_now_ns();
  for (uint64_t i = 0; i < rounds; i++)
#pragma GCC unroll 12
    for (int k = 0; k < CHAINS; k++) x[k] = x[k] * factor + plus;
  double seconds = (double)(clock_now_ns() - start) * 1e-9;
  for (int k = 1; k < CHAINS; k++) x[0] += x[k];
  sink = x[0][0];
  return seconds;
}

double roof_gflops(bool all) {
  const uint64_t rounds = 400000;
  double best = 0;
  for (int i = 0; i < 7; i++) {
    double seconds = 0;
    int threads = 1;
#pragma omp parallel if (all) reduction(max : seconds)
    {
#pragma omp single
      threads = omp_get_num_threads();
      seconds = fma_seconds(rounds);
    }
    double rate = 2.0 * 12 * LANES * (double)rounds * threads / seconds * 1e-9;
    if (rate > best) best = rate;
  }
  return best;
}

roof_memory roof_measure_memory(bool all) {
  enum { COUNT = 1 << 24, RUNS = 5 };
  const double bytes = sizeof(float) * (double)COUNT;
  float *x = aligned_alloc(4096, COUNT * sizeof *x), *y = aligned_alloc(4096, COUNT * sizeof *y);
  roof_memory best = {0};
  if (!x || !y) exit(1);
  for (size_t i = 0; i < COUNT; i++) x[i] = y[i] = 1;
  for (int i = 0; i < RUNS; i++) {
    uint64_t at[6] = {clock_now_ns()};
    roof_read(x, COUNT, all), at[1] = clock_now_ns();
    roof_copy(x, y, COUNT, false, all), at[2] = clock_now_ns();
    roof_copy(x, y, COUNT, true, all), at[3] = clock_now_ns();
    roof_update(x, y, COUNT, false, all), at[4] = clock_now_ns();
    roof_update(x, y, COUNT, true, all), at[5] = clock_now_ns();
    double *places[] = {&best.read, &best.copy, &best.copy_streaming, &best.update,
                        &best.update_streaming};
    static const int streams[] = {1, 2, 2, 3, 3};
    for (int k = 0; k < 5; k++) {
      double rate = bytes * streams[k] / (double)(at[k + 1] - at[k]);
      if (rate > *places[k]) *places[k] = rate;
    }
  }
  free(x);
  free(y);
  return best;
}
