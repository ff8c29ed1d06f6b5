// SPDX-License-Identifier: MIT
//
// Functions of the text form: a declaration is kept as the place of its body, and each call reads
// the body again with the parameters bound to the arguments. So a program has no functions: what it
// prints is what was built. Nothing jumps to the end of a function: when a branch of an `if`
// returns, what follows the `if` is built in the other branch. Part of the parser (text_parser.h),
// one thread.
#ifndef VYRE_IR_TEXT_FUNCTION_H
#define VYRE_IR_TEXT_FUNCTION_H

#include "ir/text_expr.h"
#include "ir/text_token.h"

enum { MOST_FUNCTION_PARAMS = 32 };

typedef struct function_param {
  uint32_t symbol, offset;
  uint8_t type, lanes;
  bool is_memory;
} function_param;

typedef struct text_function {
  uint32_t symbol, order;
  uint32_t source, at, end; // its body: behind `{`, and behind `}`
  uint32_t offset;          // of its name
  uint32_t param_count;
  function_param params[MOST_FUNCTION_PARAMS];
  uint8_t type, lanes; // of its value; VYRE_VOID: it has none
  bool has_one_return; // as its last statement
  bool is_open;        // being read: it would call itself
  bool was_called;
} text_function;

typedef struct text_call {
  const struct text_call *outer;
  uint32_t function;
  uint32_t result[MOST_LANES]; // values, or variables where there are several returns
  bool has_result;
  bool is_broken; // something wrong in it was said
} text_call;

bool function_declare(parser *p); // from `fn` on
// Whether the word calls a function of the text here, and which.
bool function_find(const parser *p, uint32_t symbol, uint32_t *function);
// At an argument: one that is a memory object is read here.
bool function_memory_argument(parser *p, uint32_t function, uint32_t argument, bool *is_taken);
// Builds the body; *out is its value, without lanes when it has none.
bool function_call(parser *p, uint32_t function, const operand *args, uint32_t count,
                   uint32_t offset, operand *out);
bool function_return(parser *p); // a statement, from `return` on
// A block of an if inside of a function ends. *goes_on: what follows is built in the branch that is
// open (of an if without else, in an ELSE that is built here), so that its END comes later.
bool function_end_branch(parser *p, const block *closed, bool *goes_on);
// Reads the bodies of functions that nothing called, and forgets what they built.
bool function_check_rest(parser *p);

#endif
