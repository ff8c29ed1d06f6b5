// SPDX-License-Identifier: MIT
//
// Tunables and what is computed from them when a text is read: workgroups, lengths of arrays and
// conditions. Those are expressions like others, whose nodes become the terms of a formula instead
// of operations: both are in the order of evaluation.
#include "ir/limits.h"
#include "ir/text_names.h"
#include "ir/text_stmt.h"
#include "ir/tunable.h"

#include <string.h>

// ---- formulas -----------------------------------------------------------------------------------

// Reads an expression of numbers and tunables. `type` is what a number at its root has.
static bool read_formula(parser *p, vyre_type type, bool is_bracketed, formula_term *terms,
                         uint32_t *count) {
  uint32_t root;
  expression_begin(p);
  p->in_formula = true;
  bool ok = expression_read(p, is_bracketed, &root);
  p->in_formula = false;
  if (!ok) return false;
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

static bool has_tunable(const formula_term *terms, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (terms[i].op == TERM_TUNABLE) return true;
  return false;
}

static bool is_alone(const formula_term *terms, uint32_t count) {
  return count == 1 && terms[0].op == VYRE_OP_NONE;
}

static bool multiply(parser *p, uint32_t times, formula_term *terms, uint32_t *count) {
  if (times == 1) return true;
  if (*count + 2 > LIMIT_TERMS)
    return parser_fail(p, TEXT_P055, p->token.offset,
                       "a formula has more than %d parts. Fix: make it simpler", LIMIT_TERMS);
  terms[(*count)++] = (formula_term){.type = VYRE_U32, .bits = times};
  terms[(*count)++] = (formula_term){.type = VYRE_U32, .op = VYRE_OP_MUL};
  return true;
}

// A word that no number can begin with.
static bool is_no_number(const parser *p) {
  if (p->token.kind != TOKEN_WORD)
    return p->token.kind != TOKEN_NUMBER && p->token.kind != TOKEN_LPAREN;
  const symbol *s = parser_symbol(p);
  name_kind named = parser_named(p, s);
  if (named == NAME_VALUE) return !ref_is_const(s->at);
  return named <= NAME_MEMORY && s->function == VYRE_OP_NONE && !s->sugar;
}

bool parser_number(parser *p, const char *wanted, uint32_t times, ref *out) {
  formula_term terms[LIMIT_TERMS];
  uint32_t count, offset = p->token.offset;
  vyre_scalar value;
  *out = 0;
  if (is_no_number(p) && !builder_tunable_count(p->builder))
    return parser_fail_expected(p, wanted, "write a plain number, or a `const`");
  if (!read_formula(p, VYRE_U32, true, terms, &count)) return false;
  vyre_type type = (vyre_type)terms[count - 1].type;
  if (type != VYRE_U32) return fail_type(p, offset, type, VYRE_U32);
  if (!multiply(p, times, terms, &count)) return false;
  if (has_tunable(terms, count)) {
    *out = builder_formula(p->builder, terms, count);
    return *out != 0;
  }
  if (!formula_value(terms, count, NULL, 0, NULL, &value))
    return parser_fail(p, TEXT_P055, offset,
                       "this cannot be computed when the text is read. Fix: write the number");
  *out = vyre_build_u32(p->builder, (uint32_t)value.bits);
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
  if (!is_alone(terms, count))
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
  for (uint32_t i = 0; i < p->options->given_count; i++) {
    const tunable_given *g = &p->options->given[i];
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
  uint32_t name_offset = p->token.offset;
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
  parser_at(p, offset);
  vyre_value made = vyre_build_tunable(p->builder, name, t.type, t.count, values, chosen);
  if (!made) return false;
  parser_bind(p, number, NAME_TUNABLE, t.type, made, name_offset);
  if (parser_take_word(p, WORD_WHERE) && !read_where(p, made)) return false;
  return parser_end_item(p);
}

// ---- constants ----------------------------------------------------------------------------------

// A number alone, or with a minus, whose type the place tells where it is used.
static bool is_untyped(const parser *p) {
  const expression *e = &p->expr;
  return e->nodes.count == 1 && e->nodes.at[0].kind == NODE_LITERAL &&
         e->nodes.at[0].type == VYRE_VOID;
}

static bool bind_untyped(parser *p, uint32_t number, uint32_t offset) {
  if (!vec_push(&p->literals, p->expr.nodes.at[0].literal)) return parser_fail_memory(p);
  parser_bind(p, number, NAME_LITERAL, VYRE_VOID, (uint32_t)p->literals.count - 1, offset);
  return true;
}

bool parser_const(parser *p) {
  uint32_t number, offset, root, count, value_offset;
  vyre_type type = VYRE_VOID;
  formula_term terms[LIMIT_TERMS];
  vyre_scalar value;
  parser_drop_comments(p);
  parser_next(p);
  if (!parser_new_name(p, &number, &offset)) return false;
  if (p->token.kind == TOKEN_COLON) {
    parser_next(p);
    if (!parser_type(p, &type)) return false;
  }
  if (!parser_expect(p, TOKEN_ASSIGN, "`=`")) return false;
  expression_begin(p);
  value_offset = p->token.offset;
  p->in_formula = true;
  bool ok = expression_read(p, false, &root);
  p->in_formula = false;
  if (!ok) return false;
  if (type == VYRE_VOID && is_untyped(p))
    return bind_untyped(p, number, offset) && parser_end_extra(p);
  if (type != VYRE_VOID) expression_demand(p, root, type);
  if (!expression_terms(p, terms, &count)) return false;
  vyre_type given = (vyre_type)terms[count - 1].type;
  if (type != VYRE_VOID && given != type) return fail_type(p, value_offset, given, type);
  if (has_tunable(terms, count) || !formula_value(terms, count, NULL, 0, NULL, &value))
    return parser_fail(
        p, TEXT_P055, value_offset,
        "a constant is computed from numbers and constants. Fix: use no tunables, or "
        "name it with `let` where it is used");
  ref made = vyre_build_const(p->builder, given, value.bits);
  if (!made) return false;
  parser_bind(p, number, NAME_VALUE, given, made, offset);
  return parser_end_extra(p);
}

bool parser_all_given(parser *p) {
  for (uint32_t i = 0; i < p->options->given_count; i++) {
    const tunable_given *g = &p->options->given[i];
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
