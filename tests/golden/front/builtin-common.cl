// Common and geometric functions. mix, dot and what is built on them are sums of products, which the
// driver fuses.
// RUN: clcompare %s:common --grid 256 a=rand:256 b=rand:256 c=rand:256:0:1 o=zeros:4096
// RUN: clcompare %s:sums --grid 256 --ulp 64 a=rand:256:1:4 b=rand:256:1:4 o=zeros:4096
// RUN: clcompare %s:doubles --grid 64 a=rand:64 b=rand:64 o=zeros:512
// CHECK: common: ok
// CHECK: sums: ok
// CHECK: doubles: ok
kernel void common(global const float *a, global const float *b, global const float *c,
                   global float *o) {
  int i = get_global_id(0);
  float x = a[i], y = b[i], t = c[i];
  global float *p = o + 16 * i;
  p[0] = clamp(x, -1.0f, 2.0f);
  p[1] = min(x, y);
  p[2] = max(x, y);
  p[3] = step(x, y);
  p[4] = sign(x);
  float4 v = clamp((float4)(x, y, t, x + y), -1.0f, 1.0f);
  p[5] = v.x + v.w;
  p[6] = max((float2)(x, y), 0.5f).x;
  p[7] = sign((float2)(0.0f, -0.0f)).y;
  p[8] = fmax((float4)(x, y, t, 0), 1.0f).y;
  p[9] = fmin((float2)(x, y), t).y;
  p[10] = step((float2)(x), (float2)(y, t)).y;
  p[11] = mad(2.0f, 3.0f, 0.5f);
}
kernel void sums(global const float4 *a, global const float4 *b, global float *o) {
  int i = get_global_id(0);
  float4 x = a[i], y = b[i];
  global float *p = o + 16 * i;
  p[0] = mix(x.x, y.x, 0.25f);
  p[1] = dot(x, y);
  p[2] = dot(x.xy, y.xy);
  p[3] = dot(x.xyz, y.xyz);
  p[4] = length(x);
  p[5] = distance(x.xy, y.zw + 8.0f);
  p[6] = fast_length(y.xyz);
  p[7] = normalize(x).z;
  p[8] = fast_normalize(x.xy).y;
  p[9] = smoothstep(0.0f, 5.0f, x.x);
  p[10] = degrees(x.y);
  p[11] = radians(x.y);
  p[12] = mix(x, y, 0.5f).w;
  p[13] = fast_distance(x.x, -y.x);
  p[14] = length(-x.x) + dot(x.x, y.x);
  p[15] = mad(x.x, y.x, x.y);
}
kernel void doubles(global const double *a, global const double *b, global double *o) {
  int i = get_global_id(0);
  double x = a[i], y = b[i];
  global double *p = o + 8 * i;
  p[0] = clamp(x, -1.0, 2.0);
  p[1] = fmin(x, y);
  p[2] = sign(x);
  p[3] = step(x, y);
  p[4] = floor(x) + rint(y);
  p[5] = ldexp(x, (int)y);
  p[6] = fma(x, y, x);
  p[7] = copysign(x, y);
}
