// What OpenCL C has and vyre does not, one case each: the place, the name, a way out.
// RUN: vyre check %s -DCASE=1
// EXPECT-EXIT: 3
// CHECK: :45:46: error: a value of type `__private clk_event_t` is not supported.
// CHECK-NEXT: kernel void k(global float *o) { clk_event_t e; o[0] = 1; }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass the data in a buffer instead
// RUN: vyre check %s -DCASE=2
// EXPECT-EXIT: 3
// CHECK: :47:34: error: a pointer that is kept in a buffer is not supported.
// CHECK-NEXT: kernel void k(global ulong *o) { *(global ulong *global *)o = o; }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: keep offsets in the buffer, and add them to a pointer argument
// RUN: vyre check %s -DCASE=3
// EXPECT-EXIT: 3
// CHECK: :49:41: error: an object whose atomics need its numbers as two types is not supported.
// CHECK: Fix: use one of the two types
// RUN: vyre check %s -DCASE=4
// EXPECT-EXIT: 3
// CHECK: :51:39: error: a cluster of this size is not supported.
// CHECK: Fix: use a constant power of two, at most the size of a subgroup
// RUN: vyre check %s -DCASE=5
// EXPECT-EXIT: 3
// CHECK: :53:32: error: the function `enqueue_marker` is not supported.
// CHECK: Fix: use a function of docs/OPENCL.md, or write it out
// RUN: vyre check %s -DCASE=6
// EXPECT-EXIT: 3
// CHECK: :55:34: error: assembly is not supported.
// CHECK: Fix: write it in OpenCL C
// RUN: vyre check %s -DCASE=7
// EXPECT-EXIT: 3
// CHECK: :57:57: error: a constant whose value is not constant is not supported.
// CHECK: Fix: give it a constant value
// RUN: vyre check %s -DCASE=8
// EXPECT-EXIT: 3
// CHECK: :60:28: error: a pointer inside of an argument is not supported.
// CHECK: Fix: pass it as its own argument
// RUN: vyre check %s -DCASE=9
// EXPECT-EXIT: 1
// CHECK: :62:22: error: bit-fields are not supported in OpenCL.
// RUN: vyre check %s -DCASE=10
// EXPECT-EXIT: 3
// CHECK: :66:44: error: the function `get_default_queue` is not supported.
#if CASE == 1
kernel void k(global float *o) { clk_event_t e; o[0] = 1; }
#elif CASE == 2
kernel void k(global ulong *o) { *(global ulong *global *)o = o; }
#elif CASE == 3
kernel void k(global atomic_float *o) { atomic_fetch_add((global atomic_int *)o, 1); atomic_fetch_add(o, 1.0f); }
#elif CASE == 4
kernel void k(global int *o) { o[0] = sub_group_clustered_reduce_add(o[1], 3u); }
#elif CASE == 5
kernel void k(global int *o) { enqueue_marker(get_default_queue(), 0, 0, 0); }
#elif CASE == 6
kernel void k(global float *o) { __asm__("nop"); }
#elif CASE == 7
kernel void k(global char *o) { constant char *constant t[1] = {"abc"}; o[0] = t[o[1]][1]; }
#elif CASE == 8
typedef struct { global float *p; int n; } with_pointer;
kernel void k(with_pointer s) { s.p[0] = 1; }
#elif CASE == 9
typedef struct { int a : 3; int b : 5; } flags;
kernel void k(global flags *o) { o[0].a = 1; }
#else
// The place is right behind lines that were left out.
kernel void k(global int *o) { queue_t q = get_default_queue(); o[0] = 1; }
#endif
