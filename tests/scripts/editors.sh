#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The editor files know the words of the language: their lists are what its tables give, JSON is JSON,
# Oniguruma, which VS Code reads grammars with, takes every pattern and finds the words, and vim, where it
# is installed, colours an example and indents it as `vyre fmt` lays it out.
set -euo pipefail
python3 scripts/editor-files --check
for file in editors/vscode/*.json editors/vscode/syntaxes/*.json; do
  python3 -m json.tool "$file" >/dev/null || { echo "$file is no JSON"; exit 1; }
done
python3 tests/scripts/grammar_check.py editors/vscode/syntaxes/vyre.tmLanguage.json examples/*.vyre \
  tests/golden/text/*.vyre || [ $? = 77 ]
command -v vim >/dev/null || { echo "there is no vim"; exit 77; }
vim --version | grep -q '+eval' || { echo "this vim has no scripts"; exit 77; }
for file in mandelbrot matmul nbody; do
  sed 's/^ *//' "examples/$file.vyre" >"$TMPDIR/$file.vyre"
  vim -es -u NONE -i NONE -N --cmd "set rtp^=$PWD/editors/vim" -c 'filetype plugin indent on | syntax on' \
    -c 'edit!' -c "set ft=vyre" -c 'normal gg=G' \
    -c "call writefile([synIDattr(synID(search('^program'), 1, 0), 'name')], '$TMPDIR/colour')" -c 'wq!' \
    "$TMPDIR/$file.vyre" || true
  diff "examples/$file.vyre" "$TMPDIR/$file.vyre" || { echo "vim indents $file in another way"; exit 1; }
  grep -q vyreKeyword "$TMPDIR/colour" || { echo "vim does not colour $file: $(cat "$TMPDIR/colour")"; exit 1; }
done
