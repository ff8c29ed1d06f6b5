# SPDX-License-Identifier: MIT
"""Runtimes, buffers and kernels: the layer for people over the C extension."""
import atexit
import weakref

from . import _vyre
from ._errors import ArgumentError, BackendError, Error, UnsupportedError, VyreWarning
from ._types import TYPES, as_type

Program = _vyre.Program
Kernel = _vyre.Kernel
Completion = _vyre.Completion

# ---- runtimes ------------------------------------------------------------------------------------

_open_runtimes = weakref.WeakSet()
_entered = []  # runtimes of `with` blocks
_default = None


class Runtime(_vyre.Runtime):
    """Where kernels run. Each call is measured, and what is measured decides which backend runs a
    kernel and with which variant; what was learned is kept for the next process.

    backend      run everything on this one ("cpu", "opencl", "vulkan", "ref"); None: routed
    learning     compile better variants in the background and swap them in (True)
    store        keep what was learned in files (True)
    specialise   variants with arguments as constants (False)
    learn_after  calls before it is worth learning; 0: decided by itself

    Used as `with vyre.Runtime(backend="ref"):` it is where kernels and buffers of the block are made,
    and it is closed at the end of the block. Outside of such blocks there is one for the process."""

    def __new__(cls, backend=None, *, learning=True, store=True, specialise=False, learn_after=0):
        self = super().__new__(cls, backend, learning=learning, store=store, specialise=specialise,
                               learn_after=learn_after)
        _open_runtimes.add(self)
        return self

    def __enter__(self):
        _entered.append(self)
        return self

    def __exit__(self, *error):
        _entered.remove(self)
        self.close()

    def close(self):
        """Waits for what is under way, saves what was learned, and frees kernels and buffers."""
        super().close()
        self.warn()

    def warn(self):
        """Turns what the library told since the last time into warnings."""
        notices = self.take_notices()
        if notices:
            import warnings
            for text in notices:
                warnings.warn(text, VyreWarning, stacklevel=3)

    def kernel(self, source, entry=None, **options):
        """vyre.kernel in this runtime."""
        return kernel(source, entry, runtime=self, **options)

    def buffer(self, source=None, **options):
        """vyre.Buffer in this runtime."""
        return Buffer(source, runtime=self, **options)

    def __repr__(self):
        state = "closed" if self.closed else "open"
        return f"<vyre.Runtime {self.backend or 'routed'}, {state}>"

    def __reduce__(self):
        raise TypeError("a runtime stays in its process: it cannot be pickled")


def runtime():
    """The runtime that kernels and buffers are made in: of the innermost `with` block, or the one of
    the process."""
    global _default
    if _entered:
        return _entered[-1]
    if _default is None or _default.closed:
        _default = Runtime()
    return _default


@atexit.register
def _close_all():
    """Saves what was learned. What still runs, in threads that nobody waits for, is left alone."""
    for each in list(_open_runtimes):
        try:
            if not each._in_flight:
                _vyre.Runtime.close(each)
        except Exception:  # the process ends, whatever it was
            pass


# ---- buffers -------------------------------------------------------------------------------------


class Buffer(_vyre.Buffer):
    """Memory of a runtime, which stays on the device that works on it until somebody reads it.

    Buffer(array)                     with a copy of an array's content
    Buffer(shape=1000, dtype="f32")   zeros

    `numpy()` and `read_into(array)` copy the content out, `write(array)` in. Kernels take buffers where
    they take arrays. It is also read by `numpy.from_dlpack(buffer)` and `numpy.asarray(buffer)`."""

    def __new__(cls, source=None, *, shape=None, dtype=None, runtime=None):
        where = runtime if runtime is not None else globals()["runtime"]()
        if source is None:
            if shape is None or dtype is None:
                raise ArgumentError("a buffer is made from an array, or from shape and dtype. Fix: "
                                    "vyre.Buffer(array), or vyre.Buffer(shape=100, dtype='f32')",
                                    status="argument")
            shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
            return super().__new__(cls, where, shape, as_type(dtype).name)
        name, found = _vyre.describe(source)
        if dtype is not None and as_type(dtype).name != name:
            raise ArgumentError(f"the array has {name}, not {as_type(dtype)}. Fix: convert it first, as "
                                "with astype", status="argument")
        self = super().__new__(cls, where, found or (1,), name)
        self._write(source)
        return self

    @property
    def dtype(self):
        """The type of its elements."""
        return TYPES[self.type]

    def _repr_html_(self):
        extents = " x ".join(map(str, self.shape))
        return f"<b>vyre.Buffer</b> <code>{self.type}</code> {extents}"

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        """Number of elements."""
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    def __len__(self):
        return self.shape[0]

    def write(self, array, offset=0):
        """Copies an array's elements into the buffer, from element `offset` on."""
        self._write(array, offset)

    def read_into(self, array, offset=0):
        """Fills an array with the buffer's elements, from element `offset` on."""
        self._read(array, offset)

    def numpy(self):
        """The content as a new numpy array."""
        import numpy
        out = numpy.empty(self.shape, self.dtype.dtype)
        self._read(out)
        return out

    def __array__(self, dtype=None, copy=None):
        made = self.numpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    def tolist(self):
        """The content as nested lists."""
        formats = {"bool": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
                   "i64": "q", "u64": "Q", "f32": "f", "f64": "d"}
        if self.size == 0:
            return []
        return memoryview(self.tobytes()).cast(formats[self.type], self.shape).tolist()

    def __repr__(self):
        return f"<vyre.Buffer {self.type}[{', '.join(map(str, self.shape))}]>"

    def __reduce__(self):
        raise TypeError("a buffer stays in its process. Pickle buffer.numpy()")


# ---- kernels -------------------------------------------------------------------------------------

SHAPE, COUNT, GRID = 0, 1, 2  # where a parameter that is not passed comes from
_GRID_PARAMS = {"grid_x": 0, "grid_y": 1, "grid_z": 2}


def _signature_of_program(program, order=None):
    """Arguments and derived parameters, in the order of `order` (names), or parameters first."""
    params = {name: i for i, (name, _) in enumerate(program.params)}
    bound = [row[0] for row in program.buffers if not row[3]]
    buffers = {name: i for i, name in enumerate(bound)}
    derived = []
    if order is not None:
        for name, axis in _GRID_PARAMS.items():
            if name in params and name not in order:
                derived.append((params.pop(name), GRID, 0, axis))
    args, done = [], set()

    def add(name):
        if name in done:
            return
        if name in params:
            args.append((name, False, params[name], 0, ...))
        elif name in buffers:
            args.append((name, True, buffers[name], 0, ...))
        else:  # a vector, a structure or an image: its parts
            for part in list(params) + list(buffers):
                if part.startswith(name + "."):
                    add(part)
            return
        done.add(name)

    for name in order or ():
        add(name)
    for name in list(params) + list(buffers):
        add(name)
    return args, derived


def _extents(name, value):
    if value is None:
        return (0, 0, 0)
    value = (value,) if hasattr(value, "__index__") else tuple(value)
    if not 1 <= len(value) <= 3:
        raise ArgumentError(f"`{name}` takes one to three numbers. Fix: write it like {name}=(16, 16)",
                            status="argument")
    return value + (1,) * (3 - len(value))


def _read_source(source, name):
    """The bytes of a source, and what to call it: bytes, text, or a path (os.PathLike)."""
    import os
    if isinstance(source, os.PathLike):
        path = os.fspath(source)
        with open(path, "rb") as f:
            return f.read(), name or str(path)
    if isinstance(source, str):
        return source.encode(), name
    return bytes(source), name


def _looks_like_opencl(data):
    return b"__kernel" in data or b"kernel void" in data


def _guess_language(data, name):
    guessed = _vyre.guess_language(name, data)
    return "opencl" if guessed == "text" and _looks_like_opencl(data) else guessed


def program(source, entry=None, *, language=None, options="", workgroup=None, rank=0, locals=None,
            formats=None, name=None):
    """The immutable program that a source describes: see vyre.kernel for the arguments."""
    data, name = _read_source(source, name)
    language = language or _guess_language(data, name)
    return Program(data, language, name, entry, options, _extents("workgroup", workgroup), rank,
                   locals, formats)


def _entry_order(data, language, name, entry, options):
    """The names of an entry's arguments, as its source has them; None: a source is one program."""
    if language in ("text", "wire"):
        return None
    for found, _, _, args in _vyre.entries(data, language, name, options):
        if entry in (None, found):
            return [arg for arg, _, space in args if space != "local"]
    return []


def kernel(source, entry=None, *, language=None, options="", workgroup=None, rank=0, locals=None,
           formats=None, name=None, runtime=None):
    """A kernel from a source: vyre's text form, its wire form or OpenCL C, as text, bytes or a path
    (pathlib.Path). It is called with its parameters and arrays, by position or by name:

        k = vyre.kernel(text)          # program saxpy(a: f32), buffers x and y
        k(2.0, x, y)                   # or k(a=2.0, x=x, y=y)

    entry      which kernel of the source; needed when there are several
    language   "text", "wire" or "opencl"; None: seen from the source
    options    "-DN=4 -Iinclude" for OpenCL C; -DTILE=8 gives a tunable its value
    workgroup  of kernels in OpenCL C; rank: the axes of their grid
    locals     {"tile": bytes} for arguments in local memory; formats: for images and samplers
    name       of the source, for messages and includes
    runtime    where it runs; None: vyre.runtime()

    Arrays are used where they are, nothing is copied: numpy arrays, vyre.Buffer, and whatever has the
    buffer protocol, DLPack or __array_interface__. A kernel in OpenCL C also takes grid=(x, y).
    workgroup=, timeout= (seconds), threads= and fuel= say how a call is launched."""
    data, name = _read_source(source, name)
    language = language or _guess_language(data, name)
    made = Program(data, language, name, entry, options, _extents("workgroup", workgroup), rank,
                   locals, formats)
    order = _entry_order(data, language, name, entry, options)
    return _kernel_of(made, order, runtime)


def _kernel_of(made, order=None, where=None):
    args, derived = _signature_of_program(made, order)
    loaded = (made, made.name, args, derived)
    k = Kernel(where if where is not None else runtime(), lambda: loaded)
    k.__name__ = made.name
    k._loader = lambda: loaded
    k.program  # there is nothing to wait for
    return k


def entries(source, *, language=None, options="", name=None):
    """The names of the kernels of a source."""
    data, name = _read_source(source, name)
    language = language or _guess_language(data, name)
    if language in ("text", "wire"):
        return [program(data, language=language, name=name).name]
    return [row[0] for row in _vyre.entries(data, language, name, options)]


def _format_argument(name, is_buffer, type, access, ndim, default):
    if not is_buffer:
        text = f"{name}: {type}"
    else:
        text = f"{name}: {type}[{', '.join(':' * max(ndim, 1))}] {access}"
    return text if default is ... else f"{text} = {default!r}"


def signature(k):
    """The arguments of a kernel, for people: `saxpy(a: f32, x: f32[:] read, y: f32[:] readwrite)`."""
    args = [_format_argument(*row) for row in k._arguments]
    if k._grid_rank:
        args.append(f"grid=({', '.join('xyz'[:k._grid_rank])})")
    return f"{k.program.name}({', '.join(args)})"


def _kernel_explain(self):
    """What was decided for this kernel and why: backend, variant, launch shape, passes, with the
    numbers. Returns text for people (and a table in notebooks)."""
    return Explanation(self._explain())


def _kernel_text(self):
    """The kernel in vyre's text form."""
    return self.program.text()


def _kernel_repr(self):
    if not self.is_loaded:
        return f"<vyre.Kernel {getattr(self, '__name__', '?')}, not compiled yet>"
    return f"<vyre.Kernel {signature(self)}>"


def _kernel_html(self):
    from html import escape
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(type)}"
        f"{escape('[' + ', '.join(':' * max(ndim, 1)) + ']') if is_buffer else ''}</td>"
        f"<td>{access or 'parameter'}</td></tr>"
        for name, is_buffer, type, access, ndim, _ in self._arguments)
    return (f"<b>vyre.Kernel {escape(self.program.name)}</b><table><tr><th>argument</th><th>type</th>"
            f"<th>access</th></tr>{rows}</table><details><summary>text</summary><pre>"
            f"{escape(self.text())}</pre></details>")


def _kernel_reduce(self):
    raise TypeError("a kernel stays in its process. Pickle kernel.program.wire(), and make the kernel "
                    "with vyre.kernel(wire, language='wire')")


def _completion_await(self):
    import asyncio
    loop = asyncio.get_running_loop()
    return loop.run_in_executor(None, self.wait).__await__()


def _completion_repr(self):
    name = getattr(self.kernel, "__name__", "?")
    return f"<vyre.Completion of {name}, {'done' if self.done else 'running'}>"


Kernel.explain = _kernel_explain
Kernel.text = _kernel_text
Kernel.signature = property(signature)
Kernel.__repr__ = _kernel_repr
Kernel._repr_html_ = _kernel_html
Kernel.__reduce__ = _kernel_reduce
Completion.__await__ = _completion_await
Completion.__repr__ = _completion_repr


class Explanation(str):
    """Text that says what was decided and why."""

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        from html import escape
        return f"<pre>{escape(self)}</pre>"


def explain(k):
    """k.explain()"""
    return k.explain()


# ---- devices -------------------------------------------------------------------------------------


class Device:
    """A device that a backend found, or, with `error`, why a backend cannot be used."""

    def __init__(self, backend, error=None, **facts):
        self.backend, self.error = backend, error
        self.adapter = facts.get("adapter", "")
        self.description = facts.get("description", "")
        self.memory_bytes = facts.get("memory_bytes", 0)
        self.compute_units = facts.get("compute_units", 0)
        self.max_workgroup = facts.get("max_workgroup", 0)
        self.has_f64 = facts.get("has_f64", False)
        self.has_i64 = facts.get("has_i64", False)
        self.has_i64_atomics = facts.get("has_i64_atomics", False)
        self.unusable = facts.get("unusable", "") or (str(error) if error else "")

    @property
    def usable(self):
        return not self.unusable

    def __repr__(self):
        what = self.description if self.usable else f"unusable: {self.unusable}"
        return f"<vyre.Device {self.backend}: {what}>"


class Devices(list):
    """A list of devices that is a table for people."""

    def __repr__(self):
        return "\n".join(f"{d.backend:8} {d.description or d.unusable}" for d in self)

    def _repr_html_(self):
        from html import escape
        rows = "".join(f"<tr><td>{escape(d.backend)}</td><td>{escape(d.description)}</td>"
                       f"<td>{d.compute_units or ''}</td><td>{escape(d.unusable)}</td></tr>"
                       for d in self)
        return ("<table><tr><th>backend</th><th>device</th><th>units</th><th>why not</th></tr>"
                f"{rows}</table>")


def devices(backend=None):
    """What kernels can run on. A backend that cannot be used here is listed with why."""
    found = Devices()
    for name in [backend] if backend else _vyre.backends():
        try:
            found += [Device(**row) for row in _vyre.devices(name)]
        except (BackendError, UnsupportedError) as error:
            found.append(Device(name, error=error))
    return found


def version():
    """The library's version."""
    return _vyre.version()


def printed(array):
    """What `printf` of a kernel wrote into its buffer `printf`, an array of u32."""
    return _vyre.printed(array)
