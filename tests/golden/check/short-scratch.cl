// Half-sized scratch gave half-sized sums and status 0: with --check every access outside is named,
// and so is what nobody wrote.
// RUN: vyre run %s:sums x=ones:256 total=zeros:4 scratch=local:128 --grid 256 --workgroup 64 --check
// EXPECT-EXIT: 4
// CHECK: short-scratch.cl:16:3: bounds: in region `sums`, store outside: scratch[32], which has 32 elements, by invocation (32), 128 times in all
// CHECK-NEXT: scratch[l] = x[get_global_id(0)];
// RUN: vyre run %s:sums x=ones:256 total=zeros:4 scratch=local:256 --grid 256 --workgroup 64 --check
// CHECK: check on ref: nothing found (accesses outside, races, elements that nobody wrote, barriers, divisions by zero)
// RUN: vyre run %s:unset y=zeros:64 --grid 64 --check
// EXPECT-EXIT: 4
// CHECK: unset: in region `unset`, nobody wrote t[1] before invocation (1) reads it, 48 times in all
// RUN: vyre run %s:guarded x=iota:10 y=zeros:64 n=10 --grid 64 --check
// CHECK: nothing found
__kernel void sums(__global const float *x, __global float *total, __local float *scratch) {
  int l = get_local_id(0);
  scratch[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 32; s > 0; s /= 2) {
    if (l < s) scratch[l] += scratch[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) total[get_group_id(0)] = scratch[0];
}

__kernel void unset(__global float *y) {
  float t[4];
  int i = get_global_id(0);
  t[0] = i;
  y[i] = t[i & 3];
}

// What C skips is computed anyway where that is cheaper; nobody depends on it.
__kernel void guarded(__global const int *x, __global int *y, int n) {
  int i = get_global_id(0);
  int v = i < n ? x[i] : -1;
  if (i < n && x[i] > 3) v += 100 / (v - 3);
  y[i] = i ? v / i : 0;
}
