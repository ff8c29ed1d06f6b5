# SPDX-License-Identifier: MIT
"""Reads and adds the counters that a build with --coverage leaves: .gcda files hold how often some arcs
of a function's graph were taken, .gcno files have the graph and say where its blocks stand. The layout
is that of gcc 12, whose records give their length in bytes."""
import array
import operator
import struct

DATA_MAGIC, NOTE_MAGIC = 0x67636461, 0x67636E6F
TAG_FUNCTION, TAG_ARCS = 0x01000000, 0x01A10000
TAG_BLOCKS, TAG_GRAPH, TAG_LINES = 0x01410000, 0x01430000, 0x01450000
ON_TREE = 1 # an arc without a counter: its count follows from the others
GCC_12 = ord("B") << 24 | ord("2") << 16


class CutOff(Exception):
    """A file of counters without its end, such as a process leaves that is killed while it writes."""


class Function:
    def __init__(self, ident, checksums, counts):
        self.ident, self.checksums, self.counts = ident, checksums, counts


def check_head(path, data, magic):
    if len(data) < 16 or struct.unpack_from("<I", data)[0] != magic:
        raise SystemExit(f"{path}: not a file of gcov")
    if struct.unpack_from("<I", data, 4)[0] < GCC_12:
        raise SystemExit(f"{path}: older than gcc 12. Fix: build with gcc 12 or newer")


def records(data, at):
    """Tag, length and place of each record. A negative length stands for that many zeros."""
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if not tag:
            return
        yield tag, length, at + 8
        at += 8 + max(length, 0)


def read_data(path):
    """Head of the file with its summary, and its functions in order."""
    with open(path, "rb") as f:
        data = f.read()
    if len(data) < 16:
        raise CutOff(path)
    check_head(path, data, DATA_MAGIC)
    functions, head_end = [], None
    for tag, length, at in records(data, 16):
        if at + max(length, 0) > len(data):
            raise CutOff(path)
        if tag == TAG_FUNCTION and length >= 12:
            head_end = head_end or at - 8
            ident, *checksums = struct.unpack_from("<III", data, at)
            functions.append(Function(ident, tuple(checksums), array.array("Q")))
        elif tag == TAG_ARCS and functions:
            counts = functions[-1].counts
            if length < 0:
                counts.frombytes(bytes(-length))
            else:
                counts.frombytes(data[at:at + length])
    return data[:head_end or len(data)], functions


def write_data(path, head, functions):
    parts = [head]
    for f in functions:
        parts.append(struct.pack("<IIIII", TAG_FUNCTION, 12, f.ident, *f.checksums))
        parts.append(struct.pack("<II", TAG_ARCS, 8 * len(f.counts)) + f.counts.tobytes())
    parts.append(bytes(8))
    with open(path, "wb") as f:
        f.write(b"".join(parts))


def add(into, functions):
    """Adds the counts of `functions` to those of the same functions of another run."""
    for mine, other in zip(into, functions):
        if mine.ident != other.ident or len(mine.counts) != len(other.counts):
            raise SystemExit("counters of two builds. Fix: remove the build directory")
        if any(other.counts):
            mine.counts = array.array("Q", map(operator.add, mine.counts, other.counts))


def read_string(data, at):
    (length,) = struct.unpack_from("<I", data, at)
    return data[at + 4:at + 4 + length].rstrip(b"\0").decode(errors="replace"), at + 4 + length


class Graph:
    """A function of a .gcno file: the arcs between its blocks, and the lines of each block."""

    def __init__(self, name, source, first, last):
        self.name, self.source, self.first, self.last = name, source, first, last
        self.count, self.arcs, self.lines = 0, [], {}
        self.steps = None

    def plan(self):
        """The order in which counts of arcs without a counter follow: into each block goes as much as
        comes out. Arcs on the tree make none of it wait for itself."""
        into, out = ([[] for _ in range(self.count)] for _ in range(2))
        missing = [[] for _ in range(self.count)] # arcs at a block that are not known yet
        for k, (a, b, flags) in enumerate(self.arcs):
            out[a].append(k)
            into[b].append(k)
            if flags & ON_TREE:
                missing[a].append(k)
                missing[b].append(k)
        steps, ready = [], [b for b in range(self.count) if len(missing[b]) == 1]
        while ready:
            block = ready.pop()
            if len(missing[block]) != 1 or block < 2: # 0 is where it begins, 1 where it ends
                continue
            (arc,) = missing[block]
            a, b, _ = self.arcs[arc]
            steps.append((arc, into[block], out[block]) if a == block else
                         (arc, out[block], into[block]))
            for end in (a, b):
                missing[end].remove(arc)
                if len(missing[end]) == 1:
                    ready.append(end)
        self.counted = [k for k, arc in enumerate(self.arcs) if not arc[2] & ON_TREE]
        self.steps = steps
        # Sums over arcs of one side, and the lines that ran where the sum is not 0.
        self.sums = [(into[b] or out[b], lines) for b, lines in self.lines.items()]

    def lines_of(self, counts):
        """The lines that ran: (source, line)."""
        if self.steps is None:
            self.plan()
        taken = [0] * len(self.arcs)
        for k, n in zip(self.counted, counts):
            taken[k] = n
        for arc, plus, minus in self.steps:
            taken[arc] = sum(taken[k] for k in plus) - sum(taken[k] for k in minus)
        return {line for arcs, lines in self.sums if any(taken[k] for k in arcs) for line in lines}


def read_lines(data, at, end):
    """The lines of a record: a number of 0 is followed by the name of the file of those behind it."""
    source = ""
    while at < end:
        (line,) = struct.unpack_from("<I", data, at)
        at += 4
        if line:
            yield source, line
            continue
        source, at = read_string(data, at)
        if not source:
            return


def read_graphs(path):
    """The functions of a .gcno file by their idents."""
    with open(path, "rb") as f:
        data = f.read()
    check_head(path, data, NOTE_MAGIC)
    _, at = read_string(data, 16)
    graphs, g = {}, None
    for tag, length, start in records(data, at + 4):
        if tag == TAG_FUNCTION:
            (ident,) = struct.unpack_from("<I", data, start)
            name, at = read_string(data, start + 12)
            source, at = read_string(data, at + 4)
            first, _, last = struct.unpack_from("<III", data, at)
            g = graphs[ident] = Graph(name, source, first, last)
        elif tag == TAG_BLOCKS:
            (g.count,) = struct.unpack_from("<I", data, start)
        elif tag == TAG_GRAPH:
            block, *rest = struct.unpack_from(f"<{length // 4}I", data, start)
            g.arcs += [(block, to, flags) for to, flags in zip(rest[::2], rest[1::2])]
        elif tag == TAG_LINES:
            (block,) = struct.unpack_from("<I", data, start)
            g.lines.setdefault(block, []).extend(read_lines(data, start + 4, start + length))
    return graphs
