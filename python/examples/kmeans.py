#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""k-means: points go to their nearest centre, centres to the middle of their points. Sums are whole
numbers, so that they have the same bits in any order."""
import numpy

import vyre

SCALE = 65536.0


@vyre.jit
def iterate(points: vyre.f32[:, :], centres: vyre.f32[:, :], nearest: vyre.i32[:], sums: vyre.i64[:, :],
            counts: vyre.i32[:], moved: vyre.i32[:]):
    n, d = points.shape
    k = centres.shape[0]
    for c, j in vyre.parallel(k, d):
        sums[c, j] = 0
        if j == 0:
            counts[c] = 0
    for i in vyre.parallel(n):
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
            vyre.atomic_add(moved[0], 1)
        nearest[i] = which
    for i in vyre.parallel(n):
        vyre.atomic_add(counts[nearest[i]], 1)
        for j in range(d):
            vyre.atomic_add(sums[nearest[i], j], vyre.i64(points[i, j] * SCALE))
    for c, j in vyre.parallel(k, d):
        if counts[c] > 0:
            centres[c, j] = vyre.f32(sums[c, j]) / SCALE / vyre.f32(counts[c])


def make_points(n, k, d, seed=1):
    random = numpy.random.default_rng(seed)
    true = random.random((k, d), numpy.float32) * 10
    which = random.integers(0, k, n)
    points = true[which] + random.normal(0, 0.3, (n, d))
    return points.astype(numpy.float32), points[:k].astype(numpy.float32)


def main(n=20000, k=8, d=2, most=50):
    points, centres = make_points(n, k, d)
    nearest = numpy.full(n, -1, numpy.int32)
    sums, counts = numpy.zeros((k, d), numpy.int64), numpy.zeros(k, numpy.int32)
    for rounds in range(1, most + 1):
        moved = numpy.zeros(1, numpy.int32)
        iterate(points, centres, nearest, sums, counts, moved)
        if moved[0] == 0:
            break
    distances = ((points[:, None, :].astype(float) - centres[None]) ** 2).sum(2)
    agree = (distances.argmin(1) == nearest).mean()
    print(f"{n} points in {k} groups: {rounds} rounds, sizes {sorted(counts.tolist())}, "
          f"{agree * 100:.2f} % as numpy says")
    assert agree > 0.99 and counts.sum() == n


if __name__ == "__main__":
    main()
