// Where C and OpenCL say exactly what a function gives: powr without a value, roots of what is as
// small or as large as a double can be, zeros with a sign, the logarithm of zero, gamma at its ends.
// RUN: for b in ref cpu; do vyre run %s o=zeros:19 --grid 1 --backend $b --print o; done
// CHECK: 0:  -1  -1  -1  -1  -1  -1  -1  -1
// CHECK-NEXT: 8:  -1  -1  -1  -1  -1  -1  -1  -1
// CHECK-NEXT: 16:  -1  -1  -1
// CHECK: 0:  -1  -1  -1  -1  -1  -1  -1  -1
// CHECK-NEXT: 8:  -1  -1  -1  -1  -1  -1  -1  -1
// CHECK-NEXT: 16:  -1  -1  -1
kernel void k(global long *o) {
  double inf = INFINITY, tiny = 0x1p-1074, zero = o[0], one = zero + 1;
  o[0] = -isnan(powr(zero, zero));
  o[1] = -isnan(powr(inf, zero));
  o[2] = -isnan(powr(one, inf));
  o[3] = -isnan(powr(-one, one));
  o[4] = -isnan(powr((double)NAN, zero));
  o[5] = -(powr(-zero, -one) == inf);
  o[6] = -(rootn(1e300 + zero, 3) == 1e100);
  o[7] = -(rootn(tiny * one, -1) == inf);
  o[8] = -(rootn(-8.0 * one, 3) == -2.0);
  o[9] = -(as_long(sinpi(-one)) == as_long(-0.0));
  o[10] = -(as_long(sinpi(one)) == 0);
  o[11] = -(as_long(tanpi(-one)) == 0);
  o[12] = -(ilogb(zero) == FP_ILOGB0);
  o[13] = -(ilogb((float)zero) == FP_ILOGB0);
  o[14] = -(tgamma(-0x1p-1022 * one) == -0x1p1022);
  o[15] = -(lgamma(one) == 0 && lgamma(one + one) == 0);
  o[16] = -(lgamma(-1e308 * one) == inf);
  o[17] = -(fabs(lgamma(-0x1p-1022 * one) - 708.396418532264106) < 1e-10);
  o[18] = -(get_global_offset(o[18]) == 0);
}
