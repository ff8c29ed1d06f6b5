// Functions are inlined, so that they cannot call themselves.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-recursion.cl:8:39: error: `f` calls itself.
// CHECK-NEXT: int f(int n) { return n < 2 ? 1 : n * f(n - 1); }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: write the recursion as a loop
int f(int n) { return n < 2 ? 1 : n * f(n - 1); }
kernel void k(global int *o) { o[0] = f(o[1]); }
