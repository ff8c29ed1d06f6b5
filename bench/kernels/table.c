// SPDX-License-Identifier: MIT
#include "kernels/table.h"

#include <math.h>
#include <string.h>

#define N1       (1u << 20)
#define N4       (1u << 24) // arrays that no cache holds
#define CSR_ROWS 8192u
#define CSR_ALL  (CSR_ROWS * 32)
#define FFT_N    (1u << 18)
#define POINTS   65536u

// ---- data that is not just random ---------------------------------------------------------------

static void prepare_divergent(void *const *b) {
  float *v = b[0];
  const uint32_t *bits = b[1]; // as random as any
  for (uint32_t i = 0; i < N1; i++)
    if (bits[i] & 4) v[i] = -v[i];
}

static void prepare_csr(void *const *b) {
  uint32_t *first = b[2], at = 0;
  for (uint32_t row = 0; row <= CSR_ROWS; row++) {
    first[row] = at;
    at += 16 + row * 7 % 33; // 16 to 48 in a row
    if (at > CSR_ALL) at = CSR_ALL;
  }
}

static void prepare_diffusion(void *const *b) {
  for (uint32_t i = 0; i < 512; i++) {
    ((uint32_t *)b[1])[i] = ((uint32_t *)b[3])[i] = i > 0 ? i - 1 : 0;
    ((uint32_t *)b[2])[i] = ((uint32_t *)b[4])[i] = i < 511 ? i + 1 : i;
  }
}

static void prepare_gain(void *const *b) {
  float *cost = b[2];
  for (uint32_t i = 0; i < POINTS; i++) cost[i] *= 3; // so that about every third point moves
  memset(b[6], 0, POINTS * 17 * sizeof(float));
}

static void prepare_fft(void *const *b) {
  float *turn = b[1];
  for (uint32_t i = 0; i < FFT_N; i++) {
    double angle = -2 * 3.14159265358979323846 * i / FFT_N;
    turn[2 * i] = (float)cos(angle);
    turn[2 * i + 1] = (float)sin(angle);
  }
}

static uint8_t twice(uint8_t x) {
  return (uint8_t)(x << 1 ^ (x >> 7) * 0x1b);
}

// The table of AES, from its definition: 3 generates the field, so a byte and its inverse are
// walked through together.
static void prepare_aes(void *const *b) {
  uint32_t *table = b[1], *key = b[2];
  uint8_t box[256] = {[0] = 0x63}, x = 1, inverse = 1;
  do {
    x ^= twice(x);
    inverse ^= (uint8_t)(inverse << 1); // divided by 3
    inverse ^= (uint8_t)(inverse << 2);
    inverse ^= (uint8_t)(inverse << 4);
    if (inverse & 0x80) inverse ^= 0x09;
    uint8_t y = inverse, all = inverse;
    for (int i = 0; i < 4; i++) all ^= y = (uint8_t)(y << 1 | y >> 7);
    box[x] = all ^ 0x63;
  } while (x != 1);
  for (uint32_t i = 0; i < 256; i++) {
    uint8_t v = box[i], w = twice(v);
    table[i] = (uint32_t)w << 24 | (uint32_t)v << 16 | (uint32_t)v << 8 | (uint32_t)(v ^ w);
  }
  uint8_t constant = 1;
  for (uint32_t i = 4; i < 44; i++) {
    uint32_t t = key[i - 1];
    if (i % 4 == 0) {
      t = (uint32_t)box[t >> 16 & 255] << 24 | (uint32_t)box[t >> 8 & 255] << 16 |
          (uint32_t)box[t & 255] << 8 | box[t >> 24];
      t ^= (uint32_t)constant << 24;
      constant = twice(constant);
    }
    key[i] = key[i - 4] ^ t;
  }
}

// ---- the table ----------------------------------------------------------------------------------

#define TEXT(n)     .name = #n, .source = "kernels.cl", .has_text = true, .native = NATIVE_##n
#define CL(n, file) .name = #n, .source = file, .native = NATIVE_##n
#define MATMUL(n)                                                                                  \
  TEXT(matmul), .sizes = {n}, .size_count = 1, .grid = {n, n}, .is_compute_bound = true,           \
                .flops = 2.0 * n * n * n,                                                          \
                .buffers = {{'f', n * n, 0}, {'f', n * n, 0}, {'F', n * n, 0}}

const kernel bench_kernels[] = {
    {"saxpy", TEXT(saxpy), .scalars = {0.5f}, .scalar_count = 1, .sizes = {N1}, .grid = {N1},
     .flops = 2.0 * N1, .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {"saxpy 16M", TEXT(saxpy), .scalars = {0.5f}, .scalar_count = 1, .sizes = {N4}, .grid = {N4},
     .flops = 2.0 * N4, .roof = ROOF_UPDATE, .buffers = {{'f', N4, 0}, {'F', N4, 0}}},
    {"dot", TEXT(dot), .sizes = {N1}, .grid = {N1}, .group = {256}, .flops = 2.0 * N1,
     .buffers = {{'f', N1, 0}, {'f', N1, 0}, {'F', N1 / 256, 0}}},
    {"stencil3", TEXT(stencil3), .sizes = {N1}, .size_count = 1, .grid = {N1}, .flops = 5.0 * N1,
     .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {"stencil3 16M", TEXT(stencil3), .sizes = {N4}, .size_count = 1, .grid = {N4},
     .flops = 5.0 * N4, .roof = ROOF_COPY, .buffers = {{'f', N4, 0}, {'F', N4, 0}}},
    {"conv2d", TEXT(conv2d), .sizes = {512}, .size_count = 1, .grid = {512, 512},
     .is_compute_bound = true, .flops = 50.0 * 512 * 512,
     .buffers = {{'f', 516 * 516, 0}, {'f', 25, 0}, {'F', 512 * 512, 0}}},
    {"matmul 512", MATMUL(512)},
    {"matmul 1024", MATMUL(1024)},
    {"matmul 2048", MATMUL(2048), .is_without_drivers = true},
    {"transpose", TEXT(transpose), .sizes = {1024, 1024}, .size_count = 2, .grid = {1024, 1024},
     .group = {16, 16}, .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {"nbody", TEXT(nbody), .sizes = {2048}, .size_count = 1, .scalars = {0.01f}, .scalar_count = 1,
     .grid = {2048}, .is_compute_bound = true, .flops = 20.0 * 2048 * 2048,
     .buffers = {{'f', 2048, 0},
                 {'f', 2048, 0},
                 {'f', 2048, 0},
                 {'f', 2048, 0},
                 {'F', 2048, 0},
                 {'F', 2048, 0},
                 {'F', 2048, 0}}},
    {"mandelbrot", TEXT(mandelbrot), .sizes = {512, 512, 256}, .size_count = 3, .grid = {512, 512},
     .is_compute_bound = true, .share = 0.02, .buffers = {{'U', 512 * 512, 0}}},
    {"divergent", TEXT(divergent), .sizes = {N1}, .grid = {N1}, .prepare = prepare_divergent,
     .buffers = {{'f', N1, 0}, {'f', N1, 0}, {'F', N1, 0}}},
    {"histogram", TEXT(histogram), .sizes = {N1}, .grid = {N1},
     .buffers = {{'u', N1, 256}, {'U', 256, 0}}},
    {"gather", TEXT(gather), .scalars = {0.5f}, .scalar_count = 1, .sizes = {N1}, .grid = {N1},
     .buffers = {{'f', N1, 0}, {'u', N1, N1}, {'F', N1, 0}}},
    {"aos", TEXT(aos), .sizes = {N1 / 4}, .grid = {N1 / 4},
     .buffers = {{'f', N1, 0}, {'F', N1 / 4, 0}}},
    {"scan", TEXT(scan), .sizes = {N1}, .grid = {N1}, .group = {256},
     .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {"blackscholes", TEXT(blackscholes), .scalars = {0.02f, 0.3f}, .scalar_count = 2,
     .sizes = {N1 / 4}, .grid = {N1 / 4}, .is_compute_bound = true,
     .buffers = {{'f', N1 / 4, 0}, {'f', N1 / 4, 0}, {'f', N1 / 4, 0}, {'F', N1 / 4, 0}}},
    {"sgemv 1024", TEXT(sgemv), .sizes = {1024}, .size_count = 1, .grid = {1024}, .flops = 2.0 * N1,
     .buffers = {{'f', N1, 0}, {'f', 1024, 0}, {'F', 1024, 0}}},
    {"sgemv 4096", TEXT(sgemv), .sizes = {4096}, .size_count = 1, .grid = {4096}, .flops = 2.0 * N4,
     .roof = ROOF_READ, .buffers = {{'f', N4, 0}, {'f', 4096, 0}, {'F', 4096, 0}}},
    {"gauss", TEXT(gauss), .sizes = {1024, 3}, .size_count = 2, .grid = {1024, 1024},
     .is_of_suites = true, .flops = 2.0 * N1,
     .buffers = {{'f', N1, 0}, {'f', 1024, 0}, {'F', N1, 0}}},
    {"bytes", TEXT(bytes), .sizes = {N1}, .grid = {N1 / 16}, .group = {256},
     .buffers = {{'b', N1, 0}, {'U', 256, 0}}},

    {"heat2d", CL(heat2d, "stencils.cl"), .sizes = {1024, 1024}, .size_count = 2,
     .scalars = {0.1f, 0.5f}, .scalar_count = 2, .grid = {1024, 1024}, .is_of_suites = true,
     .flops = 9.0 * N1, .buffers = {{'f', N1, 0}, {'f', N1, 0}, {'F', N1, 0}}},
    {"box2d", CL(box2d, "stencils.cl"), .sizes = {1024, 1024}, .size_count = 2,
     .grid = {1024, 1024}, .is_of_suites = true, .flops = 28.0 * N1,
     .buffers = {{'f', N1, 0}, {'f', 9, 0}, {'F', N1, 0}}},
    {"diffusion", CL(diffusion, "stencils.cl"), .sizes = {512, 512}, .size_count = 2,
     .scalars = {0.05f}, .scalar_count = 1, .grid = {512, 512}, .prepare = prepare_diffusion,
     .is_of_suites = true, .tolerance = 1e-4, .flops = 33.0 * 512 * 512,
     .buffers = {{'f', 512 * 512, 0},
                 {'u', 512, 1},
                 {'u', 512, 1},
                 {'u', 512, 1},
                 {'u', 512, 1},
                 {'F', 512 * 512, 0},
                 {'F', 512 * 512, 0},
                 {'F', 512 * 512, 0},
                 {'F', 512 * 512, 0},
                 {'F', 512 * 512, 0}}},
    {"stencil3d", CL(stencil3d, "stencils.cl"), .sizes = {128, 128, 64}, .size_count = 3,
     .scalars = {0.5f, 0.08f}, .scalar_count = 2, .grid = {128, 128, 64}, .flops = 8.0 * N1,
     .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {"median", CL(median, "stencils.cl"), .sizes = {512, 512}, .size_count = 2, .grid = {512, 512},
     .is_compute_bound = true, .buffers = {{'b', 512 * 512, 0}, {'B', 512 * 512, 0}}},
    {"adi", CL(adi, "stencils.cl"), .sizes = {1024}, .size_count = 1, .grid = {1024},
     .is_of_suites = true, .flops = 7.0 * N1,
     .buffers = {{'f', N1, 0}, {'f', N1, 0}, {'f', N1, 0}, {'F', N1, 0}, {'F', N1, 0}}},
    {"gemm", CL(gemm, "matrices.cl"), .sizes = {512}, .size_count = 1, .grid = {128, 128},
     .group = {16, 16}, .is_compute_bound = true, .is_of_suites = true, .flops = 2.0 * (1 << 27),
     .buffers = {{'f', 512 * 512, 0}, {'f', 512 * 512, 0}, {'F', 512 * 512, 0}}},
    {"csr scalar", CL(csr_scalar, "matrices.cl"), .sizes = {CSR_ROWS}, .size_count = 1,
     .grid = {CSR_ROWS}, .prepare = prepare_csr, .flops = 2.0 * CSR_ALL,
     .buffers = {{'f', CSR_ALL, 0},
                 {'u', CSR_ALL, CSR_ROWS},
                 {'u', CSR_ROWS + 1, 1},
                 {'f', CSR_ROWS, 0},
                 {'F', CSR_ROWS, 0}}},
    {"csr vector", CL(csr_vector, "matrices.cl"), .sizes = {CSR_ROWS}, .size_count = 1,
     .grid = {CSR_ROWS * 32}, .group = {128}, .prepare = prepare_csr, .is_of_suites = true,
     .flops = 2.0 * CSR_ALL,
     .buffers = {{'f', CSR_ALL, 0},
                 {'u', CSR_ALL, CSR_ROWS},
                 {'u', CSR_ROWS + 1, 1},
                 {'f', CSR_ROWS, 0},
                 {'F', CSR_ROWS, 0}}},
    {"floyd", CL(floyd, "matrices.cl"), .sizes = {1024, 17}, .size_count = 2, .grid = {1024, 1024},
     .buffers = {{'V', N1, 100000}}},
    {"dot8", CL(dot8, "matrices.cl"), .sizes = {256, 256}, .size_count = 2, .grid = {256, 256},
     .is_compute_bound = true, .flops = 2.0 * (1 << 24),
     .buffers = {{'b', 65536, 0}, {'b', 65536, 0}, {'U', 65536, 0}}},
    {"layernorm", CL(layernorm, "matrices.cl"), .sizes = {1024}, .size_count = 1,
     .scalars = {1e-5f}, .scalar_count = 1, .grid = {LAYER_ROWS * 256}, .group = {256},
     .flops = 8.0 * LAYER_ROWS * 1024,
     .buffers = {{'f', LAYER_ROWS * 1024, 0},
                 {'f', 1024, 0},
                 {'f', 1024, 0},
                 {'F', LAYER_ROWS * 1024, 0}}},
    {"softmax", CL(softmax, "matrices.cl"), .sizes = {1024}, .size_count = 1,
     .grid = {LAYER_ROWS * 256}, .group = {256}, .is_compute_bound = true,
     .buffers = {{'f', LAYER_ROWS * 1024, 0}, {'F', LAYER_ROWS * 1024, 0}}},
    {"reduce", CL(reduce, "data.cl"), .sizes = {N1}, .size_count = 1, .grid = {REDUCE_GROUPS * 256},
     .group = {256}, .is_of_suites = true, .flops = 1.0 * N1,
     .buffers = {{'f', N1, 0}, {'F', REDUCE_GROUPS, 0}}},
    {"radix", CL(radix, "data.cl"), .sizes = {N1, 4}, .size_count = 2,
     .grid = {REDUCE_GROUPS * 256}, .group = {256}, .is_of_suites = true,
     .buffers = {{'u', N1, 0xffffff}, {'U', REDUCE_GROUPS * 16, 0}}},
    {"bitonic", CL(bitonic, "data.cl"), .sizes = {64, 1024}, .size_count = 2,
     .grid = {BITONIC_KEYS / 2}, .buffers = {{'V', BITONIC_KEYS, 0xffffff}}},
    {"kmeans", CL(kmeans, "data.cl"), .sizes = {POINTS, 8, 16}, .size_count = 3, .grid = {POINTS},
     .is_compute_bound = true, .flops = 3.0 * 8 * 16 * POINTS, .share = 1e-3,
     .buffers = {{'f', POINTS * 8, 0}, {'f', 128, 0}, {'U', POINTS, 0}}},
    {"gain", CL(gain, "data.cl"), .sizes = {POINTS, 77, 16}, .size_count = 3, .grid = {POINTS},
     .group = {256}, .prepare = prepare_gain, .is_of_suites = true, .flops = 49.0 * POINTS,
     .share = 1e-3,
     .buffers = {{'f', POINTS * 16, 0},
                 {'f', POINTS, 0},
                 {'f', POINTS, 0},
                 {'u', POINTS, 16},
                 {'u', 16, 16},
                 {'U', POINTS, 0},
                 {'F', POINTS * 17, 0}}},
    {"align", CL(align, "data.cl"), .sizes = {1024, 3}, .size_count = 2, .grid = {1024, 64},
     .group = {16, 1}, .is_of_suites = true,
     .buffers = {{'u', 1025 * 1025, 40}, {'u', N1, 10}, {'U', N1, 0}}},
    {"fft", CL(fft, "data.cl"), .sizes = {FFT_N, 64}, .size_count = 2, .grid = {FFT_N / 4},
     .prepare = prepare_fft, .flops = 34.0 * FFT_N / 4,
     .buffers = {{'f', FFT_N * 2, 0}, {'f', FFT_N * 2, 0}, {'F', FFT_N * 2, 0}}},
    {"sha256", CL(sha256, "ciphers.cl"), .sizes = {16384}, .grid = {16384},
     .is_compute_bound = true, .buffers = {{'u', 16384 * 16, 0xffffff}, {'U', 16384 * 8, 0}}},
    {"aes", CL(aes, "ciphers.cl"), .sizes = {POINTS}, .grid = {POINTS}, .prepare = prepare_aes,
     .is_compute_bound = true,
     .buffers =
         {{'u', POINTS * 4, 0xffffff}, {'u', 256, 1}, {'u', 44, 0xffffff}, {'U', POINTS * 4, 0}}},
};

const uint32_t bench_kernel_count = sizeof bench_kernels / sizeof *bench_kernels;

bool kernel_is_integer(const kernel *k) {
  for (int i = 0; i < MAX_BUFFERS; i++)
    if (k->buffers[i].kind == 'f' || k->buffers[i].kind == 'F') return false;
  return k->share == 0;
}

double kernel_bytes(const kernel *k) {
  double bytes = 0;
  for (int i = 0; i < MAX_BUFFERS && k->buffers[i].kind; i++) {
    char kind = k->buffers[i].kind;
    double each = kind == 'b' || kind == 'B' ? 1 : 4;
    if (kind == 'V' || (k->native == NATIVE_saxpy && kind == 'F')) each *= 2;
    bytes += each * k->buffers[i].count;
  }
  return bytes;
}
