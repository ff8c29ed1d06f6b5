#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A matrix product whose blocks are tuned on this machine, with this data."""
import numpy

import vyre

ROWS = vyre.Tunable("ROWS", 1, 2, 4, 8)


@vyre.jit
def product(a: vyre.f32[:, :], b: vyre.f32[:, :], c: vyre.f32[:, :]):
    n, m = c.shape
    depth = a.shape[1]
    for block, x in vyre.parallel((n + ROWS - 1) // ROWS, m):
        sums = vyre.local(vyre.f32, ROWS)
        for k in range(depth):
            t = b[k, x]
            for r in range(ROWS):
                sums[r] += a[block * ROWS + r, k] * t
        for r in range(ROWS):
            c[block * ROWS + r, x] = sums[r]


def main(n=256):
    random = numpy.random.default_rng(1)
    a, b = random.random((n, n), numpy.float32), random.random((n, n), numpy.float32)
    c = numpy.zeros((n, n), numpy.float32)
    best = vyre.tune(product, a, b, c, rounds=3, seconds=20)
    best.kernel(a, b, c)
    worst = numpy.abs(c - a.astype(float) @ b).max()
    print(f"{best}, {worst:.1e} from numpy's")
    assert worst < 1e-3


if __name__ == "__main__":
    main()
