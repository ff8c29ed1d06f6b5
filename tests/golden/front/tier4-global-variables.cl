// Variables in global memory at file scope are buffers of their names, which the caller binds and keeps.
// RUN: vyre convert %s:first | grep buffer
// CHECK: buffer o: i32[] write
// CHECK-NEXT: buffer counter: i32[1] readwrite
// CHECK-NEXT: buffer table: f32[8] readwrite
// CHECK-NEXT: buffer both: u32[2] readwrite
// RUN: for b in ref cpu c opencl; do vyre run %s:first o=zeros:64 counter=fill:100:1 table=zeros:8 both=zeros:2 --grid 64 --backend $b -p counter -p table -p both -p o:2; done
// CHECK: 0: 164
// CHECK-NEXT: table: f32[8]
// CHECK-NEXT: 0: 56 57 58 59 60 61 62 63
// CHECK-NEXT: both: u32[2]
// CHECK-NEXT: 0: 5 1075838976
// CHECK-NEXT: o: i32[64]
// CHECK-NEXT: 0: 7 8
// CHECK: 0: 164
// CHECK: 0: 56 57 58 59 60 61 62 63
// CHECK: 0: 7 8
// CHECK: 0: 164
// CHECK: 0: 56 57 58 59 60 61 62 63
// CHECK: 0: 7 8
// CHECK: 0: 164
// CHECK: 0: 56 57 58 59 60 61 62 63
// CHECK: 0: 7 8
// RUN: vyre run %s:second o=zeros:2 counter=fill:41:1 --grid 1 -p o
// CHECK: 0: 42 41
// RUN: vyre run %s:hidden counter=zeros:1 counter_=fill:9:1 --grid 1 -p counter
// CHECK: counter: i32[1]
// CHECK-NEXT: 0: 9
global int counter;
global float table[8];
global struct {
  int a;
  float b;
} both = {0};
void note(int i) {
  atomic_add(&counter, 1);
  if (i >= 56) table[i - 56] = i;
}
kernel void first(global int *o) {
  int i = get_global_id(0);
  note(i);
  if (i == 3) both.a = 5, both.b = 2.5f;
  global int *p = i == 0 ? o : o + i;
  *p = i + 7;
  if (table[0] < 0) both.a = (int)both.b;
}
kernel void second(global int *o) {
  global int *at = &counter;
  o[1] = *at;
  o[0] = counter + 1;
}
// An argument of the name is the argument.
int get(void) { return counter; }
kernel void hidden(global int *counter) { *counter = get(); }
