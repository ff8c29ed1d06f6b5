// Prefix sums: work-efficient in local memory with the sums of the groups, and a simple one.
// RUN: clcompare %s:scan --grid 256 --workgroup 64 x=rand:512:0:100 y=zeros:512 sums=zeros:4 t=local:512
// RUN: clcompare %s:add_sums --grid 512 --workgroup 128 y=rand:512:0:100 sums=rand:4:0:100
// RUN: clcompare %s:inclusive --grid 128 --workgroup 128 x=rand:128 y=zeros:128
// CHECK: scan: ok
// CHECK: add_sums: ok
// CHECK: inclusive: ok
kernel void scan(global const int *x, global int *y, global int *sums, local int *t) {
  int l = get_local_id(0), n = 2 * get_local_size(0), base = get_group_id(0) * n, offset = 1;
  t[2 * l] = x[base + 2 * l];
  t[2 * l + 1] = x[base + 2 * l + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) {
      int a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1;
      t[b] += t[a];
    }
    offset *= 2;
  }
  if (l == 0) {
    sums[get_group_id(0)] = t[n - 1];
    t[n - 1] = 0;
  }
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) {
      int a = offset * (2 * l + 1) - 1, b = offset * (2 * l + 2) - 1, v = t[a];
      t[a] = t[b];
      t[b] += v;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  y[base + 2 * l] = t[2 * l];
  y[base + 2 * l + 1] = t[2 * l + 1];
}
kernel void add_sums(global int *y, global const int *sums) {
  int before = 0;
  for (size_t g = 0; g < get_group_id(0); g++) before += sums[g];
  y[get_global_id(0)] += before;
}
kernel void inclusive(global const float *x, global float *y) {
  local float a[2][128];
  int l = get_local_id(0), in = 0;
  a[0][l] = x[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 128; d <<= 1) {
    int out = 1 - in;
    a[out][l] = l >= d ? a[in][l] + a[in][l - d] : a[in][l];
    in = out;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  y[l] = a[in][l];
}
