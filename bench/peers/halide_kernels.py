# SPDX-License-Identifier: MIT
"""halide_kernels.py FOLDER: kernels of bench/kernels in Halide, compiled ahead of time for this machine.

Each four times: exact (strict floats) and fast, with one thread and with all; halide_kernels.c calls them.
Schedules are those that somebody writes who knows Halide: vectors, rows in registers, tiles. What has no
natural form there (mandelbrot, scan, histogram, the ciphers, ...) is left out.
"""
import os
import sys
import warnings

import halide as hl

F32, I32, U32 = hl.Float(32), hl.Int(32), hl.UInt(32)
x, y, xi, yi, xo, yo, u, v, g, inner, rows = (
    hl.Var(n) for n in ("x", "y", "xi", "yi", "xo", "yo", "u", "v", "g", "inner", "rows"))
HOST = hl.get_host_target()
LANES = HOST.natural_vector_size(F32)


def array(name, kind=F32, axes=1):
    return hl.ImageParam(kind, axes, name)


def shared_out(f, axis, is_parallel, piece):
    """The axis inside of a thread's piece."""
    if not is_parallel:
        return axis
    outer = hl.Var("outer")
    f.split(axis, outer, inner, piece).parallel(outer)
    return inner


def saxpy(p):
    a, b, c, f = hl.Param(F32, "a"), array("b"), array("c"), hl.Func("saxpy")
    f[x] = a * b[x] + c[x]
    f.vectorize(shared_out(f, x, p, 1 << 17), LANES * 4)
    return f, [b, c, a]


def dot(p):
    b, c, s, f = array("b"), array("c"), hl.Func("s"), hl.Func("dot")
    r, lane, step = hl.RDom([(0, 256)]), hl.RVar("lane"), hl.RVar("step")
    s[g] = 0.0
    s[g] += b[g * 256 + r] * c[g * 256 + r]
    sums = s.update().split(r, step, lane, LANES).rfactor(lane, u)
    f[g] = s[g]
    at = shared_out(f, g, p, 512)
    s.compute_at(f, at).update().atomic().vectorize(lane)
    sums.compute_at(s, g).vectorize(u).update().vectorize(u).unroll(step, 4)
    return f, [b, c]


def stencil3(p):
    b, n, f = array("b"), hl.Param(I32, "n"), hl.Func("stencil3")

    def at(e):
        return b[hl.clamp(e, 0, n - 1)]
    f[x] = hl.select((x > 0) & (x < n - 1), at(x - 1) * 0.25 + (at(x) * 0.5 + at(x + 1) * 0.25), at(x))
    f.vectorize(shared_out(f, x, p, 1 << 17), LANES * 2)
    return f, [b, n]


def conv2d(p):
    b, k, r = array("b", axes=2), array("k", axes=2), hl.RDom([(0, 5), (0, 5)])
    s, f = hl.Func("s"), hl.Func("conv2d")
    s[x, y] = 0.0
    s[x, y] += b[x + r.x, y + r.y] * k[r.x, r.y]
    f[x, y] = s[x, y]
    if p:
        f.split(y, yo, y, 64).parallel(yo)
    f.tile(x, y, xi, yi, LANES * 2, 4).vectorize(xi, LANES).unroll(xi).unroll(yi)
    s.compute_at(f, x).vectorize(x, LANES).unroll(x).unroll(y)
    s.update().reorder(x, y, r.x, r.y).vectorize(x, LANES).unroll(x).unroll(y).unroll(r.x).unroll(r.y)
    return f, [b, k]


def matmul(p):
    a, b, n = array("a", axes=2), array("b", axes=2), hl.Param(I32, "n")
    k, s, f = hl.RDom([(0, n)]), hl.Func("s"), hl.Func("matmul")
    s[x, y] = 0.0
    s[x, y] += a[k, y] * b[x, k]
    f[x, y] = s[x, y]
    f.tile(x, y, xo, yo, xi, yi, LANES * 2, 256).vectorize(xi, LANES).unroll(xi)
    if p:
        f.parallel(yo)
    f.split(yi, yi, rows, 8).unroll(rows)
    s.compute_at(f, yi).vectorize(x, LANES).unroll(x).unroll(y)
    s.update().reorder(x, y, k).vectorize(x, LANES).unroll(x).unroll(y)
    return f, [a, b, n]


def transpose(p):
    b, f = array("b", axes=2), hl.Func("transpose")
    f[x, y] = b[y, x]
    if p:
        f.split(y, yo, y, 128).parallel(yo)
    f.tile(x, y, xi, yi, 16, 16).vectorize(xi).unroll(yi)
    b.in_().compute_at(f, x).vectorize(hl.Var("_0")).unroll(hl.Var("_1"))
    return f, [b]


def nbody(p):
    q = [array(n) for n in ("px", "py", "pz", "mass")]
    soft, n = hl.Param(F32, "soft"), hl.Param(I32, "n")
    j, s, f = hl.RDom([(0, n)]), hl.Func("s"), hl.Func("nbody")
    d = [q[i][j] - q[i][x] for i in range(3)]
    inverse = 1.0 / hl.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + soft)
    w = q[3][j] * (inverse * inverse * inverse)
    s[x] = (0.0, 0.0, 0.0)
    s[x] = tuple(s[x][i] + d[i] * w for i in range(3))
    f[x] = tuple(s[x][i] for i in range(3))
    at = shared_out(f, x, p, 256)
    f.split(at, at, xi, LANES * 2).vectorize(xi)
    s.compute_at(f, at).vectorize(x, LANES).unroll(x)
    s.update().reorder(x, j).vectorize(x, LANES).unroll(x)
    return f, [*q, n, soft]


def divergent(p):
    b, c, f = array("b"), array("c"), hl.Func("divergent")
    f[x] = hl.select(b[x] > 0.0, hl.sqrt(b[x]) * 2.0 + c[x], b[x] * (b[x] * b[x]) - 1.0)
    f.vectorize(shared_out(f, x, p, 1 << 17), LANES * 2)
    return f, [b, c]


def gather(p):
    b, at, a, n, f = array("b"), array("at", U32), hl.Param(F32, "a"), hl.Param(I32, "n"), hl.Func("gather")
    f[x] = b[hl.clamp(hl.cast(I32, at[x]), 0, n - 1)] * a
    f.vectorize(shared_out(f, x, p, 1 << 17), LANES * 2)
    return f, [b, at, a, n]


def aos(p):
    b, f = array("b"), hl.Func("aos")
    f[x] = b[4 * x] * b[4 * x + 1] + b[4 * x + 2]
    f.vectorize(shared_out(f, x, p, 1 << 15), LANES)
    return f, [b]


def blackscholes(p):
    b, f = [array(n) for n in ("price", "strike", "years")], hl.Func("blackscholes")
    r, sigma = hl.Param(F32, "r"), hl.Param(F32, "sigma")
    price, strike, years = (q[x] for q in b)

    def normal(d):
        z = 1.0 / (1.0 + 0.2316419 * hl.abs(d))
        terms = z * (0.31938153 + z * (-0.356563782 + z * (1.781477937 + z * (-1.821255978 + z * 1.330274429))))
        c = 0.3989423 * hl.exp(-0.5 * d * d) * terms
        return hl.select(d > 0.0, 1.0 - c, c)
    root = hl.sqrt(years)
    d1 = (hl.log(price / strike) + (r + 0.5 * sigma * sigma) * years) / (sigma * root)
    d2 = d1 - sigma * root
    f[x] = price * normal(d1) - strike * hl.exp(-r * years) * normal(d2)
    f.vectorize(shared_out(f, x, p, 1 << 15), LANES)
    return f, [*b, r, sigma]


def sgemv(p):
    a, b, n = array("a", axes=2), array("b"), hl.Param(I32, "n")
    k, s, f = hl.RDom([(0, n)]), hl.Func("s"), hl.Func("sgemv")
    lane, step = hl.RVar("lane"), hl.RVar("step")
    s[x] = 0.0
    s[x] += a[k, x] * b[k]
    sums = s.update().split(k, step, lane, LANES).rfactor(lane, u)
    f[x] = s[x]
    at = shared_out(f, x, p, 128)
    f.split(at, at, xi, 4)
    s.compute_at(f, at).update().atomic().vectorize(lane)
    sums.compute_at(f, at).vectorize(u).unroll(x).update().reorder(u, x, step).vectorize(u).unroll(x)
    return f, [a, b, n]


KERNELS = [saxpy, dot, stencil3, conv2d, matmul, transpose, nbody, divergent, gather, aos, blackscholes, sgemv]


def main():
    warnings.simplefilter("ignore", RuntimeWarning)  # constants are f32, as those of the other peers
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    plain = HOST.with_feature(hl.TargetFeature.NoAsserts).with_feature(hl.TargetFeature.NoBoundsQuery)
    has_runtime = False
    for make in KERNELS:
        for is_fast in (False, True):
            target = plain if is_fast else plain.with_feature(hl.TargetFeature.StrictFloat)
            for is_parallel in (False, True):
                name = f"halide_{'fast' if is_fast else 'exact'}_{'all' if is_parallel else 'one'}_{make.__name__}"
                f, arguments = make(is_parallel)
                wanted = target.with_feature(hl.TargetFeature.NoRuntime) if has_runtime else target
                f.compile_to({hl.OutputFileType.object: f"{folder}/{name}.o"}, arguments, name, wanted)
                has_runtime = True


main()
