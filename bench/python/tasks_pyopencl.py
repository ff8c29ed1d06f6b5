# SPDX-License-Identifier: MIT
"""The six tasks with pyopencl on PoCL: buffers over the arrays' own memory, mapped where they are."""
import numpy
import pyopencl as cl

NAME = "pyopencl"
SOURCE = """
#define R 4
__kernel void blur_rows(__global const float *image, __global const float *weights,
                        __global float *rows, int h, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  float total = 0;
  for (int k = -R; k <= R; k++) total += weights[k + R] * image[y * w + clamp(x + k, 0, w - 1)];
  rows[y * w + x] = total;
}
__kernel void blur_columns(__global const float *rows, __global const float *weights,
                           __global float *out, int h, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  float total = 0;
  for (int k = -R; k <= R; k++) total += weights[k + R] * rows[clamp(y + k, 0, h - 1) * w + x];
  out[y * w + x] = total;
}
float cumulative(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float tail = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f +
               k * 1.330274429f))));
  tail *= exp(-0.5f * d * d) * 0.3989422804014327f;
  return d > 0 ? 1.0f - tail : tail;
}
__kernel void price(__global const float *spot, __global const float *strike,
                    __global const float *years, float rate, float volatility, __global float *call,
                    __global float *put) {
  int i = get_global_id(0);
  float root = volatility * sqrt(years[i]);
  float d1 = (log(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
  float d2 = d1 - root;
  float discounted = strike[i] * exp(-rate * years[i]);
  call[i] = spot[i] * cumulative(d1) - discounted * cumulative(d2);
  put[i] = discounted * cumulative(-d2) - spot[i] * cumulative(-d1);
}
__kernel void heat_step(float rate, __global const float *old, __global float *new, int h, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  float t = old[y * w + x];
  if (0 < y && y < h - 1 && 0 < x && x < w - 1)
    t += rate * (old[(y - 1) * w + x] + old[(y + 1) * w + x] + old[y * w + x - 1] +
                 old[y * w + x + 1] - 4 * t);
  new[y * w + x] = t;
}
__kernel void count(float limit, __global const float *x, __global int *counts, int n) {
  int b = get_global_id(0), kept = 0;
  for (int i = b * 1024; i < min((b + 1) * 1024, n); i++) kept += x[i] > limit;
  counts[b] = kept;
}
__kernel void scan(__global int *counts, __global int *total, int blocks) {
  int before = 0;
  for (int b = 0; b < blocks; b++) {
    int mine = counts[b];
    counts[b] = before;
    before += mine;
  }
  total[0] = before;
}
__kernel void gather(float limit, __global const float *x, __global const int *counts,
                     __global float *out, int n) {
  int b = get_global_id(0), at = counts[b];
  for (int i = b * 1024; i < min((b + 1) * 1024, n); i++)
    if (x[i] > limit) out[at++] = x[i];
}
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
__kernel void clear(__global long *sums, __global int *counts, int k, int d) {
  int c = get_global_id(0);
  for (int j = 0; j < d; j++) sums[c * d + j] = 0;
  counts[c] = 0;
}
__kernel void assign(__global const float *points, __global const float *centres,
                     __global int *nearest, __global int *moved, int k, int d) {
  int i = get_global_id(0), which = 0;
  float best = 3e38f;
  for (int c = 0; c < k; c++) {
    float distance = 0;
    for (int j = 0; j < d; j++) {
      float t = points[i * d + j] - centres[c * d + j];
      distance += t * t;
    }
    if (distance < best) best = distance, which = c;
  }
  if (nearest[i] != which) atomic_add(&moved[0], 1);
  nearest[i] = which;
}
__kernel void add(__global const float *points, __global const int *nearest, __global long *sums,
                  __global int *counts, int d) {
  int i = get_global_id(0), c = nearest[i];
  atomic_add(&counts[c], 1);
  for (int j = 0; j < d; j++) atom_add(&sums[c * d + j], (long)(points[i * d + j] * 65536.0f));
}
__kernel void centre(__global float *centres, __global const long *sums,
                     __global const int *counts, int d) {
  int c = get_global_id(0);
  for (int j = 0; j < d && counts[c]; j++)
    centres[c * d + j] = (float)sums[c * d + j] / 65536.0f / counts[c];
}
__kernel void product(__global const float *a, __global const float *b, __global float *c, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  float total = 0;
  for (int k = 0; k < n; k++) total += a[y * n + k] * b[k * n + x];
  c[y * n + x] = total;
}
__kernel void saxpy(float a, __global const float *x, __global float *y) {
  int i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
"""


def context():
    for platform in cl.get_platforms():
        if "Portable" in platform.name:
            return cl.Context(platform.get_devices())
    raise RuntimeError("PoCL is not there")


class Kernels:
    def __init__(self):
        self.context = context()
        self.queue = cl.CommandQueue(self.context)
        program = cl.Program(self.context, SOURCE).build("-cl-fast-relaxed-math")
        self.kernels = {k.function_name: k for k in program.all_kernels()}
        self.buffers = {}

    def buffer(self, array):
        if id(array) not in self.buffers:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
            self.buffers[id(array)] = cl.Buffer(self.context, flags, hostbuf=array)
        return self.buffers[id(array)]

    def run(self, name, grid, *args):
        values = [self.buffer(a) if isinstance(a, numpy.ndarray) else
                  numpy.float32(a) if isinstance(a, float) else numpy.int32(a) for a in args]
        self.kernels[name](self.queue, grid, None, *values)

    def finish(self):
        self.queue.finish()


def tasks(d):
    q = Kernels()
    h, w = d.image.shape
    n, blocks = len(d.x), len(d.counts)
    k, dims = d.centres.shape
    m = len(d.a)

    def blur():
        q.run("blur_rows", (w, h), d.image, d.weights, d.rows, h, w)
        q.run("blur_columns", (w, h), d.rows, d.weights, d.out, h, w)
        q.finish()

    def options():
        q.run("price", (len(d.spot),), d.spot, d.strike, d.years, 0.02, 0.3, d.call, d.put)
        q.finish()

    def heat():
        y, x = d.plate.shape
        for _ in range(d.steps // 2):
            q.run("heat_step", (x, y), 0.2, d.plate, d.other, y, x)
            q.run("heat_step", (x, y), 0.2, d.other, d.plate, y, x)
        q.finish()

    def compaction():
        q.run("count", (blocks,), 0.5, d.x, d.counts, n)
        q.run("scan", (1,), d.counts, d.total, blocks)
        q.run("gather", (blocks,), 0.5, d.x, d.counts, d.kept, n)
        q.finish()

    def kmeans():
        q.run("clear", (k,), d.sums, d.sizes, k, dims)
        q.run("assign", (len(d.points),), d.points, d.centres, d.nearest, d.moved, k, dims)
        q.run("add", (len(d.points),), d.points, d.nearest, d.sums, d.sizes, dims)
        q.run("centre", (k,), d.centres, d.sums, d.sizes, dims)
        q.finish()

    def tuning():
        q.run("product", (m, m), d.a, d.b, d.c, m)
        q.finish()

    return {"blur": blur, "options": options, "heat": heat, "compaction": compaction,
            "kmeans": kmeans, "tuning": tuning}
