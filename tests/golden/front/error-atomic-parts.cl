// Atomics need the memory to be accessed with one size.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-atomic-parts.cl:10:3: error: an atomic operation on memory that is also accessed in smaller parts is not supported.
// CHECK-NEXT: atomic_add((volatile global int *)c, 1);
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: access it with one size only
kernel void k(global char *c) {
  c[4] = 1;
  atomic_add((volatile global int *)c, 1);
}
