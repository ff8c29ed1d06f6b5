# SPDX-License-Identifier: MIT
"""vyre from Python beside numba, taichi and pyopencl on PoCL, in one run. Times are the least of several
that take turns; ratios are what counts. Ends with 1 when a bar is missed. bench/python/run calls it."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
ROUNDS = 7
BURSTS = 150  # short ones, between which other work of the machine falls
missed = []


def bar(what, ratio, most):
    ok = ratio <= most
    if not ok:
        missed.append(what)
    print(f"  {what}: {ratio:.3f}, at most {most:g}{'' if ok else '  MISSED'}")


# ---- fresh processes -------------------------------------------------------------------------------


def fresh(code):
    """The least of what code prints, in fresh processes with empty caches."""
    results = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as home:
            e = dict(os.environ, VYRE_HOME=home, POCL_CACHE_DIR=home)
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=e)
        if done.returncode:
            return None
        results.append(float(done.stdout.split()[-1]))
    return min(results)


# CPU time, so that other work of the machine does not count; that of all threads counts.
IMPORT = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"
# Each measures the whole way from import to the answer, and then another kernel.
FIRST_VYRE = """
import sys, time, numpy
sys.path.insert(0, {here!r})
t = time.process_time()
import vyre, first_vyre
x, y = numpy.ones(1000, 'f4'), numpy.zeros(1000, 'f4')
first_vyre.saxpy(2.0, x, y)
whole = time.process_time() - t
t = time.process_time()
first_vyre.other(2.0, x, y)
print(whole if {whole} else time.process_time() - t)
"""
FIRST_NUMBA = """
import sys, time, numpy
sys.path.insert(0, {here!r})
t = time.process_time()
import first_numba
x, y = numpy.ones(1000, 'f4'), numpy.zeros(1000, 'f4')
first_numba.saxpy(2.0, x, y)
whole = time.process_time() - t
t = time.process_time()
first_numba.other(2.0, x, y)
print(whole if {whole} else time.process_time() - t)
"""


def measure_start():
    print("starting, in fresh processes with empty caches: CPU time")
    seconds = fresh(IMPORT.format("vyre"))
    for name in ("numba", "taichi", "pyopencl"):
        other = fresh(IMPORT.format(name))
        print(f"  import {name}: " + (f"{other * 1e3:.1f} ms" if other else "not there"))
    print(f"  import vyre: {seconds * 1e3:.1f} ms")
    bar("import over 30 ms", seconds / 0.030, 1)
    for words, whole in (("the process's first answer, imports included", True),
                         ("the first answer of a further kernel", False)):
        mine = fresh(FIRST_VYRE.format(here=HERE, whole=whole))
        numba = fresh(FIRST_NUMBA.format(here=HERE, whole=whole))
        print(f"  {words}: vyre {mine * 1e3:.1f} ms" + (f", numba {numba * 1e3:.1f} ms" if numba else ""))
        if numba:
            bar(f"{words}, over numba's", mine / numba, 0.1)


# ---- calls -----------------------------------------------------------------------------------------


def per_call(function, args, count):
    begin = time.perf_counter()
    for _ in range(count):
        function(*args)
    return (time.perf_counter() - begin) / count


def call_peers(numpy):
    import first_vyre
    x, y = numpy.ones(16, "f4"), numpy.zeros(16, "f4")
    peers = {"vyre": (first_vyre.saxpy, (2.0, x, y), 2000)}
    try:
        import numba

        @numba.njit
        def lazy(a, x, y):
            for i in range(len(x)):
                y[i] = a * x[i] + y[i]
        eager = numba.njit("void(f4, f4[::1], f4[::1])")(lazy.py_func)
        peers["numba"] = (lazy, (2.0, x, y), 2000)
        peers["numba, types declared"] = (eager, (2.0, x, y), 2000)
    except ImportError:
        print("  numba is not there")
    try:
        import tasks_pyopencl
        q = tasks_pyopencl.Kernels()
        kernel, bx, by = q.kernels["saxpy"], q.buffer(x), q.buffer(y)
        a = numpy.float32(2)

        def run():
            kernel(q.queue, (16,), None, a, bx, by)
            q.queue.finish()
        peers["pyopencl"] = (run, (), 20)
    except Exception as error:  # no package, no driver
        print(f"  pyopencl cannot be used: {error}")
    try:
        import tasks_taichi
        import taichi as ti
        A = tasks_taichi.A1

        @ti.kernel
        def saxpy(a: ti.f32, x: A, y: A):
            for i in range(x.shape[0]):
                y[i] = a * x[i] + y[i]
        peers["taichi"] = (saxpy, (2.0, x, y), 20)
    except Exception as error:
        print(f"  taichi cannot be used: {error}")
    return peers


def measure_calls(numpy):
    print("a call of a saxpy of 16 elements")
    peers = call_peers(numpy)
    best = {}
    for _ in range(BURSTS):
        for name, (function, args, count) in peers.items():
            best[name] = min(best.get(name, 1e9), per_call(function, args, count))
    for name, seconds in best.items():
        print(f"  {name}: {seconds * 1e9:.0f} ns")
    if "numba" in best:
        bar("overhead over numba's", best["vyre"] / min(best["numba"], best["numba, types declared"]), 1)
    if "pyopencl" in best:
        bar("overhead over pyopencl's", best["vyre"] / best["pyopencl"], 0.1)


# ---- tasks -----------------------------------------------------------------------------------------


class Data:
    """The arrays of the six tasks; each peer has its own."""

    def __init__(self, numpy):
        import tasks_vyre
        e = tasks_vyre.examples
        f4 = numpy.float32
        random = numpy.random.default_rng(1)
        self.image = random.random((1080, 1920), f4)
        self.weights = e["blur"].make_weights()
        self.rows, self.out = numpy.zeros_like(self.image), numpy.zeros_like(self.image)
        self.spot, self.strike, self.years = e["options"].make_options(1000000)
        self.call, self.put = numpy.zeros_like(self.spot), numpy.zeros_like(self.spot)
        self.plate, self.steps = e["heat"].make_plate(1024), 20
        self.other = self.plate.copy()
        n = 4000000
        self.x = random.random(n, f4)
        self.counts = numpy.zeros((n + 1023) // 1024, numpy.int32)
        self.kept, self.total = numpy.zeros_like(self.x), numpy.zeros(1, numpy.int32)
        self.points, self.centres = e["kmeans"].make_points(200000, 16, 4)
        self.nearest = numpy.full(200000, -1, numpy.int32)
        self.sums, self.sizes = numpy.zeros((16, 4), numpy.int64), numpy.zeros(16, numpy.int32)
        self.moved = numpy.zeros(1, numpy.int32)
        self.a, self.b = random.random((512, 512), f4), random.random((512, 512), f4)
        self.c = numpy.zeros((512, 512), f4)

    def results(self):
        return {"blur": self.out, "options": self.call, "heat": self.plate, "compaction": self.kept,
                "kmeans": self.centres, "tuning": self.c}


def task_peers(numpy):
    """{peer: (tasks, data)}"""
    import tasks_vyre
    peers = {}
    for name, fast in (("vyre", 0), ("vyre fast", 4)):
        data = Data(numpy)
        peers[name] = (tasks_vyre.tasks(data, fast), data)
    for name in ("numba", "taichi", "pyopencl"):
        try:
            module = __import__("tasks_" + name)
            data = Data(numpy)
            peers[name] = (module.tasks(data), data)
        except Exception as error:
            print(f"  {name} cannot be used: {error}")
    return peers


def measure_tasks(numpy, only):
    import tasks_vyre
    print("six tasks: ms, the least of several turns")
    peers = task_peers(numpy)
    names = [n for n in ("blur", "options", "heat", "compaction", "kmeans", "tuning")
             if not only or n in only]
    print(f"  {'':12}" + "".join(f"{p:>12}" for p in peers) + f"{'ratio':>10}")
    ratios = {}
    for name in names:
        best, wrong = {}, []
        for peer, (tasks, _) in peers.items():
            for _ in range(20 if peer.startswith("vyre") else 2):  # compiles, and learns
                tasks[name]()
        tasks_vyre.settle()
        expected = peers["vyre"][1].results()[name]
        for peer, (tasks, data) in peers.items():
            if name != "heat" and name != "kmeans":  # those go on from where they are
                if not numpy.allclose(data.results()[name], expected, rtol=1e-3, atol=1e-3):
                    wrong.append(peer)
        for _ in range(ROUNDS * 2):
            for peer, (tasks, _) in peers.items():
                begin = time.perf_counter()
                tasks[name]()
                best[peer] = min(best.get(peer, 1e9), time.perf_counter() - begin)
        others = [s for p, s in best.items() if not p.startswith("vyre")]
        mine = min(best["vyre"], best["vyre fast"])
        ratio = mine / min(others) if others else 0
        ratios[name] = ratio
        print(f"  {name:12}" + "".join(f"{best[p] * 1e3:12.3f}" for p in peers) + f"{ratio:10.2f}" +
              (f"  differs: {', '.join(wrong)}" if wrong else ""))
        if wrong:
            missed.append(f"{name}: another answer from {', '.join(wrong)}")
    for name, ratio in ratios.items():
        bar(f"{name} over the best peer", ratio, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="start, calls, tasks, or names of tasks; all by default")
    parts = parser.parse_args().parts
    import numpy
    if not parts or "start" in parts:
        measure_start()
    if not parts or "calls" in parts:
        measure_calls(numpy)
    tasks = [p for p in parts if p not in ("start", "calls", "tasks")]
    if not parts or tasks or "tasks" in parts:
        measure_tasks(numpy, tasks)
    print(f"{len(missed)} bars missed" + (": " + "; ".join(missed) if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
