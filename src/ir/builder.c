// SPDX-License-Identifier: MIT
//
// The one way to make a program: users, frontends and passes all go through here. The builder is
// permissive: it computes result types as far as the operands allow and leaves judgement to the
// verifier, which can name the place. What it must refuse itself (a reference out of range, a call
// in the wrong section, out of memory) is kept as the first mistake and reported by finish.
#include "ir/builder_state.h"

#include "base/error.h"
#include "base/fpenv.h"
#include "base/half.h"
#include "ir/limits.h"
#include "ir/verify.h"

#include <string.h>

// ---- mistakes -----------------------------------------------------------------------------------

vyre_status builder_status(const vyre_builder *b) {
  return b->first_error.status;
}

void builder_fail(vyre_builder *b, vyre_status status, const char *format, ...) {
  if (b->first_error.status != VYRE_OK) return;
  va_list args;
  va_start(args, format);
  error_setv(&b->first_error, status, format, args);
  va_end(args);
}

void builder_fail_memory(vyre_builder *b) {
  if (b->first_error.status == VYRE_OK) error_out_of_memory(&b->first_error);
}

// A builder that was finished has no program any more.
bool builder_is_usable(vyre_builder *b) {
  return b && b->program && b->first_error.status == VYRE_OK;
}

// ---- life ---------------------------------------------------------------------------------------

const char *builder_copy_name(vyre_builder *b, const char *name) {
  if (!name) return NULL;
  const char *copy = arena_copy_string(&b->program->arena, name, strlen(name));
  if (!copy) builder_fail_memory(b);
  return copy;
}

static bool start(vyre_builder *b, const char *name) {
  b->program = program_new();
  if (!b->program || !vec_push(&b->code, (slot){{0}, NULL, {0}})) return false;
  b->program->name = builder_copy_name(b, name ? name : "");
  return b->program->name != NULL;
}

vyre_builder *vyre_builder_new(const char *program_name) {
  vyre_builder *b = calloc(1, sizeof *b);
  if (b && !start(b, program_name)) {
    vyre_builder_free(b);
    return NULL;
  }
  return b;
}

static void clear(vyre_builder *b) {
  vyre_program_release(b->program);
  b->program = NULL;
  vec_free(&b->code);
  vec_free(&b->consts);
  vec_free(&b->params);
  vec_free(&b->buffers);
  vec_free(&b->regions);
  vec_free(&b->shared);
  vec_free(&b->comments);
  vec_free(&b->tunables);
  vec_free(&b->terms);
  vec_free(&b->formulas);
  vec_free(&b->uses);
  free(b->const_table);
  b->const_table = NULL;
  b->const_table_size = 0;
}

void vyre_builder_free(vyre_builder *b) {
  if (!b) return;
  clear(b);
  free(b);
}

void builder_at(vyre_builder *b, size_t source_offset) {
  b->place.offset = source_offset < UINT32_MAX ? (uint32_t)source_offset + 1 : 0;
}

void builder_lower_for(vyre_builder *b, const void *target, size_t size) {
  if (!builder_is_usable(b)) return;
  void *copy = arena_alloc(&b->program->arena, size);
  if (!copy) {
    builder_fail_memory(b);
    return;
  }
  b->program->target = memcpy(copy, target, size);
}

void builder_comment(vyre_builder *b, uint32_t kind, uint32_t anchor, const char *text,
                     size_t size) {
  if (!builder_is_usable(b)) return;
  const char *copy = arena_copy_string(&b->program->arena, text, size);
  if (!copy || !vec_push(&b->comments, (comment){kind, anchor, copy})) builder_fail_memory(b);
}

// ---- constants ----------------------------------------------------------------------------------

static bool grow_const_table(vyre_builder *b) {
  size_t size = b->const_table_size ? b->const_table_size * 2 : 64;
  uint32_t *table = calloc(size, sizeof *table);
  if (!table) return false;
  for (uint32_t i = 0; i < b->consts.count; i++) {
    size_t at = hash_fast(&b->consts.at[i], sizeof(constant)) & (size - 1);
    while (table[at]) at = (at + 1) & (size - 1);
    table[at] = i + 1;
  }
  free(b->const_table);
  b->const_table = table;
  b->const_table_size = size;
  return true;
}

vyre_value vyre_build_const(vyre_builder *b, vyre_type type, uint64_t bits) {
  if (!builder_is_usable(b)) return 0;
  if (type <= VYRE_VOID || type >= VYRE_TYPE_COUNT) {
    builder_fail(b, VYRE_ERROR_ARGUMENT, "a constant has no valid type. Fix: pass a vyre_type");
    return 0;
  }
  if (b->consts.count * 2 >= b->const_table_size && !grow_const_table(b)) {
    builder_fail_memory(b);
    return 0;
  }
  constant c = {type_canonical_bits(type, bits), type, 0};
  size_t mask = b->const_table_size - 1, at = hash_fast(&c, sizeof c) & mask;
  for (; b->const_table[at]; at = (at + 1) & mask) {
    uint32_t index = b->const_table[at] - 1;
    const constant *old = &b->consts.at[index];
    if (old->bits == c.bits && old->type == c.type) return REF_CONST | index;
  }
  if (b->consts.count >= LIMIT_CONSTS) {
    builder_fail(b, VYRE_ERROR_LIMIT,
                 "the program has more than %d constants. Fix: move the data into a buffer",
                 LIMIT_CONSTS);
    return 0;
  }
  if (!vec_push(&b->consts, c)) {
    builder_fail_memory(b);
    return 0;
  }
  b->const_table[at] = (uint32_t)b->consts.count;
  return REF_CONST | (uint32_t)(b->consts.count - 1);
}

vyre_value vyre_build_bool(vyre_builder *b, bool value) {
  return vyre_build_const(b, VYRE_BOOL, value);
}

vyre_value vyre_build_i32(vyre_builder *b, int32_t value) {
  return vyre_build_const(b, VYRE_I32, (uint64_t)(int64_t)value);
}

vyre_value vyre_build_u32(vyre_builder *b, uint32_t value) {
  return vyre_build_const(b, VYRE_U32, value);
}

vyre_value vyre_build_f16(vyre_builder *b, float value) {
  return vyre_build_const(b, VYRE_F16, half_round((double)value));
}

vyre_value vyre_build_f32(vyre_builder *b, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return vyre_build_const(b, VYRE_F32, bits);
}

vyre_value vyre_build_f64(vyre_builder *b, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return vyre_build_const(b, VYRE_F64, bits);
}

bool builder_const_bits(const vyre_builder *b, ref r, uint64_t *bits) {
  if (!ref_is_const(r) || ref_index(r) >= b->consts.count) return false;
  *bits = b->consts.at[ref_index(r)].bits;
  return true;
}

// ---- operations ---------------------------------------------------------------------------------

static bool is_ref(const vyre_builder *b, ref r) {
  if (ref_is_formula(r)) return formula_index(r) < b->formulas.count;
  return ref_is_const(r) ? ref_index(r) < b->consts.count : r != 0 && r < b->code.count;
}

vyre_type vyre_build_type_of(const vyre_builder *b, vyre_value value) {
  if (!b || !is_ref(b, value)) return VYRE_VOID;
  if (ref_is_formula(value)) return builder_formula_type(b, value);
  return (vyre_type)(ref_is_const(value) ? b->consts.at[ref_index(value)].type
                                         : b->code.at[value].in.type);
}

const inst *builder_inst(const vyre_builder *b, ref r) {
  return &b->code.at[r].in;
}

uint32_t builder_code_count(const vyre_builder *b) {
  return (uint32_t)b->code.count;
}

uint32_t builder_shared_count(const vyre_builder *b) {
  return (uint32_t)b->shared.count;
}

static vyre_type mem_type(const vyre_builder *b, uint32_t mem) {
  uint32_t i = mem_index(mem);
  switch (mem_space(mem)) {
  case MEM_BUFFER: return i < b->buffers.count ? b->buffers.at[i].type : VYRE_VOID;
  case MEM_SHARED: return i < b->shared.count ? b->shared.at[i].type : VYRE_VOID;
  default: return i < b->code.count ? (vyre_type)b->code.at[i].in.type : VYRE_VOID;
  }
}

// The type that the rule gives, as far as the operands allow to tell.
static vyre_type result_type(const vyre_builder *b, const inst *in) {
  switch ((op_rule)op_table[in->op].rule) {
  case RULE_EQUALITY:
  case RULE_ORDER:
  case RULE_FLAG: return VYRE_BOOL;
  case RULE_SELECT: return vyre_build_type_of(b, in->arg[1]);
  case RULE_PARAM: return in->arg[0] < b->params.count ? b->params.at[in->arg[0]].type : VYRE_VOID;
  case RULE_LEN:
  case RULE_AXIS:
  case RULE_WORD: return VYRE_U32;
  case RULE_LOAD:
  case RULE_ATOMIC: return mem_type(b, in->arg[0]);
  case RULE_NONE:
  case RULE_STORE:
  case RULE_STORE_WORD:
  case RULE_SET:
  case RULE_COND: return VYRE_VOID;
  case RULE_CONVERT:
  case RULE_BITCAST:
  case RULE_ARRAY: return (vyre_type)in->type;
  case RULE_ARITH:
  case RULE_INT:
  case RULE_BITS:
  case RULE_FLOAT:
  case RULE_COPY:
  case RULE_VAR:
  case RULE_GET:
  case RULE_FOR: return vyre_build_type_of(b, in->arg[0]);
  }
  return VYRE_VOID;
}

static bool check_operands(vyre_builder *b, const inst *in) {
  const char *operands = op_table[in->op].operands;
  for (int i = 0; operands[i]; i++) {
    bool ok = operands[i] == 'v'   ? is_ref(b, in->arg[i])
              : operands[i] == 'x' ? in->arg[i] != 0 && in->arg[i] < b->code.count
              : operands[i] == 'm' ? mem_type(b, in->arg[i]) != VYRE_VOID
                                   : true;
    if (ok) continue;
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "operand %d of `%s` is not a value of this builder. Fix: pass what a vyre_build_* "
                 "call of the same builder returned",
                 i + 1, op_table[in->op].name);
    return false;
  }
  return true;
}

ref builder_emit(vyre_builder *b, const inst *in) {
  if (!builder_is_usable(b)) return 0;
  if (b->section == IN_NOTHING) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "`%s` was built between two regions. Fix: build it after vyre_build_region_begin",
                 op_table[in->op].name);
    return 0;
  }
  if (!check_operands(b, in)) return 0;
  if (b->code.count >= LIMIT_CODE) {
    builder_fail(b, VYRE_ERROR_LIMIT,
                 "the program has more than %d operations. Fix: split it into several programs",
                 LIMIT_CODE);
    return 0;
  }
  slot s = {*in, NULL, b->place};
  if (s.in.type == VYRE_VOID) s.in.type = (uint8_t)result_type(b, in);
  const op_info *info = &op_table[in->op];
  for (uint32_t i = (uint32_t)op_first_value(info); i < info->operand_count; i++)
    if (ref_is_formula(in->arg[i]))
      s.in.arg[i] = builder_resolve(b, in->arg[i], USE_OPERAND, (uint32_t)b->code.count, i);
  if (!vec_push(&b->code, s)) {
    builder_fail_memory(b);
    return 0;
  }
  return (ref)(b->code.count - 1);
}

vyre_value vyre_build_op(vyre_builder *b, vyre_op op, vyre_type type, uint32_t count,
                         const vyre_value *args) {
  if (!builder_is_usable(b)) return 0;
  if (op <= VYRE_OP_NONE || op >= VYRE_OP_COUNT || count != op_table[op].operand_count ||
      (count && !args)) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_op was called with a wrong operation or number of operands. Fix: see "
                 "the operation's row in docs/IR.md");
    return 0;
  }
  inst in = {.op = (uint8_t)op, .type = (uint8_t)type};
  for (uint32_t i = 0; i < count; i++) in.arg[i] = args[i];
  return builder_emit(b, &in);
}

vyre_value vyre_build_unary(vyre_builder *b, vyre_op op, vyre_value x) {
  return vyre_build_op(b, op, VYRE_VOID, 1, (vyre_value[]){x});
}

vyre_value vyre_build_binary(vyre_builder *b, vyre_op op, vyre_value x, vyre_value y) {
  return vyre_build_op(b, op, VYRE_VOID, 2, (vyre_value[]){x, y});
}

vyre_value vyre_build_select(vyre_builder *b, vyre_value c, vyre_value x, vyre_value y) {
  return vyre_build_op(b, VYRE_OP_SELECT, VYRE_VOID, 3, (vyre_value[]){c, x, y});
}

vyre_value vyre_build_fma(vyre_builder *b, vyre_value x, vyre_value y, vyre_value z) {
  return vyre_build_op(b, VYRE_OP_FMA, VYRE_VOID, 3, (vyre_value[]){x, y, z});
}

vyre_value vyre_build_convert(vyre_builder *b, vyre_type type, vyre_value x) {
  return vyre_build_op(b, VYRE_OP_CONVERT, type, 1, (vyre_value[]){x});
}

vyre_value vyre_build_bitcast(vyre_builder *b, vyre_type type, vyre_value x) {
  return vyre_build_op(b, VYRE_OP_BITCAST, type, 1, (vyre_value[]){x});
}

static vyre_value emit(vyre_builder *b, vyre_op op, uint32_t a0, uint32_t a1, uint32_t a2,
                       uint32_t a3) {
  return builder_emit(b, &(inst){.op = (uint8_t)op, .arg = {a0, a1, a2, a3}});
}

vyre_value vyre_build_param_value(vyre_builder *b, uint32_t param) {
  return emit(b, VYRE_OP_PARAM, param, 0, 0, 0);
}

vyre_value vyre_build_len(vyre_builder *b, vyre_mem mem) {
  if (builder_is_usable(b) && mem_space(mem.id) != MEM_BUFFER) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_len takes a buffer. Fix: the length of an array is the constant that "
                 "it was declared with");
    return 0;
  }
  return emit(b, VYRE_OP_LEN, mem_index(mem.id), 0, 0, 0);
}

vyre_value vyre_build_id(vyre_builder *b, vyre_op op, uint32_t axis) {
  if (builder_is_usable(b) && (op < VYRE_OP_GLOBAL_ID || op > VYRE_OP_GROUP_COUNT)) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_id takes VYRE_OP_GLOBAL_ID to VYRE_OP_GROUP_COUNT. Fix: pass one");
    return 0;
  }
  return emit(b, op, axis, 0, 0, 0);
}

vyre_value vyre_build_load(vyre_builder *b, vyre_mem mem, vyre_value index) {
  return emit(b, VYRE_OP_LOAD, mem.id, index, 0, 0);
}

void vyre_build_store(vyre_builder *b, vyre_mem mem, vyre_value index, vyre_value value) {
  emit(b, VYRE_OP_STORE, mem.id, index, value, 0);
}

vyre_value vyre_build_atomic(vyre_builder *b, vyre_op op, vyre_mem mem, vyre_value index,
                             vyre_value value) {
  if (builder_is_usable(b) && (!op_is_atomic(op) || op == VYRE_OP_ATOMIC_CAS)) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_atomic takes VYRE_OP_ATOMIC_ADD to VYRE_OP_ATOMIC_EXCHANGE. Fix: pass "
                 "one, or call vyre_build_atomic_cas");
    return 0;
  }
  return emit(b, op, mem.id, index, value, 0);
}

vyre_value vyre_build_atomic_cas(vyre_builder *b, vyre_mem mem, vyre_value index,
                                 vyre_value expected, vyre_value desired) {
  return emit(b, VYRE_OP_ATOMIC_CAS, mem.id, index, expected, desired);
}

// Statements have no name: no text could show it.
void builder_name(vyre_builder *b, ref value, const char *name, size_t size) {
  if (!builder_is_usable(b) || ref_is_const(value) || value == 0 || value >= b->code.count) return;
  if (b->code.at[value].in.type == VYRE_VOID) return;
  const char *copy = size ? arena_copy_string(&b->program->arena, name, size) : NULL;
  if (size && !copy) builder_fail_memory(b);
  b->code.at[value].name = copy;
}

void vyre_build_name(vyre_builder *b, vyre_value value, const char *name) {
  builder_name(b, value, name, name ? strlen(name) : 0);
}

vyre_var vyre_build_var(vyre_builder *b, const char *name, vyre_value first) {
  vyre_var var = emit(b, VYRE_OP_VAR, first, 0, 0, 0);
  vyre_build_name(b, var, name);
  return var;
}

vyre_value vyre_build_get(vyre_builder *b, vyre_var var) {
  return emit(b, VYRE_OP_GET, var, 0, 0, 0);
}

void vyre_build_set(vyre_builder *b, vyre_var var, vyre_value value) {
  emit(b, VYRE_OP_SET, var, value, 0, 0);
}

vyre_mem vyre_build_array(vyre_builder *b, const char *name, vyre_type type, uint32_t length) {
  ref array = builder_emit(
      b, &(inst){.op = VYRE_OP_ARRAY, .type = (uint8_t)type, .arg = {length, 0, 0, 0}});
  vyre_build_name(b, array, name);
  return (vyre_mem){MEM_REF(MEM_PRIVATE, array)};
}

// ---- structure ----------------------------------------------------------------------------------

void vyre_build_if(vyre_builder *b, vyre_value condition) {
  emit(b, VYRE_OP_IF, condition, 0, 0, 0);
}

void vyre_build_else(vyre_builder *b) {
  emit(b, VYRE_OP_ELSE, 0, 0, 0, 0);
}

vyre_value vyre_build_for(vyre_builder *b, vyre_value lo, vyre_value hi, vyre_value step) {
  if (!builder_is_usable(b)) return 0;
  if (step == 0 && is_ref(b, lo)) step = vyre_build_const(b, vyre_build_type_of(b, lo), 1);
  return emit(b, VYRE_OP_FOR, lo, hi, step, 0);
}

void vyre_build_while(vyre_builder *b) {
  emit(b, VYRE_OP_WHILE, 0, 0, 0, 0);
}

void vyre_build_do(vyre_builder *b, vyre_value condition) {
  emit(b, VYRE_OP_DO, condition, 0, 0, 0);
}

void vyre_build_end(vyre_builder *b) {
  emit(b, VYRE_OP_END, 0, 0, 0, 0);
}

void vyre_build_break(vyre_builder *b) {
  emit(b, VYRE_OP_BREAK, 0, 0, 0, 0);
}

void vyre_build_continue(vyre_builder *b) {
  emit(b, VYRE_OP_CONTINUE, 0, 0, 0, 0);
}

void vyre_build_return(vyre_builder *b) {
  emit(b, VYRE_OP_RETURN, 0, 0, 0, 0);
}

void vyre_build_barrier(vyre_builder *b) {
  emit(b, VYRE_OP_BARRIER, 0, 0, 0, 0);
}

// ---- declarations -------------------------------------------------------------------------------

void vyre_build_fast(vyre_builder *b, uint32_t ulp) {
  if (builder_is_usable(b)) b->program->fast_ulp = ulp;
}

uint32_t vyre_build_param(vyre_builder *b, const char *name, vyre_type type) {
  if (!builder_is_usable(b)) return 0;
  if (!vec_push(&b->params, (param){builder_copy_name(b, name ? name : ""), type}))
    builder_fail_memory(b);
  return (uint32_t)b->params.count - 1;
}

void builder_set_param_type(vyre_builder *b, uint32_t index, vyre_type type) {
  if (builder_is_usable(b) && index < b->params.count) b->params.at[index].type = type;
}

static vyre_mem add_buffer(vyre_builder *b, const char *name, vyre_type type, vyre_access access,
                           bool is_transient, vyre_value length) {
  if (!builder_is_usable(b)) return (vyre_mem){0};
  if (b->section != IN_HEADER || (length && !is_ref(b, length))) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "buffer `%s` was declared inside a region or with a length that is not a value. "
                 "Fix: declare buffers before the first region",
                 name ? name : "");
    return (vyre_mem){0};
  }
  uint32_t index = (uint32_t)b->buffers.count;
  buffer made = {builder_copy_name(b, name ? name : ""),           type,    access, is_transient,
                 builder_resolve(b, length, USE_LENGTH, index, 0), b->place};
  if (!vec_push(&b->buffers, made)) builder_fail_memory(b);
  return (vyre_mem){MEM_REF(MEM_BUFFER, b->buffers.count - 1)};
}

vyre_mem vyre_build_buffer(vyre_builder *b, const char *name, vyre_type type, vyre_access access,
                           vyre_value length) {
  return add_buffer(b, name, type, access, false, length);
}

vyre_mem vyre_build_transient(vyre_builder *b, const char *name, vyre_type type,
                              vyre_value length) {
  return add_buffer(b, name, type, VYRE_READWRITE, true, length);
}

void vyre_build_region_begin(vyre_builder *b, const char *name) {
  if (!builder_is_usable(b)) return;
  if (b->section == IN_GRID || b->section == IN_BODY) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "region `%s` was begun inside another one. Fix: call vyre_build_region_end first",
                 name ? name : "");
    return;
  }
  if (b->section == IN_HEADER) b->program->header = (range){1, (uint32_t)b->code.count};
  uint32_t here = (uint32_t)b->code.count, first_shared = (uint32_t)b->shared.count;
  region made = {.name = builder_copy_name(b, name ? name : ""),
                 .grid_code = {here, here},
                 .body = {here, here},
                 .shared = {first_shared, first_shared},
                 .place = b->place};
  if (!vec_push(&b->regions, made)) builder_fail_memory(b);
  b->section = IN_GRID;
}

static region *open_region(vyre_builder *b, section wanted, const char *call) {
  if (!builder_is_usable(b)) return NULL;
  if (b->section == wanted) return &b->regions.at[b->regions.count - 1];
  builder_fail(b, VYRE_ERROR_ARGUMENT,
               "%s was called at the wrong place. Fix: the order is region_begin, grid, body, "
               "region_end",
               call);
  return NULL;
}

void vyre_build_grid(vyre_builder *b, uint32_t rank, const vyre_value *extents,
                     const uint32_t workgroup[3]) {
  vyre_value one = vyre_build_u32(b, 1);
  region *r = open_region(b, IN_GRID, "vyre_build_grid");
  if (!r) return;
  if ((rank && !extents) || !workgroup) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_grid was called with NULL. Fix: pass the extents and the workgroup");
    return;
  }
  r->rank = rank;
  for (uint32_t i = 0; i < 3; i++) {
    r->grid[i] = i < rank ? extents[i] : one;
    if (!is_ref(b, r->grid[i]))
      builder_fail(b, VYRE_ERROR_ARGUMENT,
                   "extent %u of a grid is not a value of this builder. Fix: pass a value", i + 1);
    uint32_t index = (uint32_t)b->regions.count - 1;
    r->grid[i] = builder_resolve(b, r->grid[i], USE_GRID, index, i);
    r->workgroup[i] = workgroup[i];
  }
  r->grid_code.end = r->body.first = r->body.end = (uint32_t)b->code.count;
  b->section = IN_BODY;
}

void builder_set_lanes(vyre_builder *b, uint32_t lanes) {
  region *r = open_region(b, IN_BODY, "builder_set_lanes");
  if (r) r->lanes = lanes;
}

void builder_set_merged(vyre_builder *b) {
  region *r = open_region(b, IN_BODY, "builder_set_merged");
  if (r) r->is_merged = true;
}

vyre_mem vyre_build_shared(vyre_builder *b, const char *name, vyre_type type, uint32_t length) {
  region *r = open_region(b, IN_BODY, "vyre_build_shared");
  if (!r) return (vyre_mem){0};
  shared_array made = {builder_copy_name(b, name ? name : ""), type, length,
                       (uint32_t)(b->regions.count - 1)};
  if (!vec_push(&b->shared, made)) builder_fail_memory(b);
  r->shared.end = (uint32_t)b->shared.count;
  return (vyre_mem){MEM_REF(MEM_SHARED, b->shared.count - 1)};
}

void vyre_build_region_end(vyre_builder *b) {
  region *r = open_region(b, IN_BODY, "vyre_build_region_end");
  if (!r) return;
  r->body.end = (uint32_t)b->code.count;
  b->section = IN_NOTHING;
}

// ---- copying, for passes ------------------------------------------------------------------------

ref builder_map_ref(vyre_builder *b, const vyre_program *from, ref old, const ref *map) {
  if (!ref_is_const(old)) return map[old];
  const constant *c = &from->consts[ref_index(old)];
  return vyre_build_const(b, (vyre_type)c->type, c->bits);
}

inst builder_map_inst(vyre_builder *b, const vyre_program *from, uint32_t index, const ref *map,
                      uint32_t shared_shift) {
  const inst *old = &from->code[index];
  inst in = {.op = old->op, .type = old->type};
  const char *operands = op_table[old->op].operands;
  for (int i = 0; operands[i]; i++) {
    uint32_t arg = old->arg[i];
    if (operands[i] == 'v')
      arg = builder_map_ref(b, from, arg, map);
    else if (operands[i] == 'x')
      arg = map[arg];
    else if (operands[i] == 'm' && mem_space(arg) == MEM_SHARED)
      arg += shared_shift;
    else if (operands[i] == 'm' && mem_space(arg) == MEM_PRIVATE)
      arg = MEM_REF(MEM_PRIVATE, map[mem_index(arg)]);
    in.arg[i] = arg;
  }
  return in;
}

ref builder_copy_inst(vyre_builder *b, const vyre_program *from, uint32_t index, ref *map,
                      uint32_t shared_shift) {
  inst in = builder_map_inst(b, from, index, map, shared_shift);
  if (from->places) b->place = from->places[index];
  ref made = builder_emit(b, &in);
  if (from->names && from->names[index]) vyre_build_name(b, made, from->names[index]);
  return map[index] = made;
}

void builder_name_if_unnamed(vyre_builder *b, ref value, const char *name) {
  if (builder_is_usable(b) && !ref_is_const(value) && value && value < b->code.count &&
      !b->code.at[value].name)
    vyre_build_name(b, value, name);
}

static void *copy_array(arena *a, const void *from, size_t count, size_t size) {
  void *to = arena_alloc_array(a, count, size);
  return to && count ? memcpy(to, from, count * size) : to;
}

void builder_source(vyre_builder *b, const builder_source_text *source) {
  const char *text = source->text;
  size_t size = source->size;
  if (!builder_is_usable(b) || size > UINT32_MAX) return;
  b->program->begins_undefined = source->begins_undefined;
  if (source->name) b->program->source_name = builder_copy_name(b, source->name);
  uint32_t count = source->lines ? source->line_count : 1;
  const char *end = text + size, *p = source->lines ? end : text;
  while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) count++, p++;
  uint32_t *lines = arena_alloc_array(&b->program->arena, count, sizeof *lines);
  if (!lines) {
    builder_fail_memory(b);
    return;
  }
  if (source->lines) memcpy(lines, source->lines, count * sizeof *lines);
  p = text;
  for (uint32_t at = 1; !source->lines && at < count; at++) {
    p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    lines[at] = (uint32_t)(p - text);
  }
  b->program->lines = lines;
  b->program->line_count = count;
}

void builder_copy_head(vyre_builder *b, const vyre_program *from) {
  if (!builder_is_usable(b)) return;
  b->program->name = builder_copy_name(b, from->name);
  b->program->fast_ulp = from->fast_ulp;
  b->program->is_derived = true;
  b->program->lines = copy_array(&b->program->arena, from->lines, from->line_count, 4);
  b->program->line_count = b->program->lines ? from->line_count : 0;
  b->program->begins_undefined = from->begins_undefined;
  if (from->source_name) b->program->source_name = builder_copy_name(b, from->source_name);
  for (uint32_t i = 0; i < from->param_count; i++)
    vyre_build_param(b, from->params[i].name, from->params[i].type);
}

static void copy_interface(vyre_builder *b, const vyre_program *from, bool is_bound) {
  builder_copy_head(b, from);
  if (!builder_is_usable(b)) return;
  ref *map = calloc(from->header.end + 1, sizeof *map);
  if (!map) {
    builder_fail_memory(b);
    return;
  }
  // A header may mention the length of a buffer that is declared later, so the code goes first.
  for (uint32_t i = from->header.first; i < from->header.end; i++)
    builder_copy_inst(b, from, i, map, 0);
  for (uint32_t i = 0; i < from->buffer_count; i++) {
    const buffer *old = &from->buffers[i];
    ref length = old->length ? builder_map_ref(b, from, old->length, map) : 0;
    bool becomes_bound = is_bound && old->is_transient;
    add_buffer(b, old->name, old->type, becomes_bound ? VYRE_READWRITE : old->access,
               old->is_transient && !is_bound, length);
  }
  free(map);
}

void builder_copy_interface(vyre_builder *b, const vyre_program *from) {
  copy_interface(b, from, false);
}

void builder_copy_interface_bound(vyre_builder *b, const vyre_program *from) {
  copy_interface(b, from, true);
}

uint32_t builder_begin_like(vyre_builder *b, const vyre_program *from, uint32_t index, ref *map) {
  const region *r = &from->regions[index];
  vyre_build_region_begin(b, r->name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++)
    builder_copy_inst(b, from, i, map, 0);
  ref grid[3];
  for (int i = 0; i < 3; i++) grid[i] = builder_map_ref(b, from, r->grid[i], map);
  vyre_build_grid(b, r->rank, grid, r->workgroup);
  if (r->is_merged) builder_set_merged(b);
  uint32_t shift = (uint32_t)b->shared.count - r->shared.first;
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    vyre_build_shared(b, from->shared[i].name, from->shared[i].type, from->shared[i].length);
  return shift;
}

void builder_copy_region(vyre_builder *b, const vyre_program *from, uint32_t index, ref *map) {
  if (!builder_is_usable(b)) return;
  const region *r = &from->regions[index];
  uint32_t shift = builder_begin_like(b, from, index, map);
  for (uint32_t i = r->body.first; i < r->body.end; i++) builder_copy_inst(b, from, i, map, shift);
  vyre_build_region_end(b);
}

// ---- finishing ----------------------------------------------------------------------------------

// Numbers the constants in the order of their first use and drops unused ones: one program has one
// pool, however it was built.
typedef struct renumbering {
  uint32_t *to; // old index -> new index + 1
  constant *pool;
  const constant *old;
  uint32_t count;
} renumbering;

static void renumber(renumbering *r, ref *at) {
  if (!ref_is_const(*at)) return;
  uint32_t *to = &r->to[ref_index(*at)];
  if (!*to) {
    r->pool[r->count] = r->old[ref_index(*at)];
    *to = ++r->count;
  }
  *at = REF_CONST | (*to - 1);
}

static void renumber_code(renumbering *r, inst *code, range part) {
  for (uint32_t i = part.first; i < part.end; i++) {
    const char *operands = op_table[code[i].op].operands;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v') renumber(r, &code[i].arg[k]);
  }
}

static void renumber_constants(vyre_program *p, renumbering *r) {
  renumber_code(r, p->code, p->header);
  for (uint32_t i = 0; i < p->buffer_count; i++) renumber(r, &p->buffers[i].length);
  for (uint32_t i = 0; i < p->region_count; i++) {
    renumber_code(r, p->code, p->regions[i].grid_code);
    for (int k = 0; k < 3; k++) renumber(r, &p->regions[i].grid[k]);
    renumber_code(r, p->code, p->regions[i].body);
  }
  p->const_count = r->count;
}

static bool fill_program(vyre_builder *b) {
  vyre_program *p = b->program;
  arena *a = &p->arena;
  if (b->section == IN_HEADER) p->header = (range){1, (uint32_t)b->code.count};
  p->param_count = (uint32_t)b->params.count;
  p->buffer_count = (uint32_t)b->buffers.count;
  p->region_count = (uint32_t)b->regions.count;
  p->shared_count = (uint32_t)b->shared.count;
  p->code_count = (uint32_t)b->code.count;
  p->comment_count = (uint32_t)b->comments.count;
  p->params = copy_array(a, b->params.at, b->params.count, sizeof(param));
  p->buffers = copy_array(a, b->buffers.at, b->buffers.count, sizeof(buffer));
  p->regions = copy_array(a, b->regions.at, b->regions.count, sizeof(region));
  p->shared = copy_array(a, b->shared.at, b->shared.count, sizeof(shared_array));
  p->comments = copy_array(a, b->comments.at, b->comments.count, sizeof(comment));
  p->consts = arena_alloc_array(a, b->consts.count, sizeof(constant));
  p->code = arena_alloc_array(a, b->code.count, sizeof(inst));
  source_place *places = arena_alloc_array(a, b->code.count, sizeof(source_place));
  p->names = arena_alloc_array(a, b->code.count, sizeof(char *));
  renumbering r = {calloc(b->consts.count + 1, sizeof(uint32_t)), p->consts, b->consts.at, 0};
  bool ok = p->params && p->buffers && p->regions && p->shared && p->comments && p->consts &&
            p->code && places && p->names && r.to && builder_fill_tunables(b);
  if (ok) {
    for (size_t i = 0; i < b->code.count; i++) {
      p->code[i] = b->code.at[i].in;
      places[i] = b->code.at[i].place;
      p->names[i] = b->code.at[i].name;
    }
    p->places = places;
    renumber_constants(p, &r);
  }
  free(r.to);
  return ok;
}

static source_place place_of(const vyre_program *p, uint32_t fault) {
  if (fault & FAULT_REGION) return p->regions[fault & ~FAULT_REGION].place;
  if (fault & FAULT_BUFFER) return p->buffers[fault & ~FAULT_BUFFER].place;
  if (fault & FAULT_TUNABLE) return p->tunables[fault & ~FAULT_TUNABLE].place;
  return p->places ? p->places[fault] : (source_place){0};
}

vyre_status builder_finish(vyre_builder *b, vyre_program **out, size_t *offset, vyre_error *error) {
  *out = NULL;
  if (offset) *offset = 0;
  if (builder_is_usable(b) && (b->section == IN_GRID || b->section == IN_BODY))
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "the last region is not ended. Fix: call vyre_build_region_end before finish");
  if (!b->program)
    builder_fail(b, VYRE_ERROR_ARGUMENT, "the builder was finished twice. Fix: make a new one");
  if (builder_is_usable(b) && !fill_program(b)) builder_fail_memory(b);
  vyre_status status = b->first_error.status;
  if (status != VYRE_OK) {
    if (error) *error = b->first_error;
    if (offset) *offset = b->place.offset;
  } else {
    uint32_t fault = 0;
    status = program_freeze(b->program, &fault, error);
    if (offset) *offset = place_of(b->program, fault).offset;
  }
  if (status == VYRE_OK) {
    *out = b->program;
    b->program = NULL;
  }
  clear(b);
  return status;
}

typedef struct each_fault {
  const vyre_program *program;
  builder_visit *visit;
  void *data;
} each_fault;

static void visit_fault(void *data, uint32_t fault, const vyre_error *error) {
  const each_fault *f = data;
  f->visit(f->data, place_of(f->program, fault).offset, error);
}

vyre_status builder_finish_each(vyre_builder *b, vyre_program **out, bool is_partial,
                                builder_visit *visit, void *data, vyre_error *error) {
  uint32_t fault = 0, told = 0;
  bool is_open = b->section == IN_GRID || b->section == IN_BODY;
  *out = NULL;
  if (is_open && !builder_status(b)) // of a text that ends too early, which was told
    builder_fail(b, VYRE_ERROR_SYNTAX, "the last region is not ended. Fix: close its brace");
  if (builder_is_usable(b) && !fill_program(b)) builder_fail_memory(b);
  vyre_status status = builder_status(b);
  size_t offset = b->place.offset;
  if (status != VYRE_OK) {
    *error = b->first_error;
  } else {
    each_fault f = {b->program, visit, data};
    status = program_freeze(b->program, &fault, error);
    if (status != VYRE_OK) offset = place_of(b->program, fault).offset;
    if (status == VYRE_ERROR_VERIFY) told = verify_each(b->program, visit_fault, &f);
  }
  if (status != VYRE_OK && !told && !is_partial) visit(data, offset, error);
  if (status == VYRE_OK) {
    *out = b->program;
    b->program = NULL;
  }
  clear(b);
  return status;
}

vyre_status vyre_builder_finish(vyre_builder *b, vyre_program **out, vyre_error *error) {
  FPENV_SCOPE;
  if (!b || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_builder_finish was called with NULL. Fix: pass a builder and where the "
                     "program goes");
  return builder_finish(b, out, NULL, error);
}
