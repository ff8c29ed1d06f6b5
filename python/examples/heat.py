#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The heat equation on a plate: a stencil that is called for each step, on buffers that stay where they
are until the end."""
import numpy

import vyre


@vyre.jit
def step(rate: vyre.f32, old: vyre.f32[:, :], new: vyre.f32[:, :]):
    h, w = old.shape
    for y, x in vyre.parallel(h, w):
        t = old[y, x]
        if 0 < y < h - 1 and 0 < x < w - 1:
            t += rate * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1] - 4 * t)
        new[y, x] = t


def make_plate(n):
    plate = numpy.zeros((n, n), numpy.float32)
    plate[0, :] = 100
    plate[n // 3:n // 2, n // 3:n // 2] = 50
    return plate


def reference(plate, rate, steps):
    t = plate.copy()
    rate = numpy.float32(rate)
    for _ in range(steps):
        inner = t[:-2, 1:-1] + t[2:, 1:-1] + t[1:-1, :-2] + t[1:-1, 2:] - 4 * t[1:-1, 1:-1]
        t[1:-1, 1:-1] += rate * inner
    return t


def main(n=256, steps=200):
    plate = make_plate(n)
    a, b = vyre.Buffer(plate), vyre.Buffer(plate)
    for _ in range(steps // 2):
        step(0.2, a, b)
        step(0.2, b, a)
    result = a.numpy()
    worst = numpy.abs(result - reference(plate, 0.2, steps // 2 * 2)).max()
    print(f"{steps} steps of {n} x {n}: mean {result.mean():.3f}, {worst:.1e} from numpy's")
    assert worst < 1e-3


if __name__ == "__main__":
    main()
