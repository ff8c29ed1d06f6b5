// What a macro expands to is refused at the macro.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-printf-macro.cl:10:17: error: printf with a format that is no literal is not supported.
// CHECK-NEXT: if (o[0] > 1) TRACE(o[0]);
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: write it in the call
#define TRACE(x) printf(format, x)
kernel void k(global int *o, constant char *format) {
  if (o[0] > 1) TRACE(o[0]);
}
