// SPDX-License-Identifier: MIT
//
// The parts of vyre that need a compiler are shared modules of their own, opened on first use. They
// are looked for beside the library (a build tree), in ../lib/vyre and vyre/ next to it (an
// installed tree), or in VYRE_MODULE_PATH. A module is never closed: LLVM cannot be unloaded
// safely.
#ifndef VYRE_BASE_MODULE_H
#define VYRE_BASE_MODULE_H

#include <vyre/vyre.h>

// Finds `symbol` in the module `file` ("libvyre-llvm.so"). Any thread.
vyre_status module_find(const char *file, const char *symbol, const void **out, vyre_error *error);

#endif
