# SPDX-License-Identifier: MIT
"""vyre: data-parallel kernels that give the same bits on every device, and that learn.

    import numpy, vyre

    @vyre.jit
    def saxpy(a: vyre.f32, x: vyre.f32[:], y: vyre.f32[:]):
        i = vyre.index()
        y[i] = a * x[i] + y[i]

    saxpy(2.0, x, y)

or from vyre's text form or OpenCL C with vyre.kernel. docs/PYTHON.md has the rest."""
from ._core import (Buffer, Completion, Device, Kernel, Program, Runtime, devices, entries, explain,
                    kernel, printed, program, runtime, signature, version)
from ._errors import (ArgumentError, BackendError, BindingError, DivergenceError, Error, FuelError,
                      JitError, LimitError, OutOfMemoryError, SourceError, StoppedError, StorageError,
                      TimeoutError, UnsupportedError, VerifyError, VyreWarning)
from ._types import ArrayType, Type
from ._types import TYPES as _TYPES

i8, u8, i16, u16 = (_TYPES[name] for name in ("i8", "u8", "i16", "u16"))
i32, u32, i64, u64 = (_TYPES[name] for name in ("i32", "u32", "i64", "u64"))
f32, f64, bool_ = (_TYPES[name] for name in ("f32", "f64", "bool"))
__version__ = version()

_LAZY = {"jit": "_jit", "fuse": "_jit", "tune": "_tune", "Tuning": "_tune"}
_INTRINSICS = """index parallel local_index group_index group_size group_count grid_size shared local
barrier fma rsqrt clamp select bitcast popcount clz ctz rotl rotr mulhi atomic_add atomic_sub atomic_min
atomic_max atomic_and atomic_or atomic_xor atomic_exchange atomic_cas Tunable""".split()


def __getattr__(name):
    """What is not needed for kernels from sources is imported when it is first used."""
    from importlib import import_module
    if name in _LAZY:
        found = getattr(import_module("." + _LAZY[name], __name__), name)
    elif name in _INTRINSICS:
        found = getattr(import_module("._intrinsics", __name__), name)
    else:
        raise AttributeError(f"module 'vyre' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__():
    return sorted(set(globals()) | set(_LAZY) | set(_INTRINSICS))
