// Pointers that may point into one of several objects, null among them; pointers in structures and
// arrays.
// RUN: clcompare %s:ping_pong --grid 64 n=5 a=rand:64 b=rand:64
// RUN: clcompare %s:choose --grid 64 a=rand:64 b=rand:64 c=bits:64 o=zeros:256
// RUN: clcompare %s:private_ones --grid 64 o=zeros:192
// RUN: clcompare %s:in_structures --grid 64 a=rand:64 b=rand:64 o=zeros:192
// CHECK: ping_pong: ok
// CHECK: choose: ok
// CHECK: private_ones: ok
// CHECK: in_structures: ok
// RUN: clcompare %s:in_union --grid 4 x=zeros:4 o=zeros:8 which=0
// RUN: clcompare %s:in_union --grid 4 x=zeros:4 o=zeros:8 which=2
// CHECK: in_union: ok
// CHECK: in_union: ok
kernel void ping_pong(int n, global float *a, global float *b) {
  int i = get_global_id(0);
  global float *from = a, *to = b;
  for (int k = 0; k < n; k++) {
    to[i] = from[i] * 1.5f + k;
    global float *t = from;
    from = to;
    to = t;
  }
}
global const float *largest(global const float *p, global const float *q, int i) {
  if (p[i] > q[i]) return p + i;
  return q + i;
}
kernel void choose(global const float *a, global const float *b, global const int *c,
                   global float *o) {
  int i = get_global_id(0);
  global const float *p = i & 1 ? a : b;
  o[4 * i] = p[i];
  o[4 * i + 1] = *largest(a, b, i);
  global const float *q = 0;
  if (i % 3 == 0) q = a + 1;
  if (i % 3 == 1) q = b;
  o[4 * i + 2] = q ? q[i % 7] : -1.0f;
  o[4 * i + 3] = (p == a) + 2 * (p != b) + 4 * (q == 0);
}
kernel void private_ones(global int *o) {
  int i = get_global_id(0), x = 1, y = 2, z[4] = {3, 4, 5, 6};
  int *p = i & 1 ? &x : &y;
  *p += 10;
  o[3 * i] = x + 100 * y;
  p = i % 3 ? p : z + 1;
  p[0] += 1000;
  o[3 * i + 1] = x + y + z[1];
  o[3 * i + 2] = *p;
}
typedef struct {
  global const float *data;
  int step;
} view;
float total(view v) {
  float s = 0;
  for (int k = 0; k < 4; k++) s += v.data[k * v.step];
  return s;
}
kernel void in_structures(global const float *a, global const float *b, global float *o) {
  int i = get_global_id(0) % 16;
  view v = {a + i, 2};
  o[3 * get_global_id(0)] = total(v);
  v.data = b;
  v.step = i + 1;
  o[3 * get_global_id(0) + 1] = total(v);
  global const float *rows[3] = {a, b, a + 8};
  o[3 * get_global_id(0) + 2] = rows[i % 3][i];
}

// A pointer that is one of two kinds, in a structure that is passed on.
typedef struct {
  union {
    global float4 *v;
    global float *f;
  } at;
  int n;
} with_union;
void put_union(with_union *u, float x) {
  u->at.f[1] = x;
  u->n++;
}
kernel void in_union(global float4 *x, global float *o, int which) {
  with_union u;
  int i = get_global_id(0);
  u.at.v = x + i;
  u.n = 3;
  put_union(&u, 7.0f);
  if (i < which) u.at.f = o + 6;
  o[i] = u.at.f[1] + u.n;
}
