#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The language server, asked by a scripted client: every mistake at its place, also behind characters
# that are no ASCII; types, definitions (in other files, too), symbols, layout; strange messages.
set -euo pipefail
exec python3 tests/scripts/lsp_client.py "$VYRE_BUILD/vyre"
