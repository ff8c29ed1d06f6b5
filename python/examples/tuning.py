#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A matrix product, of which it is tuned on this machine how many steps of a sum are written out."""
import numpy

import vyre

STEPS = vyre.Tunable("STEPS", 1, 2, 4, 8)


@vyre.jit
def product(a: vyre.f32[:, :], b: vyre.f32[:, :], c: vyre.f32[:, :]):
    n, m = c.shape
    depth = a.shape[1]
    for y, x in vyre.parallel(n, m):
        total = 0.0
        for block in range(depth // STEPS):
            for step in range(STEPS):
                k = block * STEPS + step
                total += a[y, k] * b[k, x]
        for k in range(depth // STEPS * STEPS, depth):
            total += a[y, k] * b[k, x]
        c[y, x] = total


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
