// SPDX-License-Identifier: MIT
//
// math_exhaustive: every one of the 2^32 arguments of every f32 function of one argument, against
// the C library's double function, whose error is less than 2^-26 of an f32 ulp; the worst case is
// measured again with MPFR. Prints one row per function, as docs/MATH.md has them, and fails when a
// limit is passed.
//
// Usage: math_exhaustive [NAME ...]
#include "math/expanded.h"
#include "math/points.h"
#include "math/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 1 << 14 };

typedef struct result {
  double worst, argument, got;
  uint64_t misrounded, wrong;
} result;

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
  if (error > 0.5 && got != (float)exact) r->misrounded++;
  if (error > reference_limit(op, VYRE_F32)) r->wrong++;
  if (error <= r->worst) return;
  r->worst = error;
  r->argument = (double)x;
  r->got = g;
}

static void run(const expanded *f, result *r) {
  static float x[CHUNK], out[CHUNK];
  for (uint64_t first = 0; first < (uint64_t)1 << 32; first += CHUNK) {
    for (uint32_t i = 0; i < CHUNK; i++) {
      uint32_t bits = (uint32_t)first + i;
      memcpy(&x[i], &bits, sizeof bits);
    }
    f->run(CHUNK, x, NULL, out);
    for (uint32_t i = 0; i < CHUNK; i++) compare(f->op, x[i], out[i], r);
  }
}

static bool is_wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(name, argv[i]) == 0) return true;
  return argc < 2;
}

int main(int argc, char **argv) {
  int status = 0;
  printf("| function | worst error, ulp | at | gives | misrounded |\n"
         "| --- | --- | --- | --- | --- |\n");
  for (size_t i = 0; i < expanded_count; i++) {
    const expanded *f = &expanded_functions[i];
    if (f->type != VYRE_F32 || f->arity != 1 || !is_wanted(f->name, argc, argv)) continue;
    result r = {-1, 0, 0, 0, 0};
    run(f, &r);
    double worst = reference_error_exact(f->op, VYRE_F32, r.argument, 0, r.got);
    printf("| %s | %.5f | %a | %a | %.3f %% |\n", f->name, worst, r.argument, r.got,
           (double)r.misrounded / 0x1p32 * 100);
    if (r.wrong)
      printf("%s: %llu arguments beyond the limit\n", f->name, (unsigned long long)r.wrong);
    fflush(stdout);
    if (r.wrong || worst > reference_limit(f->op, VYRE_F32)) status = 1;
  }
  return status;
}
