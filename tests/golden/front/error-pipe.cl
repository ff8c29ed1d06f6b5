// Pipes are refused; they are read as OpenCL C 2.0.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-pipe.cl:8:35: error: `p` is of type `__private write_only pipe int`, which is not supported.
// CHECK-NEXT: kernel void k(write_only pipe int p, global int *x) { x[0] = 1; }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass the data in a buffer
kernel void k(write_only pipe int p, global int *x) { x[0] = 1; }
