// half is for storage; arithmetic on it is refused.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-half.cl:9:8: error: declaring variable of type '__private half' is not allowed.
// CHECK-NEXT: half h = o[0];
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: half is for storage only: read it with vload_half, compute in float
kernel void k(global half *o) {
  half h = o[0];
  o[1] = h * h;
}
