// Private arrays: of one and two dimensions, initialised in part, passed to functions.
// RUN: clcompare %s:histogram --grid 32 x=rand:512:0:16 o=zeros:512
// RUN: clcompare %s:matrix --grid 32 x=rand:288 o=zeros:288
// RUN: clcompare %s:initial --grid 32 o=zeros:320
// CHECK: histogram: ok
// CHECK: matrix: ok
// CHECK: initial: ok
kernel void histogram(global const int *x, global int *o) {
  int g = get_global_id(0), count[16];
  for (int i = 0; i < 16; i++) count[i] = 0;
  for (int i = 0; i < 16; i++) count[x[16 * g + i]]++;
  for (int i = 0; i < 16; i++) o[16 * g + i] = count[i];
}
void multiply(const float *a, const float b[3][3], float *c) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      float s = 0;
      for (int k = 0; k < 3; k++) s += a[3 * i + k] * b[k][j];
      c[3 * i + j] = s;
    }
}
kernel void matrix(global const float *x, global float *o) {
  int g = get_global_id(0);
  float m[9], n[3][3], r[9];
  for (int i = 0; i < 9; i++) m[i] = x[9 * g + i];
  for (int i = 0; i < 9; i++) n[i / 3][i % 3] = x[9 * g + 8 - i];
  multiply(m, n, r);
  for (int i = 0; i < 9; i++) o[9 * g + i] = r[i];
}
kernel void initial(global int *o) {
  int g = get_global_id(0);
  int a[8] = {1, 2, 3}, b[2][3] = {{1}, {4, 5}}, c[] = {7, 8, 9}, d[4] = {[2] = 5, 6};
  int s = 0;
  for (int i = 0; i < 8; i++) s = s * 3 + a[(i + g) % 8];
  o[10 * g] = s;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) s = s * 5 + b[i][j];
  o[10 * g + 1] = s;
  o[10 * g + 2] = c[g % 3] + sizeof(c);
  o[10 * g + 3] = d[g % 4];
  a[g % 8] = g;
  o[10 * g + 4] = a[(g + 3) % 8];
}
