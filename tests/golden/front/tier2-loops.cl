// while, do, for in all its forms; counters that go down, by steps, of other types, used afterwards.
// RUN: clcompare %s:forms --grid 64 n=17 o=zeros:1024
// RUN: clcompare %s:steps --grid 64 n=100 o=zeros:1024
// RUN: clcompare %s:jumps --grid 128 x=rand:128:0:64 o=zeros:768
// CHECK: forms: ok
// CHECK: steps: ok
// CHECK: jumps: ok
kernel void forms(int n, global int *o) {
  int g = get_global_id(0), i, s = 0;
  global int *p = o + 16 * g;
  for (i = 0; i < n; i++) s += i * g;
  p[0] = s;
  p[1] = i;
  for (i = n; i > 0; --i) s ^= i;
  p[2] = s + i;
  for (i = n - 1; i >= 0; i--) s = s * 3 + i;
  p[3] = s;
  s &= 0xfffff;
  while (s > 100) s >>= 1;
  p[4] = s;
  do {
    s += 7;
  } while (s < 200);
  p[5] = s;
  for (;;) {
    if (s & 8) break;
    s++;
  }
  p[6] = s;
  for (i = 0; i < 3;) i += 2;
  p[7] = i;
  for (int a = 0, b = 10; a < b; a++, b--) s += a * b;
  p[8] = s;
  int k = 5;
  for (; k < g; k++) s += k;
  p[9] = s + k;
  for (uchar c = 250; c > 3; c += 3) s++;
  p[10] = s;
  for (long q = 0; q < g; q += 4) s += q;
  p[11] = s;
  for (float f = 0; f < 1.0f; f += 0.25f) s += 1;
  p[12] = s;
  for (int u = -3; u <= 3; u++) s += u * u;
  p[13] = s;
  for (int v = 0; v < n; v++) {
    n = n - 1;
    s++;
  }
  p[14] = s;
}
kernel void steps(uint n, global uint *o) {
  uint g = get_global_id(0), s = 0;
  global uint *p = o + 16 * g;
  for (uint i = g; i < n; i += get_local_size(0)) s += i;
  p[0] = s != 0;
  for (uint i = g; i < n; i += get_global_size(0)) s += 1;
  p[1] = s > 0;
  s = 0;
  for (int i = 0; i < n; i += 7) s += i;
  p[2] = s;
  int i;
  for (i = 1; i <= 20; i = i + 6) s += i;
  p[3] = s + i;
  for (i = 30; i >= -4; i -= 5) s += i;
  p[4] = s + i;
  for (ushort k = 3; n > k; k++) s += k;
  p[5] = s;
  for (size_t k = 0; k < get_global_size(0) - g; ++k) s += (uint)k;
  p[6] = s;
}
kernel void jumps(global const int *x, global int *o) {
  int g = get_global_id(0), v = x[g], s = 0;
  global int *p = o + 6 * g;
  for (int i = 0; i < 20; i++) {
    if (i == v) break;
    if (i % 3 == 0) continue;
    s += i;
  }
  p[0] = s;
  int i = 0;
  while (i < 40) {
    i++;
    if (i & 1) continue;
    if (i > v) break;
    s += i;
  }
  p[1] = s;
  do {
    i -= 3;
    if (i % 2) continue;
    s -= i;
    if (s < 0) break;
  } while (i > 0);
  p[2] = s + i;
  int a = 0;
  for (a = v; a < 100; a = a * 2 + 1) {
    if (a % 5 == 0) continue;
    if (a > 70) break;
    s += a;
  }
  p[3] = s + a;
  for (int y = 0; y < 5; y++) {
    for (int z = 0; z < 5; z++) {
      if (z > y) break;
      if ((z + v) % 3 == 0) continue;
      s += z * y;
    }
    if (s > 500) break;
  }
  p[4] = s;
  int steps = 0;
  for (uint n = v + 1; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) {
    if (++steps > 50) break;
  }
  p[5] = steps;
}
