// SPDX-License-Identifier: MIT
//
// Squares of elements in registers, a vector for each row, that are turned: rows become columns.
// Private to the code generator.
#ifndef VYRE_BACKEND_CPU_CODEGEN_SQUARE_H
#define VYRE_BACKEND_CPU_CODEGEN_SQUARE_H

#include "backend/cpu/codegen/emit.h"

enum { MOST_SQUARE = 16 }; // rows

typedef struct square {
  const emitter *e;
  llval *rows;           // of `count` elements each
  unsigned count, block; // powers of two; elements of 128 bits, or `count` where that is less
} square;

void square_turn(square *s);
// Where a column is then.
unsigned square_column(const square *s, unsigned column);
// Two halves, or what was there (NULL: nothing) and one more.
llval square_joined(const emitter *e, llval x, llval y, unsigned x_count, unsigned y_count);

#endif
