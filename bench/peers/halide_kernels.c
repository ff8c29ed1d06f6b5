// SPDX-License-Identifier: MIT
//
// What halide_kernels.py compiled, with the arguments of bench/kernels/native.h. scripts/get-peers
// builds a library of both that bench_kernels opens.
#include <HalideRuntime.h>

#include <stdint.h>

#define ARGUMENTS void *const *b, const uint32_t *p, const float *s

typedef struct array {
  halide_buffer_t h;
  halide_dimension_t axes[2];
} array;

// A matrix when it has a height.
static halide_buffer_t *make(array *a, void *data, uint32_t width, uint32_t height, int code) {
  *a = (array){.axes = {{0, (int32_t)width, 1, 0}, {0, (int32_t)height, (int32_t)width, 0}}};
  a->h.host = data;
  a->h.dimensions = height ? 2 : 1;
  a->h.dim = a->axes;
  a->h.type = (struct halide_type_t){(uint8_t)code, 32, 1};
  return &a->h;
}

#define ROW(i, n)     make(&(array){0}, b[i], n, 0, halide_type_float)
#define INDICES(i, n) make(&(array){0}, b[i], n, 0, halide_type_uint)
#define MATRIX(i, n)  make(&(array){0}, b[i], n, n, halide_type_float)
#define A             halide_buffer_t *
#define N             p[0]

#define ONE(way, name, types, ...)                                                                 \
  int halide_##way##_##name types;                                                                 \
  void peer_##way##_##name(ARGUMENTS);                                                             \
  void peer_##way##_##name(ARGUMENTS) {                                                            \
    (void)p, (void)s;                                                                              \
    halide_##way##_##name(__VA_ARGS__);                                                            \
  }
#define KERNEL(name, types, ...)                                                                   \
  ONE(exact_one, name, types, __VA_ARGS__)                                                         \
  ONE(exact_all, name, types, __VA_ARGS__)                                                         \
  ONE(fast_one, name, types, __VA_ARGS__)                                                          \
  ONE(fast_all, name, types, __VA_ARGS__)

KERNEL(saxpy, (A, A, float, A), ROW(0, N), ROW(1, N), s[0], ROW(1, N))
KERNEL(dot, (A, A, A), ROW(0, N), ROW(1, N), ROW(2, N / 256))
KERNEL(stencil3, (A, int, A), ROW(0, N), (int)N, ROW(1, N))
KERNEL(conv2d, (A, A, A), MATRIX(0, N + 4), MATRIX(1, 5), MATRIX(2, N))
KERNEL(matmul, (A, A, int, A), MATRIX(0, N), MATRIX(1, N), (int)N, MATRIX(2, N))
KERNEL(transpose, (A, A), MATRIX(0, N), MATRIX(1, N))
KERNEL(nbody, (A, A, A, A, int, float, A, A, A), ROW(0, N), ROW(1, N), ROW(2, N), ROW(3, N), (int)N,
       s[0], ROW(4, N), ROW(5, N), ROW(6, N))
KERNEL(divergent, (A, A, A), ROW(0, N), ROW(1, N), ROW(2, N))
KERNEL(gather, (A, A, float, int, A), ROW(0, N), INDICES(1, N), s[0], (int)N, ROW(2, N))
KERNEL(aos, (A, A), ROW(0, 4 * N), ROW(1, N))
KERNEL(blackscholes, (A, A, A, float, float, A), ROW(0, N), ROW(1, N), ROW(2, N), s[0], s[1],
       ROW(3, N))
KERNEL(sgemv, (A, A, int, A), MATRIX(0, N), ROW(1, N), (int)N, ROW(2, N))
