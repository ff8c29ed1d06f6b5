// More local memory than there is.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-local-too-large.cl:8:13: error[V045]: the shared arrays of region `k` take 280000 bytes, above 262144.
// CHECK-NEXT: kernel void k(global float *x) {
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: use smaller ones, or a transient buffer
kernel void k(global float *x) {
  local float t[70000];
  t[0] = 1;
  x[0] = t[1];
}
