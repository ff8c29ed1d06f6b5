// SPDX-License-Identifier: MIT
//
// Expressions of the text form while they are read: a list of nodes in the order of evaluation, and
// what is still open. A short vector is several nodes, one per lane: nothing behind the parser
// knows of vectors. Part of the parser (text_parser.h), one thread.
#ifndef VYRE_IR_TEXT_EXPR_H
#define VYRE_IR_TEXT_EXPR_H

#include "base/vec.h"
#include "ir/program.h"
#include "ir/text_literal.h"

typedef struct parser parser;
typedef struct block block;

enum { MOST_LANES = 4 };

typedef enum node_kind { NODE_LITERAL, NODE_VALUE, NODE_INST } node_kind;

// The value operands of an instruction are the numbers of their nodes until the nodes are emitted.
typedef struct node {
  uint8_t kind;    // node_kind
  uint8_t type;    // VYRE_VOID until it is known
  uint8_t element; // of what a store, atomic, var or set writes to
  uint8_t sign;    // token_kind of an operator that is choosy about types, or 0
  uint32_t offset;
  ref result; // once emitted
  union {
    inst in;
    literal literal;
  };
} node;

// What was read and no operator took yet.
typedef struct operand {
  uint32_t node[MOST_LANES]; // of a memory object: its reference
  uint8_t lanes;             // 0: a memory object, as an argument of a function
  uint8_t type;              // of its elements
  uint8_t element_lanes;
  uint32_t offset;
} operand;

// What is open inside an expression: a bracket, a call, or an operator that waits for its operand.
typedef enum open_kind {
  OPEN_BINARY,
  OPEN_UNARY,
  OPEN_OTHERWISE, // `c ? a :`
  OPEN_CONDITION, // `c ?`
  OPEN_PAREN,
  OPEN_CALL,
  OPEN_SUGAR,    // a call that is taken apart: `op` says which
  OPEN_FUNCTION, // of the text: `mem` is its number
  OPEN_INDEX,    // of an element that is loaded
  OPEN_ELEMENT,  // of the element an atomic works on
} open_kind;

typedef struct open {
  uint8_t kind; // open_kind
  uint8_t op, type, lanes, binding, sign;
  uint32_t offset;
  uint32_t mem;
  uint32_t arguments;
} open;

typedef struct expression {
  vec(node) nodes;
  vec(operand) operands;
  vec(open) opens;
  uint32_t nesting;  // opens that are not binary
  uint32_t brackets; // and of these, those in which lines do not end
} expression;

// ---- text_nodes.c -------------------------------------------------------------------------------

void expression_begin(parser *p);
void expression_fini(expression *e);
// Adds a node and gives its number; UINT32_MAX when out of memory.
uint32_t node_add(parser *p, const node *n);
uint32_t node_value(parser *p, ref value, vyre_type type, uint32_t offset);
uint32_t node_number(parser *p, uint64_t number, uint32_t offset); // that takes its type
uint32_t node_op1(parser *p, vyre_op op, uint32_t a, uint32_t offset);
uint32_t node_op2(parser *p, vyre_op op, uint32_t a, uint32_t b, uint32_t offset);
// An instruction whose value operands are nodes; `element` as in node.
uint32_t expression_node(parser *p, const inst *in, vyre_type element, uint32_t offset);
// The same for what ends a statement.
bool expression_add(parser *p, const inst *in, vyre_type element, uint32_t offset);
// A number at the root takes this type when nothing else tells one.
void expression_demand(parser *p, uint32_t root, vyre_type type);
// Gives numbers their types and builds the nodes, in order.
bool expression_emit(parser *p);
// Builds what is known so far: what is left are numbers, and what is computed from them.
bool expression_flush(parser *p);
ref expression_result(const parser *p, uint32_t node);
// The type of a node, VYRE_VOID while it is not known.
vyre_type expression_type(const parser *p, uint32_t node);
// The nodes as the terms of a formula, at most LIMIT_TERMS, in place of building them.
bool expression_terms(parser *p, formula_term *terms, uint32_t *count);

// ---- text_expr.c --------------------------------------------------------------------------------

// Reads one expression. Inside of brackets lines do not end it.
bool expression_read_value(parser *p, bool is_bracketed, operand *out);
// One that is a single number: *root is its node.
bool expression_read(parser *p, bool is_bracketed, uint32_t *root);
bool expression_single(parser *p, const operand *o); // it is no vector
// An operation lane by lane, single numbers taken as often as needed.
bool expression_each(parser *p, vyre_op op, const operand *args, uint32_t count, uint8_t sign,
                     uint32_t offset, operand *out);
// Where the wanted lanes of an element are.
bool expression_place(parser *p, uint8_t lanes, uint32_t index, uint32_t offset,
                      const uint8_t *wanted, uint32_t count, uint32_t *places);

// ---- text_call.c --------------------------------------------------------------------------------

// All arguments of the innermost call are read.
bool call_close(parser *p);
// The lanes that a word such as `xzy` names, for a value of so many; 0 when it names none.
unsigned call_swizzle(const char *word, uint32_t size, unsigned lanes, uint8_t *out);

#endif
