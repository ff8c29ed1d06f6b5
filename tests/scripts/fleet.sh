#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Two machines share what they measured through a PostgreSQL of this test's own: rows travel once,
# figures come back as medians, wrong answers travel, a machine can write nothing under another's
# name, a reader nothing at all; TLS is verified and wrong certificates are refused; a server that
# stops, or was never prepared, is told with what to do, and nothing is lost.
set -euo pipefail
if [ -z "${PG_SOCKET:-}" ]; then exec scripts/with-postgres bash "$0"; fi
vyre=$VYRE_BUILD/vyre
[ -e "$VYRE_BUILD/libvyre-postgres.so" ] || { echo "built without libpq" && exit 77; }
fail() { echo "$1" && exit 1; }
sql() { psql -X -q -t -A -h "$PG_SOCKET" -U "$1" -d postgres -c "$2"; }
at() { echo "postgresql://$1@/postgres?host=$PG_SOCKET"; }
on() { env VYRE_HOME="$PWD/$1" "$vyre" "${@:2}"; } # HOME COMMAND...
cd "$(mktemp -d)"
for home in one two; do # the same machine has the same id: what tells them apart is the store's own
  on $home run "$OLDPWD/examples/saxpy.vyre" a=2 x=ones:4096 y=ones:4096 --repeat 64 >/dev/null
done

on one profile sync "$(at postgres)" 2>said && fail "a server without tables was taken"
grep -q 'Fix: let its administrator run .vyre profile server ADDRESS' said || fail "$(cat said)"
on admin profile server "$(at postgres)" --machine one --machine two --reader look --json >roles
python3 - <<'END'
import json
roles = {r["role"]: r["password"] for r in json.load(open("roles"))["roles"]}
assert set(roles) == {"one", "two", "look"} and all(len(p) == 32 for p in roles.values()), roles
open("password", "w").write(roles["one"])
END
on admin profile server "$(at postgres)" --machine one >again # is no harm
grep -q 'one: was there' again && grep -q 'format 1, as before' again || fail "$(cat again)"

on one profile sync "$(at one)" --json >first
on one profile sync "$(at one)" --json >second
[ "$(python3 -c 'import json; a, b = (json.load(open(f)) for f in ("first", "second")); print(a["pushed"] > 0, b["pushed"], a["pulled"])')" = "True 0 0" ] ||
  fail "$(cat first second)"
rows=$(sql one 'SELECT count(*) FROM vyre.latency')
on one profile sync "$(at one)" >/dev/null
[ "$(sql one 'SELECT count(*) FROM vyre.latency')" = "$rows" ] || fail "rows came twice"
on two profile sync "$(at two)" --json >got
[ "$(python3 -c 'import json; print(json.load(open("got"))["pulled"])')" = "$rows" ] || fail "$(cat got)"
on two profile show | grep -q 'from another machine' || fail "nothing of the others is shown"

# What comes is what was there, field by field.
python3 - <<'END'
import sqlite3
def rows(home):
    db = sqlite3.connect(f"file:{home}/state/evidence.db?mode=ro", uri=True)
    return set(db.execute("SELECT device, op, fingerprint, size_class, work, variant, build, count, min_ns FROM latency"))
one, two = rows("one"), rows("two")
assert one and one <= two, (one, two)
END

# The median of three: one that lies does not speak for the others.
sql postgres "INSERT INTO vyre.latency SELECT 'two', repeat('a', 32), fingerprint, device, build, op, work, variant, size_class, 9, 777777, 777777 FROM vyre.latency WHERE origin = 'one'"
sql postgres "INSERT INTO vyre.latency SELECT 'two', repeat('b', 32), fingerprint, device, build, op, work, variant, size_class, 9, 1, 1 FROM vyre.latency WHERE origin = 'one'"
sql postgres "UPDATE vyre.latency SET min_ns = 5, median_ns = 500 WHERE origin = 'one'"
on new profile sync "$(at two)" >/dev/null
on new profile show | grep -q 'fastest 5 ns' || fail "it is not the median: $(on new profile show)"

# Nobody writes under another's name, and readers do not write.
sql two "UPDATE vyre.latency SET median_ns = 1e9, count = 1e6" >/dev/null
[ "$(sql postgres "SELECT count(*) FROM vyre.latency WHERE origin = 'one' AND count = 1e6")" = 0 ] || fail "changed another's row"
sql two "DELETE FROM vyre.latency WHERE origin = 'one'" >/dev/null
[ "$(sql postgres "SELECT count(*) > 0 FROM vyre.latency WHERE origin = 'one'")" = t ] || fail "removed another's row"
sql two "INSERT INTO vyre.wrong (origin, hash, op, variant, device, detail) VALUES ('one', decode(repeat('00', 32), 'hex'), '', '', '', '')" 2>/dev/null && fail "wrote as another"
sql look "INSERT INTO vyre.wrong (hash, op, variant, device, detail) VALUES (decode(repeat('00', 32), 'hex'), '', '', '', '')" 2>/dev/null && fail "a reader wrote"
sql two "UPDATE vyre.pushed SET sequence = 0 WHERE origin = 'one'" >/dev/null
[ "$(sql postgres "SELECT sequence > 0 FROM vyre.pushed WHERE origin = 'one'")" = t ] || fail "reset another's mark"
on reader run "$OLDPWD/examples/saxpy.vyre" a=2 x=ones:4096 y=ones:4096 --repeat 64 >/dev/null
on reader profile sync "$(at look)" --json >reading
[ "$(python3 -c 'import json; r = json.load(open("reading")); print(r["pushed"], r["pulled"] > 0)')" = "0 True" ] || fail "$(cat reading)"

# A code that was wrong elsewhere is not used here.
sql two "INSERT INTO vyre.wrong (hash, op, variant, device, detail) VALUES (decode(repeat('ab', 32), 'hex'), 'saxpy', 'cpu full none as-declared', 'somewhere', 'y[1] is 0x1, expected 0x2')"
[ "$(on one profile sync "$(at one)" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["wrong"])')" = 1 ] || fail "a wrong answer did not travel"

# One that was wrong here is told, whatever stands in its texts, and explained on either machine.
python3 - <<'END'
import sqlite3
db = sqlite3.connect("one/state/evidence.db")
origin = db.execute("SELECT origin FROM latency WHERE op = 'saxpy' AND length(origin) > 0 OR op = 'saxpy'").fetchone()[0]
top = db.execute("SELECT max(sequence) FROM (SELECT sequence FROM latency UNION ALL SELECT sequence FROM code UNION ALL SELECT sequence FROM region)").fetchone()[0]
db.execute("INSERT INTO code VALUES (?, ?, 'saxpy', 'odd', 'here', 0, 1, ?, 1700000000, ?)",
           (origin, bytes(range(32)), "tab\t, line\nback \\ and \r", top + 1))
db.commit()
END
[ "$(on one profile sync "$(at one)" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["pushed"])')" = 1 ] || fail "what was wrong here is not told"
[ "$(sql look "SELECT encode(hash, 'hex'), op, variant, device, detail = E'tab\t, line\nback \\\\ and \r' FROM vyre.wrong WHERE variant = 'odd'")" = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f|saxpy|odd|here|t" ] || fail "$(sql look "SELECT * FROM vyre.wrong")"
on two profile sync "$(at two)" >/dev/null
for home in one two; do
  on $home explain --json saxpy | python3 -c 'import json, sys; w = [w for w in json.load(sys.stdin)["wrong"] if w["variant"] == "odd"]; assert len(w) == 1 and w[0]["device"] == "here" and w[0]["detail"] == "tab\t, line\nback \\ and ?", w' || fail "$home does not explain it"
done

# Over a network: encrypted, by a password, and only to whom the authority vouches for.
tls="postgresql://one@localhost:$PG_PORT/postgres?sslmode=verify-full&sslrootcert=$PG_ROOT"
PGPASSWORD=$(cat password) on one profile sync "$tls" >/dev/null || fail "no TLS"
PGPASSWORD=wrong on one profile sync "$tls" 2>said && fail "a wrong password was taken"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout other.key -out other.crt 2>/dev/null
PGPASSWORD=$(cat password) on one profile sync "${tls/$PG_ROOT/$PWD/other.crt}" 2>said && fail "a wrong certificate was taken"
grep -q 'Fix: check the address' said || fail "$(cat said)"
for mode in disable allow prefer; do
  on one profile sync "postgresql://one@vyre.invalid/x?sslmode=$mode" 2>said && fail "$mode was taken"
  grep -q 'would let others read' said || fail "$(cat said)"
done

# In the background: a new machine asks when it loads a program.
VYRE_FLEET=$(at two) on fresh run "$OLDPWD/examples/saxpy.vyre" a=2 x=ones:4096 y=ones:4096 --repeat 300000 >/dev/null
on fresh profile show | grep -q 'from another machine' || fail "a runtime did not ask the fleet"
sql postgres "UPDATE vyre.format SET version = 99"
on one profile sync "$(at one)" 2>said && fail "a newer server was taken"
grep -q 'Fix: install a newer vyre here' said || fail "$(cat said)"
sql postgres "UPDATE vyre.format SET version = 1"

# A server that takes connections and says nothing does not keep a process from its end.
server=$(head -n 1 "$PG_SOCKET/.s.PGSQL.$PG_PORT.lock")
kill -STOP "$server"
VYRE_FLEET=$(at one) VYRE_HOME=$PWD/one timeout 60 "$vyre" run "$OLDPWD/examples/saxpy.vyre" a=2 x=ones:4096 y=ones:4096 --repeat 64 >/dev/null 2>&1 ||
  { kill -CONT "$server" && fail "a silent server kept a process"; }
kill -CONT "$server"

# The server goes: what is measured meanwhile is sent when it is back.
on one run "$OLDPWD/examples/dot.vyre" x=ones:4096 y=ones:4096 partial=zeros:16 --repeat 64 >/dev/null 2>&1 || true
$PG_STOP
on one profile sync "$(at one)" 2>said && fail "nobody answered, and that was fine"
grep -q 'nothing that was measured is lost' said || fail "$(cat said)"
VYRE_FLEET=$(at one) on one run "$OLDPWD/examples/saxpy.vyre" a=2 x=ones:4096 y=ones:4096 --repeat 64 --print y:1 2>said | grep -q '3' || fail "$(cat said)"
"$PG_START"
on one profile sync "$(at one)" --json | python3 -c 'import json, sys; assert json.load(sys.stdin)["pushed"] > 0' || fail "what was measured meanwhile is lost"
