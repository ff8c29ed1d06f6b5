// double and long, and conversions between all widths.
// RUN: clcompare %s:wide --grid 256 x=rand:256 k=bits:256 o=zeros:1024 q=zeros:1536
// RUN: clcompare %s:casts --grid 256 x=rand:256:-100:100 o=zeros:2560
// CHECK: wide: ok
// CHECK: casts: ok
kernel void wide(global const double *x, global const long *k, global double *o, global ulong *q) {
  size_t i = get_global_id(0);
  double v = x[i];
  long n = k[i];
  o[4 * i] = v * v + 1.0;
  o[4 * i + 1] = v / 3;
  o[4 * i + 2] = (double)n;
  o[4 * i + 3] = (float)v;
  q[6 * i] = n * 3 - (n >> 5);
  q[6 * i + 1] = (ulong)n / 7u;
  q[6 * i + 2] = n % 1000;
  q[6 * i + 3] = (ulong)n >> 60;
  q[6 * i + 4] = (int)n;
  q[6 * i + 5] = (uint)n * 2u;
}
kernel void casts(global const double *x, global double *o) {
  int i = get_global_id(0);
  double v = x[i];
  global double *p = o + 10 * i;
  p[0] = (char)(int)v;
  p[1] = (uchar)(int)v;
  p[2] = (short)v;
  p[3] = (ushort)(int)v;
  p[4] = (int)v;
  p[5] = (uint)(v * v);
  p[6] = (long)v;
  p[7] = (ulong)(v * v);
  p[8] = (float)v;
  p[9] = (bool)v + (bool)(int)v;
}
