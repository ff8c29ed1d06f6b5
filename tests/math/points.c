// SPDX-License-Identifier: MIT
#include "math/points.h"

#include <math.h>
#include <string.h>

uint64_t points_bits(points *p) { // splitmix64
  uint64_t z = p->state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

double points_uniform(points *p, double lo, double hi) {
  return lo + (hi - lo) * ((double)(points_bits(p) >> 11) * 0x1p-53);
}

double points_of_bits(vyre_type type, uint64_t bits) {
  if (type == VYRE_F32) {
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return (double)f;
  }
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

double points_any(points *p, vyre_type type) {
  return points_of_bits(type, points_bits(p));
}

double points_round(vyre_type type, double v) {
  return type == VYRE_F32 ? (double)(float)v : v;
}

static double sign_of(points *p) {
  return points_bits(p) & 1 ? 1 : -1;
}

// Of magnitude 2^lo to 2^hi, uniform in the exponent.
static double spread(points *p, double lo, double hi) {
  return exp2(points_uniform(p, lo, hi)) * sign_of(p);
}

// Next to a multiple of pi/2.
static double near_quadrant(points *p, vyre_type type) {
  double k = floor(exp2(points_uniform(p, 0, type == VYRE_F32 ? 20 : 40)));
  long double v = (long double)k * 1.57079632679489661923132169163975144L;
  double x = points_round(type, (double)v);
  double up = points_round(type, x * (1 + (type == VYRE_F32 ? 0x1p-23 : 0x1p-52)));
  return sign_of(p) * (points_bits(p) & 1 ? x : up);
}

static double interesting(points *p, vyre_op op, vyre_type type) {
  bool is_f32 = type == VYRE_F32;
  switch (op) {
  case VYRE_OP_EXP:
  case VYRE_OP_EXPM1: return is_f32 ? points_uniform(p, -105, 90) : points_uniform(p, -750, 711);
  case VYRE_OP_EXP2: return is_f32 ? points_uniform(p, -151, 129) : points_uniform(p, -1080, 1025);
  case VYRE_OP_SINH:
  case VYRE_OP_COSH: return is_f32 ? points_uniform(p, -90, 90) : points_uniform(p, -711, 711);
  case VYRE_OP_TANH: return points_uniform(p, is_f32 ? -10 : -20, is_f32 ? 10 : 20);
  case VYRE_OP_LOG:
  case VYRE_OP_LOG2:
  case VYRE_OP_LOG10:
    return points_bits(p) & 1 ? points_uniform(p, 0, 4) : fabs(spread(p, -126, 127));
  case VYRE_OP_LOG1P: return points_bits(p) & 1 ? points_uniform(p, -1, 3) : spread(p, -60, 100);
  case VYRE_OP_SIN:
  case VYRE_OP_COS:
  case VYRE_OP_TAN:
    return points_bits(p) & 1 ? near_quadrant(p, type) : points_uniform(p, -100, 100);
  case VYRE_OP_ASIN:
  case VYRE_OP_ACOS: return points_uniform(p, -1, 1);
  case VYRE_OP_RSQRT: return fabs(spread(p, -126, 127));
  default: return spread(p, -20, 20);
  }
}

static void interesting_pair(points *p, vyre_op op, vyre_type type, double *x, double *y) {
  double range = type == VYRE_F32 ? 150 : 1075;
  if (op == VYRE_OP_POW) {
    *x =
        points_bits(p) & 3 ? fabs(spread(p, -range * 0.8, range * 0.8)) : points_uniform(p, 0.5, 2);
    *x = points_round(type, *x);
    double l = log2(*x);
    *y = l != 0 ? points_uniform(p, -range, range) / l : points_uniform(p, -10, 10);
    if (points_bits(p) % 8 == 0) {
      *y = rint(*y);
      *x *= sign_of(p);
    }
  } else {
    *x = spread(p, -30, 30);
    *y = fabs(*x) * spread(p, -20, 20);
  }
}

void points_random(points *p, vyre_op op, vyre_type type, double *x, double *y) {
  *x = points_any(p, type);
  *y = points_any(p, type);
  if (points_bits(p) % 4 == 0) return;
  if (op == VYRE_OP_POW || op == VYRE_OP_ATAN2 || op == VYRE_OP_HYPOT || op == VYRE_OP_FMOD)
    interesting_pair(p, op, type, x, y);
  else
    *x = interesting(p, op, type);
  *x = points_round(type, *x);
  *y = points_round(type, *y);
}

size_t points_special(vyre_type type, double out[POINTS_SPECIAL_MAX]) {
  static const double values[] = {0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  5,
                                  6,
                                  7,
                                  8,
                                  10,
                                  100,
                                  1000,
                                  0.5,
                                  1.5,
                                  2.5,
                                  3.5,
                                  0.25,
                                  0.1,
                                  0.6,
                                  0.9,
                                  0.99,
                                  1.01,
                                  1.41421356237,
                                  0.70710678118,
                                  0.34657359,
                                  0.69314718,
                                  3.14159265358979,
                                  1.57079632679490,
                                  0.78539816339745,
                                  2.35619449019,
                                  88.72283,
                                  88.72284,
                                  89.0,
                                  89.415985,
                                  89.41599,
                                  -103.97207,
                                  -103.97209,
                                  104,
                                  128,
                                  127.99999,
                                  149,
                                  149.5,
                                  150,
                                  151,
                                  709.782712893384,
                                  709.782712893385,
                                  710.475860073944,
                                  745.133219101941,
                                  745.1332191019412,
                                  746,
                                  1024,
                                  1074,
                                  1075,
                                  1076,
                                  17,
                                  18,
                                  37,
                                  38,
                                  0x1p17,
                                  0x1.000002p17,
                                  0x1p23,
                                  0x1p24,
                                  0x1p28,
                                  0x1.0000000000001p28,
                                  0x1p52,
                                  0x1p53,
                                  0x1p54,
                                  0x1p-24,
                                  0x1p-25,
                                  0x1p-53,
                                  0x1p-54,
                                  0x1.fffffep23,
                                  0x1.fffffffffffffp52};
  uint64_t limits32[] = {1,          2,          0x7fffff,   0x800000,   0x800001,   0x7f7fffff,
                         0x7f7ffffe, 0x7f800000, 0x7fc00000, 0x3f7fffff, 0x3f800001, 0x7f000000};
  uint64_t limits64[] = {1,
                         2,
                         0xfffffffffffff,
                         0x10000000000000,
                         0x10000000000001,
                         0x7fefffffffffffff,
                         0x7feffffffffffffe,
                         0x7ff0000000000000,
                         0x7ff8000000000000,
                         0x3fefffffffffffff,
                         0x3ff0000000000001,
                         0x7fe0000000000000};
  const uint64_t *limits = type == VYRE_F32 ? limits32 : limits64;
  size_t n = 0;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    out[n++] = points_round(type, values[i]);
  for (size_t i = 0; i < sizeof limits32 / sizeof *limits32; i++)
    out[n++] = points_of_bits(type, limits[i]);
  for (size_t i = n; i-- > 0 && n < POINTS_SPECIAL_MAX;) out[n++] = -out[i];
  return n;
}
