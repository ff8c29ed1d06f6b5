#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every built-in function that the OpenCL C frontend knows is called by a kernel of the tests.
set -uo pipefail
bad=0
names=$(sed -n 's/^[A-Z]*("\([a-z_0-9A-Z]*\)".*/\1/p' src/front/clang/builtins.def)
[ "$(wc -w <<<"$names")" -ge 150 ] || { echo "builtins.def has too few rows" && bad=1; }
for name in $names; do
  case $name in
  # Behind INFINITY and its kin; behind native_ and half_.
  __builtin_*) continue ;;
  divide | recip) name=native_$name ;;
  esac
  grep -qw -- "$name" tests/golden/front/*.cl || { echo "no test calls $name" && bad=1; }
done
exit $bad
