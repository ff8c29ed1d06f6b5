# SPDX-License-Identifier: MIT
"""Run by numpy.sh: copies arrays through `vyre run` and compares."""
import os
import subprocess
import sys

import numpy

VYRE, WORK = os.environ["VYRE"], os.environ["WORK"]
TYPES = {"bool": "?", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4",
         "i64": "i8", "u64": "u8", "f16": "f2", "f32": "f4", "f64": "f8"}
SHAPES = [(), (1,), (7,), (0,), (3, 5), (2, 3, 4), (2, 0, 3), (1, 2, 1, 3)]
PROGRAM = """program copy()
buffer x: {0}[] read
buffer y: {0}[len(x)] write
region copy grid(len(x)) {{
  y[global_id.x] = x[global_id.x]
}}
"""
random = numpy.random.default_rng(1)
cases = failures = 0


def sample(dtype, shape):
    size = int(numpy.prod(shape, dtype=int))
    raw = random.integers(0, 256, size * dtype.itemsize, dtype=numpy.uint8)
    if dtype.kind == "b":
        raw &= 1
    values = raw.tobytes()
    array = numpy.frombuffer(values, dtype).reshape(shape)
    return numpy.nan_to_num(array, nan=1.5) if dtype.kind == "f" else array


def check(name, program, array, path):
    global cases, failures
    cases += 1
    out = os.path.join(WORK, "out.npy")
    run = subprocess.run([VYRE, "run", program, f"x=@{path}", "--out", f"y={out}"],
                         capture_output=True, text=True)
    want = array.reshape(array.shape or (1,)).astype(array.dtype.newbyteorder("<"))
    if run.returncode == 0:
        got = numpy.load(out)
        if got.dtype == want.dtype and got.shape == want.shape and (got == want).all():
            return
        print(f"{name}: got {got.dtype}{got.shape}, want {want.dtype}{want.shape}")
    else:
        print(f"{name}: {run.stderr}")
    failures += 1


for ours, theirs in TYPES.items():
    program = os.path.join(WORK, f"{ours}.vyre")
    with open(program, "w") as file:
        file.write(PROGRAM.format(ours))
    for order in "<>" if numpy.dtype(theirs).itemsize > 1 else "<":
        dtype = numpy.dtype(theirs).newbyteorder(order)
        for number, shape in enumerate(SHAPES):
            for memory in "CF":
                array = numpy.array(sample(dtype, shape), order=memory)
                version = (1 + number % 3, 0)
                path = os.path.join(WORK, "in.npy")
                with open(path, "wb") as file:
                    numpy.lib.format.write_array(file, array, version=version)
                check(f"{dtype}{shape} {memory} version {version[0]}", program, array, path)

# What we do not have is refused with a message, not misread.
for refused in ["f2", "c8", "U3", "O", [("a", "f4")]]:
    cases += 1
    path = os.path.join(WORK, "refused.npy")
    numpy.save(path, numpy.zeros(2, refused))
    run = subprocess.run([VYRE, "run", os.path.join(WORK, "f32.vyre"), f"x=@{path}"],
                         capture_output=True, text=True)
    if run.returncode != 1 or "Fix:" not in run.stderr:
        print(f"{refused}: exit status {run.returncode}, {run.stderr}")
        failures += 1

print(f"{cases} arrays, {failures} wrong")
sys.exit(1 if failures else 0)
