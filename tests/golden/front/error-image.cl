// What is not supported of images is refused by its name, and so is what is told wrong about one.
// RUN: vyre check %s:several
// EXPECT-EXIT: 3
// CHECK: error: `picture` is of type
// CHECK: image2d_msaa_t
// RUN: vyre check %s:read in=image:rgba_f64
// EXPECT-EXIT: 1
// CHECK: error: `rgba_f64` is no format of an image.
// CHECK: Fix: write an order and a type of docs/OPENCL.md, as in rgba_f32, r_u16 or bgra_unorm8
// RUN: vyre check %s:read in=image:rgba
// EXPECT-EXIT: 1
// CHECK: error: `rgba` is no format of an image.
// RUN: vyre check %s:read in=image:rgba_unorm565
// EXPECT-EXIT: 1
// CHECK: error: `rgba_unorm565` has its channels in one word.
// CHECK: Fix: use the order rgb or rgbx, or another type
// RUN: vyre check %s:read in=image:srgba_f32
// EXPECT-EXIT: 1
// CHECK: error: `srgba_f32` is not defined.
// CHECK: Fix: use srgba_unorm8
// RUN: vyre check %s:read in=image:depth_f32
// EXPECT-EXIT: 1
// CHECK: error: `depth_f32` does not fit to a
// RUN: vyre check %s:read in=image:rgba_u8
// EXPECT-EXIT: 1
// CHECK: error: `read_imagef` of `in`, whose format is rgba_u8.
// CHECK-NEXT: o[0] = read_imagef(in, s, (int2)(0));
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: pass in=image:rgba_f32 or the like, or call the function of that format
// RUN: vyre check %s:read s=sampler:linear:mirror
// EXPECT-EXIT: 1
// CHECK: error: `linear:mirror` is no sampler.
// CHECK: Fix: join words such as linear:repeat:normalized; docs/OPENCL.md lists them
// RUN: vyre check %s:level
// EXPECT-EXIT: 3
// CHECK: error: the function `read_imagef` is not supported.
// CHECK: Fix: use the functions of images of docs/OPENCL.md; there are no levels and no samples
// RUN: vyre check %s:pick
// EXPECT-EXIT: 3
// CHECK: error: `read_imagef` of what is not one argument of the kernel is not supported.
// RUN: vyre check %s:depth in=image:rgba_f32
// EXPECT-EXIT: 1
// CHECK: error: `rgba_f32` does not fit to a
// CHECK: Fix: use depth_f32 or depth_unorm16
// RUN: vyre check %s:depth in=image:depth_u32
// EXPECT-EXIT: 1
// CHECK: error: `read_imagef` of `in`, whose format is depth_u32.
#pragma OPENCL EXTENSION cl_khr_gl_msaa_sharing : enable
kernel void several(read_only image2d_msaa_t picture, global float *o) { o[0] = 1; }
kernel void read(read_only image2d_t in, sampler_t s, global float4 *o) {
  o[0] = read_imagef(in, s, (int2)(0));
}
kernel void level(read_only image2d_t in, sampler_t s, global float4 *o) {
  o[0] = read_imagef(in, s, (float2)(0), 0.0f);
}
kernel void pick(read_only image2d_t a, read_only image2d_t b, int c, global float4 *o) {
  o[0] = read_imagef(c ? a : b, (int2)(0));
}
kernel void depth(read_only image2d_depth_t in, global float *o) {
  o[0] = read_imagef(in, (int2)(0));
}
