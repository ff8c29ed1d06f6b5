// SPDX-License-Identifier: MIT
//
// The C loops beside which the kernels are measured: buffers, sizes and scalars as in table.c. All
// of native/ and tuned/ is compiled once for each variant (a compiler, exact or fast, with or
// without OpenMP), and each variant has tables of its functions, in the order of the lists below.
// native/ has the loop that one writes first; tuned/ what a good C programmer makes of it, where
// that differs.
#ifndef VYRE_BENCH_NATIVE_H
#define VYRE_BENCH_NATIVE_H

#include <stddef.h>
#include <stdint.h>

typedef void (*native_kernel)(void *const *buffers, const uint32_t *sizes, const float *scalars);

#define NATIVE_KERNELS(X)                                                                          \
  X(saxpy)                                                                                         \
  X(dot)                                                                                           \
  X(stencil3)                                                                                      \
  X(conv2d)                                                                                        \
  X(matmul) X(transpose) X(nbody) X(mandelbrot) X(divergent) X(histogram) X(gather) X(aos) X(scan) \
      X(blackscholes) X(sgemv) X(gauss) X(bytes) X(heat2d) X(box2d) X(diffusion) X(stencil3d)      \
          X(median) X(adi) X(gemm) X(csr_scalar) X(csr_vector) X(floyd) X(dot8) X(layernorm)       \
              X(softmax) X(reduce) X(radix) X(bitonic) X(kmeans) X(gain) X(align) X(fft) X(sha256) \
                  X(aes)

typedef enum native_id {
#define X(name) NATIVE_##name,
  NATIVE_KERNELS(X)
#undef X
      NATIVE_COUNT
} native_id;

#define NATIVE_VARIANTS(X)                                                                         \
  X(gcc_exact) X(gcc_fast) X(clang_exact) X(clang_fast) X(omp_exact) X(omp_fast)

// Sizes that the loops cannot see in their arguments, because the kernels have them from their
// grid.
enum { LAYER_ROWS = 512, REDUCE_GROUPS = 64, BITONIC_KEYS = 1 << 20 };

#define NATIVE_JOIN(a, b) a##_##b
#define NATIVE_NAME(a, b) NATIVE_JOIN(a, b)
#define ARGUMENTS         void *const *b, const uint32_t *p, const float *s

#ifdef VARIANT
#ifdef _OPENMP
#define PARALLEL _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL
#endif
#define NAME(kernel) NATIVE_NAME(VARIANT, kernel)
#define F(i)         ((float *)b[i])
#define U(i)         ((uint32_t *)b[i])

#define X(name) void NAME(name)(ARGUMENTS);
NATIVE_KERNELS(X)
#undef X
extern const uint32_t NAME(sha256_rounds)[64], NAME(sha256_start)[8];
#define sha256_rounds NAME(sha256_rounds)
#define sha256_start  NAME(sha256_start)
#endif

#endif
