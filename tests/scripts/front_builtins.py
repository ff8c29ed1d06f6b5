#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every built-in function of OpenCL C, as clang's own header opencl-c.h lists them (1.2 to 3.0 and all
extensions), is read, or declined by name: a kernel is made for each function, with numbers, with
vectors, with half and with double, and `vyre check` has to read it. What is declined is listed here
with its reason, and must be refused by that name. Arguments: the vyre to ask, a scratch folder."""
import collections
import glob
import json
import os
import re
import subprocess
import sys

# A pattern of names, and why there is no such function in a program.
DECLINED = {
    r"intel_sub_group_avc_|intel_sub_group_ime_": "a video unit of Intel's that no other device has",
    r"amd_": "AMD's names for a few instructions: clang declares them for its own target only",
    r"arm_dot": "Arm's names for dot, which clang declares for its own target only",
    r"clock_read": "an answer that is different each time",
    r"enqueue_|get_default_queue|create_user_event|(retain|release)_event|set_user_event_status|"
    r"capture_event_profiling_info|is_valid_event|ndrange_|get_kernel_": "work that a device begins",
    r"is_valid_reserve_id|(work_group_|sub_group_)?(reserve|commit)_(read|write)_pipe|get_pipe_": "pipes",
    r"get_image_num_mip_levels|get_image_num_samples": "images of several levels or samples",
}
STANDARDS = ("CL1.2", "CL2.0", "CL3.0")
VALUES = {"memory_order": "memory_order_relaxed", "memory_scope": "memory_scope_device",
          "cl_mem_fence_flags": "CLK_LOCAL_MEM_FENCE", "size_t": "get_global_id(0)",
          "sampler_t": "near", "event_t": "first", "bool": "true"}
NUMBER = r"(u?char|u?short|u?int|u?long|float|double|half)(2|3|4|8|16)?"


def prototypes():
    """(result, name, types of parameters): one per function, kind of vector and of float."""
    path = glob.glob("/usr/lib/llvm-19/lib/clang/*/include/opencl-c.h")[0]
    with open(path) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", re.sub(r"//.*", "", text).replace("\\\n", " "), flags=re.M)
    seen = set()
    for m in re.finditer(r"([^;{}]+?)\b([a-zA-Z_]\w*)\s*\(([^;{}()]*)\)\s*;", text):
        result, name, args = m.groups()
        result = " ".join(re.sub(r"__ovld|__cnfn|__purefn|__conv", " ", result).split())
        if not result or name.startswith("__"):
            continue
        types = []
        for p in args.split(",") if args.strip() not in ("", "void") else []:
            words = p.replace("*", " * ").split()
            is_type = re.fullmatch(NUMBER, words[-1]) or words[-1] in VALUES or \
                words[-1] == "*" or words[-1].endswith("_t")
            types.append(" ".join(words if is_type or len(words) == 1 else words[:-1]))
        whole = result + " " + " ".join(types)
        key = (name, bool(re.search(r"\d\b", whole)), "half" in whole, "double" in whole)
        # docs/OPENCL.md refuses blocks of images and atomics of 16 bits.
        if (name.startswith("intel_sub_group_block_") and "image" in whole) or "atomic_half" in whole:
            continue
        if key not in seen:
            seen.add(key)
            yield result, name, types


def kernel_of(number, result, name, types):
    """One line of OpenCL C that calls the function; None when it cannot be written."""
    params, before, args = [], ["event_t first = 0;"] if "event_t" in types else [], []
    for i, t in enumerate(types):
        own = f"a{i}"
        to = re.sub(r"\b(const|volatile|__global|__local|__constant|__private)\b|\*", "", t).strip().replace("void", "int")
        if t.endswith("*"):
            if "__local" in t:
                before.append(f"local {to} {own}[64];")
            elif "__global" in t or "atomic_" in t:
                params.append(f"global {to} *{own}")
            elif "__constant" in t:
                params.append(f"constant {to} *{own}")
            else:
                before.append(f"{to} {own}[16];")
        elif t in VALUES:
            own = VALUES[t]
        elif "clustered" in name and i == len(types) - 1:
            own = "4u"
        elif re.fullmatch(NUMBER, t) or "image" in t:
            params.append(f"{t} {own}")
        else:
            return None
        args.append(own)
    call = f"{name}({', '.join(args)})"
    if re.fullmatch(NUMBER, result):
        params.append(f"global {result} *result")
        call = f"result[0] = {call}"
    return f"kernel void k{number}({', '.join(params)}) {{ {' '.join(before)} {call}; }}"


HEAD = """#pragma OPENCL EXTENSION cl_khr_fp16 : enable
constant sampler_t near = CLK_FILTER_NEAREST;
"""


def accepted(lines, standard, scratch):
    """The kernels that clang takes as this standard."""
    path = os.path.join(scratch, "all.cl")
    first = HEAD.count("\n") + 1
    kept = dict(lines)
    for _ in range(4):
        with open(path, "w") as f:
            f.write(HEAD + "\n".join(kept.values()) + "\n")
        said = subprocess.run(
            ["clang-19", "-x", "cl", "-target", "spir64-unknown-unknown", "-fsyntax-only", "-w",
             "-ferror-limit=0", "-cl-std=" + standard, path], capture_output=True, text=True)
        # Intel's are declared by vyre, and by clang's larger header only.
        bad = {int(m) - first for m in re.findall(r"all\.cl:(\d+):\d+: error(?!.*intel_sub_group_(?!avc_|ime_))", said.stderr)}
        if not bad:
            return kept
        kept = {k: line for at, (k, line) in enumerate(kept.items()) if at not in bad}
    sys.exit("clang finds new mistakes each time:\n" + said.stderr[:2000])


def declined(name):
    return any(re.match(pattern, name) for pattern in DECLINED)


def main():
    vyre, scratch = sys.argv[1:3]
    names, lines, unwritten = {}, {}, set()
    for number, (result, name, types) in enumerate(prototypes()):
        line = kernel_of(number, result, name, types)
        names[number] = name
        if line:
            lines[number] = line
        else:
            unwritten.add(name)
    done, problems, refused = set(), [], collections.Counter()
    for standard in STANDARDS:
        kept = accepted({k: v for k, v in lines.items() if k not in done}, standard, scratch)
        if not kept:
            continue
        said = subprocess.run([vyre, "check", "--json", "-cl-std=" + standard,
                               os.path.join(scratch, "all.cl")], capture_output=True, text=True)
        try:
            files = json.loads(said.stdout)["files"]
        except (ValueError, KeyError):
            sys.exit(f"no answer for {standard}: {said.stdout[:500]}{said.stderr[:2000]}")
        if len(files) != len(kept):
            problems.append(f"{standard}: {len(kept)} kernels, but {len(files)} answers")
        if not all(":k" in f["file"] for f in files):
            sys.exit(f"{standard}: the file is not read: {files[0]['error']}")
        for f in files:
            number = int(f["file"].rsplit(":k", 1)[1])
            name = names[number]
            done.add(number)
            if f["ok"]:
                if declined(name):
                    problems.append(f"{name} is read: take it off the list of what is declined")
                continue
            text = f["error"]["message"]
            if declined(name) and (f"`{name}`" in text or "image2d_msaa_t`" in text):
                refused[name] += 1
            else:
                problems.append(f"{name}: {text}\n    {lines[number]}")
    called = {names[k] for k in done}
    for name in sorted(set(names.values()) - called):
        if not declined(name):
            problems.append(f"{name}: no kernel of it was made that clang takes")
    if len(done) < 2000:
        problems.append(f"only {len(done)} kernels were made")
    print(f"{len(done)} kernels of {len(called)} functions, {len(refused)} of them declined by name")
    for line in problems:
        print(line)
    sys.exit(bool(problems))


main()
