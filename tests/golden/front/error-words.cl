// Words that say nothing: an option without its value, a workgroup that is none.
// RUN: vyre check %s -D
// EXPECT-EXIT: 2
// RUN: vyre convert %s --workgroup 3,z
// EXPECT-EXIT: 2
// CHECK: error: `-D` ends the build options.
// CHECK-NEXT: Fix: give it its value, as in -Dname
// CHECK: error: --workgroup wants one to three whole numbers such as 640,480, not `3,z`.
kernel void k(global float *o) { o[0] = 1; }
