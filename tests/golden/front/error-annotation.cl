// A stated grid that names something else.
// RUN: vyre check %s:k
// EXPECT-EXIT: 1
// CHECK: error-annotation.cl:12:53: error: `m` in the annotation of `k` is no extent.
// CHECK: Fix: write grid(...) with one to three integer arguments, numbers or lengths of buffers, as in grid(n, 2, len(x))
// RUN: vyre check %s:several
// EXPECT-EXIT: 1
// CHECK: error: `grid(1, 2, 3, 4)` in the annotation of `several` is no extent.
// RUN: vyre check %s:none
// EXPECT-EXIT: 1
// CHECK: error: `len(n)` in the annotation of `none` is no extent.
kernel __attribute__((annotate("grid(n, m)"))) void k(int n, float m, global int *o) { o[0] = n; }
kernel __attribute__((annotate("grid(1, 2, 3, 4)"))) void several(global int *o) { o[0] = 1; }
kernel __attribute__((annotate("grid(len(n))"))) void none(int n, global int *o) { o[0] = n; }
