// SPDX-License-Identifier: MIT
//
// A text that an editor has open: what is wrong with it, and where its names are declared and used.
// Positions are those of the language server protocol: lines and UTF-16 units from 0. One thread.
#ifndef VYRE_CLI_LSP_DOCUMENT_H
#define VYRE_CLI_LSP_DOCUMENT_H

#include "base/vec.h"
#include "ir/text_check.h"

#include <jansson.h>

typedef struct document_mark {
  text_mark mark;
  char *file; // of its declaration, when that is another one
} document_mark;

typedef struct document {
  char *uri, *path, *text;
  size_t size;
  const char *language;
  bool is_text; // in the text form
  vec(document_mark) marks;
  json_t *diagnostics;
} document;

// NULL when out of memory.
document *document_new(const char *uri, const char *text, size_t size);
void document_free(document *d);
// Reads the text again: diagnostics and marks are of it from then on.
bool document_set_text(document *d, const char *text, size_t size);

size_t document_offset(const document *d, size_t line, size_t character);
json_t *document_range(const document *d, size_t begin, size_t end);
// The name that stands at an offset, or NULL.
const document_mark *document_find(const document *d, size_t offset);

#endif
