#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Mutated kernels through the OpenCL C frontend: an error with a fix or a program that survives its
# text, never a crash. As many as FRONT_MUTANTS says, from FRONT_SEED on.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$VYRE_BUILD/clmutate" ] || { echo "clmutate is not built: no libclang 19" && exit 77; }
"$VYRE_BUILD/clmutate" --count "${FRONT_MUTANTS:-60}" --seed "${FRONT_SEED:-1}" --save "$work" \
  tests/golden/front/{tier,builtin,program}*.cl || { cat "$work"/*.cl && exit 1; }
