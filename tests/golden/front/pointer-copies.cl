// Arrays of pointers and structures with pointers that are copied, moved and written as doubles: what was a
// pointer is one again, null stays null, and the numbers beside it are what was written.
// RUN: vyre run %s:copied o=zeros:4 x=iota:8 --grid 1 --print o
// RUN: vyre run %s:copied o=zeros:4 x=iota:8 --grid 1 --print o --backend ref
// RUN: vyre run %s:beside o=zeros:3 x=iota:8 --grid 1 --print o
// RUN: vyre run %s:beside o=zeros:3 x=iota:8 --grid 1 --print o --backend ref
// CHECK: 0: 3 99 1 0
// CHECK: 0: 3 99 1 0
// CHECK: 0: 2 10 6
// CHECK: 0: 2 10 6
kernel void copied(global ulong *o, global float *x) {
  global float *ps[4] = {x, x + 1, 0, x + 3};
  global float *qs[4];
  for (int i = 0; i < 4; i++) qs[3 - i] = ps[i];
  double4 v = *(double4 *)qs;
  *(double4 *)ps = v;
  for (int i = 0; i < 4; i++) o[i] = ps[i] ? *ps[i] : 99;
}

kernel void beside(global double *o, global float *x) {
  typedef struct {
    double d;
    global float *p;
  } pair;
  pair s[3];
  for (int i = 0; i < 3; i++) {
    s[i].d = i;
    s[i].p = x + i;
  }
  double *d = (double *)&s[0];
  d[2] = 7;
  for (int i = 0; i < 3; i++) o[i] = s[i].d + *s[i].p + d[4];
}
