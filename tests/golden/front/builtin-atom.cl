// The atomics under their older names, on 32 and 64 bits; each invocation has its own places, so that
// the old values can be compared too.
// RUN: clcompare %s:ints --grid 64 x=bits:64 o=rand:704:-9:9 old=zeros:704
// RUN: clcompare %s:longs --grid 64 x=bits:64 o=rand:704:0:99 old=zeros:704
// CHECK: ints: ok
// CHECK: longs: ok
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define ALL(T)                                                                                     \
  int i = get_global_id(0);                                                                        \
  T v = x[i];                                                                                      \
  global T *p = o + 11 * i, *q = old + 11 * i;                                                     \
  q[0] = atom_add(p, v);                                                                           \
  q[1] = atom_sub(p + 1, v);                                                                       \
  q[2] = atom_xchg(p + 2, v);                                                                      \
  q[3] = atom_inc(p + 3);                                                                          \
  q[4] = atom_dec(p + 4);                                                                          \
  q[5] = atom_cmpxchg(p + 5, i & 1 ? p[5] : (T)100, v);                                            \
  q[6] = atom_min(p + 6, v);                                                                       \
  q[7] = atom_max(p + 7, v);                                                                       \
  q[8] = atom_and(p + 8, v);                                                                       \
  q[9] = atom_or(p + 9, v);                                                                        \
  q[10] = atom_xor(p + 10, v);
kernel void ints(global const int *x, global int *o, global int *old) { ALL(int) }
kernel void longs(global const ulong *x, global ulong *o, global ulong *old) { ALL(ulong) }
