// Addresses are not numbers.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-number-to-pointer.cl:9:40: error: a number from elsewhere that becomes a pointer is not supported.
// CHECK-NEXT: global int *p = (global int *)(ulong)o[0];
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass a pointer argument, and add the offset to it
kernel void k(global int *o) {
  global int *p = (global int *)(ulong)o[0];
  o[1] = *p;
}
