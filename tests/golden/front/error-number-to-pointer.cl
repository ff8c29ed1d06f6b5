// Addresses are not numbers.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-number-to-pointer.cl:9:40: error: a number that becomes a pointer is not supported.
// CHECK-NEXT: global int *p = (global int *)(ulong)o[0];
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: add an offset to a pointer argument
kernel void k(global int *o) {
  global int *p = (global int *)(ulong)o[0];
  o[1] = *p;
}
