// The rest of what subgroups do: parts of them, masks, truth, numbers of 16 bits, and Intel's names.
// RUN: for b in ref cpu c opencl; do vyre run %s:clusters x=rand:192:7 wrong=zeros:1 --grid 192 --workgroup 96 --backend $b -p wrong; done
// RUN: for b in ref cpu c opencl; do vyre run %s:masks x=iota:80 wrong=zeros:1 --grid 80 --workgroup 40 --backend $b -p wrong; done
// RUN: for b in ref cpu c opencl; do vyre run %s:intel x=iota:4096 y=zeros:4096 b=iota:4096 w=iota:4096 wrong=zeros:1 --grid 64 --workgroup 64 --backend $b -p wrong; done
// RUN: for b in ref cpu c; do vyre run %s:halves x=iota:64 wrong=zeros:1 --grid 64 --workgroup 32 --backend $b -p wrong; done
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// CHECK: 0: 0
// RUN: vyre check %s -DLARGE
// EXPECT-EXIT: 3
// CHECK: error: a ballot of more than 128 is not supported.
// CHECK: Fix: ask for smaller subgroups
// RUN: vyre check %s -DODD
// EXPECT-EXIT: 3
// CHECK: error: a cluster of this size is not supported.
#ifdef LARGE
__attribute__((intel_reqd_sub_group_size(256)))
kernel void votes(global uint4 *o) { o[0] = sub_group_ballot(1); }
#endif
#ifdef ODD
kernel void odd(global int *o) { o[0] = sub_group_clustered_reduce_add(o[1], 3u); }
#endif

#define FOLD(SIZE)                                                                                 \
  int sum = 0, product = 1, least = INT_MAX, most = INT_MIN, both = -1, either = 0, odd = 0;       \
  int all = 1, any = 0, parity = 0, first = l / SIZE * SIZE;                                       \
  for (int k = first; k < first + SIZE; k++) {                                                     \
    sum += t[k], product *= t[k], least = min(least, t[k]), most = max(most, t[k]);                \
    both &= t[k], either |= t[k], odd ^= t[k];                                                     \
    all &= t[k] != 0, any |= t[k] != 0, parity ^= t[k] != 0;                                       \
  }
#define CLUSTER(SIZE)                                                                              \
  {                                                                                                \
    FOLD(SIZE)                                                                                     \
    bad |= sub_group_clustered_reduce_add(v, SIZE) != sum;                                         \
    bad |= sub_group_clustered_reduce_mul(v, SIZE) != product;                                     \
    bad |= sub_group_clustered_reduce_min(v, SIZE) != least;                                       \
    bad |= sub_group_clustered_reduce_max(v, SIZE) != most;                                        \
    bad |= sub_group_clustered_reduce_and(v, SIZE) != both;                                        \
    bad |= sub_group_clustered_reduce_or(v, SIZE) != either;                                       \
    bad |= sub_group_clustered_reduce_xor(v, SIZE) != odd;                                         \
    bad |= !sub_group_clustered_reduce_logical_and(v, SIZE) != !all;                               \
    bad |= !sub_group_clustered_reduce_logical_or(v, SIZE) != !any;                                \
    bad |= !sub_group_clustered_reduce_logical_xor(v, SIZE) != !parity;                            \
    bad |= sub_group_clustered_rotate(v, 3, SIZE) != t[first + (l - first + 3) % SIZE];            \
  }
kernel void clusters(global const int *x, global int *wrong) {
  int l = get_local_id(0), v = x[get_global_id(0)] % 4, bad = 0;
  local int t[96];
  t[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  CLUSTER(1u)
  CLUSTER(4u)
  CLUSTER(16u)
  CLUSTER(32u)
  int all = 1, any = 0, parity = 0, start = l / 32 * 32, equal = 1;
  int all_before = 1, any_before = 0, parity_before = 0;
  for (int k = start; k < start + 32; k++) {
    if (k == l) all_before = all, any_before = any, parity_before = parity;
    all &= t[k] != 0, any |= t[k] != 0, parity ^= t[k] != 0, equal &= t[k] == t[start];
  }
  bad |= !sub_group_non_uniform_scan_exclusive_logical_and(v) != !all_before;
  bad |= !sub_group_non_uniform_scan_exclusive_logical_or(v) != !any_before;
  bad |= !sub_group_non_uniform_scan_exclusive_logical_xor(v) != !parity_before;
  bad |= !sub_group_non_uniform_scan_inclusive_logical_and(v) != !(all_before && v);
  bad |= !sub_group_non_uniform_scan_inclusive_logical_or(v) != !(any_before || v);
  bad |= !sub_group_non_uniform_scan_inclusive_logical_xor(v) != !(parity_before ^ (v != 0));
  bad |= !sub_group_non_uniform_reduce_logical_and(v) != !all;
  bad |= !sub_group_non_uniform_reduce_logical_or(v) != !any;
  bad |= !sub_group_non_uniform_reduce_logical_xor(v) != !parity;
  bad |= !sub_group_non_uniform_all_equal(v) != !equal;
  bad |= !sub_group_non_uniform_all_equal(l / 32);
  if (bad) atomic_or(wrong, bad);
}

kernel void masks(global const int *x, global int *wrong) {
  uint id = get_sub_group_local_id(), own = 1u << id, below = own - 1, bad = 0;
  bad |= get_sub_group_eq_mask().x != own;
  bad |= get_sub_group_lt_mask().x != below;
  bad |= get_sub_group_le_mask().x != (below | own);
  bad |= get_sub_group_gt_mask().x != ~(below | own);
  bad |= get_sub_group_ge_mask().x != ~below;
  bad |= any(get_sub_group_ge_mask().yzw != 0);
  uint4 votes = (uint4)(0x80f0u, 7, 7, 7);
  bad |= sub_group_ballot_inclusive_scan(votes) != popcount(0x80f0u & (below | own));
  bad |= sub_group_ballot_exclusive_scan(votes) != popcount(0x80f0u & below);
  bad |= sub_group_ballot_find_lsb(votes) != 4 || sub_group_ballot_find_msb(votes) != 15;
  bad |= sub_group_ballot_bit_count(votes) != 5;
  if (bad) atomic_or(wrong, x[1]);
}

kernel void intel(global const uint *x, global uint *y, global uchar *b, global ushort *w,
                  global int *wrong) {
  int l = get_local_id(0), id = l % 32, first = l - id, bad = 0;
  bad |= intel_sub_group_shuffle((float2)(l, 1), 3u).x != first + 3;
  bad |= intel_sub_group_shuffle_xor(l, 1u) != (l ^ 1);
  bad |= intel_sub_group_broadcast((short)l, 7u) != first + 7;
  bad |= intel_sub_group_reduce_add((short)1) != 32;
  bad |= intel_sub_group_scan_exclusive_max((uchar)id) != (id ? id - 1 : 0);
  bad |= intel_sub_group_shuffle_down(l, l + 1000, 5u) != (id + 5 < 32 ? l + 5 : first + id + 5 - 32 + 1000);
  bad |= intel_sub_group_shuffle_up(l - 1000, l, 5u) != (id >= 5 ? l - 5 : first + id - 5 + 32 - 1000);
  local uint t[256];
  for (int k = 0; k < 4; k++) t[l * 4 + k] = 3 * (l * 4 + k);
  barrier(CLK_LOCAL_MEM_FENCE);
  bad |= intel_sub_group_block_read2(t + first).y != 3 * (32 + l);
  global uint *at_x = y + 8 * first, *at_y = y + 1024 + 8 * first;
  global uchar *at_b = b + 1024 + 16 * first;
  global ushort *at_w = w + 1024 + 16 * first;
  {
    uint v = intel_sub_group_block_read(x);
    bad |= v != x[0 + id];
    intel_sub_group_block_write(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[0 + id] != (uint)(v + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uint2 v = intel_sub_group_block_read2(x);
    bad |= v.s0 != x[0 + id];
    bad |= v.s1 != x[32 + id];
    intel_sub_group_block_write2(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[32 + id] != (uint)(v.s1 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uint4 v = intel_sub_group_block_read4(x);
    bad |= v.s0 != x[0 + id];
    bad |= v.s3 != x[96 + id];
    intel_sub_group_block_write4(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[96 + id] != (uint)(v.s3 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uint8 v = intel_sub_group_block_read8(x);
    bad |= v.s0 != x[0 + id];
    bad |= v.s7 != x[224 + id];
    intel_sub_group_block_write8(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[224 + id] != (uint)(v.s7 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uint v = intel_sub_group_block_read_ui(x);
    bad |= v != x[0 + id];
    intel_sub_group_block_write_ui(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[0 + id] != (uint)(v + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uint2 v = intel_sub_group_block_read_ui2(x);
    bad |= v.s0 != x[0 + id];
    bad |= v.s1 != x[32 + id];
    intel_sub_group_block_write_ui2(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[32 + id] != (uint)(v.s1 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uint4 v = intel_sub_group_block_read_ui4(x);
    bad |= v.s0 != x[0 + id];
    bad |= v.s3 != x[96 + id];
    intel_sub_group_block_write_ui4(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[96 + id] != (uint)(v.s3 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uint8 v = intel_sub_group_block_read_ui8(x);
    bad |= v.s0 != x[0 + id];
    bad |= v.s7 != x[224 + id];
    intel_sub_group_block_write_ui8(at_x, v + (uint)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_x[224 + id] != (uint)(v.s7 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uchar v = intel_sub_group_block_read_uc(b);
    bad |= v != b[0 + id];
    intel_sub_group_block_write_uc(at_b, v + (uchar)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_b[0 + id] != (uchar)(v + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uchar2 v = intel_sub_group_block_read_uc2(b);
    bad |= v.s0 != b[0 + id];
    bad |= v.s1 != b[32 + id];
    intel_sub_group_block_write_uc2(at_b, v + (uchar)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_b[32 + id] != (uchar)(v.s1 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uchar4 v = intel_sub_group_block_read_uc4(b);
    bad |= v.s0 != b[0 + id];
    bad |= v.s3 != b[96 + id];
    intel_sub_group_block_write_uc4(at_b, v + (uchar)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_b[96 + id] != (uchar)(v.s3 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uchar8 v = intel_sub_group_block_read_uc8(b);
    bad |= v.s0 != b[0 + id];
    bad |= v.s7 != b[224 + id];
    intel_sub_group_block_write_uc8(at_b, v + (uchar)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_b[224 + id] != (uchar)(v.s7 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    uchar16 v = intel_sub_group_block_read_uc16(b);
    bad |= v.s0 != b[0 + id];
    bad |= v.sf != b[480 + id];
    intel_sub_group_block_write_uc16(at_b, v + (uchar)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_b[480 + id] != (uchar)(v.sf + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ushort v = intel_sub_group_block_read_us(w);
    bad |= v != w[0 + id];
    intel_sub_group_block_write_us(at_w, v + (ushort)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_w[0 + id] != (ushort)(v + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ushort2 v = intel_sub_group_block_read_us2(w);
    bad |= v.s0 != w[0 + id];
    bad |= v.s1 != w[32 + id];
    intel_sub_group_block_write_us2(at_w, v + (ushort)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_w[32 + id] != (ushort)(v.s1 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ushort4 v = intel_sub_group_block_read_us4(w);
    bad |= v.s0 != w[0 + id];
    bad |= v.s3 != w[96 + id];
    intel_sub_group_block_write_us4(at_w, v + (ushort)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_w[96 + id] != (ushort)(v.s3 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ushort8 v = intel_sub_group_block_read_us8(w);
    bad |= v.s0 != w[0 + id];
    bad |= v.s7 != w[224 + id];
    intel_sub_group_block_write_us8(at_w, v + (ushort)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_w[224 + id] != (ushort)(v.s7 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ushort16 v = intel_sub_group_block_read_us16(w);
    bad |= v.s0 != w[0 + id];
    bad |= v.sf != w[480 + id];
    intel_sub_group_block_write_us16(at_w, v + (ushort)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_w[480 + id] != (ushort)(v.sf + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  global ulong *wide = (global ulong *)y, *at_wide = wide + 1024 + 8 * first;
  {
    ulong v = intel_sub_group_block_read_ul(wide);
    bad |= v != wide[0 + id];
    intel_sub_group_block_write_ul(at_wide, v + (ulong)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_wide[0 + id] != (ulong)(v + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ulong2 v = intel_sub_group_block_read_ul2(wide);
    bad |= v.s0 != wide[0 + id];
    bad |= v.s1 != wide[32 + id];
    intel_sub_group_block_write_ul2(at_wide, v + (ulong)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_wide[32 + id] != (ulong)(v.s1 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ulong4 v = intel_sub_group_block_read_ul4(wide);
    bad |= v.s0 != wide[0 + id];
    bad |= v.s3 != wide[96 + id];
    intel_sub_group_block_write_ul4(at_wide, v + (ulong)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_wide[96 + id] != (ulong)(v.s3 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  {
    ulong8 v = intel_sub_group_block_read_ul8(wide);
    bad |= v.s0 != wide[0 + id];
    bad |= v.s7 != wide[224 + id];
    intel_sub_group_block_write_ul8(at_wide, v + (ulong)1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    bad |= at_wide[224 + id] != (ulong)(v.s7 + 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (bad) atomic_or(wrong, bad);
}

// Sums of halves are rounded one by one.
kernel void halves(global const int *x, global int *wrong) {
  int l = get_local_id(0), bad = 0;
  half v = 1000 + x[get_global_id(0)] % 32, sum = 1000;
  for (int k = 1; k < 32; k++) sum += (half)(1000 + k);
  bad |= sub_group_reduce_add(v) != sum;
  bad |= work_group_reduce_max(v) != (half)1031;
  bad |= sub_group_shuffle(v, 5u) != (half)1005;
  bad |= sub_group_clustered_reduce_add(v, 2u) != (half)(1000 + (l & ~1)) + (half)(1001 + (l & ~1));
  if (bad) atomic_or(wrong, bad);
}
