# SPDX-License-Identifier: MIT
"""Values while a Python function is translated: typed texts, numbers whose type is not decided yet,
arrays, and objects of Python. The rules of conversion are here, and what an operator or a function of
Python becomes in vyre's text form."""
import math

INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
FLOATS = ("f32", "f64")
NUMBERS = INTEGERS + FLOATS
BITS = {"bool": 1, "i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64,
        "f32": 32, "f64": 64}


class Mistake(Exception):
    """What is wrong with a value; the translator adds the place."""


class Value:
    """A typed value: its text. `is_natural`: it is known to be 0 or above."""

    def __init__(self, text, type, is_natural=False):
        self.text, self.type, self.is_natural = text, type, is_natural


class Number:
    """A number that was written down, or computed from such: its type comes from where it goes."""

    def __init__(self, value):
        self.value = value

    @property
    def type(self):
        return "float" if isinstance(self.value, float) else "int"

    @property
    def is_natural(self):
        return self.value >= 0


class Array:
    """A buffer, or an array of the workgroup or the invocation. `extents` are texts of i32, or None for
    the only axis of a buffer."""

    def __init__(self, name, element, extents, kind, param=None):
        self.name, self.element, self.extents, self.kind, self.param = name, element, extents, kind, param

    @property
    def ndim(self):
        return len(self.extents)


class Shape:
    """`x.shape`"""

    def __init__(self, array):
        self.array = array


class Object:
    """Something of Python: a module, a function, a type."""

    def __init__(self, value):
        self.value = value


class Several:
    """A tuple."""

    def __init__(self, items):
        self.items = items


# ---- literals --------------------------------------------------------------------------------------


def literal(value, type):
    """A number as text of a type."""
    if type == "bool":
        return "true" if value else "false"
    if type in FLOATS:
        value = float(value)
        if math.isnan(value):
            return f"nan_{type}"
        if math.isinf(value):
            return f"{'-' if value < 0 else ''}inf_{type}"
        text = repr(value)
        if "." not in text and "e" not in text:
            text += ".0"
        return f"{text}{type}" if value >= 0 and not text.startswith("-") else f"({text}{type})"
    if isinstance(value, float):
        raise Mistake(f"{value} is no whole number, and a {type} is needed here. Fix: convert it, as "
                      f"with int()")
    bits = BITS[type]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type[0] == "i" else (0, (1 << bits) - 1)
    if not low <= value <= high:
        raise Mistake(f"{value} is not in the range of {type}. Fix: use a larger type, as vyre.i64")
    return f"{value}{type}" if value >= 0 else f"({value}{type})"


class Rules:
    """Conversions and operators. `default_float` is what a float without a type becomes."""

    def __init__(self, default_float):
        self.default_float = default_float

    def settle(self, value):
        """A value with a type: numbers become i32, i64 where that is needed, or the usual float."""
        if isinstance(value, Value):
            return value
        if isinstance(value, Number):
            if value.type == "float":
                type = self.default_float
            else:
                type = "i32" if -(1 << 31) <= value.value < 1 << 31 else "i64"
            return Value(literal(value.value, type), type, value.is_natural)
        raise Mistake(f"{describe(value)} is no number. Fix: use a number or an element of an array here")

    def convert(self, value, type):
        """The value as another type."""
        if isinstance(value, Number):
            number = value.value
            if type in INTEGERS and isinstance(number, float) and number == int(number):
                number = int(number)
            return Value(literal(number, type), type, value.is_natural)
        value = self.settle(value)
        if value.type == type:
            return value
        return Value(f"{type}({value.text})", type, value.is_natural and type in INTEGERS)

    def join(self, a, b):
        """The type of a variable that is given both; "int" and "float" are numbers without a type."""
        if a == b or b is None:
            return a
        if a is None:
            return b
        if "bool" in (a, b) and not {a, b} <= {"bool", "int"}:
            raise Mistake(f"a variable is {a} here and {b} there. Fix: convert one of them")
        if b in ("int", "float"):
            a, b = b, a
        if a == "int":
            return b if b != "bool" else "i32"
        if a == "float":
            return "float" if b == "int" else b if b in FLOATS else self.float_for(b)
        return self.common(a, b)

    def float_for(self, type):
        """The float that an integer becomes."""
        return "f64" if BITS.get(type, 0) == 64 and self.default_float == "f64" else self.default_float

    def common(self, a, b):
        """The type in which two values are combined."""
        if a in FLOATS or b in FLOATS:
            return max([t for t in (a, b) if t in FLOATS], key=BITS.get)
        a, b = self.widened(a), self.widened(b)
        if a == b:
            return a
        if BITS[a] != BITS[b]:
            wide, narrow = (a, b) if BITS[a] > BITS[b] else (b, a)
            if wide[0] == "u" and narrow[0] == "i":
                raise Mistake(f"{a} and {b} have no common type. Fix: convert one of them")
            return wide
        if BITS[a] == 32:
            return "i64"
        raise Mistake(f"{a} and {b} have no common type. Fix: convert one of them, as with vyre.{a}(...)")

    @staticmethod
    def widened(type):
        """Arithmetic on small integers and bools is done in i32."""
        return "i32" if BITS[type] < 32 else type

    def pair(self, a, b, keep_small=False):
        """Two values of one type."""
        if isinstance(a, Number) and isinstance(b, Number):
            a = self.settle(a) if a.type == "float" or b.type == "int" else \
                self.convert(a, self.default_float)
        if isinstance(a, Number):
            b, a = self.pair(b, a, keep_small)
            return a, b
        a = self.settle(a)
        if isinstance(b, Number):
            if b.type == "float" and a.type not in FLOATS:
                type = self.float_for(a.type)
            else:
                type = a.type if a.type in FLOATS or keep_small else self.widened(a.type)
                if type == "i32" and b.type == "int" and not -(1 << 31) <= b.value < 1 << 31:
                    type = "i64"
            return self.convert(a, type), self.convert(b, type)
        b = self.settle(b)
        if keep_small and a.type == b.type:
            return a, b
        type = self.common(a.type, b.type)
        return self.convert(a, type), self.convert(b, type)

    def truth(self, value):
        """A bool."""
        if isinstance(value, Number):
            return Value("true" if value.value else "false", "bool")
        value = self.settle(value)
        if value.type == "bool":
            return value
        zero = literal(0, value.type)
        return Value(f"({value.text} != {zero})", "bool")

    # ---- operators ---------------------------------------------------------------------------------

    def arithmetic(self, sign, a, b):
        if isinstance(a, Number) and isinstance(b, Number):
            return Number(fold(sign, a.value, b.value))
        if sign == "/":
            return self.divide(a, b)
        if sign == "**":
            return self.power(a, b)
        if sign in ("//", "%"):
            return self.floored(sign, a, b)
        a, b = self.pair(a, b)
        natural = a.is_natural and b.is_natural and sign != "-"
        return Value(f"({a.text} {sign} {b.text})", a.type, natural)

    def divide(self, a, b):
        a, b = self.pair(a, b)
        if a.type not in FLOATS:
            type = self.float_for(a.type)
            a, b = self.convert(a, type), self.convert(b, type)
        return Value(f"({a.text} / {b.text})", a.type)

    def floored(self, sign, a, b):
        a, b = self.pair(a, b)
        if a.type in FLOATS:
            quotient = f"floor({a.text} / {b.text})"
            if sign == "//":
                return Value(quotient, a.type)
            rest = f"fmod({a.text}, {b.text})"
            zero = literal(0, a.type)
            return Value(f"select(({rest} != {zero}) && (({rest} < {zero}) != ({b.text} < {zero})), "
                         f"{rest} + {b.text}, {rest})", a.type)
        plain = "/" if sign == "//" else "%"
        text = f"({a.text} {plain} {b.text})"
        if a.type[0] == "u" or (a.is_natural and b.is_natural):
            return Value(text, a.type, True)
        zero, one = literal(0, a.type), literal(1, a.type)
        rest = f"({a.text} % {b.text})"
        differs = f"({rest} != {zero}) && (({rest} < {zero}) != ({b.text} < {zero}))"
        other = f"{text} - {one}" if sign == "//" else f"{rest} + {b.text}"
        return Value(f"select({differs}, {other}, {text})", a.type, sign == "%" and b.is_natural)

    def power(self, a, b):
        whole = isinstance(b, Number) and float(b.value) == int(b.value) and 0 <= b.value <= 4
        if whole and not isinstance(a, Number):
            a = self.settle(a)
            a = self.convert(a, a.type if a.type in FLOATS else self.widened(a.type))
            if b.value == 0:
                return Value(literal(1, a.type), a.type, True)
            return Value(f"({' * '.join([a.text] * int(b.value))})", a.type, a.is_natural)
        a, b = self.pair(a, b)
        if a.type not in FLOATS:
            raise Mistake("whole numbers are raised to 0 to 4 only. Fix: write the product, or convert "
                          "to a float")
        return Value(f"pow({a.text}, {b.text})", a.type)

    def bitwise(self, sign, a, b):
        if isinstance(a, Number) and isinstance(b, Number):
            return Number(fold(sign, a.value, b.value))
        if sign in ("<<", ">>"):
            a = self.settle(a)
            a = self.convert(a, self.widened(a.type) if a.type in INTEGERS else a.type)
            b = self.convert(b, a.type)
        else:
            a, b = self.pair(a, b, keep_small=True)
        if a.type in FLOATS:
            raise Mistake(f"`{sign}` works on whole numbers and bools, not on {a.type}. Fix: convert with "
                          "int() or vyre.bitcast")
        return Value(f"({a.text} {sign} {b.text})", a.type, a.is_natural and b.is_natural)

    def compare(self, sign, a, b):
        if isinstance(a, Number) and isinstance(b, Number):
            return Value("true" if fold(sign, a.value, b.value) else "false", "bool")
        a, b = self.pair(a, b, keep_small=True)
        return Value(f"({a.text} {sign} {b.text})", "bool")

    def choose(self, condition, a, b):
        condition = self.truth(condition)
        if isinstance(a, Value) and isinstance(b, Value) and a.type == b.type == "bool":
            return Value(f"select({condition.text}, {a.text}, {b.text})", "bool")
        a, b = self.pair(a, b, keep_small=True)
        return Value(f"select({condition.text}, {a.text}, {b.text})", a.type,
                     a.is_natural and b.is_natural)

    def negative(self, a):
        if isinstance(a, Number):
            return Number(-a.value)
        a = self.settle(a)
        a = self.convert(a, a.type if a.type in FLOATS else self.widened(a.type))
        return Value(f"(-{a.text})", a.type)

    def inverted(self, a):
        if isinstance(a, Number):
            return Number(~a.value)
        a = self.settle(a)
        if a.type in FLOATS:
            raise Mistake(f"`~` works on whole numbers and bools, not on {a.type}. Fix: use vyre.bitcast")
        return Value(f"(~{a.text})" if a.type != "bool" else f"(!{a.text})", a.type)

    # ---- functions ---------------------------------------------------------------------------------

    def floating(self, *values):
        """The values as one float type."""
        types = [v.type for v in values if isinstance(v, Value)]
        floats = [t for t in types if t in FLOATS]
        type = max(floats, key=BITS.get) if floats else \
            max((self.float_for(t) for t in types), key=BITS.get, default=self.default_float)
        return [self.convert(v, type) for v in values]

    def function(self, name, values):
        """A function of floats by its name in the text form."""
        values = self.floating(*values)
        return Value(f"{name}({', '.join(v.text for v in values)})", values[0].type)

    def extreme(self, name, values):
        """min and max of several."""
        if all(isinstance(v, Number) for v in values):
            return Number((min if name == "min" else max)(v.value for v in values))
        result = values[0]
        for value in values[1:]:
            a, b = self.pair(result, value, keep_small=True)
            if a.type == "bool":
                a, b = self.convert(a, "i32"), self.convert(b, "i32")
            natural = a.is_natural and b.is_natural if name == "min" else a.is_natural or b.is_natural
            result = Value(f"{name}({a.text}, {b.text})", a.type, natural)
        return result

    def absolute(self, value):
        if isinstance(value, Number):
            return Number(abs(value.value))
        value = self.settle(value)
        value = self.convert(value, "i32") if value.type == "bool" else value
        return Value(f"abs({value.text})", value.type, True)


def fold(sign, a, b):
    """What Python makes of two numbers."""
    import operator
    table = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
             "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
             ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
             "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
             ">": operator.gt, ">=": operator.ge}
    try:
        result = table[sign](a, b)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise Mistake(f"{a} {sign} {b}: {error}. Fix: change the constants") from None
    if not isinstance(result, (bool, int, float)):
        raise Mistake(f"{a} {sign} {b} is no real number. Fix: change the constants")
    return result


def describe(value):
    """A value in words."""
    if isinstance(value, Array):
        return f"the array `{value.name}`"
    if isinstance(value, Several):
        return "a tuple"
    if isinstance(value, Shape):
        return "a shape"
    if isinstance(value, Object):
        name = getattr(value.value, "__name__", None)
        return f"`{name}`" if name else f"{value.value!r}"
    return "this"
