// An initialiser that mentions what it initialises: the value before it is not specified in C, and
// zero here.
// RUN: vyre run %s --grid 2 o=zeros:2 --print o
// CHECK: 0: 7 8
kernel void self(global int *o) {
  int i = get_global_id(0);
  int x = x + 7;
  global int *p = p;
  o[i] = x + i + (p != 0);
}
