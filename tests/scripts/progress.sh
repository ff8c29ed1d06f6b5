#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Measuring shows on a terminal how far it is, how long it takes, and that Ctrl-C keeps what is done;
# in a pipe it shows nothing of that.
set -uo pipefail
PATH=$VYRE_BUILD:$PATH
script -qec true /dev/null >/dev/null 2>&1 || { echo "there is no pseudo-terminal here" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VYRE_HOME=$work/home
tune="vyre tune tests/golden/cli/inputs/scale.vyre a=3 x=iota:400000 -b ref"
certify="vyre certify tests/golden/cli/inputs/scale.vyre a=3 x=iota:400000 -b ref -r 9"
for command in "$tune" "$certify"; do
  script -qec "$command" /dev/null >"$work/out" 2>&1 || { cat "$work/out" && exit 1; }
  grep -q 'of [0-9]* runs, .* left, Ctrl-C keeps what is done' "$work/out" ||
    { echo "no progress from $command" && cat "$work/out" && exit 1; }
  $command >"$work/out" 2>&1 || exit 1
  grep -q 'runs, ' "$work/out" && { echo "progress in a pipe from $command" && exit 1; }
done
exit 0
