#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Messages have colour on a terminal, none where NO_COLOR is set, and none in a file.
set -uo pipefail
PATH=$VYRE_BUILD:$PATH
script -qec true /dev/null >/dev/null 2>&1 || { echo "there is no pseudo-terminal here" && exit 77; }
escape=$(printf '\033')
wrong=tests/golden/cli/check-wrong.vyre
has_color() { grep "$escape" >/dev/null <<<"$1"; }
on_terminal() { script -qec "$1" /dev/null; }

has_color "$(on_terminal "env -u NO_COLOR TERM=xterm vyre check $wrong")" ||
  { echo "no colour on a terminal" && exit 1; }
has_color "$(on_terminal "env NO_COLOR=1 TERM=xterm vyre check $wrong")" &&
  { echo "colour in spite of NO_COLOR" && exit 1; }
has_color "$(on_terminal "env -u NO_COLOR TERM=dumb vyre check $wrong")" &&
  { echo "colour on a dumb terminal" && exit 1; }
has_color "$(env -u NO_COLOR vyre check $wrong 2>&1)" && { echo "colour in a pipe" && exit 1; }
exit 0
