#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What README.md shows is what happens: its kernels, its commands, its mistake, its C code.
set -uo pipefail
PATH=$VYRE_BUILD:$PATH
readme=$PWD/README.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

sed -n '/^program saxpy/,/^}/p' "$readme" >"$work/saxpy.vyre"
diff <(tail -n +2 examples/saxpy.vyre) "$work/saxpy.vyre" ||
  { echo "README.md and examples/saxpy.vyre differ" && bad=1; }

# A shown command and what it prints: up to the end of the block.
shown() { sed -n "/^\\$ $1/,/^\`\`\`/p" "$readme" | sed '1d;$d'; }
cd "$work" || exit 1
diff <(shown "vyre run saxpy.vyre") <(vyre run saxpy.vyre a=2 x=iota:8 y=ones:8 --print y) || bad=1
sed -n '/^kernel void saxpy/,/^}/p' "$readme" >kernels.cl
diff <(shown "vyre run kernels.cl") \
  <(vyre run kernels.cl:saxpy a=2 x=iota:8 y=ones:8 --grid 8 --print y) || bad=1
sed -i 's/a \* x\[i\]/a * i/' saxpy.vyre
diff <(shown "vyre check") <(vyre check saxpy.vyre 2>&1) || bad=1

cd - >/dev/null || exit 1
while read -r line; do
  grep -qF -- "${line%%//*}" examples/saxpy.c || { echo "not in examples/saxpy.c: $line" && bad=1; }
done < <(sed -n '/^vyre_scalar params/,/^    .params/p' "$readme" | sed 's/ *\/\/.*//;/^$/d')

for path in $(grep -o '](\([^)]*\))' "$readme" | tr -d '()]'); do
  [ -e "$path" ] || { echo "README.md points to $path, which is not there" && bad=1; }
done
exit $bad
