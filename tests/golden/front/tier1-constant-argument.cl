// A pointer to constant memory is a buffer that is read.
// RUN: clcompare %s --grid 128 k=rand:5 x=rand:132 y=zeros:128
// CHECK: convolve: ok
kernel void convolve(constant float *k, global const float *x, global float *y) {
  int i = get_global_id(0);
  float s = 0;
  for (int j = 0; j < 5; j++) s += k[j] * x[i + j];
  y[i] = s;
}
