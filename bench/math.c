// SPDX-License-Identifier: MIT
//
// Throughput of the mathematical functions on the best backend there is, on one thread, beside the
// scalar C library, glibc's vector library and SLEEF in the same run. Ratios above 1 mean that vyre
// is faster. The bars (for exp, log, sin and cos in f32): five times scalar glibc, half of libmvec.
#include "bench.h"
#include "math/expanded.h"
#include "math/points.h"

#include "ir/types.h"

#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 17, REPEAT = 4, RUNS = 9 };

typedef struct work {
  const expanded *f;
  const void *x, *y;
  void *out;
  vyre_executable *executable; // of the cpu backend; NULL: the C translation
} work;

// ---- the peers ----------------------------------------------------------------------------------

#define UNARY(X)                                                                                   \
  X(exp)                                                                                           \
  X(exp2)                                                                                          \
  X(expm1)                                                                                         \
  X(log)                                                                                           \
  X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh)   \
      X(cbrt)
#define BINARY(X) X(atan2) X(pow) X(hypot)
#define ALL(X)    UNARY(X) BINARY(X)

typedef struct peer { // NULL where the library lacks the function or the host the instructions
  void (*scalar)(void *work, uint64_t count);
  void (*mvec)(void *work, uint64_t count);
  void (*sleef)(void *work, uint64_t count);
} peer;

#define SCALAR_LOOP(name, type, call)                                                              \
  static void name(void *context, uint64_t count) {                                                \
    const work *w = context;                                                                       \
    const type *x = w->x, *y = w->y;                                                               \
    type *out = w->out;                                                                            \
    (void)y;                                                                                       \
    for (uint64_t k = 0; k < count; k++)                                                           \
      for (size_t i = 0; i < COUNT; i++) out[i] = call;                                            \
  }
#define SCALAR_UNARY(fn)                                                                           \
  SCALAR_LOOP(scalar_f32_##fn, float, fn##f(x[i])) SCALAR_LOOP(scalar_f64_##fn, double, fn(x[i]))
#define SCALAR_BINARY(fn)                                                                          \
  SCALAR_LOOP(scalar_f32_##fn, float, fn##f(x[i], y[i]))                                           \
  SCALAR_LOOP(scalar_f64_##fn, double, fn(x[i], y[i]))
UNARY(SCALAR_UNARY)
BINARY(SCALAR_BINARY)
SCALAR_BINARY(fmod)

#define VECTOR_LOOP(name, isa, type, vector, lanes, suffix, call)                                  \
  __attribute__((target(isa))) static void name(void *context, uint64_t count) {                   \
    const work *w = context;                                                                       \
    const type *x = w->x, *y = w->y;                                                               \
    type *out = w->out;                                                                            \
    (void)y;                                                                                       \
    for (uint64_t k = 0; k < count; k++)                                                           \
      for (size_t i = 0; i < COUNT; i += lanes) _mm##suffix(out + i, call);                        \
  }
// clang wants the callee, too, to have the instructions that its arguments need.
#define AVX2     __attribute__((target("avx2")))
#define AVX512   __attribute__((target("avx512f")))
#define V256F(p) _mm256_loadu_ps(p)
#define V256D(p) _mm256_loadu_pd(p)
#define V512F(p) _mm512_loadu_ps(p)
#define V512D(p) _mm512_loadu_pd(p)

#define PEER_UNARY(fn)                                                                             \
  AVX2 __m256 _ZGVdN8v_##fn##f(__m256);                                                            \
  AVX2 __m256d _ZGVdN4v_##fn(__m256d);                                                             \
  AVX512 __m512 _ZGVeN16v_##fn##f(__m512);                                                         \
  AVX512 __m512d _ZGVeN8v_##fn(__m512d);                                                           \
  AVX2 __m256 Sleef_##fn##f8_u10avx2(__m256);                                                      \
  AVX2 __m256d Sleef_##fn##d4_u10avx2(__m256d);                                                    \
  AVX512 __m512 Sleef_##fn##f16_u10avx512f(__m512);                                                \
  AVX512 __m512d Sleef_##fn##d8_u10avx512f(__m512d);                                               \
  VECTOR_LOOP(mvec2_f32_##fn, "avx2", float, __m256, 8, 256_storeu_ps,                             \
              _ZGVdN8v_##fn##f(V256F(x + i)))                                                      \
  VECTOR_LOOP(mvec2_f64_##fn, "avx2", double, __m256d, 4, 256_storeu_pd,                           \
              _ZGVdN4v_##fn(V256D(x + i)))                                                         \
  VECTOR_LOOP(mvec5_f32_##fn, "avx512f", float, __m512, 16, 512_storeu_ps,                         \
              _ZGVeN16v_##fn##f(V512F(x + i)))                                                     \
  VECTOR_LOOP(mvec5_f64_##fn, "avx512f", double, __m512d, 8, 512_storeu_pd,                        \
              _ZGVeN8v_##fn(V512D(x + i)))                                                         \
  VECTOR_LOOP(sleef2_f32_##fn, "avx2", float, __m256, 8, 256_storeu_ps,                            \
              Sleef_##fn##f8_u10avx2(V256F(x + i)))                                                \
  VECTOR_LOOP(sleef2_f64_##fn, "avx2", double, __m256d, 4, 256_storeu_pd,                          \
              Sleef_##fn##d4_u10avx2(V256D(x + i)))                                                \
  VECTOR_LOOP(sleef5_f32_##fn, "avx512f", float, __m512, 16, 512_storeu_ps,                        \
              Sleef_##fn##f16_u10avx512f(V512F(x + i)))                                            \
  VECTOR_LOOP(sleef5_f64_##fn, "avx512f", double, __m512d, 8, 512_storeu_pd,                       \
              Sleef_##fn##d8_u10avx512f(V512D(x + i)))
UNARY(PEER_UNARY)

#define SLEEF_hypot          u05
#define SLEEF_pow            u10
#define SLEEF_atan2          u10
#define JOIN_(fn, t, u, isa) Sleef_##fn##t##_##u##isa
#define JOIN(fn, t, u, isa)  JOIN_(fn, t, u, isa)
#define PEER_BINARY(fn)                                                                            \
  AVX2 __m256 _ZGVdN8vv_##fn##f(__m256, __m256);                                                   \
  AVX2 __m256d _ZGVdN4vv_##fn(__m256d, __m256d);                                                   \
  AVX512 __m512 _ZGVeN16vv_##fn##f(__m512, __m512);                                                \
  AVX512 __m512d _ZGVeN8vv_##fn(__m512d, __m512d);                                                 \
  AVX2 __m256 JOIN(fn, f8, SLEEF_##fn, avx2)(__m256, __m256);                                      \
  AVX2 __m256d JOIN(fn, d4, SLEEF_##fn, avx2)(__m256d, __m256d);                                   \
  AVX512 __m512 JOIN(fn, f16, SLEEF_##fn, avx512f)(__m512, __m512);                                \
  AVX512 __m512d JOIN(fn, d8, SLEEF_##fn, avx512f)(__m512d, __m512d);                              \
  VECTOR_LOOP(mvec2_f32_##fn, "avx2", float, __m256, 8, 256_storeu_ps,                             \
              _ZGVdN8vv_##fn##f(V256F(x + i), V256F(y + i)))                                       \
  VECTOR_LOOP(mvec2_f64_##fn, "avx2", double, __m256d, 4, 256_storeu_pd,                           \
              _ZGVdN4vv_##fn(V256D(x + i), V256D(y + i)))                                          \
  VECTOR_LOOP(mvec5_f32_##fn, "avx512f", float, __m512, 16, 512_storeu_ps,                         \
              _ZGVeN16vv_##fn##f(V512F(x + i), V512F(y + i)))                                      \
  VECTOR_LOOP(mvec5_f64_##fn, "avx512f", double, __m512d, 8, 512_storeu_pd,                        \
              _ZGVeN8vv_##fn(V512D(x + i), V512D(y + i)))                                          \
  VECTOR_LOOP(sleef2_f32_##fn, "avx2", float, __m256, 8, 256_storeu_ps,                            \
              JOIN(fn, f8, SLEEF_##fn, avx2)(V256F(x + i), V256F(y + i)))                          \
  VECTOR_LOOP(sleef2_f64_##fn, "avx2", double, __m256d, 4, 256_storeu_pd,                          \
              JOIN(fn, d4, SLEEF_##fn, avx2)(V256D(x + i), V256D(y + i)))                          \
  VECTOR_LOOP(sleef5_f32_##fn, "avx512f", float, __m512, 16, 512_storeu_ps,                        \
              JOIN(fn, f16, SLEEF_##fn, avx512f)(V512F(x + i), V512F(y + i)))                      \
  VECTOR_LOOP(sleef5_f64_##fn, "avx512f", double, __m512d, 8, 512_storeu_pd,                       \
              JOIN(fn, d8, SLEEF_##fn, avx512f)(V512D(x + i), V512D(y + i)))
BINARY(PEER_BINARY)

static peer peer_of(const expanded *f) {
  bool has_avx512 = __builtin_cpu_supports("avx512f"), has_avx2 = __builtin_cpu_supports("avx2");
  bool is_f32 = f->type == VYRE_F32;
#define ROW(g)                                                                                     \
  if (strcmp(f->name, #g) == 0) {                                                                  \
    peer p = {is_f32 ? scalar_f32_##g : scalar_f64_##g, NULL, NULL};                               \
    if (has_avx512)                                                                                \
      p.mvec = is_f32 ? mvec5_f32_##g : mvec5_f64_##g,                                             \
      p.sleef = is_f32 ? sleef5_f32_##g : sleef5_f64_##g;                                          \
    else if (has_avx2)                                                                             \
      p.mvec = is_f32 ? mvec2_f32_##g : mvec2_f64_##g,                                             \
      p.sleef = is_f32 ? sleef2_f32_##g : sleef2_f64_##g;                                          \
    return p;                                                                                      \
  }
  ALL(ROW)
  if (strcmp(f->name, "fmod") == 0)
    return (peer){is_f32 ? scalar_f32_fmod : scalar_f64_fmod, NULL, NULL};
  return (peer){NULL, NULL, NULL};
}

// ---- vyre ---------------------------------------------------------------------------------------

static vyre_executable *compile(const expanded *f) {
  vyre_builder *b = vyre_builder_new(f->name);
  vyre_mem mem[3];
  for (unsigned i = 0; i < 3; i++)
    mem[i] = vyre_build_buffer(b, (const char *[]){"x", "y", "out"}[i], f->type,
                               i < 2 ? VYRE_READ : VYRE_WRITE, vyre_build_u32(b, COUNT));
  vyre_build_region_begin(b, "map");
  vyre_value n = vyre_build_u32(b, COUNT), args[2];
  vyre_build_grid(b, 1, &n, (uint32_t[3]){256, 1, 1});
  vyre_value id = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  for (unsigned i = 0; i < f->arity; i++) args[i] = vyre_build_load(b, mem[i], id);
  vyre_build_store(b, mem[2], id, vyre_build_op(b, f->op, VYRE_VOID, f->arity, args));
  vyre_build_region_end(b);
  vyre_program *program = NULL;
  vyre_executable *executable = NULL;
  vyre_error error;
  if (vyre_builder_finish(b, &program, &error) == VYRE_OK &&
      vyre_compile(program, "cpu", &(vyre_compile_options){.threads = 1}, &executable, &error) !=
          VYRE_OK)
    executable = NULL;
  vyre_program_release(program);
  vyre_builder_free(b);
  return executable;
}

static void run_vyre(void *context, uint64_t count) {
  work *w = context;
  size_t bytes = COUNT * vyre_type_size(w->f->type);
  vyre_span spans[3] = {{(void *)w->x, bytes}, {(void *)w->y, bytes}, {w->out, bytes}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 3};
  for (uint64_t k = 0; k < count; k++) {
    if (!w->executable)
      w->f->run(COUNT, w->x, w->y, w->out);
    else if (vyre_dispatch(w->executable, &args, NULL, NULL) != VYRE_OK)
      abort();
  }
}

// ---- the table ----------------------------------------------------------------------------------

static double lowest(vyre_op op) {
  switch (op) {
  case VYRE_OP_LOG:
  case VYRE_OP_LOG2:
  case VYRE_OP_LOG10:
  case VYRE_OP_POW:
  case VYRE_OP_RSQRT: return 0.01;
  case VYRE_OP_LOG1P: return -0.9;
  case VYRE_OP_ASIN:
  case VYRE_OP_ACOS: return -1;
  default: return -10;
  }
}

static void fill(const expanded *f, void *x, void *y) {
  points p = {5};
  double lo = lowest(f->op), hi = lo == -1 ? 1 : 10;
  for (size_t i = 0; i < COUNT; i++) {
    double a = points_uniform(&p, lo, hi), b = points_uniform(&p, -10, 10);
    if (f->type == VYRE_F32)
      ((float *)x)[i] = (float)a, ((float *)y)[i] = (float)b;
    else
      ((double *)x)[i] = a, ((double *)y)[i] = b;
  }
}

static double measure(bench_fn run, work *w) {
  return run ? bench_ns(run, w, REPEAT, RUNS) / COUNT : 0;
}

static void print_ratio(double peer_ns, double ns) {
  if (peer_ns > 0)
    printf(" %8.2f", peer_ns / ns);
  else
    printf(" %8s", "-");
}

static bool has_bar(const expanded *f) {
  return f->type == VYRE_F32 && (f->op == VYRE_OP_EXP || f->op == VYRE_OP_LOG ||
                                 f->op == VYRE_OP_SIN || f->op == VYRE_OP_COS);
}

int main(void) {
  size_t bytes = COUNT * sizeof(double); // room for either type
  void *x = aligned_alloc(64, bytes), *y = aligned_alloc(64, bytes),
       *out = aligned_alloc(64, bytes);
  if (!x || !y || !out) return 2;
  bool ok = true;
  printf("%-8s %-4s %10s %8s %8s %8s   (ratios: peer's time / vyre's)\n", "function", "", "ns each",
         "glibc", "libmvec", "SLEEF");
  const char *with = NULL;
  for (size_t i = 0; i < expanded_count; i++) {
    const expanded *f = &expanded_functions[i];
    work w = {f, x, y, out, compile(f)};
    with = w.executable ? "the cpu backend" : "the expansion translated to C: no cpu backend here";
    fill(f, x, y);
    peer p = peer_of(f);
    double ns = measure(run_vyre, &w), scalar = measure(p.scalar, &w);
    double mvec = measure(p.mvec, &w), sleef = measure(p.sleef, &w);
    printf("%-8s %-4s %10.3f", f->name, vyre_type_name(f->type), ns);
    print_ratio(scalar, ns);
    print_ratio(mvec, ns);
    print_ratio(sleef, ns);
    bool is_good = !has_bar(f) || (scalar / ns >= 5 && (mvec == 0 || mvec / ns >= 0.5));
    printf("%s\n", !has_bar(f) ? "" : is_good ? "  bars reached" : "  MISSED: 5 and 0.5 wanted");
    ok = ok && is_good;
    vyre_executable_release(w.executable);
  }
  printf("measured with %s\n", with);
  free(x);
  free(y);
  free(out);
  return ok ? 0 : 1;
}
