#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stream compaction: the elements above a threshold, in their order. One kernel of three regions: blocks
count, one invocation adds up the counts, blocks write."""
import numpy

import vyre

BLOCK = 1024


@vyre.jit
def compact(limit: vyre.f32, x: vyre.f32[:], counts: vyre.i32[:], out: vyre.f32[:],
            total: vyre.i32[:]):
    n = len(x)
    blocks = (n + BLOCK - 1) // BLOCK
    for b in vyre.parallel(blocks):
        kept = 0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, n)):
            if x[i] > limit:
                kept += 1
        counts[b] = kept
    for one in vyre.parallel(1):
        before = 0
        for b in range(blocks):
            mine = counts[b]
            counts[b] = before
            before += mine
        total[0] = before
    for b in vyre.parallel(blocks):
        at = counts[b]
        for i in range(b * BLOCK, min((b + 1) * BLOCK, n)):
            if x[i] > limit:
                out[at] = x[i]
                at += 1


def main(n=1000003):
    x = numpy.random.default_rng(1).random(n, numpy.float32)
    counts = numpy.zeros((n + BLOCK - 1) // BLOCK, numpy.int32)
    out, total = numpy.zeros_like(x), numpy.zeros(1, numpy.int32)
    compact(0.5, x, counts, out, total)
    kept = out[:total[0]]
    assert (kept == x[x > 0.5]).all()
    print(f"kept {total[0]} of {n} in {compact.seconds * 1e3:.2f} ms, as numpy does")


if __name__ == "__main__":
    main()
