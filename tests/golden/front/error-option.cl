// An option that OpenCL does not have.
// RUN: vyre check %s -cl-fast
// EXPECT-EXIT: 2
// CHECK: error-option.cl: error: `-cl-fast` is no build option that is understood.
// CHECK-NEXT: Fix: use -D, -U, -I, -cl-std= and the -cl- options of OpenCL
kernel void k(global int *o) { o[0] = 1; }
