// A header that is not found.
// RUN: vyre check %s
// EXPECT-EXIT: 1
// CHECK: error-include.cl:8:10: error: 'nothing.h' file not found.
// CHECK-NEXT: #include "nothing.h"
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass -I with the folder that holds it
#include "nothing.h"
kernel void k(global int *o) { o[0] = 1; }
