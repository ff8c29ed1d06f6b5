// SPDX-License-Identifier: MIT
//
// The parts of vyre that need a compiler are shared modules of their own, opened on first use. They
// are looked for in VYRE_MODULE_PATH (an absolute path), beside the library (a build tree), and in
// vyre/ or ../lib/vyre next to it (an installed tree). One that others could have put there, or
// could write, is refused (see trust.h). A module is never closed: LLVM cannot be unloaded safely.
// Any thread.
#ifndef VYRE_BASE_MODULE_H
#define VYRE_BASE_MODULE_H

#include <vyre/vyre.h>

// Finds `symbol` in the module `file` ("libvyre-llvm.so").
vyre_status module_find(const char *file, const char *symbol, const void **out, vyre_error *error);

// Whether the module is there and may be opened, without opening it.
vyre_status module_check(const char *file, vyre_error *error);

// Which build of the module there is, without opening it: changes with its size and time. 0 when
// there is none.
uint64_t module_stamp(const char *file);

#endif
