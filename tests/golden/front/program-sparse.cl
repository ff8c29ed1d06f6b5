// Sparse algebra: a matrix in rows, by one invocation per row and by a group per row.
// RUN: clcompare %s:spmv --grid 8 n=6 start=list:0,2,3,6,6,8,9 col=list:0,3,1,2,4,5,0,5,3 val=rand:9 x=rand:6 y=zeros:8
// RUN: clcompare %s:spmv_group --grid 96 --workgroup 16 start=list:0,2,3,6,6,8,9 col=list:0,3,1,2,4,5,0,5,3 val=rand:9 x=rand:6 y=zeros:6
// CHECK: spmv: ok
// CHECK: spmv_group: ok
kernel void spmv(int n, global const int *start, global const int *col, global const float *val,
                 global const float *x, global float *y) {
  int row = get_global_id(0);
  if (row < n) {
    float sum = 0;
    for (int j = start[row]; j < start[row + 1]; j++) sum += val[j] * x[col[j]];
    y[row] = sum;
  }
}
kernel void spmv_group(global const int *start, global const int *col, global const float *val,
                       global const float *x, global float *y) {
  local float part[16];
  uint l = get_local_id(0), row = get_group_id(0), size = get_local_size(0);
  float sum = 0;
  for (int j = start[row] + l; j < start[row + 1]; j += size) sum += val[j] * x[col[j]];
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = size / 2; s; s /= 2) {
    if (l < s) part[l] += part[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (!l) y[row] = part[0];
}
