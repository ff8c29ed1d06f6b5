// Integer atomics on global and local memory, signed and unsigned, of 32 and 64 bits.
// RUN: clcompare %s:global_ones --grid 1000 x=rand:1000:-500:500 o=zeros:16
// RUN: clcompare %s:in_local --grid 512 --workgroup 64 x=rand:512:0:32 o=zeros:32
// RUN: clcompare %s:exchange --grid 256 o=zeros:4 f=zeros:2
// RUN: clcompare %s:long_ones --grid 256 x=bits:256 o=zeros:4
// CHECK: global_ones: ok
// CHECK: in_local: ok
// CHECK: exchange: ok
// CHECK: long_ones: ok
kernel void global_ones(global const int *x, global int *o) {
  int v = x[get_global_id(0)];
  atomic_add(&o[0], v);
  atomic_sub(o + 1, v);
  atomic_min(o + 2, v);
  atomic_max(o + 3, v);
  atomic_or(o + 4, v & 0xf0);
  atomic_xor(o + 5, v);
  atomic_and(o + 6, v);
  atomic_inc(o + 7);
  atomic_dec(o + 8);
}
kernel void in_local(global const int *x, global int *o) {
  local int bins[32];
  int l = get_local_id(0);
  if (l < 32) bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&bins[x[get_global_id(0)]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 32) atomic_add(&o[l], bins[l]);
}
kernel void exchange(global uint *o, global float *f) {
  uint i = get_global_id(0), old = 0;
  // A maximum by comparing and exchanging.
  while (true) {
    uint seen = atomic_cmpxchg(&o[0], old, max(old, i * 7919u % 251u));
    if (seen == old) break;
    old = seen;
  }
  if (i == 5) {
    o[2] = atomic_xchg(&o[1], 77u);
    atomic_xchg(&f[1], 2.5f);
  }
}
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
kernel void long_ones(global const long *x, global long *o) {
  long v = x[get_global_id(0)] >> 20;
  atom_add(&o[0], v);
  atom_sub(&o[1], v);
  atom_inc(&o[2]);
}
