# SPDX-License-Identifier: MIT
"""From the syntax tree of a Python function to vyre's text form.

The function is walked several times: a walk finds the types of variables from what is assigned to
them, and the next one sees them; when nothing new was found, the text of the last walk is right. Calls of
other functions are inlined. Everything that is refused says where, as Python's own errors do."""
import ast
import inspect
import linecache
import textwrap
import types as python_types

from . import _intrinsics as v
from ._errors import JitError
from ._jit_functions import ATOMICS, IDS, find as find_function
from ._jit_scope import find_places
from ._jit_values import (FLOATS, INTEGERS, Array, Mistake, Number, Object, Rules, Several, Shape, Value,
                          describe, literal)
from ._types import ArrayType, Type, as_type

MOST_WALKS, MOST_DEPTH = 12, 32
AXES = "xyz"
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//",
              ast.Mod: "%", ast.Pow: "**"}
_BITS = {ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Source:
    """A function's syntax tree, with the place of each node in its file."""

    def __init__(self, function):
        self.function = function
        code = function.__code__
        self.file, self.name = code.co_filename, function.__name__
        try:
            lines, self.first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise JitError(f"the source of `{self.name}` cannot be read. Fix: define it in a file or a "
                           "notebook, not with exec", status="syntax", file=self.file,
                           line=code.co_firstlineno) from None
        text = "".join(lines)
        self.indent = len(text) - len(text.lstrip())
        self.tree = self.find(textwrap.dedent(text), code)

    def find(self, text, code):
        try:
            module = ast.parse(text)
        except SyntaxError:  # a lambda in the middle of an expression
            module = self.parse_around(text)
        found = [n for n in ast.walk(module) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
        named = [n for n in found if getattr(n, "name", "<lambda>") == self.name]
        names = code.co_varnames[:code.co_argcount]
        named = [n for n in named if tuple(a.arg for a in n.args.args) == names] or named
        if not named:
            raise JitError(f"the source of `{self.name}` cannot be found. Fix: define it with def",
                           status="syntax", file=self.file, line=code.co_firstlineno)
        if len(named) > 1 and self.name == "<lambda>":
            raise JitError("two lambdas with the same arguments stand in one line. Fix: put each into a "
                           "line of its own", status="syntax", file=self.file,
                           line=code.co_firstlineno)
        return named[0]

    @staticmethod
    def parse_around(text):
        start = text.find("lambda")
        for end in range(len(text), start, -1):
            try:
                return ast.parse(text[start:end].strip(), mode="eval")
            except SyntaxError:
                continue
        return ast.Module([], [])

    def error(self, node, message):
        line = self.first + getattr(node, "lineno", 1) - 1
        column = getattr(node, "col_offset", 0) + self.indent + 1
        text = linecache.getline(self.file, line).rstrip("\n")
        excerpt = f"{text}\n{' ' * (column - 1)}^" if text else ""
        return JitError(message, status="syntax", file=self.file, line=line, column=column,
                        excerpt=excerpt)


class Frame:
    """A function while it is walked: its names, and where they are declared."""

    def __init__(self, source, number, is_kernel):
        self.source, self.number, self.is_kernel = source, number, is_kernel
        self.names = {}         # what is known by name: values, arrays, objects
        self.variables = {}     # name: its text, once it is declared
        self.places, self.loop_only = {}, set()
        self.result = None      # of an inlined function
        closure = source.function.__closure__ or ()
        self.outside = dict(zip(source.function.__code__.co_freevars, closure))


class Translator:
    """One walk over a kernel."""

    def __init__(self, kernel, types):
        self.kernel, self.types = kernel, types
        self.rules = Rules(kernel.default_float)
        self.rules.named = self.named
        self.lines, self.depth, self.shared_lines = [], 1, []
        self.reads, self.writes, self.tunables = set(), set(), {}
        self.shapes = {}      # (parameter, axis) of extents that are used: their text
        self.changed = False
        self.frames = self.temporaries = self.effects = self.inlined = 0
        self.regions, self.index_axes = [], 0
        self.rank, self.in_loop = 0, 0
        self.can_emit = True

    # ---- text --------------------------------------------------------------------------------------

    def emit(self, text):
        if not self.can_emit:
            raise Mistake("this cannot be computed outside of a parallel loop. Fix: move it into the loop")
        self.lines.append("  " * self.depth + text)

    def temporary(self, stem="t"):
        self.temporaries += 1
        return f"{stem}_{self.temporaries}"

    def named(self, value):
        """The value by a name, when its text is long and will be written twice."""
        if not isinstance(value, Value) or len(value.text) < 24 or not self.can_emit:
            return value
        name = self.temporary()
        self.emit(f"let {name} = {value.text}")
        return Value(name, value.type, value.is_natural)

    def captured(self, action):
        """What an action emits, apart."""
        before, self.lines = self.lines, []
        result = action()
        lines, self.lines = self.lines, before
        return lines, result

    # ---- names -------------------------------------------------------------------------------------

    def lookup(self, node):
        frame, name = self.frame, node.id
        if name in frame.names:
            return frame.names[name]
        if name in frame.places:
            return self.read_variable(name)
        return self.outer(name)

    def outer(self, name):
        frame = self.frame
        function = frame.source.function
        if name in frame.outside:
            try:
                return self.wrap(frame.outside[name].cell_contents)
            except ValueError:
                raise Mistake(f"`{name}` has no value yet. Fix: define it before the kernel is called") \
                    from None
        if name in function.__globals__:
            return self.wrap(function.__globals__[name])
        import builtins
        if hasattr(builtins, name):
            return Object(getattr(builtins, name))
        raise Mistake(f"`{name}` is not defined. Fix: assign it before it is used")

    def read_variable(self, name):
        frame = self.frame
        if name not in frame.variables:
            raise Mistake(f"`{name}` is used before it is assigned. Fix: give it a value first")
        type = self.types.get((frame.number, name))
        settled = {"int": "i32", "float": self.rules.default_float}.get(type, type)
        if settled is None:
            settled = "i32"  # the next walk knows better
        return Value(frame.variables[name], settled, (frame.number, name) in self.kernel.naturals)

    def wrap(self, value):
        """An object of Python as a value."""
        if isinstance(value, v.Tunable):
            self.tunables[value.name] = value
            return Value(f"i32({value.name})", "i32", True)
        if isinstance(value, bool):
            return Value("true" if value else "false", "bool")
        if isinstance(value, (int, float)):
            return Number(value)
        if isinstance(value, (tuple, list)) and all(isinstance(x, (int, float, bool)) for x in value):
            return Several([self.wrap(x) for x in value])
        kind = type(value).__module__
        if kind == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
            found = as_type(value.dtype).name
            return Value(literal(value.item(), found), found)
        return Object(value)

    def assign_variable(self, name, value, statement):
        """Sets a variable, and declares it where its place is."""
        frame = self.frame
        if isinstance(value, (Array, Several, Shape, Object)):
            if frame.places.get(name) and not frame.places[name].is_constant:
                raise Mistake(f"`{name}` is {describe(value)} here and is assigned again elsewhere. Fix: "
                              "use another name")
            frame.names[name] = value
            return
        if name in frame.names and isinstance(frame.names[name], Array):
            raise Mistake(f"`{name}` is an array. Fix: use another name for the number")
        key = (frame.number, name)
        found = value.type
        joined = self.rules.join(self.types.get(key), found)
        if joined != self.types.get(key):
            self.types[key] = joined
            self.changed = True
        type = {"int": "i32", "float": self.rules.default_float}.get(joined, joined)
        converted = self.rules.convert(value, type)
        place = frame.places.get(name)
        if place is not None and place.statement is statement and statement is not None:
            text = self.unique(name)
            frame.variables[name] = text
            if place.is_constant:
                self.emit(f"let {text} = {converted.text}")
                if converted.is_natural:
                    self.kernel.naturals.add(key)
            else:
                self.emit(f"var {text}: {type} = {converted.text}")
        else:
            self.emit(f"{frame.variables[name]} = {converted.text}")

    def unique(self, name):
        """A name of Python as one of the text form."""
        stem = name if name.isascii() else "name"
        return self.temporary(stem)

    def declare_top(self):
        """The variables that are declared at the top of the function. Their types come from the last
        walk."""
        frame = self.frame
        for name, place in frame.places.items():
            if place.statement is not None or name in frame.variables or name in frame.names:
                continue
            type = self.types.get((frame.number, name))
            type = {"int": "i32", "float": self.rules.default_float, None: "i32"}.get(type, type)
            frame.variables[name] = self.unique(name)
            self.emit(f"var {frame.variables[name]}: {type} = {literal(0, type)}")

    # ---- expressions -------------------------------------------------------------------------------

    def value(self, node):
        """A value, an array or an object."""
        method = getattr(self, "value_" + type(node).__name__, None)
        try:
            if method is None:
                raise Mistake(f"{_construct(node)} is not part of kernels. Fix: docs/PYTHON.md lists what "
                              "is")
            return method(node)
        except Mistake as mistake:
            raise self.frame.source.error(node, str(mistake)) from None

    def number(self, node):
        """A value or a number."""
        found = self.value(node)
        if isinstance(found, (Value, Number)):
            return found
        raise self.frame.source.error(node, f"{describe(found)} is no number. Fix: use a number or an "
                                            "element of an array here")

    def value_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            return Value("true" if value else "false", "bool")
        if isinstance(value, (int, float)):
            return Number(value)
        raise Mistake(f"{value!r} is not part of kernels. Fix: kernels have numbers and bools")

    def value_Name(self, node):
        return self.lookup(node)

    def value_Tuple(self, node):
        return Several([self.value(each) for each in node.elts])

    value_List = value_Tuple

    def value_Attribute(self, node):
        base = self.value(node.value)
        if isinstance(base, Array):
            if node.attr == "shape":
                return Shape(base)
            if node.attr == "size":
                return self.size(base)
            if node.attr == "ndim":
                return Number(base.ndim)
            if node.attr == "T":
                raise Mistake("views are not part of kernels. Fix: swap the indices")
            raise Mistake(f"arrays have no `{node.attr}` in kernels. Fix: use shape, size and ndim")
        if isinstance(base, Object):
            if not hasattr(base.value, node.attr):
                raise Mistake(f"{describe(base)} has no `{node.attr}`. Fix: check the name")
            return self.wrap(getattr(base.value, node.attr))
        raise Mistake(f"numbers have no `{node.attr}` in kernels. Fix: use functions, as math.sqrt(x)")

    def size(self, array):
        result = Number(1)
        for axis in range(array.ndim):
            result = self.rules.arithmetic("*", result, self.extent(array, axis))
        return result

    def extent(self, array, axis):
        if not -array.ndim <= axis < array.ndim:
            raise Mistake(f"`{array.name}` has {array.ndim} axes. Fix: ask for one of them")
        axis %= array.ndim
        if array.kind == "buffer" and array.ndim == 1:
            return Value(f"i32(len({array.name}))", "i32", True)
        if array.kind == "buffer":
            self.shapes[(array.param, axis)] = f"{array.name}.n{axis}"
            return Value(f"{array.name}.n{axis}", "i32", True)
        return array.extents[axis]

    def value_BinOp(self, node):
        a, b = self.number(node.left), self.number(node.right)
        sign = _OPERATORS.get(type(node.op))
        if sign in ("//", "%", "**"):
            a, b = self.named(a), self.named(b)
        if sign:
            return self.rules.arithmetic(sign, a, b)
        if type(node.op) in _BITS:
            return self.rules.bitwise(_BITS[type(node.op)], a, b)
        raise Mistake("`@` is not part of kernels. Fix: write the loop of the product")

    def value_UnaryOp(self, node):
        value = self.number(node.operand)
        if isinstance(node.op, ast.USub):
            return self.rules.negative(value)
        if isinstance(node.op, ast.Invert):
            return self.rules.inverted(value)
        if isinstance(node.op, ast.Not):
            return Value(f"(!{self.rules.truth(value).text})", "bool")
        return value

    def without_effects(self, node, action):
        before = self.effects
        result = action(node)
        if self.effects != before:
            raise Mistake("what writes memory stands in an expression that may not be evaluated. Fix: use "
                          "an if statement")
        return result

    def value_BoolOp(self, node):
        """As in Python one of the operands; of bools that is a bool."""
        is_and = isinstance(node.op, ast.And)
        values = [self.number(node.values[0]),
                  *(self.without_effects(n, self.number) for n in node.values[1:])]
        if all(isinstance(x, Value) and x.type == "bool" for x in values):
            return self.joined(is_and, values)
        result = values[-1]
        for x in reversed(values[:-1]):
            result = self.rules.choose(x, result, x) if is_and else self.rules.choose(x, x, result)
        return result

    def joined(self, is_and, values):
        sign = " && " if is_and else " || "
        return Value("(" + sign.join(self.rules.truth(x).text for x in values) + ")", "bool")

    def test(self, node):
        """A bool, where nothing else of the expression is asked for."""
        if not isinstance(node, ast.BoolOp):
            return self.rules.truth(self.number(node))
        values = [self.test(node.values[0]),
                  *(self.without_effects(n, self.test) for n in node.values[1:])]
        return self.joined(isinstance(node.op, ast.And), values)

    def value_Compare(self, node):
        texts, left = [], self.number(node.left)
        for op, right in zip(node.ops, node.comparators):
            sign = _COMPARISONS.get(type(op))
            if sign is None:
                raise Mistake(f"`{_word(op)}` is not part of kernels. Fix: compare with == or !=")
            right = self.number(right)
            texts.append(self.rules.compare(sign, left, right).text)
            left = right
        return Value(texts[0] if len(texts) == 1 else "(" + " && ".join(texts) + ")", "bool")

    def value_IfExp(self, node):
        condition = self.test(node.test)
        a = self.without_effects(node.body, self.number)
        b = self.without_effects(node.orelse, self.number)
        return self.rules.choose(condition, a, b)

    # ---- elements ----------------------------------------------------------------------------------

    def value_Subscript(self, node):
        base, indices = self.subscripts(node)
        if isinstance(base, Shape):
            return self.extent(base.array, self.constant(indices[0], "an axis"))
        if isinstance(base, Several):
            at = self.constant(indices[0], "a position in a tuple")
            if not -len(base.items) <= at < len(base.items):
                raise Mistake(f"the tuple has {len(base.items)} items. Fix: use a smaller index")
            return base.items[at]
        array, text = self.element(base, indices)
        self.note(array, is_write=False)
        return Value(f"{array.name}[{text}]", array.element, array.element[0] == "u")

    def subscripts(self, node):
        """The base of x[i], x[i, j] and x[i][j], and the nodes of the indices."""
        indices = []
        while isinstance(node, ast.Subscript):
            index = node.slice
            if type(index).__name__ == "Index":  # before Python 3.9's own tree
                index = index.value
            indices[:0] = index.elts if isinstance(index, ast.Tuple) else [index]
            node = node.value
        return self.value(node), indices

    def constant(self, node, what):
        found = self.value(node)
        if isinstance(found, Number) and isinstance(found.value, int):
            return found.value
        raise Mistake(f"{what} is a whole number that is written down. Fix: write one")

    def element(self, base, indices):
        """The array and the text of the flat index."""
        if not isinstance(base, Array):
            raise Mistake(f"{describe(base)} is no array. Fix: index arrays only")
        if any(isinstance(i, ast.Slice) for i in indices):
            raise Mistake("slices are not part of kernels. Fix: write a loop over the elements")
        if len(indices) != base.ndim:
            raise Mistake(f"`{base.name}` has {base.ndim} axes, and {len(indices)} indices are given. Fix: "
                          f"index it with {base.ndim}")
        flat = None
        for axis, node in enumerate(indices):
            index = self.index(base, axis, node)
            if flat is None:
                flat = index
            else:
                flat = self.rules.arithmetic(
                    "+", self.rules.arithmetic("*", flat, self.extent(base, axis)), index)
        return base, self.rules.settle(flat).text

    def index(self, array, axis, node):
        index = self.number(node)
        if isinstance(index, Number):
            if not isinstance(index.value, int):
                raise Mistake("an index is a whole number. Fix: convert it with int()")
            if index.value < 0:
                return self.rules.arithmetic("+", self.extent(array, axis), index)
            return index
        if index.type not in INTEGERS:
            raise Mistake(f"an index is a whole number, not {index.type}. Fix: convert it with int()")
        return self.rules.convert(index, self.rules.widened(index.type))

    def note(self, array, is_write):
        if array.kind == "buffer":
            (self.writes if is_write else self.reads).add(array.param)
        if is_write:
            self.effects += 1

    # ---- calls -------------------------------------------------------------------------------------

    def value_Call(self, node):
        function = self.value(node.func)
        if not isinstance(function, Object):
            raise Mistake(f"{describe(function)} is no function. Fix: call functions only")
        called = getattr(function.value, "_vyre_function", function.value)
        if called in ATOMICS:
            return self.atomic(ATOMICS[called], node)
        if called is v.index:
            return self.grid_index(node)
        if called in IDS:
            return self.id(IDS[called], node)
        if called in (v.shared, v.local):
            return self.new_array(called is v.shared, node)
        if called is v.barrier:
            self.emit("barrier")
            self.effects += 1
            return Several([])
        if called is len:
            return self.length(node)
        if called in (range, v.parallel):
            raise Mistake(f"{describe(function)} stands in a for statement only. Fix: for i in ...")
        return self.call_function(called, node)

    def call_function(self, called, node):
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise Mistake("`*` in calls is not part of kernels. Fix: write the arguments out")
        row = find_function(called)
        if row is not None:
            if node.keywords:
                raise Mistake("keywords are for functions of your own. Fix: pass the arguments by position")
            return row(self.rules, [self.argument(a) for a in node.args])
        if isinstance(called, python_types.FunctionType):
            return self.inline(called, node)
        name = getattr(called, "__name__", repr(called))
        module = getattr(called, "__module__", "") or ""
        raise Mistake(f"`{module + '.' if module not in ('builtins', '__main__') else ''}{name}` is not "
                      "part of kernels. Fix: use math, numpy's elementwise functions, or a function of "
                      "your own")

    def argument(self, node):
        found = self.value(node)
        if isinstance(found, (Value, Number, Object)):
            return found
        raise Mistake(f"{describe(found)} is no number. Fix: pass an element of it")

    def length(self, node):
        array = self.value(node.args[0]) if len(node.args) == 1 else None
        if isinstance(array, Several):
            return Number(len(array.items))
        if not isinstance(array, Array):
            raise Mistake("len takes an array. Fix: pass one")
        return self.extent(array, 0)

    def atomic(self, name, node):
        wanted = 3 if name == "atomic_cas" else 2
        if len(node.args) != wanted or node.keywords or not isinstance(node.args[0], ast.Subscript):
            raise Mistake(f"it is written vyre.{name}(x[i], {'expected, ' if wanted == 3 else ''}value). "
                          "Fix: pass an element first")
        base, indices = self.subscripts(node.args[0])
        array, index = self.element(base, indices)
        values = [self.rules.convert(self.number(a), array.element).text for a in node.args[1:]]
        self.note(array, is_write=False)
        self.note(array, is_write=True)
        result = self.temporary("old")
        self.emit(f"let {result} = {name}({array.name}[{index}], {', '.join(values)})")
        return Value(result, array.element)

    def axis_of(self, node, rank):
        axis = self.constant(node.args[0], "an axis") if node.args else -1
        if not -rank <= axis < rank:
            raise Mistake(f"the grid has {rank} axes. Fix: ask for one of them")
        return AXES[rank - 1 - axis % rank]

    def id(self, name, node):
        rank = self.rank or max(self.kernel.known_rank, 1)
        return Value(f"i32({name}.{self.axis_of(node, rank)})", "i32", True)

    def grid_index(self, node):
        if self.rank:
            raise Mistake("inside of vyre.parallel the loop's own variables are the index. Fix: use them")
        axes = self.constant(node.args[0], "the number of axes") if node.args else 1
        if not 1 <= axes <= 3:
            raise Mistake("a grid has one to three axes. Fix: ask for as many")
        if self.index_axes not in (0, axes):
            raise Mistake("vyre.index is asked for different numbers of axes. Fix: ask for the same")
        self.index_axes = axes
        ids = [Value(f"i32(global_id.{AXES[axes - 1 - k]})", "i32", True) for k in range(axes)]
        return ids[0] if axes == 1 else Several(ids)

    def new_array(self, is_shared, node):
        if len(node.args) < 2 or node.keywords:
            raise Mistake("it is written vyre.shared(vyre.f32, 256). Fix: pass a type and a shape")
        type = self.value(node.args[0])
        if not isinstance(type, Object):
            raise Mistake("the first argument is a type, such as vyre.f32. Fix: pass one")
        element = as_type(type.value).name
        shape = node.args[1:]
        if len(shape) == 1 and isinstance(shape[0], ast.Tuple):
            shape = shape[0].elts
        extents = [self.value(n) for n in shape]
        length = _length(extents)
        name = self.temporary("shared" if is_shared else "local")
        if is_shared:
            self.shared_lines.append(f"  shared {name}: {element}[{length}]")
        else:
            self.emit(f"array {name}: {element}[{length}]")
        return Array(name, element, extents, "shared" if is_shared else "local")

    # ---- inlined functions -------------------------------------------------------------------------

    def inline(self, function, node):
        if self.inlined >= MOST_DEPTH:
            raise Mistake("functions call each other too deeply, or themselves. Fix: use a loop")
        source = self.kernel.source_of(function)
        tree = source.tree
        values = self.bind_inlined(function, tree, node)
        self.frames += 1
        frame = Frame(source, self.frames, False)
        body = [ast.Return(tree.body, lineno=tree.lineno, col_offset=tree.col_offset)] \
            if isinstance(tree, ast.Lambda) else tree.body
        names = list(values)
        frame.places, frame.loop_only = find_places(body, names)
        outer, self.frame = self.frame, frame
        loop, self.in_loop = self.in_loop, 0
        self.inlined += 1
        for name, value in values.items():
            self.bind_parameter(frame, name, value)
        self.declare_top()
        returns = [n for n in ast.walk(tree) if isinstance(n, ast.Return)]
        if len(returns) <= 1 and (not returns or body[-1] is returns[0]) or isinstance(tree, ast.Lambda):
            self.statements(body[:-1] if body and isinstance(body[-1], ast.Return) else body)
            last = body[-1] if isinstance(body[-1], ast.Return) else None
            result = self.value(last.value) if last is not None and last.value is not None else Several([])
            result = self.keep_result(result)
        else:
            result = self.inline_with_returns(frame, source, body)
        self.inlined -= 1
        self.in_loop = loop
        self.frame = outer
        return result

    def keep_result(self, result):
        """The result by names: its variables may be changed before it is used."""
        if isinstance(result, Several):
            return Several([self.keep_result(r) for r in result.items])
        if isinstance(result, Value) and not result.text.replace("_", "").isalnum():
            name = self.temporary("result")
            self.emit(f"let {name} = {result.text}")
            return Value(name, result.type, result.is_natural)
        return result

    def inline_with_returns(self, frame, source, body):
        """Returns in branches of an if: what follows it goes into the other branch."""
        key = (frame.number, "return value")
        type = self.types.get(key)
        settled = {"int": "i32", "float": self.rules.default_float, None: "i32"}.get(type, type)
        frame.result = self.temporary("result")
        self.emit(f"var {frame.result}: {settled} = {literal(0, settled)}")
        self.statements(_with_else(body, source))
        return Value(frame.result, settled)

    def bind_inlined(self, function, tree, node):
        args = tree.args
        if args.vararg or args.kwarg or args.posonlyargs or args.kwonlyargs:
            raise Mistake("functions that are inlined have plain arguments. Fix: write them out")
        names = [a.arg for a in args.args]
        values = dict(zip(names, [self.value(a) for a in node.args]))
        if len(node.args) > len(names):
            raise Mistake(f"`{function.__name__}` takes {len(names)} arguments. Fix: pass as many")
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in values:
                raise Mistake(f"`{function.__name__}` cannot take `{keyword.arg}` here. Fix: check its "
                              "arguments")
            values[keyword.arg] = self.value(keyword.value)
        defaults = function.__defaults__ or ()
        for name, default in zip(names[len(names) - len(defaults):], defaults):
            values.setdefault(name, self.wrap(default))
        missing = [n for n in names if n not in values]
        if missing:
            raise Mistake(f"`{function.__name__}` needs `{missing[0]}`. Fix: pass it")
        return {n: values[n] for n in names}

    def bind_parameter(self, frame, name, value):
        if name in frame.places:  # it is assigned in the function
            value = self.rules.settle(value)
            key = (frame.number, name)
            joined = self.rules.join(self.types.get(key), value.type)
            self.changed |= joined != self.types.get(key)
            self.types[key] = joined
            type = {"int": "i32", "float": self.rules.default_float}.get(joined, joined)
            frame.variables[name] = self.unique(name)
            self.emit(f"var {frame.variables[name]}: {type} = {self.rules.convert(value, type).text}")
        elif isinstance(value, Value) and not value.text.replace("_", "").replace(".", "").isalnum():
            text = self.unique(name)
            self.emit(f"let {text} = {value.text}")
            frame.names[name] = Value(text, value.type, value.is_natural)
        elif isinstance(value, Value):
            # A variable of the caller may change meanwhile; a name of its own does not.
            text = self.unique(name)
            self.emit(f"let {text} = {value.text}")
            frame.names[name] = Value(text, value.type, value.is_natural)
        else:
            frame.names[name] = value

    # ---- statements --------------------------------------------------------------------------------

    def statements(self, body):
        for node in body:
            self.statement(node)

    def statement(self, node):
        method = getattr(self, "do_" + type(node).__name__, None)
        try:
            if method is None:
                raise Mistake(f"{_construct(node)} is not part of kernels. Fix: docs/PYTHON.md lists what "
                              "is")
            method(node)
        except Mistake as mistake:
            raise self.frame.source.error(node, str(mistake)) from None

    def do_Pass(self, node):
        pass

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a docstring
        if not isinstance(node.value, ast.Call):
            raise Mistake("this expression has no effect. Fix: assign it, or remove it")
        self.value(node.value)

    def do_Assign(self, node):
        value = self.value(node.value)
        for target in node.targets:
            self.store(target, value, node)

    def do_AnnAssign(self, node):
        if node.value is None:
            raise Mistake("a declaration has a value. Fix: write `name: type = value`")
        annotation = self.value(node.annotation)
        value = self.number(node.value)
        if isinstance(annotation, Object):
            type = as_type(annotation.value).name
            value = self.rules.truth(value) if type == "bool" else self.rules.convert(value, type)
        self.store(node.target, value, node)

    def do_AugAssign(self, node):
        sign = _OPERATORS.get(type(node.op)) or _BITS.get(type(node.op))
        combine = self.rules.arithmetic if type(node.op) in _OPERATORS else self.rules.bitwise
        if sign is None:
            raise Mistake("`@=` is not part of kernels. Fix: write the loop of the product")
        if isinstance(node.target, ast.Name):
            old = self.lookup(node.target)
            self.store(node.target, combine(sign, old, self.number(node.value)), node)
            return
        if not isinstance(node.target, ast.Subscript):
            raise Mistake("only variables and elements are assigned. Fix: assign one of them")
        array, index = self.element(*self.subscripts(node.target))
        index = self.named(Value(index, "i32")).text
        self.note(array, is_write=False)
        old = Value(f"{array.name}[{index}]", array.element)
        value = combine(sign, old, self.number(node.value))
        self.note(array, is_write=True)
        self.emit(f"{array.name}[{index}] = {self.rules.convert(value, array.element).text}")

    def store(self, target, value, statement):
        if isinstance(target, ast.Name):
            self.assign_variable(target.id, value, statement)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, statement)
        elif isinstance(target, ast.Subscript):
            array, index = self.element(*self.subscripts(target))
            if not isinstance(value, (Value, Number)):
                raise Mistake(f"{describe(value)} is no number. Fix: assign one")
            self.note(array, is_write=True)
            value = self.rules.truth(value) if array.element == "bool" else \
                self.rules.convert(value, array.element)
            self.emit(f"{array.name}[{index}] = {value.text}")
        else:
            raise Mistake("only variables and elements are assigned. Fix: assign one of them")

    def unpack(self, target, value, statement):
        items = value.items if isinstance(value, Several) else None
        if isinstance(value, Shape):
            items = [self.extent(value.array, k) for k in range(value.array.ndim)]
        if items is None or len(items) != len(target.elts):
            raise Mistake(f"{len(target.elts)} names cannot be given {describe(value)}. Fix: have as many on "
                          "both sides")
        kept = []
        for item in items:  # all are read before one is written
            if isinstance(item, Value) and self.can_emit and not item.text.startswith("i32(global_id"):
                name = self.temporary()
                self.emit(f"let {name} = {item.text}")
                item = Value(name, item.type, item.is_natural)
            kept.append(item)
        for each, item in zip(target.elts, kept):
            self.store(each, item, statement)

    def block(self, body):
        self.depth += 1
        self.statements(body)
        self.depth -= 1

    def do_If(self, node):
        condition = self.test(node.test)
        if condition.text in ("true", "false"):  # decided while translating: a constant of the module
            self.statements(node.body if condition.text == "true" else node.orelse)
            return
        self.emit(f"if {condition.text} {{")
        self.block(node.body)
        if node.orelse:
            self.emit("} else {")
            self.block(node.orelse)
        self.emit("}")

    def do_While(self, node):
        if node.orelse:
            raise Mistake("while ... else is not part of kernels. Fix: use a variable")
        self.depth += 1
        lines, condition = self.captured(lambda: self.test(node.test))
        self.depth -= 1
        if lines:
            self.emit("while {")
            self.lines += lines
            self.depth += 1
            self.emit(f"do {condition.text}")
            self.depth -= 1
        else:
            self.emit(f"while {condition.text} {{")
        self.in_loop += 1
        self.block(node.body)
        self.in_loop -= 1
        self.emit("}")

    def do_For(self, node):
        if node.orelse:
            raise Mistake("for ... else is not part of kernels. Fix: use a variable")
        call = node.iter
        called = self.value(call.func) if isinstance(call, ast.Call) else None
        if isinstance(called, Object) and called.value is v.parallel:
            raise Mistake("vyre.parallel stands at the top of a kernel only. Fix: use range inside")
        if not isinstance(called, Object) or called.value is not range:
            raise Mistake("for loops go over range(...) or vyre.parallel(...). Fix: use one of them")
        if not isinstance(node.target, ast.Name):
            raise Mistake("range has one variable. Fix: use one name")
        bounds = [self.number(a) for a in call.args]
        if not 1 <= len(bounds) <= 3 or call.keywords:
            raise Mistake("range takes one to three arguments. Fix: pass as many")
        lo, hi = (Number(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        self.loop(node, lo, hi, bounds[2] if len(bounds) == 3 else Number(1))

    def loop(self, node, lo, hi, step):
        if not isinstance(step, Number) or not isinstance(step.value, int) or step.value == 0:
            raise Mistake("the step of a range is a number that is written down, not 0. Fix: write one, or "
                          "use while")
        lo, hi = self.rules.pair(lo, hi)
        if lo.type not in INTEGERS:
            raise Mistake("range takes whole numbers. Fix: convert them with int()")
        name = node.target.id
        counter = self.unique(name)
        amount = literal(abs(step.value), lo.type)
        by = f" by {amount}" if abs(step.value) != 1 else ""
        value = Value(counter, lo.type, lo.is_natural)
        if step.value > 0:
            self.emit(f"for {counter} in {lo.text}..{hi.text}{by} {{")
        else:
            first = self.named(lo)
            self.emit(f"for {counter} in {literal(0, lo.type)}..{first.text} - {hi.text}{by} {{")
            value = Value(f"({first.text} - {counter})", lo.type, hi.is_natural)
        self.in_loop += 1
        self.depth += 1
        frame = self.frame
        if name in frame.loop_only:
            before = frame.names.get(name)
            frame.names[name] = value
            self.statements(node.body)
            frame.names.pop(name)
            if before is not None:
                frame.names[name] = before
        else:
            self.assign_variable(name, value, None)
            self.statements(node.body)
        self.depth -= 1
        self.in_loop -= 1
        self.emit("}")

    def do_Break(self, node):
        if not self.in_loop:
            raise Mistake("all of a parallel loop runs at once: it cannot be left. Fix: use range, or a "
                          "condition")
        self.emit("break")

    def do_Continue(self, node):
        self.emit("continue" if self.in_loop else "return")

    def do_Return(self, node):
        frame = self.frame
        if frame.is_kernel:
            if node.value is not None and not (isinstance(node.value, ast.Constant) and
                                               node.value.value is None):
                raise Mistake("a kernel returns nothing. Fix: write results into an array")
            self.emit("return")
            return
        if frame.result is None or self.in_loop:
            raise Mistake("a function that is inlined returns at its end or in branches of ifs, not in a "
                          "loop. Fix: use a variable and break")
        if node.value is None:
            return
        value = self.number(node.value)
        key = (frame.number, "return value")
        joined = self.rules.join(self.types.get(key), value.type)
        if joined != self.types.get(key):
            self.types[key] = joined
            self.changed = True
        type = {"int": "i32", "float": self.rules.default_float}.get(joined, joined)
        self.emit(f"{frame.result} = {self.rules.convert(value, type).text}")


def _length(extents):
    """The product of an array's extents."""
    if all(isinstance(e, Number) and isinstance(e.value, int) for e in extents):
        product = Number(1)
        for e in extents:
            product = Number(product.value * e.value)
        return _formula(product)
    return " * ".join(_formula(e) for e in extents)


def _formula(value):
    """The length of an array: a number, or computed from tunables."""
    if isinstance(value, Number) and isinstance(value.value, int) and value.value > 0:
        return str(value.value)
    if isinstance(value, Value):
        text = value.text.replace("i32(", "(")
        if all(c.isalnum() or c in "_ ()+-*/%" for c in text):
            import re
            return "(" + re.sub(r"\b(\d+)i32\b", r"\1", text) + ")"
    raise Mistake("the length of an array is a number that is written down, or computed from tunables. Fix: "
                  "use a constant")


def _always_returns(body):
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Return):
        return True
    return isinstance(last, ast.If) and _always_returns(last.body) and _always_returns(last.orelse)


def _has_return(node):
    return any(isinstance(n, ast.Return) for n in ast.walk(node))


def _with_else(body, source):
    """The same statements, with what follows an if that returns in its other branch."""
    result = []
    for at, node in enumerate(body):
        if not isinstance(node, ast.If) or not _has_return(node):
            result.append(node)
            if isinstance(node, ast.Return):
                break
            continue
        rest = body[at + 1:]
        then, other = node.body, node.orelse
        if _always_returns(then):
            other = other + rest if not _always_returns(other) else other
        elif _always_returns(other):
            then = then + rest
        elif rest:
            raise source.error(node, "only some ways through this if return. Fix: return in all of them, or "
                                     "use a variable")
        made = ast.If(node.test, _with_else(then, source), _with_else(other, source))
        result.append(ast.copy_location(made, node))
        break
    return result


def _construct(node):
    words = {"ListComp": "a comprehension", "SetComp": "a comprehension", "DictComp": "a comprehension",
             "GeneratorExp": "a generator", "Lambda": "a lambda", "Dict": "a dictionary", "Set": "a set",
             "JoinedStr": "text", "Try": "try", "With": "with", "Raise": "raise", "Assert": "assert",
             "Delete": "del", "Global": "global", "Nonlocal": "nonlocal", "Import": "import",
             "ImportFrom": "import", "FunctionDef": "a function inside of a function",
             "ClassDef": "a class", "Yield": "yield", "Await": "await", "NamedExpr": "`:=`",
             "Starred": "`*`", "AsyncFor": "async", "AsyncWith": "async", "Match": "match"}
    return words.get(type(node).__name__, type(node).__name__)


def _word(op):
    return {"Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in"}.get(type(op).__name__, "?")
