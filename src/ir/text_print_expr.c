// SPDX-License-Identifier: MIT
//
// Names and expressions of the printed text. An expression is the stretch of code that ends at its
// operation: text_print.c only writes an operation inside of another where reading the text back
// gives the same order. So the types of numbers are found as the parser finds them, by one walk
// forwards over the stretch and one backwards.
#include "ir/text_printer.h"
#include "ir/tunable.h"

#include <string.h>

// ---- names --------------------------------------------------------------------------------------

void name_put(printer *pr, const char *name, uint32_t number) {
  bool is_named = name && *name;
  if (is_named) strbuf_puts(&pr->line, name);
  if (!is_named || number > 1) strbuf_printf(&pr->line, "$%u", number);
}

void name_put_op(printer *pr, uint32_t op) {
  name_put(pr, pr->program->names ? pr->program->names[op] : NULL, pr->ops[op].number);
}

// Things of one name end in the reverse order of their declaration, so counting those that can be
// seen gives each a number of its own. A word of the language counts as one.
uint32_t name_declare(printer *pr, const char *name) {
  if (!name || !*name) return ++pr->unnamed;
  uint32_t size = (uint32_t)strlen(name);
  uint32_t number = symbols_intern(&pr->symbols, name, size, size);
  if (number == UINT32_MAX || !vec_push(&pr->scope, number)) {
    pr->failed = true;
    return 1;
  }
  symbol *s = &pr->symbols.list.at[number];
  return ++s->count + word_is_reserved(s->word);
}

void scope_end(printer *pr, size_t count) {
  while (pr->scope.count > count) pr->symbols.list.at[pr->scope.at[--pr->scope.count]].count--;
}

static void put_memory(printer *pr, uint32_t mem) {
  uint32_t i = mem_index(mem);
  const vyre_program *p = pr->program;
  switch (mem_space(mem)) {
  case MEM_BUFFER: name_put(pr, p->buffers[i].name, pr->buffer_numbers[i]); break;
  case MEM_SHARED: name_put(pr, p->shared[i].name, pr->shared_numbers[i]); break;
  case MEM_PRIVATE: name_put_op(pr, i);
  }
}

// ---- form ---------------------------------------------------------------------------------------

static vyre_type operand_type(const vyre_program *p, uint32_t op) {
  return ref_type(p, p->code[op].arg[0]);
}

static int binding_of(const vyre_program *p, uint32_t op) {
  return text_binding((vyre_op)p->code[op].op, operand_type(p, op));
}

static bool is_sign(const inst *in) { // `-x`; a minus before a number would be part of it
  return (in->op == VYRE_OP_NEG && !ref_is_const(in->arg[0])) || in->op == VYRE_OP_NOT;
}

unsigned expression_nesting(const vyre_program *p, uint32_t op) {
  const inst *in = &p->code[op];
  if (op_is_atomic(in->op)) return 2;
  if (!strchr(op_table[in->op].operands, 'v')) return 0;
  if (op_is((vyre_op)in->op, OPF_STMT)) return 0;
  bool is_infix = op_table[in->op].infix[0] != 0;
  return !is_infix;
}

// Shifts and bit operations bind otherwise in other languages: with them, parentheses are clearer.
static bool is_bitwise(const vyre_program *p, uint32_t op) {
  int binding = binding_of(p, op);
  return binding > BIND_COMPARISON && binding < 8;
}

bool expression_needs_parens(const vyre_program *p, uint32_t op, int slot, uint32_t operand) {
  const inst *in = &p->code[op], *inner = &p->code[operand];
  if (is_sign(in))
    return op_table[inner->op].infix[0] || (in->op == VYRE_OP_NEG && inner->op == VYRE_OP_NEG);
  if (!op_table[in->op].infix[0] || !op_table[inner->op].infix[0]) return false;
  int outer_binding = binding_of(p, op), inner_binding = binding_of(p, operand);
  if (inner_binding < outer_binding) return true;
  if (inner_binding == outer_binding) return slot == 1 || outer_binding == BIND_COMPARISON;
  return is_bitwise(p, op) || is_bitwise(p, operand);
}

static bool is_tunable(const printer *pr, uint32_t op, int slot) {
  return pr->ops[op].tunables >> slot & 1;
}

bool expression_has_step(const printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  return is_tunable(pr, op, 2) || pr->program->consts[ref_index(in->arg[2])].bits != 1;
}

// A for that counts by one does not say so.
static bool is_printed(const printer *pr, uint32_t op, int slot) {
  const inst *in = &pr->program->code[op];
  return op_table[in->op].operands[slot] == 'v' &&
         !(in->op == VYRE_OP_FOR && slot == 2 && !expression_has_step(pr, op));
}

// ---- types of numbers ---------------------------------------------------------------------------

static bool is_known(const printer *pr, uint32_t op, int slot) {
  ref r = pr->program->code[op].arg[slot];
  if (is_tunable(pr, op, slot)) return true;
  if (!ref_is_const(r)) return !(pr->ops[r].flags & OP_INLINE) || (pr->ops[r].flags & OP_KNOWN);
  const constant *c = &pr->program->consts[ref_index(r)];
  return literal_tells_type((vyre_type)c->type, c->bits);
}

static bool is_group_known(const printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  for (int k = 0; k < op_table[in->op].operand_count; k++)
    if (is_printed(pr, op, k) && text_slot_demand((vyre_op)in->op, k) == DEMAND_GROUP &&
        is_known(pr, op, k))
      return true;
  return false;
}

static void need_suffix(printer *pr, uint32_t op, int slot) {
  ref r = pr->program->code[op].arg[slot];
  if (ref_is_const(r))
    pr->ops[op].suffixes |= (uint8_t)(1 << slot);
  else
    pr->ops[r].flags |= OP_NEEDS;
}

static void hand_down(printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  // One suffix tells the type of the whole group.
  bool group_needs = text_result_in_group((vyre_op)in->op)
                         ? !(pr->ops[op].flags & OP_KNOWN) && (pr->ops[op].flags & OP_NEEDS)
                         : !is_group_known(pr, op);
  for (int k = 0; k < op_table[in->op].operand_count; k++) {
    if (!is_printed(pr, op, k) || is_known(pr, op, k)) continue;
    switch (text_slot_demand((vyre_op)in->op, k)) {
    case DEMAND_NONE: need_suffix(pr, op, k); break;
    case DEMAND_INDEX:
      if (ref_type(pr->program, in->arg[k]) != VYRE_U32) need_suffix(pr, op, k);
      break;
    case DEMAND_GROUP:
      if (group_needs) need_suffix(pr, op, k);
      group_needs = false;
      break;
    case DEMAND_BOOL:
    case DEMAND_ELEMENT: break;
    }
  }
}

void expression_infer(printer *pr, uint32_t op, bool is_typed) {
  uint32_t first = pr->ops[op].first;
  for (uint32_t i = first; i <= op; i++) {
    const inst *in = &pr->program->code[i];
    if (!text_result_in_group((vyre_op)in->op) || is_group_known(pr, i))
      pr->ops[i].flags |= OP_KNOWN;
  }
  if (!is_typed) pr->ops[op].flags |= OP_NEEDS;
  for (uint32_t i = op + 1; i-- > first;) hand_down(pr, i);
}

// ---- writing ------------------------------------------------------------------------------------

static void put_constant(printer *pr, ref r, bool with_suffix, bool as_hex) {
  uint32_t i = ref_index(r);
  const constant *c = &pr->program->consts[i];
  vyre_type type = (vyre_type)c->type;
  if (type_is_float(type)) { // finding the shortest digits takes time: once per constant
    if (!pr->number_at[i]) {
      size_t at = pr->numbers.size;
      literal_print(&pr->numbers, type, c->bits, false);
      pr->number_at[i] = (uint32_t)at + 1;
      pr->number_size[i] = (uint32_t)(pr->numbers.size - at);
    }
    if (!pr->numbers.failed)
      strbuf_add(&pr->line, pr->numbers.at + pr->number_at[i] - 1, pr->number_size[i]);
  } else {
    literal_print(&pr->line, type, c->bits, as_hex);
  }
  if (with_suffix && !literal_tells_type(type, c->bits)) line_puts(pr, type_table[type].name);
}

static void push_item(printer *pr, print_item item) {
  if (!vec_push(&pr->items, item)) pr->failed = true;
}

static void push_text(printer *pr, const char *text) {
  push_item(pr, (print_item){.text = text, .binding = -1});
}

static void push_operand(printer *pr, uint32_t op, int slot) {
  push_item(pr, (print_item){.op = op, .slot = (int8_t)slot});
}

// Items are pushed last first.
static void push_arguments(printer *pr, uint32_t op, int from) {
  push_text(pr, ")");
  for (int k = op_table[pr->program->code[op].op].operand_count - 1; k >= from; k--) {
    push_operand(pr, op, k);
    if (k > from) push_item(pr, (print_item){.text = ", ", .binding = 0});
  }
}

static void put_call(printer *pr, uint32_t op, const char *prefix, const char *name) {
  line_puts(pr, prefix);
  line_puts(pr, name);
  line_puts(pr, "(");
  push_arguments(pr, op, 0);
}

static void put_infix(printer *pr, uint32_t op) {
  int binding = binding_of(pr->program, op);
  push_operand(pr, op, 1);
  push_item(pr, (print_item){.text = " ", .binding = (int8_t)binding});
  push_text(pr, text_operator((vyre_op)pr->program->code[op].op, operand_type(pr->program, op)));
  push_text(pr, " ");
  push_operand(pr, op, 0);
}

static void put_atomic(printer *pr, uint32_t op) {
  const inst *in = &pr->program->code[op];
  line_puts(pr, op_table[in->op].name);
  line_puts(pr, "(");
  put_memory(pr, in->arg[0]);
  line_puts(pr, "[");
  push_arguments(pr, op, 2);
  push_item(pr, (print_item){.text = "], ", .binding = 0});
  push_operand(pr, op, 1);
}

static void put_element(printer *pr, uint32_t op) {
  put_memory(pr, pr->program->code[op].arg[0]);
  line_puts(pr, "[");
  push_text(pr, "]");
  push_operand(pr, op, 1);
}

static void put_operation(printer *pr, uint32_t op) {
  static const char *const axes[] = {".x", ".y", ".z"};
  const vyre_program *p = pr->program;
  const inst *in = &p->code[op];
  const char *type = type_table[in->type].name;
  switch ((op_rule)op_table[in->op].rule) {
  case RULE_CONVERT: put_call(pr, op, "", type); return;
  case RULE_BITCAST: put_call(pr, op, "as_", type); return;
  case RULE_PARAM: name_put(pr, p->params[in->arg[0]].name, pr->param_numbers[in->arg[0]]); return;
  case RULE_LEN:
    line_puts(pr, "len(");
    put_memory(pr, MEM_REF(MEM_BUFFER, in->arg[0]));
    line_puts(pr, ")");
    return;
  case RULE_AXIS:
    line_puts(pr, op_table[in->op].name);
    line_puts(pr, axes[in->arg[0]]);
    return;
  case RULE_GET: name_put_op(pr, in->arg[0]); return;
  case RULE_LOAD: put_element(pr, op); return;
  case RULE_ATOMIC: put_atomic(pr, op); return;
  case RULE_NONE:
  case RULES_IN_ONE_TYPE:
  case RULE_EQUALITY:
  case RULE_ORDER:
  case RULE_SELECT:
  case RULE_COPY:
  case RULES_STATEMENT:
  case RULES_LOWERED: break;
  }
  if (op_table[in->op].infix[0])
    put_infix(pr, op);
  else if (!is_sign(in))
    put_call(pr, op, "", op_table[in->op].name);
  else {
    line_puts(pr, in->op == VYRE_OP_NEG ? "-" : in->type == VYRE_BOOL ? "!" : "~");
    push_operand(pr, op, 0);
  }
}

static void put_operand(printer *pr, uint32_t op, int slot) {
  const inst *in = &pr->program->code[op];
  ref r = in->arg[slot];
  if (is_tunable(pr, op, slot)) {
    tunable_put_operand(pr, USE_OPERAND, op, (uint32_t)slot);
  } else if (ref_is_const(r)) {
    bool is_bits = in->op == VYRE_OP_AND || in->op == VYRE_OP_OR || in->op == VYRE_OP_XOR;
    put_constant(pr, r, pr->ops[op].suffixes >> slot & 1, is_bits);
  } else if (!(pr->ops[r].flags & OP_INLINE)) {
    name_put_op(pr, r);
  } else if (expression_needs_parens(pr->program, op, slot, r)) {
    push_text(pr, ")");
    push_item(pr, (print_item){.op = r, .slot = -1});
    line_puts(pr, "(");
  } else {
    put_operation(pr, r);
  }
}

static void put_items(printer *pr) {
  while (pr->items.count) {
    print_item item = pr->items.at[--pr->items.count];
    if (!item.text) {
      if (item.slot < 0)
        put_operation(pr, item.op);
      else
        put_operand(pr, item.op, item.slot);
      continue;
    }
    line_puts(pr, item.text);
    if (item.binding >= 0) line_break_after(pr, item.binding);
  }
}

void expression_put(printer *pr, uint32_t op) {
  put_operation(pr, op);
  put_items(pr);
}

void expression_put_operand(printer *pr, uint32_t op, int slot) {
  put_operand(pr, op, slot);
  put_items(pr);
}

void expression_put_element(printer *pr, uint32_t op) {
  put_element(pr, op);
  put_items(pr);
}

void expression_put_extent(printer *pr, ref r, use_kind kind, uint32_t at, uint32_t slot) {
  bool is_default = ref_type(pr->program, r) == VYRE_U32;
  if (ref_is_const(r) && tunable_find_use(pr->program, kind, at, slot)) {
    tunable_put_operand(pr, kind, at, slot);
  } else if (ref_is_const(r)) {
    put_constant(pr, r, !is_default, false);
  } else if (!(pr->ops[r].flags & OP_INLINE)) {
    name_put_op(pr, r);
  } else {
    expression_infer(pr, r, is_default);
    expression_put(pr, r);
  }
}
