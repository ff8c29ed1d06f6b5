// Matrices, dense and sparse, of bench/kernels.c, for vyre and for OpenCL drivers.
// SPDX-License-Identifier: MIT

// A matrix product as one tunes it by hand: tiles of 64 x 64 in local memory, 4 x 4 results for each
// work item in registers, vectors of four.
kernel void k_gemm(global const float4 *a, global const float4 *b, global float4 *c, uint n) {
  local float as[64][16];
  local float4 bs[16][16];
  uint lx = get_local_id(0), ly = get_local_id(1), id = ly * 16 + lx, quads = n / 4;
  uint top = get_group_id(1) * 64, left = get_group_id(0) * 16;
  float4 sum[4];
  for (uint r = 0; r < 4; r++) sum[r] = (float4)(0.0f);
  for (uint k = 0; k < n; k += 16) {
    vstore4(a[(top + id / 4) * quads + k / 4 + id % 4], 0, &as[id / 4][id % 4 * 4]);
    bs[ly][lx] = b[(k + ly) * quads + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 16; i++) {
      float4 row = bs[i][lx];
      float factor[4];
      for (uint r = 0; r < 4; r++) factor[r] = as[ly * 4 + r][i];
      for (uint r = 0; r < 4; r++) sum[r] = fma((float4)(factor[r]), row, sum[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint r = 0; r < 4; r++) c[(top + ly * 4 + r) * quads + left + lx] = sum[r];
}

// Sparse matrix by vector, a row for each work item.
kernel void k_csr_scalar(global const float *value, global const uint *column,
                         global const uint *first, global const float *x, global float *y,
                         uint rows) {
  uint row = get_global_id(0);
  if (row < rows) {
    float sum = 0.0f;
    for (uint i = first[row]; i < first[row + 1]; i++) sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}

// The same with 32 work items for each row, which add up in local memory.
kernel void k_csr_vector(global const float *value, global const uint *column,
                         global const uint *first, global const float *x, global float *y,
                         uint rows) {
  local float part[128];
  uint l = get_local_id(0), lane = l & 31;
  uint row = get_group_id(0) * 4 + l / 32;
  if (row < rows) {
    float sum = 0.0f;
    for (uint i = first[row] + lane; i < first[row + 1]; i += 32) sum += value[i] * x[column[i]];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 16) part[l] += part[l + 16];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 8) part[l] += part[l + 8];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 4) part[l] += part[l + 4];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 2) part[l] += part[l + 2];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 1) y[row] = part[l] + part[l + 1];
  }
}

// One step of Floyd and Warshall: paths by way of k.
kernel void k_floyd(global uint *distance, uint n, uint k) {
  uint x = get_global_id(0), y = get_global_id(1);
  uint by_k = distance[y * n + k] + distance[k * n + x];
  if (by_k < distance[y * n + x]) distance[y * n + x] = by_k;
}

// Products of all rows of two matrices of bytes.
kernel void k_dot8(global const char *a, global const char *b, global int *out, uint n,
                   uint length) {
  uint x = get_global_id(0), y = get_global_id(1);
  int sum = 0;
  for (uint i = 0; i < length; i++) sum += (int)a[y * length + i] * (int)b[x * length + i];
  out[y * n + x] = sum;
}

// A workgroup for each row.
kernel void k_layernorm(global const float *in, global const float *gain, global const float *bias,
                        global float *out, uint columns, float epsilon) {
  local float part[256];
  uint l = get_local_id(0);
  global const float *row = in + get_group_id(0) * columns;
  float sum = 0.0f;
  for (uint c = l; c < columns; c += 256) sum += row[c];
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step > 0; step >>= 1) {
    if (l < step) part[l] += part[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float mean = part[0] / columns;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (uint c = l; c < columns; c += 256) sum += (row[c] - mean) * (row[c] - mean);
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step > 0; step >>= 1) {
    if (l < step) part[l] += part[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float scale = 1.0f / sqrt(part[0] / columns + epsilon);
  for (uint c = l; c < columns; c += 256)
    out[get_group_id(0) * columns + c] = (row[c] - mean) * scale * gain[c] + bias[c];
}

kernel void k_softmax(global const float *in, global float *out, uint columns) {
  local float part[256];
  uint l = get_local_id(0), row = get_group_id(0) * columns;
  float most = -INFINITY;
  for (uint c = l; c < columns; c += 256) most = fmax(most, in[row + c]);
  part[l] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step > 0; step >>= 1) {
    if (l < step) part[l] = fmax(part[l], part[l + step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  most = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (uint c = l; c < columns; c += 256) {
    float e = exp(in[row + c] - most);
    out[row + c] = e;
    sum += e;
  }
  part[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step > 0; step >>= 1) {
    if (l < step) part[l] += part[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint c = l; c < columns; c += 256) out[row + c] /= part[0];
}
