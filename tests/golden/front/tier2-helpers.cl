// Functions of the source are inlined; returns in their middle, in loops and in loops in loops.
// RUN: clcompare %s:simple --grid 256 x=rand:256 y=zeros:256
// RUN: clcompare %s:returns --grid 256 x=rand:256:-50:50 y=zeros:256
// RUN: clcompare %s:searches --grid 256 x=rand:1024:0:20 y=zeros:512
// RUN: clcompare %s:pointers --grid 64 x=rand:256 y=zeros:256
// CHECK: simple: ok
// CHECK: returns: ok
// CHECK: searches: ok
// CHECK: pointers: ok
float square(float x) { return x * x; }
float poly(float x) {
  float y = square(x);
  y += square(y + 1.0f);
  return y - x;
}
kernel void simple(global const float *x, global float *y) {
  int i = get_global_id(0);
  y[i] = poly(x[i]) + square(poly(0.5f));
}

int classify(int v) {
  if (v < -20) return 0;
  if (v < 0) {
    if (v % 2) return 1;
    v = -v;
  } else if (v > 30)
    return 2;
  v += 3;
  if (v > 10) return v;
  return -v;
}
kernel void returns(global const int *x, global int *y) {
  int i = get_global_id(0);
  y[i] = classify(x[i]);
}

// The first even number at or after `from`, else -1.
int find_even(global const int *x, int from, int count) {
  for (int i = from; i < from + count; i++) {
    if (x[i] % 2 == 0) return i;
  }
  return -1;
}
int find_pair(global const int *x, int count) {
  for (int i = 0; i < count; i++) {
    int j = 0;
    while (true) {
      if (j >= count) break;
      if (i != j && x[i] == x[j]) return i * 10 + j;
      j++;
    }
    if (x[i] > 18) return 100;
  }
  return 99;
}
kernel void searches(global const int *x, global int *y) {
  int i = get_global_id(0);
  y[2 * i] = find_even(x, 4 * i, 4);
  y[2 * i + 1] = find_pair(x + 4 * i, 4);
}

void split(float v, float *whole, float *rest) {
  *whole = floor(v);
  *rest = v - *whole;
}
void add_to(global float *p, float v) { *p += v; }
kernel void pointers(global const float *x, global float *y) {
  int i = get_global_id(0);
  float a, b;
  split(x[4 * i], &a, &b);
  y[4 * i] = a;
  y[4 * i + 1] = b;
  float c[2];
  split(x[4 * i + 1], c, c + 1);
  y[4 * i + 2] = c[0];
  add_to(&y[4 * i + 2], c[1]);
  add_to(y + 4 * i + 3, 2.0f);
}
