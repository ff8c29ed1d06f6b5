# SPDX-License-Identifier: MIT
"""Scalars of every type at the edges (tests/scalars.txt) as arguments of a call: each arrives with its bits, or
is refused by the argument's name and type; as Python's own numbers and as numpy's, of kernels and of @jit."""
import ctypes
import os
import struct
import unittest

from support import needs_numpy, numpy, vyre

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "scalars.txt")
CODES = {"bool": "|b1", "i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2", "i32": "<i4", "u32": "<u4",
         "i64": "<i8", "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}
FLOATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
COPY = """program copy(p: {0})
buffer y: {0}[] write
region r grid(1) {{ y[0] = p }}
"""


def rows():
    with open(TABLE) as f:
        return [line.split() for line in f if not line.startswith("#")]


def number(kind, text):
    """The number as Python has it; a word that is none stays one."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if kind[0] == "f" else int(text)
    except ValueError:
        return text


class One:
    """Memory of one element, of any type: Python itself has no array of f16."""

    def __init__(self, kind):
        self.memory = (ctypes.c_ubyte * 8)(*[0x5A] * 8)
        self.size = int(CODES[kind][2])
        self.__array_interface__ = {"shape": (1,), "typestr": CODES[kind], "version": 3,
                                    "data": (ctypes.addressof(self.memory), False)}

    def bytes(self):
        return bytes(self.memory)[:self.size]


class Scalars(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = {kind: vyre.kernel(COPY.format(kind)) for kind in CODES}

    def expect(self, kind, given, bits):
        y = One(kind)
        self.kernels[kind](given, y)
        if bits == "nan":
            value, = struct.unpack(FLOATS[kind], y.bytes())
            self.assertNotEqual(value, value, (kind, given))
        else:
            self.assertEqual(y.bytes()[::-1].hex(), bits.zfill(2 * y.size), (kind, given))

    def refuse(self, kind, given):
        y = One(kind)
        with self.assertRaisesRegex(vyre.Error, f"`p` is {kind}, but .* Fix: pass ", msg=(kind, given)):
            self.kernels[kind](given, y)
        self.assertEqual(y.bytes(), b"\x5a" * y.size)

    def test_numbers(self):
        for kind, text, bits in rows():
            if bits != "refused":
                self.expect(kind, number(kind, text), bits)
            elif text != "1e999":  # which is Python's infinity
                self.refuse(kind, number(kind, text))

    def test_numbers_of_other_kinds(self):
        for kind in CODES:
            for given in ["1", b"1", None, [1], (1,), {}, 1j, object()]:
                self.refuse(kind, given)
            if kind[0] in "iu":
                self.refuse(kind, 1.0)
                self.expect(kind, True, "1")
            elif kind != "bool":
                self.expect(kind, True, struct.pack(FLOATS[kind], 1.0)[::-1].hex())
                self.refuse(kind, 10**400)
        for given, bits in [(1, "1"), (0, "0"), (1.0, "1"), (-0.0, "0")]:
            self.expect("bool", given, bits)
        for given in [0.5, float("nan"), -1, 10**30]:
            self.refuse("bool", given)

    @needs_numpy
    def test_scalars_of_numpy(self):
        with numpy.errstate(all="ignore"):
            for kind, text, bits in rows():
                if bits == "refused":
                    continue
                made = numpy.dtype(CODES[kind]).type(number(kind, text))
                self.expect(kind, made, bits)
                self.expect(kind, numpy.asarray(made), bits)
                if kind[0] in "iu":
                    for wide in (numpy.int64, numpy.uint64):
                        if numpy.iinfo(wide).min <= int(made) <= numpy.iinfo(wide).max:
                            self.expect(kind, wide(int(made)), bits)
            for kind in ("i8", "u8", "i16", "u16", "i32", "u32"):
                most = numpy.iinfo(numpy.dtype(CODES[kind])).max
                self.refuse(kind, numpy.int64(most + 1))
                self.refuse(kind, numpy.float64(1))
            self.refuse("u64", numpy.int64(-1))
            self.refuse("i64", numpy.uint64(2**63))

    def test_jit(self):
        for kind in CODES:
            if not hasattr(vyre, kind if kind != "bool" else "bool_"):
                continue
            element = getattr(vyre, kind if kind != "bool" else "bool_")

            def copy(p: element, y: element[:]):
                for i in vyre.parallel(1):
                    y[i] = p
            copy.__annotations__ = {"p": element, "y": element[:]}
            self.kernels[kind] = vyre.jit(copy)
        try:
            self.test_numbers()
        finally:
            self.setUpClass()


if __name__ == "__main__":
    unittest.main()
