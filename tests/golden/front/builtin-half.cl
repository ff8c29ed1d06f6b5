// half: arithmetic, functions and conversions for all its values, beside double and one rounding
// (exact for these), which vstore_half does; few drivers have half.
// RUN: vyre run %s:arithmetic x=iota:65536 y=rand:65536:1 z=rand:65536:2 wrong=zeros:16 --grid 65536 --print wrong
// RUN: vyre run %s:functions x=iota:65536 y=rand:65536:3 z=rand:65536:4 wrong=zeros:16 --grid 65536 --print wrong
// RUN: vyre run %s:conversions f=rand:65536:5 d=rand:65536:6 n=rand:65536:7 wrong=zeros:16 --grid 65536 --print wrong
// CHECK: 0:  0  0  0  0  0  0  0  0
// CHECK-NEXT: 8:  0  0  0  0  0  0  0  0
// CHECK: 0:  0  0  0  0  0  0  0  0
// CHECK-NEXT: 8:  0  0  0  0  0  0  0  0
// CHECK: 0:  0  0  0  0  0  0  0  0
// CHECK-NEXT: 8:  0  0  0  0  0  0  0  0
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#ifndef cl_khr_fp16
#error half is there
#endif

// The half nearest to v.
ushort nearest(double v) {
  ushort kept[1];
  vstore_half(v, 0, (half *)kept);
  return kept[0];
}
void expect(global int *wrong, int what, half found, double v) {
  if (as_ushort(found) != nearest(v) && !(isnan(found) && isnan(v))) atomic_inc(wrong + what);
}
void expect_that(global int *wrong, int what, bool it) {
  if (!it) atomic_inc(wrong + what);
}

kernel void arithmetic(global const ushort *x, global const ushort *y, global const ushort *z,
                       global int *wrong) {
  size_t i = get_global_id(0);
  half a = as_half(x[i]), b = as_half(y[i]), c = as_half(z[i]);
  // Sums of numbers of one size are where rounding matters.
  half near = as_half((ushort)(x[i] ^ (y[i] & 0x83ff)));
  double da = a, db = b, dc = c, dnear = near;
  expect(wrong, 0, a + b, da + db);
  expect(wrong, 0, a + near, da + dnear);
  expect(wrong, 1, a - b, da - db);
  expect(wrong, 1, near - a, dnear - da);
  expect(wrong, 2, a * b, da * db);
  expect(wrong, 3, a / b, da / db);
  expect(wrong, 3, a / near, da / dnear);
  expect(wrong, 4, fma(a, b, c), fma(da, db, dc));
  expect(wrong, 4, fma(a, near, c), fma(da, dnear, dc));
  expect(wrong, 5, -a, -da);
  half up = a, down = a;
  up++;
  --down;
  expect(wrong, 6, up, da + 1);
  expect(wrong, 6, down, da - 1);
  half sum = a;
  sum += b;
  sum *= 3;
  double d = (double)as_half(nearest(da + db)) * 3;
  expect(wrong, 7, sum, d);
  half from_float = a;
  from_float += 0.1f;
  expect(wrong, 8, from_float, (float)a + 0.1f);
  expect_that(wrong, 9, (a < b) == (da < db) && (a == b) == (da == db) && (a >= b) == (da >= db));
  half4 v = (half4)(a, b, c, near), w = v.wzyx;
  v += w;
  expect(wrong, 10, v.x, da + dnear);
  expect(wrong, 10, v.y, db + dc);
  v.yz *= (half2)(0.5h);
  expect(wrong, 11, v.y, (double)as_half(nearest(db + dc)) * 0.5);
  short4 less = (half4)(a) < (half4)(b, c, near, a);
  expect_that(wrong, 12, less.x == (da < db ? -1 : 0) && less.w == 0);
  half kept[5] = {a, b, c};
  kept[i % 5] = near;
  expect(wrong, 13, kept[(i + 1) % 5],
         (i + 1) % 5 == 0 ? da : (i + 1) % 5 == 1 ? db : (i + 1) % 5 == 2 ? dc : 0.0);
  expect(wrong, 14, a > b ? (half)1 : b, da > db ? 1 : db);
  float product = a * 3.3f;
  expect_that(wrong, 15, product == (float)a * 3.3f || isnan(a));
}

kernel void functions(global const ushort *x, global const ushort *y, global const ushort *z,
                      global int *wrong) {
  size_t i = get_global_id(0);
  half a = as_half(x[i]), b = as_half(y[i]), c = as_half(z[i]);
  double da = a, db = b;
  expect(wrong, 0, sqrt(a), sqrt(da));
  expect(wrong, 1, floor(a), floor(da));
  expect(wrong, 1, rint(a), rint(da));
  expect(wrong, 2, fabs(a), fabs(da));
  expect(wrong, 2, fmax(a, b), fmax(da, db));
  expect(wrong, 3, fmod(a, b), fmod(da, db));
  expect(wrong, 3, remainder(a, b), remainder(da, db));
  expect(wrong, 4, ldexp(a, (int)(i % 40) - 20), ldexp(da, (int)(i % 40) - 20));
  // The next half above: the order of the bits.
  bool is_last = isnan(a) || x[i] == 0x7c00;
  ushort next = x[i] == 0x8000 ? 1 : x[i] & 0x8000 ? x[i] - 1 : x[i] + 1;
  expect_that(wrong, 5, is_last || as_ushort(nextafter(a, (half)INFINITY)) == next);
  expect_that(wrong, 6, isnormal(a) == ((x[i] & 0x7c00) != 0 && (x[i] & 0x7c00) != 0x7c00));
  expect_that(wrong, 6, isinf(a) == ((x[i] & 0x7fff) == 0x7c00) && signbit(a) == x[i] >> 15);
  ushort picked = (x[i] & ~z[i]) | (y[i] & z[i]);
  bool has_nan = isnan(a) || isnan(b) || isnan(c) || isnan(as_half(picked));
  expect_that(wrong, 7, has_nan || as_ushort(bitselect(a, b, c)) == picked);
  half whole, rest = fract(a, &whole);
  expect(wrong, 8, whole, floor(da));
  expect_that(wrong, 8, isnan(a) || isinf(a) || (rest >= 0 && rest < 1));
  int exponent;
  half mantissa = frexp(a, &exponent);
  expect(wrong, 9, ldexp(mantissa, exponent), da);
  expect(wrong, 10, clamp(a, (half)-1, (half)2), da < -1 ? -1 : da > 2 ? 2 : da);
  half4 v = (half4)(a, b, c, 1);
  expect(wrong, 11, shuffle(v, (ushort4)(1, 0, 3, 2)).x, db);
  expect(wrong, 12, select(a, b, (ushort)(i & 1)), i & 1 ? db : da);
  expect(wrong, 13, copysign(a, b), isnan(b) ? copysign(a, b) : copysign(da, db));
  float e = exp((float)a), h = exp(a);
  expect_that(wrong, 14, as_ushort((half)e) == as_ushort((half)h) || isnan(a));
  half2 u = (half2)(a, b);
  float wanted = (float)a * (float)a + (float)b * (float)b;
  expect_that(wrong, 15, as_ushort(dot(u, u)) == as_ushort((half)wanted) || isnan(wanted));
}

kernel void conversions(global const uint *f, global const ulong *d, global const int *n,
                        global int *wrong) {
  size_t i = get_global_id(0);
  // Exponents around those of halves.
  float x = as_float((f[i] & 0x807fffffu) | (uint)(100 + i % 48) << 23);
  double y = as_double((d[i] & 0x800ffffffffffffful) | (990 + i % 56) << 52);
  // Ties, and what is just beside them.
  double tie = as_double((d[i] & 0x800ffc0000000000ul) | 0x20000000000ul | (1000 + i % 40) << 52);
  double beside = as_double(as_ulong(tie) + 1);
  expect(wrong, 0, (half)x, x);
  expect(wrong, 1, (half)y, y);
  expect(wrong, 2, (half)tie, tie);
  expect(wrong, 2, (half)(float)tie, tie);
  expect(wrong, 3, (half)beside, beside);
  int small = n[i] >> (i % 32);
  expect(wrong, 4, (half)small, small);
  expect(wrong, 4, convert_half(small), small);
  expect(wrong, 5, convert_half((long)small << 20), (double)((long)small << 20));
  ushort kept[1];
  vstore_half_rtz(y, 0, (half *)kept);
  expect_that(wrong, 6, as_ushort(convert_half_rtz(y)) == kept[0]);
  vstore_half_rtp(x, 0, (half *)kept);
  expect_that(wrong, 7, as_ushort(convert_half_rtp(x)) == kept[0]);
  vstore_half_rtn(x, 0, (half *)kept);
  expect_that(wrong, 8, as_ushort(convert_half_rtn(x)) == kept[0]);
  half h = y;
  expect_that(wrong, 9, convert_int_rte(h) == convert_int_rte((double)h));
  expect_that(wrong, 9, convert_uchar_sat(h) == convert_uchar_sat((double)h));
  expect_that(wrong, 10, (int)h == convert_int_sat((double)h) && (bool)h == ((double)h != 0));
  half2 v = convert_half2((float2)(x, -x));
  expect(wrong, 11, v.y, -x);
  expect_that(wrong, 12, as_uint(v) == (uint)(as_ushort(v.x) | as_ushort(v.y) << 16));
  union {
    half h[2];
    uint u;
  } both;
  both.u = as_uint(v);
  expect(wrong, 13, both.h[1], -x);
  both.h[0] = 1;
  expect_that(wrong, 14, both.u == (0x3c00 | as_ushort(v.y) << 16));
}
