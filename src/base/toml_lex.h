// SPDX-License-Identifier: MIT
//
// The characters of TOML: white space, comments, strings, and errors with their place. Private to
// the TOML parser. One thread at a time.
#ifndef VYRE_BASE_TOML_LEX_H
#define VYRE_BASE_TOML_LEX_H

#include "base/toml.h"

typedef struct toml_lexer {
  arena *memory;
  const char *file, *text, *end, *p;
  uint32_t line;
  vyre_status status; // of the last fault
  vyre_error *error;  // never NULL
} toml_lexer;

// Both return false, so that `return toml_lex_fail(...)` reads well.
bool toml_lex_fail(toml_lexer *s, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool toml_lex_no_memory(toml_lexer *s);

// The next byte, or -1 at the end.
static inline int toml_lex_peek(const toml_lexer *s) {
  return s->p < s->end ? (unsigned char)*s->p : -1;
}
bool toml_lex_is_bare(int c); // may stand in a key without quotes
bool toml_lex_starts_with(const toml_lexer *s, const char *word);
bool toml_lex_at_newline(const toml_lexer *s);
void toml_lex_skip_blanks(toml_lexer *s);
bool toml_lex_skip_comment(toml_lexer *s);
// Blanks, comments and newlines, as between the elements of an array.
bool toml_lex_skip_space(toml_lexer *s);
// Any of the four kinds; a key may not be a long string. The result is in the arena.
bool toml_lex_string(toml_lexer *s, bool is_key, const char **out, size_t *size);

#endif
