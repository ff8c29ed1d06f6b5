// Ids and sizes of two and three dimensions, and of those that the grid does not have.
// RUN: clcompare %s:three --grid 8,4,2 --workgroup 4,2,1 o=zeros:1024
// RUN: clcompare %s:missing --grid 32 --workgroup 8 o=zeros:128
// RUN: clcompare %s:computed --grid 8,4 o=zeros:32
// CHECK: three: ok
// CHECK: missing: ok
// CHECK: computed: ok
kernel void three(global int *o) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int at = ((z * get_global_size(1) + y) * get_global_size(0) + x) * 16;
  for (int d = 0; d < 3; d++) o[at + d] = d + 1;
  o[at + 3] = get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2);
  o[at + 4] = get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2);
  o[at + 5] = get_local_size(0) + 10 * get_local_size(1) + 100 * get_local_size(2);
  o[at + 6] = get_num_groups(0) + 10 * get_num_groups(1) + 100 * get_num_groups(2);
  o[at + 7] = get_work_dim();
  o[at + 8] = get_global_offset(0) + get_global_offset(2);
}
kernel void missing(global int *o) {
  int i = get_global_id(0) * 4;
  o[i + 2] = get_local_id(0);
}
kernel void computed(global int *o) {
  uint at = 0;
  for (int d = 1; d >= 0; d--) at = at * get_global_size(d) + get_global_id(d);
  o[at] = at * 3 + get_work_dim();
}
