# SPDX-License-Identifier: MIT
"""`@vyre.jit`: kernels written in Python, and `vyre.fuse`: elementwise expressions as one kernel."""
import ast
import functools

from . import _core, _intrinsics as v
from ._errors import ArgumentError, JitError
from ._jit_values import Array, Mistake, Number, Object, Several, Shape, Value, literal
from ._translate import AXES, Frame, MOST_WALKS, Source, Translator
from ._types import ArrayType, Type, as_type

# Names that the text form has for itself.
_RESERVED = set("""program buffer transient region grid workgroup shared let var array if else for in by
while do break continue return barrier read write readwrite len true false fast tunable where bool i8 u8
i16 u16 i32 u32 i64 u64 f32 f64 global_id local_id group_id global_size local_size group_count min max abs
select fma sqrt floor ceil trunc round rint exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan
atan2 sinh cosh tanh pow cbrt hypot fmod rsqrt popcount clz ctz rotl rotr mulhi neg add sub mul div rem and
or xor not shl shr eq ne lt le gt ge copy convert bitcast""".split())


def _clean(name):
    return name if name.isascii() and name not in _RESERVED else f"p_{name.encode().hex()}" \
        if not name.isascii() else name + "_"


def _extent(text):
    """A grid has no type: of `i32(len(x))` the length does. One that i32 does not hold is refused when the
    array is bound."""
    is_length = text.startswith("i32(len(") and text.endswith("))") and text.count("(") == 2
    return text[len("i32("):-1] if is_length else text


class Parameter:
    """An argument of a kernel: a scalar or an array."""

    def __init__(self, name, annotation, default):
        self.name, self.text, self.annotation, self.default = name, _clean(name), annotation, default

    @property
    def is_array(self):
        return isinstance(self.annotation, ArrayType)

    @property
    def element(self):
        return self.annotation.element.name if self.is_array else self.annotation.name


class Function:
    """A Python function as a kernel: its text, and where the parameters of the text come from."""

    def __init__(self, function, parameters, grid, rank, workgroup, fast):
        self.function, self.parameters = function, parameters
        self.grid, self.given_rank, self.workgroup, self.fast = grid, rank, workgroup, fast
        self.naturals, self.sources = set(), {}
        self.source = self.source_of(function)
        types = {p.element for p in parameters}
        self.default_float = "f64" if "f64" in types else "f32"
        self.known_rank = rank
        self.make()

    def source_of(self, function):
        if function not in self.sources:
            self.sources[function] = Source(function)
        return self.sources[function]

    def make(self):
        types = {}
        for _ in range(MOST_WALKS):
            walk = Walk(self, types)
            walk.run()
            known = walk.index_axes or self.known_rank
            if not walk.changed and known == self.known_rank:
                break
            self.known_rank = known
        else:
            raise self.source.error(self.source.tree, "the types of the variables do not settle. Fix: "
                                                      "annotate some, as in `t: vyre.f32 = 0`")
        self.text = walk.text()
        self.args, self.derived = walk.signature()


class Walk(Translator):
    """A walk over a whole kernel."""

    def run(self):
        kernel = self.kernel
        self.frame = Frame(kernel.source, 0, True)
        self.globals = {}
        for p in kernel.parameters:
            if p.is_array:
                extents = [None] * p.annotation.ndim
                self.globals[p.name] = Array(p.text, p.element, extents, "buffer", p.name)
            else:
                self.globals[p.name] = Value(p.text, p.element, p.element[0] == "u")
        body = kernel.source.tree.body
        if any(self.is_parallel(n) for n in body):
            self.run_regions(body)
        else:
            self.run_one(body)

    def is_parallel(self, node):
        if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
            return False
        called = self.value(node.iter.func)
        return isinstance(called, Object) and called.value is v.parallel

    def begin(self, body, names):
        """A fresh region: variables of their own, parameters that are assigned as variables."""
        from ._jit_scope import find_places
        self.lines, self.shared_lines, self.in_loop = [], [], 0
        self.frames += 1
        self.frame = Frame(self.kernel.source, self.frames, True)
        self.frame.names = dict(names)
        self.frame.places, self.frame.loop_only = find_places(body, list(names))
        for name in list(names):
            if name in self.frame.places:
                value = self.frame.names.pop(name)
                if isinstance(value, Array):
                    raise self.kernel.source.error(
                        self.kernel.source.tree, f"`{name}` is an array and is assigned. Fix: use another "
                        "name for what is assigned")
                self.bind_parameter(self.frame, name, value)
        self.declare_top()

    def end(self, name, extents, workgroup):
        grid = ", ".join(_extent(e) for e in reversed(extents))
        group = f" workgroup({', '.join(reversed(workgroup))})" if workgroup else ""
        self.regions.append("\n".join([f"region {name} grid({grid}){group} {{", *self.shared_lines,
                                       *self.lines, "}"]))

    # ---- one region ----------------------------------------------------------------------------------

    def run_one(self, body):
        self.begin(body, self.globals)
        self.statements(body)
        try:
            extents = self.one_grid()
            self.end("main", extents, self.workgroup_text(self.kernel.workgroup, len(extents)))
        except Mistake as mistake:
            raise self.kernel.source.error(self.kernel.source.tree, str(mistake)) from None

    def one_grid(self):
        kernel = self.kernel
        if kernel.given_rank:
            if self.index_axes not in (0, kernel.given_rank):
                raise Mistake(f"rank is {kernel.given_rank}, but vyre.index has {self.index_axes} axes. Fix: "
                              "make them the same")
            return [f"grid_{AXES[kernel.given_rank - 1 - k]}" for k in range(kernel.given_rank)]
        self.can_emit = False
        grid = kernel.grid
        if grid is None:
            return self.usual_grid()
        items = [grid] if isinstance(grid, (str, int, v.Tunable)) else list(grid)
        if len(items) == 1 and isinstance(items[0], str) and isinstance(self.globals.get(items[0]), Array):
            array = self.globals[items[0]]
            extents = [self.extent(array, k) for k in range(array.ndim)]
        else:
            extents = [self.grid_item(item) for item in items]
        if self.index_axes and len(extents) != self.index_axes:
            raise Mistake(f"the grid has {len(extents)} axes, but vyre.index {self.index_axes}. Fix: make "
                          "them the same")
        return [self.rules.settle(e).text for e in extents]

    def grid_item(self, item):
        if isinstance(item, str):
            self.frame.names = dict(self.globals)
            self.frame.places = {}
            try:
                return self.number(ast.parse(item, mode="eval").body)
            except SyntaxError:
                raise Mistake(f"`{item}` is no expression. Fix: write grid as \"n // 2\" or so") from None
        return self.wrap(item)

    def usual_grid(self):
        """The shape of the first array that is written and has as many axes as the index."""
        axes = self.index_axes or 1
        for p in self.kernel.parameters:
            if p.is_array and p.name in self.writes and p.annotation.ndim == axes:
                return [self.extent(self.globals[p.name], k).text for k in range(axes)]
        raise Mistake(f"no array with {axes} axes is written, so that the grid is not known. Fix: say it, as "
                      "in @vyre.jit(grid=\"x\"), or use `for i in vyre.parallel(n)`")

    # ---- several regions -----------------------------------------------------------------------------

    def run_regions(self, body):
        if self.kernel.grid is not None or self.kernel.given_rank:
            raise self.kernel.source.error(self.kernel.source.tree, "vyre.parallel says what the grid is. "
                                           "Fix: leave out grid and rank")
        for node in body:
            if self.is_parallel(node):
                self.frame.source = self.kernel.source
                uniform = self.frame
                self.region(node)
                self.frame = uniform
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and \
                    isinstance(node.targets[0], (ast.Name, ast.Tuple)):
                self.uniform(node)
            elif not (isinstance(node, ast.Pass) or isinstance(node, ast.Expr) and
                      isinstance(node.value, ast.Constant)):
                raise self.kernel.source.error(
                    node, "beside parallel loops a kernel has assignments of numbers that are the same "
                    "everywhere. Fix: move this into a loop, or into Python around the call")

    def uniform(self, node):
        """A number that is the same everywhere, computed from parameters and shapes."""
        self.frame.names = {**self.globals}
        self.can_emit = False
        value = self.value(node.value)
        self.can_emit = True
        targets = [node.targets[0]] if isinstance(node.targets[0], ast.Name) else node.targets[0].elts
        if isinstance(value, Shape):
            value = Several([self.extent(value.array, k) for k in range(value.array.ndim)])
        values = [value] if isinstance(node.targets[0], ast.Name) else getattr(value, "items", [])
        if len(values) != len(targets):
            raise self.kernel.source.error(node, "both sides have different lengths. Fix: have as many on "
                                                 "both sides")
        for target, each in zip(targets, values):
            if not isinstance(target, ast.Name) or target.id in self.globals:
                raise self.kernel.source.error(node, "outside of parallel loops a name is assigned once. "
                                                     "Fix: use another name")
            self.globals[target.id] = each

    def region(self, node):
        error = self.kernel.source.error
        self.frame.names = dict(self.globals)
        self.can_emit = False
        extents = [self.number(a) for a in node.iter.args]
        workgroup = self.kernel.workgroup
        for keyword in node.iter.keywords:
            if keyword.arg != "workgroup":
                raise error(node.iter, f"vyre.parallel has no `{keyword.arg}`. Fix: it takes workgroup")
            found = self.value(keyword.value)
            workgroup = tuple(found.items) if isinstance(found, Several) else (found,)
        self.can_emit = True
        targets = [node.target] if isinstance(node.target, ast.Name) else list(node.target.elts)
        if not 1 <= len(extents) <= 3 or len(targets) != len(extents) or \
                not all(isinstance(t, ast.Name) for t in targets):
            raise error(node, "vyre.parallel takes one to three extents, and the loop as many names. Fix: "
                              "write `for y, x in vyre.parallel(h, w)`")
        if node.orelse:
            raise error(node, "for ... else is not part of kernels. Fix: leave it out")
        self.rank = len(extents)
        names = dict(self.globals)
        for k, target in enumerate(targets):
            axis = AXES[len(extents) - 1 - k]
            names[target.id] = Value(f"i32(global_id.{axis})", "i32", True)
        try:
            self.begin(node.body, names)
            self.statements(node.body)
            texts = [self.rules.settle(e).text for e in extents]
            self.end(f"loop{len(self.regions) + 1}", texts,
                     self.workgroup_text(workgroup, len(extents)))
        except Mistake as mistake:
            raise error(node, str(mistake)) from None
        self.rank = 0

    # ---- the program ---------------------------------------------------------------------------------

    def workgroup_text(self, workgroup, rank):
        if workgroup is None:
            return None
        items = [workgroup] if isinstance(workgroup, (int, v.Tunable)) else list(workgroup)
        if len(items) != rank:
            raise Mistake(f"the workgroup has {len(items)} axes, the grid {rank}. Fix: make them the same")
        texts = []
        for item in items:
            item = item if isinstance(item, (Value, Number)) else self.wrap(item)
            texts.append(str(item.value) if isinstance(item, Number) else _as_formula(item))
        return texts

    def text(self):
        kernel = self.kernel
        params = [f"{p.text}: {p.element}" for p in kernel.parameters if not p.is_array]
        params += [f"{text}: i32" for text in self.shapes.values()]
        if kernel.given_rank:
            params += [f"grid_{AXES[k]}: i32" for k in range(kernel.given_rank)]
        fast = f" fast({kernel.fast})" if kernel.fast else ""
        lines = [f"program {_clean(kernel.function.__name__.strip('<>'))}({', '.join(params)}){fast}"]
        for t in self.tunables.values():
            lines.append(f"tunable {t.name}: u32 in ({', '.join(map(str, t.values))})")
        for p in kernel.parameters:
            if p.is_array:
                reads, writes = p.name in self.reads, p.name in self.writes
                access = "readwrite" if reads and writes else "write" if writes else "read"
                lines.append(f"buffer {p.text}: {p.element}[] {access}")
        return "\n".join([*lines, *self.regions, ""])

    def signature(self):
        kernel = self.kernel
        args, param, buffer = [], 0, 0
        for p in kernel.parameters:
            default = p.default
            if p.is_array:
                args.append((p.name, True, buffer, p.annotation.ndim, default))
                buffer += 1
            else:
                args.append((p.name, False, param, 0, default))
                param += 1
        position = {p.name: i for i, p in enumerate(kernel.parameters)}
        derived = []
        for name, axis in self.shapes:
            derived.append((param, _core.SHAPE, position[name], axis))
            param += 1
        for k in range(kernel.given_rank):
            # Calls give the grid in the order of the index: the last is x.
            derived.append((param, _core.GRID, 0, kernel.given_rank - 1 - k))
            param += 1
        return args, derived


def _as_formula(value):
    from ._translate import _formula
    return _formula(value)


# ---- the decorator ---------------------------------------------------------------------------------


def _annotations(function):
    found = dict(function.__annotations__)
    if any(isinstance(a, str) for a in found.values()):
        closure = dict(zip(function.__code__.co_freevars,
                           [c.cell_contents for c in function.__closure__ or ()]))
        for name, text in found.items():
            if isinstance(text, str):
                found[name] = eval(text, function.__globals__, closure)  # as typing.get_type_hints does
    return found


def _parameters(function):
    code = function.__code__
    source = None
    if code.co_flags & 0x0c or code.co_kwonlyargcount or code.co_posonlyargcount:
        raise JitError(f"`{function.__name__}` has *args, keyword-only or positional-only arguments. Fix: a "
                       "kernel has plain arguments", status="syntax", file=code.co_filename,
                       line=code.co_firstlineno)
    names = code.co_varnames[:code.co_argcount]
    annotations = _annotations(function)
    defaults = dict(zip(names[len(names) - len(function.__defaults__ or ()):],
                        function.__defaults__ or ()))
    result = []
    for name in names:
        if name not in annotations:
            source = Source(function)
            node = next((a for a in source.tree.args.args if a.arg == name), source.tree)
            raise source.error(node, f"`{name}` has no type. Fix: write `{name}: vyre.f32` for a number, "
                                     f"`{name}: vyre.f32[:]` for an array")
        annotation = annotations[name]
        if not isinstance(annotation, ArrayType):
            try:
                annotation = as_type(annotation)
            except ArgumentError as error:
                source = Source(function)
                node = next((a for a in source.tree.args.args if a.arg == name), source.tree)
                raise source.error(node, str(error.args[0])) from None
        result.append(Parameter(name, annotation, defaults.get(name, ...)))
    return result


def jit(function=None, *, grid=None, rank=0, workgroup=None, fast=0, runtime=None):
    """A kernel from a Python function whose arguments have types:

        @vyre.jit
        def blur(src: vyre.f32[:, :], dst: vyre.f32[:, :]):
            h, w = src.shape
            for y, x in vyre.parallel(h, w):
                ...

    Each `for ... in vyre.parallel(...)` at its top is a loop whose iterations run at once; one follows the
    other. A function without such a loop runs once for each element of the grid, and asks for its place with
    `vyre.index()`.

    grid       of functions without parallel loops: an array's name ("x"), expressions ("n // 2",
               ("h", "w")); None: the shape of the first array that is written
    rank       the grid is given with each call in place of that: k(..., grid=(h, w))
    workgroup  its extents, for local_index, shared arrays and barriers
    fast       arithmetic may be off by so many ULP for each operation (fma, reciprocals); 0: exact
    runtime    where it runs; None: vyre.runtime()

    The function is translated when it is first used, and not run by Python. docs/PYTHON.md says what it
    may contain."""
    if function is None:
        return functools.partial(jit, grid=grid, rank=rank, workgroup=workgroup, fast=fast,
                                 runtime=runtime)
    if not hasattr(function, "__code__"):
        raise ArgumentError(f"vyre.jit takes a function, not {type(function).__name__}. Fix: use it as "
                            "@vyre.jit above a def", status="argument")

    def load():
        made = Function(function, _parameters(function), grid, rank, workgroup, fast)
        program = _core.program(made.text, language="text", name=f"<jit {function.__name__}>")
        return program, function.__name__, made.args, made.derived

    k = _core.Kernel(runtime if runtime is not None else _core.runtime(), load)
    for name in functools.WRAPPER_ASSIGNMENTS:
        if name != "__type_params__" and hasattr(function, name):
            setattr(k, name, getattr(function, name))
    k.__wrapped__ = function
    k._vyre_function = function
    k._loader = load
    return k


# ---- fuse ------------------------------------------------------------------------------------------


class Fused:
    """An elementwise expression that is compiled into one kernel per combination of types."""

    def __init__(self, function, runtime=None, fast=0):
        self.function, self.runtime, self.fast = function, runtime, fast
        self.kernels = {}
        functools.update_wrapper(self, function)

    def __call__(self, *args, out=None):
        described = [_describe(a) for a in args]
        arrays = [(d, a) for d, a in zip(described, args) if d[0] == "array"]
        if not arrays:
            raise ArgumentError(f"{self._name()} was given no array. Fix: pass at least one",
                                status="argument")
        shape = arrays[0][0][2]
        for (_, _, other), _ in arrays:
            if other != shape:
                raise ArgumentError(f"{self._name()} was given arrays of shape {shape} and {other}. Fix: "
                                    "pass arrays of one shape, and numbers", status="argument")
        key = tuple(d[:2] for d in described)
        if key not in self.kernels:
            self.kernels[key] = self._make(described)
        k, types, is_tuple = self.kernels[key]
        outs = self._outputs(out, types, shape, arrays[0][1])
        k(*args, *outs)
        return tuple(outs) if is_tuple else outs[0]

    def _name(self):
        return getattr(self.function, "__name__", "fused")

    def _outputs(self, out, types, shape, like):
        if out is not None:
            outs = list(out) if isinstance(out, (tuple, list)) else [out]
            if len(outs) != len(types):
                raise ArgumentError(f"{len(types)} arrays are made, {len(outs)} were given for `out`. Fix: "
                                    "pass as many", status="argument")
            return outs
        if isinstance(like, _core.Buffer):
            return [_core.Buffer(shape=shape, dtype=t, runtime=like.runtime) for t in types]
        import numpy
        return [numpy.empty(shape, as_type(t).dtype) for t in types]

    def _make(self, described):
        names = self.function.__code__.co_varnames[:self.function.__code__.co_argcount]
        if len(names) != len(described):
            raise ArgumentError(f"{self._name()} takes {len(names)} arguments, {len(described)} were "
                                "passed. Fix: pass as many", status="argument")
        made = _FusedFunction(self.function, names, described, self.fast)
        program = _core.program(made.text, language="text", name=f"<fuse {self._name()}>")
        where = self.runtime if self.runtime is not None else _core.runtime()
        loaded = (program, "fused", made.args, [])
        return _core.Kernel(where, lambda: loaded), made.types, made.is_tuple

    def text(self):
        """The text forms of the kernels that were made so far."""
        return "\n".join(k.text() for k, _, _ in self.kernels.values())

    def __repr__(self):
        return f"<vyre.fuse of {self._name()}, {len(self.kernels)} kernels>"


def _describe(value):
    """("array", type, shape) or ("number", type, ())."""
    if isinstance(value, bool):
        return ("number", "bool", ())
    if isinstance(value, int):
        return ("number", "int", ())
    if isinstance(value, float):
        return ("number", "float", ())
    if getattr(value, "ndim", None) == 0 and hasattr(value, "dtype") and hasattr(value, "item"):
        return ("number", as_type(value.dtype).name, ())
    name, shape = _core._vyre.describe(value)
    return ("array", name, shape)


class _FusedFunction:
    """The text of a fused expression."""

    def __init__(self, function, names, described, fast):
        self.function, self.naturals, self.sources = function, set(), {}
        types = {d[1] for d in described}
        self.default_float = "f64" if types & {"f64", "i64", "u64"} or not types & {"f32"} else "f32"
        self.known_rank, self.fast = 1, fast
        self.source = self.source_of(function)
        types = {}
        for _ in range(MOST_WALKS):
            walk = Translator(self, types)
            outs = self.walk(walk, names, described)
            if not walk.changed:
                break
        self.types = [o.type for o in outs]
        first = next(n for n, d in zip(names, described) if d[0] == "array")
        lines = [f"program fused({', '.join(self.params)})" + (f" fast({fast})" if fast else ""),
                 *self.buffers,
                 *(f"buffer out{i}_: {t}[len({_clean(first)})] write" for i, t in enumerate(self.types)),
                 f"region main grid(len({_clean(first)})) {{", "  let i_ = global_id.x", *walk.lines,
                 *(f"  out{i}_[i_] = {o.text}" for i, o in enumerate(outs)), "}", ""]
        self.text = "\n".join(lines)
        for i in range(len(outs)):
            self.args.append((f"out{i}", True, len(self.buffers) + i, 0, ...))

    source_of = Function.source_of

    def walk(self, walk, names, described):
        walk.frame = Frame(self.source, 0, True)
        self.args, self.params, self.buffers = [], [], []
        for name, (kind, type, _) in zip(names, described):
            text = _clean(name)
            if kind == "array":
                walk.frame.names[name] = Value(f"{text}[i_]", type)
                self.args.append((name, True, len(self.buffers), 0, ...))
                self.buffers.append(f"buffer {text}: {type}[] read")
                continue
            # A number of Python has no type of its own: it takes that of the arrays.
            type = {"int": "i32", "float": self.default_float}.get(type, type)
            walk.frame.names[name] = Value(text, type)
            self.args.append((name, False, len(self.params), 0, ...))
            self.params.append(f"{text}: {type}")
        tree = self.source.tree
        function = Object(self.function)
        call = ast.Call(ast.Name("f", ast.Load()), [ast.Name(n, ast.Load()) for n in names], [])
        for node in ast.walk(call):
            node.lineno, node.col_offset = tree.lineno, tree.col_offset
        result = walk.inline(function.value, call)
        self.is_tuple = isinstance(result, Several)
        return [walk.rules.settle(r) for r in (result.items if self.is_tuple else [result])]


def fuse(function=None, *, runtime=None, fast=0):
    """An elementwise expression on arrays as one kernel, without arrays in between:

        norm = vyre.fuse(lambda x, y: numpy.sqrt(x * x + y * y))
        z = norm(x, y)             # a new array; norm(x, y, out=z) fills one

    The arguments are arrays of one shape and numbers. A function that returns a tuple makes several arrays
    at once. It may contain what helper functions of @vyre.jit may."""
    if function is None:
        return functools.partial(fuse, runtime=runtime, fast=fast)
    return Fused(function, runtime, fast)
