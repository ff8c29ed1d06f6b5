#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Gaussian blur of an image, in two passes, as one kernel of two regions."""
import numpy

import vyre

RADIUS = 4


@vyre.jit
def blur(image: vyre.f32[:, :], weights: vyre.f32[:], rows: vyre.f32[:, :], out: vyre.f32[:, :]):
    h, w = image.shape
    for y, x in vyre.parallel(h, w):
        total = 0.0
        for k in range(-RADIUS, RADIUS + 1):
            total += weights[k + RADIUS] * image[y, vyre.clamp(x + k, 0, w - 1)]
        rows[y, x] = total
    for y, x in vyre.parallel(h, w):
        total = 0.0
        for k in range(-RADIUS, RADIUS + 1):
            total += weights[k + RADIUS] * rows[vyre.clamp(y + k, 0, h - 1), x]
        out[y, x] = total


def make_weights():
    k = numpy.arange(-RADIUS, RADIUS + 1)
    weights = numpy.exp(-(k / 2.0) ** 2 / 2)
    return (weights / weights.sum()).astype(numpy.float32)


def reference(image, weights):
    """The same with numpy, in double precision."""
    for axis in (1, 0):
        pad = [(0, 0), (0, 0)]
        pad[axis] = (RADIUS, RADIUS)
        wide = numpy.pad(image.astype(numpy.float64), pad, mode="edge")
        n = image.shape[axis]
        image = sum(w * numpy.take(wide, range(k, k + n), axis) for k, w in enumerate(weights))
    return image


def main(h=480, w=640):
    image = numpy.random.default_rng(1).random((h, w), numpy.float32)
    weights = make_weights()
    rows, out = numpy.empty_like(image), numpy.empty_like(image)
    blur(image, weights, rows, out)
    worst = numpy.abs(out - reference(image, weights)).max()
    print(f"blurred {w} x {h} in {blur.seconds * 1e3:.2f} ms, at most {worst:.1e} off")
    assert worst < 1e-6


if __name__ == "__main__":
    main()
