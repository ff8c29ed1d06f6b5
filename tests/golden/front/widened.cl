// Numbers of 32 bits, widened and then compared: a driver narrowed such comparisons, and was wrong.
// RUN: clcompare %s:widened --grid 256 x=bits:256 o=zeros:256
// RUN: clcompare %s:widened --grid 256 x=rand:256:-9:9 o=zeros:256
// CHECK: widened: ok
// CHECK: widened: ok
kernel void widened(global const int *x, global int *o) {
  int i = get_global_id(0), r = 0;
  long s = x[i];
  ulong u = (uint)x[i];
  if (s < -3) r |= 1;
  if (s <= 4) r |= 2;
  if (s >= 0) r |= 4;
  if (s > 5000000000) r |= 8;
  if (s > -5000000000) r |= 16;
  if (s == -5) r |= 32;
  if (s != 7) r |= 64;
  if (u < 5) r |= 128;
  if (u > 4294967295) r |= 256;
  if (u <= 4294967300) r |= 512;
  if (u >= 6) r |= 1024;
  if (s < (long)u) r |= 2048;
  if (max(s, 0l) > min(s + 1, 3l)) r |= 4096;
  o[i] = r;
}
