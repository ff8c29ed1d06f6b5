#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Six tasks of a new user, as the examples have them, with answers compared with numpy's: an image is
# blurred from PNG to PNG, options are priced, heat flows, elements are compacted, points are
# clustered, a matrix product is tuned. Where it says so, `--check` finds nothing in them.
set -euo pipefail
python=/usr/bin/python3 # the system's, which has numpy
$python -c 'import numpy' 2>/dev/null || { echo "numpy is not installed" && exit 77; }
build=$(realpath "$VYRE_BUILD")
PATH=$build:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export VYRE_HOME=$work/home
examples=$PWD/examples
cd "$work"

$python - <<'PY'
import numpy as np
rng = np.random.default_rng(1)
np.save("image.npy", rng.random((48, 64, 3), dtype=np.float32))
np.save("price.npy", rng.random(1000) + 0.5)
np.save("years.npy", rng.random(1000) + 0.1)
np.save("x.npy", rng.random(1024, dtype=np.float32))
a = rng.random((64, 64), dtype=np.float32); b = rng.random((64, 64), dtype=np.float32)
np.save("a.npy", a); np.save("b.npy", b)
PY

# 1. blur, in the shape of what was read, and from PNG to PNG
vyre run "$examples/blur.vyre" src=@image.npy width=64 height=48 channels=3 --out dst=blurred.npy
if vyre run "$examples/blur.vyre" src=@image.npy width=64 height=48 channels=3 --out dst=p.png 2>said; then
  vyre run "$examples/blur.vyre" src=@p.png width=64 height=48 channels=3 --out dst=q.png
  vyre run "$examples/blur.vyre" src=@p.png width=64 height=48 channels=3 --out dst=q.npy
else
  grep -q libpng said || { cat said && exit 1; }
fi
# 2. option pricing, with CSV out
vyre run "$examples/black_scholes.vyre" rate=0.02 volatility=0.3 price=@price.npy strike=fill:0.9:1e3 \
  years=@years.npy --out call=call.npy --out put=- >put.csv
# 3. heat and 5. k-means
"$build/example_heat" | grep ', 0 wrong$'
"$build/example_kmeans" >first && "$build/example_kmeans" >second && cmp first second
awk '/centre/ { n++; sum += $5 } END { exit !(n == 4 && sum == 4096) }' first
# 4. compaction
vyre run "$examples/compact.vyre" limit=0.75 x=@x.npy kept=zeros:1Ki count=zeros:1 --out kept=kept.npy \
  --out count=count.csv
vyre run "$examples/compact.vyre" limit=0.75 x=@x.npy kept=zeros:1Ki count=zeros:1 --check --print count
# 6. tuning
vyre tune "$examples/tiled.vyre" n=64 a=@a.npy b=@b.npy -b cpu --strategy exhaustive -r 3 | grep -q TILE
vyre run "$examples/tiled.vyre" n=64 a=@a.npy b=@b.npy -DTILE=16 --out c=c.npy
vyre run "$examples/tiled.vyre" n=64 a=@a.npy b=@b.npy --check --print c:1

$python - <<'PY'
import math, os, numpy as np
def close(x, y, what, eps=1e-5):
    assert x.shape == y.shape, (what, x.shape, y.shape)
    assert np.allclose(x, y, atol=eps), (what, np.abs(x - y).max())
def blur(image):
    e = np.pad(image.astype(np.float64), ((1, 1), (1, 1), (0, 0)), mode="edge")
    r = e[:-2] + 2 * e[1:-1] + e[2:]
    return (r[:, :-2] + 2 * r[:, 1:-1] + r[:, 2:]) / 16
image = np.load("image.npy")
close(np.load("blurred.npy"), blur(image), "blur")
if os.path.exists("q.npy"):
    stored = np.floor(np.clip(blur(image), 0, 1) * 255 + 0.5) / 255
    close(np.load("q.npy"), blur(stored), "blur of a PNG", 0.6 / 255)
s, t = np.load("price.npy"), np.load("years.npy")
k, r, v = 0.9, 0.02, 0.3
N = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t)); d2 = d1 - v * np.sqrt(t)
call = s * N(d1) - k * np.exp(-r * t) * N(d2)
close(np.load("call.npy"), call, "calls", 1e-6)
lines = [l for l in open("put.csv") if "written" not in l]
close(np.array([float(l) for l in lines]), call - s + k * np.exp(-r * t), "puts", 1e-6)
x = np.load("x.npy"); wanted = x[x > np.float32(0.75)]
count = int(open("count.csv").read())
assert count == len(wanted) and (np.load("kept.npy")[:count] == wanted).all(), "compaction"
a, b = np.load("a.npy"), np.load("b.npy")
close(np.load("c.npy"), a @ b, "product in the shape of its factors", 1e-3)
PY
