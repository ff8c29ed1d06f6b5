# SPDX-License-Identifier: MIT
"""What the tests share: a home of their own, and numpy where it is there."""
import os
import subprocess
import sys
import tempfile
import unittest

if "VYRE_HOME" not in os.environ:
    _home = tempfile.TemporaryDirectory(prefix="vyre-python-tests-")
    os.environ["VYRE_HOME"] = _home.name

try:
    import numpy
except ImportError:
    numpy = None

import vyre  # noqa: E402

needs_numpy = unittest.skipIf(numpy is None, "numpy is not installed")

SAXPY = """program saxpy(a: f32)
buffer x: f32[] read
buffer y: f32[len(x)] readwrite
region main grid(len(x)) {
  let i = global_id.x
  y[i] = a * x[i] + y[i]
}
"""

FOREVER = """program forever()
buffer y: u32[] readwrite
region main grid(len(y)) {
  var going: bool = true
  while going {
    y[global_id.x] = y[global_id.x] + 1
    going = y[global_id.x] != 0 || y[global_id.x] == 0
  }
}
"""


def run_python(code, *, env=None, timeout=60):
    """Runs code in a fresh interpreter: the finished process."""
    e = dict(os.environ)
    e["PYTHONPATH"] = os.pathsep.join([os.path.dirname(os.path.dirname(vyre.__file__)),
                                       os.path.dirname(__file__), e.get("PYTHONPATH", "")])
    e.update(env or {})
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=e,
                          timeout=timeout)
