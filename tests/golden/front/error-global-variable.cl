// A variable in global memory that changes begins with numbers, not with an address.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-global-variable.cl:9:20: error: a variable in global memory that begins with an address is not supported.
// CHECK-NEXT: global int *global at = &counters[1];
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: declare it constant, as in `global int *constant p = &x`
global int counters[2] = {3, 4};
global int *global at = &counters[1];
kernel void k(global int *o) { o[0] = *at--; }
