// Subgroups depend on the device.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-subgroup.cl:8:39: error: the function `sub_group_reduce_add` is not supported.
// CHECK-NEXT: kernel void k(global int *x) { x[0] = sub_group_reduce_add(3); }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: use local memory and barrier
kernel void k(global int *x) { x[0] = sub_group_reduce_add(3); }
