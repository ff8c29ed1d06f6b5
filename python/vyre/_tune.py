# SPDX-License-Identifier: MIT
"""vyre.tune: the values of a kernel's tunables that are fastest on the caller's own data."""
import random
import time

from . import _core
from ._errors import ArgumentError, Error, VerifyError


class Tuning:
    """What a search found. `kernel` is the best one, `values` what its tunables have; `rows` is all that
    was measured, [(values, seconds or None, why it failed)]."""

    def __init__(self, kernel, values, seconds, rows, count):
        self.kernel, self.values, self.seconds, self.rows, self.count = \
            kernel, values, seconds, rows, count

    @property
    def options(self):
        """The values as vyre.kernel takes them: "-DTILE=8"."""
        return " ".join(f"-D{name}={value}" for name, value in self.values.items())

    def __repr__(self):
        failed = sum(seconds is None for _, seconds, _ in self.rows)
        return (f"<vyre.Tuning {len(self.rows)} of {self.count} configurations, {failed} failed: best "
                f"{self.seconds * 1e6:.1f} us with {self.options}>")

    def _repr_html_(self):
        from html import escape
        names = list(self.values)
        head = "".join(f"<th>{escape(n)}</th>" for n in names)
        rows = sorted(self.rows, key=lambda r: (r[1] is None, r[1] or 0))
        body = "".join(
            "<tr>" + "".join(f"<td>{v[n]}</td>" for n in names) +
            (f"<td>{s * 1e6:.1f} us</td>" if s is not None else f"<td>{escape(why)}</td>") + "</tr>"
            for v, s, why in rows)
        return f"<table><tr>{head}<th>time</th></tr>{body}</table>"


class _Arguments:
    """The call's arguments, with copies of what the kernel writes."""

    def __init__(self, k, args, named):
        self.args, self.named = args, named
        by_name = dict(zip([row[0] for row in k._arguments], args))
        by_name.update(named)
        self.written = []
        for name, is_buffer, _, access, _, _ in k._arguments:
            value = by_name.get(name)
            if isinstance(value, _core.Buffer):
                raise ArgumentError(f"argument `{name}` is a vyre.Buffer, which belongs to one runtime. Fix: "
                                    "tune with arrays", status="argument")
            if is_buffer and access != "read" and value is not None:
                view = memoryview(value).cast("B")
                self.written.append((view, bytes(view)))

    def restore(self):
        for view, before in self.written:
            view[:] = before

    def result(self):
        return [bytes(view) for view, _ in self.written]

    def run(self, k):
        self.restore()
        begin = time.perf_counter()
        k(*self.args, **self.named)
        return time.perf_counter() - begin


def _configurations(program):
    """All that the conditions allow, as tuples of numbers."""
    lists = [range(len(values)) for _, _, values, _ in program.tunables]

    def extend(prefix, rest):
        if not rest:
            if program.holds(prefix):
                yield prefix
            return
        for number in rest[0]:
            yield from extend(prefix + (number,), rest[1:])
    return list(extend((), lists))


def _neighbours(chosen, allowed):
    return [c for c in allowed
            if sum(abs(a - b) for a, b in zip(c, chosen)) == 1]


def _evaluate(k, load, chosen, arguments, expected, rounds, limit):
    """Seconds, the kernel, and why there are none."""
    program, name, args, derived = load
    try:
        made = program.tune(chosen)
        with _core.Runtime(k.runtime.backend, store=False, learn_after=1) as runtime:
            tuned = _core.Kernel(runtime, lambda: (made, name, args, derived))
            arguments.run(tuned)
            if arguments.result() != expected:
                return None, "another answer"
            for _ in range(2):
                arguments.run(tuned)
            runtime.settle()  # the full tier, proven on these arguments
            best = min(arguments.run(tuned) for _ in range(2))
            if limit and best > 3 * limit:
                return best, ""
            return min([best, *(arguments.run(tuned) for _ in range(rounds))]), ""
    except VerifyError as error:
        return None, error.message
    except Error as error:
        return None, str(error)


def tune(k, *args, evaluations=None, seconds=30.0, rounds=7, seed=0, **named):
    """Finds the values of a kernel's tunables that are fastest with these arguments, and returns a Tuning:

        best = vyre.tune(k, a, b, c)
        best.kernel(a, b, c)

    Every configuration's answer is compared with the kernel's own, bit for bit. Arrays that the kernel
    writes have their content from before in the end.

    evaluations  how many are measured at most; None: all, up to 200
    seconds      after which no further one is begun
    rounds       samples of each, of which the least counts
    seed         of the choice where there are more than that"""
    load = k._loader()
    program = load[0]
    if not program.tunables:
        raise ArgumentError(f"`{program.name}` has no tunables. Fix: declare one: `tunable TILE: u32 in (8, "
                            "16)` in the text form, vyre.Tunable in Python", status="argument")
    arguments = _Arguments(k, args, named)
    arguments.run(k)
    expected = arguments.result()
    allowed = _configurations(program)
    budget = min(evaluations or 200, len(allowed))
    order = random.Random(seed).sample(allowed, len(allowed))
    current = tuple(row[3] for row in program.tunables)
    if current in order:
        order.remove(current)
        order.insert(0, current)
    rows, measured, end = [], {}, time.monotonic() + seconds
    while len(measured) < budget and (not measured or time.monotonic() < end):
        best = min((c for c in measured if measured[c] is not None), key=measured.get, default=None)
        near = [c for c in _neighbours(best, allowed) if c not in measured] if best else []
        # Half of the time near the best, where there is too much to look at everything.
        left = [c for c in order if c not in measured]
        chosen = near[0] if near and budget < len(allowed) and len(measured) % 2 else left[0]
        found, why = _evaluate(k, load, chosen, arguments, expected, rounds,
                               measured[best] if best else None)
        measured[chosen] = found
        rows.append((_values(program, chosen), found, why))
    arguments.restore()
    good = [c for c in measured if measured[c] is not None]
    if not good:
        raise ArgumentError(f"no configuration of `{program.name}` worked: {rows[0][2]}. Fix: check the "
                            "values of its tunables", status="argument")
    best = min(good, key=measured.get)
    made = (program.tune(best), *load[1:])
    kernel = _core.Kernel(k.runtime, lambda: made)
    kernel._loader = lambda: made
    kernel.__name__ = getattr(k, "__name__", program.name)
    return Tuning(kernel, _values(program, best), measured[best], rows, len(allowed))


def _values(program, chosen):
    return {name: values[number] for (name, _, values, _), number in zip(program.tunables, chosen)}
