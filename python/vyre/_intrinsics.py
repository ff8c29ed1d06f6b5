# SPDX-License-Identifier: MIT
"""What kernels in Python are written with, besides Python itself, math and numpy. These functions mean
something inside of `@vyre.jit` only; docs/PYTHON.md tells what."""


def _inside_only(name):
    from ._errors import JitError
    raise JitError(f"vyre.{name} means something in a kernel only. Fix: call it in a function with "
                   "@vyre.jit", status="syntax")


def index(axes=1):
    """The position in the grid: `i = vyre.index()`, `y, x = vyre.index(2)`. The last axis is the one
    whose neighbours are neighbours in memory."""
    _inside_only("index")


def parallel(*extents, workgroup=None):
    """`for i in vyre.parallel(n)`, `for y, x in vyre.parallel(h, w)`: all at once, in any order. Each
    such loop is a region: what it wrote is visible to the next."""
    _inside_only("parallel")


def local_index(axis=-1):
    """The position in the workgroup."""
    _inside_only("local_index")


def group_index(axis=-1):
    """The number of the workgroup."""
    _inside_only("group_index")


def group_size(axis=-1):
    """The extent of the workgroup."""
    _inside_only("group_size")


def group_count(axis=-1):
    """The number of workgroups."""
    _inside_only("group_count")


def grid_size(axis=-1):
    """The extent of the grid."""
    _inside_only("grid_size")


def shared(type, *shape):
    """An array of the workgroup, zero at first: `s = vyre.shared(vyre.f32, 256)`."""
    _inside_only("shared")


def local(type, *shape):
    """An array of the invocation, zero at first: `t = vyre.local(vyre.f32, 16)`."""
    _inside_only("local")


def barrier():
    """Waits for the workgroup."""
    _inside_only("barrier")


def fma(x, y, z):
    """x * y + z, rounded once."""
    _inside_only("fma")


def rsqrt(x):
    """1 / sqrt(x)"""
    _inside_only("rsqrt")


def clamp(x, low, high):
    """min(max(x, low), high)"""
    _inside_only("clamp")


def select(condition, x, y):
    """x where the condition holds, else y; both are computed."""
    _inside_only("select")


def bitcast(type, x):
    """The same bits as another type of the same width."""
    _inside_only("bitcast")


def popcount(x):
    """The number of one bits."""
    _inside_only("popcount")


def clz(x):
    """Leading zero bits."""
    _inside_only("clz")


def ctz(x):
    """Trailing zero bits."""
    _inside_only("ctz")


def rotl(x, n):
    """Rotates bits to the left."""
    _inside_only("rotl")


def rotr(x, n):
    """Rotates bits to the right."""
    _inside_only("rotr")


def mulhi(x, y):
    """The upper half of the double-width product."""
    _inside_only("mulhi")


def atomic_add(element, value):
    """`vyre.atomic_add(h[i], 1)`: adds, and returns what was there."""
    _inside_only("atomic_add")


def atomic_sub(element, value):
    """Subtracts, and returns what was there."""
    _inside_only("atomic_sub")


def atomic_min(element, value):
    """The minimum, and returns what was there."""
    _inside_only("atomic_min")


def atomic_max(element, value):
    """The maximum, and returns what was there."""
    _inside_only("atomic_max")


def atomic_and(element, value):
    """Bitwise and, and returns what was there."""
    _inside_only("atomic_and")


def atomic_or(element, value):
    """Bitwise or, and returns what was there."""
    _inside_only("atomic_or")


def atomic_xor(element, value):
    """Bitwise exclusive or, and returns what was there."""
    _inside_only("atomic_xor")


def atomic_exchange(element, value):
    """Replaces, and returns what was there."""
    _inside_only("atomic_exchange")


def atomic_cas(element, expected, desired):
    """Stores `desired` where `expected` is, and returns what was there."""
    _inside_only("atomic_cas")


class Tunable:
    """A constant with values that vyre.tune may choose from: `TILE = vyre.Tunable("TILE", 8, 16, 32)`.
    It has the first of them unless told otherwise, and stands in a kernel wherever a number can."""

    def __init__(self, name, *values):
        if not values or not all(isinstance(v, int) and 0 <= v < 1 << 31 for v in values):
            raise TypeError("a tunable has whole numbers from 0 on as its values")
        self.name, self.values = name, values

    def __repr__(self):
        return f"vyre.Tunable({', '.join(map(repr, (self.name, *self.values)))})"
