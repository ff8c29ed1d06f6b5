// SPDX-License-Identifier: MIT
//
// How many regions are split over ranks without a word from whoever wrote them: kernels in the
// manner of two well-known suites, written for this test as people write them for GPUs. Which
// regions run whole is part of the table, so that one that is not split any more, or is now, is
// seen.
#include "../parsed_program.h"

#include "cluster/split.h"

#include <stdlib.h>

enum { RANKS = 4, N = 1024, MOST_REGIONS = 8 };

typedef struct kernel {
  const char *text;
  uint32_t params[2];
  const char *whole; // a letter per region: s split, w whole
} kernel;

#define SQUARE(name, access) "buffer " name ": f32[n * n] " access "\n"
#define LINE(name, access)   "buffer " name ": f32[n] " access "\n"
#define ROWS_COLUMNS         "  let x = global_id.x\n  let y = global_id.y\n  let i = y * n + x\n"

// PolyBench: linear algebra, data mining, stencils; n numbers along each axis.
static const kernel polybench[] = {
    {"program gemm(n: u32)\n" SQUARE("a", "read") SQUARE("b", "read") SQUARE(
         "c", "readwrite") "region r grid(n, n) {\n" ROWS_COLUMNS "  var s: f32 = c[i] * 1.2\n"
                           "  for k in 0..n { s = s + 1.5 * a[y * n + k] * b[k * n + x] }\n  c[i] "
                           "= s\n}\n",
     {N},
     "s"},
    {"program mm2(n: u32)\n" SQUARE("a", "read") SQUARE("b", "read") SQUARE("c", "read")
         SQUARE("t", "readwrite") SQUARE(
             "d",
             "readwrite") "region first grid(n, n) {\n" ROWS_COLUMNS "  var s: f32 = 0.0\n"
                          "  for k in 0..n { s = s + a[y * n + k] * b[k * n + x] }\n  t[i] = s\n}\n"
                          "region second grid(n, n) {\n" ROWS_COLUMNS "  var s: f32 = d[i]\n"
                          "  for k in 0..n { s = s + t[y * n + k] * c[k * n + x] }\n  d[i] = "
                          "s\n}\n",
     {N},
     "ss"},
    {"program atax(n: u32)\n" SQUARE("a", "read") LINE("x", "read") LINE("t", "readwrite")
         LINE("y", "write") "region first grid(n) {\n  let i = global_id.x\n  var s: f32 = 0.0\n"
                            "  for j in 0..n { s = s + a[i * n + j] * x[j] }\n  t[i] = s\n}\n"
                            "region second grid(n) {\n  let j = global_id.x\n  var s: f32 = 0.0\n"
                            "  for i in 0..n { s = s + a[i * n + j] * t[i] }\n  y[j] = s\n}\n",
     {N},
     "ss"},
    {"program bicg(n: u32)\n" SQUARE("a", "read") LINE("p", "read") LINE("r", "read") LINE("q",
                                                                                           "write")
         LINE("s", "write") "region rows grid(n) {\n  let i = global_id.x\n  var t: f32 = 0.0\n"
                            "  for j in 0..n { t = t + a[i * n + j] * p[j] }\n  q[i] = t\n}\n"
                            "region columns grid(n) {\n  let j = global_id.x\n  var t: f32 = 0.0\n"
                            "  for i in 0..n { t = t + a[i * n + j] * r[i] }\n  s[j] = t\n}\n",
     {N},
     "ss"},
    {"program mvt(n: u32)\n" SQUARE("a", "read") LINE("x1", "readwrite") LINE("x2", "readwrite")
         LINE("y1", "read") LINE(
             "y2", "read") "region rows grid(n) {\n  let i = global_id.x\n  var t: f32 = x1[i]\n"
                           "  for j in 0..n { t = t + a[i * n + j] * y1[j] }\n  x1[i] = t\n}\n"
                           "region columns grid(n) {\n  let i = global_id.x\n  var t: f32 = x2[i]\n"
                           "  for j in 0..n { t = t + a[j * n + i] * y2[j] }\n  x2[i] = t\n}\n",
     {N},
     "ss"},
    {"program gesummv(n: u32)\n" SQUARE("a", "read") SQUARE("b", "read") LINE("x", "read")
         LINE("y", "write") "region r grid(n) {\n  let i = global_id.x\n  var s: f32 = 0.0\n  var "
                            "t: f32 = 0.0\n"
                            "  for j in 0..n {\n    s = s + a[i * n + j] * x[j]\n    t = t + b[i * "
                            "n + j] * x[j]\n  }\n"
                            "  y[i] = s * 1.5 + t * 1.2\n}\n",
     {N},
     "s"},
    {"program gemver(n: u32)\n" SQUARE("a", "readwrite") LINE("u", "read") LINE("v", "read")
         LINE("w", "readwrite") LINE("h", "readwrite") LINE(
             "z",
             "read") "region rank_one grid(n, n) {\n" ROWS_COLUMNS
                     "  a[i] = a[i] + u[y] * v[x]\n}\n"
                     "region columns grid(n) {\n  let i = global_id.x\n  var t: f32 = h[i]\n"
                     "  for j in 0..n { t = t + 1.2 * a[j * n + i] * z[j] }\n  h[i] = t\n}\n"
                     "region add grid(n) { h[global_id.x] = h[global_id.x] + z[global_id.x] }\n"
                     "region rows grid(n) {\n  let i = global_id.x\n  var t: f32 = w[i]\n"
                     "  for j in 0..n { t = t + 1.5 * a[i * n + j] * h[j] }\n  w[i] = t\n}\n",
     {N},
     "ssss"},
    {"program syrk(n: u32)\n" SQUARE("a", "read") SQUARE(
         "c",
         "readwrite") "region r grid(n, n) {\n" ROWS_COLUMNS
                      "  if x > y { return }\n  var s: f32 = c[i]\n"
                      "  for k in 0..n { s = s + a[y * n + k] * a[x * n + k] }\n  c[i] = s\n}\n",
     {N},
     "s"},
    {"program syr2k(n: u32)\n" SQUARE("a", "read") SQUARE("b", "read")
         SQUARE("c", "readwrite") "region r grid(n, n) {\n" ROWS_COLUMNS
                                  "  if x > y { return }\n  var s: f32 = c[i]\n"
                                  "  for k in 0..n { s = s + a[x * n + k] * b[y * n + k] + b[x * n "
                                  "+ k] * a[y * n + k] }\n"
                                  "  c[i] = s\n}\n",
     {N},
     "s"},
    {"program trmm(n: u32)\n" SQUARE("a", "read") SQUARE("b", "read") SQUARE(
         "c",
         "write") "region r grid(n, n) {\n" ROWS_COLUMNS "  var s: f32 = b[i]\n"
                  "  for k in y + 1..n { s = s + a[k * n + y] * b[k * n + x] }\n  c[i] = s\n}\n",
     {N},
     "s"},
    {"program doitgen(n: u32)\nbuffer a: f32[n * 64 * 64] read\nbuffer c: f32[64 * 64] read\n"
     "buffer s: f32[n * 64 * 64] write\n"
     "region r grid(64, 64, n) {\n  let x = global_id.x\n"
     "  let at = (global_id.z * 64 + global_id.y) * 64\n  var t: f32 = 0.0\n"
     "  for k in 0..64 { t = t + a[at + k] * c[k * 64 + x] }\n  s[at + x] = t\n}\n",
     {N},
     "s"},
    {"program covariance(n: u32)\n" SQUARE("data", "readwrite") LINE("mean", "readwrite") SQUARE(
         "cov", "write") "region means grid(n) {\n  let j = global_id.x\n  var s: f32 = 0.0\n"
                         "  for i in 0..n { s = s + data[i * n + j] }\n  mean[j] = s / 1024.0\n}\n"
                         "region center grid(n, n) {\n" ROWS_COLUMNS
                         "  data[i] = data[i] - mean[x]\n}\n"
                         "region products grid(n, n) {\n" ROWS_COLUMNS "  var s: f32 = 0.0\n"
                         "  for k in 0..n { s = s + data[k * n + x] * data[k * n + y] }\n  cov[i] "
                         "= s / 1023.0\n}\n",
     {N},
     "sss"},
    {"program jacobi1d(n: u32)\nbuffer a: f32[n] read\nbuffer b: f32[n] write\n"
     "region r grid(n) {\n  let i = global_id.x\n  if (i == 0) | (i + 1 == n) { return }\n"
     "  b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])\n}\n",
     {N * N},
     "s"},
    {"program jacobi2d(n: u32)\n" SQUARE("a", "read") SQUARE(
         "b", "write") "region r grid(n, n) {\n" ROWS_COLUMNS
                       "  if (x == 0) | (y == 0) | (x + 1 == n) | (y + 1 == n) { return }\n"
                       "  b[i] = 0.2 * (a[i] + a[i - 1] + a[i + 1] + a[i + n] + a[i - n])\n}\n",
     {N},
     "s"},
    {"program heat3d(n: u32)\nbuffer a: f32[n * n * n] read\nbuffer b: f32[n * n * n] write\n"
     "region r grid(n, n, n) {\n  let x = global_id.x\n  let y = global_id.y\n  let z = "
     "global_id.z\n"
     "  if (x == 0) | (y == 0) | (z == 0) { return }\n"
     "  if (x + 1 == n) | (y + 1 == n) | (z + 1 == n) { return }\n"
     "  let i = (z * n + y) * n + x\n"
     "  b[i] = a[i] + 0.125 * (a[i + 1] + a[i - 1] + a[i + n] + a[i - n] + a[i + n * n] + "
     "a[i - n * n] - 6.0 * a[i])\n}\n",
     {128},
     "s"},
    {"program fdtd2d(n: u32)\n" SQUARE("ex", "readwrite") SQUARE("ey", "readwrite") SQUARE(
         "hz", "readwrite") "region e1 grid(n, n) {\n" ROWS_COLUMNS
                            "  ey[i] = y == 0 ? 1.0 : ey[i] - 0.5 * (hz[i] - hz[i - n])\n}\n"
                            "region e2 grid(n, n) {\n" ROWS_COLUMNS "  if x == 0 { return }\n"
                            "  ex[i] = ex[i] - 0.5 * (hz[i] - hz[i - 1])\n}\n"
                            "region h grid(n - 1, n - 1) {\n" ROWS_COLUMNS
                            "  hz[i] = hz[i] - 0.7 * (ex[i + 1] - ex[i] + ey[i + n] - ey[i])\n}\n",
     {N},
     "sss"},
    {"program floyd(n: u32, k: u32)\nbuffer p: u32[n * n] read\nbuffer q: u32[n * n] write\n"
     "region r grid(n, n) {\n" ROWS_COLUMNS "  q[i] = min(p[i], p[y * n + k] + p[k * n + x])\n}\n",
     {N, 7},
     "s"},
    {"program lu(n: u32, k: u32)\n" SQUARE(
         "a",
         "readwrite") "region divide grid(n - k - 1) {\n  let y = global_id.x + k + 1\n"
                      "  a[y * n + k] = a[y * n + k] / a[k * n + k]\n}\n"
                      "region update grid(n - k - 1, n - k - 1) {\n  let x = global_id.x + k + 1\n"
                      "  let y = global_id.y + k + 1\n"
                      "  a[y * n + x] = a[y * n + x] - a[y * n + k] * a[k * n + x]\n}\n",
     {N, 7},
     "ss"},
    {"program gramschmidt(n: u32, k: u32)\n" SQUARE("a", "readwrite") SQUARE("r", "readwrite")
         SQUARE(
             "q",
             "readwrite") "region norm grid(1) {\n  var s: f32 = 0.0\n"
                          "  for i in 0..n { s = s + a[i * n + k] * a[i * n + k] }\n  r[k * n + k] "
                          "= sqrt(s)\n}\n"
                          "region scale grid(n) { q[global_id.x * n + k] = a[global_id.x * n + k] "
                          "/ r[k * n + k] }\n"
                          "region rest grid(n - k - 1) {\n  let j = global_id.x + k + 1\n  var s: "
                          "f32 = 0.0\n"
                          "  for i in 0..n { s = s + q[i * n + k] * a[i * n + j] }\n  r[k * n + j] "
                          "= s\n"
                          "  for i in 0..n { a[i * n + j] = a[i * n + j] - q[i * n + k] * s }\n}\n",
     {N, 7},
     "wss"},
    {"program adi(n: u32)\n" SQUARE("u", "read") SQUARE("v", "readwrite") SQUARE(
         "p", "readwrite") "region columns grid(n) {\n  let x = global_id.x\n"
                           "  for y in 1..n {\n    p[x * n + y] = 0.5 / (p[x * n + y - 1] + 2.0)\n"
                           "    v[x * n + y] = u[x * n + y] * p[x * n + y]\n  }\n}\n",
     {N},
     "s"},
};

// Rodinia: graphs, grids, physics, mining; with indices that come from memory.
static const kernel rodinia[] = {
    {"program hotspot(n: u32)\n" SQUARE("power", "read") SQUARE("t", "read") SQUARE(
         "o",
         "write") "region r grid(n, n) workgroup(16, 16) {\n" ROWS_COLUMNS
                  "  let up = t[(y == 0 ? 0 : y - 1) * n + x]\n  let down = t[min(y + 1, n - 1) * "
                  "n + x]\n"
                  "  let left = t[y * n + (x == 0 ? 0 : x - 1)]\n  let right = t[y * n + min(x + "
                  "1, n - 1)]\n"
                  "  o[i] = t[i] + 0.1 * (power[i] + up + down + left + right - 4.0 * t[i])\n}\n",
     {N},
     "s"},
    {"program srad(n: u32)\n" SQUARE("j", "readwrite") SQUARE("c", "readwrite")
         SQUARE("ds", "readwrite")
             SQUARE("de", "readwrite") "region gradients grid(n, n) {\n" ROWS_COLUMNS
                                       "  let s = j[min(y + 1, n - 1) * n + x] - j[i]\n"
                                       "  let e = j[y * n + min(x + 1, n - 1)] - j[i]\n  ds[i] = "
                                       "s\n  de[i] = e\n"
                                       "  c[i] = 1.0 / (1.0 + s * s + e * e)\n}\n"
                                       "region update grid(n, n) {\n" ROWS_COLUMNS
                                       "  let cs = c[min(y + 1, n - 1) * n + x]\n  let ce = c[y * "
                                       "n + min(x + 1, n - 1)]\n"
                                       "  j[i] = j[i] + 0.125 * (cs * ds[i] + ce * de[i])\n}\n",
     {N},
     "ss"},
    {"program nearest(n: u32)\n" LINE("lat", "read") LINE("lon", "read")
         LINE("d", "write") "region r grid(n) {\n  let i = global_id.x\n  let a = lat[i] - 30.0\n  "
                            "let b = lon[i] - 90.0\n"
                            "  d[i] = sqrt(a * a + b * b)\n}\n",
     {N * N},
     "s"},
    {"program pathfinder(n: u32, row: u32)\nbuffer wall: u32[n * n] read\n"
     "buffer a: u32[n] read\nbuffer b: u32[n] write\n"
     "region r grid(n) {\n  let x = global_id.x\n  let l = a[x == 0 ? 0 : x - 1]\n"
     "  let r = a[min(x + 1, n - 1)]\n  b[x] = min(min(l, r), a[x]) + wall[row * n + x]\n}\n",
     {8192, 3},
     "s"},
    {"program gaussian(n: u32, t: u32)\n" SQUARE("m", "readwrite") SQUARE(
         "a", "readwrite") "region fan1 grid(n - t - 1) {\n  let y = global_id.x + t + 1\n"
                           "  m[y * n + t] = a[y * n + t] / a[t * n + t]\n}\n"
                           "region fan2 grid(n - t, n - t - 1) {\n  let x = global_id.x + t\n  let "
                           "y = global_id.y + t + 1\n"
                           "  a[y * n + x] = a[y * n + x] - m[y * n + t] * a[t * n + x]\n}\n",
     {N, 7},
     "ss"},
    {"program kmeans(n: u32)\nbuffer points: f32[n * 8] read\nbuffer centers: f32[16 * 8] read\n"
     "buffer of: u32[n] write\nbuffer counts: u32[16] readwrite\n"
     "region r grid(n) {\n  var best: u32 = 0\n  var least: f32 = 1e30\n"
     "  for c in 0..16 {\n    var s: f32 = 0.0\n    for k in 0..8 {\n"
     "      let d = points[global_id.x * 8 + u32(k)] - centers[u32(c) * 8 + u32(k)]\n"
     "      s = s + d * d\n    }\n    if s < least {\n      least = s\n      best = u32(c)\n    "
     "}\n  }\n"
     "  of[global_id.x] = best\n  atomic_add(counts[best], 1)\n}\n",
     {N * 64},
     "s"},
    {"program bfs(n: u32)\nbuffer starts: u32[n + 1] read\nbuffer edges: u32[n * 8] read\n"
     "buffer mask: u32[n] readwrite\nbuffer seen: u32[n] read\nbuffer next: u32[n] readwrite\n"
     "buffer cost: u32[n] readwrite\nbuffer more: u32[1] readwrite\n"
     "region visit grid(n) {\n  let v = global_id.x\n  if mask[v] == 0 { return }\n  mask[v] = 0\n"
     "  for e in starts[v]..starts[v + 1] {\n    let w = edges[e]\n"
     "    if seen[w] == 0 { atomic_or(next[w], 1) }\n  }\n}\n"
     "region advance grid(n) {\n  let v = global_id.x\n  if next[v] == 0 { return }\n"
     "  mask[v] = 1\n  cost[v] = cost[v] + 1\n  next[v] = 0\n  atomic_or(more[0], 1)\n}\n",
     {N * 64},
     "ss"},
    {"program backprop(n: u32)\nbuffer in: f32[n] read\nbuffer w: f32[n * 16] readwrite\n"
     "buffer part: f32[n / 16 * 16] write\nbuffer delta: f32[16] read\n"
     "region forward grid(16, n) workgroup(16, 16) {\n  shared s: f32[256]\n"
     "  let l = local_id.y * 16 + local_id.x\n  s[l] = in[global_id.y] * w[global_id.y * 16 + "
     "global_id.x]\n"
     "  barrier\n  var step: u32 = 8\n  while step > 0 {\n"
     "    if local_id.y < step { s[l] = s[l] + s[l + step * 16] }\n    barrier\n    step = step >> "
     "1\n  }\n"
     "  if local_id.y == 0 { part[group_id.y * 16 + local_id.x] = s[local_id.x] }\n}\n"
     "region adjust grid(16, n) {\n  let i = global_id.y * 16 + global_id.x\n"
     "  w[i] = w[i] + 0.3 * delta[global_id.x] * in[global_id.y]\n}\n",
     {4096},
     "ss"},
    {"program particles(n: u32)\nbuffer p: f32[n * 4] read\nbuffer f: f32[n * 4] write\n"
     "region r grid(n) {\n  let i = global_id.x * 4\n  var s: f32 = 0.0\n"
     "  for j in 0..n { s = s + p[j * 4 + 3] / (1.0 + abs(p[i] - p[j * 4])) }\n  f[i] = s\n}\n",
     {8192},
     "s"},
    {"program cells(n: u32)\nbuffer offsets: u32[n * 27] read\nbuffer p: f32[n * 128] read\n"
     "buffer v: f32[n * 128] write\n"
     "region r grid(n * 128) workgroup(128) {\n  shared q: f32[128]\n  var s: f32 = 0.0\n"
     "  for k in 0..27 {\n    let from = offsets[group_id.x * 27 + u32(k)]\n    barrier\n"
     "    q[local_id.x] = p[from * 128 + local_id.x]\n    barrier\n"
     "    for j in 0..128 { s = s + q[u32(j)] }\n  }\n  v[global_id.x] = s\n}\n",
     {N},
     "s"},
    {"program flux(n: u32)\nbuffer near: u32[n * 4] read\nbuffer density: f32[n] read\n"
     "buffer out: f32[n] write\n"
     "region r grid(n) {\n  let i = global_id.x\n  var s: f32 = 0.0\n"
     "  for k in 0..4 { s = s + density[near[i * 4 + u32(k)]] - density[i] }\n  out[i] = s\n}\n",
     {N * N},
     "s"},
    {"program resample(n: u32)\nbuffer cdf: f32[n] read\nbuffer x: f32[n] read\nbuffer o: f32[n] "
     "write\n"
     "region r grid(n) {\n  let u = (f32(global_id.x) + 0.5) / f32(n)\n  var lo: u32 = 0\n"
     "  var hi: u32 = n\n  while lo < hi {\n    let m = (lo + hi) / 2\n"
     "    if cdf[m] < u { lo = m + 1 } else { hi = m }\n  }\n  o[global_id.x] = x[lo]\n}\n",
     {N * 64},
     "s"},
    {"program tree(n: u32)\nbuffer keys: u32[65536] read\nbuffer kids: u32[65536] read\n"
     "buffer asked: u32[n] read\nbuffer found: u32[n] write\n"
     "region r grid(n) {\n  var at: u32 = 0\n  for level in 0..8 {\n"
     "    at = kids[at + u32(keys[at] < asked[global_id.x])]\n  }\n  found[global_id.x] = at\n}\n",
     {N * 64},
     "s"},
    {"program needle(n: u32, d: u32)\nbuffer s: i32[n * n] readwrite\nbuffer r: i32[n * n] read\n"
     "region diagonal grid(d) {\n  let x = global_id.x + 1\n  let y = d - global_id.x\n"
     "  let i = y * n + x\n"
     "  s[i] = max(s[i - n - 1] + r[i], max(s[i - 1] - 10, s[i - n] - 10))\n}\n",
     {8192, 5000},
     "s"},
    {"program scatter(n: u32)\nbuffer to: u32[n] read\nbuffer a: f32[n] read\nbuffer b: f32[n] "
     "write\n"
     "region r grid(n) { b[to[global_id.x]] = a[global_id.x] }\n",
     {N * 64},
     "w"},
    {"program sort(n: u32, half: u32)\nbuffer a: u32[n] readwrite\n"
     "region r grid(n) {\n  let i = global_id.x\n  let k = i ^ half\n  if k <= i { return }\n"
     "  let x = a[i]\n  let y = a[k]\n  a[i] = min(x, y)\n  a[k] = max(x, y)\n}\n",
     {N * 64, 4},
     "w"},
    {"program compact(n: u32)\nbuffer a: u32[n] read\nbuffer o: u32[n] write\n"
     "buffer count: u32[1] readwrite\nregion r grid(n) {\n  if a[global_id.x] > 7 {\n"
     "    let at = atomic_add(count[0], 1)\n    o[at] = a[global_id.x]\n  }\n}\n",
     {N * 64},
     "w"},
    {"program histogram(n: u32)\nbuffer a: u32[n] read\nbuffer h: u32[256] readwrite\n"
     "region r grid(n) { atomic_add(h[a[global_id.x] & 255], 1) }\n",
     {N * 64},
     "s"},
};

static bool is_split(const vyre_program *p, uint32_t region, const uint64_t *params,
                     const uint64_t *lengths, const uint64_t grid[3], char *reason) {
  split s;
  footprint_region *r = footprint_new(p, region);
  footprint_launch l = {.params = params, .lengths = lengths};
  memcpy(l.grid, grid, sizeof l.grid);
  assert_non_null(r);
  assert_true(split_make(r, p, &l, &(split_options){.ranks = RANKS, .least = 1}, &s));
  bool answer = s.is_split;
  memcpy(reason, s.reason, SPLIT_REASON);
  split_fini(&s);
  footprint_free(r);
  return answer;
}

static void count(const kernel *all, size_t kernels, uint32_t *split, uint32_t *regions) {
  *split = *regions = 0;
  for (size_t n = 0; n < kernels; n++) {
    vyre_program *p = parse(all[n].text);
    vyre_scalar scalars[2];
    uint64_t params[2], lengths[16] = {0}, grids[MOST_REGIONS][3];
    vyre_error e;
    for (uint32_t i = 0; i < p->param_count; i++) {
      params[i] = all[n].params[i];
      scalars[i] = (vyre_scalar){VYRE_U32, params[i]};
    }
    assert_int_equal(vyre_program_extents(p, scalars, lengths, grids, &e), VYRE_OK);
    assert_int_equal(strlen(all[n].whole), p->region_count);
    for (uint32_t r = 0; r < p->region_count; r++) {
      char reason[SPLIT_REASON];
      bool found = is_split(p, r, params, lengths, grids[r], reason);
      if (found != (all[n].whole[r] == 's'))
        print_error("%s, region %u: %s\n", p->name, r, reason), *regions += 1000;
      *split += found;
      ++*regions;
    }
    vyre_program_release(p);
  }
}

static void most_of_polybench_is_split(void **state) {
  (void)state;
  uint32_t split, regions;
  count(polybench, sizeof polybench / sizeof *polybench, &split, &regions);
  print_message("%u of %u regions\n", split, regions);
  assert_true(split * 100 >= regions * 95);
}

static void more_than_half_of_rodinia_is_split(void **state) {
  (void)state;
  uint32_t split, regions;
  count(rodinia, sizeof rodinia / sizeof *rodinia, &split, &regions);
  print_message("%u of %u regions\n", split, regions);
  assert_true(split * 100 >= regions * 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(most_of_polybench_is_split),
      cmocka_unit_test(more_than_half_of_rodinia_is_split),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
