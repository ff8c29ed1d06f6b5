// Also not by way of another function.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-mutual-recursion.cl:10:39: error: `odd` calls itself.
// CHECK-NEXT: int even(int n) { return n == 0 ? 1 : odd(n - 1); }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: write the recursion as a loop
int even(int n);
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
kernel void k(global int *o) { o[0] = odd(o[1]); }
