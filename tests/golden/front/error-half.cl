// Arithmetic on half is refused where a kernel does it; other kernels of the source are read.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-half.cl:13:12: error: a value of type `__global half` is not supported.
// CHECK-NEXT: half h = o[0];
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: read it with vload_half, compute in float
// RUN: vyre check %s:plain
// CHECK: error-half.cl:plain: ok
half twice(half x) { return x + x; }
kernel void plain(global float *o) { o[0] = 1; }
kernel void k(global half *o) {
  half h = o[0];
  o[1] = twice(h);
}
