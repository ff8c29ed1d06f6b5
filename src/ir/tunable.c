// SPDX-License-Identifier: MIT
#include "ir/tunable.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "base/strbuf.h"
#include "ir/eval.h"
#include "ir/limits.h"
#include "ir/text_literal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- formulas -----------------------------------------------------------------------------------

static bool are_same(const vyre_type *types, int count) {
  for (int i = 1; i < count; i++)
    if (types[i] != types[0]) return false;
  return true;
}

vyre_type formula_type(vyre_op op, vyre_type type, const vyre_type *t) {
  if (op <= VYRE_OP_NONE || op >= VYRE_OP_COUNT || !eval_can(op)) return VYRE_VOID;
  int count = op_table[op].operand_count;
  bool same = are_same(t, count);
  switch ((op_rule)op_table[op].rule) {
  case RULE_ARITH: return same && type_is_numeric(t[0]) ? t[0] : VYRE_VOID;
  case RULE_INT: return same && type_is_int(t[0]) ? t[0] : VYRE_VOID;
  case RULE_BITS: return same && (type_is_int(t[0]) || t[0] == VYRE_BOOL) ? t[0] : VYRE_VOID;
  case RULE_FLOAT: return same && type_is_float(t[0]) ? t[0] : VYRE_VOID;
  case RULE_EQUALITY: return same ? VYRE_BOOL : VYRE_VOID;
  case RULE_ORDER: return same && type_is_numeric(t[0]) ? VYRE_BOOL : VYRE_VOID;
  case RULE_SELECT: return t[0] == VYRE_BOOL && t[1] == t[2] ? t[1] : VYRE_VOID;
  case RULE_CONVERT: return type > VYRE_VOID && type < VYRE_TYPE_COUNT ? type : VYRE_VOID;
  case RULE_NONE:
  case RULE_BITCAST:
  case RULE_COPY:
  case RULES_LAUNCH:
  case RULE_LOAD:
  case RULE_ATOMIC:
  case RULE_GET:
  case RULES_STATEMENT:
  case RULES_LOWERED: break;
  }
  return VYRE_VOID;
}

typedef struct stack {
  vyre_type types[LIMIT_TERMS];
  uint64_t bits[LIMIT_TERMS];
  uint32_t count;
} stack;

// Takes the operands off the stack, and puts the result there.
static bool apply(stack *s, const formula_term *t) {
  if (t->op >= VYRE_OP_COUNT) return false;
  uint32_t count = op_table[t->op].operand_count;
  if (!count || s->count < count) return false;
  s->count -= count;
  const vyre_type *types = s->types + s->count;
  vyre_type type = formula_type((vyre_op)t->op, (vyre_type)t->type, types);
  if (type == VYRE_VOID || type != t->type) return false;
  uint64_t args[3] = {0};
  memcpy(args, s->bits + s->count, count * sizeof *args);
  vyre_type operand = types[t->op == VYRE_OP_SELECT];
  s->bits[s->count] = eval_op((vyre_op)t->op, type, operand, args);
  s->types[s->count++] = type;
  return true;
}

bool formula_value(const formula_term *terms, uint32_t count, const tunable *tunables,
                   uint32_t tunable_count, const uint64_t *values, vyre_scalar *out) {
  stack s;
  s.count = 0;
  if (!count || count > LIMIT_TERMS) return false;
  for (uint32_t i = 0; i < count; i++) {
    const formula_term *t = &terms[i];
    if (t->op != VYRE_OP_NONE && t->op != TERM_TUNABLE) {
      if (!apply(&s, t)) return false;
      continue;
    }
    bool is_tunable = t->op == TERM_TUNABLE;
    if (t->type == VYRE_VOID || t->type >= VYRE_TYPE_COUNT) return false;
    if (is_tunable && (t->tunable >= tunable_count || tunables[t->tunable].type != t->type))
      return false;
    if (!is_tunable && t->bits != type_canonical_bits((vyre_type)t->type, t->bits)) return false;
    s.types[s.count] = (vyre_type)t->type;
    s.bits[s.count++] = is_tunable ? values[t->tunable] : t->bits;
  }
  *out = (vyre_scalar){s.types[0], s.bits[0]};
  return s.count == 1;
}

// ---- of a program -------------------------------------------------------------------------------

void tunable_chosen(const vyre_program *p, uint64_t values[]) {
  for (uint32_t i = 0; i < p->tunable_count; i++)
    values[i] = p->tunables[i].values[p->tunables[i].chosen];
}

const tunable *tunable_broken(const vyre_program *p, const uint64_t *values) {
  for (uint32_t i = 0; i < p->tunable_count; i++) {
    const tunable *t = &p->tunables[i];
    vyre_scalar holds;
    if (t->where.first == t->where.end) continue;
    if (!formula_value(p->terms + t->where.first, t->where.end - t->where.first, p->tunables,
                       p->tunable_count, values, &holds) ||
        !holds.bits)
      return t;
  }
  return NULL;
}

int tunable_compare_uses(const tunable_use *a, const tunable_use *b) {
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  return (a->slot > b->slot) - (a->slot < b->slot);
}

const tunable_use *tunable_find_use(const vyre_program *p, use_kind kind, uint32_t at,
                                    uint32_t slot) {
  tunable_use key = {.kind = kind, .at = at, .slot = slot};
  uint32_t from = 0, to = p->use_count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    int order = tunable_compare_uses(&p->uses[middle], &key);
    if (!order) return &p->uses[middle];
    if (order < 0)
      from = middle + 1;
    else
      to = middle;
  }
  return NULL;
}

// ---- values -------------------------------------------------------------------------------------

int tunable_find_value(const tunable *t, const char *text, size_t size) {
  uint64_t bits;
  if (!literal_read_text(text, size, t->type, &bits)) return -1;
  for (uint32_t i = 0; i < t->count; i++)
    if (t->values[i] == bits) return (int)i;
  return -1;
}

const char *tunable_list(const tunable *t, char *buffer) {
  enum { ROOM = 160, KEPT = 120 };
  strbuf list = {0};
  for (uint32_t i = 0; i < t->count && list.size < KEPT; i++) {
    if (i) strbuf_puts(&list, ", ");
    literal_print(&list, t->type, t->values[i], false);
  }
  char *text = strbuf_take(&list, NULL);
  snprintf(buffer, ROOM, "%.*s%s", KEPT, text ? text : "",
           text && strlen(text) > KEPT ? "..." : "");
  free(text);
  return buffer;
}

vyre_status tunable_give(const vyre_program *program, const tunable_given *given,
                         uint32_t given_count, vyre_program **out, vyre_error *error) {
  char *text;
  size_t size;
  vyre_status status = vyre_program_print(program, &text, &size, error);
  if (status != VYRE_OK) return status;
  status = text_parse(text, size, program->name, given, given_count, out, error);
  free(text);
  return status;
}

// ---- public -------------------------------------------------------------------------------------

uint32_t vyre_program_tunable_count(const vyre_program *p) {
  return p ? p->tunable_count : 0;
}

vyre_tunable_info vyre_program_tunable(const vyre_program *p, uint32_t index) {
  if (index >= vyre_program_tunable_count(p)) return (vyre_tunable_info){0};
  const tunable *t = &p->tunables[index];
  return (vyre_tunable_info){.name = t->name,
                             .type = t->type,
                             .count = t->count,
                             .chosen = t->chosen,
                             .values = t->values};
}

static bool take_values(const vyre_program *p, const uint32_t *chosen, uint64_t *values) {
  for (uint32_t i = 0; i < p->tunable_count; i++) {
    if (chosen[i] >= p->tunables[i].count) return false;
    values[i] = p->tunables[i].values[chosen[i]];
  }
  return true;
}

bool vyre_program_tunables_hold(const vyre_program *p, const uint32_t *chosen) {
  FPENV_SCOPE;
  uint64_t values[LIMIT_TUNABLES];
  if (!p || (p->tunable_count && !chosen)) return false;
  return take_values(p, chosen, values) && !tunable_broken(p, values);
}

// Reading the printed text again with other values is what makes the places follow: the text says
// where each tunable is used, and reading it back gives the same program.
vyre_status vyre_program_tune(vyre_program *p, const uint32_t *chosen, vyre_program **out,
                              vyre_error *error) {
  FPENV_SCOPE;
  uint64_t values[LIMIT_TUNABLES];
  if (out) *out = NULL;
  if (!p || !out || (p->tunable_count && !chosen) || !take_values(p, chosen, values))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_program_tune wants a program, the number of a value for each of its "
                     "tunables and where the program goes. Fix: pass them");
  tunable_given given[LIMIT_TUNABLES];
  char *texts[LIMIT_TUNABLES] = {0};
  vyre_status status = VYRE_OK;
  bool is_same = true;
  for (uint32_t i = 0; i < p->tunable_count; i++) {
    const tunable *t = &p->tunables[i];
    strbuf text = {0};
    is_same &= chosen[i] == t->chosen;
    literal_print(&text, t->type, values[i], false);
    texts[i] = strbuf_take(&text, NULL);
    if (!texts[i]) status = error_out_of_memory(error);
    size_t size = texts[i] ? strlen(texts[i]) : 0;
    given[i] = (tunable_given){t->name, texts[i], strlen(t->name), size};
  }
  if (status == VYRE_OK && is_same)
    *out = vyre_program_retain(p);
  else if (status == VYRE_OK)
    status = tunable_give(p, given, p->tunable_count, out, error);
  for (uint32_t i = 0; i < p->tunable_count; i++) free(texts[i]);
  return status;
}
