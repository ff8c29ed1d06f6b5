// Sorting: a bitonic sort in local memory, one step of it in global memory, a pass of a radix sort.
// RUN: clcompare %s:bitonic_local --grid 256 --workgroup 128 keys=bits:512
// RUN: clcompare %s:bitonic_step --grid 128 stage=4 pass=2 up=1 keys=bits:256
// RUN: clcompare %s:radix_count --grid 256 --workgroup 64 keys=bits:256 shift=8 counts=zeros:64
// CHECK: bitonic_local: ok
// CHECK: bitonic_step: ok
// CHECK: radix_count: ok
inline void order(local uint *a, local uint *b, bool up) {
  if ((*a > *b) == up) {
    uint t = *a;
    *a = *b;
    *b = t;
  }
}
kernel void bitonic_local(global uint *keys) {
  local uint t[256];
  const uint i = get_local_id(0), base = get_group_id(0) * 256;
  t[i] = keys[base + i];
  t[i + 128] = keys[base + i + 128];
  for (uint size = 2; size < 256; size <<= 1) {
    bool up = (i & (size / 2)) == 0;
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      uint at = 2 * i - (i & (stride - 1));
      order(&t[at], &t[at + stride], up);
    }
  }
  for (uint stride = 128; stride > 0; stride >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 2 * i - (i & (stride - 1));
    order(t + at, t + at + stride, true);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  keys[base + i] = t[i];
  keys[base + i + 128] = t[i + 128];
}
kernel void bitonic_step(uint stage, uint pass, uint up, global uint *keys) {
  uint i = get_global_id(0), far = 1 << (stage - pass), width = 2 * far;
  uint left = (i % far) + (i / far) * width, right = left + far;
  uint a = keys[left], b = keys[right];
  if ((i / (1 << stage)) % 2 == 1) up = 1 - up;
  uint lo = min(a, b), hi = max(a, b);
  keys[left] = up ? lo : hi;
  keys[right] = up ? hi : lo;
}
kernel void radix_count(global const uint *keys, uint shift, global uint *counts) {
  local uint bins[16];
  uint l = get_local_id(0);
  if (l < 16) bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&bins[(keys[get_global_id(0)] >> shift) & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16) counts[get_group_id(0) * 16 + l] = bins[l];
}
