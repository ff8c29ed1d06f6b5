// A variable in global memory may begin with the address of another where nothing changes it; what it
// points to may change.
// RUN: vyre convert %s | grep buffer
// CHECK: buffer o: i32[] write
// CHECK-NEXT: buffer counters: i32[3] readwrite
// RUN: for b in ref cpu; do vyre run %s o=zeros:3 counters=zeros:3 --grid 1 --backend $b -p o -p counters; done
// CHECK: 0: 5 3 9
// CHECK-NEXT: counters: i32[3]
// CHECK-NEXT: 0: 3 5 1
// CHECK: 0: 5 3 9
// CHECK-NEXT: counters: i32[3]
// CHECK-NEXT: 0: 3 5 1
global int counters[2] = {3, 4};
constant int numbers[] = {7, 9};
global int *last = &counters[1];
global int *constant first = counters;
constant int *number = &numbers[1];
kernel void k(global int *o) {
  (*last)++;
  o[0] = *last;
  o[1] = *first;
  o[2] = *number;
}
