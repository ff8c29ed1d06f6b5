// Code that is nested without end is refused before the stack ends.
// RUN: python3 -c "print('kernel void k(global int *o) { o[0] = ' + '-~' * 2500 + '1; }')" > %t.cl; vyre check %t.cl
// EXPECT-EXIT: 1
// CHECK: %t.cl:1:4036: error: the code is nested more than 4000 deep.
// CHECK-NEXT: ~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-~-
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: split the expression or the statement
// The source is made by the command.
