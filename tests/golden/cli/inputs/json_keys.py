# SPDX-License-Identifier: MIT
"""The keys of what is read, one path a line, with the kind of what stands there: numbers and texts differ
from machine to machine, what is told does not."""
import json
import sys


def walk(value, path, found):
    if isinstance(value, dict):
        for key, inner in value.items():
            walk(inner, f"{path}.{key}" if path else key, found)
    elif isinstance(value, list):
        for inner in value:
            walk(inner, path + "[]", found)
        if not value:
            found.add(path + "[] nothing")
    else:
        kind = {bool: "yes or no", str: "text", type(None): "null"}.get(type(value), "number")
        found.add(f"{path} {kind}")


found = set()
walk(json.load(sys.stdin), "", found)
print(" ".join(sys.argv[1:]))
print("\n".join(sorted(found)))
print("end")
