// convert_: saturation and the modes of rounding, between all kinds of types.
// RUN: clcompare %s:from_float --grid 256 x=rand:256:-300:300 o=zeros:4096
// RUN: clcompare %s:large --grid 256 x=rand:256:-1e10:1e10 o=zeros:2048
// RUN: clcompare %s:from_int --grid 256 x=bits:256 o=zeros:4096
// RUN: clcompare %s:to_float --grid 256 x=bits:256 y=bits:256 o=zeros:4096
// RUN: clcompare %s:narrow --grid 256 x=rand:256:-1e5:1e5 o=zeros:1024
// CHECK: from_float: ok
// CHECK: large: ok
// CHECK: from_int: ok
// CHECK: to_float: ok
// CHECK: narrow: ok
kernel void from_float(global const float *x, global int *o) {
  int i = get_global_id(0);
  float v = x[i];
  global int *p = o + 16 * i;
  p[0] = convert_int(v);
  p[1] = convert_int_rte(v);
  p[2] = convert_int_rtp(v);
  p[3] = convert_int_rtn(v);
  p[4] = convert_int_rtz(v);
  p[5] = convert_uchar_sat(v);
  p[6] = convert_char_sat_rte(v);
  p[7] = convert_ushort_sat_rtp(v);
  p[8] = convert_short_rtn(v);
  p[9] = convert_int_sat(v * 1e9f);
  p[10] = convert_uint_sat(v * 1e9f);
  int4 w = convert_int4_rte((float4)(v, -v, v * 0.5f, 2.5f));
  p[11] = w.x + w.y + w.z + w.w;
  uchar4 c = convert_uchar4_sat((float4)(v, v + 1, -v, 99.5f));
  p[12] = c.x + c.y + c.z + c.w;
  p[13] = convert_int_rte(i - 128 + 0.5f);
}
kernel void large(global const double *x, global long *o) {
  int i = get_global_id(0);
  double v = x[i];
  global long *p = o + 8 * i;
  p[0] = convert_long_rte(v);
  p[1] = convert_int_sat(v);
  p[2] = convert_uint_sat_rtp(v);
  p[3] = convert_ulong_sat(v);
  p[4] = convert_long_sat(v * 1e12);
  p[5] = convert_ulong_sat(v * 1e12);
  p[6] = convert_short_sat(v);
}
kernel void from_int(global const int *x, global int *o) {
  int i = get_global_id(0), v = x[i];
  global int *p = o + 16 * i;
  p[0] = convert_char_sat(v);
  p[1] = convert_uchar_sat(v);
  p[2] = convert_short_sat(v);
  p[3] = convert_ushort_sat(v);
  p[4] = convert_uint_sat(v);
  p[5] = convert_char(v);
  p[6] = convert_uchar_sat((uint)v);
  p[7] = convert_int_sat((uint)v);
  p[8] = convert_int_sat((long)v * 3);
  p[9] = convert_char_sat((ulong)(uint)v);
  p[10] = (int)convert_ulong_sat((long)v);
  p[11] = convert_short_sat((uint)v);
  char4 c = convert_char4_sat((int4)(v, -v, v >> 24, 200));
  p[12] = c.x + c.y + c.z + c.w;
  p[13] = convert_int((uchar)v) + convert_uint((char)v);
}
kernel void to_float(global const int *x, global const long *y, global float *o) {
  int i = get_global_id(0), v = x[i];
  long w = y[i];
  global float *p = o + 16 * i;
  p[0] = convert_float(v);
  p[1] = convert_float_rtz(v);
  p[2] = convert_float_rtp(v);
  p[3] = convert_float_rtn(v);
  p[4] = convert_float_rte(w);
  p[5] = convert_float_rtz(w);
  p[6] = convert_float_rtp(w);
  p[7] = convert_float_rtn(w);
  p[8] = convert_float((ulong)w);
  p[9] = convert_float_rtz((uint)v);
  p[10] = convert_float2((char2)(v, v >> 8)).y;
  p[11] = (float)convert_double_rtz(w);
  // What is nearest to the last ones does not fit their type.
  p[12] = convert_float_rtz(INT_MAX - i);
  p[13] = convert_float_rtn(UINT_MAX - i);
  p[14] = convert_float_rtz(ULONG_MAX - i) + convert_float_rtn(LONG_MAX - i);
  p[15] = convert_float_rtp(INT_MIN + i);
}
kernel void narrow(global const double *x, global float *o) {
  int i = get_global_id(0);
  double v = x[i] * 1.0000001;
  o[4 * i] = convert_float_rte(v);
  o[4 * i + 1] = convert_float_rtz(v);
  o[4 * i + 2] = convert_float_rtp(v);
  o[4 * i + 3] = convert_float_rtn(v);
}
