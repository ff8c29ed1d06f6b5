# SPDX-License-Identifier: MIT
"""Runtimes, buffers, submitted calls, threads, signals, forks, the end of the process, growth."""
import array
import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from support import FOREVER, SAXPY, needs_numpy, numpy, run_python, vyre


def floats(*values):
    return array.array("f", values)


SLOW = """program slow(n: u32)
buffer y: u32[] readwrite
region main grid(len(y)) {
  var s: u32 = y[global_id.x]
  for k in 0..n { s = s * 1664525 + 1013904223 }
  y[global_id.x] = s
}
"""


def spin(seconds):
    """A call of SLOW that takes about so long: the kernel and its arguments."""
    k = vyre.kernel(SLOW)
    y = array.array("I", [1])
    n = 100000
    while True:
        k(n, y)
        if k.seconds > 0.005:
            return k, int(n * seconds / k.seconds), y
        n *= 4


class Runtimes(unittest.TestCase):
    def test_with_block(self):
        with vyre.Runtime("ref") as rt:
            self.assertIs(vyre.runtime(), rt)
            k = vyre.kernel(SAXPY)
            self.assertIs(k.runtime, rt)
            y = floats(1)
            k(2.0, floats(3), y)
            self.assertEqual(list(y), [7])
        self.assertIsNot(vyre.runtime(), rt)
        self.assertTrue(rt.closed)
        with self.assertRaisesRegex(vyre.ArgumentError, "closed"):
            k(2.0, floats(3), y)
        rt.close()
        self.assertIn("closed", repr(rt))

    def test_unknown_backend(self):
        with self.assertRaisesRegex(vyre.Error, "nowhere"):
            vyre.kernel(SAXPY, runtime=vyre.Runtime("nowhere"))(1.0, floats(1), floats(1))

    def test_every_backend_has_the_same_bits(self):
        results = {}
        for device in vyre.devices():
            if device.usable:
                with vyre.Runtime(device.backend, store=False):
                    y = floats(*range(100))
                    vyre.kernel(SAXPY)(0.1, floats(*(k / 7 for k in range(100))), y)
                    results[device.backend] = y.tobytes()
        self.assertGreaterEqual(len(results), 2)
        self.assertEqual(len(set(results.values())), 1, results.keys())

    def test_settle_and_explain(self):
        with vyre.Runtime(store=False, learn_after=1) as rt:
            k = vyre.kernel(SAXPY)
            for _ in range(5):
                k(2.0, floats(*[1] * 1000), floats(*[1] * 1000))
            rt.settle()
            self.assertIn("saxpy", k.explain())

    def test_kernel_outlives_its_block_and_collector(self):
        for _ in range(3):
            rt = vyre.Runtime(store=False)
            k = vyre.kernel(SAXPY, runtime=rt)
            k(1.0, floats(1), floats(1))
            b = vyre.Buffer(floats(1, 2), runtime=rt)
            rt.me = rt
            del rt, k
            gc.collect()
            self.assertEqual(b.tolist(), [1, 2])
            b.runtime.close()
            with self.assertRaises(vyre.ArgumentError):
                b.tolist()


class Buffers(unittest.TestCase):
    def test_copies(self):
        b = vyre.Buffer(floats(1, 2, 3))
        self.assertEqual((b.shape, b.type, b.size, b.nbytes, len(b)), ((3,), "f32", 3, 12, 3))
        self.assertEqual(b.tolist(), [1, 2, 3])
        b.write(floats(9), 1)
        out = floats(0, 0)
        b.read_into(out, 1)
        self.assertEqual(list(out), [9, 3])
        for bad in [lambda: b.write(floats(1, 2), 2), lambda: b.read_into(floats(0), -1),
                    lambda: b.write(array.array("d", [1])), lambda: b.write(floats(1), 4)]:
            with self.assertRaises(vyre.Error):
                bad()

    def test_zeros_and_shapes(self):
        b = vyre.Buffer(shape=(2, 3), dtype="i32")
        self.assertEqual(b.tolist(), [[0] * 3] * 2)
        self.assertIn("i32[2, 3]", repr(b))
        for bad in [dict(shape=(1, 1, 1, 1), dtype="f32"), dict(shape=-1, dtype="f32"),
                    dict(shape=3, dtype="f99"), dict(shape=3), dict(shape=1 << 33, dtype="u8")]:
            with self.assertRaises((vyre.Error, OverflowError)):
                vyre.Buffer(**bad)

    def test_kernels_take_them(self):
        k = vyre.kernel(SAXPY)
        x, y = vyre.Buffer(floats(1, 2)), vyre.Buffer(shape=2, dtype="f32")
        for _ in range(3):
            k(2.0, x, y)
        k(1.0, floats(10, 10), y)
        self.assertEqual(y.tolist(), [16, 22])
        with self.assertRaises(vyre.BindingError):
            k(1.0, vyre.Buffer(shape=2, dtype="f64"), y)

    @needs_numpy
    def test_numpy_and_dlpack(self):
        a = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        b = vyre.Buffer(a)
        self.assertEqual(b.numpy().tolist(), a.tolist())
        self.assertEqual(numpy.asarray(b).tolist(), a.tolist())
        c = numpy.from_dlpack(b)
        del b
        gc.collect()
        self.assertEqual(c.tolist(), a.tolist())
        self.assertEqual(vyre.Buffer(numpy.zeros((2, 2), bool)).numpy().dtype, bool)

    def test_capsules_that_nobody_takes(self):
        b = vyre.Buffer(floats(1, 2))
        for _ in range(100):
            b.__dlpack__(stream=None)


class Submitted(unittest.TestCase):
    def test_wait(self):
        k = vyre.kernel(SAXPY)
        y = floats(0)
        jobs = [k.submit(1.0, floats(1), y) for _ in range(20)]
        for job in jobs:
            job.wait()
            self.assertTrue(job.done)
        self.assertEqual(list(y), [20])
        self.assertIn("done", repr(jobs[0]))

    def test_arguments_are_checked_at_once(self):
        with self.assertRaises(vyre.BindingError):
            vyre.kernel(SAXPY).submit(1.0, floats(1))

    def test_errors_come_with_wait(self):
        job = vyre.kernel(FOREVER).submit(array.array("I", [0]), timeout=0.1)
        with self.assertRaises(vyre.TimeoutError):
            job.wait()
        with self.assertRaises(vyre.TimeoutError):
            job.wait()

    def test_cancel_and_wait_with_a_limit(self):
        job = vyre.kernel(FOREVER).submit(array.array("I", [0]))
        with self.assertRaises(TimeoutError):
            job.wait(0.05)
        self.assertFalse(job.done)
        self.assertTrue(job.cancel())
        with self.assertRaises(vyre.StoppedError):
            job.wait()

    def test_forgotten(self):
        k = vyre.kernel(SAXPY)
        y = floats(0)
        for _ in range(100):
            k.submit(1.0, floats(1), y)  # also the array of x is kept
        k.submit(0.0, floats(1), y).wait()
        self.assertEqual(list(y), [100])

    def test_await(self):
        k = vyre.kernel(SAXPY)

        async def work():
            y = floats(0)
            await k.submit(1.0, floats(1), y)
            await asyncio.gather(*(k.submit(1.0, floats(1), y) for _ in range(3)))
            return y[0]
        self.assertEqual(asyncio.run(work()), 4)


class Threads(unittest.TestCase):
    def test_the_interpreter_is_free_meanwhile(self):
        k = vyre.kernel(FOREVER)
        ticks, is_over = 0, False

        def tick():
            nonlocal ticks
            while not k.runtime._in_flight and not is_over:
                time.sleep(0.001)
            while ticks < 20 and not is_over:
                time.sleep(0.001)
                ticks += 1
            if not is_over:
                os.kill(os.getpid(), signal.SIGINT)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        thread = threading.Thread(target=tick)
        thread.start()
        try:
            with self.assertRaises(KeyboardInterrupt):  # not by the limit
                k(array.array("I", [0]), timeout=100)
        finally:
            is_over = True
            thread.join()
            signal.signal(signal.SIGINT, before)
        self.assertEqual(ticks, 20)

    def test_many(self):
        k = vyre.kernel(SAXPY)
        wrong = []

        def work(seed):
            for at in range(500):
                x, y = floats(seed, at), floats(1, 1)
                k(2.0, x, y)
                if list(y) != [2 * seed + 1, 2 * at + 1]:
                    wrong.append((seed, at))
        threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_closing_waits(self):
        rt = vyre.Runtime(store=False)
        k, n, y = spin(0.2)
        k = vyre.kernel(SLOW, runtime=rt)
        k(10, y)
        done = []
        thread = threading.Thread(target=lambda: (k(n, y), done.append(1)))
        thread.start()
        while not rt._in_flight and not done:
            time.sleep(0.001)
        rt.close()
        thread.join()
        self.assertEqual(done, [1])


class Signals(unittest.TestCase):
    def interrupted(self, code):
        """A fresh interpreter that is interrupted once it says so: its output."""
        e = dict(os.environ)
        e["PYTHONPATH"] = os.pathsep.join([os.path.dirname(os.path.dirname(vyre.__file__)),
                                           os.path.dirname(__file__)])
        head = "import array, vyre, sys, signal\nfrom support import FOREVER, SAXPY\n" \
               "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        process = subprocess.Popen([sys.executable, "-c", head + code], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env=e)
        self.assertEqual(process.stdout.readline(), "now\n")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        return output

    def test_a_call(self):
        output = self.interrupted("""
k = vyre.kernel(FOREVER)
try:
    print('now', flush=True)
    k(array.array('I', [0] * 1000))
except KeyboardInterrupt:
    print('interrupted')
y = array.array('f', [0])
vyre.kernel(SAXPY)(2.0, array.array('f', [4]), y)
print(y[0])
""")
        self.assertEqual(output.split(), ["interrupted", "8.0"])

    def test_a_call_after_short_ones(self):
        output = self.interrupted("""
k = vyre.kernel('program p(n: u32)\\nbuffer y: u32[] readwrite\\nregion main grid(len(y)) {\\n'
                'var k: u32 = 0\\nwhile k != n { k = k + 1; y[0] = y[0] * 3 + k; if n == 7 { k = 0 } }\\n}\\n')
for n in range(7):
    for _ in range(100):
        k(n, array.array('I', [0]))
try:
    print('now', flush=True)
    k(7, array.array('I', [0]))
except KeyboardInterrupt:
    print('interrupted')
""")
        self.assertEqual(output.split(), ["interrupted"])

    def test_a_call_on_a_device(self):
        """Without a limit; a large grid and no loops, of which lavapipe grants only so many."""
        for backend in ("opencl", "vulkan"):
            if not any(d.usable and d.backend == backend for d in vyre.devices()):
                continue
            output = self.interrupted(f"""
with vyre.Runtime('{backend}', store=False):
    k = vyre.kernel('program p(n: u32)\\nbuffer y: u32[] readwrite\\n'
                    'region main grid(len(y), n, n) {{ atomic_add(y[global_id.x], 1) }}\\n')
    print('now', flush=True)
    try:
        k(30000, array.array('I', [0] * 64))
    except KeyboardInterrupt:
        print('interrupted')
    y = array.array('I', [0] * 64)
    k(2, y)
    print(y[0], y[63])
""")
            # A driver's compiler that is interrupted may say so before.
            self.assertEqual(output.split()[-3:], ["interrupted", "4", "4"], output)

    def test_a_wait(self):
        output = self.interrupted("""
job = vyre.kernel(FOREVER).submit(array.array('I', [0]))
print('now', flush=True)
try:
    job.wait()
except KeyboardInterrupt:
    print('interrupted')
try:
    job.wait()
except vyre.StoppedError:
    print('stopped')
""")
        self.assertEqual(output.split(), ["interrupted", "stopped"])

    def test_a_handler_of_the_user(self):
        output = self.interrupted("""
seen = []
signal.signal(signal.SIGINT, lambda *a: seen.append(1))
print('now', flush=True)
try:
    vyre.kernel(FOREVER)(array.array('I', [0]))
except vyre.StoppedError:
    print('stopped', len(seen))
""")
        self.assertEqual(output.split(), ["stopped", "1"])


class Processes(unittest.TestCase):
    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        done = run_python("""
import array, os, vyre, warnings
warnings.simplefilter('ignore')
from support import SAXPY
k = vyre.kernel(SAXPY)
b = vyre.Buffer(array.array('f', [1]))
def go():
    y = array.array('f', [1])
    k(2.0, array.array('f', [3]), y)
    return y[0]
assert go() == 7
child = os.fork()
if child == 0:
    ok = go() == 7 and k.submit(1.0, array.array('f', [3]), array.array('f', [3])).wait() is None
    try:
        b.tolist()
        ok = False
    except vyre.ArgumentError:
        pass
    import sys
    sys.exit(0 if ok else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), go())
""")
        self.assertEqual(done.stdout.split(), ["0", "7.0"], done.stderr)

    def test_multiprocessing(self):
        done = run_python("""
import array, multiprocessing, vyre
from support import SAXPY
k = vyre.kernel(SAXPY)
def work(n):
    y = array.array('f', [n])
    k(2.0, array.array('f', [1]), y)
    return y[0]
if __name__ == '__main__':
    work(1)
    with multiprocessing.get_context('fork').Pool(2) as pool:
        print(pool.map(work, range(4)))
""")
        self.assertEqual(done.stdout.strip(), "[2.0, 3.0, 4.0, 5.0]", done.stderr)

    def test_end_with_work_in_flight(self):
        done = run_python("""
import array, threading, vyre
from support import FOREVER, SAXPY
k = vyre.kernel(SAXPY)
y = array.array('f', [0] * 1000)
jobs = [k.submit(1.0, y[:], y) for _ in range(50)]
print('end')
""")
        self.assertEqual((done.stdout.split(), done.returncode), (["end"], 0), done.stderr)

    def test_end_with_a_thread_that_never_ends(self):
        done = run_python("""
import array, threading, time, vyre
from support import FOREVER
k = vyre.kernel(FOREVER)
threading.Thread(target=k, args=(array.array('I', [0]),), daemon=True).start()
while not k.runtime._in_flight:
    time.sleep(0.01)
print('end')
""")
        self.assertEqual((done.stdout.split(), done.returncode), (["end"], 0), done.stderr)

    def test_subinterpreters_are_refused(self):
        done = run_python("""
import sys
try:
    import _xxsubinterpreters as sub
except ImportError:
    import _interpreters as sub
import vyre
one = sub.create()
try:
    error = sub.run_string(one, '''
import sys
try:
    import vyre
except ImportError as e:
    print('refused' if 'main interpreter' in str(e) or 'subinterpreters' in str(e) else e)
''')
    if error is not None: print(error)
except Exception as e:
    print(type(e), e)
""")
        self.assertEqual(done.stdout.strip(), "refused", done.stderr)

    def test_no_home_is_no_error(self):
        done = run_python("""
import array, vyre
y = array.array('f', [1])
from support import SAXPY
vyre.kernel(SAXPY)(2.0, array.array('f', [3]), y)
print(y[0])
""", env={"VYRE_HOME": "/proc/nowhere"})
        self.assertEqual(done.stdout.strip(), "7.0", done.stderr)


def resident_bytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Growth(unittest.TestCase):
    def steady(self, action, count, slack=2 << 20):
        for _ in range(count // 10):
            action()
        gc.collect()
        # Only what was compiled for a debug interpreter counts its own references.
        total = sys.gettotalrefcount if os.environ.get("VYRE_COUNT_REFERENCES") else None
        references, before = total() if total else 0, resident_bytes()
        for _ in range(count):
            action()
        gc.collect()
        self.assertLess(resident_bytes() - before, slack)
        if total:
            self.assertLess(total() - references, count // 10)

    def test_a_million_calls(self):
        k = vyre.kernel(SAXPY)
        x = numpy.ones(16, numpy.float32) if numpy else floats(*[1] * 16)
        y = x.copy() if numpy else floats(*[1] * 16)
        names = {"a": 1.0, "x": x, "y": y}
        counts = [sys.getrefcount(o) for o in (k, x, y, names["a"])]
        self.steady(lambda: k(2.0, x, y), 1000000)
        self.steady(lambda: k(**names), 50000)
        self.assertEqual([sys.getrefcount(o) for o in (k, x, y, names["a"])], counts)

    def test_errors_and_other_ways(self):
        k = vyre.kernel(SAXPY)
        x, y = floats(1), floats(1)
        bad = array.array("d", [1])

        def fail():
            for args in [(1.0, bad, y), (1.0, x), ("a", x, y), (1.0, x, x), (1.0, 3, y)]:
                try:
                    k(*args)
                except vyre.Error:
                    pass
        counts = [sys.getrefcount(o) for o in (k, x, y, bad)]
        self.steady(fail, 5000)
        self.steady(lambda: k.submit(1.0, x, y).wait(), 2000)
        self.assertEqual([sys.getrefcount(o) for o in (k, x, y, bad)], counts)

    def test_programs_and_buffers(self):
        self.steady(lambda: vyre.program(SAXPY), 5000)
        data = floats(*range(64))
        self.steady(lambda: vyre.Buffer(data).tolist(), 5000)
        self.steady(lambda: vyre.Buffer(data).__dlpack__(), 5000)


if __name__ == "__main__":
    unittest.main()
