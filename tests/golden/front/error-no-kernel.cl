// A file without a kernel.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-no-kernel.cl: error: the source has no kernel.
// CHECK-NEXT: Fix: mark a function with `kernel`
int helper(int x) { return x; }
