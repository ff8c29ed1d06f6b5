#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# .npy files against NumPy itself: what it writes (every type, byte order, memory order, version and
# rank) arrives in a buffer as NumPy would flatten it, and it reads back what we write.
set -euo pipefail
python=/usr/bin/python3
$python -c 'import numpy' 2>/dev/null || { echo "there is no NumPy for $python" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
VYRE=$VYRE_BUILD/vyre WORK=$work $python tests/scripts/numpy_check.py
