# SPDX-License-Identifier: MIT
"""The element types: `vyre.f32`, and what annotations of `@vyre.jit` are made of: `vyre.f32[:]`,
`vyre.f32[:, :]`."""

_NUMPY = {"bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32",
          "u32": "uint32", "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64"}
_SIZES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
          "f32": 4, "f64": 8}


class Type:
    """The type of a scalar or of an array's elements. `f32[:]`, `f32[:, :]` and `f32[:, :, :]` are
    arrays of it with one to three axes. As a dtype, numpy takes it: `numpy.zeros(8, vyre.f32)`."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    @property
    def itemsize(self):
        return _SIZES[self.name]

    @property
    def dtype(self):
        """The same as numpy's dtype."""
        import numpy
        return numpy.dtype(_NUMPY[self.name])

    @property
    def is_float(self):
        return self.name[0] == "f"

    @property
    def is_signed(self):
        return self.name[0] in "if"

    def __getitem__(self, axes):
        axes = axes if isinstance(axes, tuple) else (axes,)
        if not 1 <= len(axes) <= 3 or any(a != slice(None) for a in axes):
            raise TypeError(f"an array type is {self}[:], {self}[:, :] or {self}[:, :, :]")
        return ArrayType(self, len(axes))

    def __call__(self, value=0):
        """The value, converted as a kernel converts it."""
        import numpy
        with numpy.errstate(all="ignore"):
            return numpy.asarray(value).astype(self.dtype)[()]

    def __repr__(self):
        return f"vyre.{'bool_' if self.name == 'bool' else self.name}"

    def __str__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, Type) and other.name == self.name

    def __hash__(self):
        return hash(("vyre", self.name))

    def __reduce__(self):
        return (as_type, (self.name,))


class ArrayType:
    """An array of elements with 1 to 3 axes, for annotations."""

    __slots__ = ("element", "ndim")

    def __init__(self, element, ndim):
        self.element, self.ndim = element, ndim

    def __repr__(self):
        return f"{self.element!r}[{', '.join(':' * self.ndim)}]"

    def __eq__(self, other):
        return isinstance(other, ArrayType) and (self.element, self.ndim) == (other.element, other.ndim)

    def __hash__(self):
        return hash((self.element, self.ndim))


TYPES = {name: Type(name) for name in _SIZES}
_BY_NUMPY = {numpy: TYPES[name] for name, numpy in _NUMPY.items()}


def as_type(what):
    """The Type that a Type, its name, or a dtype of numpy says."""
    if isinstance(what, Type):
        return what
    if isinstance(what, str) and what in TYPES:
        return TYPES[what]
    if what is float:
        return TYPES["f64"]
    if what is int:
        return TYPES["i64"]
    if what is bool:
        return TYPES["bool"]
    name = getattr(what, "name", None) or getattr(what, "__name__", None) or str(what)
    found = _BY_NUMPY.get("bool" if name == "bool_" else name)
    if found is None:
        from ._errors import ArgumentError
        raise ArgumentError(f"`{what}` is no type. Fix: use one of {', '.join(TYPES)}, or numpy's",
                            status="argument")
    return found
