// The language of a source is said where its name does not: standard input, and other endings.
// RUN: vyre convert --language opencl - < %s
// RUN: cp %s %t.kernel; vyre run %t.kernel --language=opencl y=iota:3 --grid 3 --print y
// RUN: vyre info --json --language opencl %t.kernel
// RUN: vyre convert %s --to wire | vyre info --language wire -
// RUN: vyre check --language text %s
// EXPECT-EXIT: 1
// RUN: vyre check --language opencll %s
// EXPECT-EXIT: 2
// RUN: vyre check --language fortran-ninety %s
// EXPECT-EXIT: 2
// CHECK: program twice
// CHECK: 0: 0 2 4
// CHECK: "form": "opencl"
// CHECK: program twice (-, wire form)
// CHECK: error
// CHECK: did you mean `opencl`?
// CHECK: Fix: use one of text, wire, opencl
kernel void twice(global int *y) {
  y[get_global_id(0)] *= 2;
}
