// printf has no place to print to.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-printf.cl:9:3: error: the function `printf` is not supported.
// CHECK-NEXT: printf("%d\n", o[0]);
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: write the values to a buffer and print them on the host
kernel void k(global int *o) {
  printf("%d\n", o[0]);
}
