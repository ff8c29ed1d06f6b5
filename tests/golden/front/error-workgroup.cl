// A kernel that states its workgroup gets no other.
// RUN: vyre run %s --grid 8,8 --workgroup 4,4 x=zeros:4
// EXPECT-EXIT: 1
// CHECK: error-workgroup.cl:8:60: error: `k` requires a workgroup of 8, 8, 1.
// CHECK-NEXT: kernel __attribute__((reqd_work_group_size(8, 8, 1))) void k(global int *x) { x[0] = 1; }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: ask for that one, or for none
kernel __attribute__((reqd_work_group_size(8, 8, 1))) void k(global int *x) { x[0] = 1; }
