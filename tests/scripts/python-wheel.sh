#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A wheel works in a fresh environment where LLVM is not: it takes it along, and what needs clang is
# declined by name. LLVM is hidden by a mount that only this test sees. Skipped where patchelf, headers
# or the right to mount are missing.
set -uo pipefail
python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip() { echo "$1" && exit 77; }

grep -q '^VYRE_SANITIZE:STRING=$' "$VYRE_BUILD/CMakeCache.txt" || skip "a sanitizer's library would have to be taken along"
command -v patchelf >/dev/null || skip "patchelf is not installed. Fix: scripts/install-deps python"
"$python" -c 'import sysconfig, os, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
  skip "$python has no headers. Fix: scripts/install-deps python"
unshare -m mount -t tmpfs none "$work" 2>/dev/null || skip "mounts are not allowed here"
llvm=$(sed -n 's/^LLVM_ROOT:PATH=//p' "$VYRE_BUILD/CMakeCache.txt")

wheel=$("$python" python/build_backend.py wheel "$work/wheel" --build "$VYRE_BUILD" --level 0 | tail -n 1) || exit 1
# Unpacked as an installer does it, also where pip is not there.
(umask 022 && "$python" -m zipfile -e "$wheel" "$work/site" && chmod -R go-w "$work/site")
cat >"$work/check.py" <<'PY'
import array, vyre
with vyre.Runtime("cpu", store=False):
    y = array.array("I", [0] * 4)
    vyre.kernel("program p()\nbuffer y: u32[] write\nregion main grid(len(y)) { y[global_id.x] = 3 * global_id.x }\n")(y)
    assert list(y) == [0, 3, 6, 9], y
    maps = [line.split()[-1] for line in open("/proc/self/maps") if "libLLVM" in line]
    assert all("/site/vyre/lib/" in m for m in maps), maps  # none where it is part of the module
    try:
        vyre.kernel("__kernel void f(__global int *x) { x[0] = 1; }")
    except vyre.BackendError as e:
        assert "libvyre-clang.so" in str(e) and e.fix, e
    else:
        raise SystemExit("OpenCL C was read without clang")
PY
hide='mount -t tmpfs none "$1"
for f in /usr/lib/*-linux-gnu/libLLVM-19* /usr/lib/*-linux-gnu/libLLVM.so.19* /usr/lib/*-linux-gnu/libclang-19*; do
  [ -f "$f" ] && mount --bind /dev/null "$f"
done
cd / && VYRE_HOME=$2/home PYTHONPATH=$2/site exec "$3" "$2/check.py"'
unshare -m bash -c "$hide" hide "$llvm" "$work" "$python"
