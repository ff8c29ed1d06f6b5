// Local memory and barriers: a tile with padding, a reversal, a sum in a tree.
// RUN: clcompare %s:transpose --grid 64,48 --workgroup 16,16 w=64 h=48 x=rand:3072 y=zeros:3072
// RUN: clcompare %s:reverse --grid 256 --workgroup 64 x=rand:256 y=zeros:256
// RUN: clcompare %s:sum --grid 1024 --workgroup 128 x=rand:1024 y=zeros:8
// CHECK: transpose: ok
// CHECK: reverse: ok
// CHECK: sum: ok
#define TILE 16
kernel void transpose(int w, int h, global const float *x, global float *y) {
  local float tile[TILE][TILE + 1];
  int lx = get_local_id(0), ly = get_local_id(1);
  int gx = get_global_id(0), gy = get_global_id(1);
  tile[ly][lx] = x[gy * w + gx];
  barrier(CLK_LOCAL_MEM_FENCE);
  int tx = get_group_id(1) * TILE + lx, ty = get_group_id(0) * TILE + ly;
  y[ty * h + tx] = tile[lx][ly];
}
kernel void reverse(global const float *x, global float *y) {
  local float t[64];
  size_t i = get_local_id(0);
  t[i] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = t[get_local_size(0) - 1 - i];
}
kernel void sum(global const float *x, global float *y) {
  local float t[128];
  uint i = get_local_id(0);
  t[i] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (i < s) t[i] += t[i + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i == 0) y[get_group_id(0)] = t[0];
}
