# SPDX-License-Identifier: MIT
"""What functions of Python, math, numpy and vyre become in a kernel: a table from the function itself to
how it is translated. A row gets the rules, the values of the arguments, and says what comes out."""
import builtins
import math
import sys

from . import _intrinsics as v
from ._jit_values import FLOATS, INTEGERS, Mistake, Number, Value, literal
from ._types import Type, as_type

_SAME = ["sqrt", "exp", "exp2", "expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
         "atan", "atan2", "sinh", "cosh", "tanh", "pow", "cbrt", "hypot", "fmod"]
_NUMPY_FLOATS = {"sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log",
                 "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos",
                 "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
                 "arctan2": "atan2", "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2",
                 "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "cbrt": "cbrt", "hypot": "hypot",
                 "fmod": "fmod", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint"}
_ONE_ARGUMENT = {"atan2": 2, "pow": 2, "hypot": 2, "fmod": 2}


def _float_function(name):
    wanted = _ONE_ARGUMENT.get(name, 1)

    def call(rules, args):
        if len(args) != wanted:
            raise Mistake(f"`{name}` takes {wanted} arguments, not {len(args)}. Fix: pass as many")
        if all(isinstance(a, Number) for a in args) and hasattr(math, name):
            try:
                return Number(float(getattr(math, name)(*(a.value for a in args))))
            except (ArithmeticError, ValueError):
                pass
        return rules.function(name, args)
    return call


def _log(rules, args):
    if len(args) == 2:
        return rules.divide(rules.function("log", args[:1]), rules.function("log", args[1:]))
    return rules.function("log", args)


def _whole(name):
    """math.floor and so on: a whole number."""
    def call(rules, args):
        value = args[0]
        if isinstance(value, Number):
            return Number(getattr(math, name)(value.value))
        value = rules.settle(value)
        if value.type not in FLOATS:
            return value
        return Value(f"i32({name}({value.text}))", "i32")
    return call


def _round(rules, args):
    if len(args) != 1:
        raise Mistake("round takes one argument in a kernel. Fix: multiply, round and divide")
    if isinstance(args[0], Number):
        return Number(round(args[0].value))
    value = rules.settle(args[0])
    return Value(f"i32(rint({value.text}))", "i32") if value.type in FLOATS else value


def _convert(type):
    def call(rules, args):
        if not args:
            return Value(literal(0, type), type)
        return rules.truth(args[0]) if type == "bool" else rules.convert(args[0], type)
    return call


def _int(rules, args):
    if isinstance(args[0], Number):
        return Number(int(args[0].value))
    value = rules.settle(args[0])
    return value if value.type in INTEGERS else Value(f"i32({value.text})", "i32")


def _float(rules, args):
    if isinstance(args[0], Number):
        return Number(float(args[0].value))
    value = rules.settle(args[0])
    return value if value.type in FLOATS else rules.convert(value, rules.float_for(value.type))


def _pow(rules, args):
    return rules.arithmetic("**", *args)


def _is_nan(rules, args):
    value, = rules.floating(*args)
    value = rules.named(value)
    return Value(f"({value.text} != {value.text})", "bool")


def _is_infinite(rules, args):
    value, = rules.floating(*args)
    return Value(f"(abs({value.text}) == inf_{value.type})", "bool")


def _is_finite(rules, args):
    value, = rules.floating(*args)
    return Value(f"(abs({value.text}) < inf_{value.type})", "bool")


def _copysign(rules, args):
    a, b = rules.floating(*args)
    bits = "u32" if a.type == "f32" else "u64"
    sign = literal(1 << (31 if bits == "u32" else 63), bits)
    return Value(f"as_{a.type}((as_{bits}(abs({a.text})) | (as_{bits}({b.text}) & {sign})))", a.type)


def _scaled(factor):
    def call(rules, args):
        return rules.arithmetic("*", args[0], Number(factor))
    return call


def _where(rules, args):
    return rules.choose(*args)


def _clip(rules, args):
    return rules.extreme("min", [rules.extreme("max", [args[0], args[1]]), args[2]])


def _sign(rules, args):
    value = rules.named(rules.settle(args[0]))
    zero, one, minus = literal(0, value.type), literal(1, value.type), literal(-1, value.type)
    return Value(f"select({value.text} > {zero}, {one}, select({value.text} < {zero}, {minus}, "
                 f"{value.text}))", value.type)


def _operator(method, sign):
    def call(rules, args):
        return getattr(rules, method)(sign, *args)
    return call


def _logical(sign):
    def call(rules, args):
        a, b = rules.truth(args[0]), rules.truth(args[1])
        return Value(f"({a.text} {sign} {b.text})", "bool")
    return call


def _fma(rules, args):
    return rules.function("fma", args)


def _integer_function(name):
    def call(rules, args):
        value = rules.settle(args[0])
        if value.type not in INTEGERS:
            raise Mistake(f"vyre.{name} works on whole numbers, not on {value.type}. Fix: convert it")
        rest = [rules.convert(a, value.type).text for a in args[1:]]
        return Value(f"{name}({', '.join([value.text, *rest])})", value.type)
    return call


def _bitcast(rules, args):
    type = as_type(args[0].value).name
    value = rules.settle(args[1])
    return Value(f"as_{type}({value.text})", type)


def _min(rules, args):
    return rules.extreme("min", args)


def _max(rules, args):
    return rules.extreme("max", args)


def _absolute(rules, args):
    return rules.absolute(args[0])


def _square(rules, args):
    return rules.power(rules.named(rules.settle(args[0])), Number(2))


_COMMON = {
    builtins.abs: _absolute, builtins.min: _min, builtins.max: _max, builtins.int: _int,
    builtins.float: _float, builtins.bool: _convert("bool"), builtins.pow: _pow,
    builtins.round: _round,
    math.fabs: lambda rules, args: rules.absolute(rules.floating(*args)[0]),
    math.floor: _whole("floor"), math.ceil: _whole("ceil"), math.trunc: _whole("trunc"),
    math.log: _log, math.isnan: _is_nan, math.isinf: _is_infinite, math.isfinite: _is_finite,
    math.copysign: _copysign, math.radians: _scaled(math.pi / 180),
    math.degrees: _scaled(180 / math.pi),
    v.fma: _fma, v.rsqrt: _float_function("rsqrt"), v.clamp: _clip, v.select: _where,
    v.bitcast: _bitcast,
}
for _name in ("popcount", "clz", "ctz", "rotl", "rotr", "mulhi"):
    _COMMON[getattr(v, _name)] = _integer_function(_name)
for _name in _SAME:
    if hasattr(math, _name):
        _COMMON[getattr(math, _name)] = _float_function(_name)

_numpy_table = None


def _numpy_functions():
    numpy = sys.modules["numpy"]
    table = {getattr(numpy, name): _float_function(op) for name, op in _NUMPY_FLOATS.items()
             if hasattr(numpy, name)}
    table.update({
        numpy.abs: _absolute, numpy.fabs: _COMMON[math.fabs], numpy.minimum: _min,
        numpy.maximum: _max, numpy.fmin: _min, numpy.fmax: _max, numpy.where: _where,
        numpy.clip: _clip, numpy.sign: _sign, numpy.isnan: _is_nan, numpy.isinf: _is_infinite,
        numpy.isfinite: _is_finite, numpy.square: _square, numpy.power: _pow,
        numpy.copysign: _copysign, numpy.add: _operator("arithmetic", "+"),
        numpy.subtract: _operator("arithmetic", "-"), numpy.multiply: _operator("arithmetic", "*"),
        numpy.divide: _operator("arithmetic", "/"), numpy.mod: _operator("arithmetic", "%"),
        numpy.floor_divide: _operator("arithmetic", "//"), numpy.logical_and: _logical("&&"),
        numpy.logical_or: _logical("||"), numpy.negative: lambda r, a: r.negative(a[0]),
        numpy.deg2rad: _scaled(math.pi / 180), numpy.rad2deg: _scaled(180 / math.pi),
    })
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
                 "float64", "bool_"):
        kind = getattr(numpy, name)
        table[kind] = _convert(as_type(kind).name)
    return table


def find(function):
    """How a function is translated, or None."""
    global _numpy_table
    if isinstance(function, Type):
        return _convert(function.name)
    try:
        found = _COMMON.get(function)
        if found is None and "numpy" in sys.modules:
            if _numpy_table is None:
                _numpy_table = _numpy_functions()
            found = _numpy_table.get(function)
    except TypeError:  # it cannot be hashed
        return None
    return found


ATOMICS = {getattr(v, "atomic_" + name): "atomic_" + name
           for name in ("add", "sub", "min", "max", "and", "or", "xor", "exchange", "cas")}
IDS = {v.local_index: "local_id", v.group_index: "group_id", v.group_size: "local_size",
       v.group_count: "group_count", v.grid_size: "global_size"}
