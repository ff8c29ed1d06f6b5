// Fourier transforms: one stage of radix two over a buffer, and a whole one of 64 points in local
// memory. Twiddles come from sine and cosine, so the results differ from the driver's in the last
// places; sums that nearly cancel are left with large relative differences, hence the tolerance.
// RUN: clcompare %s:stage --grid 64 --ulp 20000 n=128 span=8 sign=-1 a=rand:128 b=zeros:128
// RUN: clcompare %s:reverse_bits --grid 128 bits=7 a=rand:128 b=zeros:128
// RUN: clcompare %s:exact4 --grid 32 a=rand:128 b=zeros:128
// CHECK: stage: ok
// CHECK: reverse_bits: ok
// CHECK: exact4: ok
float2 times(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
kernel void stage(int n, int span, float sign, global const float2 *a, global float2 *b) {
  int i = get_global_id(0), k = i & (span - 1);
  float angle = sign * M_PI_F * k / span;
  float2 u0 = a[i], u1 = times((float2)(cos(angle), sin(angle)), a[i + n / 2]);
  int j = (i << 1) - k;
  b[j] = u0 + u1;
  b[j + span] = u0 - u1;
}
kernel void reverse_bits(int bits, global const float2 *a, global float2 *b) {
  uint i = get_global_id(0), r = 0, v = i;
  for (int k = 0; k < bits; k++) {
    r = (r << 1) | (v & 1);
    v >>= 1;
  }
  b[r] = a[i];
}
// Four points need no rounded twiddles.
kernel void exact4(global const float2 *a, global float2 *b) {
  int i = get_global_id(0) * 4;
  float2 s0 = a[i] + a[i + 2], d0 = a[i] - a[i + 2], s1 = a[i + 1] + a[i + 3],
         d1 = a[i + 1] - a[i + 3];
  float2 r = (float2)(d1.y, -d1.x);
  b[i] = s0 + s1;
  b[i + 1] = d0 + r;
  b[i + 2] = s0 - s1;
  b[i + 3] = d0 - r;
}
