#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A backend that is wrong: `vyre conform` finds it, makes the program small, writes it out, the
# folder replays, and the device is on record as failing. The bug is one of PoCL that vyre works
# around, with the work-around turned off.
set -euo pipefail
vyre=$VYRE_BUILD/vyre
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VYRE_HOME=$work/home

"$vyre" conform --backend ref --suite rows --json >"$work/rows.json"
python3 - "$work/rows.json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["failed"] == 0 and r["passed"] > 190, r
assert r["devices"][0]["backend"] == "ref" and r["devices"][0]["failures"] == []
PYTHON

if ! "$vyre" devices opencl | grep -q 'Portable Computing Language, driver 3.1'; then
  echo "PoCL 3.1 is not here: its bug cannot be shown"
  exit 77
fi
export VYRE_OPENCL_WORKAROUNDS=off
is_smaller() { [ "$(wc -l <"$folder/program.vyre")" -lt "$(wc -l <tests/conform/barrier-in-loop.vyre)" ]; }
folder=$work/failures/opencl-barrier-in-loop.vyre
for seconds in 4 20 100; do # to make it smaller, as long as this machine needs
  status=0
  "$vyre" conform --backend opencl --suite programs --shrink $seconds --out "$work/failures" \
    tests/conform/barrier-in-loop.vyre >"$work/out" || status=$?
  [ "$status" -eq 1 ] || { cat "$work/out"; echo "exit status $status instead of 1"; exit 1; }
  ! is_smaller || break
done
is_smaller || { cat "$folder/program.vyre"; echo "it is as large as before"; exit 1; }
grep -q '^  FAIL barrier-in-loop.vyre: ' "$work/out"
grep -q '^0 passed, 1 failed$' "$work/out"
for file in program.vyre trial.json command y.npy; do
  [ -e "$folder/$file" ] || { echo "$file is missing"; exit 1; }
done
"$vyre" check --quiet "$folder/program.vyre"
status=0
"$vyre" conform --backend opencl --replay "$folder" >"$work/replay" || status=$?
[ "$status" -eq 1 ] && grep -q '^different: ' "$work/replay"
"$vyre" conform --backend cpu --replay "$folder" | grep -q '^same'
unset VYRE_OPENCL_WORKAROUNDS
"$vyre" conform --backend opencl --replay "$folder" | grep -q '^same'
grep -q 'row = "barrier-in-loop.vyre"' "$VYRE_HOME"/state/conform/opencl-*.toml
# The commands that the folder names can be run.
bash -e -c "PATH=$VYRE_BUILD:\$PATH; $(sed -n 's/^vyre run .*--backend ref.*/&/p' "$folder/command")" \
  >/dev/null
