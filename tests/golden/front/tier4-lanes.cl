// Vectors in odd places: in structures, unions and arrays, picked components on both sides; memory by
// vload, vstore and half; integers of all widths in one expression.
// RUN: clcompare %s:vecs --grid 16 a=f32:rand:16 o=zeros:16 k=rand:2
// RUN: clcompare %s:memory --grid 16 x=rand:64 c=bits:128 s=bits:8 h=rand:144:0:31743 o=zeros:16
// RUN: clcompare %s:ints --grid 256 a=bits:256 b=bits:256 o=zeros:256
// CHECK: vecs: ok
// CHECK: memory: ok
// CHECK: ints: ok
typedef struct { float3 p; float2 uv[2]; uchar4 c; } vertex;
typedef union { float4 v; float f[4]; uint u[4]; } lanes;
float4 rot(float4 v, int k) { switch (k & 3) { case 0: return v; case 1: return v.yzwx; case 2: return v.zwxy; } return v.wxyz; }
kernel void vecs(global vertex *a, global float4 *o, constant float4 *k) {
  int i = get_global_id(0);
  global vertex *v = a + i;
  v->p.zx = v->uv[1].xy + 1.0f;
  v->uv[0].x += v->p.y;
  v->c.s02 = v->c.s31;
  (*v).c.w ^= 0x0f;
  a[i].uv[i & 1].yx *= (float2)(2, 3);
  lanes l;
  l.v = rot(k[i & 1], i);
  l.u[1] ^= 0x80000000u;
  l.f[i & 3] += 1;
  float4 r = l.v;
  r.xyz = cross(r.xyz, v->p);
  r.w = dot(v->p, (float3)(1)) + r.wzyx.lo.y + (r.xy + r.zw).y;
  float8 w = (float8)(r, r.wzyx);
  w.s7654 = w.even;
  w.lo.hi = (float2)(i, -i);
  r = w.hi + shuffle(w.lo, (uint4)(3, 2, 1, 0)) + convert_float4(v->c);
  float2 arr[3] = {r.xy, r.zw};
  arr[2] = arr[0].yx - arr[i % 2];
  arr[i % 3].x = 9;
  for (int q = 0; q < 4; q++) r[q] = r[3 - q] + arr[q % 3][q & 1];
  int4 m = -(r > 0) ? (int4)(1) : (int4)(2);
  int4 n = as_int4(r) & (as_int4(r) == as_int4(r));
  uint2 u = upsample((ushort2)(i, 2), (ushort2)(3, 4));
  o[i] = r + convert_float4(m) + as_float4(n) + (float4)((float2)(u.x & 0xff, u.y & 0xff), 1, 2) + (float)(vec_step(r));
}
kernel void memory(global float *x, global char *c, global short *s, global half *h, global float *o) {
  int i = get_global_id(0);
  float3 a = vload3(i, x);
  vstore3(a.zyx, i, x);
  float2 b = vload2(0, x + 3 * i);
  char4 q = vload4(i, c);
  vstore2(q.xz + q.yw, i, c + 64);
  short8 w = vload8(0, s);
  float4 f = vload_half4(i, h);
  vstore_half4_rtz(f * 1.5f, i, h);
  vstore_half(b.x, i, h + 128);
  o[i] = a.x + b.y + q.w + w.s5 + f.z + vload_half(i, h + 64);
}
kernel void ints(global const int *a, global const uint *b, global long *o) {
  int i = get_global_id(0);
  int x = a[i]; uint y = b[i];
  long r = x * y + (x < y) + (x >> 3) + (y >> 31) + x / 7 + x % 7 + y / 7u + (char)x * (uchar)y;
  r += (x > 0 ? x : y) + (short)(x >> 16) * 3L + (x & 0xffffffffL) + -x + ~y + !x;
  r ^= (long)x << 20 | (ulong)y >> 5;
  r += (x, y) + sizeof(long) * (1 << 4) + 'a' + 0x1p4f + 1e3;
  uchar u8 = 200; u8 += 100; char i8 = u8; i8 <<= 1; i8 /= 3; u8 -= i8; u8 = -u8; ushort us = u8 * 300; us %= 7;
  r += u8 + i8 + us + (u8 == i8) * 2 + (us > -1);
  bool t = x & 4; t |= y & 1; r += t + true + (t ? 1 : 2) + (bool)0.5f;
  o[i] = r * 3 - (r >> 2) + abs(x) + rotate(y, 5u) + mul_hi(x, (int)y) + popcount(y) + clz(x);
}
