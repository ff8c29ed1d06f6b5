// Several kernels: one has to be named.
// RUN: vyre run %s o=zeros:4 --grid 4
// EXPECT-EXIT: 1
// CHECK: error-which-kernel.cl: error: the source has several kernels.
// CHECK-NEXT: Fix: name one of these, as in FILE:KERNEL: first, second
kernel void first(global int *o) { o[0] = 1; }
kernel void second(global int *o) { o[0] = 2; }
