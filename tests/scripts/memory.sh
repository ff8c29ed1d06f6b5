#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Memory that runs out is an error with exit status 3, wherever it happens: a large program is
# checked, converted and run under limits from hopeless to plenty, and each outcome is success or
# one clear message. Nothing is left behind where a file was to be written.
set -uo pipefail
if nm "$VYRE_BUILD/vyre" | grep '__[at]san_init' >/dev/null; then
  echo "a sanitizer needs more address space than the limits allow"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
vyre=$VYRE_BUILD/vyre
bad=0 failed=0 succeeded=0

awk 'BEGIN {
  print "program long()\nbuffer y: u32[1] write\nregion r grid(1) {\n  var v: u32 = 0"
  for (i = 0; i < 100000; i++) print "  let x" i " = v * " i " + 1"
  print "  y[0] = v\n}"
}' >"$work/long.vyre"

try() { # KILOBYTES COMMAND...
  local limit=$1 out status
  shift
  out=$(ulimit -v "$limit" && "$@" 2>&1)
  status=$?
  if [ $status -eq 0 ]; then
    succeeded=$((succeeded + 1))
  elif [ $status -eq 3 ] && grep -q 'memory' <<<"$out" && grep -q '^Fix:' <<<"$out"; then
    failed=$((failed + 1))
  else
    echo "with $limit KiB, $*: exit status $status, $out"
    bad=1
  fi
}

# Below this the system cannot even start the command.
least=$((8 * 1024))
until (ulimit -v $least && "$vyre" --version >/dev/null 2>&1); do least=$((least + 1024)); done
for more in 1 3 6 9 12 16 20 28 40 56 96 512; do
  limit=$((least + more * 1024))
  try $limit "$vyre" check "$work/long.vyre"
  try $limit "$vyre" convert "$work/long.vyre" -o "$work/long.vyreb"
  try $limit "$vyre" run "$work/long.vyre"
  try $limit "$vyre" run examples/saxpy.vyre a=1 x=ones:1000000 y=iota:1000000
done
[ $failed -ge 8 ] || { echo "only $failed runs met the limit" && bad=1; }
[ $succeeded -ge 8 ] || { echo "only $succeeded runs had enough" && bad=1; }
left=$(find "$work" -name 'long.vyreb.*')
[ -z "$left" ] || { echo "left behind: $left" && bad=1; }
exit $bad
