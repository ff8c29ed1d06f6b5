#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The tools that judge the tests: scripts/mutate.py makes the faults it says and no others, the sample
# of scripts/mutants follows from its seed, and every row of tests/mutants.equivalent still fits a line
# of the sources and gives a reason.
set -euo pipefail
python3 - <<'PYTHON'
import importlib.machinery, importlib.util, itertools, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "scripts")
import mutate

TEXT = '''#include <x.h>
enum { A = 1, B };
typedef struct s {
  int a[3];
} s;
int f(int x, char *t) {
  int room[4];
  if (x < 3) return 1;
  for (int i = 0; i <= x; i++) g(t, x + 1); // x < 3
  t[0] = "a < 1"[0];
  if (x > 0 && !t)
    t = 0;
  if (strcmp(t, "x")) return a != b;
  return call(
      t == 0,
      x);
}
void h(void) {
  f(1, 2);
}
'''
made = {(number, kind, new.strip()) for number, kind, _, new in mutate.mutants_of(TEXT)}
wanted = {
    (6, "early return", "int f(int x, char *t) { return 0;"),
    (8, "comparison flipped", "if (x >= 3) return 1;"),
    (8, "off by one", "if (x <= 3) return 1;"),
    (8, "constant changed", "if (x < 4) return 1;"),
    (8, "check dropped", "if (0) return 1;"),
    (8, "check dropped", "if (1) return 1;"),
    (8, "check dropped", ";"),
    (9, "off by one", "for (int i = 0; i < x; i++) g(t, x + 1); // x < 3"),
    (9, "off by one", "for (int i = 0; i <= x; i++) g(t, x + 2); // x < 3"),
    (9, "arguments swapped", "for (int i = 0; i <= x; i++) g(x + 1, t); // x < 3"),
    (10, "statement dropped", ";"),
    (11, "check dropped", "if (x > 0 || !t)"),
    (11, "check dropped", "if (x > 0 && t)"),
    (12, "statement dropped", ";"),
    (13, "comparison flipped", 'if (strcmp(t, "x")) return a == b;'),
    (15, "comparison flipped", "t != 0,"),
    (18, "early return", "void h(void) { return;"),
    (19, "arguments swapped", "f(2, 1);"),
    (19, "statement dropped", ";"),
}
assert wanted <= made, sorted(wanted - made)
assert {number for number, _, _ in made} == {6, 8, 9, 10, 11, 12, 13, 15, 18, 19}, sorted(made)
assert not [m for m in made if m[0] in (9, 10) and ("x >= 3" in m[2] or "a >= 1" in m[2])]
assert (13, "arguments swapped", 'if (strcmp("x", t)) return a != b;') not in made
assert not [m for m in made if m[0] == 15 and m[1] == "statement dropped"]

# The smaller of two is the same number where they are equal; of anything else that cannot be said.
def off_by_one(line):
    return [new.strip() for _, kind, _, new in mutate.mutants_of(f"int f(void) {{\n  {line}\n}}\n")
            if kind == "off by one"]
for line in ("return a < b ? a : b;", "x = p->n >= q.m[i] ? q.m[i] : p->n;", "if (a > b) b = a;"):
    assert not off_by_one(line), line
for line in ("return a < b ? a : c;", "return a + b < c ? b : c;", "return a < b ? a : b + d;", "if (a > b) c = a;",
             "return a < b ? b : b;", "return x.a < b ? a : b;", "return a < b + c ? a : b;"):
    assert off_by_one(line), line

# More memory than is needed is no fault, less is; numbers that are not negative have no sign to carry on.
def faults(line):
    return [new.strip() for _, kind, _, new in mutate.mutants_of(f"int f(void) {{\n  {line}\n}}\n")
            if kind in ("off by one", "constant changed")]
assert faults("p = calloc(n + 1, sizeof *p);") == ["p = calloc(n + 0, sizeof *p);"]
assert faults("p = malloc(2 * n);") == []
assert faults("p = malloc(n - 2);") == ["p = malloc(n - 3);"]
assert faults("v = LLVMConstInt(t, 8, false);") == ["v = LLVMConstInt(t, 9, false);"]
def swaps(line):
    return [new.strip() for _, kind, _, new in mutate.mutants_of(f"int f(void) {{\n  {line}\n}}\n")
            if kind == "arguments swapped"]
assert "v = bin(l, VYRE_OP_ADD, y, x);" not in swaps("v = bin(l, VYRE_OP_ADD, x, y);")
assert "v = bin(l, VYRE_OP_SUB, y, x);" in swaps("v = bin(l, VYRE_OP_SUB, x, y);")
assert "v = VYRE_LLVM(e, \"llvm.umin\", y, x);" not in swaps("v = VYRE_LLVM(e, \"llvm.umin\", x, y);")
assert swaps("p = arena_alloc_array(a, n, sizeof *p);") == ["p = arena_alloc_array(n, a, sizeof *p);"]
assert "v = LLVMConstInt(t, x, true);" in faults("v = LLVMConstInt(t, x, false);")

loader = importlib.machinery.SourceFileLoader("mutants", "scripts/mutants")
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
loader.exec_module(mutants)
lines = mutants.all_mutants("src/policy")
first = lambda seed: [m.id for m in itertools.islice(mutants.sample(lines, seed), 20)]
assert first("7") == first("7") != first("8")

# A test that fails anyway notices nothing: the next one is asked.
judge = mutants.Judge.__new__(mutants.Judge)
judge.tests, judge.trusted, mutants.run = ["unit.broken", "unit.sound"], set(), lambda *_: None
judge.first_failure = lambda tests: "unit.broken" if "unit.broken" in tests else None
judge.judge_once = lambda m: ("noticed", judge.tests[0])
assert judge.judge(None) == ("noticed", "unit.sound") and judge.tests == ["unit.sound"]

# A statement of several lines is reached where one of them is; a line without code where those around
# it are; a test that is newer than the map may reach anything.
reached = mutants.Reached("/nonexistent")
reached.tests, reached.lines = ["unit.a", "unit.b"], {"src/x.c": {"1": "1", "3": "2", "5": "0"}}
text = "int f(int x) {\n  return g(\n      x);\n\n}\n"
assert reached.of("src/x.c", 2, text) == {"unit.b"} == reached.of("src/x.c", 3, text)
assert reached.of("src/x.c", 1, text) == {"unit.a"} and reached.of("src/x.c", 5, text) == set()
assert reached.of("src/x.c", 4, text) == {"unit.b"} and reached.of("src/y.c", 1, text) is None
reached.made = 1 << 40
assert reached.is_new("unit.c") and not reached.is_new("unit.a")

# Counts of arcs without a counter follow from the others: 2 goes on to 3, or past it to 4.
import counters
graph = counters.Graph("f", "src/x.c", 1, 5)
graph.count, on = 5, counters.ON_TREE
graph.arcs = [(0, 2, on), (2, 3, 0), (2, 4, on), (3, 4, on), (4, 1, 0)]
graph.lines = {2: [("x", 1)], 3: [("x", 2)], 4: [("x", 3)]}
assert graph.lines_of([0, 0]) == set()
assert graph.lines_of([0, 2]) == {("x", 1), ("x", 3)}
assert graph.lines_of([2, 2]) == {("x", 1), ("x", 2), ("x", 3)}

with open("tests/mutants.equivalent") as f:
    blocks = [b for b in f.read().split("\n\n") if b.strip() and not b.lstrip().startswith("#")]
known = mutants.read_equivalent()
assert len(known) == len(blocks), "a row of tests/mutants.equivalent is broken, or there twice"
for path, old, new in known:
    assert len(known[path, old, new]) > 20, f"no reason: {path}: {old}"
    with open(path) as f:
        squeezed = {mutants.squeeze(line) for line in f}
    assert old in squeezed, f"{path} has no such line any more: {old}. Fix: drop the row"
PYTHON
