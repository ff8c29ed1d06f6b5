#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The package `vyre`: built once, and its tests run in the interpreter that built it and, without numpy
# perhaps, in every other one from 3.9 on that is found: one binary is right for all. These run what depends
# on the interpreter: the language of @jit, calls and errors, buffers and threads, signals; all with
# VYRE_PYTHON_ALL=all, none with 0. Skipped where no interpreter has its headers. PYTHON names one.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

has_headers() {
  "$1" -c 'import sys, sysconfig, os
ok = sys.version_info >= (3, 9) and os.path.exists(sysconfig.get_path("include") + "/Python.h")
sys.exit(not ok)' 2>/dev/null
}
has_numpy() { "$1" -c 'import numpy' 2>/dev/null; }

found=()
for python in ${PYTHON:-} python3 /usr/bin/python3; do
  has_headers "$python" && found+=("$python")
done
[ ${#found[@]} -gt 0 ] || { echo "no Python with its headers. Fix: apt-get install python3-dev" && exit 77; }
python=${found[0]}
for each in "${found[@]}"; do has_numpy "$each" && python=$each && break; done

"$python" python/build_backend.py stage "$work/package" --build "$VYRE_BUILD" >"$work/log" 2>&1 ||
  { cat "$work/log" && exit 1; }

# A sanitizer's library has to be in the process first, and Python leaks on purpose.
sanitize=$(sed -n 's/^VYRE_SANITIZE:STRING=//p' "$VYRE_BUILD/CMakeCache.txt")
preload=
case $sanitize in
*address*) preload=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64 ;;
*thread*) echo "an interpreter without the thread sanitizer cannot load what has it" && exit 77 ;;
esac
export ASAN_OPTIONS

package=$work/package
run() { # PYTHON [WORD ...]: its tests; the last line but one says how many
  local words=("${@:2}")
  [ ${#words[@]} -gt 0 ] || words=(discover -s python/tests)
  LD_PRELOAD=$preload PYTHONPATH=$package:python/tests PYTHONDONTWRITEBYTECODE=1 \
    "$1" -m unittest "${words[@]}" -q >"$work/log" 2>&1 ||
    { echo "FAIL in $1" && tail -n 60 "$work/log" && return 1; }
  echo "$1 ($("$1" -c 'import sys; print(sys.version.split()[0])')): $(grep -E '^Ran ' "$work/log"), $(tail -n 1 "$work/log")"
}

run "$python" || exit 1
if [ -z "$preload" ] && [ "${VYRE_PYTHON_ALL:-1}" != 0 ]; then
  words=(test_kernel test_jit.{SameAsPython,Language,Refused,Fuse} test_runtime.{Buffers,Submitted,Threads})
  [ "${VYRE_PYTHON_ALL:-1}" != all ] || words=()
  for each in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
    [ -x "$each" ] && [ "$(readlink -f "$each")" != "$(readlink -f "$(command -v "$python")")" ] || continue
    "$each" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || continue
    run "$each" "${words[@]}" || exit 1
  done
fi

# References are counted where there is a debug interpreter: all that a call takes it gives back.
if [ -z "$preload" ] && command -v python3-dbg >/dev/null && has_headers python3-dbg; then
  package=$work/debug
  python3-dbg python/build_backend.py stage "$package" --build "$VYRE_BUILD" >"$work/log" 2>&1 ||
    { cat "$work/log" && exit 1; }
  export VYRE_COUNT_REFERENCES=1
  run python3-dbg test_kernel test_runtime.Growth test_runtime.Submitted test_runtime.Buffers || exit 1
fi
