#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# No foreign code: what lies in the current folder, in folders that others can write, and what the
# environment says to a process with other rights, does not choose what runs. And nothing that is no
# file in a place of vyre's makes it wait.
set -uo pipefail
if nm -D "$VYRE_BUILD/libvyre.so" | grep '__[at]san_init' >/dev/null; then
  sanitized=yes # its run-time library reads the environment itself
fi
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
export VYRE_HOME=$work/home
program=$PWD/examples/saxpy.vyre
words=(a=2 x=iota:8 y=ones:8 -p y)
fail() {
  echo "$1"
  [ -f "$work/out" ] && cat "$work/out"
  exit 1
}
saxpy() { # COMMAND...: runs the program with it, and the answer is right
  timeout 60 "$@" run "$program" "${words[@]}" >"$work/out" 2>&1 ||
    fail "$* failed with $? (124: it did not end)"
  grep -q '1 *3 *5 *7 *9 *11 *13 *15$' "$work/out" || fail "$* gave a wrong answer"
}
said() { grep -q -- "$1" "$work/out" || fail "it did not say: $1"; }
quiet() { ! grep -q 'note:' "$work/out" || fail "a note that says nothing"; }

# A module that shows that it was loaded.
mark=$work/loaded
cat >"$work/evil.c" <<END
#include <fcntl.h>
__attribute__((constructor)) static void show(void) { (void)open("$mark", O_CREAT, 0666); }
END
mkdir "$work/evil"
cc -shared -fPIC "$work/evil.c" -o "$work/evil/libvyre-llvm.so" || fail "cc"
untouched() { [ ! -e "$mark" ] || fail "foreign code was loaded: $1"; }

# ---- the current folder
mkdir "$work/here"
cp "$work/evil/libvyre-llvm.so" "$work/here"
: >"$work/here/vyre"
cd "$work/here" || exit 1
PATH=$VYRE_BUILD:$PATH saxpy vyre
untouched "from the current folder, by argv[0]"
quiet
rm vyre && mkdir vyre && mv libvyre-llvm.so vyre
PATH=$VYRE_BUILD:$PATH saxpy vyre
untouched "from a folder of that name"
quiet
(exec -a "$work/evil/vyre" "$VYRE_BUILD/vyre" run "$program" "${words[@]}") >"$work/out" 2>&1
untouched "by a made up argv[0]"
quiet
# Relative paths of the environment would mean the current folder, too.
VYRE_MODULE_PATH=vyre saxpy "$VYRE_BUILD/vyre"
untouched "by a relative VYRE_MODULE_PATH"
mkdir -p .cache/vyre
env -u VYRE_HOME -u HOME XDG_CACHE_HOME=.cache VYRE_MODULE_PATH="$VYRE_BUILD" \
  "$VYRE_BUILD/vyre" run "$program" "${words[@]}" >"$work/out" 2>&1 || fail "without HOME"
[ "$(grep -c "note: there is no folder for vyre's files" "$work/out")" -eq 1 ] ||
  fail "not said, or more than once"
[ -z "$(ls -A .cache/vyre)" ] || fail "the current folder was used as a cache"

# ---- folders that others can write
mkdir "$work/open"
cp "$work/evil/libvyre-llvm.so" "$work/open"
chmod 777 "$work/open"
VYRE_CACHE=off VYRE_MODULE_PATH=$work/open saxpy "$VYRE_BUILD/vyre"
untouched "from a folder that all can write"
said "note: .*interpreter .*slowly: .*open. is not used, because other users can write"
VYRE_MODULE_PATH=$work/open "$VYRE_BUILD/vyre" devices cpu >"$work/out"
[ $? -eq 3 ] || fail "vyre devices finds nothing wrong"
said "cpu: not usable: .*other users can write.*Fix: "
chmod 755 "$work/open" && chmod 666 "$work/open/libvyre-llvm.so"
VYRE_CACHE=off VYRE_MODULE_PATH=$work/open saxpy "$VYRE_BUILD/vyre"
untouched "from a file that all can write"

# ---- what is no file
VYRE_HOME=$work/pipes
mkdir -p "$VYRE_HOME"/{config,state,cache}
mkfifo "$VYRE_HOME/config/pgo.toml" "$VYRE_HOME/state/evidence.db" "$work/pipe"
timeout 60 "$VYRE_BUILD/vyre" run "$program" "${words[@]}" --explain >"$work/out" 2>&1 ||
  fail "a pipe as pgo.toml: $?"
said "pgo.toml. is a folder, a pipe or a device"
timeout 60 "$VYRE_BUILD/vyre" profile show >"$work/out" 2>&1
[ $? -eq 3 ] || fail "a pipe as evidence.db"
said "evidence.db. is a folder, a pipe or a device"
rm "$VYRE_HOME/config/pgo.toml" "$VYRE_HOME/state/evidence.db"
mkfifo "$VYRE_HOME/config/pgo.toml.lock"
timeout 60 "$VYRE_BUILD/vyre" certify "$program" "${words[@]:0:3}" -b ref >"$work/out" 2>&1
[ $? -eq 3 ] || fail "a pipe as a lock"
said 'cannot lock'
timeout 60 "$VYRE_BUILD/vyre" profile import "$work/pipe" >"$work/out" 2>&1
[ $? -eq 3 ] || fail "a pipe as evidence to import"

# ---- perf's map
map() { # COMMAND: makes something of the name of the map, in $map, before the program runs
  sh -c 'map=/tmp/perf-$$.map; '"$1"'; echo "$map" >map; VYRE_PERF_MAP=1 exec "$@"' sh \
    "$VYRE_BUILD/vyre" run "$program" "${words[@]}" >"$work/out" 2>&1 || fail "perf map: $1"
  map=$(cat map)
}
map true
[ -s "$map" ] && [ "$(stat -c %a "$map")" = 600 ] || fail "no map for perf"
rm "$map"
map 'ln -s "$PWD/victim" "$map"'
rm "$map"
[ ! -e victim ] || fail "the map follows a link"
: >victim
map 'ln victim "$map"'
rm "$map"
[ ! -s victim ] || fail "the map is written through another's name"
map 'mkfifo "$map"'
rm "$map"

# ---- a process with other rights
[ -z "${sanitized:-}" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "only root can make a setuid program" && exit 77
fi
mkdir "$work/setuid"
cp "$VYRE_BUILD"/{vyre,libvyre-llvm.so,libvyre-clang.so} "$work/setuid"
chmod 4755 "$work/setuid/vyre"
printf '#!/bin/sh\n: >%s\nexit 1\n' "$mark" >"$work/evil/clang"
chmod 755 "$work/evil/clang"
cp "$work/evil/clang" "$work/evil/clang-19"
cp "$program" "$work/saxpy.vyre"
printf 'kernel void f(global int *x) { x[get_global_id(0)] = 7; }\n' >"$work/f.cl"
chmod 777 "$work" # so that the mark can be made
as_nobody() {
  setpriv --reuid 65534 --regid 65534 --clear-groups env -u HOME PATH="$work/evil:$PATH" \
    VYRE_HOME="$work/nobody" VYRE_MODULE_PATH="$work/evil" VYRE_CLANG="$work/evil/clang" \
    timeout 60 "$work/setuid/vyre" "$@" >"$work/out" 2>&1
}
if ! setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null ||
  findmnt -no OPTIONS -T "$work" | grep -q nosuid; then
  echo "no setuid program can be run here" && exit 77
fi
as_nobody run "$work/saxpy.vyre" "${words[@]}" || fail "a setuid vyre"
untouched "by a setuid process, from VYRE_MODULE_PATH"
grep -q '1 *3 *5 *7 *9 *11 *13 *15$' "$work/out" || fail "a setuid vyre gave a wrong answer"
[ ! -e "$work/nobody" ] || fail "a setuid process used VYRE_HOME"
as_nobody run "$work/f.cl" x=zeros:4 -g 4 -p x
untouched "by a setuid process, from VYRE_CLANG or PATH"
as_nobody devices opencl
said "with other rights"
cp "$work/evil/clang" "$work/evil/cc"
TMPDIR=$work as_nobody run "$work/saxpy.vyre" "${words[@]}" -b c && fail "a setuid process ran cc"
untouched "by a setuid process, as the C compiler"
said "with other rights"
exit 0
