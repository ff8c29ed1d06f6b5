// SPDX-License-Identifier: MIT
//
// Messages of the parser. They are made once per call, so they may take their time: a name that is
// not known is compared with all that could be meant.
#include "ir/text_parser.h"

#include "base/edit_distance.h"
#include "ir/limits.h"

#include <stdio.h>
#include <string.h>

bool parser_fail(parser *p, text_code code, uint32_t offset, const char *format, ...) {
  if (p->status != VYRE_OK) return false;
  va_list args;
  va_start(args, format);
  p->status = error_setv(p->error, text_rules[code].status, format, args);
  va_end(args);
  error_code(p->error, text_rules[code].code);
  error_place(p->error, p->file, p->text, p->size, offset);
  return false;
}

bool parser_fail_memory(parser *p) {
  if (p->status == VYRE_OK) p->status = error_out_of_memory(p->error);
  return false;
}

enum { SHOWN = 40 }; // bytes of a name or number in a message

const char *parser_describe_token(const parser *p, char *buffer) {
  const token *t = &p->token;
  if (t->kind == TOKEN_END) return "the end of the text";
  if (t->kind == TOKEN_NEWLINE) return "the end of the line";
  int size = t->size < SHOWN ? (int)t->size : SHOWN;
  snprintf(buffer, SHOWN + 8, "`%.*s%s`", size, p->text + t->offset, t->size > SHOWN ? "..." : "");
  return buffer;
}

bool parser_fail_expected(parser *p, const char *wanted, const char *fix) {
  char buffer[SHOWN + 8];
  return parser_fail(p, TEXT_P010, p->token.offset, "%s was expected here, not %s. Fix: %s", wanted,
                     parser_describe_token(p, buffer), fix);
}

// What could stand where the unknown name stands.
static bool is_candidate(const symbol *s, text_code code) {
  switch (code) {
  case TEXT_P033: return s->is_type;
  case TEXT_P034: return s->function != VYRE_OP_NONE && s->word == WORD_NONE;
  default: return s->kind != NAME_NONE || s->word == WORD_CONSTANT || s->word == WORD_AXIS;
  }
}

static uint32_t common_prefix(const symbol *a, const symbol *b) {
  uint32_t i = 0;
  while (i < a->size && i < b->size && a->text[i] == b->text[i]) i++;
  return i;
}

// The nearest one, and of those the one that begins most alike.
static const symbol *find_near(const parser *p, const symbol *unknown, text_code code) {
  size_t least = unknown->size < 4 ? 1 : 2;
  const symbol *near = NULL;
  for (size_t i = 0; i < p->symbols.list.count; i++) {
    const symbol *s = &p->symbols.list.at[i];
    if (s == unknown || !is_candidate(s, code)) continue;
    if (s->size > unknown->size + least || unknown->size > s->size + least) continue;
    size_t d = edit_distance(unknown->text, unknown->size, s->text, s->size);
    if (d > least || d >= unknown->size) continue;
    if (near && d == least && common_prefix(s, unknown) <= common_prefix(near, unknown)) continue;
    near = s;
    least = d;
  }
  return near;
}

// "global_id" without an axis, "load" and "convert": what is meant is known.
static const char *find_advice(const symbol *s) {
  vyre_op op = op_from_name(s->text, s->size);
  if (op_table[op].rule == RULE_AXIS) return "name an axis, as in global_id.x";
  switch (op) {
  case VYRE_OP_CONVERT: return "write the type, as in f32(x)";
  case VYRE_OP_BITCAST: return "write the type, as in as_u32(x)";
  case VYRE_OP_LOAD: return "write the element, as in x[i]";
  case VYRE_OP_STORE: return "assign to the element, as in x[i] = v";
  default: return NULL; // its name is what is written
  }
}

bool parser_fail_unknown(parser *p, text_code code, uint32_t symbol_number, uint32_t offset) {
  const symbol *s = &p->symbols.list.at[symbol_number];
  const char *what = code == TEXT_P033   ? "is no type"
                     : code == TEXT_P034 ? "is no function"
                                         : "is not declared";
  int shown = s->size < SHOWN ? (int)s->size : SHOWN;
  const symbol *near = find_near(p, s, code);
  const char *advice = code == TEXT_P033 ? NULL : find_advice(s);
  if (advice)
    return parser_fail(p, code, offset, "`%.*s` %s. Fix: %s", shown, s->text, what, advice);
  if (code == TEXT_P030 && s->was_named)
    return parser_fail(p, code, offset,
                       "`%.*s` was declared in a block that has ended. Fix: declare it before that "
                       "block; carry a value out in a `var`",
                       shown, s->text);
  if (near)
    return parser_fail(p, code, offset, "`%.*s` %s. Fix: did you mean `%.*s`?", shown, s->text,
                       what, (int)near->size, near->text);
  return parser_fail(p, code, offset, "`%.*s` %s. Fix: %s", shown, s->text, what,
                     code == TEXT_P033   ? "use bool, i8 to i64, u8 to u64, f32 or f64"
                     : code == TEXT_P034 ? "call an operation of docs/IR.md"
                                         : "declare it with `let` or `var`, as a parameter or a "
                                           "buffer");
}
