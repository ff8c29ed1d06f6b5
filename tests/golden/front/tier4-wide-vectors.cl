// Vectors of 8 and 16, swizzles of all kinds, vload and vstore, components by a computed index.
// RUN: clcompare %s:eights --grid 32 x=rand:32 o=zeros:128
// RUN: clcompare %s:sixteens --grid 32 x=bits:32 o=zeros:96
// RUN: clcompare %s:swizzles --grid 32 x=rand:32 o=zeros:256
// RUN: clcompare %s:loads --grid 32 x=rand:512 y=zeros:512
// RUN: clcompare %s:halves --grid 64 h=bits:256 x=rand:64:-70000:70000 f=zeros:256 g=zeros:512
// RUN: clcompare %s:indexed --grid 32 x=rand:32 o=zeros:96
// CHECK: eights: ok
// CHECK: sixteens: ok
// CHECK: swizzles: ok
// CHECK: loads: ok
// CHECK: halves: ok
// CHECK: indexed: ok
kernel void eights(global const float8 *x, global float8 *o) {
  int i = get_global_id(0);
  float8 v = x[i];
  o[4 * i] = v * v + 1.0f;
  o[4 * i + 1] = v.s76543210;
  o[4 * i + 2] = (float8)(v.lo, v.hi.yxwz);
  float8 w = 0;
  w.even = v.lo;
  w.odd = v.hi;
  o[4 * i + 3] = select(v, w, isgreater(v, w));
}
kernel void sixteens(global const uchar16 *x, global uchar16 *o) {
  int i = get_global_id(0);
  uchar16 v = x[i];
  o[3 * i] = v + (uchar16)3;
  v.sabcd = v.s0123;
  v.sF = 9;
  o[3 * i + 1] = v ^ v.s0246813579bdfaec;
  o[3 * i + 2] = convert_uchar16(v > (uchar16)100);
}
kernel void swizzles(global const float4 *x, global float4 *o) {
  int i = get_global_id(0);
  float4 v = x[i];
  global float4 *p = o + 8 * i;
  p[0] = v.wzyx;
  p[1] = v.xxyy;
  p[2] = (float4)(v.hi, v.lo);
  p[3] = (float4)(v.even, v.odd);
  v.zx = v.xz;
  p[4] = v;
  v.hi.x = 5;
  p[5] = v.s3210;
  p[6].yw = v.xy;
  p[7] = v.rgba.bgra;
}
kernel void loads(global const float *x, global float *y) {
  int i = get_global_id(0);
  float4 a = vload4(4 * i, x);
  float3 b = vload3(i, x + 1);
  float2 c = vload2(2 * i + 1, x);
  vstore4(a + a.wxyz, 4 * i, y);
  vstore3(b, 0, y + 16 * i + 4);
  vstore2(c, 8 * i + 4, y);
  float t[4];
  vstore4(a, 0, t);
  y[16 * i + 12] = t[i & 3];
}
kernel void halves(global const half *h, global const float *x, global float *f, global half *g) {
  int i = get_global_id(0);
  f[4 * i] = vload_half(4 * i, h);
  vstore3(vload_half3(0, h + 4 * i + 1), 0, f + 4 * i + 1);
  vstore_half(x[i], 8 * i, g);
  vstore_half_rtz(x[i], 8 * i + 1, g);
  vstore_half_rtp(x[i] * 1e-4f, 8 * i + 2, g);
  vstore_half_rtn(x[i] * 1e-9f, 8 * i + 3, g);
  vstore_half4((float4)(x[i]) * (float4)(1e-3f, 1e-6f, 1e-8f, 0.5f), 2 * i + 1, g);
}
kernel void indexed(global const float4 *x, global float *o) {
  int i = get_global_id(0);
  float4 v = x[i];
  o[3 * i] = v[1];
  o[3 * i + 1] = ((float *)&v)[i & 3];
  v[i & 3] = 9.0f;
  o[3 * i + 2] = v.x + v.y + v.z + v.w;
}
