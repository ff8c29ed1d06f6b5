// Pointers as a base and an offset: arithmetic, differences, comparisons, moving pointers.
// RUN: clcompare %s:walk --grid 64 n=16 x=rand:1024 y=zeros:256
// RUN: clcompare %s:compare --grid 64 x=rand:256 o=zeros:512
// CHECK: walk: ok
// CHECK: compare: ok
kernel void walk(int n, global const float *x, global float *y) {
  int g = get_global_id(0);
  global const float *p = x + g * n, *end = p + n;
  float s = 0, t = 0;
  while (p < end) s += *p++;
  for (p = x + g * n; p != end; p += 2) t += p[1] - *p;
  y[4 * g] = s;
  y[4 * g + 1] = t;
  --p;
  y[4 * g + 2] = *p * p[-1];
  global float *q = &y[4 * g + 3];
  *q = end[-1];
  *q += (x + g)[n];
}
kernel void compare(global const float *x, global int *o) {
  int g = get_global_id(0);
  global const float *a = x + g, *b = &x[2 * g + 1], *none = 0;
  global int *p = o + 8 * g;
  p[0] = b - a;
  p[1] = a < b;
  p[2] = a == b;
  p[3] = a + g + 1 == b;
  p[4] = none == 0;
  p[5] = a != 0;
  p[6] = a ? 5 : 6;
  p[7] = !none;
}
