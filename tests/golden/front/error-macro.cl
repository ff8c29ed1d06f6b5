// A mistake inside of a macro is shown where the macro is used, in the file as it was written.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-macro.cl:10:10: error: use of undeclared identifier 'undefined_name'.
// CHECK-NEXT: o[0] = SQUARE(undefined_name) + 1;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: correct the source; the message is clang's
#define SQUARE(x) ((x) * (x))
kernel void k(global float *o) {
  o[0] = SQUARE(undefined_name) + 1;
}
