// Reductions: sums with a stride over the grid, a maximum with its place, a dot product with vectors.
// RUN: clcompare %s:total --grid 256 --workgroup 64 n=10000 x=rand:10000 o=zeros:4
// RUN: clcompare %s:arg_max --grid 256 --workgroup 64 x=rand:256 v=zeros:4 at=zeros:4
// RUN: clcompare %s:dot4 --grid 128 --workgroup 32 a=rand:128 b=rand:128 o=zeros:4
// CHECK: total: ok
// CHECK: arg_max: ok
// CHECK: dot4: ok
kernel void total(uint n, global const float *x, global float *o) {
  local float t[64];
  float sum = 0;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
  uint l = get_local_id(0);
  t[l] = sum;
  for (uint s = 32; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) t[l] += t[l + s];
  }
  if (l == 0) o[get_group_id(0)] = t[0];
}
typedef struct {
  float value;
  int at;
} best;
best better(best a, best b) { return b.value > a.value ? b : a; }
kernel void arg_max(global const float *x, global float *v, global int *at) {
  local best t[64];
  int l = get_local_id(0);
  best mine = {x[get_global_id(0)], get_global_id(0)};
  t[l] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 32; s > 0; s /= 2) {
    if (l < s) t[l] = better(t[l], t[l + s]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) {
    v[get_group_id(0)] = t[0].value;
    at[get_group_id(0)] = t[0].at;
  }
}
kernel void dot4(global const float4 *a, global const float4 *b, global float *o) {
  local float4 t[32];
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)] * b[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 16; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) {
    float4 r = t[0];
    o[get_group_id(0)] = r.x + r.y + r.z + r.w;
  }
}
