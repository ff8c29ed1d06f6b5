// SPDX-License-Identifier: MIT
//
// Tunables that a source declares in comments, for languages that have none of their own:
//   // vyre tunable TILE in 4, 8, 16, 32 where TILE * TILE <= 1024
// Each is a macro. Texts are borrowed from the source. Pure functions: any thread.
#ifndef VYRE_FRONT_DECLARED_H
#define VYRE_FRONT_DECLARED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text_piece {
  const char *at;
  size_t size;
} text_piece;

text_piece text_piece_trim(const char *at, size_t size);

typedef struct declared_tunable {
  text_piece line, name, values, where; // the last is empty where nothing is asked of it
  bool is_whole;                        // false: the line is no declaration, but was meant to be
} declared_tunable;

// The next one of what is left of a source, which becomes shorter. False: there is none.
bool declared_next(text_piece *rest, declared_tunable *out);
bool declared_has_any(const char *text, size_t size);

#endif
