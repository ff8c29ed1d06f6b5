#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A small part of what `make recipes` compares: the recipes for exact arithmetic beside the CPU's own
# instructions, every one of them. And a program whose answer would be wrong is noticed.
set -uo pipefail
said=$("$VYRE_BUILD/recipe_sweep" --part 16384 2>&1) || {
  echo "$said"
  exit 1
}
rows=$(grep -c '^| .* | 0 | ' <<<"$said")
[ "$rows" -ge 39 ] || {
  echo "only $rows rows"
  exit 1
}
if "$VYRE_BUILD/recipe_sweep" --part 16384 --wrong div >/dev/null 2>&1; then
  echo "wrong answers are not noticed"
  exit 1
fi
