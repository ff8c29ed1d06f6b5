// Variables in global memory are no arguments.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-global-variable.cl:8:12: error: a variable in global memory is not supported.
// CHECK-NEXT: global int counter = 3;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass it as a buffer
global int counter = 3;
kernel void k(global int *o) { o[0] = counter; }
