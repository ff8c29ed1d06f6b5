# SPDX-License-Identifier: MIT
"""Where the variables of a Python function are declared. In Python a name belongs to the whole function;
in the text form to a block. A name is declared where it is first assigned when everything else that is
done with it happens in that block or below it; otherwise at the top of the function, as zero."""
import ast


class Place:
    """How a name is declared."""

    def __init__(self, statement, is_constant):
        self.statement = statement    # the assignment that declares it; None: at the top
        self.is_constant = is_constant  # assigned once: a `let`


class _Finder(ast.NodeVisitor):
    """Each occurrence of a name: its block (a path of numbers), whether it is assigned, by what."""

    def __init__(self):
        self.path, self.statement, self.seen, self.loops = (), None, {}, {}
        self.blocks = 0

    def note(self, name, is_store, statement=None):
        self.seen.setdefault(name, []).append((self.path, is_store, statement))

    def block(self, statements):
        self.blocks += 1
        self.path += (self.blocks,)
        for each in statements:
            self.visit(each)
        self.path = self.path[:-1]

    def visit_If(self, node):
        self.visit(node.test)
        self.block(node.body)
        self.block(node.orelse)

    def visit_While(self, node):
        # The condition runs again after the body.
        self.blocks += 1
        self.path += (self.blocks,)
        self.visit(node.test)
        for each in node.body:
            self.visit(each)
        self.path = self.path[:-1]

    def visit_For(self, node):
        self.visit(node.iter)
        for name in ast.walk(node.target):
            if isinstance(name, ast.Name):
                self.loops.setdefault(name.id, []).append(self.path + (self.blocks + 1,))
        self.block(node.body)

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self.target(target, node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)
        self.target(node.target, node)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.note(node.target.id, False)
            self.note(node.target.id, True)
        else:
            self.visit(node.target)

    def target(self, target, statement):
        if isinstance(target, ast.Name):
            self.note(target.id, True, statement)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                self.target(each, statement)
        else:
            self.visit(target)

    def visit_Name(self, node):
        self.note(node.id, isinstance(node.ctx, ast.Store))

    def visit_NamedExpr(self, node):
        self.visit(node.value)
        self.note(node.target.id, True)


def _common(paths):
    result = paths[0]
    for path in paths[1:]:
        n = 0
        while n < min(len(result), len(path)) and result[n] == path[n]:
            n += 1
        result = result[:n]
    return result


def find_places(statements, parameters=()):
    """{name: Place} of the names that are assigned, and the names that are loop variables only."""
    finder = _Finder()
    for each in statements:
        finder.visit(each)
    places, loop_only = {}, set()
    for name, bodies in finder.loops.items():
        seen = finder.seen.get(name, [])
        if any(is_store for _, is_store, _ in seen) or name in parameters:
            continue
        if all(any(path[:len(body)] == body for body in bodies) for path, _, _ in seen):
            loop_only.add(name)
    for name in set(finder.seen) | set(finder.loops):
        seen = finder.seen.get(name, [])
        stores = [row for row in seen if row[1]]
        is_looped = name in finder.loops and name not in loop_only
        if not stores and not is_looped:
            continue
        path, is_store, statement = seen[0] if seen else ((), False, None)
        fits = not is_looped and is_store and statement is not None and \
            path == _common([row[0] for row in seen]) and name not in parameters
        places[name] = Place(statement if fits else None, fits and len(stores) == 1)
    return places, loop_only
