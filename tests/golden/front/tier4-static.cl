// Variables in global memory: those of functions, of one name too, live as long as those of the file;
// what begins with a value can be read and changed. Ranges of cases.
// RUN: vyre run %s:calls o=zeros:4 n=zeros:1 n_=zeros:1 --grid 4 --print n --print n_ --print o
// CHECK: n: i32[1]
// CHECK-NEXT: 0: 4
// CHECK: n_: i32[1]
// CHECK-NEXT: 0: 8
// RUN: vyre run %s:begins o=zeros:4 start=zeros:2 --grid 4 --print o
// CHECK: 0: 6 7 8 14
// RUN: vyre run %s:ranges o=zeros:8 --grid 8 --print o
// CHECK: 0: 9 1 1 1 30 2 9 9
// RUN: vyre run %s:changes -cl-std=CL2.0 o=zeros:1 start=zeros:2 --grid 1 --print o --print start
// CHECK: o: i32[1]
// CHECK-NEXT: 0: 5
// CHECK-NEXT: start: i32[2]
// CHECK-NEXT: 0: 6 1
// RUN: vyre run %s:counts -cl-std=CL2.0 o=zeros:1 start=fill:8:2 --grid 1 --print o --print start
// CHECK: o: i32[1]
// CHECK-NEXT: 0: 8
// CHECK-NEXT: start: i32[2]
// CHECK-NEXT: 0: 9 8
global int start = 5;
global const int steps[4] = {1, 2, 3, 9};

void count(void) {
  static global int n;
  atomic_inc(&n);
}
void count_twice(void) {
  static int n = 0;
  atomic_add((volatile global int *)&n, 2);
}
kernel void calls(global int *o) {
  count();
  count_twice();
  o[get_global_id(0)] = 1;
}

kernel void begins(global int *o) {
  int i = get_global_id(0);
  o[i] = start + steps[i];
}

kernel void ranges(global int *o) {
  int i = get_global_id(0), r = 0;
  switch (i) {
  case 1 ... 3: r = 1; break;
  case 4: r = 28;
  case 5 ... 5: r += 2; break;
  default: r = 9;
  }
  o[i] = r;
}

kernel void changes(global int *o) {
  o[0] = start;
  start = 6;
}
kernel void counts(global int *o) { o[0] = atomic_inc((volatile global int *)&start); }
