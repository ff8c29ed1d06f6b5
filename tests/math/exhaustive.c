// SPDX-License-Identifier: MIT
//
// math_exhaustive: every one of the 2^32 arguments of every f32 function of one argument, against
// the C library's double function, whose error is less than 2^-26 of an f32 ulp; and 2^24 random
// points for the others, against double or long double. The worst case is measured again with MPFR.
// Prints one row per function, as docs/MATH.md has them, and fails when a limit is passed.
//
// Usage: math_exhaustive [NAME | NAME.TYPE ...]
#include "math/expanded.h"
#include "math/points.h"
#include "math/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 1 << 12, RANDOM_POINTS = 1 << 24 };

typedef struct result {
  double worst, x, y, got;
  uint64_t points, wrong;
} result;

static void note(result *r, double error, double limit, double x, double y, double got) {
  r->points++;
  if (error > limit) r->wrong++;
  if (error <= r->worst) return;
  r->worst = error;
  r->x = x;
  r->y = y;
  r->got = got;
}

// ulp of an f32 with the exponent of |v|, where v is finite and below 2^128.
static double ulp_of(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  uint64_t field = bits >> 52 & 0x7ff, least = 1023 - 126;
  bits = ((field < least ? least : field) - 23) << 52;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static void compare(vyre_op op, float x, float got, result *r) {
  double exact = reference_double(op, (double)x, 0), g = (double)got, error;
  double size = fabs(exact);
  if (size < 0x1p128 && size > 0 && fabs(g) < INFINITY && signbit(exact) == signbit(g))
    error = fabs(g - exact) / ulp_of(exact);
  else
    error = reference_ulp_f32(g, exact);
  note(r, error, reference_limit(op, VYRE_F32), (double)x, 0, g);
}

// Functions whose result for -x is that for x, or its negation: measured for x >= 0, and compared
// for the others.
typedef enum symmetry { NO_SYMMETRY, EVEN, ODD } symmetry;
static symmetry symmetry_of(vyre_op op) {
  switch (op) {
  case VYRE_OP_COS:
  case VYRE_OP_COSH: return EVEN;
  case VYRE_OP_SIN:
  case VYRE_OP_TAN:
  case VYRE_OP_ASIN:
  case VYRE_OP_ATAN:
  case VYRE_OP_SINH:
  case VYRE_OP_TANH:
  case VYRE_OP_CBRT: return ODD;
  default: return NO_SYMMETRY;
  }
}

static bool is_mirrored(symmetry s, float positive, float negative) {
  uint32_t p, n;
  memcpy(&p, &positive, sizeof p);
  memcpy(&n, &negative, sizeof n);
  return s != NO_SYMMETRY &&
         ((isnan(positive) && isnan(negative)) || n == (s == ODD ? p ^ 0x80000000 : p));
}

static void run_all(const expanded *f, result *r) {
  static float x[2][CHUNK], out[2][CHUNK];
  symmetry s = symmetry_of(f->op);
  for (uint32_t first = 0; first < 0x80000000; first += CHUNK) {
    for (uint32_t i = 0; i < CHUNK; i++) {
      uint32_t bits = first + i;
      memcpy(&x[0][i], &bits, sizeof bits);
      x[1][i] = -x[0][i];
    }
    f->run(CHUNK, x[0], NULL, out[0]);
    f->run(CHUNK, x[1], NULL, out[1]);
    for (uint32_t i = 0; i < CHUNK; i++) {
      compare(f->op, x[0][i], out[0][i], r);
      if (!is_mirrored(s, out[0][i], out[1][i])) compare(f->op, x[1][i], out[1][i], r);
    }
  }
}

static void run_random(const expanded *f, result *r) {
  static double x[CHUNK], y[CHUNK];
  static union {
    float f32[CHUNK];
    double f64[CHUNK];
  } a, b, out;
  points p = {6};
  bool is_f32 = f->type == VYRE_F32;
  for (uint64_t done = 0; done < RANDOM_POINTS; done += CHUNK) {
    for (uint32_t i = 0; i < CHUNK; i++) {
      points_random(&p, f->op, f->type, &x[i], &y[i]);
      if (is_f32)
        a.f32[i] = (float)x[i], b.f32[i] = (float)y[i];
      else
        a.f64[i] = x[i], b.f64[i] = y[i];
    }
    f->run(CHUNK, &a, &b, &out);
    for (uint32_t i = 0; i < CHUNK; i++) {
      double got = is_f32 ? (double)out.f32[i] : out.f64[i];
      double error = reference_error_fast(f->op, f->type, x[i], y[i], got);
      note(r, error, reference_limit(f->op, f->type) + 1.0 / REFERENCE_MARGIN_PARTS, x[i], y[i],
           got);
    }
  }
}

// A name alone stands for both types.
static bool is_wanted(const expanded *f, int argc, char **argv) {
  char typed[32];
  snprintf(typed, sizeof typed, "%s.%s", f->name, vyre_type_name(f->type));
  for (int i = 1; i < argc; i++)
    if (strcmp(f->name, argv[i]) == 0 || strcmp(typed, argv[i]) == 0) return true;
  return argc < 2;
}

int main(int argc, char **argv) {
  int status = 0;
  printf("| function | type | points | worst error, ulp | at | gives |\n"
         "| --- | --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < expanded_count; i++) {
    const expanded *f = &expanded_functions[i];
    if (!is_wanted(f, argc, argv)) continue;
    result r = {.worst = -1};
    bool is_all = f->type == VYRE_F32 && f->arity == 1;
    if (is_all)
      run_all(f, &r);
    else
      run_random(f, &r);
    double worst = reference_error_exact(f->op, f->type, r.x, r.y, r.got);
    printf("| %s | %s | %s | %.4f | %a", f->name, vyre_type_name(f->type), is_all ? "all" : "2^24",
           worst, r.x);
    if (f->arity == 2) printf(", %a", r.y);
    printf(" | %a |\n", r.got);
    bool is_bad = r.wrong || worst > reference_limit(f->op, f->type);
    if (is_bad) printf("%s: %llu points beyond the limit\n", f->name, (unsigned long long)r.wrong);
    fflush(stdout);
    if (is_bad) status = 1;
  }
  return status;
}
