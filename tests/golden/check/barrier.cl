// A barrier that not all reach: both invocations are named, and the run ends with an error.
// RUN: vyre run %s:leave x=iota:64 --grid 64 --workgroup 16 --check
// EXPECT-EXIT: 4
// CHECK: barrier.cl:13:3: barrier: in region `leave`, invocation (0) waits at this barrier, and invocation (5) of its workgroup has ended
// CHECK: error:
// RUN: vyre run %s:leave x=iota:64 --grid 64 --workgroup 16 --check --json
// EXPECT-EXIT: 4
// CHECK: "status": "divergence"
// CHECK: "barrier": 1
__kernel void leave(__global int *x) {
  int i = get_global_id(0);
  if (x[i] == 5) return;
  barrier(CLK_GLOBAL_MEM_FENCE);
  x[i] += 1;
}
