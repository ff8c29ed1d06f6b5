#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""grammar_check.py GRAMMAR FILE...: the grammar for VS Code, read as VS Code reads it: every pattern is
compiled by Oniguruma, the library it uses, and the files are taken apart by the rules of TextMate (the
leftmost match counts, of equal ones the first rule). The words of a sample have the scopes that a theme
knows, and in the files every word of the language has one. Status 77 where libonig is missing."""
import ctypes
import ctypes.util
import json
import re
import sys

SAMPLE = [
    ("program saxpy(a: f32) // ends", [("program", "keyword.declaration"), ("saxpy", "entity.name.function"),
                                       ("f32", "storage.type"), ("// ends", "comment.line.double-slash")]),
    ("buffer x: f32x4[] read", [("buffer", "keyword.declaration"), ("f32x4", "storage.type"),
                                ("read", "keyword.declaration")]),
    ("region main grid(len(x)) workgroup(64) {", [("region", "keyword.declaration"), ("main", "entity.name.function"),
                                                  ("len", "support.function"), ("64", "constant.numeric")]),
    ("  for k in 0..0x10 { x[global_id.x] += fma(1.5e-3, y, nan_f32) }",
     [("for", "keyword.control"), ("in", "keyword.declaration"), ("0x10", "constant.numeric"),
      ("global_id.x", "variable.language"), ("fma", "support.function"), ("1.5e-3", "constant.numeric"),
      ("nan_f32", "constant.language"), ("+=", "keyword.operator")]),
    ('  printf("%d of \\n", i) // "no string"', [("printf", "keyword.declaration"), ('"%d of \\n"', "string.quoted"),
                                                ('// "no string"', "comment.line")]),
    ("  let forest = fortune + min", [("let", "keyword.declaration"), ("forest", None), ("fortune", None),
                                      ("min", None)]),
]


class Pattern:
    """A regular expression of Oniguruma."""

    def __init__(self, library, text):
        raw = text.encode()
        self.library, self.compiled = library, ctypes.c_void_p()
        begin = ctypes.create_string_buffer(raw)
        at = ctypes.addressof(begin)
        status = library.onig_new(ctypes.byref(self.compiled), ctypes.c_void_p(at), ctypes.c_void_p(at + len(raw)), 0,
                                  ctypes.byref(ctypes.c_char.in_dll(library, "OnigEncodingUTF8")),
                                  ctypes.c_void_p.in_dll(library, "OnigDefaultSyntax"), None)
        if status:
            sys.exit(f"Oniguruma does not take `{text}`: status {status}")
        library.onig_region_new.restype = ctypes.c_void_p
        self.region = library.onig_region_new()

    def search(self, line, start):
        """Pairs of ends, of the match and its groups; None."""
        text = ctypes.create_string_buffer(line)
        at = ctypes.addressof(text)
        end = ctypes.c_void_p(at + len(line))
        found = self.library.onig_search(self.compiled, ctypes.c_void_p(at), end, ctypes.c_void_p(at + start), end,
                                         ctypes.c_void_p(self.region), 0)
        if found < 0:
            return None

        class Region(ctypes.Structure):
            _fields_ = [("allocated", ctypes.c_int), ("count", ctypes.c_int), ("beg", ctypes.POINTER(ctypes.c_int)),
                        ("end", ctypes.POINTER(ctypes.c_int))]
        r = Region.from_address(self.region)
        return [(r.beg[i], r.end[i]) for i in range(r.count)]


def read_rules(library, rules):
    return [(rule, Pattern(library, rule.get("match") or rule["begin"]),
             Pattern(library, rule["end"]) if "end" in rule else None,
             read_rules(library, rule.get("patterns", []))) for rule in rules]


def take_apart(rules, text):
    """Tokens (text, scope) of a line; begin/end rules of this grammar end with the line."""
    line, at, tokens = text.encode(), 0, []
    while at < len(line):
        best = None
        for rule, match, end, _ in rules:
            found = match.search(line, at)
            if found and (best is None or found[0][0] < best[1][0][0]):
                best = (rule, found, end)
        if best is None:
            break
        rule, found, end = best
        begin, stop = found[0]
        if end is not None:
            inner = end.search(line, stop)
            while inner and inner[0][0] > 0 and line[inner[0][0] - 1:inner[0][0]] == b"\\":
                inner = end.search(line, inner[0][1])
            stop = inner[0][1] if inner else len(line)
        if "captures" in rule:
            for number, capture in rule["captures"].items():
                b, e = found[int(number)]
                tokens.append((line[b:e].decode(), capture["name"]))
        else:
            tokens.append((line[begin:stop].decode(), rule["name"]))
        at = max(stop, begin + 1)
    return tokens


def main():
    name = ctypes.util.find_library("onig")
    if not name:
        print("there is no libonig")
        return 77
    library = ctypes.CDLL(name)
    with open(sys.argv[1]) as f:
        grammar = json.load(f)
    rules, bad = read_rules(library, grammar["patterns"]), []
    for line, wanted in SAMPLE:
        tokens = take_apart(rules, line)
        for word, scope in wanted:
            found = [s for t, s in tokens if t == word]
            if scope is None and found:
                bad.append(f"`{word}` in `{line}` is {found}")
            if scope is not None and not any(s.startswith(scope + ".") for s in found):
                bad.append(f"`{word}` in `{line}` is {found}, not {scope}")
    words = re.compile(r"\b(program|buffer|region|let|var|for|while|if|else|shared|barrier|fn|const)\b")
    seen = 0
    for path in sys.argv[2:]:
        with open(path) as f:
            for line in f.read().splitlines():
                tokens = take_apart(rules, line)
                for word in words.findall(line.split("//")[0].split('"')[0]):
                    seen += 1
                    if not any(t == word and s.startswith("keyword.") for t, s in tokens):
                        bad.append(f"{path}: `{word}` in `{line}` has no colour")
    print("\n".join(bad) if bad else f"{seen} words in {len(sys.argv) - 2} files")
    return int(bool(bad) or not seen)


if __name__ == "__main__":
    sys.exit(main())
