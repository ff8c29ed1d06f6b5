// SPDX-License-Identifier: MIT
//
// From places of the preprocessed text back to the user's files. A macro use has one place: its
// name in the user's line.
#ifndef VYRE_FRONT_CLANG_SOURCE_H
#define VYRE_FRONT_CLANG_SOURCE_H

#include "front/clang/unit.h"

// Reads the line markers of u->text.
void source_map(unit *u);

typedef struct source_spot {
  const char *file;
  uint32_t line, column; // 1-based; the column is in the user's line
  uint32_t offset;       // in the user's text; NO_PLACE when it is in another file
} source_spot;

source_spot source_find(const unit *u, uint32_t offset);
// Adds file, line, column and excerpt to u->error.
void source_place_error(unit *u, uint32_t offset);
// The same for a place that clang gave: `file` is as clang spells it.
void source_place_line(unit *u, const char *file, uint32_t line, uint32_t column);

#endif
