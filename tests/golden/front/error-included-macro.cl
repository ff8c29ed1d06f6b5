// What is refused in a header is shown there, in the line as it was written.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: tests/golden/front/inputs/prints.h:4:58: error: a number from elsewhere that becomes a pointer is not supported.
// CHECK-NEXT: return TWICE(x) + TWICE(x) + *(private float *)(size_t)x;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass a pointer argument, and add the offset to it
#include "inputs/prints.h"
kernel void k(global float *o) { o[0] = shown(o[1]); }
