// Reductions, sorting, clustering, alignment and transforms of bench/kernels.c, for vyre and for
// OpenCL drivers. SPDX-License-Identifier: MIT

// Each work item strides through the input, then the workgroup adds up.
kernel void k_reduce(global const float *in, global float *out, uint n) {
  local float s[256];
  uint l = get_local_id(0), i = get_group_id(0) * 512 + l;
  uint stride = 512 * get_num_groups(0);
  s[l] = 0.0f;
  while (i < n) {
    s[l] += in[i] + in[i + 256];
    i += stride;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step > 0; step >>= 1) {
    if (l < step) {
      i = l + step;
      s[l] += s[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = s[0];
}

// How often each digit of four bits occurs in a block, counted in private memory first.
kernel void k_radix(global const uint *key, global uint *count, uint n, uint shift) {
  local uint s[256];
  uint digits[16];
  uint l = get_local_id(0), groups = get_num_groups(0), block = n / groups;
  uint begin = get_group_id(0) * block;
  for (uint d = 0; d < 16; d++) digits[d] = 0;
  for (uint i = begin + l; i < begin + block; i += 256) digits[(key[i] >> shift) & 15]++;
  for (uint d = 0; d < 16; d++) {
    s[l] = digits[d];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 128; step > 0; step >>= 1) {
      if (l < step) s[l] += s[l + step];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) count[d * groups + get_group_id(0)] = s[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// One step of a bitonic sort: pairs at a distance, in runs that rise and fall in turn.
kernel void k_bitonic(global uint *key, uint distance, uint run) {
  uint i = get_global_id(0);
  uint low = 2 * i - (i & (distance - 1)), high = low + distance;
  uint a = key[low], b = key[high];
  if ((a > b) == ((low & run) == 0)) {
    key[low] = b;
    key[high] = a;
  }
}

// Which of the centres is nearest.
kernel void k_kmeans(global const float *feature, global const float *centre, global uint *nearest,
                     uint n, uint features, uint centres) {
  uint i = get_global_id(0);
  if (i >= n) return;
  uint best = 0;
  float least = FLT_MAX;
  for (uint c = 0; c < centres; c++) {
    float sum = 0.0f;
    for (uint f = 0; f < features; f++) {
      float d = feature[f * n + i] - centre[c * features + f];
      sum += d * d;
    }
    if (sum < least) {
      least = sum;
      best = c;
    }
  }
  nearest[i] = best;
}

// What a new centre of a clustering would save: each point moves there, or says what staying costs.
kernel void k_gain(global const float *coord, global const float *weight, global const float *cost,
                   global const uint *centre, global const uint *table, global uint *moves,
                   global float *lower, uint n, uint candidate, uint centres) {
  local float there[16];
  uint i = get_global_id(0), l = get_local_id(0);
  if (i < n) {
    if (l == 0)
      for (uint d = 0; d < 16; d++) there[d] = coord[d * n + candidate];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (uint d = 0; d < 16; d++) sum += (coord[d * n + i] - there[d]) * (coord[d * n + i] - there[d]);
    float would = sum * weight[i], now = cost[i];
    if (would < now) {
      moves[i] = 1;
      lower[i * (centres + 1) + centres] = would - now;
    } else {
      lower[i * (centres + 1) + table[centre[i]]] = now - would;
    }
  }
}

// A tile of 16 x 16 of a table of alignments, diagonal by diagonal.
int best_of(int diagonal, int left, int above) {
  return max(diagonal, max(left, above));
}
kernel void k_align(global const int *edge, global const int *score, global int *out, int n,
                    int penalty) {
  local int t[17][17];
  local int match[16][16];
  int l = get_local_id(0), left = get_group_id(0) * 16, top = get_group_id(1) * 16;
  if (l == 0) t[0][0] = edge[top * (n + 1) + left];
  for (int y = 0; y < 16; y++) match[y][l] = score[(top + y) * n + left + l];
  t[l + 1][0] = edge[(top + l + 1) * (n + 1) + left];
  t[0][l + 1] = edge[top * (n + 1) + left + l + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int m = 0; m < 16; m++) {
    if (l <= m) {
      int x = l + 1, y = m - l + 1;
      t[y][x] = best_of(t[y - 1][x - 1] + match[y - 1][x - 1], t[y][x - 1] - penalty,
                        t[y - 1][x] - penalty);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int m = 14; m >= 0; m--) {
    if (l <= m) {
      int x = l + 16 - m, y = 16 - l;
      t[y][x] = best_of(t[y - 1][x - 1] + match[y - 1][x - 1], t[y][x - 1] - penalty,
                        t[y - 1][x] - penalty);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int y = 0; y < 16; y++) out[(top + y) * n + left + l] = t[y + 1][l + 1];
}

float2 times(float2 a, float2 b) {
  return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
// One stage of radix four of a transform whose parts of `size` are done.
kernel void k_fft(global const float2 *in, global const float2 *turn, global float2 *out, uint n,
                  uint size) {
  uint i = get_global_id(0), k = i & (size - 1), quarter = n / 4, step = n / (4 * size);
  float2 a = in[i], b = times(in[i + quarter], turn[k * step]);
  float2 c = times(in[i + 2 * quarter], turn[2 * k * step]);
  float2 d = times(in[i + 3 * quarter], turn[3 * k * step]);
  float2 p = a + c, q = a - c, r = b + d, s = b - d;
  s = (float2)(s.y, -s.x);
  uint at = (i - k) * 4 + k;
  out[at] = p + r;
  out[at + size] = q + s;
  out[at + 2 * size] = p - r;
  out[at + 3 * size] = q - s;
}
