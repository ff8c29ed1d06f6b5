// SPDX-License-Identifier: MIT
//
// The C loops beside which the kernels are measured: buffers, sizes and scalars as in kernels.c.
#ifndef VYRE_BENCH_NATIVE_H
#define VYRE_BENCH_NATIVE_H

#include <stdint.h>

typedef void (*native_kernel)(void *const *buffers, const uint32_t *sizes, const float *scalars);

#define NATIVE_KERNELS(X)                                                                          \
  X(saxpy)                                                                                         \
  X(dot)                                                                                           \
  X(stencil3) X(conv2d) X(matmul) X(transpose) X(nbody) X(mandelbrot) X(divergent) X(histogram)    \
      X(gather) X(aos) X(scan) X(blackscholes) X(sgemv) X(gauss) X(bytes)

#define X(name)                                                                                    \
  void c_##name(void *const *, const uint32_t *, const float *);                                   \
  void omp_##name(void *const *, const uint32_t *, const float *);
NATIVE_KERNELS(X)
#undef X

#endif
