// Stencils and image kernels of bench/kernels.c, for vyre and for OpenCL drivers.
// SPDX-License-Identifier: MIT

// Heat with boundary conditions: the left edge is held, the right one radiates, the others mirror.
kernel void k_heat2d(global const float *in, global const float *power, global float *out, uint w,
                     uint h, float rate, float ambient) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
  float here = in[y * w + x];
  float north = y > 0 ? in[(y - 1) * w + x] : here;
  float south = y < h - 1 ? in[(y + 1) * w + x] : here;
  float west = x > 0 ? in[y * w + x - 1] : here;
  float east = x < w - 1 ? in[y * w + x + 1] : here;
  float sum = (north + south - 2.0f * here) + (east + west - 2.0f * here) + power[y * w + x];
  if (x == 0)
    out[y * w + x] = here;
  else if (x == w - 1)
    out[y * w + x] = here + rate * (sum + (ambient - here));
  else
    out[y * w + x] = here + rate * sum;
}

// A weighted mean of the neighbours that exist.
kernel void k_box2d(global const float *in, global const float *weight, global float *out, int w,
                    int h) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0.0f, total = 0.0f;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int xx = x + dx, yy = y + dy;
      if (xx >= 0 && xx < w && yy >= 0 && yy < h) {
        float f = weight[(dy + 1) * 3 + dx + 1];
        sum += f * in[yy * w + xx];
        total += f;
      }
    }
  out[y * w + x] = sum / total;
}

// Speckle-reducing diffusion: derivatives in four directions and the coefficient.
kernel void k_diffusion(global const float *image, global const int *up, global const int *down,
                        global const int *left, global const int *right, global float *north,
                        global float *south, global float *west, global float *east,
                        global float *coefficient, int w, int h, float q0) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
  int at = y * w + x;
  float here = image[at];
  float n = image[up[y] * w + x] - here, s = image[down[y] * w + x] - here;
  float l = image[y * w + left[x]] - here, r = image[y * w + right[x]] - here;
  float g2 = (n * n + s * s + l * l + r * r) / (here * here);
  float lap = (n + s + l + r) / here;
  float num = 0.5f * g2 - (1.0f / 16.0f) * (lap * lap);
  float den = 1.0f + 0.25f * lap;
  float q = num / (den * den);
  float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
  north[at] = n;
  south[at] = s;
  west[at] = l;
  east[at] = r;
  coefficient[at] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

kernel void k_stencil3d(global const float *in, global float *out, uint w, uint h, uint d, float a,
                        float b) {
  uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  uint at = (z * h + y) * w + x;
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1 && z > 0 && z < d - 1)
    out[at] = a * in[at] + b * (in[at - 1] + in[at + 1] + in[at - w] + in[at + w] + in[at - w * h] +
                                in[at + w * h]);
  else
    out[at] = in[at];
}

// The median of 3 x 3 bytes by a network of exchanges; edges are repeated.
#define ORDER(a, b)                                                                                \
  {                                                                                                \
    uchar low = min(a, b);                                                                         \
    b = max(a, b);                                                                                 \
    a = low;                                                                                       \
  }
kernel void k_median(global const uchar *in, global uchar *out, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  int l = max(x - 1, 0), r = min(x + 1, w - 1), u = max(y - 1, 0) * w, d = min(y + 1, h - 1) * w;
  int m = y * w;
  uchar a = in[u + l], b = in[u + x], c = in[u + r], e = in[m + l], f = in[m + x], g = in[m + r];
  uchar i = in[d + l], j = in[d + x], k = in[d + r];
  ORDER(b, c) ORDER(f, g) ORDER(j, k)
  ORDER(a, b) ORDER(e, f) ORDER(i, j)
  ORDER(b, c) ORDER(f, g) ORDER(j, k)
  ORDER(a, e) ORDER(g, k) ORDER(f, j)
  ORDER(e, i) ORDER(b, f) ORDER(c, g)
  ORDER(f, j) ORDER(f, c) ORDER(i, f)
  ORDER(f, c)
  out[m + x] = f;
}

// The forward sweep of an alternating-direction solver: a row for each work item.
kernel void k_adi(global const float *x, global const float *a, global const float *b,
                  global float *xs, global float *bs, uint n) {
  uint row = get_global_id(0);
  if (row >= n) return;
  xs[row * n] = x[row * n];
  bs[row * n] = b[row * n] + 2.0f;
  for (uint k = 1; k < n; k++) {
    uint at = row * n + k;
    xs[at] = x[at] - xs[at - 1] * a[at] / bs[at - 1];
    bs[at] = b[at] + 2.0f - a[at] * a[at] / bs[at - 1];
  }
}
