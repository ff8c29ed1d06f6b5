// The kernels of bench/kernels.c as OpenCL C, for PoCL beside vyre. SPDX-License-Identifier: MIT
kernel void k_saxpy(global const float *x, global float *y, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
kernel void k_dot(global const float *x, global const float *y, global float *out) {
  local float s[256];
  size_t l = get_local_id(0), i = get_global_id(0);
  s[l] = x[i] * y[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step > 0; step >>= 1) {
    if (l < step) s[l] += s[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = s[0];
}
kernel void k_stencil3(global const float *in, global float *out, uint n) {
  uint i = get_global_id(0);
  if (i >= n) return;
  if (i > 0 && i < n - 1) out[i] = in[i - 1] * 0.25f + (in[i] * 0.5f + in[i + 1] * 0.25f);
  else out[i] = in[i];
}
kernel void k_conv2d(global const float *in, global const float *k, global float *out, uint w) {
  uint x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (uint j = 0; j < 5; j++)
    for (uint i = 0; i < 5; i++) sum += in[(y + j) * (w + 4) + x + i] * k[j * 5 + i];
  out[y * w + x] = sum;
}
kernel void k_matmul(global const float *a, global const float *b, global float *c, uint n) {
  uint x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; k++) sum = fma(a[y * n + k], b[k * n + x], sum);
  c[y * n + x] = sum;
}
kernel void k_transpose(global const float *in, global float *out, uint w, uint h) {
  local float tile[16 * 17];
  uint lx = get_local_id(0), ly = get_local_id(1);
  tile[ly * 17 + lx] = in[get_global_id(1) * w + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint column = get_group_id(1) * 16 + lx, row = get_group_id(0) * 16 + ly;
  out[row * h + column] = tile[lx * 17 + ly];
}
kernel void k_nbody(global const float *px, global const float *py, global const float *pz,
                  global const float *m, global float *ax, global float *ay, global float *az,
                  uint n, float soft) {
  uint i = get_global_id(0);
  float x = px[i], y = py[i], z = pz[i], fx = 0, fy = 0, fz = 0;
  for (uint j = 0; j < n; j++) {
    float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
    float inv = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + soft);
    float s = m[j] * (inv * inv * inv);
    fx += dx * s;
    fy += dy * s;
    fz += dz * s;
  }
  ax[i] = fx;
  ay[i] = fy;
  az[i] = fz;
}
kernel void k_mandelbrot(global uint *out, uint w, uint h, uint limit) {
  uint px = get_global_id(0), py = get_global_id(1);
  float cx = (float)px / (float)w * 3.5f - 2.5f, cy = (float)py / (float)h * 2.0f - 1.0f;
  float x = 0, y = 0;
  uint n = 0;
  while (n < limit && x * x + y * y <= 4.0f) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    n++;
  }
  out[py * w + px] = n;
}
kernel void k_divergent(global const float *v, global const float *w, global float *out) {
  size_t i = get_global_id(0);
  float x = v[i];
  if (x > 0.0f) out[i] = sqrt(x) * 2.0f + w[i];
  else out[i] = x * (x * x) - 1.0f;
}
kernel void k_histogram(global const uint *key, global uint *count) {
  atomic_inc(&count[key[get_global_id(0)]]);
}
kernel void k_gather(global const float *x, global const uint *at, global float *out, float a) {
  size_t i = get_global_id(0);
  out[i] = x[at[i]] * a;
}
kernel void k_aos(global const float *p, global float *out) {
  size_t i = get_global_id(0);
  out[i] = p[4 * i] * p[4 * i + 1] + p[4 * i + 2];
}
kernel void k_scan(global const float *in, global float *out) {
  local float s[2][256];
  size_t l = get_local_id(0);
  uint from = 0;
  s[0][l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < 256; step <<= 1) {
    float v = s[from][l];
    if (l >= step) v += s[from][l - step];
    s[1 - from][l] = v;
    from = 1 - from;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = s[from][l];
}
float cnd(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float c = 0.39894228040143267794f * exp(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f +
             k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}
kernel void k_blackscholes(global const float *price, global const float *strike,
                         global const float *years, global float *call, float r, float v) {
  size_t i = get_global_id(0);
  float s = price[i], x = strike[i], t = years[i], q = sqrt(t);
  float d1 = (log(s / x) + (r + 0.5f * v * v) * t) / (v * q), d2 = d1 - v * q;
  call[i] = s * cnd(d1) - x * exp(-r * t) * cnd(d2);
}
kernel void k_sgemv(global const float *a, global const float *x, global float *y, uint n) {
  uint row = get_global_id(0);
  float sum = 0;
  for (uint k = 0; k < n; k++) sum = fma(a[row * n + k], x[k], sum);
  y[row] = sum;
}
kernel void k_gauss(global const float *m, global const float *factor, global float *out, uint n,
                    uint k) {
  uint row = get_global_id(0), column = get_global_id(1);
  out[row * n + column] = m[row * n + column] - factor[row] * m[k * n + column];
}
kernel void k_bytes(global const uchar *data, global uint *count) {
  local uint part[256];
  size_t l = get_local_id(0);
  part[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  size_t first = get_group_id(0) * 4096 + l;
  for (uint k = 0; k < 4096; k += 256) atomic_inc(&part[data[first + k]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (part[l]) atomic_add(&count[l], part[l]);
}
