// A host that rounds its grid up guards with an if: what lies past the guard is left alone.
// RUN: clcompare %s:guarded --grid 1024 n=1000 x=rand:1024 y=rand:1024
// RUN: clcompare %s:early --grid 1024 n=1000 x=rand:1024 y=rand:1024
// CHECK: guarded: ok
// CHECK: early: ok
kernel void guarded(uint n, global const float *x, global float *y) {
  uint i = get_global_id(0);
  if (i < n) y[i] = x[i] * 0.5f;
}
kernel void early(int n, global const float *x, global float *y) {
  int i = get_global_id(0);
  if (i >= n) return;
  y[i] = x[i] - 1.0f;
}
