// The grid must be a multiple of the workgroup where the kernel depends on it, as in OpenCL 1.2.
// RUN: vyre run %s --grid 100 --workgroup 64 x=zeros:100
// EXPECT-EXIT: 1
// CHECK: vyre: error: region `k` is rigid and its grid of 100 along axis 0 is no multiple of the workgroup's 64.
// CHECK-NEXT: Fix: pad the data, or change the workgroup
kernel void k(global int *x) { x[get_global_id(0)] = get_local_id(0); }
