#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The manual and the completions of the three shells know every command and every option that
# `vyre help` shows, and bash completes words as a user would expect.
set -uo pipefail
PATH=$VYRE_BUILD:$PATH
bad=0
complain() {
  echo "$1"
  bad=1
}

# "--workgroup" is written "Fl -workgroup" in the manual and "-l workgroup" for fish.
manual=docs/man/vyre.1
commands=$(vyre help | sed -n '/^usage/,/^Every/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 7 ] || complain "vyre help lists too few commands: $commands"
for command in $commands; do
  grep -q "^\.Cm $command$" $manual || complain "$manual does not know $command"
  for file in vyre.bash _vyre vyre.fish; do
    grep -qw -- "$command" "scripts/completion/$file" || complain "$file does not know $command"
  done
  [ "$command" = help ] && continue
  vyre help "$command" | grep -q '^examples:' || complain "vyre help $command has no examples"
  [ "$(vyre "$command" --help)" = "$(vyre help "$command")" ] || complain "$command --help differs"
  for option in $(vyre help "$command" | sed -n '/^options/,/^$/p' | grep -o -- '--[a-z]*'); do
    grep -q -- "Fl -${option#--}\b" $manual || complain "$manual does not know $command $option"
    grep -q -- "$option\b" scripts/completion/vyre.bash || complain "bash: $command $option"
    grep -q -- "$option\b" scripts/completion/_vyre || complain "zsh: $command $option"
    grep -q -- "-l ${option#--}\b" scripts/completion/vyre.fish || complain "fish: $command $option"
  done
done

source scripts/completion/vyre.bash
completes() { # EXPECTED WORD...: the last word is the one to complete
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _vyre 2>/dev/null
  [ "${COMPREPLY[*]}" = "$expected" ] || complain "\`$*\` completes to: ${COMPREPLY[*]}"
}
completes "convert compile conform" vyre co
completes "--workgroup" vyre run --w
completes "ref" vyre run --backend re
completes "a= x= y=" vyre run examples/saxpy.vyre ""
completes "y" vyre run examples/saxpy.vyre --print y
completes "text" vyre convert --to te
completes "opencl" vyre compile examples/saxpy.vyre --emit op
completes "examples/saxpy.vyre" vyre info examples/saxpy.vy

command -v man >/dev/null && man --warnings -E UTF-8 -l $manual 2>&1 >/dev/null | grep . && complain "$manual has warnings"
command -v zsh >/dev/null && { zsh -n scripts/completion/_vyre || complain "zsh cannot read _vyre"; }
command -v fish >/dev/null && { fish -n scripts/completion/vyre.fish || complain "fish cannot"; }
exit $bad
