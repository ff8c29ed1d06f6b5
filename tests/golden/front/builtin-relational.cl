// Relations: 1 for numbers, -1 for lanes; any, all, select by the most significant bit, NaN.
// RUN: clcompare %s:scalars --grid 64 a=list:1,2,-3,0.5,-0.0,0,1e-42,3e38,1,2,-3,0.5,-0.0,0,1e-42,3e38,1,2,-3,0.5,-0.0,0,1e-42,3e38,1,2,-3,0.5,-0.0,0,1e-42,3e38,1,2,-3,0.5,-0.0,0,1e-42,3e38,1,2,-3,0.5,-0.0,0,1e-42,3e38,1,2,-3,0.5,-0.0,0,1e-42,3e38,1,2,-3,0.5,-0.0,0,1e-42,3e38 b=rand:64 o=zeros:1024
// RUN: clcompare %s:lanes --grid 64 a=rand:64 b=rand:64 o=zeros:1024
// RUN: clcompare %s:masks --grid 64 a=bits:64 b=bits:64 c=bits:64 o=zeros:512
// CHECK: scalars: ok
// CHECK: lanes: ok
// CHECK: masks: ok
kernel void scalars(global const float *a, global const float *b, global int *o) {
  int i = get_global_id(0);
  float x = a[i], y = b[i], inf = x * 1e38f * 1e38f, none = inf - inf;
  if (i % 5 == 0) x = inf;
  if (i % 7 == 0) x = none;
  global int *p = o + 16 * i;
  p[0] = isequal(x, y) + 2 * isnotequal(x, y);
  p[1] = isgreater(x, y) + 2 * isgreaterequal(x, y);
  p[2] = isless(x, y) + 2 * islessequal(x, y);
  p[3] = islessgreater(x, y);
  p[4] = isfinite(x);
  p[5] = isinf(x);
  p[6] = isnan(x);
  p[7] = isnormal(x);
  p[8] = isordered(x, y);
  p[9] = isunordered(x, y);
  p[10] = i % 7 ? signbit(x) : 0;
  p[11] = (x < y) + 2 * (x >= y) + 4 * (x != y);
  p[12] = any(i - 20) + 2 * all(i - 20);
  p[13] = select(i, -i, i * 7 & 4);
  p[14] = isequal((double)x, 2.0);
  p[15] = fmax(x, y) == y;
}
kernel void lanes(global const float4 *a, global const float4 *b, global int4 *o) {
  int i = get_global_id(0);
  float4 x = a[i], y = b[i];
  global int4 *p = o + 16 * i;
  p[0] = isequal(x, y) | isnotequal(x, x.yxwz);
  p[1] = isgreater(x, y);
  p[2] = islessequal(x, y);
  p[3] = isfinite(x) & isnormal(y);
  p[4] = signbit(x);
  p[5] = (int4)(any(x > y), all(x > y), any(x.xy > 100.0f), all(x.xy < 100.0f));
  p[6] = convert_int4(select(x, y, isless(x, y)));
  p[7] = x > y ? (int4)(1) : (int4)(2);
  p[8] = convert_int4(isless(convert_double4(x), convert_double4(y)));
  p[9] = as_int4(bitselect(x, y, as_float4(p[1])));
  p[10] = x < 0.0f;
  p[11] = !(x < 0.0f);
}
kernel void masks(global const uint4 *a, global const uint4 *b, global const uint4 *c,
                  global uint4 *o) {
  int i = get_global_id(0);
  global uint4 *p = o + 8 * i;
  p[0] = select(a[i], b[i], c[i]);
  p[1] = shuffle(a[i], c[i] & 3);
  p[2] = shuffle2(a[i], b[i], c[i]);
  p[3] = (uint4)(shuffle(a[i], (uint2)(3, 1)), shuffle2(a[i].xy, b[i].zw, (uint2)(2, 1)));
  p[4] = shuffle((uint8)(a[i], b[i]), c[i]);
  p[5] = (uint4)(vec_step(a[i]), vec_step(uchar3), vec_step(i), sizeof(uint3));
}
