// Functions of subgroups that only some subgroups of a workgroup call: what the others have stays.
// RUN: for b in ref cpu; do vyre run %s:sums x=iota:256 o=zeros:2 --grid 256 --workgroup 128 --backend $b --print o:64; done
// CHECK: 0: 8128 24512
// CHECK: 0: 8128 24512
// RUN: for b in ref cpu; do vyre run %s:branches x=iota:64 o=zeros:64 --grid 64 --workgroup 64 --backend $b --print o:64; done
// CHECK: 0: 496 496 496 496 496 496 496 496
// CHECK: 32: 62 62 62 62 62 62 62 62
// CHECK: 0: 496 496
// RUN: for b in ref cpu; do vyre run %s:loops x=iota:64 o=zeros:64 left=zeros:64 --grid 64 --workgroup 64 --backend $b --print o:64 --print left:64; done
// CHECK: 0: 496
// CHECK: 32: 0 0 0 0 0 0 0 0
// CHECK: left: i32[64]
// CHECK-NEXT: 0: 10 10 10
// CHECK: 32: 7 7 7 7 7 7 7 7
// CHECK: 0: 496
// RUN: vyre run %s:scanned x=iota:128 o=zeros:128 --grid 128 --workgroup 128 --print o:128
// CHECK: 0: 0 1 3 6 10 15 21 28
// CHECK: 120: 7260 7381 7503 7626 7750 7875 8001 8128

kernel void sums(global const int *x, global int *o) {
  local int part[32];
  uint lane = get_sub_group_local_id(), which = get_sub_group_id();
  int s = sub_group_reduce_add(x[get_global_id(0)]);
  if (lane == 0) part[which] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (which == 0) {
    int v = 0;
    if (lane < get_num_sub_groups()) v = part[lane];
    int all = sub_group_reduce_add(v);
    if (lane == 0) o[get_group_id(0)] = all;
  }
}

int most(int x) {
  int found;
  found = sub_group_reduce_max(x);
  return found - 1;
}
kernel void branches(global const int *x, global int *o) {
  int i = get_global_id(0), v = x[i];
  if (get_sub_group_id() == 0) {
    v = sub_group_reduce_add(v);
  } else if (x[i] >= 0) {
    int twice = most(v);
    v = twice;
  }
  o[i] = v;
}

int tree(int x) {
  for (uint step = get_sub_group_size() / 2; step > 0; step /= 2)
    x += sub_group_shuffle_down(x, step);
  return x;
}
kernel void loops(global const int *x, global int *o, global int *left) {
  int i = get_global_id(0), kept = 7, turns = 0;
  if (get_sub_group_id() == 0) {
    int v = tree(x[i]);
    for (int k = 0; k < 3; k++) {
      kept += sub_group_all(k >= 0);
      turns++;
    }
    if (get_sub_group_local_id() == 0) o[i] = v;
  }
  left[i] = turns == 3 || turns == 0 ? kept : -1;
}

kernel void scanned(global const int *x, global int *o) {
  local int part[32];
  uint lane = get_sub_group_local_id(), which = get_sub_group_id();
  int s = sub_group_scan_inclusive_add(x[get_global_id(0)]);
  if (lane == get_sub_group_size() - 1) part[which] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (which == 0) {
    int v = 0;
    if (lane < get_num_sub_groups()) v = part[lane];
    int before = sub_group_scan_exclusive_add(v);
    if (lane < get_num_sub_groups()) part[lane] = before;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  o[get_global_id(0)] = s + part[which];
}
