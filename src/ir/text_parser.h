// SPDX-License-Identifier: MIT
//
// The parser of the text form, shared by its files: text_lex.c makes tokens and keeps comments,
// text_expr.c, text_nodes.c and text_call.c read expressions, text_stmt.c the body of a region,
// text_function.c functions, text_include.c other files, text_parse.c declarations and the whole.
// Expressions and blocks are kept on explicit stacks; only functions that call functions recurse,
// at most LIMIT_CALLS deep. A parser belongs to one call of vyre_program_parse.
//
// Functions return false after a failure; the first one is kept in `error`. A failure of the
// builder is left for builder_finish to report.
#ifndef VYRE_IR_TEXT_PARSER_H
#define VYRE_IR_TEXT_PARSER_H

#include "base/error.h"
#include "base/vec.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "ir/text_check.h"
#include "ir/text_expr.h"
#include "ir/text_function.h"
#include "ir/text_symbols.h"
#include "ir/text_token.h"

// A comment or blank line that was read and has not found its place yet.
typedef struct loose_comment {
  uint32_t offset, size; // 0 bytes: a blank line
} loose_comment;

typedef enum block_kind {
  BLOCK_REGION,
  BLOCK_FUNCTION,
  BLOCK_IF,
  BLOCK_ELSE,
  BLOCK_FOR,
  BLOCK_WHILE,
  BLOCK_WHILE_HEAD, // `while {` before its `do`
  BLOCK_BROKEN,     // of something wrong that was said
} block_kind;

struct block {
  block_kind kind;
  uint32_t ends;   // END operations that its brace stands for: one, and one per `else if` before
  uint32_t scope;  // names declared before it
  uint32_t offset; // of what opened it
  // In functions: what follows an if that returns stands in its last branch (text_function.h).
  uint32_t owed;        // END operations of such branches, for this block's brace
  bool returned;        // nothing may follow
  bool others_returned; // all branches before this one of its if
  bool any_returned;    // one of them
};

typedef struct text_source {
  const char *text, *file;
  uint32_t size;
  char *owned; // text and file of an included one, freed at the end
  uint32_t parent;
} text_source;

// Where the parser reads; saved and restored around functions and included files.
typedef struct text_cursor {
  const char *text, *file;
  uint32_t size, at; // bytes of the text, and how many are read
  uint32_t read_end; // end of the last token that was taken
  uint32_t source;   // number of the text
  token token;       // the one to look at
} text_cursor;

// A name that is declared, and what it named before.
typedef struct scope_entry {
  uint32_t number;
  uint32_t at, frame, order, declared, source;
  uint8_t kind, type, lanes;
} scope_entry;

typedef struct vector_parts {
  uint32_t at[MOST_LANES];
  uint8_t kind; // name_kind of each
} vector_parts;

struct parser {
  const char *text, *file; // these are a text_cursor
  uint32_t size, at;
  uint32_t read_end;
  uint32_t source;
  token token;

  vec(loose_comment) comments;
  vec(text_source) sources; // the first is the text itself
  symbols symbols;
  vec(scope_entry) scope; // in the order of declaration
  vec(vector_parts) parts;
  vec(literal) literals;
  vec(block) blocks;
  expression expr;

  vec(text_function) functions;
  uint32_t frame;      // 0: declarations, 1: a region, more: a call of a function
  uint32_t frames;     // given so far
  uint32_t order;      // of declarations of frame 0
  uint32_t seen_order; // what is declared from there on, a function does not see
  text_call *call;     // the innermost, or NULL
  uint32_t inlined_bytes, inlined_calls;
  bool frame_is_inlined; // operations come from elsewhere: no comments
  uint32_t place;        // of what is built, when it is not from the text itself
  bool in_formula;
  bool is_returned;   // the function whose body was read last, at its end
  bool is_read_again; // a function's body: its names were told

  uint32_t items;   // declarations so far, for the anchors of comments
  uint32_t buffers; // declared so far
  size_t globals;   // names before the declaration that is read
  bool in_header;
  bool has_scanned; // buffers further down are known
  bool has_code;    // in a region: something after the shared arrays
  bool has_print;   // the buffer of printf is declared
  uint32_t print;   // its number

  const text_options *options; // never NULL
  uint32_t declaring;          // symbol + 1 that a statement declares
  uint32_t mistakes;
  bool is_broken;   // a statement was left out
  bool is_quiet;    // what failed was told
  bool is_silent;   // nothing is told
  bool checks_rest; // reads functions that nothing calls
  uint32_t spare;   // the first of its buffers for that
  vec(uint64_t) told;
  vyre_builder *builder;
  vyre_status status;
  uint32_t fault; // offset of the failure
  vyre_error *error;
  vyre_error scratch;
};

// What the symbol names here: functions see the declarations above them and their own names.
static inline name_kind parser_named(const parser *p, const symbol *s) {
  bool is_seen = s->frame ? s->frame == p->frame : s->order < p->seen_order;
  return is_seen ? (name_kind)s->kind : NAME_NONE;
}

// What is built from now on is from this place of the current text.
static inline void parser_at(parser *p, uint32_t offset) {
  builder_at(p->builder, p->source ? p->place : offset);
}

// ---- text_error.c -------------------------------------------------------------------------------

// Sets the failure unless there is one; returns false. The message is the text of what is wrong and
// its "Fix:" sentence.
bool parser_fail(parser *p, text_code code, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));
bool parser_fail_memory(parser *p);
// "X was expected here, not Y. Fix: ..."
bool parser_fail_expected(parser *p, const char *wanted, const char *fix);
// An unknown name, with the nearest one as advice.
bool parser_fail_unknown(parser *p, text_code code, uint32_t symbol, uint32_t offset);
// Fails without another message: what is wrong was said.
bool parser_fail_quietly(parser *p);
// Tells what failed, and goes on; false when that is not wanted or possible.
bool parser_recover(parser *p);
// The current token for a message; a name is cut to what fits. `buffer` has 48 bytes.
const char *parser_describe_token(const parser *p, char *buffer);

// ---- text_lex.c ---------------------------------------------------------------------------------

void parser_next(parser *p);
void parser_skip_newlines(parser *p);
bool parser_behind_param(parser *p); // a comma and on to the next one, or the end of the list
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
void parser_drop_comments(parser *p);
text_cursor parser_cursor(const parser *p);
void parser_set_cursor(parser *p, const text_cursor *c);

// ---- text_tunable.c -----------------------------------------------------------------------------

bool parser_u32(parser *p, const char *wanted, uint32_t *out); // a plain number
// A number or a formula of tunables, as a value for vyre_build_grid_of and its like.
bool parser_number(parser *p, const char *wanted, uint32_t times, ref *out);
bool parser_tunable(parser *p);   // a declaration, from its word on
bool parser_const(parser *p);     // the same
bool parser_all_given(parser *p); // every value that was given has found its tunable

#endif
