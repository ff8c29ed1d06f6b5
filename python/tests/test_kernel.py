# SPDX-License-Identifier: MIT
"""Kernels from text and OpenCL C: calls, arguments, errors."""
import array
import ctypes
import gc
import pathlib
import pickle
import tempfile
import unittest

from support import SAXPY, needs_numpy, numpy, run_python, vyre

OPENCL = """
__kernel void saxpy(__global float *y, float a, __global const float *x) {
  int i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
__kernel void fill(__global int *out, int value, int width) {
  out[get_global_id(1) * width + get_global_id(0)] = value;
}
"""


def floats(*values):
    return array.array("f", values)


def has_clang():
    try:
        vyre.kernel(OPENCL, "saxpy")
    except vyre.BackendError:
        return False
    return True


class Calls(unittest.TestCase):
    def setUp(self):
        self.k = vyre.kernel(SAXPY)

    def test_buffer_protocol(self):
        x, y = floats(1, 2, 3), floats(10, 20, 30)
        self.assertIsNone(self.k(2.0, x, y))
        self.assertEqual(list(y), [12, 24, 36])

    def test_keywords_in_any_order(self):
        x, y = floats(1, 2), floats(0, 0)
        self.k(y=y, a=3, x=x)
        self.assertEqual(list(y), [3, 6])
        self.k(1.0, y=y, x=x)
        self.assertEqual(list(y), [4, 8])

    def test_other_owners_of_memory(self):
        x = memoryview(bytearray(8)).cast("f")
        x[0], x[1] = 5, 6
        y = (ctypes.c_float * 2)(1, 1)
        self.k(1, x, y)
        self.assertEqual(list(y), [6, 7])

    def test_call_through_other_protocols(self):
        x, y = floats(1), floats(0)
        self.k(*(2.0, x), **{"y": y})
        list(map(self.k, [1.0], [x], [y]))
        self.k.__call__(1.0, x, y)
        self.assertEqual(list(y), [4])

    def test_empty_arrays(self):
        self.k(2.0, floats(), floats())

    def test_nothing_is_kept(self):
        x, y = floats(1), floats(0)
        self.k(1.0, x, y)
        y.append(3)  # an exported buffer would refuse it
        self.assertEqual(list(y), [1, 3])

    def test_launch_words(self):
        x, y = floats(*[1] * 100), floats(*[0] * 100)
        self.k(1.0, x, y, workgroup=32, timeout=10, threads=1)
        self.assertEqual(sum(y), 100)

    def test_repr_and_signature(self):
        self.assertEqual(vyre.signature(self.k),
                         "saxpy(a: f32, x: f32[:] read, y: f32[:] readwrite)")
        self.assertIn("saxpy(a: f32", repr(self.k))
        self.assertIn("<table>", self.k._repr_html_())
        self.assertIn("program saxpy", self.k.text())
        self.assertIn("saxpy", self.k.explain())

    def test_pickling_says_what_to_do(self):
        with self.assertRaisesRegex(TypeError, "wire"):
            pickle.dumps(self.k)
        again = vyre.kernel(self.k.program.wire())
        y = floats(0)
        again(2.0, floats(4), y)
        self.assertEqual(list(y), [8])

    def test_from_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "saxpy.vyre"
            path.write_text(SAXPY)
            self.assertEqual(vyre.kernel(path).program.name, "saxpy")

    def test_tunables_by_options(self):
        text = "program t()\ntunable N: u32 in (2, 4)\nbuffer y: u32[] write\n" \
               "region main grid(len(y)) { y[global_id.x] = N }\n"
        y = array.array("I", [0])
        vyre.kernel(text, options="-DN=4")(y)
        self.assertEqual(list(y), [4])


class Errors(unittest.TestCase):
    def setUp(self):
        self.k = vyre.kernel(SAXPY)

    def check(self, kind, words, *args, **named):
        with self.assertRaises(kind) as caught:
            self.k(*args, **named)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertTrue(caught.exception.fix, str(caught.exception))
        return caught.exception

    def test_missing(self):
        e = self.check(vyre.BindingError, ["saxpy", "`y`", "missing"], 1.0, floats(1))
        self.assertIsInstance(e, ValueError)
        self.assertEqual(e.status, "binding")

    def test_too_many(self):
        self.check(vyre.BindingError, ["3 arguments", "4"], 1.0, floats(1), floats(1), 4)

    def test_twice(self):
        self.check(vyre.ArgumentError, ["`a`", "twice"], 1.0, floats(1), floats(1), a=1)

    def test_unknown_keyword(self):
        e = self.check(vyre.ArgumentError, ["`z`"], 1.0, floats(1), floats(1), z=1)
        self.assertIsInstance(e, TypeError)

    def test_wrong_type(self):
        self.check(vyre.BindingError, ["`x`", "f32", "f64"], 1.0, array.array("d", [1]), floats(1))

    def test_no_array(self):
        self.check(vyre.BindingError, ["`x`", "int"], 1.0, 5, floats(1))
        self.check(vyre.BindingError, ["`x`", "NoneType"], 1.0, None, floats(1))

    def test_read_only(self):
        frozen = memoryview(bytes(4)).cast("f")
        self.k(1.0, frozen, floats(1))
        self.check(vyre.BindingError, ["`y`", "read-only"], 1.0, floats(1), frozen)

    def test_no_number(self):
        self.check(vyre.BindingError, ["`a`", "f32"], "2", floats(1), floats(1))
        self.check(vyre.BindingError, ["`a`"], 1 << 5000, floats(1), floats(1))

    def test_too_short(self):
        self.check(vyre.BindingError, ["`y`", "2"], 1.0, floats(1, 2), floats(1))

    def test_overlap(self):
        x = floats(1, 2)
        self.check(vyre.BindingError, ["overlap"], 1.0, x, x)

    def test_strided(self):
        view = memoryview(bytearray(16)).cast("f")[::2]
        self.check(vyre.BindingError, ["`x`", "contiguous"], 1.0, view, floats(1, 2))

    def test_integers_keep_to_their_range(self):
        k = vyre.kernel("program p(a: u8, b: i16)\nbuffer y: i32[] write\n"
                        "region main grid(len(y)) { y[global_id.x] = i32(a) + i32(b) }\n")
        y = array.array("i", [0])
        k(255, -32768, y)
        self.assertEqual(list(y), [255 - 32768])
        for bad in [(256, 0), (-1, 0), (0, 32768), (0, 1 << 70), (1.5, 0), ("1", 0)]:
            with self.assertRaises(vyre.BindingError):
                k(*bad, y)

    def test_syntax_has_a_place(self):
        with self.assertRaises(vyre.SourceError) as caught:
            vyre.kernel(SAXPY.replace("y[i] = a", "y[i] = b"), name="my.vyre")
        e = caught.exception
        self.assertEqual((e.file, e.line, e.code), ("my.vyre", 6, "P030"))
        self.assertIn("^", e.excerpt)
        self.assertIn("^", str(e))
        again = pickle.loads(pickle.dumps(e))
        self.assertEqual((str(again), type(again), again.line), (str(e), type(e), 6))

    def test_bad_launch_words(self):
        for named in [{"timeout": 0}, {"timeout": -1}, {"workgroup": ()}, {"workgroup": (1, 2, 3, 4)},
                      {"workgroup": "a"}, {"grid": 5}, {"workgroup": 1 << 40}]:
            with self.assertRaises(vyre.Error, msg=named):
                self.k(1.0, floats(1), floats(1), **named)

    def test_timeout(self):
        from support import FOREVER
        with self.assertRaises(TimeoutError) as caught:
            vyre.kernel(FOREVER)(array.array("I", [0]), timeout=0.2)
        self.assertIsInstance(caught.exception, vyre.TimeoutError)

    def test_exceptions_of_arguments_pass(self):
        class Bad:
            def __float__(self):
                raise KeyError("mine")

        with self.assertRaises(KeyError):
            self.k(Bad(), floats(1), floats(1))

    def test_numbers_that_are_too_large(self):
        for number in [1e40, -1e40, 3.5e38, 10**39, 10**400]:
            with self.assertRaisesRegex(vyre.Error, "`a` is f32, but this is too large"):
                self.k(number, floats(1), floats(1))
        for number in [3.4028235e38, float("inf"), float("-inf")]:
            self.k(number, floats(1), floats(1))

    def test_half(self):
        k = vyre.kernel("""program half(a: f16)
buffer y: f32[] write
region r grid(len(y)) workgroup(64) { y[global_id.x] = f32(a) }
""")
        # Halfway between two of them goes to the even one, a little more than that up: not by way of f32.
        for given, wanted in [(2.0, 2.0), (-0.5, -0.5), (7, 7.0), (1 + 2.0**-11, 1.0),
                              (1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-10), (1 + 3 * 2.0**-11 - 2.0**-40, 1 + 2.0**-10),
                              (65519.99999, 65504.0), (2.0**-25, 0.0), (2.0**-25 + 2.0**-60, 2.0**-24),
                              (1e-300, 0.0), (float("inf"), float("inf"))]:
            y = floats(1)
            k(given, y)
            self.assertEqual(y[0], wanted, given)
        for given in [65520.0, -65520.0, 1e40, 70000]:
            with self.assertRaisesRegex(vyre.Error, "`a` is f16, but this is too large"):
                k(given, floats(1))


@unittest.skipUnless(has_clang(), "OpenCL C needs clang")
class OpenCL(unittest.TestCase):
    def test_order_of_arguments_and_grid(self):
        k = vyre.kernel(OPENCL, "saxpy")
        y, x = floats(1, 1, 1), floats(1, 2, 3)
        k(y, 2.0, x, grid=3)
        self.assertEqual(list(y), [3, 5, 7])
        k(y, 1.0, x=x, grid=(2,))
        self.assertEqual(list(y), [4, 7, 7])

    def test_two_axes(self):
        k = vyre.kernel(OPENCL, "fill", rank=2)
        out = array.array("i", [0] * 12)
        k(out, 7, 4, grid=(4, 2))
        self.assertEqual(list(out), [7] * 8 + [0] * 4)

    def test_grid_is_needed(self):
        k = vyre.kernel(OPENCL, "saxpy")
        with self.assertRaisesRegex(vyre.ArgumentError, "grid"):
            k(floats(1), 1.0, floats(1))
        with self.assertRaisesRegex(vyre.ArgumentError, "grid"):
            k(floats(1), 1.0, floats(1), grid=(1, 1, 1))

    def test_entries(self):
        self.assertEqual(vyre.entries(OPENCL), ["saxpy", "fill"])


class OwnMemory:
    """An object of another library: memory that is told by __array_interface__ alone."""

    def __init__(self, values, **more):
        self.memory = (ctypes.c_float * len(values))(*values)
        self.__array_interface__ = {"version": 3, "shape": (len(values),), "typestr": "<f4",
                                    "data": (ctypes.addressof(self.memory), False), **more}


class Interfaces(unittest.TestCase):
    def setUp(self):
        self.k = vyre.kernel(SAXPY)

    def test_array_interface(self):
        x, y = OwnMemory([1, 2]), OwnMemory([0, 0])
        self.k(2.0, x, y)
        self.assertEqual(list(y.memory), [2, 4])

    def test_array_interface_is_checked(self):
        good = OwnMemory([1, 2])
        for bad in [OwnMemory([1, 2], typestr="<f8"), OwnMemory([1, 2], strides=(8,)),
                    OwnMemory([1, 2], typestr=">f4"), OwnMemory([1, 2], data=None),
                    OwnMemory([1, 2], shape=3), OwnMemory([1, 2], typestr="")]:
            with self.assertRaises(vyre.Error):
                self.k(2.0, bad, good)
        frozen = OwnMemory([1, 2])
        frozen.__array_interface__["data"] = (frozen.__array_interface__["data"][0], True)
        with self.assertRaisesRegex(vyre.BindingError, "read-only"):
            self.k(2.0, good, frozen)

    @needs_numpy
    def test_numpy(self):
        x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        y = numpy.ones((3, 4), numpy.float32)
        self.k(numpy.float32(2), x, y)
        self.assertTrue((y == 2 * x + 1).all())

    @needs_numpy
    def test_numpy_is_checked(self):
        y = numpy.ones(4, numpy.float32)
        frozen = numpy.ones(4, numpy.float32)
        frozen.flags.writeable = False
        self.k(1.0, frozen, y)
        big = numpy.ones(4, ">f4")
        unaligned = numpy.frombuffer(bytearray(17), numpy.uint8)[1:].view(numpy.float32)
        for bad in [numpy.ones(4), numpy.ones(8, numpy.float32)[::2], big, numpy.ones(4, complex),
                    numpy.asfortranarray(numpy.ones((2, 2), numpy.float32).T[::-1]), unaligned]:
            with self.assertRaises(vyre.Error):
                self.k(1.0, bad, y)
        with self.assertRaisesRegex(vyre.BindingError, "read-only"):
            self.k(1.0, y, frozen)

    @needs_numpy
    def test_numpy_types(self):
        for name in ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"]:
            k = vyre.kernel(f"program p()\nbuffer x: {name}[] read\nbuffer y: {name}[] write\n"
                            "region main grid(len(x)) { y[global_id.x] = x[global_id.x] }\n")
            dtype = vyre._types.TYPES[name].dtype
            x = numpy.array([1, 0, 1], dtype)
            y = numpy.zeros(3, dtype)
            k(x, y)
            self.assertTrue((x == y).all(), name)
            with self.assertRaises(vyre.BindingError):
                k(x, numpy.zeros(3, numpy.complex64))

    @needs_numpy
    def test_subclasses_and_views(self):
        class Mine(numpy.ndarray):
            pass

        x = numpy.ones(4, numpy.float32).view(Mine)
        y = numpy.zeros(8, numpy.float32)
        self.k(3.0, x, y[4:])
        self.assertEqual(y.tolist(), [0] * 4 + [3] * 4)

    @needs_numpy
    def test_dlpack(self):
        class Other:  # as a tensor of another library
            def __init__(self, a):
                self.a = a

            def __dlpack__(self, **more):
                return self.a.__dlpack__()

            def __dlpack_device__(self):
                return (1, 0)

        class Elsewhere(Other):
            def __dlpack_device__(self):
                return (2, 0)

        x, y = numpy.ones(4, numpy.float32), numpy.zeros(4, numpy.float32)
        self.k(2.0, Other(x), Other(y))
        self.assertEqual(y.tolist(), [2] * 4)
        with self.assertRaisesRegex(vyre.UnsupportedError, "CPU"):
            self.k(2.0, Elsewhere(x), y)
        with self.assertRaises(vyre.BindingError):
            self.k(2.0, Other(numpy.ones(4)), y)
        with self.assertRaises(vyre.BindingError):
            self.k(2.0, Other(numpy.ones(8, numpy.float32)[::2]), y)


class Process(unittest.TestCase):
    def test_import_loads_no_numpy(self):
        done = run_python("import vyre, sys; print('numpy' in sys.modules, 'asyncio' in sys.modules, "
                          "'ast' in sys.modules)")
        self.assertEqual(done.stdout.split(), ["False"] * 3, done.stderr)

    def test_kernels_are_collected(self):
        k = vyre.kernel(SAXPY)
        k.me = k
        import weakref
        seen = weakref.ref(k)
        del k
        gc.collect()
        self.assertIsNone(seen())

    def test_devices(self):
        names = [d.backend for d in vyre.devices()]
        self.assertIn("cpu", names)
        self.assertIn("ref", repr(vyre.devices()))
        self.assertIn("<table>", vyre.devices()._repr_html_())


if __name__ == "__main__":
    unittest.main()
