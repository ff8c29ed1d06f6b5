// clang proposes what to write: that is the fix.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-syntax.cl:9:14: error: expected ';' after expression.
// CHECK-NEXT: o[0] = 1.0f
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: write `;` there
kernel void k(global float *o) {
  o[0] = 1.0f
}
