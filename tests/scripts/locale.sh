# SPDX-License-Identifier: MIT
#
# Nothing depends on the locale: no source uses a function that does, but for the two files that
# set the C locale around it; and the command says the same under another locale.
set -euo pipefail
depends='strto(d|f|ld)|strto(d|f)_l|ato(f|ld)|is(alpha|alnum|digit|xdigit|space|print|punct|graph|'
depends+='cntrl|blank|upper|lower)|to(upper|lower)|str(n)?casecmp|strcoll|strxfrm|strerror(_r|_l)?|'
depends+='setlocale|uselocale|newlocale|localeconv|nl_langinfo|[fv]?w?printf_l|(mb|wc)s?r?to[a-z]+'
found=$(grep -rnE "\b($depends)\(|<(ctype|wctype|wchar|langinfo)\.h>" src --include='*.[ch]' |
  grep -vE '^src/base/(format|decimal)\.[ch]:' || true)
# A fraction that is printed by the system's own function, on one line or several.
fraction='%[-+ #0-9.*]*l?[aAeEfFgG]'
call="\\b(f|s|sn|d|v|vf|vs|vsn)?printf\\([^;]*(?<!\\\\)\"[^\";]*$fraction[^;]*;"
for file in $(grep -rlE "\"[^\"]*$fraction" src --include='*.[ch]'); do
  [ "$file" = src/base/decimal.c ] && continue
  found+=$({ sed 's|//.*||' "$file" | grep -Pzo "$call" || true; } | tr '\0' '\n' | sed "s|^|$file: |")
done
if [ -n "$found" ]; then
  echo "depends on the locale; use base/format.h, base/decimal.h or base/ascii.h:"
  echo "$found"
  exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! localedef -i de_DE -f ISO-8859-1 --no-archive "$scratch/de_DE" 2>/dev/null; then
  echo "no locale with a comma can be made here: the package \`locales\` is not installed"
  exit 77
fi
export VYRE_HOME=$scratch/home
say() { # LOCALE: what the command says, without what differs from run to run
  local vyre=$VYRE_BUILD/vyre
  LOCPATH=$scratch LC_ALL=$1 "$vyre" run examples/saxpy.vyre a=2.5 x=iota:4 y=fill:0.25:4 \
    --print y --backend cpu --out y="$scratch/$1.npy"
  LOCPATH=$scratch LC_ALL=$1 "$vyre" run examples/saxpy.vyre a=2.5 x=iota:4 y=fill:0.25:4 \
    --print y --backend ref --json
  LOCPATH=$scratch LC_ALL=$1 "$vyre" fmt examples/mandelbrot.vyre
  LOCPATH=$scratch LC_ALL=$1 "$vyre" compile --emit=opencl examples/mandelbrot.vyre
  LOCPATH=$scratch LC_ALL=$1 "$vyre" run no-such-file.vyre 2>&1 || true
}
clean() { sed -E 's/[0-9.]+ (ns|us|ms|s)\b/TIME/g; s/"[a-z_]*_ns": [0-9]+/"NS": 0/g; s/[^ ]*\.npy//'; }
say C | clean >"$scratch/c"
say de_DE | clean >"$scratch/de"
diff "$scratch/c" "$scratch/de"
cmp "$scratch/C.npy" "$scratch/de_DE.npy"
