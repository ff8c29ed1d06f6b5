// Integer functions in all widths, signed and unsigned, on numbers and vectors.
// RUN: clcompare %s:ints --grid 256 a=bits:256 b=bits:256 c=bits:256 o=zeros:6144 u=zeros:1024
// RUN: clcompare %s:uints --grid 256 a=bits:256 b=bits:256 c=bits:256 o=zeros:5120
// RUN: clcompare %s:longs --grid 256 a=bits:256 b=bits:256 c=bits:256 o=zeros:4096
// RUN: clcompare %s:ulongs --grid 256 a=bits:256 b=bits:256 c=bits:256 o=zeros:4096
// RUN: clcompare %s:chars --grid 256 a=bits:256 b=bits:256 c=bits:256 o=zeros:4096 w=zeros:512
// RUN: clcompare %s:shorts --grid 256 a=bits:256 b=bits:256 o=zeros:2048 w=zeros:512
// CHECK: ints: ok
// CHECK: uints: ok
// CHECK: longs: ok
// CHECK: ulongs: ok
// CHECK: chars: ok
// CHECK: shorts: ok
kernel void ints(global const int *a, global const int *b, global const int *c, global int *o,
                 global uint *u) {
  int i = get_global_id(0), x = a[i], y = b[i], z = c[i];
  global int *p = o + 24 * i;
  u[4 * i] = abs(x);
  u[4 * i + 1] = abs_diff(x, y);
  p[0] = add_sat(x, y);
  p[1] = sub_sat(x, y);
  p[2] = hadd(x, y);
  p[3] = rhadd(x, y);
  p[4] = clz(x);
  p[5] = popcount(x);
  p[6] = rotate(x, y);
  p[7] = mul_hi(x, y);
  p[8] = mad_hi(x, y, z);
  p[9] = mad_sat(x, y, z);
  p[10] = mad_sat(x >> 20, y >> 20, z);
  p[11] = mul24(x >> 9, y >> 9);
  p[12] = mad24(x >> 9, y >> 9, z);
  p[13] = min(x, y);
  p[14] = max(x, y);
  p[15] = clamp(x, min(y, z), max(y, z));
  int4 v = add_sat((int4)(x, y, z, x), (int4)(y, z, x, 7));
  p[16] = v.x ^ v.y ^ v.z ^ v.w;
  p[17] = max((int2)(x, y), z).y;
  p[18] = bitselect(x, y, z);
  p[19] = select(x, y, z & 1);
  p[20] = clz(0) + popcount(-1) + abs((int)INT_MIN) % 7;
}
kernel void uints(global const uint *a, global const uint *b, global const uint *c, global uint *o) {
  int i = get_global_id(0);
  uint x = a[i], y = b[i], z = c[i];
  global uint *p = o + 20 * i;
  p[0] = abs(x);
  p[1] = abs_diff(x, y);
  p[2] = add_sat(x, y);
  p[3] = sub_sat(x, y);
  p[4] = hadd(x, y);
  p[5] = rhadd(x, y);
  p[6] = clz(x);
  p[7] = popcount(x);
  p[8] = rotate(x, y);
  p[9] = mul_hi(x, y);
  p[10] = mad_hi(x, y, z);
  p[11] = mad_sat(x, y, z);
  p[12] = mad_sat(x >> 20, y >> 20, z);
  p[13] = mul24(x >> 8, y >> 8);
  p[14] = mad24(x >> 8, y >> 8, z);
  p[15] = min(x, y);
  p[16] = max(x, y);
  p[17] = clamp(x, 1000u, 0x80000000u);
  p[18] = (uint)(upsample(x, y) >> 16);
  p[19] = bitselect(x, y, z);
}
kernel void longs(global const long *a, global const long *b, global const long *c, global long *o) {
  int i = get_global_id(0);
  long x = a[i], y = b[i], z = c[i];
  global long *p = o + 16 * i;
  p[0] = abs(x);
  p[1] = abs_diff(x, y);
  p[2] = add_sat(x, y);
  p[3] = sub_sat(x, y);
  p[4] = hadd(x, y);
  p[5] = rhadd(x, y);
  p[6] = clz(x);
  p[7] = popcount(x);
  p[8] = rotate(x, y);
  p[9] = mul_hi(x, y);
  p[10] = mad_hi(x, y, z);
  p[11] = min(x, y);
  p[12] = max(x, y);
  p[13] = clamp(x, -1000000L, 5000000000L);
  p[14] = mad_sat(x, y >> 61, z);
  p[15] = mad_sat(x, y, z);
}
kernel void ulongs(global const ulong *a, global const ulong *b, global const ulong *c,
                   global ulong *o) {
  int i = get_global_id(0);
  ulong x = a[i], y = b[i], z = c[i];
  global ulong *p = o + 16 * i;
  p[0] = abs_diff(x, y);
  p[1] = add_sat(x, y);
  p[2] = sub_sat(x, y);
  p[3] = hadd(x, y);
  p[4] = rhadd(x, y);
  p[5] = clz(x >> 7);
  p[6] = popcount(x);
  p[7] = rotate(x, y);
  p[8] = mul_hi(x, y);
  p[9] = mad_hi(x, y, z);
  p[10] = min(x, y);
  p[11] = max(x, y);
  p[12] = mad_sat(x, y, z);
  p[13] = mad_sat(x >> 30, y >> 34, z);
}
kernel void chars(global const char *a, global const char *b, global const char *c, global char *o,
                  global short *w) {
  int i = get_global_id(0);
  char x = a[i], y = b[i], z = c[i];
  global char *p = o + 16 * i;
  p[0] = add_sat(x, y);
  p[1] = sub_sat(x, y);
  p[2] = hadd(x, y);
  p[3] = rhadd(x, y);
  p[4] = clz(x);
  p[5] = popcount(x);
  p[6] = rotate(x, y);
  p[7] = mul_hi(x, y);
  p[8] = mad_sat(x, y, z);
  p[9] = min(x, y);
  p[10] = abs_diff(x, y);
  p[11] = clamp(x, (char)-10, (char)20);
  p[12] = mad_hi(x, y, z);
  w[2 * i] = upsample(x, (uchar)y);
  w[2 * i + 1] = upsample((uchar)x, (uchar)y);
}
kernel void shorts(global const ushort *a, global const ushort *b, global ushort *o, global int *w) {
  int i = get_global_id(0);
  ushort x = a[i], y = b[i];
  global ushort *p = o + 8 * i;
  p[0] = add_sat(x, y);
  p[1] = sub_sat(x, y);
  p[2] = hadd(x, y);
  p[3] = clz(x);
  p[4] = rotate(x, y);
  p[5] = mul_hi(x, y);
  p[6] = mad_sat(x, (ushort)3, y);
  p[7] = popcount(x);
  w[2 * i] = upsample((short)x, y);
  w[2 * i + 1] = upsample(x, y);
}
