// Integer operators wrap, divide and shift as C says; signs and widths mix by the usual conversions.
// RUN: clcompare %s:signed_ops --grid 512 a=bits:512 b=bits:512 o=zeros:8192
// RUN: clcompare %s:unsigned_ops --grid 512 a=bits:512 b=bits:512 o=zeros:8192
// RUN: clcompare %s:mixed --grid 512 a=bits:512 b=bits:512 c=bits:512 o=zeros:4096
// CHECK: signed_ops: ok
// CHECK: unsigned_ops: ok
// CHECK: mixed: ok
kernel void signed_ops(global const int *a, global const int *b, global int *o) {
  int i = get_global_id(0);
  int x = a[i], y = b[i], s = y & 31;
  if (y == 0 || y == -1) y = 7;
  global int *p = o + i * 16;
  p[0] = x + y;
  p[1] = x - y;
  p[2] = x * y;
  p[3] = x / y;
  p[4] = x % y;
  p[5] = x & y;
  p[6] = x | y;
  p[7] = x ^ y;
  p[8] = ~x;
  p[9] = -x;
  p[10] = x << s;
  p[11] = x >> s;
  p[12] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y);
  p[13] = !x;
  p[14] = x && y;
  p[15] = x || y;
}
kernel void unsigned_ops(global const uint *a, global const uint *b, global uint *o) {
  int i = get_global_id(0);
  uint x = a[i], y = b[i] | 1, s = y & 31;
  global uint *p = o + i * 16;
  p[0] = x + y;
  p[1] = x - y;
  p[2] = x * y;
  p[3] = x / y;
  p[4] = x % y;
  p[5] = x >> s;
  p[6] = x << s;
  p[7] = x < y ? x : y;
  p[8] = -x;
  p[9] = ~x;
  p[10] = x > y;
}
kernel void mixed(global const int *a, global const uint *b, global const short *c, global long *o) {
  int i = get_global_id(0);
  int x = a[i];
  uint y = b[i];
  short z = c[i];
  uchar w = (uchar)y;
  global long *p = o + i * 8;
  p[0] = x + y;
  p[1] = x < y;
  p[2] = z * w;
  p[3] = (long)x * y;
  p[4] = w - z;
  p[5] = (char)(w << 1) >> 1;
  p[6] = (ushort)z + x;
  p[7] = (x > 0 ? x : y) / 3;
}
