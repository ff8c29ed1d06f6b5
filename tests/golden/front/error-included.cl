// A mistake in a header is shown in the header.
// RUN: vyre check %s -I%S/inputs
// EXPECT-EXIT: 1
// CHECK: tests/golden/front/inputs/broken.h:2:35: error: use of undeclared identifier 'y'.
// CHECK-NEXT: float twice(float x) { return x + y; }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: correct the source; the message is clang's
#include "broken.h"
kernel void k(global float *o) { o[0] = twice(o[1]); }
