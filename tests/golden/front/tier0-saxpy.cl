// The first kernel that anybody tries: numbers, buffers, one id.
// RUN: clcompare %s --grid 1000 a=2.5 x=rand:1000 y=rand:1000
// CHECK: saxpy: ok
kernel void saxpy(float a, global const float *x, global float *y) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
