// What is refused in a header is shown there, in the line as it was written.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: tests/golden/front/inputs/prints.h:3:61: error: the function `printf` is not supported.
// CHECK-NEXT: inline float shown(float x) { return TWICE(x) + TWICE(x) + (printf("x"), x); }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: write the values to a buffer and print them on the host
#include "inputs/prints.h"
kernel void k(global float *o) { o[0] = shown(o[1]); }
