#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# With VYRE_DEBUG_LINES a breakpoint at a line of the source, named by its path or by its file name,
# resolves in gdb, stops there and shows that line: text form and OpenCL C, also from another folder
# and with a cached kernel.
set -uo pipefail
command -v gdb >/dev/null || { echo "gdb is not installed" && exit 77; }
vyre=$(realpath "$VYRE_BUILD")/vyre
"$vyre" devices cpu >/dev/null 2>&1 || { echo "there is no cpu backend" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VYRE_HOME=$work/home VYRE_DEBUG_LINES=1 DEBUGINFOD_URLS=
mkdir -p "$work/kernels"
cat >"$work/kernels/half.vyre" <<'TEXT'
program half()
buffer x: f32[] readwrite

region half grid(len(x)) workgroup(64) {
  let i = global_id.x
  x[i] = x[i] * 0.5 + 3.0
}
TEXT
cat >"$work/kernels/half.cl" <<'TEXT'
__kernel void half_of(__global float *x) {
  size_t i = get_global_id(0);
  x[i] = x[i] * 0.5f + 3.0f;
}
TEXT
try() { # BREAK LINE-TEXT WORDS...
  local at=$1 shown=$2
  shift 2
  (cd "$work/kernels" && timeout 100 gdb -q -batch -nx -ex 'set breakpoint pending on' \
    -ex 'set confirm off' -ex "break $at" -ex run -ex 'frame' --args "$vyre" run "$@") >"$work/out" 2>&1
  if grep -q 'ptrace: Operation not permitted\|Cannot PTRACE_GETREGS' "$work/out"; then
    echo "this machine lets nobody be traced" && exit 77
  fi
  grep -q "hit Breakpoint" "$work/out" && grep -qF "$shown" "$work/out" && return
  echo "break $at did not stop at: $shown"
  tail -20 "$work/out"
  exit 1
}
line='x[i] = x[i] * 0.5 + 3.0'
try half.vyre:6 "$line" half.vyre x=iota:512 -b cpu --threads 1
try "$work/kernels/half.vyre:6" "$line" "$work/kernels/half.vyre" x=iota:512 -b cpu --threads 1
try half.vyre:6 "$line" half.vyre x=iota:512 -b cpu --threads 1 # from the cache
try half.cl:3 'x[i] = x[i] * 0.5f + 3.0f;' half.cl x=iota:512 --grid 512 -b cpu --threads 1
exit 0
