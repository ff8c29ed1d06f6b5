// Statements and operators with all their ways: compound assignments of every pair of types, loops
// that count and loops that do not, switches that fall through and continue, effects in their order.
// RUN: clcompare %s:assign --grid 64 x=rand:64:-3:3 o=zeros:640
// RUN: clcompare %s:loops --grid 32 text=list:97,98,99,97,100,59,97,1,2,3,4,5 o=zeros:32 n=12
// RUN: clcompare %s:switches --grid 64 x=rand:64:0:300 o=zeros:64
// RUN: clcompare %s:orders --grid 64 x=rand:64:0:300 o=zeros:64
// CHECK: assign: ok
// CHECK: loops: ok
// CHECK: switches: ok
// CHECK: orders: ok
kernel void assign(global const float *x, global int *o) {
  int i = get_global_id(0);
  float f = x[i];
  char c = 7; c *= 2.5f; c += f; c -= 1000000L; c ^= 300; c <<= 1; c %= 5;
  uchar u = 200; u += 10.75f; u >>= 1; u *= u; u /= 3; u |= -1 - c; u -= 0.5;
  short s = 32000; s += 1000; s *= -3; s /= 7u; s -= (uint)5; s &= 0xfff0fL;
  int n = i; n += 1.7f; n *= 2.9; n -= 5000000000L; n /= 3u; n >>= (char)33 & 31; n = -n % 100u;
  uint k = i; k -= 20; k /= 2; k += -3; k = k > -1 ? k : 4; k *= 1.5f;
  long l = n; l *= 0x7fffffff; l += k; l >>= 3; l -= u; l |= (ulong)1 << 40; l /= -7;
  float g = i; g += 1; g /= 3; g *= i; g -= 0.1; g += l;
  double d = g; d /= 3; d += f; d = (float)d;
  bool b = f; b += 1; b = !b | (d > 0); b ^= (i & 1); 
  o[i * 10] = c; o[i * 10 + 1] = u; o[i * 10 + 2] = s; o[i * 10 + 3] = n; o[i * 10 + 4] = k;
  o[i * 10 + 5] = (int)(l ^ (l >> 32)); o[i * 10 + 6] = as_int(g); o[i * 10 + 7] = as_int((float)d); o[i * 10 + 8] = b;
  uint2 v = (uint2)(i, i + 1); v += 3; v *= (uint2)(2, 5); v <<= 1; v ^= v.yx; v++; --v.x;
  o[i * 10 + 9] = v.x + v.y;
}
kernel void loops(global const char *text, global int *o, int n) {
  int i = get_global_id(0), r = 0, j;
  for (int k = 0; text[k] != ';' && k < n; k++) r += k;
  for (j = 0;; j++) { if (j > i) break; r += 2; }
  for (; j > 0;) { j -= 2; r ^= j; }
  for (;;) { if (++j > 3) break; }
  for (uint k = n; k-- > 0;) r = r * 3 + k;
  for (int k = n - 1; k >= 0; --k) r += text[k] * k;
  for (uchar c = 0; c < 200; c += 50) r += c;
  for (float f = 0; f < 1; f += 0.25f) r += (int)(f * 8);
  for (int k = 0, m = n; k < m; k++) { if (text[k] == 'a') m--; r += m; }
  for (int k = 0; k < n; k++) { if (k == 3) k += 2; r ^= k << 3; }
  for (long k = 10; k > -10; k -= 3) r += (int)k;
  for (int k = 1; k < 1000; k *= 2) r += k;
  for (int k = 0; k != 12; k += 4) r -= k;
  for (ushort k = 3; k; k--) r += k;
  int last = 5; for (int k = 0; k <= last; k++) { last = 4; r += 7; }
  int q = 0; do { if (q == 2) continue; r += q; } while (q++ < 4);
  while (r > 100000) { r /= 2; if (r & 1) continue; r -= 3; }
  for (int a = 0; a < 3; a++) for (int b = a; b < 3; b++) { if (b == 1) continue; if (a == 2) break; r += a * b; }
  o[i] = r;
}
kernel void switches(global const int *x, global int *o) {
  int i = get_global_id(0), r = 0;
  for (int k = 0; k < 12; k++) {
    switch ((x[i] + k) % 9 - 2) {
      int hidden;
    case -2: r += 1; break;
    default: r ^= 77;
    case 3: hidden = k; r += hidden; break;
    case 1: case 2: if (k & 1) break; r += 1000;
    case 0: { int t = 4; r -= t; } continue;
    case 5: switch (k & 3) { case 0: r++; break; case 1: continue; default: r += 5; } break;
    case 6: while (1) { if (r > 50) break; r += 20; } r++; break;
    }
    r += 100000;
    switch ((long)k << 33) { case 1L << 33: r += 3; break; case 5L << 33: return; }
    switch ((uchar)(x[i] * 3)) { case 255: r++; case 'a': r += 2; break; case 0: ; }
  }
  o[i] = r;
}
int side(int *p, int v) { *p += v; return *p & 1; }
kernel void orders(global int *x, global int *o) {
  int i = get_global_id(0), a = x[i], b = 1, c = 0, t[6] = {1, 2, 3, 4, 5, 6};
  int *p = t, *q = &t[5];
  if (a && b++ || side(&c, 3)) c += 100;
  int cc = (a & 2) ? side(&b, 5) : side(&c, 7) && side(&b, 1); c += cc;
  *p++ += 4; (*p)++; *++p *= 3; c += *--p + p[1] + *(p + 2) + q[-1] + (int)(q - p) + (p < q) + (&t[3] - t);
  c += t[c & 3]++ + --t[5]; q -= 2; *q-- = c; c ^= q[1] + *q;
  p = a & 1 ? t : q; *p += 9; c += p == t; p = p == t ? p + 1 : p; c += *p;
  struct { int a[2]; int2 v; struct { short x, y; } in[2]; } s = {1, 2, (int2)(3, 4), 5, 6, 7}, z = s, *w = &s;
  w->in[1].y = s.a[a & 1]; z.v.y += w->v.x; s = z; c += s.in[1].x + w->in[1].y + z.v.y + s.a[1];
  int m[2][3] = {1, 2, 3, 4}, n[2][2] = {{1}, {2, 3}}, d[5] = {[3] = 7, 8, [0] = 2};
  c += m[a & 1][i % 3] + n[1][1] + n[a & 1][0] + d[a % 5 & 3] + d[4];
  int x2 = 3, y2 = (x2 = 5, x2 + 1); c = c * 2 + (x2 > y2 ? x2 : y2 > 3 ? a ? 1 : 2 : 3);
  o[i] = c; o[i] += b << 8;
}
