// A variable in global memory that begins with a value has a mark behind it, which tells whether it
// has begun: the caller binds zeros and keeps them. One that no kernel of the source
// can change stays a table.
// RUN: vyre convert %s:first | grep "^buffer\|^transient\|fill"
// CHECK: buffer o: i32[] write
// CHECK-NEXT: buffer weights: f32[5] readwrite
// CHECK-NEXT: buffer counter: i32[2] readwrite
// CHECK-NEXT: buffer mixed: u16[8] readwrite
// CHECK: region weights.fill grid(1) workgroup(1) {
// CHECK: region counter.fill grid(1) workgroup(1) {
// CHECK: region mixed.fill grid(1) workgroup(1) {
// RUN: for b in ref cpu c opencl; do vyre run %s:first o=zeros:64 counter=zeros:2 weights=zeros:5 mixed=zeros:8 --grid 64 --backend $b -p counter -p weights -p mixed -p o:2; done
// CHECK: 0: 1064 1
// CHECK-NEXT: weights: f32[5]
// CHECK-NEXT: 0: 0.5 -2 7 0 {{.*}}
// CHECK-NEXT: mixed: u16[8]
// CHECK-NEXT: 0: 3 0 0 16416 772 0 1 0
// CHECK-NEXT: o: i32[64]
// CHECK-NEXT: 0: 1000 5
// CHECK: 0: 1064 1
// CHECK: 0: 0.5 -2 7 0 {{.*}}
// CHECK: 0: 3 0 0 16416 772 0 1 0
// CHECK: 0: 1064 1
// CHECK: 0: 0.5 -2 7 0 {{.*}}
// CHECK: 0: 3 0 0 16416 772 0 1 0
// CHECK: 0: 1064 1
// CHECK: 0: 0.5 -2 7 0 {{.*}}
// CHECK: 0: 3 0 0 16416 772 0 1 0
// What was kept goes on.
// RUN: vyre run %s:first o=zeros:64 counter=fill:7:2 weights=zeros:5 mixed=zeros:8 --grid 64 -p counter
// CHECK: 0: 71 7
// What only reads sees what another kernel wrote.
// RUN: vyre run %s:second o=zeros:1 counter=fill:7:2 --grid 1 -p o
// CHECK: 0: 7
// RUN: vyre run %s:second o=zeros:1 counter=zeros:2 --grid 1 -p o
// CHECK: 0: 1000
// RUN: vyre convert %s:third | grep "^buffer\|^transient"
// CHECK: buffer o: i32[] write
// CHECK-NEXT: transient squares: i32[4]
// RUN: vyre run %s:ticket o=zeros:4 next=zeros:2 --grid 4 -p next
// CHECK: 0: 13 1
global int counter = 1000;
global float weights[4] = {0.5f, -2.0f};
global struct {
  int a;
  float b;
  short c[2];
} mixed = {3, 1.5f, {4}};
const global int squares[] = {0, 1, 4, 9};
void note(int i) { atomic_inc(&counter); }
kernel void first(global int *o) {
  int i = get_global_id(0);
  o[i] = i == 0 ? 1000 : i == 1 ? (int)weights[i - 1] + 5 : 0;
  note(i);
  if (i == 2) {
    weights[i] = 7.0f;
    mixed.b += 1.0f;
    mixed.c[1] = 0;
    mixed.c[0] |= 0x300;
  }
}
kernel void second(global int *o) { o[0] = counter; }
kernel void third(global int *o) { o[0] = squares[get_global_id(0) & 3]; }
kernel void ticket(global int *o) {
  static global uint next = 9;
  o[get_global_id(0)] = atomic_inc(&next);
}
