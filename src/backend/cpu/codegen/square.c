// SPDX-License-Identifier: MIT
#include "backend/cpu/codegen/square.h"

static llval shuffle(const square *s, llval x, llval y, const unsigned *from) {
  llval lanes[MOST_SQUARE];
  for (unsigned i = 0; i < s->count; i++) lanes[i] = LLVMConstInt(s->e->u->i32, from[i], false);
  return LLVMBuildShuffleVector(s->e->b, x, y, LLVMConstVector(lanes, s->count), "");
}

// Inside of blocks of 128 bits, which all of the machine's shuffles can do: the first halves of two
// rows' blocks alternate by `step` elements, and their second halves.
static void turn_in_blocks(square *s, unsigned row, unsigned step) {
  unsigned first[MOST_SQUARE], second[MOST_SQUARE];
  for (unsigned i = 0; i < s->count; i++) {
    unsigned in_block = i % s->block, turn = in_block / step;
    unsigned from = i - in_block + turn / 2 * step + in_block % step + (turn % 2) * s->count;
    first[i] = from;
    second[i] = from + s->block / 2;
  }
  llval x = s->rows[row], y = s->rows[row + step];
  s->rows[row] = shuffle(s, x, y, first);
  s->rows[row + step] = shuffle(s, x, y, second);
}

// Whole blocks change places between two rows.
static void turn_blocks(square *s, unsigned row, unsigned step) {
  unsigned first[MOST_SQUARE], second[MOST_SQUARE];
  for (unsigned i = 0; i < s->count; i++) {
    bool is_upper = i & step;
    first[i] = is_upper ? s->count + i - step : i;
    second[i] = is_upper ? s->count + i : i + step;
  }
  llval x = s->rows[row], y = s->rows[row + step];
  s->rows[row] = shuffle(s, x, y, first);
  s->rows[row + step] = shuffle(s, x, y, second);
}

void square_turn(square *s) {
  for (unsigned step = 1; step < s->count; step *= 2)
    for (unsigned row = 0; row < s->count; row++) {
      if (row & step) continue;
      if (step < s->block)
        turn_in_blocks(s, row, step);
      else
        turn_blocks(s, row, step);
    }
}

// Inside of blocks the bits of its number are the other way round.
unsigned square_column(const square *s, unsigned column) {
  unsigned at = column / s->block * s->block;
  for (unsigned bit = 1; bit < s->block; bit *= 2)
    if (column & bit) at += s->block / 2 / bit;
  return at;
}

llval square_joined(const emitter *e, llval x, llval y, unsigned x_count, unsigned y_count) {
  if (!x) return y;
  llval lanes[64], wider = y;
  if (x_count > y_count) { // both operands of a shuffle are as wide
    for (unsigned i = 0; i < x_count; i++)
      lanes[i] = LLVMConstInt(e->u->i32, i < y_count ? i : 0, false);
    wider = LLVMBuildShuffleVector(e->b, y, LLVMGetPoison(LLVMTypeOf(y)),
                                   LLVMConstVector(lanes, x_count), "");
  }
  for (unsigned i = 0; i < x_count + y_count; i++) lanes[i] = LLVMConstInt(e->u->i32, i, false);
  return LLVMBuildShuffleVector(e->b, x, wider, LLVMConstVector(lanes, x_count + y_count), "");
}
