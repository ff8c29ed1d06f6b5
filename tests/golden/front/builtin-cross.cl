// cross: each component is a difference of two products, which the driver fuses, so that the exact
// values are written down.
// RUN: vyre run %s --grid 1 a=1,2,3,0 b=-4,5,0.5,0 o=zeros:8 --print o
// CHECK: -14 -12.5 13 0 -14 -12.5 13 0
kernel void crossed(global const float4 *a, global const float4 *b, global float4 *o) {
  int i = get_global_id(0);
  o[2 * i] = cross(a[i], b[i]);
  o[2 * i + 1] = (float4)(cross(a[i].xyz, b[i].xyz), 0);
}
