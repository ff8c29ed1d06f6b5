// Constants at file scope: arrays with a computed index are filled once by a region of their own,
// with a constant index they are numbers; also const arrays in a kernel.
// RUN: clcompare %s:weights --grid 64 x=rand:70 y=zeros:64
// RUN: clcompare %s:tables --grid 64 o=zeros:256
// CHECK: weights: ok
// CHECK: tables: ok
constant float w[7] = {0.1f, -0.2f, 0.3f, 1.0f, 0.3f, -0.2f, 0.1f};
constant int answer = 42;
constant uchar4 colours[3] = {(uchar4)(1, 2, 3, 4), (uchar4)(5), (uchar4)(9, 8, 7, 6)};
typedef struct {
  int a;
  float b;
} entry;
constant entry entries[] = {{1, 0.5f}, {2, 1.5f}, {.b = 3.5f}};
constant int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
kernel void weights(global const float *x, global float *y) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k < 7; k++) s += w[k] * x[i + k];
  y[i] = s + w[3];
}
int look_up(constant int *t, int i) { return t[i]; }
kernel void tables(global int *o) {
  const int local_table[4] = {3, 1, 4, 1};
  int i = get_global_id(0);
  o[4 * i] = answer + colours[i % 3].z + colours[1].x;
  o[4 * i + 1] = entries[i % 3].a + (int)(entries[i % 3].b * 2);
  o[4 * i + 2] = matrix[i % 2][i % 3] + matrix[1][1] + sizeof(matrix);
  o[4 * i + 3] = local_table[i & 3] + look_up(matrix[1], i % 3);
}
