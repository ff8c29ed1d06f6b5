// SPDX-License-Identifier: MIT
//
// libclang on the preprocessed text, and clang's own messages as vyre's.
#ifndef VYRE_FRONT_CLANG_PARSE_H
#define VYRE_FRONT_CLANG_PARSE_H

#include "front/clang/unit.h"

// Preprocesses and parses: as OpenCL C 1.2, 2.0 and 3.0 in turn unless the user chose one. Ends the
// reading with an error of clang when all refuse it.
void parse_source(unit *u, const char *build_options);
// An empty source, as clang would preprocess it with these options, with a record of its macros;
// NULL when that fails.
CXTranslationUnit parse_nothing(unit *u);

#endif
