// Every function of images. What read_write images give is what was written before; halves are
// rounded; depth images hold numbers.
// RUN: vyre run %s:sizes a=zeros:5x4 b=zeros:4x5x4 c=zeros:2x3x4x4 d=zeros:2x3x4x4 b=image:bgra_snorm16 o=zeros:20 --grid 1 --print o
// CHECK: 0: 5 4318 4277 5 4 4305 4278 4
// CHECK-NEXT: 8: 3 2 4 3 2 0 4 3
// CHECK-NEXT: 16: 2 4 3 0
// RUN: vyre run %s:halves a=0.1,0.2,0.3,0.4 a.width=1 b=zeros:1x4 b=image:rgba_f16 o=zeros:4 --grid 1 --print o --print b
// CHECK: 0: 0.1 0.2 0.3 0.4
// CHECK: 0: 11878 12902 13517 13926
// RUN: vyre run %s:both a=iota:4x4 --grid 4 --print a
// CHECK: 0: 1 2 3 4 5 6 7 8
// CHECK-NEXT: 8: 9 10 11 12 13 14 15 16
// RUN: vyre run %s:whole a=fill:-3:4x4 a=image:rgba_i16 b=zeros:4x4 b=image:rgba_i8 c=zeros:4x1 c=image:r_u8 --grid 4 --print b --print c
// CHECK: 0: -3 -128 127 -7
// CHECK: 0: 0 200 255 255
// RUN: vyre run %s:depths a=rand:3x4 b=zeros:3x4 --grid 4,3
// CHECK: b: f32[12] = 1.7666216 0.86305594 0.05286753
kernel void sizes(read_only image1d_t a, read_only image2d_t b, read_only image2d_array_t c,
                  read_only image3d_t d, global int *o) {
  vstore4((int4)(get_image_width(a), get_image_channel_data_type(a), get_image_channel_order(a),
                 get_image_width(b)), 0, o);
  vstore4((int4)(get_image_height(b), get_image_channel_data_type(b), get_image_channel_order(b),
                 get_image_width(c)), 1, o);
  vstore4((int4)(get_image_height(c), get_image_array_size(c), get_image_width(d),
                 get_image_height(d)), 2, o);
  o[12] = get_image_depth(d);
  int4 dim = get_image_dim(d);
  o[13] = dim.w;
  vstore3(dim.xyz, 0, o + 14);
  vstore2(get_image_dim(c), 0, o + 17);
}

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves(read_only image1d_t a, write_only image1d_t b, global half4 *o) {
  half4 v = read_imageh(a, CLK_ADDRESS_NONE | CLK_FILTER_NEAREST, 0);
  write_imageh(b, 0, v);
  o[0] = v;
}

kernel void both(read_write image1d_t a) {
  int i = get_global_id(0);
  write_imagef(a, i, read_imagef(a, i) + 1);
}

kernel void whole(read_only image1d_t a, write_only image1d_t b, write_only image1d_t c) {
  int i = get_global_id(0);
  int4 v = read_imagei(a, i);
  write_imagei(b, i, v * (int4)(1, 1000, -1000, 2) - (int4)(0, 0, 0, 1));
  uint u = i == 0 ? 0 : i == 1 ? 200 : i == 2 ? 256 : 0xffffffff;
  write_imageui(c, i, (uint4)(u));
}

kernel void depths(read_only image2d_depth_t a, write_only image2d_depth_t b) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(b, at, read_imagef(a, at) * 2);
}
