// OpenCL C has no function pointers.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-function-pointer.cl:9:53: error: taking address of function is not allowed.
// CHECK-NEXT: kernel void k(global float *x) { x[0] = (x[1] > 0 ? f : f)(2); }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: correct the source; the message is clang's
float f(float x) { return x; }
kernel void k(global float *x) { x[0] = (x[1] > 0 ? f : f)(2); }
