// A mistake that the preprocessor finds.
// RUN: vyre check %s -DWIDTH=3
// EXPECT-EXIT: 1
// CHECK: error-directive.cl:9:2: error: the width must be even.
// CHECK-NEXT: #error the width must be even
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: correct the source; the message is clang's
#if WIDTH % 2
#error the width must be even
#endif
kernel void k(global int *o) { o[0] = WIDTH; }
