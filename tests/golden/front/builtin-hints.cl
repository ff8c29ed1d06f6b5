// Hints to a compiler, which are not needed; functions of clang on bits and numbers.
// RUN: clcompare %s:hints --grid 64 x=rand:64:0:100 o=zeros:64
// RUN: clcompare %s:bits --grid 64 x=u32:bits:64 y=u64:bits:64 o=zeros:64 w=zeros:64
// RUN: clcompare %s:streamed --grid 16 x=rand:64:0:100 o=zeros:64
// RUN: clcompare %s:numbers --grid 64 x=rand:64:-9:9 o=zeros:64
// CHECK: hints: ok
// CHECK: bits: ok
// CHECK: streamed: ok
// CHECK: numbers: ok
kernel void hints(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i];
  __builtin_assume(n >= 0);
  if (__builtin_expect(n > 50, 0)) n -= 50;
  switch (n % 3) {
  case 0: o[i] = 1; break;
  case 1: o[i] = 2; break;
  case 2: o[i] = 3; break;
  default: __builtin_unreachable();
  }
}

kernel void bits(global const uint *x, global const ulong *y, global uint *o, global ulong *w) {
  int i = get_global_id(0);
  uint a = x[i] | 1;
  ulong b = y[i] | 1;
  o[i] = __builtin_bswap32(a) + __builtin_popcount(a) + __builtin_clz(a) + __builtin_ctz(a);
  w[i] = __builtin_bswap64(b) + __builtin_popcountll(b) + __builtin_clzl(b) + __builtin_ctzl(b) +
         __builtin_bswap16((ushort)a);
}

kernel void streamed(global const float4 *x, global float4 *o) {
  int i = get_global_id(0);
  float4 v = __builtin_nontemporal_load(x + i);
  __builtin_nontemporal_store(v * 2.0f, &o[i]);
}

kernel void numbers(global const float *x, global float *o) {
  int i = get_global_id(0);
  o[i] = __builtin_fmaf(x[i], 3.0f, __builtin_fabsf(x[i])) + __builtin_copysignf(0.25f, x[i]) +
         __builtin_floorf(x[i]) + __builtin_fminf(x[i], 1.0f) + (float)__builtin_fmax(x[i], 2.0);
}
