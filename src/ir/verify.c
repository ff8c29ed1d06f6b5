// SPDX-License-Identifier: MIT
//
// Two passes over the code. Linking finds the partner of every structure operation with a stack.
// Checking then looks at each operation once: its operands by the letters of ops.def, its types by
// its rule. Whether a value may be used is one look at a byte per operation (`seen`): set when the
// operation has been checked, cleared when the block that holds it is closed.
#include "ir/verify.h"

#include "base/ascii.h"
#include "base/error.h"
#include "ir/limits.h"
#include "ir/op_groups.h"
#include "ir/verify_barrier.h"

#include <stdlib.h>
#include <string.h>

const verify_rule verify_rules[VERIFY_COUNT] = {
#define RULE(code, name, text) {#code, name, text},
#include "ir/verify.def"
};

static vyre_status refuse(vyre_error *error, verify_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

static vyre_status refuse(vyre_error *error, verify_code code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  verify_refuse(error, code, format, args);
  va_end(args);
  return VYRE_ERROR_VERIFY;
}

vyre_status verify_refuse(vyre_error *error, verify_code code, const char *format, va_list args) {
  error_setv(error, VYRE_ERROR_VERIFY, format, args);
  error_code(error, verify_rules[code].code);
  return VYRE_ERROR_VERIFY;
}

// ---- linking ------------------------------------------------------------------------------------

typedef struct linker {
  inst *code;
  uint32_t open[LIMIT_OPEN]; // opening operations, outermost first
  uint32_t depth, limit;
  vyre_error *error;
} linker;

static vyre_status link_else(linker *l, uint32_t i) {
  inst *opening = l->depth ? &l->code[l->open[l->depth - 1]] : NULL;
  if (!opening || opening->op != VYRE_OP_IF || opening->arg[1])
    return refuse(l->error, VERIFY_V002,
                  "`else` does not follow the block of an `if`. Fix: put it right after the if's "
                  "closing brace, once");
  opening->arg[1] = i;
  l->code[i].arg[1] = l->open[l->depth - 1];
  return VYRE_OK;
}

static vyre_status link_do(linker *l, uint32_t i) {
  inst *opening = l->depth ? &l->code[l->open[l->depth - 1]] : NULL;
  if (!opening || opening->op != VYRE_OP_WHILE || opening->arg[1])
    return refuse(l->error, VERIFY_V003,
                  "a loop condition stands outside of a `while`, or a second time in it. Fix: give "
                  "each while one condition, before its body");
  opening->arg[1] = i;
  l->code[i].arg[1] = l->open[l->depth - 1];
  return VYRE_OK;
}

static vyre_status link_end(linker *l, uint32_t i) {
  if (!l->depth) return refuse(l->error, VERIFY_V001, "`end` closes nothing. Fix: remove it");
  uint32_t at = l->open[--l->depth];
  inst *opening = &l->code[at];
  if (opening->op == VYRE_OP_WHILE && !opening->arg[1])
    return refuse(l->error, VERIFY_V003, "a `while` has no condition. Fix: give it one");
  opening->arg[inst_end_slot(opening)] = i;
  if (opening->op != VYRE_OP_FOR && opening->arg[1]) l->code[opening->arg[1]].arg[2] = i;
  l->code[i].arg[1] = at;
  return VYRE_OK;
}

// A condition is no place to leave the loop from: its value would be missing.
static vyre_status link_jump(linker *l, uint32_t i) {
  for (uint32_t d = l->depth; d > 0; d--) {
    const inst *opening = &l->code[l->open[d - 1]];
    if (opening->op == VYRE_OP_IF) continue;
    if (opening->op == VYRE_OP_WHILE && !opening->arg[1]) break;
    l->code[i].arg[1] = l->open[d - 1];
    return VYRE_OK;
  }
  return refuse(
      l->error, VERIFY_V004,
      "`%s` is not inside the body of a loop. Fix: use `return` to end the invocation, or "
      "move it into a loop",
      op_table[l->code[i].op].name);
}

static vyre_status link_one(linker *l, uint32_t i) {
  inst *in = &l->code[i];
  switch ((vyre_op)in->op) {
  case VYRE_OP_IF:
  case VYRE_OP_FOR:
  case VYRE_OP_WHILE:
    if (l->depth == l->limit)
      return refuse(l->error, VERIFY_V005,
                    "blocks are nested more than %u deep. Fix: split the region or simplify its "
                    "conditions",
                    l->limit);
    l->open[l->depth++] = i;
    for (int k = op_table[in->op].operand_count; k < 4; k++) in->arg[k] = 0;
    return VYRE_OK;
  case VYRE_OP_ELSE: return link_else(l, i);
  case VYRE_OP_DO: return link_do(l, i);
  case VYRE_OP_END: return link_end(l, i);
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE: return link_jump(l, i);
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case OPS_STATE:
  case VYRE_OP_RETURN:
  case VYRE_OP_BARRIER:
  case OPS_NONE: break;
  }
  return VYRE_OK;
}

static vyre_status only_lowered(const char *name, vyre_error *error) {
  return refuse(
      error, VERIFY_V090,
      "`%s` is an operation of lowered programs, which vyre makes itself. Fix: build what "
      "docs/IR.md has in its table of operations",
      name);
}

static vyre_status link_range(vyre_program *p, range part, uint32_t *fault, vyre_error *error) {
  linker l = {.code = p->code, .limit = p->target ? LIMIT_OPEN : LIMIT_DEPTH, .error = error};
  const inst *end = p->code + part.end;
  for (const inst *in = p->code + part.first; in < end; in++) {
    if (in->op != VYRE_OP_NONE && in->op < VYRE_OP_IF)
      continue; // structure operations are the last
    *fault = (uint32_t)(in - p->code);
    if (in->op >= VYRE_OP_COUNT && in->op < OP_COUNT) {
      if (p->target) continue;
      return only_lowered(op_table[in->op].name, error);
    }
    if (in->op == VYRE_OP_NONE || in->op >= OP_COUNT)
      return refuse(error, VERIFY_V011,
                    "%u is the number of no operation of this version. Fix: update vyre, or make "
                    "the program again",
                    in->op);
    vyre_status status = link_one(&l, *fault);
    if (status != VYRE_OK) return status;
  }
  *fault = l.depth ? l.open[l.depth - 1] : 0;
  if (!l.depth) return VYRE_OK;
  return refuse(error, VERIFY_V001, "a block opened by `%s` is not closed. Fix: add its end",
                op_table[p->code[*fault].op].name);
}

vyre_status verify_link(vyre_program *p, uint32_t *fault, vyre_error *error) {
  vyre_status status = link_range(p, p->header, fault, error);
  for (uint32_t i = 0; i < p->region_count && status == VYRE_OK; i++) {
    status = link_range(p, p->regions[i].grid_code, fault, error);
    if (status == VYRE_OK) status = link_range(p, p->regions[i].body, fault, error);
  }
  return status;
}

// ---- checking operations ------------------------------------------------------------------------

// What an operation is to those after it: the type of a value, or one of these; 0 when it makes
// nothing or cannot be seen from here.
enum { SEEN_FAULT = 0x20, SEEN_VARIABLE = 0x40, SEEN_ARRAY = 0x80 };

typedef struct checker {
  const vyre_program *p;
  const region *region; // NULL in the header
  uint8_t *seen;        // per operation
  uint8_t types[4];     // of the values that the operation at hand takes
  unsigned flags;       // of all operations of this part
  bool has_barrier;
  uint64_t private_bytes;
  uint64_t barrier_work; // what is left of VERIFY_BARRIER_WORK
  vyre_error *error;
  verify_visit *visit; // NULL: the first fault ends the check
  void *data;
  uint32_t told;
} checker;

static const char *type_name(unsigned t) {
  return vyre_type_name((vyre_type)t);
}

static uint8_t seen(const checker *c, uint32_t index) {
  return index < c->p->code_count ? c->seen[index] : 0;
}

static vyre_status check_value(checker *c, const inst *in, int slot) {
  ref r = in->arg[slot];
  if (!ref_is_const(r))
    c->types[slot] = seen(c, r);
  else
    c->types[slot] =
        ref_index(r) < c->p->const_count ? (uint8_t)c->p->consts[ref_index(r)].type : 0;
  if (c->types[slot] != VYRE_VOID && c->types[slot] < VYRE_TYPE_COUNT) return VYRE_OK;
  return refuse(
      c->error, VERIFY_V006,
      "operand %d of `%s` is not a value that can be seen here. Fix: define it before, in "
      "this block or one around it; carry values out of a block in a variable",
      slot + 1, op_table[in->op].name);
}

static vyre_status check_variable(const checker *c, const inst *in) {
  if (seen(c, in->arg[0]) == SEEN_VARIABLE) return VYRE_OK;
  return refuse(c->error, VERIFY_V007,
                "`%s` names a variable that is not declared here. Fix: declare it with `var` in "
                "this block or one around it",
                op_table[in->op].name);
}

static vyre_status undefined_memory(const checker *c, const inst *in) {
  return refuse(c->error, VERIFY_V008,
                "`%s` names a buffer or array that does not exist here. Fix: declare the buffer in "
                "the program, the shared array in this region, the private array in an open block",
                op_table[in->op].name);
}

static vyre_status check_buffer_access(const checker *c, const inst *in, const buffer *b) {
  unsigned op = in->op;
  if (op_is_atomic(op) && b->access != VYRE_READWRITE)
    return refuse(c->error, VERIFY_V043,
                  "`%s` on buffer `%s`, which is not readwrite. Fix: declare it `readwrite`",
                  op_table[op].name, b->name);
  if (op == VYRE_OP_LOAD && !(b->access & VYRE_READ))
    return refuse(c->error, VERIFY_V040,
                  "buffer `%s` is loaded but its access is `write`. Fix: declare it `readwrite`",
                  b->name);
  if (op == VYRE_OP_STORE && !(b->access & VYRE_WRITE))
    return refuse(c->error, VERIFY_V041,
                  "buffer `%s` is stored to but its access is `read`. Fix: declare it `write` or "
                  "`readwrite`",
                  b->name);
  return VYRE_OK;
}

static vyre_status check_memory(const checker *c, const inst *in) {
  uint32_t index = mem_index(in->arg[0]);
  switch (mem_space(in->arg[0])) {
  case MEM_BUFFER:
    if (index >= c->p->buffer_count) return undefined_memory(c, in);
    return check_buffer_access(c, in, &c->p->buffers[index]);
  case MEM_SHARED:
    if (!c->region || index < c->region->shared.first || index >= c->region->shared.end)
      return undefined_memory(c, in);
    return VYRE_OK;
  case MEM_PRIVATE:
    if (seen(c, index) != SEEN_ARRAY) return undefined_memory(c, in);
    if (op_is_atomic(in->op))
      return refuse(c->error, VERIFY_V042,
                    "`%s` on a private array. Fix: no other invocation can see it, so load and "
                    "store instead",
                    op_table[in->op].name);
    return VYRE_OK;
  default: return undefined_memory(c, in);
  }
}

static vyre_type memory_type(const vyre_program *p, uint32_t mem) {
  uint32_t i = mem_index(mem);
  return mem_space(mem) == MEM_BUFFER   ? p->buffers[i].type
         : mem_space(mem) == MEM_SHARED ? p->shared[i].type
                                        : (vyre_type)p->code[i].type;
}

static vyre_status check_number(const checker *c, const inst *in) {
  if (in->op == VYRE_OP_ARRAY) {
    if (in->arg[0]) return VYRE_OK;
    return refuse(c->error, VERIFY_V044,
                  "a private array has no elements. Fix: give it at least 1");
  }
  if (in->arg[0] < 3) return VYRE_OK;
  return refuse(c->error, VERIFY_V010, "axis %u of `%s`. Fix: use 0, 1 or 2 (x, y or z)",
                in->arg[0], op_table[in->op].name);
}

// The first operand, where it is not a value.
static vyre_status check_first(const checker *c, const inst *in) {
  switch (op_table[in->op].operands[0]) {
  case 'x': return check_variable(c, in);
  case 'm': return check_memory(c, in);
  case 'n': return check_number(c, in);
  case 'b':
    if (in->arg[0] >= c->p->buffer_count) return undefined_memory(c, in);
    return VYRE_OK;
  case 'p':
    if (in->arg[0] < c->p->param_count) return VYRE_OK;
    return refuse(c->error, VERIFY_V009,
                  "parameter %u of %u. Fix: declare it in the program's list", in->arg[0],
                  c->p->param_count);
  default: return VYRE_OK;
  }
}

static vyre_status check_operands(checker *c, const inst *in) {
  const op_info *op = &op_table[in->op];
  int slot = op_first_value(op);
  vyre_status status = slot ? check_first(c, in) : VYRE_OK;
  for (; slot < op->operand_count && status == VYRE_OK; slot++) status = check_value(c, in, slot);
  return status;
}

// ---- checking types -----------------------------------------------------------------------------

static vyre_status same_types(const checker *c, const inst *in, int from, int to) {
  for (int k = from + 1; k < to; k++)
    if (c->types[k] != c->types[from])
      return refuse(c->error, VERIFY_V020,
                    "the operands of `%s` are %s and %s. Fix: convert one, as in %s(x)",
                    op_table[in->op].name, type_name(c->types[from]), type_name(c->types[k]),
                    type_name(c->types[from]));
  return VYRE_OK;
}

// The types that the operands of a rule may have, a bit each, and what people call them.
#define TYPES(first, last) ((2u << (last)) - (1u << (first)))
#define INTS               TYPES(VYRE_I8, VYRE_U64)
#define FLOATS             TYPES(VYRE_F32, VYRE_F16)
static const struct taken {
  unsigned types;
  const char *name;
} taken[] = {
    [RULE_ARITH] = {INTS | FLOATS, "numbers"},
    [RULE_INT] = {INTS, "integers"},
    [RULE_BITS] = {INTS | TYPES(VYRE_BOOL, VYRE_BOOL), "integers or bool"},
    [RULE_FLOAT] = {FLOATS, "floats"},
    [RULE_EQUALITY] = {INTS | FLOATS | TYPES(VYRE_BOOL, VYRE_BOOL), "values"},
    [RULE_ORDER] = {INTS | FLOATS, "numbers"},
    [RULE_FOR] = {INTS, "integers"},
};

static vyre_status operand_type(const checker *c, const inst *in) {
  const struct taken *t = &taken[op_table[in->op].rule];
  if (t->types >> c->types[0] & 1) return VYRE_OK;
  return refuse(c->error, VERIFY_V021, "`%s` takes %s, not %s. Fix: convert the operand",
                op_table[in->op].name, t->name, type_name(c->types[0]));
}

static vyre_status result(const checker *c, const inst *in, vyre_type wanted) {
  if (in->type == (uint8_t)wanted) return VYRE_OK;
  return refuse(c->error, VERIFY_V022, "`%s` is marked as %s but gives %s. Fix: mark it as %s",
                op_table[in->op].name, type_name(in->type), type_name(wanted), type_name(wanted));
}

static vyre_status condition(const checker *c) {
  if (c->types[0] == VYRE_BOOL) return VYRE_OK;
  return refuse(c->error, VERIFY_V023, "a condition is %s, not bool. Fix: compare, as in `x != 0`",
                type_name(c->types[0]));
}

static vyre_status index_type(const checker *c) {
  if (type_is_index(c->types[1])) return VYRE_OK;
  return refuse(c->error, VERIFY_V024, "an index is %s. Fix: convert it, as in u32(i)",
                type_name(c->types[1]));
}

static vyre_status stored_type(const checker *c, const inst *in, int slot) {
  vyre_type element = memory_type(c->p, in->arg[0]);
  if (c->types[slot] == element) return VYRE_OK;
  return refuse(c->error, VERIFY_V025,
                "a value of type %s goes into elements of type %s. Fix: "
                "convert it, as in %s(x)",
                type_name(c->types[slot]), type_name(element), type_name(element));
}

static vyre_status check_atomic(const checker *c, const inst *in) {
  vyre_type element = memory_type(c->p, in->arg[0]);
  if (!type_is_index(element) &&
      !(type_is_float(element) && element != VYRE_F16 && !op_is_bit_atomic(in->op)))
    return refuse(c->error, VERIFY_V026,
                  "`%s` on elements of type %s. Fix: use i32, u32, i64 or u64 elements; f32 and "
                  "f64 are added, subtracted, compared and exchanged",
                  op_table[in->op].name, type_name(element));
  vyre_status status = index_type(c);
  for (int k = 2; k < op_table[in->op].operand_count && status == VYRE_OK; k++)
    status = stored_type(c, in, k);
  return status == VYRE_OK ? result(c, in, element) : status;
}

static vyre_status check_for(const checker *c, const inst *in) {
  vyre_status status = same_types(c, in, 0, 3);
  if (status == VYRE_OK) status = operand_type(c, in);
  if (status != VYRE_OK) return status;
  vyre_type t = (vyre_type)c->types[0];
  const constant *step = ref_is_const(in->arg[2]) ? &c->p->consts[ref_index(in->arg[2])] : NULL;
  if (!step || !step->bits || (type_is_signed(t) && (int64_t)step->bits < 0))
    return refuse(c->error, VERIFY_V029,
                  "the step of a `for` is not a constant above zero. Fix: count upwards by a "
                  "literal, and compute the value you need from it");
  return result(c, in, t);
}

static vyre_status check_variable_use(const checker *c, const inst *in) {
  vyre_type t = (vyre_type)c->p->code[in->arg[0]].type;
  if (in->op == VYRE_OP_GET) return result(c, in, t);
  if (c->types[1] != t)
    return refuse(c->error, VERIFY_V028,
                  "a variable of type %s is set to a value of type %s. Fix: "
                  "convert it, as in %s(x)",
                  type_name(t), type_name(c->types[1]), type_name(t));
  return result(c, in, VYRE_VOID);
}

static vyre_status check_same(const checker *c, const inst *in) {
  const op_info *op = &op_table[in->op];
  vyre_status status = same_types(c, in, 0, op->operand_count);
  if (status == VYRE_OK) status = operand_type(c, in);
  if (status != VYRE_OK) return status;
  bool is_comparison = op->rule == RULE_ORDER || op->rule == RULE_EQUALITY;
  return result(c, in, is_comparison ? VYRE_BOOL : (vyre_type)c->types[0]);
}

static vyre_status check_bitcast(const checker *c, const inst *in) {
  vyre_type from = (vyre_type)c->types[0];
  if (type_bits(from) == type_bits(in->type) && from != VYRE_BOOL) return VYRE_OK;
  return refuse(c->error, VERIFY_V027,
                "a bitcast from %s to %s. Fix: use types of the same width, "
                "or convert the value",
                type_name(from), type_name(in->type));
}

static vyre_status check_words(const checker *c, const inst *in) {
  for (int k = 1; k < op_table[in->op].operand_count; k++)
    if (c->types[k] != VYRE_U32)
      return refuse(c->error, VERIFY_V021, "`%s` takes u32, not %s. Fix: convert the operand",
                    op_table[in->op].name, type_name(c->types[k]));
  return result(c, in, op_table[in->op].rule == RULE_WORD ? VYRE_U32 : VYRE_VOID);
}

static vyre_status no_type(const checker *c, const inst *in) {
  return refuse(c->error, VERIFY_V012, "`%s` has no type of the IR. Fix: give it one",
                op_table[in->op].name);
}

static vyre_status check_types(const checker *c, const inst *in) {
  vyre_status status;
  op_rule rule = (op_rule)op_table[in->op].rule;
  if (rule >= RULE_ARITH && rule <= RULE_ORDER) return check_same(c, in); // the most
  switch (rule) {
  case RULE_ARITH:
  case RULE_INT:
  case RULE_BITS:
  case RULE_FLOAT:
  case RULE_EQUALITY:
  case RULE_ORDER: return check_same(c, in);
  case RULE_SELECT:
    status = condition(c);
    if (status == VYRE_OK) status = same_types(c, in, 1, 3);
    return status == VYRE_OK ? result(c, in, (vyre_type)c->types[1]) : status;
  case RULE_BITCAST: return in->type ? check_bitcast(c, in) : no_type(c, in);
  case RULE_VAR:
  case RULE_COPY: return result(c, in, (vyre_type)c->types[0]);
  case RULE_PARAM: return result(c, in, c->p->params[in->arg[0]].type);
  case RULE_LEN:
  case RULE_AXIS: return result(c, in, VYRE_U32);
  case RULE_FLAG: return result(c, in, VYRE_BOOL);
  case RULE_WORD:
  case RULE_STORE_WORD: return check_words(c, in);
  case RULE_LOAD:
    status = index_type(c);
    return status == VYRE_OK ? result(c, in, memory_type(c->p, in->arg[0])) : status;
  case RULE_STORE:
    status = index_type(c);
    if (status == VYRE_OK) status = stored_type(c, in, 2);
    return status == VYRE_OK ? result(c, in, VYRE_VOID) : status;
  case RULE_ATOMIC: return check_atomic(c, in);
  case RULE_GET:
  case RULE_SET: return check_variable_use(c, in);
  case RULE_COND:
    status = condition(c);
    return status == VYRE_OK ? result(c, in, VYRE_VOID) : status;
  case RULE_FOR: return check_for(c, in);
  case RULE_NONE: return result(c, in, VYRE_VOID);
  case RULE_CONVERT:
  case RULE_ARRAY: return in->type ? VYRE_OK : no_type(c, in);
  }
  return VYRE_OK;
}

// ---- checking promises --------------------------------------------------------------------------

static bool has_form(const checker *c, const inst *in) {
  bool takes_float = type_is_float(c->types[0]), gives_int = type_is_int(in->type);
  if (!c->p->target || !op_forms[in->op].name) return false;
  if (in->op == VYRE_OP_DIV) return gives_int;
  return (in->op != VYRE_OP_CONVERT && in->op != VYRE_OP_BITCAST) || (takes_float && gives_int);
}

static vyre_status check_promise(const checker *c, const inst *in) {
  if (!in->promised_by || has_form(c, in)) return VYRE_OK;
  return only_lowered(op_forms[in->op].name ? op_forms[in->op].name : "(a promise)", c->error);
}

// ---- checking code ------------------------------------------------------------------------------

// What extents may be made of, so that the host can evaluate them before anything runs.
static vyre_status check_extent_op(const checker *c, const inst *in) {
  const op_info *op = &op_table[in->op];
  bool allowed = (op->flags & OPF_PURE) && !(op->flags & (OPF_ID | OPF_GROUP | OPF_MATH)) &&
                 in->op != VYRE_OP_GLOBAL_SIZE;
  bool has_f16 = in->type == VYRE_F16;
  for (int k = 0; op->operands[k]; k++)
    has_f16 |= op->operands[k] == 'v' && c->types[k] == VYRE_F16;
  if (has_f16) return refuse(c->error, VERIFY_V064, "f16 in an extent. Fix: use f32 or an integer");
  if (!allowed)
    return refuse(c->error, VERIFY_V064,
                  "`%s` in an extent. Fix: use parameters, len(), constants and arithmetic",
                  op->name);
  bool is_sized = in->op == VYRE_OP_LEN && c->p->buffers[in->arg[0]].length;
  if (!c->region && is_sized)
    return refuse(c->error, VERIFY_V065,
                  "the length of a buffer depends on len(%s), which is computed too. Fix: repeat "
                  "its expression instead",
                  c->p->buffers[in->arg[0]].name);
  return VYRE_OK;
}

static void hide(checker *c, uint32_t first, uint32_t end) {
  memset(c->seen + first, 0, end - first);
}

// The counter of a for is seen in its block, and the values of a while's condition in its body:
// only ELSE and END close anything.
static void take_note(checker *c, const inst *in, uint32_t at) {
  c->seen[at] = in->type; // void where nobody can ask for it
  switch ((vyre_op)in->op) {
  case VYRE_OP_ELSE:
  case VYRE_OP_END: hide(c, in->arg[1], at); break;
  case VYRE_OP_VAR: c->seen[at] = SEEN_VARIABLE; break;
  case VYRE_OP_ARRAY:
    c->seen[at] = SEEN_ARRAY;
    c->private_bytes += (uint64_t)in->arg[0] * type_bytes(in->type);
    break;
  case VYRE_OP_BARRIER: c->has_barrier = true; break;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case VYRE_OP_GET:
  case VYRE_OP_SET:
  case VYRE_OP_IF:
  case VYRE_OP_FOR:
  case VYRE_OP_WHILE:
  case VYRE_OP_DO:
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
  case VYRE_OP_RETURN:
  case OPS_NONE: break;
  }
}

// Goes on behind a fault. What takes a value that was at fault is not told again.
static void tell(checker *c, const inst *in, uint32_t at) {
  const op_info *op = &op_table[in->op];
  bool follows = false;
  for (int k = 0; k < op->operand_count; k++) {
    bool is_own = strchr("vV", op->operands[k]) != NULL;
    follows |= is_own && !ref_is_const(in->arg[k]) && seen(c, in->arg[k]) == SEEN_FAULT;
  }
  if (!follows) {
    c->told++;
    c->visit(c->data, at, c->error);
  }
  if (op_is_structure(in->op))
    take_note(c, in, at);
  else
    c->seen[at] = in->op == VYRE_OP_VAR     ? SEEN_VARIABLE
                  : in->op == VYRE_OP_ARRAY ? SEEN_ARRAY
                                            : SEEN_FAULT;
}

static vyre_status check_code(checker *c, range part, bool is_extent, uint32_t *fault) {
  const inst *in = c->p->code + part.first;
  c->flags = 0;
  c->has_barrier = false;
  c->private_bytes = 0;
  for (uint32_t i = part.first; i < part.end; i++, in++) {
    vyre_status status = in->type < VYRE_TYPE_COUNT ? check_operands(c, in) : no_type(c, in);
    if (status == VYRE_OK) status = check_types(c, in);
    if (status == VYRE_OK) status = check_promise(c, in);
    if (status == VYRE_OK && is_extent) status = check_extent_op(c, in);
    if (status != VYRE_OK) {
      *fault = i;
      if (!c->visit) return status;
      tell(c, in, i);
      continue;
    }
    c->flags |= op_table[in->op].flags;
    if (in->op < VYRE_OP_VAR)
      c->seen[i] = in->type;
    else
      take_note(c, in, i);
  }
  hide(c, part.first, part.end);
  return VYRE_OK;
}

// ---- regions ------------------------------------------------------------------------------------

static bool in_range(ref r, range part) {
  return r >= part.first && r < part.end;
}

static vyre_status check_extent(const checker *c, ref r, range part, const char *name) {
  bool is_known = ref_is_const(r) ? ref_index(r) < c->p->const_count : r && in_range(r, part);
  if (!is_known)
    return refuse(c->error, VERIFY_V006,
                  "an extent of `%s` is not a value of its own code. Fix: build it right there",
                  name);
  vyre_type t = ref_type(c->p, r);
  if (!type_is_index(t))
    return refuse(c->error, VERIFY_V063, "an extent of `%s` is %s. Fix: use i32, u32, i64 or u64",
                  name, type_name(t));
  return VYRE_OK;
}

static vyre_status check_shared(const checker *c, const region *r) {
  uint64_t bytes = 0;
  for (uint32_t i = r->shared.first; i < r->shared.end; i++) {
    const shared_array *s = &c->p->shared[i];
    if (s->type <= VYRE_VOID || s->type >= VYRE_TYPE_COUNT)
      return refuse(c->error, VERIFY_V012, "shared array `%s` has no type. Fix: give it one",
                    s->name);
    if (!s->length)
      return refuse(c->error, VERIFY_V044,
                    "shared array `%s` has no elements. Fix: give it at "
                    "least 1",
                    s->name);
    bytes += (uint64_t)s->length * type_bytes(s->type);
  }
  if (bytes <= LIMIT_SHARED_BYTES) return VYRE_OK;
  return refuse(
      c->error, VERIFY_V045,
      "the shared arrays of region `%s` take %llu bytes, above %d. Fix: use smaller ones, "
      "or a transient buffer",
      r->name, (unsigned long long)bytes, LIMIT_SHARED_BYTES);
}

static vyre_status check_workgroup(const checker *c, const region *r) {
  if (r->rank < 1 || r->rank > 3)
    return refuse(c->error, VERIFY_V061, "region `%s` has %u extents. Fix: give its grid 1 to 3",
                  r->name, r->rank);
  uint64_t size = 1;
  for (int k = 0; k < 3; k++) {
    uint64_t n = r->workgroup[k];
    size = n == 0 || n > LIMIT_WORKGROUP ? LIMIT_WORKGROUP + 1 : size * n;
    if (size > LIMIT_WORKGROUP)
      return refuse(c->error, VERIFY_V062,
                    "the workgroup of region `%s` is %u x %u x %u. Fix: use at least 1 along each "
                    "axis and at most %d in all",
                    r->name, r->workgroup[0], r->workgroup[1], r->workgroup[2], LIMIT_WORKGROUP);
  }
  return VYRE_OK;
}

// A region whose meaning does not depend on the workgroup is elastic.
static vyre_status derive_region(const checker *c, region *r) {
  r->is_elastic = r->shared.first == r->shared.end && !(c->flags & OPF_GROUP);
  r->has_barrier = c->has_barrier;
  r->private_bytes = (uint32_t)c->private_bytes;
  if (c->private_bytes <= LIMIT_PRIVATE_BYTES) return VYRE_OK;
  return refuse(
      c->error, VERIFY_V046,
      "the private arrays of region `%s` take %llu bytes, above %d. Fix: use smaller ones, "
      "or a transient buffer",
      r->name, (unsigned long long)c->private_bytes, LIMIT_PRIVATE_BYTES);
}

static vyre_status check_region(checker *c, region *r, uint32_t *fault) {
  const uint32_t whole = FAULT_REGION | (uint32_t)(r - c->p->regions);
  *fault = whole;
  vyre_status status = check_workgroup(c, r);
  c->region = r;
  if (status == VYRE_OK) status = check_code(c, r->grid_code, true, fault);
  if (status == VYRE_OK) *fault = whole;
  for (int k = 0; k < 3 && status == VYRE_OK; k++)
    status = check_extent(c, r->grid[k], r->grid_code, r->name);
  if (status == VYRE_OK) status = check_shared(c, r);
  if (status == VYRE_OK) status = check_code(c, r->body, false, fault);
  if (status == VYRE_OK) *fault = whole;
  if (status == VYRE_OK) status = derive_region(c, r);
  if (status != VYRE_OK) return status;
  // What a pass finds out of a program that was taken does not take it back: it says so when it is
  // run, as it would have without the pass.
  bool is_looked_at = r->has_barrier && !c->p->is_derived;
  *fault = is_looked_at ? verify_find_divergent_barrier(c->p, r, &c->barrier_work) : 0;
  if (!*fault) return VYRE_OK;
  return refuse(c->error, VERIFY_V066,
                "only some invocations of a workgroup reach this barrier. Fix: move it out of the "
                "condition on local_id, or before the return");
}

// ---- interface ----------------------------------------------------------------------------------

static bool is_name(const char *name) {
  size_t size = 0;
  while (ascii_is_word(name[size]) || (name[size] == '.' && size && ascii_is_word(name[size + 1])))
    size++;
  return !name[size] && size > 0 && size <= LIMIT_NAME && !ascii_is_digit(name[0]);
}

static vyre_status check_name(const char *name, vyre_error *error) {
  if (is_name(name)) return VYRE_OK;
  // A name may come from a hostile file: nothing that a terminal would act on is repeated.
  char shown[60];
  size_t size = 0;
  for (; name[size] && size < sizeof shown - 1; size++)
    shown[size] = name[size] >= ' ' && name[size] < 127 ? name[size] : '?';
  shown[size] = 0;
  return refuse(error, VERIFY_V081,
                "`%s` is no name. Fix: use letters, digits, `_`, and `.` between them, no leading "
                "digit, at most %d bytes",
                shown, LIMIT_NAME);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Sorts the names and looks at neighbours: programs may have thousands of regions.
static vyre_status check_names(const char **names, size_t count, vyre_error *error) {
  for (size_t i = 0; i < count; i++) {
    vyre_status status = check_name(names[i], error);
    if (status != VYRE_OK) return status;
  }
  qsort(names, count, sizeof *names, compare_names);
  for (size_t i = 1; i < count; i++)
    if (!strcmp(names[i - 1], names[i]))
      return refuse(error, VERIFY_V080, "`%.200s` is declared twice. Fix: rename one", names[i]);
  return VYRE_OK;
}

static vyre_status check_interface_names(const vyre_program *p, const char **scratch,
                                         vyre_error *error) {
  vyre_status status = check_name(p->name, error);
  if (status != VYRE_OK) return status;
  size_t count = 0;
  for (uint32_t i = 0; i < p->param_count; i++) scratch[count++] = p->params[i].name;
  for (uint32_t i = 0; i < p->buffer_count; i++) scratch[count++] = p->buffers[i].name;
  for (uint32_t i = 0; i < p->tunable_count; i++) scratch[count++] = p->tunables[i].name;
  status = check_names(scratch, count, error);
  if (status != VYRE_OK) return status;
  for (uint32_t i = 0; i < p->region_count; i++) scratch[i] = p->regions[i].name;
  return check_names(scratch, p->region_count, error);
}

// Names of values and arrays are for people: there may be none, and they may repeat.
static vyre_status check_other_names(const vyre_program *p, uint32_t *fault, vyre_error *error) {
  for (uint32_t i = 0; i < p->shared_count; i++) {
    const char *name = p->shared[i].name;
    if (name[0] && !is_name(name)) return check_name(name, error);
  }
  for (uint32_t i = 1, count = p->names ? p->code_count : 0; i < count; i++) {
    if (!p->names[i] || is_name(p->names[i])) continue;
    *fault = i;
    return check_name(p->names[i], error);
  }
  return VYRE_OK;
}

static vyre_status check_limits(const vyre_program *p, vyre_error *error) {
  const struct {
    const char *what;
    uint32_t count, limit;
  } counts[] = {
      {"operations", p->code_count, LIMIT_CODE},
      {"constants", p->const_count, LIMIT_CONSTS},
      {"parameters", p->param_count, LIMIT_PARAMS},
      {"buffers", p->buffer_count, LIMIT_BUFFERS},
      {"regions", p->region_count, LIMIT_REGIONS},
      {"shared arrays", p->shared_count, LIMIT_SHARED_ARRAYS},
      {"tunables", p->tunable_count, LIMIT_TUNABLES},
      {"ULP in `fast`", p->fast_ulp, LIMIT_FAST_ULP},
  };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (counts[i].count > counts[i].limit)
      return refuse(error, VERIFY_V082, "the program has %u %s, above %u. Fix: split it",
                    counts[i].count, counts[i].what, counts[i].limit);
  if (p->region_count) return VYRE_OK;
  return refuse(error, VERIFY_V060, "the program has no region, so it does nothing. Fix: add one");
}

static vyre_status check_interface(const checker *c, uint32_t *fault) {
  const vyre_program *p = c->p;
  for (uint32_t i = 0; i < p->param_count; i++)
    if (p->params[i].type <= VYRE_VOID || p->params[i].type >= VYRE_TYPE_COUNT)
      return refuse(c->error, VERIFY_V012, "parameter `%s` has no type. Fix: give it one",
                    p->params[i].name);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    const buffer *b = &p->buffers[i];
    *fault = FAULT_BUFFER | i;
    if (b->type <= VYRE_VOID || b->type >= VYRE_TYPE_COUNT || !b->access ||
        b->access > VYRE_READWRITE)
      return refuse(c->error, VERIFY_V012, "buffer `%s` has no type or access. Fix: give it one",
                    b->name);
    if (b->is_transient && !b->length)
      return refuse(c->error, VERIFY_V047,
                    "transient buffer `%s` has no length. Fix: give it one, as in f32[len(x)]",
                    b->name);
    vyre_status status = b->length ? check_extent(c, b->length, p->header, b->name) : VYRE_OK;
    if (status != VYRE_OK) return status;
  }
  *fault = 0;
  for (uint32_t i = 0; i < p->const_count; i++) {
    const constant *k = &p->consts[i];
    if (k->type <= VYRE_VOID || k->type >= VYRE_TYPE_COUNT ||
        k->bits != type_canonical_bits((vyre_type)k->type, k->bits))
      return refuse(c->error, VERIFY_V030,
                    "constant %u is not in its canonical form. Fix: make the file again", i);
  }
  return VYRE_OK;
}

vyre_status verify_program(vyre_program *p, uint32_t *fault, vyre_error *error) {
  *fault = 0;
  vyre_status status = check_limits(p, error);
  if (status != VYRE_OK) return status;
  checker c = {.p = p, .error = error, .barrier_work = VERIFY_BARRIER_WORK};
  size_t name_count =
      (size_t)p->region_count + p->param_count + p->buffer_count + p->tunable_count + 1;
  const char **scratch = malloc(name_count * sizeof *scratch);
  c.seen = calloc(p->code_count, sizeof *c.seen);
  if (!scratch || !c.seen) {
    status = error_out_of_memory(error);
  } else {
    status = check_interface_names(p, scratch, error);
    if (status == VYRE_OK) status = check_other_names(p, fault, error);
    // Parameters, buffers and constants come first: the code's checks read their types.
    if (status == VYRE_OK) status = check_interface(&c, fault);
    if (status == VYRE_OK) status = check_code(&c, p->header, true, fault);
    for (uint32_t i = 0; i < p->region_count && status == VYRE_OK; i++)
      status = check_region(&c, &p->regions[i], fault);
    if (status == VYRE_OK) status = verify_tunables(p, fault, error);
  }
  free(scratch);
  free(c.seen);
  return status;
}

uint32_t verify_each(vyre_program *p, verify_visit *visit, void *data) {
  uint32_t fault = 0;
  vyre_error error;
  checker c = {.p = p, .error = &error, .visit = visit, .data = data};
  c.seen = calloc(p->code_count, sizeof *c.seen);
  bool ok =
      c.seen && verify_link(p, &fault, &error) == VYRE_OK && check_interface(&c, &fault) == VYRE_OK;
  if (ok) check_code(&c, p->header, true, &fault);
  for (uint32_t i = 0; ok && i < p->region_count; i++) {
    c.region = &p->regions[i];
    check_code(&c, p->regions[i].grid_code, true, &fault);
    check_code(&c, p->regions[i].body, false, &fault);
  }
  free(c.seen);
  return c.told;
}
