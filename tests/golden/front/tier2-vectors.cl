// Vectors of 2, 3 and 4: arithmetic, literals, components, comparisons that give -1, functions.
// RUN: clcompare %s:arithmetic --grid 64 a=rand:64 b=rand:64 o=zeros:512
// RUN: clcompare %s:integers --grid 64 a=bits:64 b=bits:64 o=zeros:512
// RUN: clcompare %s:threes --grid 64 a=rand:64 o=zeros:192
// RUN: clcompare %s:widths --grid 64 a=rand:128 o=zeros:256
// CHECK: arithmetic: ok
// CHECK: integers: ok
// CHECK: threes: ok
// CHECK: widths: ok
kernel void arithmetic(global const float4 *a, global const float4 *b, global float4 *o) {
  int i = get_global_id(0);
  float4 x = a[i], y = b[i];
  global float4 *p = o + 8 * i;
  p[0] = x + y * 2.0f;
  p[1] = x / y - (float4)(1, 2, 3, 4);
  p[2] = (float4)(x.xy, y.zw);
  p[3] = -x;
  x.y = 7;
  x += y;
  x *= 0.5f;
  p[4] = x;
  p[5] = (float4)(x.x);
  p[6] = x > y ? x : y;
  p[7] = fma(x, y, x);
}
kernel void integers(global const int4 *a, global const int4 *b, global int4 *o) {
  int i = get_global_id(0);
  int4 x = a[i], y = b[i];
  global int4 *p = o + 8 * i;
  p[0] = x < y;
  p[1] = (x == y) | (x != x) ^ (x >= y);
  p[2] = x << (y & 31);
  p[3] = x >> 3;
  p[4] = ~x & y;
  p[5] = !x;
  p[6] = x && y;
  p[7] = x % 17 + (y / 5) * (x - 3);
  p[7]++;
}
kernel void threes(global const float3 *a, global float *o) {
  int i = get_global_id(0);
  float3 v = a[i], w = v.zxy;
  w.z += v.x;
  float3 c = v * w;
  o[3 * i] = c.x;
  o[3 * i + 1] = c.y;
  o[3 * i + 2] = c.z;
}
kernel void widths(global const float2 *a, global float2 *o) {
  int i = get_global_id(0);
  float2 v = a[2 * i];
  double2 d = convert_double2(v) * 3.0;
  uchar4 u = (uchar4)(i, i + 1, 250 + i, 7);
  u += (uchar)9;
  short2 s = (short2)(i * 1000);
  s = s * s;
  o[4 * i] = convert_float2(d);
  o[4 * i + 1] = (float2)(u.x, u.z);
  o[4 * i + 2] = convert_float2(s);
  o[4 * i + 3] = v.yx + a[2 * i + 1].x;
}
