#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# An installed tree is complete and works from where it was put: the command runs, a C program is
# built and run through pkg-config, another through CMake's find_package, and C++ can include the
# header. Nothing of it needs libLLVM.
set -euo pipefail
if nm -D "$VYRE_BUILD/libvyre.so" | grep '__[at]san_init' >/dev/null; then
  echo "a sanitized library is not one to install"
  exit 77
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
prefix=$stage/usr
DESTDIR=$stage cmake --install "$VYRE_BUILD" --prefix /usr >/dev/null

for file in bin/vyre include/vyre/vyre.h include/vyre/ops.def lib/libvyre.so \
  lib/pkgconfig/vyre.pc lib/cmake/vyre/vyreConfig.cmake share/man/man1/vyre.1 \
  share/bash-completion/completions/vyre share/zsh/site-functions/_vyre \
  share/fish/vendor_completions.d/vyre.fish; do
  [ -e "$prefix/$file" ] || { echo "$file is not installed" && exit 1; }
done
if ldd "$prefix/lib/libvyre.so" "$prefix/bin/vyre" | grep libLLVM; then
  echo "the library loads libLLVM" && exit 1
fi
# __jit_debug is how a debugger asks for code that was made at run time.
if nm -D --defined-only "$prefix/lib/libvyre.so" | awk '{ print $3 }' |
  grep -v '^vyre_\|^__jit_debug_'; then
  echo "the library exports a name that does not begin with vyre_" && exit 1
fi
"$prefix/bin/vyre" --version | grep -q '^vyre [0-9]'

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
read -ra vyre <<<"$(pkg-config --cflags --libs vyre)"
cc -std=c11 -Wall -Wextra -Werror examples/saxpy.c "${vyre[@]}" -o "$stage/saxpy"
"$stage/saxpy" | grep -q ', 0 wrong$'

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
