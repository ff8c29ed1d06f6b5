#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A pass and a backend from outside of the tree are built against the installed tree alone, in C and
# as C++ would see the header, and run: registered, verified, selected, examined.
set -euo pipefail
if nm -D "$VYRE_BUILD/libvyre.so" | grep '__[at]san_init' >/dev/null; then
  echo "a sanitized library is not one to install"
  exit 77
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
prefix=$stage/usr
export VYRE_HOME=$stage/home
DESTDIR=$stage cmake --install "$VYRE_BUILD" --prefix /usr >/dev/null
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
read -ra vyre <<<"$(pkg-config --cflags --libs vyre)"

for name in pass backend; do
  cc -std=c11 -Wall -Wextra -Wpedantic -Werror "examples/extend/$name.c" "${vyre[@]}" \
    -o "$stage/$name"
  "$stage/$name" >"$stage/$name.out" || { cat "$stage/$name.out" && exit 1; }
done
grep -q '^1 change, x = 7 7 7 7$' "$stage/pass.out"
grep -q '^examined: same bits as the reference$' "$stage/backend.out"
grep -q '^x = 3 7 11 15$' "$stage/backend.out"

printf '#include <vyre/extend.h>\nint main() { return VYRE_EXTEND_VERSION - 1; }\n' >"$stage/main.cpp"
c++ -std=c++20 -Wall -Wextra -Wpedantic -Werror "$stage/main.cpp" "${vyre[@]}" -o "$stage/cpp"
"$stage/cpp"
