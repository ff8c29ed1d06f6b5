#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Scalars of every type at the edges (tests/scalars.txt) through the words of `vyre run`: as NAME=VALUE, from
# a .npy file and from a .csv, and as elements of a list and of a fill. Each arrives with its bits in what
# --out writes, or is refused by its type.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
VYRE=$VYRE_BUILD/vyre WORK=$work python3 tests/scripts/scalars_check.py
