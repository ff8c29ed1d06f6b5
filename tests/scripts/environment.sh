#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The manual names every variable of the environment that the sources ask for, and no other one of
# vyre's own.
set -uo pipefail
bad=0
asked=$(grep -rhoE '(environment_get|environment_is|environment_get_absolute|getenv)\("[A-Z_]+"' src |
  grep -oE '[A-Z_]{2,}' | sort -u)
# Names that stand in a table or behind a macro; those of tunables are no variables.
asked="$asked $(grep -rhoE '"(VYRE|XDG)_[A-Z_]+"' src --exclude=tunables.c | tr -d '"' | sort -u)"
[ "$(wc -w <<<"$asked")" -ge 12 ] || { echo "found too few: $asked" && exit 1; }
named=$(sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh EXIT/s/^\.It Ev \(.*\)/\1/p' docs/man/vyre.1 | tr ' ,' '\n\n')
for name in $(tr ' ' '\n' <<<"$asked" | sort -u); do
  grep -qx "$name" <<<"$named" || { echo "docs/man/vyre.1 does not name $name" && bad=1; }
done
for name in $named; do
  grep -qw "$name" <<<"$asked" || { echo "docs/man/vyre.1 names $name, which nobody asks for" && bad=1; }
done
exit $bad
