// A mistake in a source of a later standard: what is told is the mistake, not what the earlier ones
// lack.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-standard.cl:12:10: error: use of undeclared identifier 'missing'.
// CHECK-NEXT: o[1] = missing;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: correct the source; the message is clang's
kernel void k(global int *o) {
  int *p = o;
  *p = atomic_load((volatile global atomic_int *)o);
  o[1] = missing;
}
