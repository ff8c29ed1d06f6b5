// An extension of GNU C.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-statement-expression.cl:9:10: error: a statement used as an expression is not supported.
// CHECK-NEXT: x[0] = ({ int y = 2; y; });
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: put it into a function
kernel void k(global float *x) {
  x[0] = ({ int y = 2; y; });
}
