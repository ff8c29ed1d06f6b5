#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The golden runner judges right: every file of tests/runner/bad fails for the reason that its WANT
# line gives, every file of good passes, every one of skip is skipped, and --update repairs a
# sidecar. A runner that passes everything would make all golden tests worthless. And what runs them
# leaves no process behind of one that takes too long.
set -uo pipefail
golden="$VYRE_BUILD/golden --build $VYRE_BUILD --seconds 2"
bad=0
complain() {
  echo "$1"
  bad=1
}

out=$($golden tests/runner/bad) && complain "the bad tests gave exit status 0"
count=0
for file in tests/runner/bad/*; do
  case $file in
  *orphan.expect) want="there is a .expect file and no test" ;;
  *.expect) continue ;;
  *) want=$(sed -n 's/^# *WANT: *//p' "$file" | tr _ ' ') ;;
  esac
  count=$((count + 1))
  grep -F "FAIL ${file%.expect}" <<<"$out" | grep -qF -- "${want:?$file has no WANT line}" ||
    complain "$file did not fail with: $want"
done
[ "$(tail -n 1 <<<"$out")" = "golden: 0 passed, $count failed, 0 skipped" ] ||
  complain "wrong count for the bad tests: $(tail -n 1 <<<"$out")"

out=$($golden tests/runner/good) || complain "a good test failed: $out"
[ "$out" = "golden: 7 passed, 0 failed, 0 skipped" ] || complain "the good tests gave: $out"
out=$($golden tests/runner/skip) || complain "a skipped test failed: $out"
grep -q '^SKIP tests/runner/skip/absent: needs no-such-backend: ' <<<"$out" ||
  complain "the skip has no reason: $out"
[ "$(tail -n 1 <<<"$out")" = "golden: 0 passed, 0 failed, 1 skipped" ] || complain "no skip: $out"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp tests/runner/bad/sidecar tests/runner/bad/sidecar.expect "$copy"
$golden --update "$copy" >/dev/null || complain "--update failed"
[ "$(cat "$copy/sidecar.expect")" = "$(printf 'one\ntwo')" ] || complain "--update wrote nothing"
$golden "$copy" >/dev/null || complain "an updated test does not pass"

mkdir -p "$copy/tests/scripts" "$copy/tests/golden" "$copy/build"
cp tests/run "$copy/tests"
cat >"$copy/tests/scripts/late.sh" <<'END'
set -m # a group of its own
sleep 600 &
echo $! >build/child
wait
END
out=$(TEST_SECONDS=1 "$copy/tests/run" "$copy/build") && complain "a test that took too long passed"
grep -qF "FAIL script.late: took longer than 1 seconds" <<<"$out" || complain "a late test gave: $out"
child=$(cat "$copy/build/child")
[ ! -d "/proc/$child" ] || grep -q '^State:.*zombie' "/proc/$child/status" ||
  { complain "a late test left its child behind" && kill "$child"; }
exit $bad
