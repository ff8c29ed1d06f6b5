// The size of a local argument comes from the command.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-local-size.cl:8:45: error: the size of the local memory of `t` is not given.
// CHECK-NEXT: kernel void k(global float *x, local float *t) {
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass t=local:BYTES
kernel void k(global float *x, local float *t) {
  t[0] = x[0];
  x[1] = t[0];
}
