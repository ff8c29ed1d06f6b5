// clang's own errors carry the place in the user's file.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-type.cl:9:8: error: assigning to '__global float4' (vector of 4 'float' values) from incompatible type 'float2' (vector of 2 'float' values).
// CHECK-NEXT: o[0] = (float2)(n);
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: correct the source; the message is clang's
kernel void k(global float4 *o, int n) {
  o[0] = (float2)(n);
}
