// Sources of another system: lines that end in two characters, and the mark of UTF-8 in front.
// RUN: printf '\357\273\277kernel void k(global int *o) {\r\n  o[0] = 1;\r\n}\r\n' > %t.cl; vyre run %t.cl --grid 1 o=zeros:1 --print o
// RUN: printf 'kernel void k(global int *o) {\r\n  o[1] = y;\r\n}\r\n' > %t.cl; vyre check %t.cl
// EXPECT-EXIT: 1
// CHECK: 0: 1
// CHECK: :2:10: error: use of undeclared identifier 'y'.
// CHECK-NEXT: o[1] = y;{{$}}
// CHECK-NEXT: ^
