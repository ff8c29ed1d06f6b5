// Local memory whose size the host chooses.
// RUN: clcompare %s --grid 256 --workgroup 64 x=rand:256 y=zeros:4 t=local:256
// CHECK: sum: ok
kernel void sum(global const float *x, global float *y, local float *t) {
  int i = get_local_id(0);
  t[i] = x[get_global_id(0)];
  for (int s = get_local_size(0) >> 1; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < s) t[i] += t[i + s];
  }
  if (i == 0) y[get_group_id(0)] = *t;
}
