#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fits the polynomials of src/ir/math_*.c (needs mpmath; nothing of the build depends on it).

Usage: scripts/minimax.py [NAME | NAME:32:TERMS | NAME:64:TERMS ...]    prints coefficients as C

Each fit minimises the largest |(f(x) - p(x)) * weight(x)| by Lawson's reweighted least squares; the
coefficients are then rounded to f32 or f64 one after the other, lowest first, the others being
fitted again after each rounding.
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, sqrt, log, exp, sin, tan, asin, atan, tanh
from mpmath import expm1, log1p, cosh, sinh

mp.dps = 60


def round_to(c, bits):
    if c == 0:
        return mpf(0)
    m, e = mp.frexp(c)
    return mp.ldexp(mp.nint(mp.ldexp(m, bits)), int(e) - bits)


def solve(rows, rhs, n):
    """Least squares by the normal equations; mp's digits pay for their condition."""
    m, v = matrix(n, n), matrix(n, 1)
    for i in range(n):
        for j in range(i, n):
            m[i, j] = m[j, i] = mp.fsum(r[i] * r[j] for r in rows)
        v[i] = mp.fsum(r[i] * y for r, y in zip(rows, rhs))
    s = lu_solve(m, v)
    return [s[i] for i in range(n)]


def fit(f, w, a, b, n, bits, fixed=()):
    """n coefficients rounded to `bits`; the first len(fixed) are given."""
    a, b = mpf(a), mpf(b)
    count = 6 * n + 20
    xs = [(a + b) / 2 - (b - a) / 2 * cos(pi * (i + mpf(1) / 2) / count) for i in range(count)]
    ws = [abs(w(x)) for x in xs]
    fs = [f(x) for x in xs]
    powers = [[x ** j for j in range(n)] for x in xs]
    out = [mpf(v) for v in fixed]

    def refit(lawson):
        k = len(out)
        rows, rhs = [], []
        for x, y, u, l, p in zip(xs, fs, ws, lawson, powers):
            g = u * l
            rest = y - mp.fsum(c * q for c, q in zip(out, p))
            rows.append([g * q for q in p[k:]])
            rhs.append(g * rest)
        return solve(rows, rhs, n - k)

    lawson = [mpf(1)] * count
    for _ in range(25):
        c = out + refit(lawson)
        e = [abs(u * (y - mp.fsum(q * v for q, v in zip(c, p))))
             for u, y, p in zip(ws, fs, powers)]
        top = max(e)
        lawson = [l * sqrt(v / top + mpf(10) ** -9) for l, v in zip(lawson, e)]
        top = max(lawson)
        lawson = [l / top for l in lawson]
    while len(out) < n:
        out.append(round_to(refit(lawson)[0], bits))
    worst = mpf(0)
    for i in range(401):
        x = a + (b - a) * i / 400
        p = mpf(0)
        for c in reversed(out):
            p = p * x + c
        worst = max(worst, abs((f(x) - p) * w(x)))
    return out, worst


EPS = mpf(10) ** -12


def near0(f, at0):
    return lambda x: f(x) if abs(x) > EPS else mpf(at0)


L2 = log(mpf(2))
Q = pi / 4 * (1 + mpf(2) ** -6)
R = L2 / 2 * (1 + mpf(2) ** -10)
S2 = sqrt(mpf(2))


def table():
    """name -> (function, weight, a, b, n for f32, n for f64, fixed)"""
    t = {}
    # exp(x) = 1 + x + x^2 p(x)
    t['exp'] = (near0(lambda x: (exp(x) - 1 - x) / x**2, .5), lambda x: x**2 / exp(x),
                -R, R, 5, 10, ())
    # 2^x = 1 + x p(x)
    t['exp2'] = (near0(lambda x: (mpf(2)**x - 1) / x, L2), lambda x: x / mpf(2)**x,
                 -.501, .501, 6, 12, ())
    # expm1(x) = x + x^2 p(x), relative to expm1
    t['expm1'] = (near0(lambda x: (expm1(x) - x) / x**2, .5),
                  near0(lambda x: x**2 / expm1(x), 0), -R, R, 5, 11, (.5,))
    # log(1+x) = x - x^2/2 + x^3 p(x)
    lg = near0(lambda x: (log1p(x) - x + x**2 / 2) / x**3, mpf(1) / 3)
    t['log'] = (lg, near0(lambda x: x**3 / log1p(x), 0),
                1 / S2 - 1 - mpf(2)**-20, S2 - 1 + mpf(2)**-20, 8, 19, ())
    # log(1+x)/log(b) = x/log(b) + x^2 p(x)
    for name, base in (('log2', mpf(2)), ('log10', mpf(10))):
        c = 1 / log(base)
        t[name] = (near0(lambda x, c=c: c * (log1p(x) - x) / x**2, -c / 2),
                   near0(lambda x, c=c: x**2 / (c * log1p(x)), 0),
                   1 / S2 - 1 - mpf(2)**-20, S2 - 1 + mpf(2)**-20, 9, 20, ())
    # sin(x) = x + x^3 p(x^2); cos(x) = 1 - x^2/2 + x^4 p(x^2), in z = x^2
    t['sin'] = (near0(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 6),
                near0(lambda z: z * sqrt(z) / sin(sqrt(z)), 0), 0, Q**2, 3, 7, ())
    t['cos'] = (near0(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24),
                lambda z: z**2 / cos(sqrt(z)), 0, Q**2, 3, 7, ())
    # tan(x) = x + x^3 p(x^2)
    t['tan'] = (near0(lambda z: (tan(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 3),
                near0(lambda z: z * sqrt(z) / tan(sqrt(z)), 0), 0, Q**2, 7, 15, ())
    # asin(x) = x + x^3 p(x^2)
    t['asin'] = (near0(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 6),
                 near0(lambda z: z * sqrt(z) / asin(sqrt(z)), 0), 0, mpf(1) / 4, 5, 12, ())
    # atan(x) = x + x^3 p(x^2)
    t['atan'] = (near0(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 3),
                 near0(lambda z: z * sqrt(z) / atan(sqrt(z)), 0), 0, 1, 9, 20, ())
    # cosh(x) = 1 + x^2 p(x^2), sinh(x) = x + x^3 p(x^2) for the reduced argument
    t['cosh'] = (near0(lambda z: (cosh(sqrt(z)) - 1) / z, .5), lambda z: z, 0, R**2, 3, 6, (.5,))
    t['sinh'] = (near0(lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 6),
                 near0(lambda z: z * sqrt(z) / sinh(sqrt(z)), 0), 0, R**2, 3, 6, ())
    # tanh(x) = x + x^3 p(x^2)
    t['tanh'] = (near0(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 3),
                 near0(lambda z: z * sqrt(z) / tanh(sqrt(z)), 0), 0, mpf('0.36'), 5, 12, ())
    # for pow: atanh(s) = s + s^3/3 + s^5 p(s^2)
    sm = ((S2 - 1) / (S2 + 1) * (1 + mpf(2)**-18))**2
    atanh_over_s = lambda z: (log1p(sqrt(z)) - log1p(-sqrt(z))) / (2 * sqrt(z))
    t['atanh'] = (near0(lambda z: (atanh_over_s(z) - 1 - z / 3) / z**2, mpf(1) / 5),
                  lambda z: z**2, 0, sm, 3, 7, ())
    return t


def show(name, row, bits, n):
    f, w, a, b, n32, n64, fixed = row
    c, worst = fit(f, w, a, b, n, bits, fixed)
    body = []
    for v in c:
        if bits == 24:
            body.append(float(v).hex().replace('00000000p', 'p').replace('0000000p', 'p'))
        else:
            body.append(float(v).hex())
    kind = 32 if bits == 24 else 64
    print('// %s, f%d: %d terms, 2^%.2f' % (name, kind, n, float(log(worst) / L2)))
    print('%s' % ', '.join(body), flush=True)


if __name__ == '__main__':
    rows = table()
    names = [a for a in sys.argv[1:]] or list(rows)
    for name in names:
        part = name.split(':')
        row = rows[part[0]]
        for bits, n in ((24, row[4]), (53, row[5])):
            if len(part) > 1 and part[1] != str(32 if bits == 24 else 64):
                continue
            show(part[0], row, bits, int(part[2]) if len(part) > 2 else n)
