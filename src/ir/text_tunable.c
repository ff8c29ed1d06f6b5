// SPDX-License-Identifier: MIT
//
// Tunables and what is computed from them when a text is read: workgroups, lengths of arrays and
// conditions. Those are expressions like others, whose nodes become the terms of a formula instead
// of operations: both are in the order of evaluation.
#include "ir/text_parser.h"

#include "ir/limits.h"
#include "ir/tunable.h"

#include <string.h>

// ---- formulas -----------------------------------------------------------------------------------

// Reads an expression of numbers and tunables. `type` is what a number at its root has.
static bool read_formula(parser *p, vyre_type type, bool is_bracketed, formula_term *terms,
                         uint32_t *count) {
  uint32_t root;
  expression_begin(p);
  if (!expression_read(p, is_bracketed, &root)) return false;
  expression_demand(p, root, type);
  return expression_terms(p, terms, count);
}

static bool fail_type(parser *p, uint32_t offset, vyre_type is, vyre_type wanted) {
  return parser_fail(p, TEXT_P055, offset, "this is %s, and %s is needed. Fix: convert it",
                     vyre_type_name(is), vyre_type_name(wanted));
}

// A plain number, where nothing else is known when the text is read.
static bool read_plain_u32(parser *p, const char *wanted, uint32_t *out) {
  const literal *l = &p->token.literal;
  if (p->token.kind != TOKEN_NUMBER || l->is_float || (l->suffix && l->suffix != VYRE_U32))
    return parser_fail_expected(p, wanted, "write a plain number");
  if (l->is_huge || l->magnitude > UINT32_MAX)
    return parser_fail(p, TEXT_P052, p->token.offset,
                       "a number is out of the range of u32. Fix: use a smaller one");
  *out = (uint32_t)l->magnitude;
  parser_next(p);
  return true;
}

bool parser_number(parser *p, const char *wanted, ref *out) {
  *out = 0;
  if (!builder_tunable_count(p->builder)) {
    uint32_t number = 0;
    if (!read_plain_u32(p, wanted, &number)) return false;
    *out = vyre_build_u32(p->builder, number);
    return *out != 0;
  }
  formula_term terms[LIMIT_TERMS];
  uint32_t count, offset = p->token.offset;
  if (!read_formula(p, VYRE_U32, true, terms, &count)) return false;
  vyre_type type = (vyre_type)terms[count - 1].type;
  if (type != VYRE_U32) return fail_type(p, offset, type, VYRE_U32);
  *out = builder_formula(p->builder, terms, count);
  return *out != 0;
}

bool parser_u32(parser *p, const char *wanted, uint32_t *out) {
  return read_plain_u32(p, wanted, out);
}

// ---- declarations -------------------------------------------------------------------------------

static bool read_value(parser *p, vyre_type type, bool is_bracketed, uint64_t *bits) {
  formula_term terms[LIMIT_TERMS];
  uint32_t count, offset = p->token.offset;
  if (!read_formula(p, type, is_bracketed, terms, &count)) return false;
  if (terms[count - 1].type != type)
    return fail_type(p, offset, (vyre_type)terms[count - 1].type, type);
  if (count != 1 || terms[0].op != VYRE_OP_NONE)
    return parser_fail(p, TEXT_P055, offset,
                       "the value of a tunable is computed. Fix: write a number");
  *bits = terms[0].bits;
  return true;
}

static bool read_values(parser *p, vyre_type type, uint64_t *values, uint32_t *count) {
  if (!parser_take_word(p, WORD_IN))
    return parser_fail_expected(p, "`in`", "list the values, as in tunable TILE: u32 in (4, 8)");
  if (!parser_expect(p, TOKEN_LPAREN, "`(`")) return false;
  for (*count = 0;; parser_next(p)) {
    if (*count == LIMIT_TUNABLE_VALUES)
      return parser_fail(p, TEXT_P056, p->token.offset,
                         "a tunable has more than %d values. Fix: list fewer",
                         LIMIT_TUNABLE_VALUES);
    if (!read_value(p, type, true, &values[*count])) return false;
    ++*count;
    if (p->token.kind != TOKEN_COMMA) break;
  }
  return parser_expect(p, TOKEN_RPAREN, "`)`");
}

static int find_bits(const uint64_t *values, uint32_t count, uint64_t bits) {
  for (uint32_t i = 0; i < count; i++)
    if (values[i] == bits) return (int)i;
  return -1;
}

// What was given from outside counts over what the text says.
static bool choose(parser *p, const tunable *t, uint32_t *chosen) {
  size_t size = strlen(t->name);
  for (uint32_t i = 0; i < p->given_count; i++) {
    const tunable_given *g = &p->given[i];
    if (g->name_size != size || memcmp(g->name, t->name, size) != 0) continue;
    char list[160];
    int found = tunable_find_value(t, g->value, g->value_size);
    if (found < 0)
      return parser_fail(p, TEXT_P056, p->token.offset,
                         "`%.*s` is no value of the tunable `%.100s`. Fix: give one of %s",
                         g->value_size < 40 ? (int)g->value_size : 40, g->value, t->name,
                         tunable_list(t, list));
    *chosen = (uint32_t)found;
  }
  return true;
}

static bool read_where(parser *p, vyre_value made) {
  formula_term terms[LIMIT_TERMS];
  uint32_t count, offset = p->token.offset;
  if (!read_formula(p, VYRE_BOOL, false, terms, &count)) return false;
  vyre_type type = (vyre_type)terms[count - 1].type;
  if (type != VYRE_BOOL) return fail_type(p, offset, type, VYRE_BOOL);
  ref formula = builder_formula(p->builder, terms, count);
  if (formula) vyre_build_tunable_where(p->builder, made, formula);
  return formula != 0;
}

bool parser_tunable(parser *p) {
  uint32_t number, chosen = 0, offset = p->token.offset, at;
  char name[LIMIT_NAME + 1];
  uint64_t values[LIMIT_TUNABLE_VALUES], bits = 0;
  tunable t = {.name = name, .values = values};
  parser_comments_before(p, COMMENT_BEFORE_ITEM, p->items, true);
  parser_next(p);
  if (!parser_declared_name(p, &number, name) || !parser_expect(p, TOKEN_COLON, "`:`") ||
      !parser_type(p, &t.type))
    return false;
  bool has_default = p->token.kind == TOKEN_ASSIGN;
  if (has_default) parser_next(p);
  at = p->token.offset;
  if (has_default && !read_value(p, t.type, false, &bits)) return false;
  if (!read_values(p, t.type, values, &t.count)) return false;
  int found = has_default ? find_bits(values, t.count, bits) : 0;
  if (found < 0)
    return parser_fail(p, TEXT_P056, at,
                       "the tunable's value is not in its list. Fix: write one that is");
  chosen = (uint32_t)found;
  if (!choose(p, &t, &chosen)) return false;
  builder_at(p->builder, offset);
  vyre_value made = vyre_build_tunable(p->builder, name, t.type, t.count, values, chosen);
  if (!made) return false;
  parser_bind(p, number, NAME_TUNABLE, t.type, made);
  if (parser_take_word(p, WORD_WHERE) && !read_where(p, made)) return false;
  return parser_end_item(p);
}

bool parser_all_given(parser *p) {
  for (uint32_t i = 0; i < p->given_count; i++) {
    const tunable_given *g = &p->given[i];
    bool is_there = false;
    for (uint32_t k = 0; k < builder_tunable_count(p->builder) && !is_there; k++) {
      const char *name = builder_tunable(p->builder, k)->name;
      is_there = strlen(name) == g->name_size && !memcmp(name, g->name, g->name_size);
    }
    if (is_there) continue;
    return parser_fail(p, TEXT_P056, 0,
                       "a value is given to `%.*s`, and there is no such tunable. Fix: declare it, "
                       "as in tunable %.*s: u32 in (4, 8), or leave the value out",
                       g->name_size < 100 ? (int)g->name_size : 100, g->name,
                       g->name_size < 100 ? (int)g->name_size : 100, g->name);
  }
  return true;
}
