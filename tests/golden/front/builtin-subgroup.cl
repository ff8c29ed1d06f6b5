// What a subgroup does together, compared with what it stands for: 32 neighbours by the linear local
// id, or as many as the kernel asks for, and what is left in the last one.
// RUN: vyre run %s:group x=rand:320:5 y=rand:320:1 wrong=zeros:1 --grid 80,4 --workgroup 20,4 --print wrong
// RUN: vyre run %s:group x=rand:320:5 y=rand:320:1 wrong=zeros:1 --grid 80,4 --workgroup 20,4 --backend ref --print wrong
// RUN: vyre run %s:eight x=rand:64:5 y=rand:64:1 wrong=zeros:1 --grid 64 --workgroup 32 --print wrong
// RUN: vyre run %s:others x=iota:128 wrong=zeros:1 --grid 128 --workgroup 64 --print wrong
// RUN: vyre run %s:moves y=zeros:60 --grid 6 --workgroup 6 --print y:60
// CHECK: 0:  0
// CHECK: 0:  0
// CHECK: 0:  0
// CHECK: 0:  0
// CHECK: 0: 3 3 3 3 3 3 1 0
// CHECK-NEXT: 8: 3 2 5 4 0 0 1 2
// CHECK-NEXT: 16: 3 4 1 2 3 4 5 5
// CHECK-NEXT: 24: 2 3 4 5 0 1 42 42
// CHECK-NEXT: 32: 42 42 42 42 0 1 0 1
// CHECK-NEXT: 40: 0 1 3 3 3 3 3 3
// CHECK-NEXT: 48: 1 0 0 0 0 0 7 7
// CHECK-NEXT: 56: 7 7 7 7
#define CHECKS(SIZE)                                                                                \
  size_t l = get_local_linear_id(), n = get_local_size(0) * get_local_size(1);                      \
  size_t i = get_global_linear_id(), first = l / SIZE * SIZE, end = min(first + SIZE, n);           \
  local int t[80];                                                                                  \
  local float f[80];                                                                                \
  int v = x[i] % 50, bad = 0;                                                                       \
  float w = y[i];                                                                                   \
  t[l] = v;                                                                                         \
  f[l] = w;                                                                                         \
  barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
  int sum = 0, least = INT_MAX, most = INT_MIN, any = 0, all = 1, before = 0, odd = 0;              \
  float total = f[first], before_largest = -INFINITY, largest = -INFINITY;                          \
  for (size_t k = first; k < end; k++) {                                                            \
    if (k == l) before = sum, before_largest = largest;                                             \
    sum += t[k];                                                                                    \
    least = min(least, t[k]);                                                                       \
    most = max(most, t[k]);                                                                         \
    any |= t[k] > 45;                                                                               \
    all &= t[k] > -49;                                                                              \
    odd ^= t[k];                                                                                    \
    if (k > first) total += f[k];                                                                   \
    largest = fmax(largest, f[k]);                                                                  \
  }                                                                                                 \
  bad |= get_sub_group_id() != l / SIZE;                                                            \
  bad |= get_sub_group_local_id() != l % SIZE;                                                      \
  bad |= get_sub_group_size() != end - first;                                                       \
  bad |= get_max_sub_group_size() != SIZE;                                                          \
  bad |= get_num_sub_groups() != (n + SIZE - 1) / SIZE;                                             \
  bad |= sub_group_reduce_add(v) != sum;                                                            \
  bad |= sub_group_reduce_min(v) != least;                                                          \
  bad |= sub_group_reduce_max((long)v) != most;                                                     \
  bad |= sub_group_reduce_add(w) != total;                                                          \
  bad |= sub_group_scan_inclusive_add(v) != before + v;                                             \
  bad |= sub_group_scan_exclusive_add(v) != before;                                                 \
  bad |= sub_group_scan_exclusive_max(w) != before_largest;                                         \
  bad |= sub_group_non_uniform_reduce_xor(v) != odd;                                                \
  bad |= !sub_group_any(v > 45) != !any;                                                            \
  bad |= !sub_group_all(v > -49) != !all;                                                           \
  bad |= sub_group_broadcast(v, 3) != t[first + 3];                                                 \
  bad |= sub_group_broadcast_first(w) != f[first];                                                  \
  bad |= sub_group_shuffle_xor(v, 4) != (((l - first) ^ 4) < end - first ? t[first + ((l - first) ^ 4)] : v); \
  bad |= sub_group_elect() != (l == first);                                                         \
  uint4 votes = sub_group_ballot(v > 0);                                                            \
  bad |= (votes.x >> (l - first) & 1) != (v > 0) || votes.y || votes.z || votes.w;                  \
  bad |= sub_group_inverse_ballot(votes) != (v > 0);                                                \
  bad |= sub_group_ballot_bit_extract(votes, 2) != (t[first + 2] > 0);                              \
  bad |= sub_group_ballot_bit_count(votes) != popcount(votes.x);                                    \
  if (bad) atomic_or(wrong, bad);

kernel void group(global const int *x, global const float *y, global int *wrong) { CHECKS(32) }

__attribute__((intel_reqd_sub_group_size(8)))
kernel void eight(global const int *x, global const float *y, global int *wrong) { CHECKS(8) }

kernel void moves(global int *y) {
  int i = get_local_id(0);
  y[i] = sub_group_broadcast(i, 3u);
  y[6 + i] = sub_group_shuffle_xor(i, 1u);
  y[12 + i] = sub_group_shuffle_up(i, 1u); // the first has nobody before it: its own
  y[18 + i] = sub_group_shuffle_down(i, 1u);
  y[24 + i] = sub_group_rotate(i, 2);
  y[30 + i] = sub_group_non_uniform_broadcast(42, 0u);
  y[36 + i] = sub_group_shuffle(i, (uint)(i & 1));
  y[42 + i] = sub_group_broadcast((int2)(3, i), 2u).x;
  y[48 + i] = sub_group_elect();
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  y[54 + i] = sub_group_non_uniform_reduce_or(i);
}

// What may be called where some are missing is called by all here.
kernel void others(global const int *x, global int *wrong) {
  int v = x[get_global_id(0)] % 9 - 4, first = get_local_id(0) / 32 * 32, l = get_local_id(0), bad = 0;
  local int t[64];
  t[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0, product = 1, least = INT_MAX, most = INT_MIN, both = -1, either = 0, odd = 0;
  int all = 1, any = 0;
  for (int k = first; k < first + 32; k++) {
    sum += t[k], product *= t[k], least = min(least, t[k]), most = max(most, t[k]);
    both &= t[k], either |= t[k], odd ^= t[k], all &= t[k] > -5, any |= t[k] > 3;
  }
  bad |= get_enqueued_num_sub_groups() != 2;
  bad |= !sub_group_non_uniform_all(v > -5) != !all;
  bad |= !sub_group_non_uniform_any(v > 3) != !any;
  bad |= sub_group_non_uniform_reduce_add(v) != sum;
  bad |= sub_group_non_uniform_reduce_mul(v) != product;
  bad |= sub_group_non_uniform_reduce_min(v) != least;
  bad |= sub_group_non_uniform_reduce_max(v) != most;
  bad |= sub_group_non_uniform_reduce_and(v) != both;
  bad |= sub_group_non_uniform_reduce_or(v) != either;
  sum = 0, product = 1, least = INT_MAX, most = INT_MIN, both = -1, either = 0, odd = 0;
  for (int k = first; k < l; k++) {
    sum += t[k], product *= t[k], least = min(least, t[k]), most = max(most, t[k]);
    both &= t[k], either |= t[k], odd ^= t[k];
  }
  bad |= sub_group_scan_exclusive_min(v) != least;
  bad |= sub_group_scan_inclusive_min(v) != min(least, v);
  bad |= sub_group_scan_inclusive_max(v) != max(most, v);
  bad |= sub_group_non_uniform_scan_exclusive_add(v) != sum;
  bad |= sub_group_non_uniform_scan_inclusive_add(v) != sum + v;
  bad |= sub_group_non_uniform_scan_exclusive_mul(v) != product;
  bad |= sub_group_non_uniform_scan_inclusive_mul(v) != product * v;
  bad |= sub_group_non_uniform_scan_exclusive_min(v) != least;
  bad |= sub_group_non_uniform_scan_inclusive_min(v) != min(least, v);
  bad |= sub_group_non_uniform_scan_exclusive_max(v) != most;
  bad |= sub_group_non_uniform_scan_inclusive_max(v) != max(most, v);
  bad |= sub_group_non_uniform_scan_exclusive_and(v) != both;
  bad |= sub_group_non_uniform_scan_inclusive_and(v) != (both & v);
  bad |= sub_group_non_uniform_scan_exclusive_or(v) != either;
  bad |= sub_group_non_uniform_scan_inclusive_or(v) != (either | v);
  bad |= sub_group_non_uniform_scan_exclusive_xor(v) != odd;
  bad |= sub_group_non_uniform_scan_inclusive_xor(v) != (odd ^ v);
  if (bad) atomic_or(wrong, bad);
}
