// SPDX-License-Identifier: MIT
//
// Where clang keeps the headers that are part of the language (opencl-c-base.h). libclang guesses
// it from the name under which it was loaded, which is wrong where distributions link to it from
// elsewhere; so it is told.
#ifndef VYRE_FRONT_CLANG_RESOURCE_H
#define VYRE_FRONT_CLANG_RESOURCE_H

#include "front/clang/unit.h"

// The folder, for -resource-dir; in the unit's memory. Ends the reading when there is none.
const char *resource_folder(unit *u);
// The header in it that every source begins with.
const char *resource_header(unit *u);

#endif
