// What the verifier finds is shown in the source.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-divergent-barrier.cl:11:14: error[V066]: only some invocations of a workgroup reach this barrier.
// CHECK-NEXT: if (i < 3) barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: move it out of the condition on local_id, or before the return
kernel void k(global float *x) {
  local float t[64];
  int i = get_local_id(0);
  if (i < 3) barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = t[i];
}
