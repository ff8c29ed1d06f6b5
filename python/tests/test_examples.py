# SPDX-License-Identifier: MIT
"""The examples run, and are right: each of them compares its answer with numpy's."""
import importlib.util
import os
import unittest

from support import needs_numpy

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")


def load(name):
    spec = importlib.util.spec_from_file_location("example_" + name, os.path.join(FOLDER, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_numpy
class Examples(unittest.TestCase):
    def test_all_are_here(self):
        names = sorted(f[:-3] for f in os.listdir(FOLDER) if f.endswith(".py"))
        self.assertEqual(names, ["blur", "compaction", "heat", "kmeans", "options", "tuning"])

    def test_blur(self):
        load("blur").main(50, 70)

    def test_options(self):
        load("options").main(1000)

    def test_heat(self):
        load("heat").main(40, 20)

    def test_compaction(self):
        module = load("compaction")
        for n in (1, 1023, 1024, 5000):
            module.main(n)

    def test_kmeans(self):
        load("kmeans").main(2000, 4, 3)

    def test_tuning(self):
        load("tuning").main(40)


if __name__ == "__main__":
    unittest.main()
