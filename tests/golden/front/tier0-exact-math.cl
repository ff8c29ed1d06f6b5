// Functions that have one right answer: rounding, remainders, parts of floats, minimum and maximum.
// RUN: clcompare %s:rounding --grid 512 x=rand:512:-40:40 o=zeros:4096
// RUN: clcompare %s:parts --grid 512 x=bits:512 y=rand:512:-4:4 o=zeros:8192 k=zeros:1024
// RUN: clcompare %s:remainders --grid 512 x=rand:512:-90:90 y=rand:512:0.1:7 o=zeros:2048 k=zeros:512
// RUN: clcompare %s:halves --grid 64 x=iota:64 o=zeros:512
// CHECK: rounding: ok
// CHECK: parts: ok
// CHECK: remainders: ok
// CHECK: halves: ok
kernel void rounding(global const float *x, global float *o) {
  int i = get_global_id(0);
  global float *p = o + i * 8;
  p[0] = floor(x[i]);
  p[1] = ceil(x[i]);
  p[2] = trunc(x[i]);
  p[3] = round(x[i]);
  p[4] = rint(x[i]);
  p[5] = fabs(x[i]);
  p[6] = fma(x[i], x[i], 1.0f / 3.0f);
  p[7] = sqrt(fabs(x[i])) / 3.0f;
}
kernel void parts(global const float *x, global const float *y, global float *o, global int *k) {
  int i = get_global_id(0), e;
  float whole;
  global float *p = o + i * 16;
  p[0] = frexp(x[i], &e);
  k[2 * i] = e;
  k[2 * i + 1] = ilogb(x[i]);
  p[1] = ldexp(y[i], e / 4);
  p[2] = logb(x[i]);
  p[3] = copysign(x[i], y[i]);
  p[4] = nextafter(x[i], y[i]);
  p[5] = fdim(x[i], y[i]);
  p[6] = fmax(x[i], y[i]);
  p[7] = fmin(x[i], y[i]);
  p[8] = maxmag(x[i], y[i]);
  p[9] = minmag(x[i], y[i]);
  p[10] = modf(y[i], &whole);
  p[11] = whole;
  p[12] = fract(y[i], &whole);
  p[13] = whole;
  p[14] = ldexp(x[i], -20);
  p[15] = ldexp(x[i], 100);
}
kernel void remainders(global const float *x, global const float *y, global float *o, global int *k) {
  int i = get_global_id(0), q;
  global float *p = o + i * 4;
  p[0] = fmod(x[i], y[i]);
  p[1] = remainder(x[i], y[i]);
  p[2] = remquo(x[i], y[i], &q);
  p[3] = remainder(x[i], 4.0f);
  k[i] = q & 7;
}
kernel void halves(global const float *x, global float *o) {
  int i = get_global_id(0);
  float v = (x[i] - 32.0f) * 0.5f;
  global float *p = o + i * 8;
  p[0] = round(v);
  p[1] = rint(v);
  p[2] = remainder(v, 1.0f);
  p[3] = sign(v);
  p[4] = step(0.0f, v);
  p[5] = clamp(v, -3.0f, 3.0f);
  p[6] = min(v, 2.0f);
  p[7] = max(v, 2.0f);
}
