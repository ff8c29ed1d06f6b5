// char, uchar, short and ushort in memory, in arithmetic and as indices.
// RUN: clcompare %s:bytes --grid 256 a=bits:256 b=bits:256 c=zeros:1024 d=zeros:1024
// RUN: clcompare %s:blur --grid 14,14 w=16 x=bits:256 y=zeros:256
// CHECK: bytes: ok
// CHECK: blur: ok
kernel void bytes(global const char *a, global const ushort *b, global short *c, global uchar *d) {
  int i = get_global_id(0);
  char x = a[i];
  ushort y = b[i];
  c[4 * i] = x * 3;
  c[4 * i + 1] = x - y;
  c[4 * i + 2] = (x << 4) | (y >> 4);
  x += y;
  c[4 * i + 3] = x;
  d[4 * i] = x;
  d[4 * i + 1] = y / 7;
  d[4 * i + 2] = -x;
  uchar k = x & 3;
  d[4 * i + 3] = a[k] + k++;
}
kernel void blur(int w, global const uchar *x, global uchar *y) {
  int cx = get_global_id(0) + 1, cy = get_global_id(1) + 1;
  ushort s = 0;
  for (short dy = -1; dy <= 1; dy++)
    for (short dx = -1; dx <= 1; dx++) s += x[(cy + dy) * w + cx + dx];
  y[cy * w + cx] = s / 9;
}
