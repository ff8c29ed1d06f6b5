// A header beside the source, definitions and folders as one word and as two, a workgroup, and the
// commands that take them.
// RUN: vyre run %s -D OFFSET=1 y=iota:4 --grid 4 --print y
// RUN: vyre run %s -DOFFSET=0.5f -DFACTOR=3 -cl-std=CL2.0 -cl-fast-relaxed-math y=iota:4 --grid 4 --print y
// RUN: vyre run %s -DBESIDE=0 -D 'OFFSET=(1 + 1)' -I %S/inputs y=iota:4 --grid 4 --print y
// RUN: vyre convert %s -DOFFSET=1 --workgroup 32
// RUN: vyre opt %s -D OFFSET=1 -U FACTOR --workgroup=16
// RUN: vyre compile %s -DOFFSET=1 --workgroup 4 --emit=text
// RUN: vyre check %s -DOFFSET=1 --workgroup 8
// RUN: vyre convert %s -DOFFSET=1 -cl-mad-enable
// RUN: vyre convert %s -DOFFSET=1 -cl-unsafe-math-optimizations -cl-mad-enable
// CHECK: 0: 1 3 5 7
// CHECK: 0: 0.5 3.5 6.5 9.5
// CHECK: 0: 2 4 6 8
// CHECK: region scale grid(grid_x) workgroup(32) {
// CHECK: region scale grid(grid_x) workgroup(16) {
// CHECK: region scale grid(grid_x) workgroup(4) {
// CHECK: cli-options.cl: ok
// CHECK: program scale(grid_x: u32) fast(1)
// CHECK: program scale(grid_x: u32) fast(4)
#ifdef BESIDE
#include <scaled.h>
#else
#include "inputs/scaled.h"
#endif
kernel void scale(global float *y) {
  int i = get_global_id(0);
  y[i] = scaled(y[i]);
}
