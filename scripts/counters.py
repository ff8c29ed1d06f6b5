# SPDX-License-Identifier: MIT
"""Reads and adds the counters that a build with --coverage leaves: .gcda files hold how often each arc
of a function was taken, .gcno files say where the function stands. The layout is that of gcc 12,
whose records give their length in bytes."""
import array
import operator
import struct

DATA_MAGIC, NOTE_MAGIC = 0x67636461, 0x67636E6F
TAG_FUNCTION, TAG_ARCS = 0x01000000, 0x01A10000
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


def read_places(path):
    """Where the functions of a .gcno file stand: ident to (name, source, first line, last line)."""
    with open(path, "rb") as f:
        data = f.read()
    check_head(path, data, NOTE_MAGIC)
    _, at = read_string(data, 16)
    places = {}
    for tag, _, start in records(data, at + 4):
        if tag != TAG_FUNCTION:
            continue
        (ident,) = struct.unpack_from("<I", data, start)
        name, at = read_string(data, start + 12)
        source, at = read_string(data, at + 4)
        first, _, last = struct.unpack_from("<III", data, at)
        places[ident] = (name, source, first, last)
    return places
