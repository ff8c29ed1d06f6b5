// SPDX-License-Identifier: MIT
//
// Kernels as a good C programmer tunes them, without intrinsics: restrict, loops that are told to
// be parallel, tiles that stay in caches and registers, several accumulators, private counters.
// Under OpenMP the outermost loop is shared among threads.
#ifndef VYRE_BENCH_TUNED_H
#define VYRE_BENCH_TUNED_H

#include "kernels/native.h"

#define TUNED_KERNELS(X)                                                                           \
  X(saxpy)                                                                                         \
  X(dot)                                                                                           \
  X(stencil3)                                                                                      \
  X(conv2d)                                                                                        \
  X(matmul)                                                                                        \
  X(transpose)                                                                                     \
  X(nbody)                                                                                         \
  X(mandelbrot)                                                                                    \
  X(divergent)                                                                                     \
  X(histogram)                                                                                     \
  X(gather)                                                                                        \
  X(aos)                                                                                           \
  X(scan)                                                                                          \
  X(blackscholes)                                                                                  \
  X(sgemv)                                                                                         \
  X(gauss)                                                                                         \
  X(bytes)                                                                                         \
  X(heat2d)                                                                                        \
  X(box2d)                                                                                         \
  X(diffusion)                                                                                     \
  X(stencil3d)                                                                                     \
  X(median)                                                                                        \
  X(adi)                                                                                           \
  X(gemm)                                                                                          \
  X(csr_scalar)                                                                                    \
  X(csr_vector)                                                                                    \
  X(floyd)                                                                                         \
  X(dot8)                                                                                          \
  X(layernorm)                                                                                     \
  X(softmax)                                                                                       \
  X(reduce)                                                                                        \
  X(radix)                                                                                         \
  X(bitonic)                                                                                       \
  X(kmeans)                                                                                        \
  X(gain)                                                                                          \
  X(align)                                                                                         \
  X(fft)                                                                                           \
  X(sha256)

#define TUNED(kernel)       NATIVE_NAME(VARIANT, tuned_##kernel)
#define SIMD                _Pragma("omp simd")
#define UNROLL(n)           NATIVE_PRAGMA(GCC unroll n)
#define NATIVE_PRAGMA(text) _Pragma(#text)

#ifdef __AVX512F__
enum { NATIVE_LANES = 16 }; // floats in a register
#else
enum { NATIVE_LANES = 8 };
#endif

#ifdef _OPENMP
#define PARALLEL_SIMD     _Pragma("omp parallel for simd schedule(static)")
#define PARALLEL_UNEVEN   _Pragma("omp parallel for schedule(dynamic, 8)")
#define ADD(place, value) __atomic_fetch_add(&(place), value, __ATOMIC_RELAXED)
enum { BLOCK = 1 << 17 }; // of input for private counters
#else
#define PARALLEL_SIMD SIMD
#define PARALLEL_UNEVEN
#define ADD(place, value) ((place) += (value))
enum { BLOCK = 1 << 20 };
#endif

#define X(name) void TUNED(name)(ARGUMENTS);
TUNED_KERNELS(X)
#undef X

#endif
