#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The house is in order: folders include only what docs/ARCHITECTURE.md draws above them, the library
# exports the names of its public headers and no others, every function is used outside of its file
# or is static, what a file exports is declared in a header, backends are named in their own folders
# only, and no file is too long to read.
set -uo pipefail
bad=0
complain() {
  echo "$*"
  bad=1
}

# The order of inclusion.
order=$(sed -n 's/^| `src\/\([a-z]*\)\/` |.*/\1/p' docs/ARCHITECTURE.md)
[ "$(wc -w <<<"$order")" -ge 10 ] || complain "docs/ARCHITECTURE.md lists too few folders: $order"
upwards=$(grep -rnE '^#include "[a-z]+/' src | awk -F'[/:"]' -v order="$(tr '\n' ' ' <<<"$order")" '
  BEGIN { n = split(order, names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i }
  {
    from = $2
    match($0, /#include "[a-z]+/)
    to = substr($0, RSTART + 10, RLENGTH - 10)
    if (!rank[from]) print "src/" from " is not in the table: " $0
    else if (!rank[to]) print "src/" to " is not in the table: " $0
    else if (rank[to] > rank[from]) print $0
  }')
[ -z "$upwards" ] || complain "$upwards"$'\n'"a folder includes what stands below it. Fix: see the table in docs/ARCHITECTURE.md"

# What the library exports. __jit_debug is how a debugger asks for code that was made at run time.
public=$(grep -ohE 'vyre_[a-z0-9_]+\(' include/vyre/*.h | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$VYRE_BUILD/libvyre.so" | awk '$2 ~ /[TDBR]/ { print $3 }' |
  grep -v '^__jit_debug_\|^__[at]san\|^_*[a-z]*san_' | sort -u)
foreign=$(grep -v '^vyre_' <<<"$exported")
[ -z "$foreign" ] || complain "the library exports names that are not its own:" $foreign
unknown=$(comm -13 <(echo "$public") <(grep '^vyre_' <<<"$exported"))
[ -z "$unknown" ] || complain "exported, but in no public header:" $unknown

# What nobody uses, or only its own file. Objects of files that are gone do not count.
objects=$(grep -o ' -o [^ ]*\.o' "$VYRE_BUILD/compile_commands.json" | cut -c5- |
  sed "s|^|$VYRE_BUILD/|" | while read -r o; do [ -e "$o" ] && echo "$o"; done)
[ "$(wc -w <<<"$objects")" -ge 200 ] || complain "found too few objects below $VYRE_BUILD"
unused=$(xargs nm -A 2>/dev/null <<<"$objects" | awk '
  { split($1, at, ".o:"); file = at[1] }
  $(NF - 1) == "U" { used[$NF] = 1 }
  $(NF - 1) == "T" && file ~ /\/src\// && $NF !~ /^(vyre_|main$|cl[A-Z])/ {
    sub(/.*\/src\//, "src/", file)
    where[$NF] = file
  }
  END { for (name in where) if (!used[name]) print where[name] ": " name }' | sort)
tables=$(cat src/*/*.def src/*/*/*.def)
while IFS=': ' read -r file name; do
  [ -n "$name" ] || continue
  grep -qw "$name" <<<"$tables" && continue # a row of a table, which its own file expands
  if [ "$(grep -cw "$name" "$file")" -lt 2 ]; then
    complain "$file: nothing uses $name. Fix: remove it"
  elif ! [[ $file =~ ^src/(backend/|runtime/|analysis/stretch) ]]; then
    # Elsewhere a header shows more than others need: a calculus that is whole, parts of an emitter.
    complain "$file: nothing outside of it uses $name. Fix: make it static"
  fi
done <<<"$unused"

# A prototype in a .c file hides from the compiler that the header lacks it.
hidden=$(grep -rnE '^(extern .*|[a-z_][a-z0-9_ ]* \**[a-z0-9_]+\(.*\));$' src --include='*.c' |
  grep -vE ':(static|typedef|return|extern VYRE_API)|= ')
[ -z "$hidden" ] || complain "$hidden"$'\n'"declared in a .c file. Fix: include its header"

# Backends are asked for by what they are (backend_usual, backend_oracle), not by name. The OpenCL
# driver says which of them are its devices.
ids=$(sed -n 's/^ *\.id = "\([a-z]*\)",$/\1/p' src/backend/*/*.c | sort -u)
[ "$(wc -w <<<"$ids")" -ge 3 ] || complain "found too few backends: $ids"
for id in $ids; do
  named=$(grep -rn "\"$id\"" src --include='*.[ch]' |
    grep -v "^src/backend/$id/\|^src/front/\|^src/icd/\|^src/[a-z_/]*\.[ch]:[0-9]*: *//\|id; *// \|__asm__")
  [ -z "$named" ] || complain "$named"$'\n'"a backend is named outside of its folder. Fix: ask backend/backend.h"
done

# Files stay readable.
long=$(git ls-files '*.[ch]' '*.def' '*.sh' | xargs wc -l | awk '$2 != "total" && $1 >= 1000')
[ -z "$long" ] || complain "$long"$'\n'"a file is split before it has 1000 lines"
exit $bad
