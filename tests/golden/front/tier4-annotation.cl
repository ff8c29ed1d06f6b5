// A kernel that states its grid needs no --grid, and one given goes before it. A hint is the workgroup
// where none is asked for.
// RUN: vyre convert %s:scaled
// RUN: vyre run %s:scaled by=3 n=3 x=1,2,3,4,5,6,7,8 y=zeros:8 --print y
// RUN: vyre run %s:scaled by=3 n=3 x=1,2,3,4,5,6,7,8 y=zeros:8 --grid 1,2 --print y
// RUN: vyre run %s:pairs x=rand:64 o=zeros:16 --print o:2
// RUN: vyre convert %s:hinted
// RUN: vyre info %s:hinted --workgroup 4,8
// CHECK: program scaled(by: f32, n: i32)
// CHECK: region scaled grid(u32(n), 2) {
// CHECK: 0: 3 6 9 0 15 18 21 0
// CHECK: 0: 3 0 0 0 15 0 0 0
// CHECK: 0: 4 4
// CHECK: region hinted grid(grid_x, grid_y) workgroup(16, 2) {
// CHECK: workgroup 4 x 8 x 1
kernel __attribute__((annotate("grid(n, 2)"))) void scaled(float by, int n, global const float *x,
                                                           global float *y) {
  size_t i = get_global_id(0) + 4 * get_global_id(1);
  y[i] = by * x[i];
}
__attribute__((annotate("grid( len(x) )"))) kernel void pairs(global const float4 *x,
                                                              global uint *o) {
  if (get_global_size(0) == 16) o[get_global_id(0)] = 4;
}
kernel __attribute__((work_group_size_hint(16, 2, 1))) void hinted(global uint *o) {
  o[get_global_id(0)] = get_local_size(0) + get_local_size(1);
}
