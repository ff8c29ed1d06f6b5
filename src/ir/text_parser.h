// SPDX-License-Identifier: MIT
//
// The parser of the text form, shared by its files: text_lex.c makes tokens and keeps comments,
// text_expr.c reads expressions, text_stmt.c the body of a region, text_parse.c declarations and
// the whole. Nothing recurses: expressions and blocks are kept on explicit stacks. A parser belongs
// to one call of vyre_program_parse.
//
// Functions return false after a failure; the first one is kept in `error`. A failure of the
// builder is left for builder_finish to report.
#ifndef VYRE_IR_TEXT_PARSER_H
#define VYRE_IR_TEXT_PARSER_H

#include "base/error.h"
#include "base/vec.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "ir/text_symbols.h"
#include "ir/text_token.h"

// A comment or blank line that was read and has not found its place yet.
typedef struct loose_comment {
  uint32_t offset, size; // 0 bytes: a blank line
} loose_comment;

typedef enum node_kind { NODE_LITERAL, NODE_VALUE, NODE_INST } node_kind;

// An expression is a list of nodes in the order of evaluation. The value operands of an instruction
// are the numbers of their nodes until the nodes are emitted.
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

// What is open inside an expression: a bracket, a call, or an operator that waits for its operand.
typedef enum open_kind {
  OPEN_BINARY,
  OPEN_UNARY,
  OPEN_PAREN,
  OPEN_CALL,
  OPEN_INDEX,   // of an element that is loaded
  OPEN_ELEMENT, // of the element an atomic works on
} open_kind;

typedef struct open {
  uint8_t kind; // open_kind
  uint8_t op, type, binding, sign;
  uint32_t offset;
  uint32_t mem;
  uint32_t arguments;
} open;

typedef enum block_kind {
  BLOCK_REGION,
  BLOCK_IF,
  BLOCK_ELSE,
  BLOCK_FOR,
  BLOCK_WHILE,
  BLOCK_WHILE_HEAD, // `while {` before its `do`
} block_kind;

typedef struct block {
  block_kind kind;
  uint32_t ends;   // END operations that its brace stands for: one, and one per `else if` before
  uint32_t scope;  // names declared before it
  uint32_t offset; // of what opened it
} block;

typedef struct parser {
  const char *text, *file;
  uint32_t size, at; // bytes of the text, and how many are read
  uint32_t read_end; // end of the last token that was taken
  token token;       // the one to look at
  vec(loose_comment) comments;

  symbols symbols;
  vec(uint32_t) scope; // symbols that name something, in the order of declaration
  vec(block) blocks;

  vec(node) nodes;
  vec(uint32_t) operands; // nodes that no operator took yet
  vec(open) opens;
  uint32_t nesting;  // opens that are not binary
  uint32_t brackets; // and of these, those in which lines do not end

  uint32_t items;   // declarations so far, for the anchors of comments
  uint32_t buffers; // declared so far
  bool in_header;
  bool has_scanned; // buffers further down are known
  bool has_code;    // in a region: something after the shared arrays

  const struct tunable_given *given; // values for tunables; borrowed
  uint32_t given_count;
  vyre_builder *builder;
  vyre_status status;
  vyre_error *error;
} parser;

// ---- text_error.c -------------------------------------------------------------------------------

// Sets the failure unless there is one; returns false. The message is the text of what is wrong and
// its "Fix:" sentence.
bool parser_fail(parser *p, text_code code, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool parser_fail_memory(parser *p);
// `wanted` is what should stand here, as in "`)`".
bool parser_fail_expected(parser *p, const char *wanted, const char *fix);
bool parser_fail_unknown(parser *p, text_code code, uint32_t symbol, uint32_t offset);
// The current token for a message; a name is cut to what fits. `buffer` has 48 bytes.
const char *parser_describe_token(const parser *p, char *buffer);

// ---- text_lex.c ---------------------------------------------------------------------------------

void parser_next(parser *p);
void parser_skip_newlines(parser *p);
bool parser_expect(parser *p, token_kind kind, const char *wanted);
// Takes the word when it is the current token.
bool parser_take_word(parser *p, word w);
const symbol *parser_symbol(const parser *p); // of the current token, a word
// The first byte after the current token and blanks, 0 at the end.
char parser_peek(const parser *p);

// Places the loose comments: all of them before an operation or item, or, when the line ends here
// with a comment, this one after it.
void parser_comments_before(parser *p, uint32_t kind, uint32_t anchor, bool keep_blank_lines);
void parser_comment_after(parser *p, uint32_t kind, uint32_t anchor);

// ---- text_expr.c --------------------------------------------------------------------------------

void expression_begin(parser *p);
// Reads one expression; *root is its node. Inside of brackets lines do not end it.
bool expression_read(parser *p, bool is_bracketed, uint32_t *root);
// Appends an instruction whose value operands are nodes; `element` as in node.
bool expression_add(parser *p, const inst *in, vyre_type element, uint32_t offset);
// A number at the root takes this type when nothing else tells one.
void expression_demand(parser *p, uint32_t root, vyre_type type);
// Gives numbers their types and builds the nodes, in order.
bool expression_emit(parser *p);
ref expression_result(const parser *p, uint32_t node);
// The nodes as the terms of a formula, at most LIMIT_TERMS, in place of building them.
bool expression_terms(parser *p, formula_term *terms, uint32_t *count);

// ---- text_tunable.c -----------------------------------------------------------------------------

bool parser_u32(parser *p, const char *wanted, uint32_t *out); // a plain number
// A number or a formula of tunables, as a value for vyre_build_grid_of and its like.
bool parser_number(parser *p, const char *wanted, ref *out);
bool parser_tunable(parser *p);   // a declaration, from its word on
bool parser_all_given(parser *p); // every value that was given has found its tunable

// ---- text_stmt.c --------------------------------------------------------------------------------

// Reads `name` where one is declared, without declaring it yet.
bool parser_new_name(parser *p, uint32_t *symbol, uint32_t *offset);
// The same for parameters, buffers and tunables, which cannot do without one; `name` has
// LIMIT_NAME + 1 bytes.
bool parser_declared_name(parser *p, uint32_t *symbol, char *name);
void parser_bind(parser *p, uint32_t symbol, name_kind kind, vyre_type type, uint32_t at);
void parser_end_scope(parser *p, size_t count);
// The name without its `$`, in `buffer` of LIMIT_NAME + 1 bytes.
const char *parser_name_text(const parser *p, uint32_t symbol, char *buffer);
bool parser_type(parser *p, vyre_type *type);
bool parser_let(parser *p);                           // up to what ends it
bool parser_end_statement(parser *p, uint32_t first); // `first`: where the statement's code began
bool parser_end_item(parser *p);
bool parser_body(parser *p, uint32_t region_offset); // from after `{` to its `}`

#endif
