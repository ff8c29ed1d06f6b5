// A function that is declared has to be defined in the same source.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-undefined-function.cl:9:41: error: the function `helper` is declared and not defined.
// CHECK-NEXT: kernel void k(global float *o) { o[0] = helper(o[1]); }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: define it in this source, or include the file that does
float helper(float x);
kernel void k(global float *o) { o[0] = helper(o[1]); }
