// Copies by the whole workgroup, with and without a stride, in both directions; waiting for them is
// a barrier. Fences and prefetch have nothing to do.
// RUN: clcompare %s --grid 128 --workgroup 32 x=rand:256 y=zeros:128 z=zeros:128
// CHECK: copies: ok
kernel void copies(global const float2 *x, global float2 *y, global float *z) {
  local float2 t[32];
  local float s[32], r[32];
  int l = get_local_id(0), g = get_group_id(0);
  prefetch(x + g, 32);
  event_t e = async_work_group_copy(t, x + g * 32, 32, 0);
  e = async_work_group_strided_copy(s, (global const float *)x + g * 64, 32, 2, e);
  wait_group_events(1, &e);
  t[l] = t[l] * 2.0f + s[31 - l];
  r[l] = s[l] - 1.0f;
  mem_fence(CLK_LOCAL_MEM_FENCE);
  read_mem_fence(CLK_LOCAL_MEM_FENCE);
  write_mem_fence(CLK_LOCAL_MEM_FENCE);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  event_t two[2];
  two[0] = async_work_group_copy(y + g * 32, t, 32, 0);
  two[1] = async_work_group_strided_copy(z + g * 32, r, 16, 2, 0);
  wait_group_events(2, two);
}
