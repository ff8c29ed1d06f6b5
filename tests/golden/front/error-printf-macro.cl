// What a macro expands to is refused at the macro.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-printf-macro.cl:10:17: error: the function `printf` is not supported.
// CHECK-NEXT: if (o[0] > 1) TRACE(o[0]);
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: write the values to a buffer and print them on the host
#define TRACE(x) printf("%d\n", x)
kernel void k(global int *o) {
  if (o[0] > 1) TRACE(o[0]);
}
