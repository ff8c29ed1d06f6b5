#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The Debian packages: each has its part and nobody needs development files of LLVM at run time; unpacked
# below another root the command runs kernels of both languages, a program is built against the
# development package, and the driver's file names the driver. lintian, where it is, has no errors.
set -euo pipefail
command -v dpkg-shlibdeps >/dev/null || { echo "there is no dpkg-dev"; exit 77; }
if nm -D "$VYRE_BUILD/libvyre.so" | grep '__[at]san_init\|__gcov' >/dev/null; then
  echo "this build is not one to package"
  exit 77
fi
fail() { echo "$1" && exit 1; }
DEB_QUICK=1 scripts/make-deb "$VYRE_BUILD" "$TMPDIR/deb" >/dev/null
version=$(scripts/version)-1_$(dpkg --print-architecture)
root=$TMPDIR/root
for package in libvyre0 libvyre-dev vyre vyre-opencl-icd; do
  file=$TMPDIR/deb/${package}_$version.deb
  [ -e "$file" ] || fail "there is no $file"
  dpkg-deb -x "$file" "$root"
  [ "$package" = libvyre-dev ] || ! dpkg-deb -f "$file" Depends | grep -e '-dev' || fail "$package depends on that"
done
# The module holds LLVM, or it needs the package that does; what else it needs is a package, too.
needed=libstdc++6
[ -e "$root/usr/lib/vyre/libvyre-llvm.so" ] || fail "libvyre0 has no code generator"
objdump -p "$root/usr/lib/vyre/libvyre-llvm.so" | grep 'NEEDED.*libLLVM' >/dev/null && needed=libllvm
dpkg-deb -f "$TMPDIR/deb/libvyre0_$version.deb" Depends | grep -F "$needed" >/dev/null || fail "libvyre0 does not depend on $needed"
dpkg-deb -I "$TMPDIR/deb/libvyre0_$version.deb" triggers | grep ldconfig >/dev/null || fail "nothing runs ldconfig"
[ "$(dpkg-deb -c "$TMPDIR/deb/libvyre0_$version.deb" | grep -c 'include\|bin/')" = 0 ] || fail "libvyre0 has too much"
grep -q "^/usr/lib/libvyre-opencl.so$" "$root/etc/OpenCL/vendors/vyre.icd" || fail "vyre.icd names no driver"

mkdir "$TMPDIR/elsewhere" && cp examples/saxpy.vyre "$TMPDIR/elsewhere" && cd "$TMPDIR/elsewhere"
printf 'kernel void one(global float *y) { y[get_global_id(0)] = 1; }\n' >one.cl
env -i "$root/usr/bin/vyre" run saxpy.vyre a=2 x=iota:4 y=ones:4 --print y -b cpu | grep -q '1  *3  *5  *7' ||
  fail "the command does not run a program"
env -i "$root/usr/bin/vyre" run one.cl y=zeros:2 --grid 2 --print y -b cpu | grep -q '1  *1' || fail "it does not run OpenCL C"
printf '#include <vyre/vyre.h>\n#include <stdio.h>\nint main(void) { puts(vyre_version()); }\n' >main.c
flags=$(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --cflags --libs vyre)
cc main.c -o main -I"$root/usr/include" -L"$root/usr/lib" $flags
LD_LIBRARY_PATH=$root/usr/lib ./main | grep -q . || fail "a program does not run"
command -v lintian >/dev/null || exit 0
if lintian --fail-on error "$TMPDIR"/deb/*.deb 2>/dev/null | grep '^E:'; then fail "lintian has errors"; fi
