# SPDX-License-Identifier: MIT
"""Run by scalars.sh: passes each number of tests/scalars.txt by each door of `vyre run`."""
import os
import struct
import subprocess
import sys

VYRE, WORK = os.environ["VYRE"], os.environ["WORK"]
DTYPES = {"bool": "|b1", "i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2", "i32": "<i4", "u32": "<u4",
          "i64": "<i8", "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8"}
SIZES = {t: int(d[2]) for t, d in DTYPES.items()}
NANS = {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}
INFINITIES = {"f16": 0x7C00, "f32": 0x7F800000, "f64": 0x7FF0000000000000}
checks = failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def vyre(*words):
    return subprocess.run([VYRE, "run", "--backend", "ref", *words], capture_output=True, text=True)


def path(name):
    return os.path.join(WORK, name)


def write_npy(name, kind, numbers):
    head = f"{{'descr': '{DTYPES[kind]}', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path(name), "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(b"".join(n.to_bytes(SIZES[kind], "little") for n in numbers))


def read_npy(name, kind):
    with open(path(name), "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    if f"'{DTYPES[kind]}'".encode() not in data[:start]:
        fail(f"{name} is no array of {kind}: {data[:start]}")
    return [int.from_bytes(data[i:i + SIZES[kind]], "little") for i in range(start, len(data), SIZES[kind])]


def expect(door, kind, rows, got):
    global checks
    checks += len(rows)
    if len(got) != len(rows):
        fail(f"{door}: {len(got)} of {kind}, not {len(rows)}")
    for (text, bits), found in zip(rows, got):
        low = found & (1 << (8 * SIZES[kind] - 1)) - 1
        if low <= INFINITIES[kind] if bits == "nan" else found != int(bits, 16):
            fail(f"{door}: {kind} {text} gave {found:x}")


def bits_of(kind, bits):
    return NANS[kind] if bits == "nan" else int(bits, 16)


taken, refused = {t: [] for t in DTYPES}, []
with open("tests/scalars.txt") as f:
    for line in f:
        if not line.startswith("#"):
            kind, text, bits = line.split()
            if bits == "refused":
                refused.append((kind, text))
            else:
                taken[kind].append((text, bits))

# A parameter, as a word and from a file of one element.
for step in range(max(map(len, taken.values()))):
    now = {t: rows[step % len(rows)] for t, rows in taken.items()}
    outs = [w for t in DTYPES for w in (f"o_{t}=zeros:1", "--out", f"o_{t}={path('o_' + t + '.npy')}")]
    for t, (_, bits) in now.items():
        write_npy(f"p_{t}.npy", t, [bits_of(t, bits)])
    for door, words in (("NAME=VALUE", [f"p_{t}={now[t][0]}" for t in DTYPES]),
                        ("NAME=@FILE.npy", [f"p_{t}=@{path('p_' + t + '.npy')}" for t in DTYPES])):
        ran = vyre("tests/scalars.vyre", *words, *outs)
        if ran.returncode:
            fail(f"{door}: {ran.stderr}")
            continue
        for t in DTYPES:
            expect(door, t, [now[t]], read_npy(f"o_{t}.npy", t))

# Elements: of a file, of a list, and of what vyre itself writes.
for kind, rows in taken.items():
    with open(path("copy.vyre"), "w") as f:
        f.write(f"program copy()\nbuffer x: {kind}[] read\nbuffer y: {kind}[len(x)] write\n"
                "region r grid(len(x)) { y[global_id.x] = x[global_id.x] }\n")
    write_npy("x.npy", kind, [bits_of(kind, bits) for _, bits in rows])
    with open(path("x.csv"), "w") as f:
        f.write("".join(text + "\n" for text, _ in rows))
    for door, word in (("@x.npy", f"x=@{path('x.npy')}"), ("@x.csv", f"x=@{path('x.csv')}"),
                       ("a list", "x=" + ",".join(text for text, _ in rows))):
        ran = vyre(path("copy.vyre"), word, "--out", f"y={path('y.npy')}", "--out", f"y={path('y.csv')}")
        if ran.returncode:
            fail(f"{door} of {kind}: {ran.stderr}")
            continue
        expect(door, kind, rows, read_npy("y.npy", kind))
        ran = vyre(path("copy.vyre"), f"x=@{path('y.csv')}", "--out", f"y={path('again.npy')}")
        expect(f"{door} by way of y.csv", kind, rows, [] if ran.returncode else read_npy("again.npy", kind))
    for text, bits in rows[:1] + rows[-1:]:
        ran = vyre(path("copy.vyre"), f"x=fill:{text}:3", "--out", f"y={path('y.npy')}")
        expect("fill", kind, 3 * [(text, bits)], [] if ran.returncode else read_npy("y.npy", kind))

# What a type does not have is refused, and the message says which type and which number.
for kind, text in refused:
    with open(path("one.vyre"), "w") as f:
        f.write(f"program one(p: {kind})\nbuffer x: {kind}[] read\nbuffer y: {kind}[1] write\n"
                "region r grid(1) { y[0] = p }\n")
    for words in ([f"p={text}", "x=zeros:1"], ["p=1", f"x={text},{text}"], ["p=1", f"x=fill:{text}:1"]):
        ran = vyre(path("one.vyre"), *words)
        checks += 1
        if ran.returncode != 1 or kind not in ran.stderr or text not in ran.stderr or "Fix:" not in ran.stderr:
            fail(f"{kind} {words}: exit status {ran.returncode}, {ran.stderr}")

# A file of another type is refused, too: nothing is converted on the way.
for kind in DTYPES:
    with open(path("one.vyre"), "w") as f:
        f.write(f"program one(p: {kind})\nbuffer y: {kind}[1] write\nregion r grid(1) {{ y[0] = p }}\n")
    for other in DTYPES:
        if other == kind:
            continue
        write_npy("other.npy", other, [1])
        ran = vyre(path("one.vyre"), f"p=@{path('other.npy')}")
        checks += 1
        if ran.returncode != 1 or other not in ran.stderr or f"one {kind}" not in ran.stderr:
            fail(f"{other} for {kind}: exit status {ran.returncode}, {ran.stderr}")

print(f"{checks} checks, {failures} wrong")
sys.exit(1 if failures else 0)
