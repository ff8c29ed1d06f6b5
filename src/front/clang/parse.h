// SPDX-License-Identifier: MIT
//
// libclang on the preprocessed text, and clang's own messages as vyre's.
#ifndef VYRE_FRONT_CLANG_PARSE_H
#define VYRE_FRONT_CLANG_PARSE_H

#include "front/clang/unit.h"

// Preprocesses and parses: as OpenCL C 1.2, then as 2.0 unless the user chose a standard. Ends the
// reading with clang's first error when there is one.
void parse_source(unit *u, const char *build_options);

#endif
