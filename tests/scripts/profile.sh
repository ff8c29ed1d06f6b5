#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example of docs/PROFILE.md can be repeated: its commands run as they stand, and what it says
# they print is printed.
set -uo pipefail
PATH=$VYRE_BUILD:$PATH
page=$PWD/docs/PROFILE.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Blocks of the example in turn: sh ones are run, plain ones are looked for in what that printed.
sed -n '/^### An example to repeat/,/^## /p' "$page" | awk '
  /^```/ { mode = mode ? "" : ($0 == "```sh" ? "sh" : "plain"); number += mode != ""; next }
  mode { print > sprintf("block.%02d.%s", number, mode) }'
checked=0
for block in block.*; do
  case $block in
  *.sh)
    # shellcheck disable=SC1090
    . "./$block" >printed 2>&1 || { echo "a command failed:" && cat "$block" printed && exit 1; }
    ;;
  *)
    while read -r line; do
      grep -qF -- "$line" printed ||
        { echo "docs/PROFILE.md promises: $line" && cat printed && exit 1; }
      checked=$((checked + 1))
    done <"$block"
    ;;
  esac
done
[ "$checked" -ge 12 ] || { echo "only $checked lines were checked" && exit 1; }
