// A case label inside of another statement.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-case-label.cl:12:5: error: a case label inside of another statement is not supported.
// CHECK-NEXT: case 2: x[2] = 1;
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: put it directly into the switch
kernel void k(global int *x) {
  switch (x[0]) {
  case 1:
    if (x[1]) {
    case 2: x[2] = 1;
    }
  }
}
