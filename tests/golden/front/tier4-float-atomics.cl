// Sums of floats by comparing and exchanging their bits, as they are written before
// cl_ext_float_atomics: the buffer stays one of floats. The numbers are whole, so that the order does
// not matter.
// RUN: clcompare %s:by_union --grid 1000 x=iota:1000 o=zeros:3
// RUN: clcompare %s:by_cast --grid 500 x=iota:500 o=zeros:3
// RUN: clcompare %s:by_exchange --grid 500 x=iota:500 o=zeros:3
// RUN: clcompare %s:in_local --grid 512 --workgroup 64 x=iota:512 o=zeros:8
// RUN: clcompare %s:extremes --grid 300 x=rand:300 o=zeros:2
// CHECK: by_union: ok
// CHECK: by_cast: ok
// CHECK: by_exchange: ok
// CHECK: in_local: ok
// CHECK: extremes: ok
// RUN: vyre run %s:by_union x=iota:100 o=zeros:1 --grid 100 -p o
// CHECK: o: f32[1]
// CHECK-NEXT: 0: 4950
// RUN: for k in by_union by_cast by_exchange in_local; do vyre convert %s:$k | grep 'buffer o'; done
// CHECK: buffer o: f32[] readwrite
// CHECK-NEXT: buffer o: f32[] readwrite
// CHECK-NEXT: buffer o: f32[] readwrite
// CHECK-NEXT: buffer o: f32[] readwrite
// RUN: vyre convert %s:extremes | grep 'buffer o'
// CHECK: buffer o: i32[] readwrite
// RUN: vyre convert %s:declared_bits | grep 'buffer o'
// CHECK: buffer o: u32[] readwrite
inline void add_by_union(volatile global float *at, float value) {
  union {
    uint u;
    float f;
  } next, expected, current;
  current.f = *at;
  do {
    expected.f = current.f;
    next.f = expected.f + value;
    current.u = atomic_cmpxchg((volatile global uint *)at, expected.u, next.u);
  } while (current.u != expected.u);
}
kernel void by_union(global const float *x, global float *o) {
  add_by_union(&o[0], x[get_global_id(0)]);
}
kernel void by_cast(global const float *x, global float *o) {
  float v = x[get_global_id(0)];
  int seen, wanted;
  do {
    seen = as_int(o[1]);
    wanted = as_int(as_float(seen) + v);
  } while (atomic_cmpxchg((volatile global int *)o + 1, seen, wanted) != seen);
}
kernel void by_exchange(global const float *x, global float *o) {
  float v = x[get_global_id(0)];
  while ((v = atomic_xchg(o + 2, atomic_xchg(o + 2, 0.0f) + v)) != 0.0f) {
  }
}
kernel void in_local(global const float *x, global float *o) {
  local float sum;
  if (get_local_id(0) == 0) sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint seen = as_uint(sum), old;
  do {
    old = seen;
    seen = atomic_cmpxchg((volatile local uint *)&sum, old,
                          as_uint(as_float(old) + x[get_global_id(0)]));
  } while (seen != old);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) add_by_union(&o[get_group_id(0)], sum);
}
// Bits of floats that are compared as integers are integers.
kernel void extremes(global const float *x, global float *o) {
  float v = fabs(x[get_global_id(0)]);
  atomic_max((volatile global int *)&o[0], as_int(v));
  if (v > 2) atomic_max((volatile global int *)&o[1], as_int(v * 2));
}
// And what is declared as bits stays so.
kernel void declared_bits(global uint *o) {
  global float *f = (global float *)o;
  uint seen = o[0] == 0 ? 0 : as_uint(f[0]);
  atomic_cmpxchg(&o[1], seen, as_uint(f[1] + 1));
}
