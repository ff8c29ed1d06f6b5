// A variable in global memory begins with numbers, not with addresses.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-global-variable.cl:9:17: error: a variable in global memory that begins with an address is not supported.
// CHECK-NEXT: global int *global at = &counter;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: leave the address out, and assign it
global int counter = 3;
global int *global at = &counter;
kernel void k(global int *o) { o[0] = (*at)++; }
