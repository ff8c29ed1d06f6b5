// What is refused in a header is shown there, in the line as it was written.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: tests/golden/front/inputs/prints.h:3:74: error: what is neither a number nor a literal in printf is not supported.
// CHECK-NEXT: inline float shown(float x) { return TWICE(x) + TWICE(x) + (printf("%p", &x), x); }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: print numbers, vectors and literals
#include "inputs/prints.h"
kernel void k(global float *o) { o[0] = shown(o[1]); }
