// SPDX-License-Identifier: MIT
//
// What the parser and the printer of the text form (docs/TEXT.md) agree on: the codes of errors,
// what a place tells about the type of a number written there, how tightly operators bind, and
// where comments are kept. Constant data and pure functions: any thread.
#ifndef VYRE_IR_TEXT_H
#define VYRE_IR_TEXT_H

#include "ir/program.h"

typedef enum text_code {
#define TEXT(code, status, name, text) TEXT_##code,
#include "ir/text.def"
  TEXT_CODE_COUNT
} text_code;

typedef struct text_rule {
  const char *code, *name, *text;
  vyre_status status;
} text_rule;

extern const text_rule text_rules[TEXT_CODE_COUNT];

// What operand `slot` of an operation demands of a number without a suffix. The operands with
// DEMAND_GROUP have one type, and so has the result when text_result_in_group says so.
typedef enum text_demand {
  DEMAND_NONE,
  DEMAND_GROUP,
  DEMAND_INDEX,   // u32 when nothing in the operand tells
  DEMAND_BOOL,    //
  DEMAND_ELEMENT, // the type of the memory object or variable
} text_demand;
text_demand text_slot_demand(vyre_op op, int slot);
bool text_result_in_group(vyre_op op);

// How tightly an operator binds; 0 when the operation is not written with one. The logical
// operators on bool are && and ||, which bind less than the ones on integers.
enum { BIND_COMPARISON = 3, BIND_UNARY = 10 };
int text_binding(vyre_op op, vyre_type type);
const char *text_operator(vyre_op op, vyre_type type);

// A comment's anchor is an operation, or the number of a declaration: the program is 0, then come
// the buffers, then for each region its head, its shared arrays and its closing brace, and last the
// end of the text. A blank line is a comment without text.
enum { COMMENT_BEFORE_OP, COMMENT_AFTER_OP, COMMENT_BEFORE_ITEM, COMMENT_AFTER_ITEM };

// The workgroup of a region that does not state one, along x.
enum { TEXT_WORKGROUP = 64 };

#endif
