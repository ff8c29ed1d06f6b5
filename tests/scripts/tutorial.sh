#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every command of docs/TUTORIAL.md works in the order in which it stands there, in an empty folder, and
# its C program is built and run.
set -euo pipefail
here=$PWD
export PATH=$VYRE_BUILD:$PATH
mkdir "$TMPDIR/tutorial" && cd "$TMPDIR/tutorial"
awk '/^```[a-z]+ [a-z.]+$/ { file = $2; next } /^```/ { file = "" } file { print > file }' "$here/docs/TUTORIAL.md"
[ "$(ls | wc -l)" -eq 4 ] || { echo "the tutorial has other files: $(ls)" && exit 1; }
count=0
while IFS= read -r line; do
  bash -c "$line" >out.log 2>&1 || { echo "\$ $line" && cat out.log && exit 1; }
  count=$((count + 1))
  case $line in
  *"blur.vyre n=8"*) grep -q '4.3333335' out.log || { cat out.log && exit 1; } ;;
  *look.vyre*) grep -q '^3: 3.0$' out.log || { cat out.log && exit 1; } ;;
  esac
done < <(sed -n 's/^\$ //p' "$here/docs/TUTORIAL.md")
[ "$count" -ge 15 ] || { echo "the tutorial has only $count commands" && exit 1; }
sed 's, / 3, / i,' blur.vyre >wrong.vyre
(vyre check wrong.vyre 2>&1 || true) | grep 'Fix:' >/dev/null || { echo "the mistake of the tutorial is none" && exit 1; }
cc main.c -o main -I"$here/include" -L"$VYRE_BUILD" -lvyre || { echo "main.c is not built" && exit 1; }
if nm -D "$VYRE_BUILD/libvyre.so" | grep '__[at]san_init' >/dev/null; then exit 0; fi # it needs its runtime first
LD_LIBRARY_PATH=$VYRE_BUILD ./main | grep 'twice has 1 region' >/dev/null
