// Memory that is read as other types than it is declared, as_type, unions.
// RUN: clcompare %s:bits_of --grid 64 x=bits:64 o=zeros:512
// RUN: clcompare %s:views --grid 32 x=bits:128 y=zeros:128 z=zeros:64
// RUN: clcompare %s:unions --grid 64 x=bits:64 o=zeros:256
// RUN: clcompare %s:bytes_of_struct --grid 16 p=i32:rand:16 o=zeros:128
// CHECK: bits_of: ok
// CHECK: views: ok
// CHECK: unions: ok
// CHECK: bytes_of_struct: ok
kernel void bits_of(global const uint *x, global uint *o) {
  int i = get_global_id(0);
  uint v = x[i];
  global uint *p = o + 8 * i;
  p[0] = as_uint(as_int(v) >> 3);
  uchar4 c = as_uchar4(v);
  p[1] = c.x + c.y * 2 + c.z * 3 + c.w * 5;
  ushort2 s = as_ushort2(c.wzyx);
  p[2] = s.x ^ s.y;
  p[3] = as_uint(1.5f + (v & 255));
  ulong w = as_ulong((uint2)(v, ~v));
  p[4] = (uint)(w >> 20);
  double d = as_double(w & 0x3fffffffffffffff);
  p[5] = as_uint2(d).y;
  p[6] = as_uint((short2)(as_short2(v).y, 3));
  p[7] = as_float(0x3f800000 | (v & 0x7fffff)) > 1.5f;
}
kernel void views(global uint *x, global float *y, global ushort *z) {
  int i = get_global_id(0);
  global uchar *b = (global uchar *)(x + 4 * i);
  b[5] = b[2];
  global uint *w = (global uint *)y;
  w[4 * i] = 0x40490fdb;
  y[4 * i + 1] = y[4 * i] * 2.0f;
  global float4 *v = (global float4 *)y;
  v[i].w = 7.0f;
  z[2 * i] = *(global ushort *)(b + 2);
  z[2 * i + 1] = ((global ushort *)x)[8 * i + 5];
}
typedef union {
  float f;
  uint u;
  uchar b[4];
  struct {
    ushort lo, hi;
  } h;
} word;
kernel void unions(global const uint *x, global uint *o) {
  int i = get_global_id(0);
  word w;
  w.u = x[i];
  o[4 * i] = w.h.hi;
  w.b[1] = 7;
  o[4 * i + 1] = w.u;
  word v = w;
  v.f = 2.0f;
  o[4 * i + 2] = v.u + w.b[i & 3];
  word t = {1.0f};
  o[4 * i + 3] = t.u;
}
typedef struct {
  int n;
  short a, b;
} record;
kernel void bytes_of_struct(global record *p, global uchar *o) {
  int i = get_global_id(0);
  p[i].a = (short)(p[i].n * 3);
  record r = p[i];
  uchar *raw = (uchar *)&r;
  for (int k = 0; k < 8; k++) o[8 * i + k] = raw[k];
}
