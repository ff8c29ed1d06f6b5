// A literal without a suffix is a double, and the whole expression with it; with the option it is a
// float.
// RUN: clcompare %s --grid 256 x=rand:256 y=zeros:256
// RUN: clcompare %s --grid 256 x=rand:256 y=zeros:256 --options -cl-single-precision-constant
// CHECK: literals: ok
// CHECK: literals: ok
kernel void literals(global const float *x, global float *y) {
  int i = get_global_id(0);
  y[i] = x[i] * 0.1 + 0x1.8p0;
}
