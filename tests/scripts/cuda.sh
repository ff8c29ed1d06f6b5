#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Machines where CUDA is missing, broken, turned off or there: no driver, something else under its name, a
# driver without devices. Each says why and what to do, and other backends work. And the command on the
# stand-in for the driver: a run, and all rows of the semantics table.
set -uo pipefail
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
complain() {
  echo "$*"
  bad=1
}
expect() { # WHAT WORDS COMMAND...: `vyre devices cuda` fails with these words
  local what=$1 words=$2 said
  shift 2
  said=$("$@" "$VYRE_BUILD/vyre" devices cuda 2>&1) && complain "$what: not noticed"
  [[ $said == *"$words"* && $said == *Fix:* ]] || complain "$what: $said"
  "$@" "$VYRE_BUILD/vyre" run examples/saxpy.vyre a=2 x=iota:9 y=ones:9 --print y 2>&1 |
    grep -q 17 || complain "$what: other backends do not work"
}
with() { env LD_LIBRARY_PATH="$work/$1" "${@:2}"; }

mkdir -p "$work/broken" "$work/empty"
: >"$work/broken/libcuda.so.1"
expect "no driver" "cannot be opened" with broken
echo 'int nothing;' | cc -shared -fPIC -o "$work/empty/libcuda.so.1" -x c - || complain "cannot compile"
expect "no function" "has no cuInit" with empty
standin=$VYRE_BUILD/standin
# A driver without its last function: older than what is called.
{
  echo 'extern int printf(const char *, ...);'
  sed -n 's/.*F([A-Za-z0-9]*, "\(cu[A-Za-z0-9_]*\)",.*/\1/p' src/backend/cuda/api.h | grep -v cuLaunchKernel |
    sed 's/.*/int &(void) { printf("called\\n"); return 999; }/'
} >"$work/half.c"
mkdir "$work/half"
cc -shared -fPIC -w -o "$work/half/libcuda.so.1" "$work/half.c" || complain "cannot compile"
expect "half a driver" "has no cuLaunchKernel" with half
expect "turned off" "VYRE_CUDA=off" env VYRE_CUDA=off LD_LIBRARY_PATH="$standin"
expect "no device" "has no device" env STANDIN_DEVICES=0 LD_LIBRARY_PATH="$standin"
old() { env STANDIN_SM=70 LD_LIBRARY_PATH="$standin" "$VYRE_BUILD/vyre" "$@" 2>&1; }
old devices cuda | grep -q "cannot be used: its architecture is older than sm_75" ||
  complain "an old device is not told from others"
saxpy=(examples/saxpy.vyre a=2 x=iota:9 y=ones:9 --print y)
said=$(old run "${saxpy[@]}" --backend cuda) && complain "an old device is used"
[[ $said == *"older than sm_75"* ]] || complain "an old device: $said"
old run "${saxpy[@]}" | grep -q 17 || complain "other backends do not work beside an old device"
long=$(printf 'Long%.0s' {1..40})
twins=$(env STANDIN_DEVICES=3 STANDIN_NAME="$long" LD_LIBRARY_PATH="$standin" VYRE_HOME="$work/home" \
  "$VYRE_BUILD/vyre" devices cuda | grep -o 'adapter [^ ,]*' | sort -u | wc -l)
[[ $twins == 3 ]] || complain "$twins names for three devices"

run() { env LD_LIBRARY_PATH="$standin" "$VYRE_BUILD/vyre" "$@"; }
run devices cuda | grep -q "gave the same bits" || complain "the stand-in is not trusted"
run run "${saxpy[@]}" --backend cuda | grep -q 17 ||
  complain "no answer on the stand-in"
run conform --backend cuda --suite rows --out "$work/failures" >"$work/log" 2>&1 ||
  complain "rows differ: $(tail -n 5 "$work/log")"
grep -q " 0 failed, [01] declined" "$work/log" || complain "$(tail -n 3 "$work/log")"
exit $bad
