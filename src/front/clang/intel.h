// SPDX-License-Identifier: MIT
//
// Intel's functions of subgroups, which clang's own table of built-in functions does not have.
#ifndef VYRE_FRONT_CLANG_INTEL_H
#define VYRE_FRONT_CLANG_INTEL_H

#include "front/clang/unit.h"

// The macros that say that they are there, as options of clang; ends with NULL.
extern const char *const intel_macros[];
// Their declarations in OpenCL C, where the preprocessed source mentions one; "" otherwise.
const char *intel_declarations(const unit *u);

#endif
