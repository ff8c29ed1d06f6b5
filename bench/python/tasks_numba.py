# SPDX-License-Identifier: MIT
"""The six tasks with numba, on all cores."""
import math

import numba
import numpy

NAME = "numba"
R = 4
SCALE = numpy.float32(65536)
F = numpy.float32
jit = numba.njit(parallel=True, fastmath=True)


@jit
def blur(image, weights, rows, out):
    h, w = image.shape
    for y in numba.prange(h):
        for x in range(w):
            total = F(0)
            for k in range(-R, R + 1):
                total += weights[k + R] * image[y, min(max(x + k, 0), w - 1)]
            rows[y, x] = total
    for y in numba.prange(h):
        for x in range(w):
            total = F(0)
            for k in range(-R, R + 1):
                total += weights[k + R] * rows[min(max(y + k, 0), h - 1), x]
            out[y, x] = total


@numba.njit(fastmath=True)
def cumulative(d):
    k = F(1) / (F(1) + F(0.2316419) * abs(d))
    tail = k * (F(0.319381530) + k * (F(-0.356563782) + k * (F(1.781477937) +
                                                             k * (F(-1.821255978) + k * F(1.330274429)))))
    tail *= math.exp(F(-0.5) * d * d) * F(0.3989422804014327)
    return F(1) - tail if d > F(0) else tail


@jit
def price(spot, strike, years, rate, volatility, call, put):
    for i in numba.prange(spot.shape[0]):
        root = volatility * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) +
              (rate + F(0.5) * volatility * volatility) * years[i]) / root
        d2 = d1 - root
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = spot[i] * cumulative(d1) - discounted * cumulative(d2)
        put[i] = discounted * cumulative(-d2) - spot[i] * cumulative(-d1)


@jit
def step(rate, old, new):
    h, w = old.shape
    for y in numba.prange(h):
        for x in range(w):
            t = old[y, x]
            if 0 < y < h - 1 and 0 < x < w - 1:
                t += rate * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1] - F(4) * t)
            new[y, x] = t


@jit
def compact(limit, x, counts, out, total):
    n = x.shape[0]
    block = 1024
    blocks = (n + block - 1) // block
    for b in numba.prange(blocks):
        kept = 0
        for i in range(b * block, min((b + 1) * block, n)):
            if x[i] > limit:
                kept += 1
        counts[b] = kept
    before = 0
    for b in range(blocks):
        mine = counts[b]
        counts[b] = before
        before += mine
    total[0] = before
    for b in numba.prange(blocks):
        at = counts[b]
        for i in range(b * block, min((b + 1) * block, n)):
            if x[i] > limit:
                out[at] = x[i]
                at += 1


@jit
def iterate(points, centres, nearest, sums, counts, moved):
    n, d = points.shape
    k = centres.shape[0]
    threads = numba.get_num_threads()
    own = numpy.zeros((threads, k, d))
    size = numpy.zeros((threads, k), numpy.int64)
    changed = numpy.zeros(threads, numpy.int64)
    for i in numba.prange(n):
        best = F(3e38)
        which = 0
        for c in range(k):
            distance = F(0)
            for j in range(d):
                t = points[i, j] - centres[c, j]
                distance += t * t
            if distance < best:
                best = distance
                which = c
        t = numba.get_thread_id()
        if nearest[i] != which:
            changed[t] += 1
        nearest[i] = which
        size[t, which] += 1
        for j in range(d):
            own[t, which, j] += points[i, j]
    moved[0] += changed.sum()
    for c in range(k):
        count = 0
        for t in range(threads):
            count += size[t, c]
        counts[c] = count
        for j in range(d):
            total = 0.0
            for t in range(threads):
                total += own[t, c, j]
            if count > 0:
                centres[c, j] = total / count


@jit
def product(a, b, c):
    n, m = c.shape
    depth = a.shape[1]
    for y in numba.prange(n):
        c[y, :] = F(0)
        for k in range(depth):
            t = a[y, k]
            for x in range(m):
                c[y, x] += t * b[k, x]


def tasks(d):
    def heat():
        for _ in range(d.steps // 2):
            step(F(0.2), d.plate, d.other)
            step(F(0.2), d.other, d.plate)

    return {
        "blur": lambda: blur(d.image, d.weights, d.rows, d.out),
        "options": lambda: price(d.spot, d.strike, d.years, F(0.02), F(0.3), d.call, d.put),
        "heat": heat,
        "compaction": lambda: compact(F(0.5), d.x, d.counts, d.kept, d.total),
        "kmeans": lambda: iterate(d.points, d.centres, d.nearest, d.sums, d.sizes, d.moved),
        "tuning": lambda: product(d.a, d.b, d.c),
    }
