#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Spaces of tunables that are none: each fault of a T1 file, of a tunable, a condition or braces in
# other words is told by name with its fix, and what is unusual but right is taken.
set -uo pipefail
vyre=$VYRE_BUILD/vyre
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
kernel=tests/golden/cli/inputs/tile.cl

# tune STATUS TEXT WORDS...: the exit status, and a part of what is said
tune() {
  local status=$1 text=$2 out got=0
  shift 2
  out=$("$vyre" tune "$kernel" x=ones:1024 -b cpu --dry-run --evaluations 1 "$@" 2>&1) || got=$?
  [ "$got" -eq "$status" ] || { echo "exit status $got instead of $status: $*: $out" && bad=1; }
  grep -qF -- "$text" <<<"$out" || { echo "no \`$text\` in: $*: $out" && bad=1; }
  [ "$status" -eq 0 ] || grep -qF 'Fix: ' <<<"$out" || { echo "no fix in: $*: $out" && bad=1; }
}
# space STATUS TEXT JSON: of a T1 file
space() {
  printf '%s' "$3" >"$work/space.json"
  tune "$1" "$2" --grid '{1024 / PER}' --space "$work/space.json"
}
params() { # the parameters, then the conditions
  printf '{"ConfigurationSpace": {"TuningParameters": [%s], "Conditions": [%s]}}' "$1" "${2:-}"
}
wg='{"Name": "WG", "Values": [32]}' per='{"Name": "PER", "Values": [1]}'

space 0 'of 1 configurations evaluated' "$(params "$wg, $per")"
space 0 'of 2 configurations evaluated' "$(params "$wg, {\"Name\": \"PER\", \"Values\": \"[1, 2]\"}")"
space 0 'of 2 configurations evaluated' "$(params "$wg, {\"Name\": \"PER\", \"Values\": \" [1,2] \"}")"
space 0 'of 2 configurations evaluated' \
  "$(params "$wg, $per, {\"Name\": \"B\", \"Values\": [true, false]}")"
space 0 'of 3 configurations evaluated' \
  "$(params "$wg, $per, {\"Name\": \"F\", \"Values\": [0.5, \"1\", 2]}")"
passes="{\"Name\": \"VYRE_PASSES\", \"Type\": \"string\", \"Values\": \"['none', 'release']\"}"
space 0 'of 4 configurations evaluated' \
  "$(params "$wg, $per, $passes, {\"Name\": \"B\", \"Values\": \"[True, False,]\"}")"
space 0 'of 1 configurations evaluated' \
  "$(params "$wg, {\"Name\": \"PER\", \"Values\": [1, 2, 4]}" '{"Expression": "PER == 1"}')"
space 1 'Fix: ' '{'
space 1 'there are no parameters' '{}'
space 1 'there are no parameters' '{"ConfigurationSpace": {"TuningParameters": []}}'
space 1 'there are no parameters' '{"ConfigurationSpace": {"TuningParameters": 3}}'
space 1 'a parameter has no name or no values' "$(params '{"Values": [1]}')"
space 1 'a parameter has no name or no values' "$(params '{"Name": "A"}')"
space 1 'a parameter has no name or no values' "$(params '{"Name": "A", "Values": 3}')"
space 1 'a parameter has no name or no values' "$(params '7')"
space 1 "a parameter's name is no word" "$(params '{"Name": "a b", "Values": [1]}')"
space 1 "a parameter's name is no word" "$(params '{"Name": "", "Values": [1]}')"
space 1 "a parameter's values are no list" "$(params '{"Name": "A", "Values": "1, 2"}')"
space 1 "a parameter's values are no list" "$(params '{"Name": "A", "Values": "[1, 2"}')"
space 1 "a parameter's values are no list" "$(params '{"Name": "A", "Values": "1, 2]"}')"
space 1 "a parameter's values are no list" "$(params '{"Name": "A", "Values": "]1, 2["}')"
space 1 "a parameter's values are no list" "$(params '{"Name": "A", "Values": "[]"}')"
space 1 "a parameter's values are no list" "$(params '{"Name": "A", "Values": "[ ]"}')"
space 1 "a parameter's values are no list" "$(params '{"Name": "A", "Values": "[1,,2]"}')"
space 1 'neither number nor text' "$(params '{"Name": "A", "Values": [[1]]}')"
space 1 'neither number nor text' "$(params '{"Name": "A", "Values": [1, null]}')"
space 1 'a condition has no expression' "$(params "$wg, $per" '{"Parameters": ["WG"]}')"
space 1 'a condition has no expression' "$(params "$wg, $per" '3')"
space 1 'Fix: ' "$(params "$wg, $per" '{"Expression": "WG <"}')"
space 1 'Fix: ' "$(params "$wg, $per" '{"Expression": "NOBODY < 3"}')"
space 1 'Fix: ' "$(params "$wg, $wg")"
tune 1 'Fix: ' --grid 1024 --space "$work/nothing"

given=(--tunable WG=32 --tunable PER=1)
tune 0 'of 1 configurations evaluated' --grid '{1024 / PER}' "${given[@]}"
tune 1 'does not end with `}`' --grid '{1024 / PER' "${given[@]}"
tune 1 'Fix: ' --grid '{1024 / NOBODY}' "${given[@]}"
tune 1 'Fix: ' --grid '{1024 / }' "${given[@]}"
tune 1 'Fix: ' --grid '{1024 / (PER - 1)}' "${given[@]}"
tune 1 'Fix: ' --grid '{-PER}' "${given[@]}"
tune 1 'Fix: ' --grid '{PER / 2}' "${given[@]}"
tune 1 'Fix: ' --grid 1024 "${given[@]}" --where 'WG == 7'
tune 1 'Fix: ' --grid 1024 "${given[@]}" --where 'WG <'
exit $bad
