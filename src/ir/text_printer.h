// SPDX-License-Identifier: MIT
//
// The printer of the text form, shared by its files: text_print.c walks the program and decides
// what is a statement, text_print_expr.c writes expressions, text_print_line.c lines and comments.
// A printer belongs to one call of vyre_program_print. Nothing recurses. Running out of memory is
// kept in `failed` and reported once, at the end.
#ifndef VYRE_IR_TEXT_PRINTER_H
#define VYRE_IR_TEXT_PRINTER_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "ir/text.h"
#include "ir/text_literal.h"
#include "ir/text_symbols.h"

enum {
  OP_WAITS = 1 << 0,  // on the stack: not printed yet, to be written inside of its one user
  OP_INLINE = 1 << 1, // is written inside of its one user
  OP_KNOWN = 1 << 2,  // its type can be told without the numbers in it
  OP_NEEDS = 1 << 3,  // its type cannot be told from outside: a number in it needs a suffix
};

// What the printer keeps per operation.
typedef struct op_state {
  uint32_t first;   // where the expression that ends here begins
  uint32_t number;  // while it waits, its place on the stack; then the number of its name
  uint16_t depth;   // brackets, calls and signs nested in it
  uint8_t uses;     // 0, 1, or 2 for more
  uint8_t flags;    // OP_*
  uint8_t suffixes; // bit k: the constant in slot k needs its suffix
  uint8_t tunables; // bit k: what stands in slot k is a tunable
} op_state;

typedef struct print_item { // a part of an expression that is still to be written
  const char *text;         // or, when NULL:
  uint32_t op;              // the operation, or with a slot, its operand
  int8_t slot;
  int8_t binding; // with a text: a line may break after it, of an operator that binds so tightly
} print_item;

typedef struct line_break {
  uint32_t at, weight; // lower is better
} line_break;

typedef enum head_kind { HEAD_NONE, HEAD_ELSE, HEAD_WHILE } head_kind;

typedef struct print_block {
  uint32_t scope;     // names declared before it
  bool is_joined;     // an `else if`: one brace closes it and the if around it
  bool may_be_short;  // an if without else
  size_t begin, body; // where its first line begins and ends in the output
  uint64_t lines;     // printed up to there
} print_block;

typedef struct printer {
  const vyre_program *program;
  bool failed;
  strbuf out;

  // The line that is being written.
  strbuf line;
  vec(line_break) breaks;
  uint32_t depth; // open brackets
  uint32_t indent;
  uint64_t lines;     // printed so far
  bool wants_blank;   // a blank line before the next one, unless a block begins or ends
  bool is_after_open; // the last line opened a block
  bool is_last_plain; // the last line is a whole statement without a comment
  head_kind head;     // an `else` or `while` whose form depends on what comes next
  uint32_t head_op;

  // Comments on operations and on declarations, and how many of them are printed.
  vec(const comment *) op_comments;
  vec(const comment *) item_comments;
  size_t op_cursor, item_cursor;
  uint32_t item;

  symbols symbols; // names: how many things of a name can be seen
  vec(uint32_t) scope;
  vec(print_block) blocks;
  uint32_t unnamed; // numbers given to unnamed values
  uint32_t *param_numbers, *buffer_numbers, *shared_numbers, *tunable_numbers;

  op_state *ops;
  vec(uint32_t) stack; // operations that wait; the first `stack_done` are printed
  size_t stack_done;
  vec(print_item) items;
  strbuf numbers;        // texts of float constants
  uint32_t *number_at;   // per constant: where its text begins, plus 1
  uint32_t *number_size; //
  bool in_grid;
  bool is_silent; // the next END belongs to an `else if` whose brace is printed
} printer;

// ---- text_print_line.c --------------------------------------------------------------------------

void line_puts(printer *pr, const char *text);
void line_break_after(printer *pr, int binding);   // here a line may break
void line_put(printer *pr, const char *comment);   // writes the line out; `comment` may be NULL
void line_close(printer *pr, const char *comment); // a line `}`, which ends a block

bool comments_are_due(const printer *pr, uint32_t op); // something stands between here and `op`
bool comments_touch(const printer *pr, uint32_t first, uint32_t last); // on one of these operations
const char *comment_after_op(printer *pr, uint32_t op);
const char *comment_after_item(printer *pr);
void comments_before_op(printer *pr, uint32_t op, bool with_after);
void comments_before_item(printer *pr);
// Writes a waiting `else` or `while` as the opening of a block.
void head_write(printer *pr);

// ---- text_print_expr.c --------------------------------------------------------------------------

void name_put(printer *pr, const char *name, uint32_t number);
void name_put_op(printer *pr, uint32_t op);
uint32_t name_declare(printer *pr, const char *name); // its number
void scope_end(printer *pr, size_t count);

// Whether the operation's own text nests, and its operand needs parentheses.
unsigned expression_nesting(const vyre_program *p, uint32_t op);
bool expression_needs_parens(const vyre_program *p, uint32_t op, int slot, uint32_t operand);
bool expression_has_step(const printer *pr, uint32_t op); // a for says by what it counts
// Finds out which numbers need a suffix. `is_typed`: the place tells the type of the whole.
void expression_infer(printer *pr, uint32_t op, bool is_typed);
void expression_put(printer *pr, uint32_t op);
void expression_put_operand(printer *pr, uint32_t op, int slot);
void expression_put_element(printer *pr, uint32_t op); // `x[i]` of a load or store
// A value outside of code: a constant, a name or an expression, where u32 is the default; of a
// buffer (USE_LENGTH) or a region's grid.
void expression_put_extent(printer *pr, ref r, use_kind kind, uint32_t at, uint32_t slot);

// ---- text_print_tunable.c -----------------------------------------------------------------------

void tunable_put_declaration(printer *pr, uint32_t number);
void tunable_mark_operands(printer *pr);
// The name of the tunable that stands at a place.
void tunable_put_operand(printer *pr, use_kind kind, uint32_t at, uint32_t slot);
// A workgroup's size or an array's length.
void formula_put_or_number(printer *pr, use_kind kind, uint32_t at, uint32_t slot, uint32_t number);

#endif
