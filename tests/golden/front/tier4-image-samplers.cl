// Images beside the machine's driver: address modes, filters, formats, kinds of images.
// RUN: clcompare %s:plane --grid 12,8 in=image:r_f32:8x5:rand s=sampler:nearest:clamp_to_edge at=rand:192:-4:12 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 in=image:rgba_unorm16:8x5:bits s=sampler:clamp at=rand:192:-4:12 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 --ulp 8 in=image:rgba_unorm8:8x5:bits s=sampler:linear at=rand:192:-4:12 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 --ulp 8 in=image:rgba_snorm8:8x5:bits s=sampler:linear:clamp at=rand:192:-4:12 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 --ulp 2 in=image:bgra_unorm8:7x5:bits s=sampler:normalized:repeat at=rand:192:-3:3 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 in=image:rgba_f32:7x5:rand s=sampler:normalized:repeat:linear at=rand:192:-3:3 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 in=image:rgba_f32:7x5:rand s=sampler:normalized:mirrored_repeat at=rand:192:-3:3 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 in=image:rgba_f32:7x5:rand s=sampler:normalized:mirrored_repeat:linear at=rand:192:-3:3 o=zeros:96
// RUN: clcompare %s:plane --grid 12,8 in=image:rgba_f32:7x5:rand s=sampler:normalized:linear:clamp at=rand:192:-1:2 o=zeros:96
// RUN: clcompare %s:volume --grid 200 in=image:rgba_f32:5x4x3:rand s=sampler:linear at=rand:800:-1:6 o=zeros:200
// RUN: clcompare %s:volume --grid 200 in=image:rgba_f32:5x4x3:rand s=sampler:linear:clamp at=rand:800:-1:6 o=zeros:200
// RUN: clcompare %s:layers --grid 100 in=image:rgba_u16:5x4x3:bits s=sampler:clamp at=rand:400:-2:6 o=zeros:100
// RUN: clcompare %s:whole --grid 12,8 in=image:rgba_i8:8x5:bits s=sampler:clamp_to_edge o=zeros:192 out=image:rgba_i16:12x8
// RUN: clcompare %s:written --grid 10,6 v=rand:60:-0.5:1.5 a=image:rgba_unorm8:10x6 b=image:rgba_snorm16:10x6 c=image:r_f32:10x6 d=image:bgra_unorm8:10x6
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: plane: ok
// CHECK: volume: ok
// CHECK: volume: ok
// CHECK: layers: ok
// CHECK: whole: ok
// CHECK: written: ok
kernel void plane(read_only image2d_t in, sampler_t s, global const float *at, global float4 *o) {
  int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  o[i] = read_imagef(in, s, vload2(i, at));
}

kernel void volume(read_only image3d_t in, sampler_t s, global const float *at, global float4 *o) {
  int i = get_global_id(0);
  o[i] = read_imagef(in, s, vload4(i, at));
}

kernel void layers(read_only image2d_array_t in, sampler_t s, global const float *at, global uint4 *o) {
  int i = get_global_id(0);
  o[i] = read_imageui(in, s, vload4(i, at));
}

kernel void whole(read_only image2d_t in, sampler_t s, global int4 *o, write_only image2d_t out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1)), half_size = get_image_dim(out) / 2;
  int i = at.y * get_global_size(0) + at.x;
  int4 v = read_imagei(in, s, at - 2);
  o[i] = v;
  write_imagei(out, at, v * 300 + half_size.x);
  if (at.x < get_image_width(in) && at.y < get_image_height(in)) o[96 + i] = read_imagei(in, at);
}

kernel void written(global const float4 *v, write_only image2d_t a, write_only image2d_t b,
                    write_only image2d_t c, write_only image2d_t d) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 x = v[at.y * 10 + at.x];
  write_imagef(a, at, x);
  write_imagef(b, at, x - 0.5f);
  write_imagef(c, at, x);
  write_imagef(d, at, x * x);
}
