# SPDX-License-Identifier: MIT
#
# Completion of `vyre` for bash: commands, options, files, backends, and the names of a program's
# parameters and buffers.

# The names that a program takes, one per line.
_vyre_names() {
  vyre info "${1%%:*}" 2>/dev/null |
    awk '/^(parameters|buffers)$/ { on = 1; next } /^$/ { on = 0 } on && !/ transient/ { print $1 }'
}

_vyre_program() { # the first word after the command that is neither an option nor NAME=SPEC
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    -*) ;;
    *) [ -f "${COMP_WORDS[i]}" ] && echo "${COMP_WORDS[i]}" && return ;;
    esac
  done
}

_vyre() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  local options program
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "check fmt info convert opt compile run devices conform certify tune explain profile report bench cache lsp help --version --help --json" -- "$word")
    return
  fi
  case $command in
  check) options="--quiet --workgroup --language" ;;
  fmt) options="--write --check" ;;
  info) options="--workgroup --language" ;;
  convert) options="--output --to --workgroup --language" ;;
  opt) options="--passes --profile --everything --learned --report --dump-after --stop-after --list --output --workgroup --language" ;;
  compile) options="--emit --list --no-opt --output --width --quick --polled --remarks --lines --workgroup --language" ;;
  conform) options="--backend --device --seed --count --seconds --suite --shrink --replay --out" ;;
  certify) options="--backend --default --rounds --grid --language --dry-run" ;;
  tune) options="--backend --again --rounds --grid --language --dry-run --tunable --where --space --workgroup --strategy --evaluations --seconds --seed --results --report --replay --prior --seeds" ;;
  profile) options="--yes --machine --reader" ;;
  lsp) options="--stdio" ;;
  run) options="--print --out --grid --workgroup --backend --repeat --steps --swap --checkpoint --every --resume --explain --alone --check --timeout --fuel --threads --language" ;;
  report) options="--output --no-measure" ;;
  bench) options="--grid --backend --rounds --save --compare --language" ;;
  *) options="" ;;
  esac
  case $before in
  -b | --backend | --default)
    mapfile -t COMPREPLY < <(compgen -W "$(vyre devices 2>/dev/null | sed -n 's/^\([a-z]*\):.*/\1/p')" -- "$word")
    return
    ;;
  -f | --profile)
    mapfile -t COMPREPLY < <(compgen -W "release dataflow megakernel" -- "$word")
    return
    ;;
  --passes | --dump-after)
    mapfile -t COMPREPLY < <(compgen -W "$(vyre opt --list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$word")
    return
    ;;
  -e | --emit)
    mapfile -t COMPREPLY < <(compgen -W "$(vyre compile --list 2>/dev/null | awk '{ print $1 }')" -- "$word")
    return
    ;;
  --language)
    mapfile -t COMPREPLY < <(compgen -W "text wire opencl" -- "$word")
    return
    ;;
  --suite)
    mapfile -t COMPREPLY < <(compgen -W "rows math programs random" -- "$word")
    return
    ;;
  -t | --to)
    mapfile -t COMPREPLY < <(compgen -W "text wire" -- "$word")
    return
    ;;
  -p | --print)
    mapfile -t COMPREPLY < <(compgen -W "$(_vyre_names "$(_vyre_program)")" -- "$word")
    return
    ;;
  esac
  case $command:$word in
  *:-*) mapfile -t COMPREPLY < <(compgen -W "$options --json --help" -- "$word") ;;
  help:*) mapfile -t COMPREPLY < <(compgen -W "check fmt info convert opt compile run devices conform certify tune explain profile report bench cache lsp" -- "$word") ;;
  devices:*) mapfile -t COMPREPLY < <(compgen -W "$(vyre devices 2>/dev/null | sed -n 's/^\([a-z]*\):.*/\1/p')" -- "$word") ;;
  profile:*)
    if [ "$COMP_CWORD" -eq 2 ]; then
      mapfile -t COMPREPLY < <(compgen -W "show export import merge clear sync server" -- "$word")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
    ;;
  cache:*) mapfile -t COMPREPLY < <(compgen -W "show clear" -- "$word") ;;
  run:* | certify:* | tune:*)
    program=$(_vyre_program)
    if [ -n "$program" ]; then
      compopt -o nospace 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -S = -W "$(_vyre_names "$program")" -- "$word")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
    ;;
  *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}

complete -o filenames -F _vyre vyre
