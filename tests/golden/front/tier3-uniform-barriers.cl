// Barriers in loops and under conditions that are the same for the whole workgroup, and a function
// that has one.
// RUN: clcompare %s:rounds --grid 256 --workgroup 64 n=5 x=rand:256 y=zeros:256
// RUN: clcompare %s:under_if --grid 256 --workgroup 64 mode=1 x=rand:256 y=zeros:256
// CHECK: rounds: ok
// CHECK: under_if: ok
float neighbour(local float *t, int i) {
  barrier(CLK_LOCAL_MEM_FENCE);
  float v = t[(i + 1) % 64];
  barrier(CLK_LOCAL_MEM_FENCE);
  return v;
}
kernel void rounds(int n, global const float *x, global float *y) {
  local float t[64];
  int i = get_local_id(0), g = get_global_id(0);
  t[i] = x[g];
  for (int k = 0; k < n; k++) {
    float v = neighbour(t, i);
    t[i] += v * 0.5f;
  }
  y[g] = t[i];
}
kernel void under_if(int mode, global const float *x, global float *y) {
  local float t[64];
  int i = get_local_id(0), g = get_global_id(0);
  t[i] = x[g];
  if (mode > 0 && get_group_id(0) > 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    y[g] = t[63 - i];
  } else {
    y[g] = t[i];
  }
}
