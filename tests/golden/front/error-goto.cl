// There are no gotos to a computed place, and no jumps out of a statement that is an expression.
// RUN: vyre check %s:k
// EXPECT-EXIT: 3
// CHECK: error-goto.cl:13:12: error: a jump in a statement that is used as an expression is not supported.
// CHECK-NEXT: o[1] = ({
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: put the statement before the expression
kernel void k(global int *o) {
  int i = 0;
again:
  if (i++ < 10) goto again;
  for (i = 0; i < 3; i++) {
    o[1] = ({
      if (i == 1) break;
      i;
    });
  }
}
