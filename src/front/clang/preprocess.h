// SPDX-License-Identifier: MIT
//
// Preprocesses the source: libclang cannot, and places inside of macros are of no use to a reader
// of expressions. What pp.h gives up on goes to `clang-19 -E`, a child that gets no shell, a time
// limit and a limit on what it writes.
#ifndef VYRE_FRONT_CLANG_PREPROCESS_H
#define VYRE_FRONT_CLANG_PREPROCESS_H

#include "front/clang/unit.h"

// Splits "-DN=4 -I dir" into u->user_args and picks the standard; refuses what is not understood.
void preprocess_options(unit *u, const char *build_options);
// -D__OPENCL_VERSION__= of the standard.
const char *preprocess_version(unit *u);
// Removes the names of features and extensions that clang declares and nothing here has.
extern const char preprocess_absent[];
// The folder of the source, where includes in quotes are looked for.
const char *preprocess_folder(unit *u);
// Fills u->text and the map of its lines. False when clang found mistakes in the source; `*said`
// is then what it wrote first. With -fpreprocessed the text is the source.
bool preprocess(unit *u, const char **said);

#endif
