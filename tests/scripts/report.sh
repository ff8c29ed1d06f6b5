#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The page of `vyre report` shows the store's figures: its JSON has the lines of `vyre profile show`,
# every mark's attributes are figures of that, it is well-formed and needs nothing from elsewhere; an
# empty store gives a page too.
set -uo pipefail
PATH=$VYRE_BUILD:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VYRE_HOME=$work/home
vyre report -o "$work/empty.html" --no-measure >/dev/null || exit 1
grep -q 'Nothing was measured yet' "$work/empty.html" || { echo "an empty store has no page" && exit 1; }
scale=tests/golden/cli/inputs/scale.vyre
for n in 100 1000 20000; do
  vyre run $scale a=3 x=iota:$n --backend ref --repeat 30 --explain >/dev/null 2>&1 || exit 1
done
vyre certify $scale a=3 x=iota:1000 -b ref -b cpu -r 3 >/dev/null 2>&1
vyre report -o "$work/page.html" --no-measure >"$work/said" || exit 1
grep -q '1 program$' "$work/said" || { cat "$work/said" && exit 1; }
vyre report -o - --no-measure | cmp -s - /dev/null && { echo "nothing on standard output" && exit 1; }
vyre report -o "$work/none.html" nosuch >/dev/null 2>"$work/said" && { echo "an unknown op is no error" && exit 1; }
grep -q 'Fix:' "$work/said" || exit 1
# Searches are files in the cache: those of the op that was asked for, whole or not at all.
mkdir -p "$VYRE_HOME/cache/tuner"
echo '{"metadata": {"kernel": "scale", "device": "d"}, "results": [{"measurements": [{"value": 0.002}]},
  {"measurements": []}, {"measurements": [{"value": 0.0015}]}]}' >"$VYRE_HOME/cache/tuner/space-1.json"
echo '{"metadata": {"kernel": "other"}, "results": [{"measurements": [{"value": 0.5}]}]}' >"$VYRE_HOME/cache/tuner/space-2.json"
echo '{"metadata": {}, "results": [' >"$VYRE_HOME/cache/tuner/space-3.json"
echo '{"metadata": {"kernel": "scale"}, "results": [{"measurements": [{"value": 9}]}]}' >"$VYRE_HOME/cache/tuner/else.json"
vyre report -o "$work/searched.html" scale >/dev/null || exit 1
[ "$(grep -c 'course of the search' "$work/searched.html")" = 1 ] || { echo "searches: not one" && exit 1; }
grep -q 'scale, 3 configurations, 1 failed' "$work/searched.html" || { echo "the search is another" && exit 1; }
grep -q 'data-best-ns="1500"' "$work/searched.html" || { echo "its best is another" && exit 1; }
grep -Eq 'the roof, [0-9.]+ G/s on f32' "$work/searched.html" || { echo "no roof was measured" && exit 1; }
grep -Eq 'memory copies [0-9.]+ GB/s here' "$work/searched.html" || { echo "memory was not measured" && exit 1; }
vyre report -o "$work/searched.html" --no-measure >/dev/null || exit 1
[ "$(grep -c 'course of the search' "$work/searched.html")" = 2 ] || { echo "searches: not two" && exit 1; }
vyre profile show --json >"$work/show.json" || exit 1
python3 - "$work" <<'PY'
import html.parser, json, re, sys
work = sys.argv[1]
text = open(work + "/page.html", encoding="utf-8").read()
store = json.load(open(work + "/show.json"))
marks, stack, bad = [], [], []
VOID = {"meta", "rect", "line", "circle", "path"}
class Page(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if any(k in attrs for k in ("src", "href")):
            bad.append("something from elsewhere: %r" % (attrs,))
        if any(k.startswith("data-") for k in attrs): marks.append((tag, attrs))
        if tag not in VOID or tag == "circle": stack.append(tag)
    def handle_startendtag(self, tag, attrs):
        attrs = dict(attrs)
        if any(k.startswith("data-") for k in attrs): marks.append((tag, attrs))
    def handle_endtag(self, tag):
        while stack and stack[-1] in VOID and stack[-1] != tag: stack.pop()
        if not stack or stack.pop() != tag: bad.append("</%s> does not fit" % tag)
page = Page(); page.feed(text)
if stack: bad.append("not closed: %s" % stack)
if re.search(r"https?://|<script(?! type=.application/json)", text): bad.append("a script or an address")
figures = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.S).group(1))
if figures["lines"] != store["lines"]: bad.append("the lines of the page are not those of the store")
latencies = [l for l in store["lines"] if l["kind"] == "latency" and not l["foreign"]]
sections = [a for t, a in marks if "data-program" in a]
if sum(int(a["data-count"]) for a in sections) != sum(l["count"] for l in latencies): bad.append("dispatches")
if sum(int(a["data-total-ns"]) for a in sections) != sum(l["total_ns"] for l in latencies): bad.append("time")
regions = {l["subject"]: l for l in store["lines"] if l["kind"] == "region" and not l["foreign"]}
seen = 0
for t, a in marks:
    if "data-region" in a:
        seen += 1
        mine = [l for l in store["lines"] if l["kind"] == "region" and l["subject"] == a["data-region"]]
        if int(a["data-total-ns"]) != sum(l["total_ns"] for l in mine): bad.append("region %s" % a)
medians = {(l["variant"], l["size_class"]): l for p in figures["programs"] for l in p["latencies"]}
shown = [a for t, a in marks if "data-median-ns" in a]
for a in shown:
    l = medians.get((a["data-variant"], int(a["data-size-class"])))
    if not l or int(a["data-median-ns"]) != l["median_ns"] or int(a["data-count"]) != l["samples"]:
        bad.append("median %s" % a)
for t, a in marks:
    if "data-series" in a:
        best = min(l["median_ns"] for (v, s), l in medians.items()
                   if v.startswith(a["data-series"]) and s == int(a["data-size-class"]))
        if best != int(a["data-ns"]): bad.append("series %s" % a)
import sqlite3
db = sqlite3.connect(work + "/home/state/evidence.db")
known = {r: (o, n, b) for r, o, n, b in
         db.execute("SELECT region, sum(operations), sum(total_ns), sum(bytes) FROM effort GROUP BY region")}
drawn = [a for t, a in marks if "data-operations" in a]
for a in drawn:
    mine = (int(a["data-operations"]), int(a["data-effort-ns"]), int(a["data-bytes"]))
    if known.get(a["data-effort-region"]) != mine: bad.append("operations %s, not %s" % (a, known))
    if not mine[2] <= mine[0] * 8 <= 3 * mine[2]: bad.append("1 to 3 operations for 8 bytes, not %s" % (mine,))
if len(drawn) != len(known) or not drawn: bad.append("%d points for %s" % (len(drawn), known))
if not (seen and shown and sections): bad.append("too few marks: %d %d %d" % (seen, len(shown), len(sections)))
print("\n".join(bad)); sys.exit(1 if bad else 0)
PY
