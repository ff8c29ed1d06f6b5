// half is f16 of a program: buffers, arguments, vectors, variables and private arrays of it.
// RUN: vyre convert %s:mixed
// CHECK: program mixed(s: f16, v.x: f16, v.y: f16, grid_x: u32)
// CHECK-NEXT: buffer x: f16[] read
// CHECK-NEXT: buffer y: f16[] readwrite
// CHECK: var sum: f16 =
// RUN: vyre run %s:mixed s=0.1 v.x=2 v.y=3 x=iota:8 y=zeros:8 --grid 4 --print y
// CHECK: y: f16[8]
// CHECK-NEXT: 0: 0.2998 3.602 8.3 12 0 0 0 0
// RUN: vyre run %s:rounded x=iota:4 e=zeros:4 z=zeros:4 p=zeros:4 n=zeros:4 --grid 4 --print e --print z --print p --print n
// CHECK: 0: 11878 44646 27648 31744
// CHECK: 0: 11878 44646 27648 31743
// CHECK: 0: 11879 44646 27649 31744
// CHECK: 0: 0.1 -0.10004 4096 65504
// RUN: vyre run %s:ends out=zeros:12 --grid 1 --print out
// CHECK: 0: 65504 6.104e-05 6e-08 0.000977
// CHECK-NEXT: 4: inf nan 2048 -0
// CHECK-NEXT: 8: 1 0.3333 10 -2
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#ifndef cl_khr_fp16
#error half is there
#endif

kernel void mixed(half s, half2 v, global const half *x, global half *y) {
  int i = get_global_id(0);
  half sum = s, kept[4];
  for (int k = 0; k < 4; k++) kept[k] = v.x * k;
  for (int k = 0; k < 2; k++) sum += s;
  y[i] = kept[i] * x[i] + sum * (half)(x[i] < v.y ? 1 : 0);
  if (i == 1) y[i] = y[i] + 1.3h;
  if (i >= 3) y[i] = kept[2] * 3;
}

// To the nearest, towards zero, up and down.
kernel void rounded(global const int *x, global ushort *e, global ushort *z, global ushort *p,
                    global ushort *n) {
  int i = get_global_id(0);
  float numbers[4] = {0.1f, -0.1f, 4097, 65520};
  float f = numbers[x[i]];
  e[i] = as_ushort(convert_half_rte(f));
  z[i] = as_ushort(convert_half_rtz(f));
  p[i] = as_ushort(convert_half_rtp(f));
  vstore_half_rtn(f, i, (global half *)n);
}

kernel void ends(global half *out) {
  out[0] = HALF_MAX;
  out[1] = HALF_MIN;
  out[2] = as_half((ushort)1);
  out[3] = HALF_EPSILON;
  out[4] = (half)70000.0f;
  out[5] = sqrt(-(half)1);
  out[6] = (half)2048 + (half)1; // a tie, to even
  out[7] = -(half)0;
  out[8] = isnormal(HALF_MIN) && !isnormal(as_half((ushort)1023)) && sizeof(half3) == 8;
  out[9] = (half)1 / (half)3;
  out[10] = dot((half4)(1, 2, 3, 4), (half4)(1, 0, 3, 0));
  out[11] = min((half)-2, (half)3);
}
