# SPDX-License-Identifier: MIT
"""Small deliberate faults in C sources, by text: every way in which one line can be changed. A line is
looked at without its comments and strings; preprocessor lines, declarations of types and headers of
functions are left alone. A fault need not compile: the compiler says."""
import re

FLIPPED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
OFF_BY_ONE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
COMPARISON = re.compile(r"(?<![<>=!\-+*/&|^])(==|!=|<=|>=|<(?!<)|>(?!>))(?![=<>])")
NUMBER = re.compile(r"(?<![\w.\"'])(0x[0-9a-fA-F]+|\d+)(?![\w.\"'x])")
CALL = re.compile(r"\b([a-z_]\w*)\(")
STATEMENT = re.compile(r"\s*(?!return\b|break\b|continue\b|goto\b|case\b|default\b|else\b|typedef\b|"
                       r"static\b|extern\b|const\b|do\b|for\b|if\b|while\b|switch\b)"
                       r"(\(void\)\s*)?[\w>\-.\[\]*()+&]+(\s*([-+*/%|&^]|<<|>>)?=[^=].*|\(.*\)|\+\+|--);\s*$")
IF = re.compile(r"^(\s*(?:\} )?(?:else )?if )\((.*)\)((?:\s*\{)?|\s+[^()].*)$")
FUNCTION = re.compile(r"^(?!typedef|struct|enum|union|#|//|\s|extern)([\w ]+?[ *]+)(\w+)\(.*\)\s*\{\s*$")
ARRAY = re.compile(r"^\s*(static |const |unsigned )*\w+ \*?\w+\[[^\]]*\](\[[^\]]*\])*( = .*|, .*)?;")
# Their first two arguments say the same the other way round, or as good as.
SYMMETRIC = {"calloc", "strcmp", "strncmp", "memcmp", "strcasecmp"}
# Behind where it takes them, two factors.
PRODUCT = {"arena_alloc_array"}
# The smaller or larger of two is the same where they are equal: `a < b ? a : b`, `if (a < b) b = a;`.
OPERAND = r"[\w.\[\]]+(?:->[\w.\[\]]+)*"
LESSER = re.compile(rf"(?<![-+*/%)&|^<>~] )(?<![-!~\w.>\])])({OPERAND}) (<=?|>=?) ({OPERAND})"
                    r"(?: \? (?:\1 : \3|\3 : \1)(?![\w.\[(>]| ?[-+*/%&|^?])|\) (?:\1 = \3|\3 = \1);)")
# Said in front of two values that may stand the other way round.
COMMUTES = re.compile(r'VYRE_OP_(ADD|MUL|AND|OR|XOR|EQ|NE)|"llvm\.[us](min|max)"')
# What they free is nothing, where nobody waits: no test can tell.
DESTROYS_NOTHING = re.compile(r"\bpthread_\w*_destroy\(")
ROOM = re.compile(r"\b(?:malloc|calloc)\(")
# A number that is not negative is the same with its sign carried on as without.
SIGN_OF_NUMBER = re.compile(r"(?<=\d), (?:true|false)(?=\))")
NO_CALLS = {"if", "while", "for", "switch", "sizeof", "return", "defined"}


def mask(line):
    """The line with comments, strings and characters as blanks of the same length."""
    def blank(found):
        return '"' + " " * (len(found[0]) - 2) + '"' if found[0][0] in "\"'" else " " * len(found[0])
    return re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//.*|/\*.*?\*/", blank, line)


def at(line, match, group, text):
    return line[:match.start(group)] + text + line[match.end(group):]


def split_arguments(text):
    """Ends of the arguments of a call from just behind its parenthesis; None when it goes on."""
    depth, ends = 0, []
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                return ends + [i] if c == ")" else None
            depth -= 1
        elif c == "," and depth == 0:
            ends.append(i)
    return None


def comparisons(line, masked):
    lesser = {m.start(2) for m in LESSER.finditer(masked)}
    for m in COMPARISON.finditer(masked):
        yield "comparison flipped", at(line, m, 1, FLIPPED[m[1]])
        if m[1] in OFF_BY_ONE and m.start(1) not in lesser:
            yield "off by one", at(line, m, 1, OFF_BY_ONE[m[1]])


def rooms(masked):
    """Where numbers say how much memory there is to be: more of it is no fault."""
    for m in ROOM.finditer(masked):
        ends = split_arguments(masked[m.end():])
        if ends:
            yield range(m.end(), m.end() + ends[-1])


def numbers(line, masked):
    room = [at for span in rooms(masked) for at in span]
    for m in NUMBER.finditer(masked):
        if ARRAY.match(masked) and masked[m.start() - 1] == "[":
            continue # a larger array is no fault
        if m.start() in room and not masked[:m.start()].rstrip().endswith(("-", "/", ">>")):
            if m[1] == "1":
                yield "constant changed", at(line, m, 1, "0")
            continue
        before = masked[:m.start()].rstrip()
        base = 16 if m[1].startswith("0x") else 10
        new = int(m[1], base) + 1
        kind = "off by one" if before.endswith(("+", "-")) and m[1] == "1" else "constant changed"
        yield kind, at(line, m, 1, f"{new:#x}" if base == 16 else str(new))
        if m[1] == "1":
            yield kind, at(line, m, 1, "0")
    for m in re.finditer(r"\b(true|false)\b", SIGN_OF_NUMBER.sub(lambda f: " " * len(f[0]), masked)):
        yield "constant changed", at(line, m, 1, "false" if m[1] == "true" else "true")


def arguments(line, masked):
    for m in CALL.finditer(masked):
        if m[1] in NO_CALLS:
            continue
        ends = split_arguments(masked[m.end():])
        if not ends or len(ends) < 2:
            continue
        start = m.end()
        for k in range(1 if m[1] in SYMMETRIC else 0, len(ends) - 1):
            a0 = start + (ends[k - 1] + 1 if k else 0)
            a1, b1 = start + ends[k], start + ends[k + 1]
            first, second = line[a0:a1].strip(), line[a1 + 1:b1].strip()
            before = line[start + (ends[k - 2] + 1 if k > 1 else 0):start + ends[k - 1]].strip() if k else ""
            is_product = m[1] in PRODUCT and k == 1
            if first != second and not is_product and not COMMUTES.fullmatch(before):
                lead = line[a0:a0 + len(line[a0:a1]) - len(line[a0:a1].lstrip())]
                yield "arguments swapped", line[:a0] + lead + second + ", " + first + line[b1:]


def checks(line, masked):
    m = IF.match(masked)
    if m:
        for value in ("0", "1"):
            yield "check dropped", f"{m[1]}({value}){line[m.start(3):]}"
    for m in re.finditer(r"(&&|\|\|)", masked):
        yield "check dropped", at(line, m, 1, "||" if m[1] == "&&" else "&&")
    for m in re.finditer(r"(?<![\w)])(!)(?!=)", masked):
        yield "check dropped", at(line, m, 1, "")


def statements(line, masked):
    if STATEMENT.match(masked) and not DESTROYS_NOTHING.search(masked):
        indent = line[:len(line) - len(line.lstrip())]
        yield "statement dropped", indent + ";"
    m = re.match(r"^(\s*)if \(.*?\) (return|break|continue)\b[^;]*;$", masked)
    if m:
        yield "check dropped", m[1] + ";"


def early_return(line, masked):
    m = FUNCTION.match(masked)
    if m and not masked.startswith(("static const", "const")):
        is_void = re.search(r"\bvoid\s*$", m[1]) is not None
        yield "early return", line.rstrip("\n") + (" return;" if is_void else " return 0;")


def code_lines(text):
    """Numbers of lines that stand in bodies of functions or open one."""
    depth = 0
    in_type = in_comment = False
    for number, line in enumerate(text.split("\n"), 1):
        masked = mask(line)
        if in_comment or "/*" in masked:
            in_comment = "*/" not in line
            continue
        opens = masked.count("{") - masked.count("}")
        if masked.startswith("#") or not masked.strip():
            continue
        if depth == 0:
            in_type = re.match(r"(typedef )?(struct|enum|union)\b[^()]*\{", masked) is not None
        if not in_type and (depth > 0 or opens > 0):
            yield number, line, masked
        depth += opens


def operators_for(masked, before):
    """`before` is the line above: a statement that began there cannot be dropped from here on."""
    if FUNCTION.match(masked):
        return (early_return,)
    if masked.rstrip().endswith("\\") or "static_assert" in masked:
        return ()
    is_whole = re.search(r"([;{}:)]|\belse)\s*$", before) is not None
    return (comparisons, numbers, arguments, checks) + ((statements,) if is_whole else ())


def mutants_of(text):
    """(line number, operator, old line, new line) of every fault that is known here."""
    before = ""
    for number, line, masked in code_lines(text):
        seen = {line}
        for operator in operators_for(masked, before):
            for kind, new in operator(line, masked):
                if new not in seen:
                    seen.add(new)
                    yield number, kind, line, new
        before = masked
