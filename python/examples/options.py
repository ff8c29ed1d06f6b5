#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prices of European options after Black and Scholes: one formula per option, helpers inlined."""
import math

import numpy

import vyre

A = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)


def cumulative(d):
    """The normal distribution, to 7.5e-8 (Abramowitz and Stegun 26.2.17)."""
    k = 1 / (1 + 0.2316419 * abs(d))
    tail = k * (A[0] + k * (A[1] + k * (A[2] + k * (A[3] + k * A[4]))))
    tail *= math.exp(-0.5 * d * d) * 0.3989422804014327
    return 1 - tail if d > 0 else tail


@vyre.jit
def price(spot: vyre.f32[:], strike: vyre.f32[:], years: vyre.f32[:], rate: vyre.f32,
          volatility: vyre.f32, call: vyre.f32[:], put: vyre.f32[:]):
    i = vyre.index()
    root = volatility * math.sqrt(years[i])
    d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
    d2 = d1 - root
    discounted = strike[i] * math.exp(-rate * years[i])
    call[i] = spot[i] * cumulative(d1) - discounted * cumulative(d2)
    put[i] = discounted * cumulative(-d2) - spot[i] * cumulative(-d1)


def make_options(n, seed=1):
    random = numpy.random.default_rng(seed)
    return tuple(random.uniform(low, high, n).astype(numpy.float32)
                 for low, high in [(5, 30), (1, 100), (0.25, 10)])


def main(n=100000):
    spot, strike, years = make_options(n)
    call, put = numpy.empty_like(spot), numpy.empty_like(spot)
    price(spot, strike, years, 0.02, 0.3, call, put)
    parity = call - put - (spot - strike * numpy.exp(-0.02 * years.astype(float)))
    worst = numpy.abs(parity).max()
    one = 0.5 * (1 + math.erf(0.7 / math.sqrt(2)))
    print(f"priced {n} options in {price.seconds * 1e3:.2f} ms, put-call parity to {worst:.1e}, "
          f"cumulative(0.7) to {abs(cumulative(0.7) - one):.1e}")
    assert worst < 1e-4


if __name__ == "__main__":
    main()
