# SPDX-License-Identifier: MIT
"""The six tasks with taichi on its CPU backend, with arrays of numpy."""
import taichi as ti

NAME = "taichi"
ti.init(arch=ti.cpu, log_level=ti.ERROR, offline_cache=False)
R = 4
A1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
A2 = ti.types.ndarray(dtype=ti.f32, ndim=2)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
L2 = ti.types.ndarray(dtype=ti.i64, ndim=2)


@ti.kernel
def blur(image: A2, weights: A1, rows: A2, out: A2):
    h, w = image.shape[0], image.shape[1]
    for y, x in ti.ndrange(h, w):
        total = 0.0
        for k in range(-R, R + 1):
            total += weights[k + R] * image[y, ti.min(ti.max(x + k, 0), w - 1)]
        rows[y, x] = total
    for y, x in ti.ndrange(h, w):
        total = 0.0
        for k in range(-R, R + 1):
            total += weights[k + R] * rows[ti.min(ti.max(y + k, 0), h - 1), x]
        out[y, x] = total


@ti.func
def cumulative(d):
    k = 1 / (1 + 0.2316419 * ti.abs(d))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 +
                                                                          k * 1.330274429))))
    tail *= ti.exp(-0.5 * d * d) * 0.3989422804014327
    return ti.select(d > 0, 1 - tail, tail)


@ti.kernel
def price(spot: A1, strike: A1, years: A1, rate: ti.f32, volatility: ti.f32, call: A1, put: A1):
    for i in range(spot.shape[0]):
        root = volatility * ti.sqrt(years[i])
        d1 = (ti.log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
        d2 = d1 - root
        discounted = strike[i] * ti.exp(-rate * years[i])
        call[i] = spot[i] * cumulative(d1) - discounted * cumulative(d2)
        put[i] = discounted * cumulative(-d2) - spot[i] * cumulative(-d1)


@ti.kernel
def step(rate: ti.f32, old: A2, new: A2):
    h, w = old.shape[0], old.shape[1]
    for y, x in ti.ndrange(h, w):
        t = old[y, x]
        if 0 < y and y < h - 1 and 0 < x and x < w - 1:
            t += rate * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1] - 4 * t)
        new[y, x] = t


@ti.kernel
def compact(limit: ti.f32, x: A1, counts: I1, out: A1, total: I1):
    n = x.shape[0]
    blocks = (n + 1023) // 1024
    for b in range(blocks):
        kept = 0
        for i in range(b * 1024, ti.min((b + 1) * 1024, n)):
            if x[i] > limit:
                kept += 1
        counts[b] = kept
    for one in range(1):
        before = 0
        for b in range(blocks):
            mine = counts[b]
            counts[b] = before
            before += mine
        total[0] = before
    for b in range(blocks):
        at = counts[b]
        for i in range(b * 1024, ti.min((b + 1) * 1024, n)):
            if x[i] > limit:
                out[at] = x[i]
                at += 1


@ti.kernel
def iterate(points: A2, centres: A2, nearest: I1, sums: L2, counts: I1, moved: I1):
    n, d, k = points.shape[0], points.shape[1], centres.shape[0]
    for c, j in ti.ndrange(k, d):
        sums[c, j] = 0
        counts[c] = 0
    for i in range(n):
        best = 3e38
        which = 0
        for c in range(k):
            distance = 0.0
            for j in range(d):
                t = points[i, j] - centres[c, j]
                distance += t * t
            if distance < best:
                best = distance
                which = c
        if nearest[i] != which:
            ti.atomic_add(moved[0], 1)
        nearest[i] = which
    for i in range(n):
        ti.atomic_add(counts[nearest[i]], 1)
        for j in range(d):
            ti.atomic_add(sums[nearest[i], j], ti.cast(points[i, j] * 65536.0, ti.i64))
    for c, j in ti.ndrange(k, d):
        if counts[c] > 0:
            centres[c, j] = ti.cast(sums[c, j], ti.f32) / 65536.0 / counts[c]


@ti.kernel
def product(a: A2, b: A2, c: A2):
    for y, x in ti.ndrange(c.shape[0], c.shape[1]):
        total = 0.0
        for k in range(a.shape[1]):
            total += a[y, k] * b[k, x]
        c[y, x] = total


def tasks(d):
    def heat():
        for _ in range(d.steps // 2):
            step(0.2, d.plate, d.other)
            step(0.2, d.other, d.plate)

    return {
        "blur": lambda: blur(d.image, d.weights, d.rows, d.out),
        "options": lambda: price(d.spot, d.strike, d.years, 0.02, 0.3, d.call, d.put),
        "heat": heat,
        "compaction": lambda: compact(0.5, d.x, d.counts, d.kept, d.total),
        "kmeans": lambda: iterate(d.points, d.centres, d.nearest, d.sums, d.sizes, d.moved),
        "tuning": lambda: product(d.a, d.b, d.c),
    }
