#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The generated tables of docs/IR.md and docs/PASSES.md say what the code says, a stale table is
# noticed, and so is one that lost its markers.
set -euo pipefail
"$VYRE_BUILD/gendocs" docs/IR.md docs/PASSES.md
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT

expect_noticed() { # WHAT: the copy must not pass
  if "$VYRE_BUILD/gendocs" "$copy" 2>/dev/null; then
    echo "$1 was not noticed"
    exit 1
  fi
}
sed 's/| V001 | unbalanced-block |/| V001 | something-else |/' docs/IR.md >"$copy"
expect_noticed "a changed table"
sed 's/^| dce | scalar |/| dce | loop |/' docs/PASSES.md >"$copy"
expect_noticed "a changed pass"
sed 's/^<!-- end -->$//' docs/PASSES.md >"$copy"
expect_noticed "a missing end"
grep -v '^<!-- generated: ' docs/PASSES.md >"$copy"
expect_noticed "a document without sections"
count=$(cat docs/IR.md docs/PASSES.md | grep -c '^<!-- generated: ')
if [ "$count" -ne 7 ]; then
  echo "$count generated sections instead of 7"
  exit 1
fi
