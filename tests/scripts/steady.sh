#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A steady dispatch enters the system for nothing but the work: the thread that dispatches a tiny
# kernel 100,000 times makes about as many system calls as with 1,000. What is left grows with time and
# not with dispatches (a clock that wakes the thread that learns, a sanitizer's allocator): 1,492 with the
# address sanitizer on a machine with six more processes than cores. Less than one call in ten dispatches
# is asked, where one in each would be 99,000. Skipped where strace is missing
# or not allowed.
set -uo pipefail
PATH=$VYRE_BUILD:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VYRE_HOME=$work/home

calls() { # REPEAT: system calls of the main thread
  strace -c -o "$work/calls" vyre run tests/golden/cli/inputs/scale.vyre a=3 x=iota:64 \
    --repeat "$1" --explain >"$work/out" 2>&1 || return 1
  awk '$NF == "total" { print $4 }' "$work/calls"
}

command -v strace >/dev/null || { echo "strace is not installed" && exit 77; }
calls 1000 >/dev/null || { echo "strace is not allowed here" && exit 77; }
few=$(calls 1000)
many=$(calls 100000)
[ -n "$few" ] && [ -n "$many" ] || { echo "strace counted nothing" && exit 1; }
[ "$many" -le $((few + 9900)) ] || { echo "1,000 dispatches: $few calls, 100,000: $many" && exit 1; }
