// cross, of three components and of four, whose last one is zero.
// RUN: clcompare %s --grid 64 a=rand:64 b=rand:64 o=zeros:128
// CHECK: crossed: ok
kernel void crossed(global const float4 *a, global const float4 *b, global float4 *o) {
  int i = get_global_id(0);
  o[2 * i] = cross(a[i], b[i]);
  o[2 * i + 1] = (float4)(cross(a[i].xyz, b[i].xyz), 0);
}
