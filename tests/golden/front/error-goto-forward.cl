// The jump itself is named when it comes first.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-goto-forward.cl:9:13: error: goto is not supported.
// CHECK-NEXT: if (o[0]) goto out;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: use if, loops, break, continue and return
kernel void k(global int *o) {
  if (o[0]) goto out;
  o[1] = 1;
out:
  o[2] = 1;
}
