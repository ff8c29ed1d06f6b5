#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every built-in function of OpenCL C is read, or declined by name (front_builtins.py says more).
set -uo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 tests/scripts/front_builtins.py "$VYRE_BUILD/vyre" "$scratch"
