#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every option of every command, as its help lists them, given wrongly: without its value, with a
# value that it does not take, twice over the limits of its kind. Each is a usage error, or one about
# the input, that says what to do; nothing is written and nothing else happens.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exec python3 - "$VYRE_BUILD/vyre" "$work" "$PWD/examples/saxpy.vyre" <<'PYTHON'
import os, re, subprocess, sys

VYRE, WORK, PROGRAM = sys.argv[1:]
bad = []
# What a value of this name must not be. An empty one is wrong for all.
WRONG = {
    "N": ["", "-1", "x", "1x", "18446744073709551616", "1.5", " 7"],
    "S": ["", "-1", "x", "1x"],
    "SECONDS": ["", "-1", "x", "nan", "inf", "1e30"],
    "X[,Y[,Z]]": ["", "0x", "1,2,3,4", "1,,2", ",", "-1", "4294967296", "a"],
    "ID": ["", "no-such-backend"],
    "FORM": ["", "no-such-form"],
    "text|wire": ["", "no-such-form"],
    "P,...": ["", "no-such-profile", ","],
    "A,B,C": ["", "no-such-pass", ","],
    "NAME[:COUNT]": ["", "no-such-buffer", "y:x", "y:-1", "y:"],
    "NAME=FILE.npy": ["", "y", "y=", "=f.npy", "no-such-buffer=f.npy"],
}
USUAL = {"run": [PROGRAM, "a=2", "x=ones:4", "y=ones:4"], "certify": [PROGRAM, "a=2", "x=ones:4", "y=ones:4"],
         "tune": [PROGRAM, "a=2", "x=ones:4", "y=ones:4"], "conform": [], "profile": ["show"], "cache": [],
         "devices": [], "explain": ["saxpy"], "convert": [PROGRAM, "-o", "-", "-t", "text"]}


def call(command, *words):
    r = subprocess.run([VYRE, command, *words], cwd=WORK, capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=60)
    return r.returncode, r.stdout, r.stderr


def must_refuse(what, command, *words, statuses=(2,)):
    status, out, err = call(command, *words)
    told = err + out
    if status not in statuses:
        bad.append(f"vyre {command} {' '.join(words)}: exit status {status}, {what}")
    elif "Fix:" not in told:
        bad.append(f"vyre {command} {' '.join(words)}: no Fix: {told!r}")


def options_of(command):
    text = call("help", command)[1]
    for line in text.split("\n"):
        m = re.match(r"^ +(?:-(\w), )?--([a-z-]+)(?: ([A-Z][^ ]*|text\|wire))?(?:  |,|$)", line)
        if m:
            yield m[1], m[2], m[3]


listed = call("help")[1]
commands = re.findall(r"^  ([a-z]+) {2,}\S", listed, re.M)
assert len(commands) >= 14, commands
seen = 0
for command in commands:
    if command == "help":
        continue
    words = USUAL.get(command, [PROGRAM])
    must_refuse("an unknown option", command, *words, "--no-such-option")
    must_refuse("an unknown letter", command, *words, "-Z")
    for letter, name, value in options_of(command):
        seen += 1
        if not value:
            must_refuse("a flag with a value", command, *words, f"--{name}=1")
            continue
        must_refuse("no value", command, *words, f"--{name}")
        if letter:
            must_refuse("no value", command, *words, f"-{letter}")
        for wrong in WRONG.get(value, []):
            must_refuse(f"{value} is {wrong!r}", command, *words, f"--{name}={wrong}",
                        statuses=(1, 2, 3) if wrong.startswith("no-such") else (1, 2))
assert seen > 50, seen
left = [f for f in os.listdir(WORK) if f != "home"]
if left:
    bad.append(f"files were written: {left}")
print("\n".join(bad))
sys.exit(bool(bad))
PYTHON
