// SPDX-License-Identifier: MIT
//
// Tunables in the printed text: their declarations, and the formulas of workgroups, lengths and
// conditions. A formula is a short list of terms in postfix order, so it is written by going down
// from its last term; LIMIT_TERMS bounds how deep.
#include "ir/limits.h"
#include "ir/text_printer.h"
#include "ir/tunable.h"

static void put_name(printer *pr, uint32_t number) {
  name_put(pr, pr->program->tunables[number].name, pr->tunable_numbers[number]);
}

// ---- formulas -----------------------------------------------------------------------------------

// Where the part begins that ends with the term at `end - 1`.
static uint32_t part_begin(const formula_term *terms, uint32_t end) {
  uint32_t missing = 1;
  while (missing) {
    const formula_term *t = &terms[--end];
    bool is_leaf = t->op == VYRE_OP_NONE || t->op == TERM_TUNABLE;
    missing += (is_leaf ? 0 : op_table[t->op].operand_count) - 1u;
  }
  return end;
}

// The ends of an operation's operands.
static int operand_ends(const formula_term *terms, uint32_t end, uint32_t ends[3]) {
  int count = op_table[terms[end - 1].op].operand_count;
  uint32_t at = end - 1;
  for (int k = count; k-- > 0;) {
    ends[k] = at;
    at = part_begin(terms, at);
  }
  return count;
}

static bool is_operation(const formula_term *t) {
  return t->op != VYRE_OP_NONE && t->op != TERM_TUNABLE;
}

// Whether its type can be told without the numbers in it, as the parser would.
static bool is_known(const formula_term *terms, uint32_t end) {
  const formula_term *t = &terms[end - 1];
  if (t->op == TERM_TUNABLE) return true;
  if (t->op == VYRE_OP_NONE) return literal_tells_type((vyre_type)t->type, t->bits);
  if (!text_result_in_group((vyre_op)t->op)) return true;
  uint32_t ends[3];
  int count = operand_ends(terms, end, ends);
  for (int k = 0; k < count; k++)
    if (text_slot_demand((vyre_op)t->op, k) == DEMAND_GROUP && is_known(terms, ends[k]))
      return true;
  return false;
}

static int binding_of(const formula_term *terms, uint32_t end) {
  uint32_t ends[3];
  operand_ends(terms, end, ends);
  return text_binding((vyre_op)terms[end - 1].op, (vyre_type)terms[ends[0] - 1].type);
}

static bool is_infix(const formula_term *t) {
  return is_operation(t) && op_table[t->op].infix[0];
}

static bool needs_parens(const formula_term *terms, uint32_t end, int slot, uint32_t inner) {
  if (!is_infix(&terms[end - 1]) || !is_infix(&terms[inner - 1])) return false;
  int outer = binding_of(terms, end), within = binding_of(terms, inner);
  if (within < outer) return true;
  if (within == outer) return slot == 1 || outer == BIND_COMPARISON;
  bool is_bitwise =
      (outer > BIND_COMPARISON && outer < 8) || (within > BIND_COMPARISON && within < 8);
  return is_bitwise;
}

static void put_part(printer *pr, const formula_term *terms, uint32_t end, bool is_typed);

static void put_operation(printer *pr, const formula_term *terms, uint32_t end, bool is_typed) {
  const formula_term *t = &terms[end - 1];
  vyre_op op = (vyre_op)t->op;
  uint32_t ends[3];
  int count = operand_ends(terms, end, ends);
  bool is_group_typed = text_result_in_group(op) && is_typed;
  for (int k = 0; k < count; k++)
    is_group_typed |= text_slot_demand(op, k) == DEMAND_GROUP && is_known(terms, ends[k]);
  bool has_infix = is_infix(t);
  bool is_sign = op == VYRE_OP_NOT && !is_infix(&terms[ends[0] - 1]); // `!x`
  if (op == VYRE_OP_NOT)
    line_puts(pr, t->type == VYRE_BOOL ? "!" : "~");
  else if (!has_infix)
    line_puts(pr, op == VYRE_OP_CONVERT ? type_table[t->type].name : op_table[op].name);
  if (!has_infix && !is_sign) line_puts(pr, "(");
  for (int k = 0; k < count; k++) {
    text_demand demand = text_slot_demand(op, k);
    bool has_parens = needs_parens(terms, end, k, ends[k]);
    if (k && has_infix) {
      line_puts(pr, " ");
      line_puts(pr, text_operator(op, (vyre_type)terms[ends[0] - 1].type));
      line_puts(pr, " ");
    } else if (k) {
      line_puts(pr, ", ");
    }
    if (has_parens) line_puts(pr, "(");
    put_part(pr, terms, ends[k], demand == DEMAND_GROUP ? is_group_typed : demand == DEMAND_BOOL);
    if (has_parens) line_puts(pr, ")");
    if (demand == DEMAND_GROUP) is_group_typed = true; // one suffix tells the type of all
  }
  if (!has_infix && !is_sign) line_puts(pr, ")");
}

static void put_part(printer *pr, const formula_term *terms, uint32_t end, bool is_typed) {
  const formula_term *t = &terms[end - 1];
  if (t->op == TERM_TUNABLE) {
    put_name(pr, t->tunable);
  } else if (t->op != VYRE_OP_NONE) {
    put_operation(pr, terms, end, is_typed);
  } else {
    literal_print(&pr->line, (vyre_type)t->type, t->bits, false);
    if (!is_typed && !literal_tells_type((vyre_type)t->type, t->bits))
      line_puts(pr, type_table[t->type].name);
  }
}

static void put_formula(printer *pr, range terms) {
  put_part(pr, pr->program->terms + terms.first, terms.end - terms.first, true);
}

void formula_put_or_number(printer *pr, use_kind kind, uint32_t at, uint32_t slot,
                           uint32_t number) {
  const tunable_use *use = tunable_find_use(pr->program, kind, at, slot);
  if (use)
    put_formula(pr, use->terms);
  else
    strbuf_printf(&pr->line, "%u", number);
}

// ---- declarations -------------------------------------------------------------------------------

void tunable_put_declaration(printer *pr, uint32_t number) {
  const tunable *t = &pr->program->tunables[number];
  comments_before_item(pr);
  pr->tunable_numbers[number] = name_declare(pr, t->name);
  line_puts(pr, "tunable ");
  put_name(pr, number);
  line_puts(pr, ": ");
  line_puts(pr, type_table[t->type].name);
  if (t->chosen) {
    line_puts(pr, " = ");
    literal_print(&pr->line, t->type, t->values[t->chosen], false);
  }
  line_puts(pr, " in (");
  for (uint32_t i = 0; i < t->count; i++) {
    if (i) line_puts(pr, ", ");
    if (i) line_break_after(pr, 0);
    literal_print(&pr->line, t->type, t->values[i], false);
  }
  line_puts(pr, ")");
  if (t->where.first < t->where.end) {
    line_puts(pr, " where ");
    put_formula(pr, t->where);
  }
  line_put(pr, comment_after_item(pr));
}

// Marks the operands that are tunables, so that expressions name them.
void tunable_mark_operands(printer *pr) {
  const vyre_program *p = pr->program;
  for (uint32_t i = 0; i < p->use_count && p->uses[i].kind == USE_OPERAND; i++)
    pr->ops[p->uses[i].at].tunables |= (uint8_t)(1u << p->uses[i].slot);
}

void tunable_put_operand(printer *pr, use_kind kind, uint32_t at, uint32_t slot) {
  const tunable_use *use = tunable_find_use(pr->program, kind, at, slot);
  if (use) put_name(pr, pr->program->terms[use->terms.first].tunable);
}
