// A variable in global memory begins with what the caller binds.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-global-variable.cl:8:12: error: a variable in global memory that begins with a value and changes is not supported.
// CHECK-NEXT: global int counter = 3;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: leave the value out, and bind it to the buffer of the variable's name
global int counter = 3;
kernel void k(global int *o) { o[0] = counter++; }
