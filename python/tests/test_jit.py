# SPDX-License-Identifier: MIT
"""@vyre.jit: what a kernel computes is compared with what Python computes, run by Python itself."""
import array
import contextlib
import itertools
import math
import unittest

from support import needs_numpy, numpy, vyre


@contextlib.contextmanager
def in_python():
    """vyre.parallel and vyre.atomic_add as Python can do them."""
    def parallel(*extents, workgroup=None):
        return range(extents[0]) if len(extents) == 1 else itertools.product(*map(range, extents))

    kept = vyre.parallel
    vyre.parallel = parallel
    try:
        yield
    finally:
        vyre.parallel = kept


class Grid:
    """An array of two axes without numpy: memory, and elements by pairs."""

    def __init__(self, h, w, kind="f", values=None):
        self.memory = memoryview(bytearray(h * w * array.array(kind).itemsize)).cast(kind, (h, w))
        self.shape = (h, w)
        for at, value in enumerate(values or []):
            self.memory[at // w, at % w] = value

    def __getitem__(self, at):
        return self.memory[at]

    def __setitem__(self, at, value):
        self.memory[at] = value

    def tolist(self):
        return self.memory.tolist()


def double(x):
    return x + x


def pick(a, b):
    if a > b:
        return a
    elif a < -b:
        return 2 * a
    return b


def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@vyre.jit
def one_of_the_sides(x: vyre.i32[:], y: vyre.i32[:], z: vyre.f32[:], out: vyre.i32[:], real: vyre.f32[:]):
    for i in vyre.parallel(len(x)):
        t = x[i] and y[i]
        t += (x[i] or y[i]) * 3 + (x[i] and 0 or y[i] and 7)
        t += (x[i] > 2 and y[i]) + (y[i] or x[i] > 2)
        if x[i] and y[i] or not (x[i] or y[i]):
            t += 1000
        while t and t > 900:
            t -= 100
        t += 5 if x[i] and t else 6
        out[i] = t
        real[i] = z[i] and z[i] + 1 or 0.5


SCALE = 3
WEIGHTS = (1, 2, 4)


@vyre.jit
def whole_numbers(x: vyre.i32[:], y: vyre.i32[:]):
    n = len(x)
    for i in vyre.parallel(n):
        a = x[i]
        b = x[(i + 1) % n]
        s = a + b * SCALE - 7
        s += a // 3 + a % 3
        s += a // -3 + a % -3
        if b != 0:
            s += (a // b) * 5 + a % b
        s ^= a & 255
        s |= 1 << (i % 8)
        s -= -a >> 2
        s += abs(a) + min(a, b, 4) + max(a, -b)
        s += WEIGHTS[0] + WEIGHTS[-1]
        s += ~a
        y[i] = s


@vyre.jit
def control(x: vyre.i32[:], y: vyre.i32[:]):
    for i in vyre.parallel(len(y)):
        total = 0
        for k in range(len(x)):
            if x[k] < 0:
                continue
            if x[k] == 77:
                break
            total += x[k]
        for k in range(10, 0, -3):
            total += k * i
        for k in range(2, i, 2):
            total -= k
        n = i
        steps = 0
        while n > 1 and steps < 100:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        if i % 3 == 0:
            kind = 1
        elif i % 3 == 1:
            kind = 2
        else:
            kind = 3
        a, b = total, steps
        a, b = b, a
        y[i] = a * 1000 + b + kind + gcd(i + 12, 18) + (1 if 0 < i < 5 else 0) + (not i) * 7


@vyre.jit
def late(x: vyre.i32[:], y: vyre.i32[:]):
    for i in vyre.parallel(len(y)):
        for k in range(5):
            if k == 0:
                kept = x[i]
            y[i] += kept + k


@vyre.jit
def floats(a: vyre.f64, x: vyre.f64[:], y: vyre.f64[:]):
    for i in vyre.parallel(len(x)):
        t = x[i]
        r = a * t + 0.5 - t / 3
        r += t ** 2 + abs(t) ** 0.5
        r += math.sqrt(abs(t)) + t // 0.7 + t % 0.7 + t % -0.7
        r += pick(t, 0.25) + double(t) * 2
        r += math.floor(t) + math.ceil(t) + int(t) + float(i) + round(t)
        r += max(t, 0) + (t > 0) * 2
        y[i] = r


@vyre.jit
def plane(src: vyre.f32[:, :], dst: vyre.f32[:, :]):
    h, w = src.shape
    for y, x in vyre.parallel(h, w):
        dst[y, x] = src[y, x] * 2 + src[-1, x] - src[y, (x + 1) % w]
    for y, x in vyre.parallel(h - 1, w):
        dst[y, x] = dst[y, x] + src[y + 1, x]


class SameAsPython(unittest.TestCase):
    def compare(self, kernel, make, *scalars):
        mine, python = make(), make()
        kernel(*scalars, *mine)
        with in_python():
            kernel.__wrapped__(*scalars, *python)
        for a, b in zip(mine, python):
            self.assertEqual(a.tolist(), b.tolist())

    def test_whole_numbers(self):
        values = [0, 1, -1, 5, -5, 12345, -12345, 77, 3, -3, 100, 1000, -999]
        self.compare(whole_numbers, lambda: (array.array("i", values), array.array("i", [0] * 13)))

    def test_and_and_or_give_one_of_their_sides(self):
        x, y = [0, 0, 4, -3, 7, 1, 2], [0, 5, 0, 2, -9, 1000, 6]
        z = [0.0, 1.0, -1.0, 2.5, 0.0, -0.5, 3.0]
        self.compare(one_of_the_sides, lambda: (
            array.array("i", x), array.array("i", y), array.array("f", z), array.array("i", [0] * 7),
            array.array("f", [0] * 7)))

    def test_control(self):
        values = [3, -1, 4, 1, -5, 9, 77, 5]
        self.compare(control, lambda: (array.array("i", values), array.array("i", [0] * 20)))

    def test_variables_that_outlive_a_branch(self):
        self.compare(late, lambda: (array.array("i", [4, 5, 6]), array.array("i", [0, 0, 0])))

    def test_floats(self):
        values = [0.0, 1.5, -1.5, 2.25, -7.75, 1e3, -0.1, 3.0]
        x, y = array.array("d", values), array.array("d", [0] * 8)
        expected = array.array("d", [0] * 8)
        floats(1.25, x, y)
        with in_python():
            floats.__wrapped__(1.25, x, expected)
        for a, b in zip(y, expected):
            self.assertAlmostEqual(a, b, places=9)

    def test_plane(self):
        values = [((7 * k) % 13) / 4 for k in range(15)]
        a, b, c = Grid(3, 5, values=values), Grid(3, 5), Grid(3, 5)
        plane(a.memory, b.memory)
        with in_python():
            plane.__wrapped__(a, c)
        self.assertEqual(b.tolist(), c.tolist())


class Language(unittest.TestCase):
    def test_index_and_usual_grid(self):
        @vyre.jit
        def k(x: vyre.f32[:], y: vyre.f32[:]):
            i = vyre.index()
            if i >= 3:
                return
            y[i] = x[i] + 1
        y = array.array("f", [0] * 5)
        k(array.array("f", [1] * 5), y)
        self.assertEqual(list(y), [2, 2, 2, 0, 0])
        self.assertEqual(k.__name__, "k")

    def test_grid_of_a_name_and_of_expressions(self):
        @vyre.jit(grid="n // 2")
        def half(n: vyre.i32, y: vyre.u32[:]):
            y[vyre.index()] += 1

        @vyre.jit(rank=2)
        def given(y: vyre.u32[:]):
            r, c = vyre.index(2)
            y[r * 10 + c] = 1
        y = array.array("I", [0] * 100)
        half(10, y)
        self.assertEqual(sum(y), 5)
        y = array.array("I", [0] * 100)
        given(y, grid=(3, 10))
        self.assertEqual(list(y), [1] * 30 + [0] * 70)

    def test_shared_barrier_and_atomics(self):
        @vyre.jit(workgroup=64, grid="len(x)")
        def sums(x: vyre.u32[:], total: vyre.u32[:], parts: vyre.u32[:]):
            s = vyre.shared(vyre.u32, 64)
            i = vyre.local_index()
            s[i] = x[vyre.index()]
            vyre.barrier()
            step = 32
            while step > 0:
                if i < step:
                    s[i] += s[i + step]
                vyre.barrier()
                step //= 2
            if i == 0:
                parts[vyre.group_index()] = s[0]
                vyre.atomic_add(total[0], s[0])
        x = array.array("I", range(256))
        total, parts = array.array("I", [0]), array.array("I", [0] * 4)
        sums(x, total, parts)
        self.assertEqual(total[0], sum(x))
        self.assertEqual(list(parts), [sum(x[k * 64:k * 64 + 64]) for k in range(4)])

    def test_local_arrays(self):
        @vyre.jit
        def k(y: vyre.i32[:]):
            t = vyre.local(vyre.i32, 3, 2)
            i = vyre.index()
            for a in range(3):
                for b in range(2):
                    t[a, b] = a * 10 + b + i
            y[i] = t[2, 1] + t[-1, 0]
        y = array.array("i", [0, 0])
        k(y)
        self.assertEqual(list(y), [41, 43])

    def test_conversions_and_types(self):
        @vyre.jit
        def k(x: vyre.u8[:], y: vyre.f32[:], z: vyre.u8[:], b: vyre.bool_[:]):
            i = vyre.index()
            s = x[i] + x[i]          # in i32: no wrapping
            y[i] = s / 4
            z[i] = s
            b[i] = s > 255
            w = vyre.u64(x[i]) << 40
            t: vyre.f64 = 1
            y[i] += vyre.f32(w >> 40) * t
        x, z = array.array("B", [200, 3]), array.array("B", [0, 0])
        y, b = array.array("f", [0, 0]), memoryview(bytearray(2)).cast("?")
        k(x, y, z, b)
        self.assertEqual((list(y), list(z), list(b)), ([300, 4.5], [144, 6], [True, False]))

    def test_defaults_and_reserved_names(self):
        @vyre.jit
        def region(min: vyre.i32[:], buffer: vyre.i32 = 5, var: vyre.i32 = 2):
            let = vyre.index()
            min[let] = buffer * var
        y = array.array("i", [0])
        region(y)
        self.assertEqual(y[0], 10)
        region(y, var=3)
        self.assertEqual(y[0], 15)

    def test_closures_and_constants(self):
        def make(n):
            @vyre.jit
            def k(y: vyre.i32[:]):
                y[vyre.index()] = n * 2
            return k
        y = array.array("i", [0])
        make(21)(y)
        self.assertEqual(y[0], 42)

    def test_one_kernel_in_another(self):
        @vyre.jit
        def outer(y: vyre.i32[:]):
            y[vyre.index()] = inner_sum(vyre.index(), 2)

        def inner_sum(a, b=1, c=10):
            t = a
            t += b * c
            return t
        y = array.array("i", [0, 0])
        outer(y)
        self.assertEqual(list(y), [20, 21])

    def test_tunables(self):
        TILE = vyre.Tunable("TILE", 4, 8, 16)

        @vyre.jit(workgroup=TILE, grid="len(y)")
        def k(y: vyre.i32[:]):
            s = vyre.shared(vyre.i32, TILE)
            s[vyre.local_index()] = TILE
            vyre.barrier()
            y[vyre.index()] = s[TILE - 1] + 0 * vyre.group_size()
        y = array.array("i", [0] * 16)
        k(y)
        self.assertEqual(list(y), [4] * 16)
        self.assertEqual(k.program.tunables[0][:3], ("TILE", "u32", [4, 8, 16]))


class Refused(unittest.TestCase):
    def check(self, kernel, line, words, *args):
        with self.assertRaises(vyre.JitError) as caught:
            kernel(*args) if args else kernel.program
        e = caught.exception
        source = kernel.__wrapped__.__code__
        self.assertEqual(e.file, source.co_filename)
        self.assertEqual(e.line - source.co_firstlineno, line, str(e))
        self.assertIn("^", e.excerpt)
        self.assertTrue(e.fix, str(e))
        self.assertIn(words, str(e))

    def test_comprehension(self):
        @vyre.jit
        def k(x: vyre.f32[:]):
            x[vyre.index()] = [j for j in range(3)]
        self.check(k, 2, "comprehension")

    def test_unknown_name(self):
        @vyre.jit
        def k(x: vyre.f32[:]):
            x[vyre.index()] = missing  # noqa: F821
        self.check(k, 2, "`missing`")

    def test_no_annotation(self):
        @vyre.jit
        def k(x):
            x[vyre.index()] = 1
        self.check(k, 1, "`x`")

    def test_wrong_annotation(self):
        @vyre.jit
        def k(x: str):
            x[vyre.index()] = 1
        self.check(k, 1, "no type")

    def test_axes(self):
        @vyre.jit
        def k(x: vyre.f32[:, :]):
            x[vyre.index()] = 1
        self.check(k, 2, "axes")

    def test_float_index(self):
        @vyre.jit
        def k(x: vyre.f32[:]):
            i = vyre.index()
            x[i] = x[x[i]]
        self.check(k, 3, "whole number")

    def test_return_value(self):
        @vyre.jit
        def k(x: vyre.f32[:]):
            return x[0]
        self.check(k, 2, "returns nothing")

    def test_foreign_function(self):
        @vyre.jit
        def k(x: vyre.f32[:]):
            x[vyre.index()] = len(str(3))
        self.check(k, 2, "Fix")

    def test_statements(self):
        @vyre.jit
        def k(x: vyre.f32[:]):
            with x:
                pass
        self.check(k, 2, "with")

    def test_constant_range(self):
        @vyre.jit
        def k(x: vyre.u8[:]):
            x[vyre.index()] = 300
        self.check(k, 2, "range of u8")

    def test_recursion(self):
        def again(n):
            return again(n - 1)

        @vyre.jit
        def k(x: vyre.f32[:]):
            x[vyre.index()] = again(3)
        with self.assertRaisesRegex(vyre.JitError, "deeply"):
            k.program

    def test_no_source(self):
        space = {"vyre": vyre}
        exec("@vyre.jit\ndef k(x: vyre.f32[:]):\n    x[vyre.index()] = 1\n", space)
        with self.assertRaisesRegex(vyre.JitError, "source"):
            space["k"].program

    def test_outside_of_kernels(self):
        with self.assertRaisesRegex(vyre.JitError, "kernel only"):
            vyre.index()


@needs_numpy
class Fuse(unittest.TestCase):
    def test_expression(self):
        f = vyre.fuse(lambda x, y, s: numpy.where(x > y, numpy.sqrt(x) * s, y - 1))
        x = numpy.linspace(0, 4, 101, dtype=numpy.float32).reshape(101, 1)
        y = x[::-1].copy()
        expected = numpy.where(x > y, numpy.sqrt(x) * numpy.float32(2.5), y - 1)
        z = f(x, y, 2.5)
        self.assertEqual(z.dtype, numpy.float32)
        self.assertEqual(z.shape, x.shape)
        self.assertTrue((z == expected).all())
        out = numpy.zeros_like(x)
        self.assertIs(f(x, y, 2.5, out=out), out)
        self.assertTrue((out == expected).all())
        self.assertEqual(f(x.astype("f8"), y.astype("f8"), 1).dtype, numpy.float64)

    def test_several_and_buffers(self):
        f = vyre.fuse(lambda a, b: (a + b, a * b))
        a = numpy.arange(4, dtype=numpy.int32)
        s, p = f(a, a)
        self.assertEqual((s.tolist(), p.tolist()), ([0, 2, 4, 6], [0, 1, 4, 9]))
        s, p = f(vyre.Buffer(a), a)
        self.assertIsInstance(p, vyre.Buffer)
        self.assertEqual(p.tolist(), [0, 1, 4, 9])

    def test_shapes_are_checked(self):
        f = vyre.fuse(lambda a, b: a + b)
        with self.assertRaisesRegex(vyre.ArgumentError, "shape"):
            f(numpy.zeros(3), numpy.zeros(4))
        with self.assertRaisesRegex(vyre.ArgumentError, "no array"):
            f(1, 2)


@needs_numpy
class NumpyFunctions(unittest.TestCase):
    def test_elementwise(self):
        x = numpy.linspace(-0.95, 0.95, 40)
        for name in ["sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
                     "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "cbrt", "floor", "ceil",
                     "trunc", "rint", "abs", "square", "sign", "negative"]:
            function = getattr(numpy, name)
            data = numpy.abs(x) if name in ("sqrt", "log", "log2", "log10") else x
            f = vyre.fuse(lambda v: function(v))
            self.assertTrue(numpy.allclose(f(data), function(data), rtol=1e-14, atol=0), name)
        for name in ["arctan2", "hypot", "fmod", "minimum", "maximum", "copysign", "mod", "floor_divide"]:
            function = getattr(numpy, name)
            f = vyre.fuse(lambda a, b: function(a, b))
            y = x[::-1] * 0.7 + 0.01
            self.assertTrue(numpy.allclose(f(x, y), function(x, y), rtol=1e-14, atol=1e-15), name)


class Tune(unittest.TestCase):
    TEXT = """program steps()
tunable N: u32 in (1, 2, 4, 8) where N != 4
buffer y: u32[] readwrite
region main grid(len(y)) {
  var s: u32 = 0
  for k in 0..64 / N { s = s + N }
  y[global_id.x] = y[global_id.x] + s
}
"""

    def test_finds_and_restores(self):
        k = vyre.kernel(self.TEXT)
        y = array.array("I", [5] * 64)
        found = vyre.tune(k, y, rounds=2)
        self.assertEqual(list(y), [5] * 64)
        self.assertEqual(found.count, 3)
        self.assertEqual(len(found.rows), 3)
        self.assertNotEqual(found.values["N"], 4)
        found.kernel(y)
        self.assertEqual(list(y), [69] * 64)
        self.assertIn("-DN=", repr(found))
        self.assertIn("<table>", found._repr_html_())

    def test_wrong_answers_are_not_taken(self):
        k = vyre.kernel(self.TEXT.replace("64 / N", "64 / N + N / 8"))
        found = vyre.tune(k, array.array("I", [0] * 8), rounds=1)
        self.assertIn("another answer", [why for _, _, why in found.rows])
        self.assertNotEqual(found.values["N"], 8)

    def test_needs_tunables(self):
        with self.assertRaisesRegex(vyre.ArgumentError, "tunables"):
            vyre.tune(vyre.kernel("program p()\nbuffer y: u32[] write\nregion main grid(1) { y[0] = 1 }\n"),
                      array.array("I", [0]))


if __name__ == "__main__":
    unittest.main()
