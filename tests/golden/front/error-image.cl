// Images are refused at the argument that is one.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-image.cl:8:35: error: `picture` is an image, a sampler or a pipe.
// CHECK-NEXT: kernel void k(read_only image2d_t picture, global float *o) { o[0] = 1; }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass the data in a buffer
kernel void k(read_only image2d_t picture, global float *o) { o[0] = 1; }
