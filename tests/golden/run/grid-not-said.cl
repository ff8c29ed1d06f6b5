// OpenCL C without a grid: the option that gives it is named.
// RUN: vyre run %s x=ones:8
// EXPECT-EXIT: 1
// CHECK: error: it is not said how many invocations there are
// CHECK-NEXT: Fix: add an option such as `--grid 1024`
__kernel void f(__global float *x) { x[get_global_id(0)] = 1; }
