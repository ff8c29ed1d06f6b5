// Functions with a second result behind a pointer, of numbers and vectors, to private and to global
// memory.
// RUN: clcompare %s:pairs --grid 128 --ulp 8 x=rand:128 o=zeros:512
// RUN: clcompare %s:halves --grid 128 x=rand:512 o=zeros:384 n=zeros:512
// CHECK: pairs: ok
// CHECK: halves: ok
kernel void pairs(global const float *x, global float *o) {
  int i = get_global_id(0);
  float c;
  o[4 * i] = sincos(x[i], &c);
  o[4 * i + 1] = c;
  o[4 * i + 2] = sincos(x[i] * 0.5f, o + 4 * i + 3);
}
kernel void halves(global const float4 *x, global float4 *o, global int4 *n) {
  int i = get_global_id(0);
  float4 whole;
  o[3 * i] = modf(x[i], &whole) + whole * 2.0f;
  o[3 * i + 1] = frexp(x[i], n + i);
  o[3 * i + 2] = fract(x[i], &whole);
  n[i] += convert_int4(whole) + ilogb(x[i]);
}
