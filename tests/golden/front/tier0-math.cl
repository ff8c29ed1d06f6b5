// Mathematical functions of one operand and of two. They have one definition for all backends, which
// differs from the driver's by a few units in the last place.
// RUN: clcompare %s:unary --grid 512 --ulp 8 x=rand:512:0.01:3 o=zeros:14336
// RUN: clcompare %s:small --grid 512 --ulp 8 x=rand:512:-0.99:0.99 o=zeros:4096
// RUN: clcompare %s:binary --grid 512 --ulp 8 x=rand:512:0.1:9 y=rand:512:-3:3 o=zeros:4096
// RUN: clcompare %s:wide --grid 512 --ulp 8 x=rand:512:0.01:3 o=zeros:8192
// CHECK: unary: ok
// CHECK: small: ok
// CHECK: binary: ok
// CHECK: wide: ok
kernel void unary(global const float *x, global float *o) {
  int i = get_global_id(0);
  float v = x[i];
  global float *p = o + i * 28;
  p[0] = exp(v);
  p[1] = exp2(v);
  p[2] = exp10(v);
  p[3] = expm1(v);
  p[4] = log(v);
  p[5] = log2(v);
  p[6] = log10(v);
  p[7] = log1p(v);
  p[8] = sin(v);
  p[9] = cos(v);
  p[10] = tan(v * 0.4f);
  p[11] = atan(v);
  p[12] = sinh(v);
  p[13] = cosh(v);
  p[14] = tanh(v);
  p[15] = cbrt(v);
  p[16] = rsqrt(v);
  p[17] = sqrt(v);
  p[18] = asinh(v);
  p[19] = acosh(v + 1.0f);
  p[20] = native_exp(v);
  p[21] = native_log(v);
  p[22] = native_sin(v);
  p[23] = native_cos(v);
  p[24] = half_sqrt(v);
  p[25] = native_recip(v);
  p[26] = native_divide(v, 3.0f);
  p[27] = atanpi(v);
}
kernel void small(global const float *x, global float *o) {
  int i = get_global_id(0);
  float v = x[i];
  global float *p = o + i * 8;
  p[0] = asin(v);
  p[1] = acos(v);
  p[2] = atanh(v);
  p[3] = asinpi(v);
  p[4] = acospi(v);
  p[5] = sinpi(v);
  p[6] = cospi(v);
  p[7] = tanpi(v * 0.4f);
}
kernel void binary(global const float *x, global const float *y, global float *o) {
  int i = get_global_id(0);
  float a = x[i], b = y[i];
  global float *p = o + i * 8;
  p[0] = pow(a, b);
  p[1] = powr(a, b);
  p[2] = pown(b, (int)a);
  p[3] = rootn(a, 3);
  p[4] = atan2(b, a);
  p[5] = hypot(a, b);
  p[6] = atan2pi(b, a);
  p[7] = exp(b) * pow(a, 0.5f);
}
kernel void wide(global const double *x, global double *o) {
  int i = get_global_id(0);
  double v = x[i];
  global double *p = o + i * 16;
  p[0] = exp(v);
  p[1] = log(v);
  p[2] = sin(v);
  p[3] = cos(v);
  p[4] = sqrt(v);
  p[5] = pow(v, 1.5);
  p[6] = atan(v);
  p[7] = tanh(v);
  p[8] = cbrt(v);
  p[9] = exp2(v);
  p[10] = log2(v);
  p[11] = atan2(v, 2.0);
  p[12] = sinh(v);
  p[13] = rsqrt(v);
  p[14] = hypot(v, 1.0);
  p[15] = expm1(v);
}
