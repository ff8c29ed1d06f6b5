#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A newcomer with the installed README and nothing else: a fresh folder, an installed prefix, no HOME,
# next to no environment. Every file it shows is typed in, every command it shows is run as it stands
# and prints what is shown, the C program is built as it says; and what the first page of help names
# works.
set -uo pipefail
if nm -D "$VYRE_BUILD/libvyre.so" | grep '__[at]san_init' >/dev/null; then
  echo "a sanitized library is not one to install"
  exit 77
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
(umask 022 && cmake --install "$VYRE_BUILD" --prefix "$stage/usr" >/dev/null) || exit 1
mkdir "$stage/work"
cat >"$stage/follow.py" <<'PY'
import re, subprocess, sys
readme = open(sys.argv[1], encoding="utf-8").read()
bad, commands = 0, 0
blocks = [(m.group(2), readme[:m.start()].rstrip().splitlines()[-1])
          for m in re.finditer(r"^```(\w*)\n(.*?)^```", readme, re.S | re.M)]
for text, before in blocks:
    name = re.search(r"`([\w.]+\.(?:vyre|cl))`:$", before)
    if name:  # a file that is shown
        open(name.group(1), "w").write(text)
        continue
    if not text.startswith("$ "): continue
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not line.startswith("$ vyre "): continue
        shown = []
        for following in lines[i + 1:]:
            if following.startswith("$ "): break
            shown.append(following)
        if "vyre check saxpy" in line:  # "With `a * i` instead of `a * x[i]`"
            source = open("saxpy.vyre").read()
            open("saxpy.vyre", "w").write(source.replace("a * x[i]", "a * i"))
        made = subprocess.run(line[2:], shell=True, capture_output=True, text=True)
        commands += 1
        lines_said = (made.stdout + made.stderr).splitlines()
        said = "\n".join(l for l in lines_said if not l.startswith("vyre: note: "))  # no HOME
        if "..." in "\n".join(shown) or re.search(r"\d (us|ms|ns|s)\b", "\n".join(shown)):
            ok = made.returncode == 0  # figures of another machine
        else:
            ok = said == "\n".join(shown)
        if "vyre check saxpy" in line: open("saxpy.vyre", "w").write(source)
        if not ok:
            bad = 1
            print(line, "\nshown:\n" + "\n".join(shown), "\nprinted:\n" + said)
if commands < 3: sys.exit("the README shows only %d commands" % commands)
sys.exit(bad)
PY
bare=(env -i "PATH=$stage/usr/bin:/usr/bin:/bin" "TMPDIR=$stage" "PKG_CONFIG_PATH=$stage/usr/lib/pkgconfig"
  "LD_LIBRARY_PATH=$stage/usr/lib" "XDG_CACHE_HOME=$stage/cache")
cd "$stage/work" || exit 1
"${bare[@]}" python3 "$stage/follow.py" "$stage/usr/share/doc/vyre/README.md" || exit 1
cp "$stage/usr/share/doc/vyre/examples/"{saxpy,heat,kmeans}.c .
for name in saxpy heat kmeans; do
  # shellcheck disable=SC2016
  "${bare[@]}" sh -c 'cc '$name'.c $(pkg-config --cflags --libs vyre) -o a.out && ./a.out' >out 2>&1 ||
    { echo "$name.c:" && cat out && exit 1; }
done
"${bare[@]}" vyre >/dev/null 2>&1
[ $? = 2 ] || { echo "vyre alone does not show how it is used" && exit 1; }
for command in $("${bare[@]}" vyre help | sed -n '/^usage/,/^Every/s/^  \([a-z]*\) .*/\1/p'); do
  [ "$command" = help ] || "${bare[@]}" vyre help "$command" >/dev/null || { echo "help $command" && exit 1; }
done
"${bare[@]}" vyre run "$stage/usr/share/doc/vyre/examples/dot.vyre" x=rand:1Ki y=rand:1Ki:2 partial=zeros:3 \
  --check >out 2>&1
[ $? = 4 ] && grep -q 'store outside: partial\[3\]' out || { cat out && exit 1; }
exit 0
