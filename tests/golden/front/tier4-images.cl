// An image is a buffer of its pixels and a parameter per extent, here told from the shape; a sampler
// and a format are part of the program.
// RUN: vyre convert %s:halve in=image:r_unorm8
// CHECK: program halve(in.width: u32, in.height: u32, out.width: u32, out.height: u32, grid_x: u32,
// CHECK: buffer in: u8[in.width * in.height] read
// CHECK-NEXT: buffer out: f32[out.width * out.height * 4] write
// RUN: vyre run %s:halve in=image:r_unorm8 in=iota:4x6 out.width=3 out.height=2 --grid 3,2 --print out
// CHECK: out: f32[24]
// CHECK-NEXT: 0: 0.01372549 0 0 1
// CHECK-NEXT: 4: 0.02156863 0 0 1
// CHECK-NEXT: 8: 0.029411767 0 0 1
// CHECK-NEXT: 12: 0.060784318 0 0 1
// CHECK-NEXT: 16: 0.068627454 0 0 1
// CHECK-NEXT: 20: 0.07647059 0 0 1
// RUN: vyre run %s:halve in=image:luminance_u8 in=iota:4x6 out=zeros:2x3x4 --grid 3,2
// EXPECT-EXIT: 1
// CHECK: `read_imagef` of `in`, whose format is luminance_u8.
// CHECK: Fix: pass in=image:luminance_f32 or the like
// RUN: vyre run %s:halve in=image:r_unorm8 in=iota:24 in.width=6 in.height=5 out=zeros:2x3x4 --grid 3,2
// EXPECT-EXIT: 1
// CHECK: buffer `in` has 24 elements, but the program needs 30.
// RUN: vyre run %s:halve in=image:r_unorm8 in=iota:24 out=zeros:2x3x4 --grid 3,2
// EXPECT-EXIT: 1
// CHECK: parameter `in.width` (u32) is not given.
// RUN: vyre run %s:layers in=iota:2x2x3x2 in=image:rg_u32 s=sampler:clamp out=zeros:3x4 o=zeros:3 --grid 3 --print out --print o
// CHECK: out: i32[12]
// CHECK-NEXT: 0: 36 40 0 8 44 48 0 8
// CHECK-NEXT: 8: 52 56 0 8
// CHECK: o: u32[3]
// CHECK-NEXT: 0: 8 8 8
// Its extents may be the grid.
// RUN: vyre run %s:each in=iota:2x3 in=image:r_f32 out=image:r_f32 out=zeros:2x3 --print out
// CHECK: 0: 0 2 4 6 8 10
// An image is written with its axes, and read back with them.
// RUN: vyre run %s:halve in=image:r_unorm8 in=iota:4x6 out.width=3 out.height=2 --grid 3,2 --out out=%t.npy && head -c 100 %t.npy | tr -d '\0' | grep -ao 'shape.*)' && vyre run %s:halve in=@%t.npy out.width=1 out.height=1 --grid 1,1 --print out
// CHECK: shape': (2, 3, 4)
// CHECK: 0: 0.041176476 0 0 1
// RUN: vyre run %s:halve in=iota:4x out=zeros:2x3x4 --grid 3,2
// EXPECT-EXIT: 1
// CHECK: `iota:4x` cannot be read.
// RUN: vyre run %s:halve in=iota:1x2x3x4x5 out=zeros:2x3x4 --grid 3,2
// EXPECT-EXIT: 1
// CHECK: `iota:1x2x3x4x5` cannot be read.
// RUN: vyre run %s:halve in=iota:4294967296x4294967296 out=zeros:2x3x4 --grid 3,2
// EXPECT-EXIT: 1
// CHECK: `iota:4294967296x4294967296` cannot be read.
constant sampler_t smooth = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

float4 middle(read_only image2d_t from, sampler_t how, int2 at) {
  return read_imagef(from, how, convert_float2(at) * 2 + 1);
}

kernel void halve(read_only image2d_t in, write_only image2d_t out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (at.x < get_image_width(out) && at.y < get_image_height(out))
    write_imagef(out, at, middle(in, smooth, at));
}

kernel __attribute__((annotate("grid(out.width, out.height)"))) void each(read_only image2d_t in,
                                                                        write_only image2d_t out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, at, read_imagef(in, at) * 2);
}

kernel void layers(read_only image2d_array_t in, sampler_t s, write_only image1d_t out, global uint *o) {
  int i = get_global_id(0);
  uint4 sum = 0;
  for (int k = 0; k < get_image_array_size(in); k++)
    for (int y = -1; y <= get_image_height(in); y++) sum += read_imageui(in, s, (int4)(i, y, k, 0));
  write_imagei(out, i, convert_int4(sum));
  o[i] = sum.w;
}
