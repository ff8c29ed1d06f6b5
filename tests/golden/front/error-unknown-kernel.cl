// A kernel that is not there.
// RUN: vyre run %s:third o=zeros:4 --grid 4
// EXPECT-EXIT: 1
// CHECK: error-unknown-kernel.cl: error: the source has no kernel `third`.
// CHECK-NEXT: Fix: name one of these: first, second
kernel void first(global int *o) { o[0] = 1; }
kernel void second(global int *o) { o[0] = 2; }
