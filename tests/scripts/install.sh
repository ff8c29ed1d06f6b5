#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# An installed tree is complete and works from where it was put: the command runs kernels of both
# languages, from any folder, for another user without HOME, and without the folder that it was built
# in; a C program is built and run through pkg-config, another through CMake's find_package, and C++
# can include the header. Nothing of it needs libLLVM before something is compiled, and what misses
# its compiler says so. It can be removed again.
set -euo pipefail
if nm -D "$VYRE_BUILD/libvyre.so" | grep '__[at]san_init' >/dev/null; then
  echo "a sanitized library is not one to install"
  exit 77
fi
stage=$(mktemp -d)
chmod 755 "$stage" # another user looks at it, too
trap 'rm -rf "$stage"' EXIT
prefix=$stage/usr
fail() { echo "$1" && exit 1; }
(umask 022 && DESTDIR=$stage cmake --install "$VYRE_BUILD" --prefix /usr >/dev/null)

for file in bin/vyre include/vyre/vyre.h include/vyre/extend.h include/vyre/ops.def lib/libvyre.so \
  lib/vyre/libvyre-llvm.so lib/vyre/libvyre-clang.so \
  lib/pkgconfig/vyre.pc lib/cmake/vyre/vyreConfig.cmake share/man/man1/vyre.1 \
  share/bash-completion/completions/vyre share/zsh/site-functions/_vyre \
  share/fish/vendor_completions.d/vyre.fish share/vyre/manifest \
  share/doc/vyre/{README.md,LICENSE,docs/IR.md,examples/saxpy.c,examples/saxpy.vyre}; do
  [ -e "$prefix/$file" ] || fail "$file is not installed"
done
if ldd "$prefix/lib/libvyre.so" "$prefix/bin/vyre" | grep libLLVM; then
  fail "the library loads libLLVM"
fi
# __jit_debug is how a debugger asks for code that was made at run time.
if nm -D --defined-only "$prefix/lib/libvyre.so" | awk '{ print $3 }' |
  grep -v '^vyre_\|^__jit_debug_'; then
  fail "the library exports a name that does not begin with vyre_"
fi
# A build with counters has the names of their files in it.
if ! grep -qs 'VYRE_COVERAGE:BOOL=ON' "$VYRE_BUILD/CMakeCache.txt" &&
  grep -rlF "$VYRE_BUILD" "$prefix"; then
  fail "an installed file names the build folder"
fi
for path in $(grep -o '](\([^)#]*\))' "$prefix/share/doc/vyre/README.md" | tr -d '()]'); do
  [ -e "$prefix/share/doc/vyre/$path" ] || [ -e "$prefix/$path" ] ||
    fail "the installed README.md points to $path"
done
"$prefix/bin/vyre" --version | grep -q '^vyre [0-9]'

# ---- the command, from elsewhere, with next to no environment, as another user
cat >"$stage/kernels.cl" <<'END'
kernel void saxpy(float a, global const float *x, global float *y) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
END
cp examples/saxpy.vyre "$stage"
as_other=(env -i)
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
  as_other=(setpriv --reuid 65534 --regid 65534 --clear-groups env -i)
fi
alone=()
if unshare -m true 2>/dev/null; then # nothing is where it was built
  alone=(unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$VYRE_BUILD")
fi
check_runs() { # FOLDER COMMAND...: both languages, with all that COMMAND says about it
  (cd "$1" && shift && "$@" run "$stage/saxpy.vyre" a=2 x=iota:8 y=ones:8 &&
    "$@" run "$stage/kernels.cl:saxpy" a=2 x=iota:8 y=ones:8 -g 8) >"$stage/out" 2>&1 ||
    { cat "$stage/out" && fail "$*"; }
  [ "$(grep -c 'on cpu: 8 invocations' "$stage/out")" = 2 ] &&
    [ "$(grep -c '1 3 5 7 9 11 \.' "$stage/out")" = 2 ] || { cat "$stage/out" && fail "$*"; }
}
check_runs "$stage" env -i VYRE_HOME="$stage/home" "$prefix/bin/vyre"
check_runs / "${as_other[@]}" "$prefix/bin/vyre"
grep -q 'there is no folder' "$stage/out" || fail "no word about the cache without HOME"
check_runs / "${alone[@]}" "${as_other[@]}" "$prefix/bin/vyre"

# ---- without a compiler
cp -r "$prefix" "$stage/bare"
rm -r "$stage/bare/lib/vyre"
(cd / && env -i "$stage/bare/bin/vyre" run "$stage/saxpy.vyre" a=2 x=iota:8 y=ones:8 -p y) \
  >"$stage/out" 2>"$stage/notes"
grep -q '1 *3 *5 *7 *9 *11 *13 *15$' "$stage/out" || fail "no answer without the module"
[ "$(grep -c 'note: .*interpreter .*slowly: the module .* is not there.*Fix: ' \
  "$stage/notes")" = 1 ] || { cat "$stage/notes" && fail "vyre run does not say that it is slow"; }
"$stage/bare/bin/vyre" devices cpu >"$stage/out" && fail "vyre devices shows cpu as fine"
grep -q '^cpu: not usable: the module .* is not there.*Fix: ' "$stage/out" ||
  fail "vyre devices does not say why"
"$stage/bare/bin/vyre" devices >/dev/null
"$stage/bare/bin/vyre" run "$stage/kernels.cl" a=2 x=iota:8 y=ones:8 -g 8 2>"$stage/out" &&
  fail "OpenCL C without the module"
grep -q 'Fix: ' "$stage/out" || fail "no advice about the module"

# ---- without clang's headers
clang=$(realpath /usr/lib/llvm-19/lib/clang)
if [ "${#alone[@]}" -gt 0 ]; then
  unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$clang" \
    "$prefix/bin/vyre" check "$stage/kernels.cl" 2>"$stage/out" && fail "it has no headers"
  grep -q 'headers of clang 19 .* are not there' "$stage/out" ||
    { cat "$stage/out" && fail "nothing is said about missing headers"; }
fi

# ---- the library
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
read -ra vyre <<<"$(pkg-config --cflags --libs vyre)"
cc -std=c11 -Wall -Wextra -Werror examples/saxpy.c "${vyre[@]}" -o "$stage/saxpy"
(cd / && "$stage/saxpy") | grep -q ', 0 wrong$'

cat >"$stage/main.cpp" <<'END'
#include <vyre/vyre.h>
#include <cstdio>
int main() {
  vyre_builder *b = vyre_builder_new("empty");
  vyre_program *program = nullptr;
  vyre_error error{};
  vyre_status status = vyre_builder_finish(b, &program, &error); // a program needs a region
  std::printf("%s %s\n", vyre_status_name(status), error.code);
  vyre_builder_free(b);
  return status == VYRE_ERROR_VERIFY ? 0 : 1;
}
END
c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$stage/main.cpp" "${vyre[@]}" \
  -o "$stage/cpp"
[ "$("$stage/cpp")" = "verify V060" ]

mkdir "$stage/app"
cp examples/saxpy.c "$stage/app"
cat >"$stage/app/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(app C)
find_package(vyre 0.1 REQUIRED)
add_executable(app saxpy.c)
target_link_libraries(app vyre::vyre)
END
cmake -S "$stage/app" -B "$stage/app/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
ninja -C "$stage/app/build" --quiet >/dev/null
"$stage/app/build/app" | grep -q ', 0 wrong$'

# ---- and away again; what is somebody else's stays
: >"$prefix/lib/vyre/other"
scripts/uninstall "$prefix"
[ "$(cd "$prefix" && find . -type f)" = ./lib/vyre/other ] || fail "make uninstall left something"
[ ! -e "$prefix/share" ] || fail "make uninstall left folders"

# ---- the default prefix: what README.md says works as it stands; and what the loader does not search
# is said
unset PKG_CONFIG_PATH LD_LIBRARY_PATH
if [ "$(id -u)" -eq 0 ] && [ "${#alone[@]}" -gt 0 ]; then
  # In a copy of the two folders that it changes, which nobody else sees. The rest of /usr cannot be
  # written: ldconfig removes links that lead nowhere, and all that go through the copy of /etc would
  # when somebody removes that meanwhile.
  unshare -m bash -euc '
    mount --bind /usr /usr && mount -o remount,bind,ro /usr
    mount -t tmpfs none /usr/local && mkdir "$1/etc" && cp -a /etc/. "$1/etc"
    mount --bind "$1/etc" /etc
    cmake --install "$2" --prefix /usr/local >/dev/null
    cp examples/saxpy.c "$1/app" && cd "$1/app"
    cc saxpy.c $(pkg-config --cflags --libs vyre) && ./a.out | grep -q ", 0 wrong$"
    cd - >/dev/null && scripts/uninstall /usr/local && [ -z "$(find /usr/local -type f)" ]
    ldconfig -p | grep libvyre && exit 1
    cmake --install "$2" --prefix "$1/own" 2>&1 >/dev/null | grep -q -- "-Wl,-rpath,$1/own/lib"
  ' bash "$stage" "$VYRE_BUILD" || fail "the default prefix, or one that the loader does not search"
elif [ "$(id -u)" -ne 0 ]; then
  cmake --install "$VYRE_BUILD" --prefix "$stage/own" 2>&1 >/dev/null | grep -q -- '-Wl,-rpath,' ||
    fail "nothing is said about a prefix that the loader does not search"
fi
