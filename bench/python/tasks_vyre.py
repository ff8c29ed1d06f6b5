# SPDX-License-Identifier: MIT
"""The six tasks with vyre: the kernels of python/examples."""
import importlib.util
import os

import vyre

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/examples")
NAME = "vyre"


def load(name):
    spec = importlib.util.spec_from_file_location("example_" + name, os.path.join(FOLDER, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


examples = {name: load(name) for name in ("blur", "options", "heat", "compaction", "kmeans", "tuning")}


def again(kernel, fast):
    """The same kernel with fast arithmetic."""
    return vyre.jit(kernel.__wrapped__, fast=fast) if fast else kernel


def tasks(data, fast=0):
    d = data
    blur = again(examples["blur"].blur, fast)
    price = again(examples["options"].price, fast)
    step = again(examples["heat"].step, fast)
    compact = again(examples["compaction"].compact, fast)
    iterate = again(examples["kmeans"].iterate, fast)
    product = again(examples["tuning"].product, fast)
    best = vyre.tune(product, d.a, d.b, d.c, rounds=3, seconds=20).kernel

    def heat():
        for _ in range(d.steps // 2):
            step(0.2, d.plate, d.other)
            step(0.2, d.other, d.plate)

    return {
        "blur": lambda: blur(d.image, d.weights, d.rows, d.out),
        "options": lambda: price(d.spot, d.strike, d.years, 0.02, 0.3, d.call, d.put),
        "heat": heat,
        "compaction": lambda: compact(0.5, d.x, d.counts, d.kept, d.total),
        "kmeans": lambda: iterate(d.points, d.centres, d.nearest, d.sums, d.sizes, d.moved),
        "tuning": lambda: best(d.a, d.b, d.c),
    }


def settle():
    vyre.runtime().settle()
