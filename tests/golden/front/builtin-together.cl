// What a workgroup does together, compared with what it stands for; pointers by their space.
// RUN: vyre run %s:group x=rand:256:5 y=rand:256:1 wrong=zeros:1 --grid 64,4 --workgroup 16,2 --print wrong
// RUN: vyre run %s:spaces wrong=zeros:4 --grid 64 --print wrong
// CHECK: 0:  0
// CHECK: 0:  0  0  0  0
kernel void group(global const int *x, global const float *y, global int *wrong) {
  size_t l = get_local_linear_id(), n = get_local_size(0) * get_local_size(1);
  size_t i = get_global_linear_id();
  local int t[32];
  local float f[32];
  int v = x[i] % 50, bad = 0;
  float w = y[i];
  t[l] = v;
  f[l] = w;
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0, least = INT_MAX, most = INT_MIN, any = 0, all = 1, before = 0, before_least = INT_MAX;
  float total = f[0], largest = -INFINITY, before_largest = -INFINITY;
  for (size_t k = 0; k < n; k++) {
    if (k == l) {
      before = sum;
      before_least = least;
      before_largest = largest;
    }
    sum += t[k];
    least = min(least, t[k]);
    most = max(most, t[k]);
    any |= t[k] > 45;
    all &= t[k] > -49;
    if (k) total += f[k];
    largest = fmax(largest, f[k]);
  }
  bad |= work_group_reduce_add(v) != sum;
  bad |= work_group_reduce_min(v) != least;
  bad |= work_group_reduce_max((long)v) != most;
  bad |= work_group_reduce_add(w) != total;
  bad |= work_group_scan_inclusive_add(v) != before + v;
  bad |= work_group_scan_exclusive_add(v) != before;
  bad |= work_group_scan_inclusive_min(v) != min(before_least, v);
  bad |= work_group_scan_exclusive_min(v) != before_least;
  bad |= work_group_scan_inclusive_max(w) != fmax(before_largest, w);
  bad |= work_group_scan_exclusive_max(w) != before_largest;
  bad |= work_group_any(v > 45) != any;
  bad |= work_group_all(v > -49) != all;
  bad |= work_group_broadcast(v, 3, 1) != t[19];
  if (bad) atomic_inc(wrong);
}

kernel void spaces(global int *wrong) {
  local int t[4];
  int own = 3, k = get_local_id(0);
  int *p = k & 1 ? (int *)wrong : (int *)t;
  if ((to_global(p) != NULL) != (k & 1)) atomic_inc(wrong);
  if ((to_local(p) != NULL) != !(k & 1)) atomic_inc(wrong + 1);
  if (to_private(p) != NULL) atomic_inc(wrong + 2);
  if (get_fence(p) != (k & 1 ? CLK_GLOBAL_MEM_FENCE : CLK_LOCAL_MEM_FENCE)) atomic_inc(wrong + 3);
}
