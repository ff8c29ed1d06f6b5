// Control flow is structured.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-goto.cl:10:1: error: a label is not supported.
// CHECK-NEXT: again:
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: use if, loops, break, continue and return
kernel void k(global int *o) {
  int i = 0;
again:
  if (i++ < 10) goto again;
  o[0] = i;
}
