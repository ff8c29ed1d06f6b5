// Dense algebra: a product in tiles, one with vectors, and a step of an LU decomposition.
// RUN: clcompare %s:gemm --grid 32,32 --workgroup 16,16 n=32 a=rand:1024 b=rand:1024 c=zeros:1024
// RUN: clcompare %s:gemm4 --grid 8,32 n=32 a=rand:1024 b=rand:256 c=zeros:256
// RUN: clcompare %s:lu_step --grid 24,24 n=24 k=3 m=rand:576:1:5
// RUN: clcompare %s:gemv --grid 64 n=48 a=rand:3072 x=rand:48 y=rand:64 alpha=1.5 beta=-0.25
// CHECK: gemm: ok
// CHECK: gemm4: ok
// CHECK: lu_step: ok
// CHECK: gemv: ok
#define T 16
kernel __attribute__((reqd_work_group_size(T, T, 1))) void
gemm(int n, global const float *a, global const float *b, global float *c) {
  local float ta[T][T], tb[T][T];
  int row = get_global_id(1), col = get_global_id(0), y = get_local_id(1), x = get_local_id(0);
  float sum = 0.0f;
  for (int t = 0; t < n / T; ++t) {
    ta[y][x] = a[row * n + t * T + x];
    tb[y][x] = b[(t * T + y) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < T; ++k) sum += ta[y][k] * tb[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}
kernel void gemm4(int n, global const float *a, global const float4 *b, global float4 *c) {
  int col = get_global_id(0), row = get_global_id(1), n4 = n / 4;
  float4 sum = (float4)(0);
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n4 + col];
  c[row * n4 + col] = sum;
}
kernel void lu_step(int n, int k, global float *m) {
  int i = get_global_id(1), j = get_global_id(0);
  if (i <= k || j < k + 1) return;
  float factor = m[i * n + k] / m[k * n + k];
  m[i * n + j] -= factor * m[k * n + j];
}
kernel void gemv(int n, global const double *a, global const double *x, global double *y,
                 double alpha, double beta) {
  int row = get_global_id(0);
  double sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * x[k];
  y[row] = alpha * sum + beta * y[row];
}
