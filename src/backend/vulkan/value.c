// SPDX-License-Identifier: MIT
//
// Operations, and the table of how each is written. Integers have no sign in their type here: the
// operation says how their bits are read. Those of less than 32 bits are 32-bit numbers with the
// value that they have, and are cut after what may leave their range. An operation that has no
// EMIT_ row does not compile; one that lowering never leaves is `put_lowered`.
#include "backend/vulkan/emitter.h"

#include "base/error.h"
#include "lower/storage.h"

#include <string.h>

// ---- types and constants ------------------------------------------------------------------------

static uint32_t int_type(emitter *e, uint32_t bits) {
  if (bits == 64) spirv_require(&e->m, SpvCapabilityInt64);
  return spirv_declare(&e->m, SpvOpTypeInt, 0, bits, 0);
}

uint32_t emitter_u32(emitter *e) {
  return int_type(e, 32);
}

static uint32_t bool_type(emitter *e) {
  return spirv_declare_words(&e->m, SpvOpTypeBool, 0, NULL, 0, NULL);
}

uint32_t emitter_type(emitter *e, vyre_type t) {
  if (t == VYRE_BOOL) return bool_type(e);
  if (type_is_int(t)) return int_type(e, type_bits(t) == 64 ? 64 : 32);
  if (t == VYRE_F64) spirv_require(&e->m, SpvCapabilityFloat64);
  return spirv_declare(&e->m, SpvOpTypeFloat, 0, type_bits(t));
}

uint32_t emitter_memory(emitter *e, vyre_type t) {
  return type_bytes(t) < 4 ? int_type(e, 8 * type_bytes(t)) : emitter_type(e, t);
}

static uint32_t plain_const(emitter *e, vyre_type t, uint64_t bits) {
  uint32_t type = emitter_type(e, t);
  if (t == VYRE_BOOL)
    return spirv_declare_words(&e->m, bits ? SpvOpConstantTrue : SpvOpConstantFalse, type, NULL, 0,
                               NULL);
  if (type_bits(t) == 64)
    return spirv_declare(&e->m, SpvOpConstant, type, (uint32_t)bits, (uint32_t)(bits >> 32));
  return spirv_declare(&e->m, SpvOpConstant, type, (uint32_t)bits);
}

uint32_t emitter_number(emitter *e, uint32_t value) {
  return plain_const(e, VYRE_U32, value);
}

// emit.c has collected what the region reads, and reads it before everything else: not every
// driver's compiler takes it out of loops.
static uint32_t fact(const emitter *e, vulkan_fact_kind kind, uint32_t index, uint32_t part) {
  vulkan_fact wanted = {(uint8_t)kind, (uint8_t)part, (uint16_t)index};
  uint32_t at = 0;
  while (at < e->facts.count && memcmp(&e->facts.at[at], &wanted, sizeof wanted)) at++;
  return at < e->fact_values.count ? e->fact_values.at[at] : 0; // out of memory
}

void emitter_read_facts(emitter *e) {
  uint32_t u32 = emitter_u32(e);
  e->fact_values.count = 0;
  e->hidden.count = 0;
  e->m.is_at_entry = true;
  for (uint32_t i = 0; i < e->facts.count; i++) {
    uint32_t pointer = spirv_declare(&e->m, SpvOpTypePointer, 0, e->fact_class, u32);
    uint32_t place =
        spirv_make(&e->m, SpvOpAccessChain, pointer, e->fact_block, emitter_number(e, i));
    if (!vec_push(&e->fact_values, spirv_make(&e->m, SpvOpLoad, u32, place))) e->m.failed = true;
  }
  e->m.is_at_entry = false;
}

// The words of a float, combined with a 0 that the compiler does not know.
static uint32_t hide_words(emitter *e, vyre_type t, uint32_t x) {
  uint32_t u32 = emitter_u32(e), type = emitter_type(e, t), zero = fact(e, FACT_OF_ZERO, 0, 0);
  uint32_t words = u32;
  if (t == VYRE_F64) {
    words = spirv_declare(&e->m, SpvOpTypeVector, 0, u32, 2);
    zero = spirv_make(&e->m, SpvOpCompositeConstruct, words, zero, zero);
  }
  x = spirv_make(&e->m, SpvOpBitcast, words, x);
  return spirv_make(&e->m, SpvOpBitcast, type, spirv_make(&e->m, SpvOpBitwiseXor, words, x, zero));
}

// A float that was made of an integer, which the compiler may know.
static uint32_t hide_made(emitter *e, vyre_type t, uint32_t x) {
  return e->t->hides_floats ? hide_words(e, t, x) : x;
}

// Once, before everything else.
static uint32_t hidden_const(emitter *e, vyre_type t, uint32_t plain) {
  for (size_t i = 0; i < e->hidden.count; i++)
    if (e->hidden.at[i].plain == plain) return e->hidden.at[i].hidden;
  e->m.is_at_entry = true;
  emitter_hidden made = {plain, hide_words(e, t, plain)};
  e->m.is_at_entry = false;
  if (!vec_push(&e->hidden, made)) e->m.failed = true;
  return made.hidden;
}

uint32_t emitter_const(emitter *e, vyre_type t, uint64_t bits) {
  uint32_t plain = plain_const(e, t, bits);
  return e->t->hides_floats && type_is_float(t) ? hidden_const(e, t, plain) : plain;
}

uint32_t emitter_ref(emitter *e, ref value) {
  if (!ref_is_const(value)) return e->values[value];
  const constant *c = &e->p->consts[ref_index(value)];
  return emitter_const(e, (vyre_type)c->type, c->bits);
}

vyre_type emitter_element(const emitter *e, uint32_t mem) {
  uint32_t i = mem_index(mem);
  if (mem_space(mem) == MEM_SHARED) return e->p->shared[i].type;
  if (mem_space(mem) == MEM_PRIVATE) return (vyre_type)e->p->code[i].type;
  vyre_type t = e->p->buffers[i].type;
  return storage_words(&e->t->lower, t) ? VYRE_U32 : t;
}

vyre_type emitter_declared(const emitter *e, uint32_t mem) {
  vyre_type t = emitter_element(e, mem);
  if (mem_space(mem) == MEM_PRIVATE || !type_is_float(t)) return t;
  uint32_t at = mem_index(mem) + (mem_space(mem) == MEM_SHARED ? e->p->buffer_count : 0);
  return !e->holds_bits[at] ? t : t == VYRE_F32 ? VYRE_U32 : VYRE_U64;
}

// ---- helpers ------------------------------------------------------------------------------------

static bool is_narrow(vyre_type t) {
  return type_is_int(t) && type_bits(t) < 32;
}

// A number of 32 bits, made one of the type.
static uint32_t cut(emitter *e, vyre_type t, uint32_t value) {
  uint32_t u32 = emitter_u32(e);
  if (!is_narrow(t)) return value;
  if (!type_is_signed(t))
    return spirv_make(&e->m, SpvOpBitwiseAnd, u32, value,
                      emitter_number(e, (1u << type_bits(t)) - 1));
  uint32_t count = emitter_number(e, 32 - type_bits(t));
  value = spirv_make(&e->m, SpvOpShiftLeftLogical, u32, value, count);
  return spirv_make(&e->m, SpvOpShiftRightArithmetic, u32, value, count);
}

// No compiler may fuse, reassociate or approximate it.
static uint32_t exact(emitter *e, uint32_t value) {
  spirv_put(&e->m, SECTION_DECORATIONS, SpvOpDecorate, value, SpvDecorationNoContraction);
  return value;
}

static uint32_t arg(emitter *e, const inst *in, int k) {
  return emitter_ref(e, in->arg[k]);
}

static SpvOp op_for(const emitter_row *row, vyre_type t) {
  return (SpvOp)(t == VYRE_BOOL      ? row->on_bool
                 : type_is_float(t)  ? row->on_float
                 : type_is_signed(t) ? row->on_signed
                                     : row->on_unsigned);
}

static uint32_t call(emitter *e, uint32_t type, uint32_t number, const uint32_t *args,
                     uint32_t count) {
  uint32_t words[5] = {e->glsl, number};
  memcpy(words + 2, args, count * sizeof *args);
  return spirv_make_words(&e->m, SpvOpExtInst, type, words, count + 2);
}

static uint32_t call_1(emitter *e, uint32_t type, uint32_t number, uint32_t x) {
  return call(e, type, number, &x, 1);
}

// ---- arithmetic ---------------------------------------------------------------------------------

static uint32_t put_binary(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = (vyre_type)in->type;
  uint32_t x = arg(e, in, 0), y = arg(e, in, 1);
  if (e->t->hides_floats && type_is_float(t) && in->op == VYRE_OP_SUB) y = hide_words(e, t, y);
  uint32_t made = spirv_make(&e->m, op_for(row, t), emitter_type(e, t), x, y);
  return type_is_float(t) ? exact(e, made) : cut(e, t, made);
}

// Of values that are in the type already, in a way that cannot leave it.
static uint32_t put_inside(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = (vyre_type)in->type;
  uint32_t x = arg(e, in, 0), y = arg(e, in, 1);
  return spirv_make(&e->m, op_for(row, t), emitter_type(e, t), x, y);
}

static uint32_t put_sign(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = (vyre_type)in->type;
  uint32_t x = arg(e, in, 0), type = emitter_type(e, t);
  if (!type_is_float(t)) return cut(e, t, spirv_make(&e->m, (SpvOp)row->on_signed, type, x));
  return in->op == VYRE_OP_ABS ? call_1(e, type, GLSLstd450FAbs, x)
                               : exact(e, spirv_make(&e->m, SpvOpFNegate, type, x));
}

static uint32_t put_not(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = (vyre_type)in->type;
  uint32_t x = arg(e, in, 0);
  return cut(e, t, spirv_make(&e->m, op_for(row, t), emitter_type(e, t), x));
}

static uint32_t put_compare(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = ref_type(e->p, in->arg[0]);
  uint32_t x = arg(e, in, 0), y = arg(e, in, 1);
  uint32_t made = spirv_make(&e->m, op_for(row, t), bool_type(e), x, y);
  return type_is_float(t) ? exact(e, made) : made;
}

static uint32_t put_select(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  uint32_t c = arg(e, in, 0), x = arg(e, in, 1), y = arg(e, in, 2);
  return spirv_make(&e->m, SpvOpSelect, emitter_type(e, (vyre_type)in->type), c, x, y);
}

// The instruction's number is in the row as the one on floats.
static uint32_t put_call(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  uint32_t args[3], count = op_table[in->op].operand_count;
  for (uint32_t k = 0; k < count; k++) args[k] = arg(e, in, (int)k);
  return exact(e, call(e, emitter_type(e, (vyre_type)in->type), row->on_float, args, count));
}

// Halves away from zero, which no instruction promises: one more where half or more was cut off.
static uint32_t put_round(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = (vyre_type)in->type;
  (void)row;
  uint32_t x = arg(e, in, 0), type = emitter_type(e, t);
  bool is_f32 = t == VYRE_F32;
  uint32_t half = emitter_const(e, t, is_f32 ? 0x3f000000 : 0x3fe0000000000000);
  uint32_t minus = emitter_const(e, t, is_f32 ? 0xbf800000 : 0xbff0000000000000);
  uint32_t plus = emitter_const(e, t, is_f32 ? 0x3f800000 : 0x3ff0000000000000);
  uint32_t zero = emitter_const(e, t, 0), flag = bool_type(e);
  uint32_t whole = exact(e, call_1(e, type, GLSLstd450Trunc, x));
  uint32_t rest =
      call_1(e, type, GLSLstd450FAbs, exact(e, spirv_make(&e->m, SpvOpFSub, type, x, whole)));
  uint32_t is_below = exact(e, spirv_make(&e->m, SpvOpFOrdLessThan, flag, x, zero));
  uint32_t by = spirv_make(&e->m, SpvOpSelect, type, is_below, minus, plus);
  uint32_t away = exact(e, spirv_make(&e->m, SpvOpFAdd, type, whole, by));
  uint32_t is_far = exact(e, spirv_make(&e->m, SpvOpFOrdGreaterThanEqual, flag, rest, half));
  return spirv_make(&e->m, SpvOpSelect, type, is_far, away, whole);
}

// ---- counts of bits -----------------------------------------------------------------------------

static uint32_t word_of(emitter *e, uint32_t wide, uint32_t part) {
  uint32_t u32 = emitter_u32(e), pair = spirv_declare(&e->m, SpvOpTypeVector, 0, u32, 2);
  uint32_t words = spirv_make(&e->m, SpvOpBitcast, pair, wide);
  return spirv_make(&e->m, SpvOpCompositeExtract, u32, words, part);
}

static uint32_t leading_zeros(emitter *e, uint32_t word) {
  uint32_t u32 = emitter_u32(e);
  uint32_t highest = call_1(e, u32, GLSLstd450FindUMsb, word); // -1 for 0
  return spirv_make(&e->m, SpvOpISub, u32, emitter_number(e, 31), highest);
}

static uint32_t count_wide(emitter *e, const inst *in, uint32_t x) {
  uint32_t u32 = emitter_u32(e), u64 = int_type(e, 64);
  uint32_t lo = word_of(e, x, 0), hi = word_of(e, x, 1), made;
  if (in->op == VYRE_OP_POPCOUNT) {
    uint32_t low = spirv_make(&e->m, SpvOpBitCount, u32, lo);
    made = spirv_make(&e->m, SpvOpIAdd, u32, low, spirv_make(&e->m, SpvOpBitCount, u32, hi));
  } else {
    uint32_t is_none = spirv_make(&e->m, SpvOpIEqual, bool_type(e), hi, emitter_number(e, 0));
    uint32_t below = spirv_make(&e->m, SpvOpIAdd, u32, leading_zeros(e, lo), emitter_number(e, 32));
    made = spirv_make(&e->m, SpvOpSelect, u32, is_none, below, leading_zeros(e, hi));
  }
  return spirv_make(&e->m, SpvOpUConvert, u64, made);
}

// SPIR-V for Vulkan counts in 32 bits only.
static uint32_t put_count(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  uint32_t x = arg(e, in, 0), u32 = emitter_u32(e), bits = type_bits(in->type);
  (void)row;
  if (bits == 64) return count_wide(e, in, x);
  if (is_narrow((vyre_type)in->type)) x = cut(e, type_to_unsigned((vyre_type)in->type), x);
  if (in->op == VYRE_OP_POPCOUNT) return spirv_make(&e->m, SpvOpBitCount, u32, x);
  uint32_t zeros = leading_zeros(e, x);
  return bits == 32 ? zeros
                    : spirv_make(&e->m, SpvOpISub, u32, zeros, emitter_number(e, 32 - bits));
}

// ---- conversion ---------------------------------------------------------------------------------

static uint32_t to_bool(emitter *e, vyre_type from, uint32_t x) {
  SpvOp differs = type_is_float(from) ? SpvOpFUnordNotEqual : SpvOpINotEqual;
  return spirv_make(&e->m, differs, bool_type(e), x, emitter_const(e, from, 0));
}

static uint32_t from_bool(emitter *e, vyre_type to, uint32_t x) {
  uint64_t one = to == VYRE_F32 ? 0x3f800000 : to == VYRE_F64 ? 0x3ff0000000000000 : 1;
  return spirv_make(&e->m, SpvOpSelect, emitter_type(e, to), x, emitter_const(e, to, one),
                    emitter_const(e, to, 0));
}

static uint32_t join_words(emitter *e, uint32_t type, uint32_t lo, uint32_t hi) {
  uint32_t pair = spirv_declare(&e->m, SpvOpTypeVector, 0, emitter_u32(e), 2);
  return spirv_make(&e->m, SpvOpBitcast, type,
                    spirv_make(&e->m, SpvOpCompositeConstruct, pair, lo, hi));
}

// Signed ones word by word: Mesa 22.3 narrows comparisons of what SConvert widened to the width
// before, and gets them wrong (3 <= 4 is false).
static uint32_t widen(emitter *e, vyre_type from, uint32_t x) {
  uint32_t u32 = emitter_u32(e), type = int_type(e, 64);
  if (!type_is_signed(from)) return spirv_make(&e->m, SpvOpUConvert, type, x);
  uint32_t sign = spirv_make(&e->m, SpvOpShiftRightArithmetic, u32, x, emitter_number(e, 31));
  return join_words(e, type, x, sign);
}

static uint32_t between_ints(emitter *e, vyre_type to, vyre_type from, uint32_t x) {
  bool was_wide = type_bits(from) == 64, is_wide = type_bits(to) == 64;
  if (was_wide && !is_wide) x = spirv_make(&e->m, SpvOpUConvert, emitter_u32(e), x);
  if (is_wide && !was_wide) x = widen(e, from, x);
  return is_wide ? x : cut(e, to, x);
}

static uint32_t put_convert(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type to = (vyre_type)in->type, from = ref_type(e->p, in->arg[0]);
  uint32_t x = arg(e, in, 0), type = emitter_type(e, to);
  (void)row;
  if (to == from) return x;
  if (to == VYRE_BOOL) return to_bool(e, from, x);
  if (from == VYRE_BOOL) return from_bool(e, to, x);
  if (type_is_int(to) && type_is_int(from)) return between_ints(e, to, from, x);
  SpvOp how = type_is_float(to) && type_is_float(from)    ? SpvOpFConvert
              : type_is_float(to) && type_is_signed(from) ? SpvOpConvertSToF
              : type_is_float(to)                         ? SpvOpConvertUToF
              : type_is_signed(to)                        ? SpvOpConvertFToS
                                                          : SpvOpConvertFToU;
  uint32_t found = exact(e, spirv_make(&e->m, how, type, x));
  return type_is_float(to) && type_is_int(from) ? hide_made(e, to, found) : found;
}

static uint32_t put_bitcast(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type to = (vyre_type)in->type, from = ref_type(e->p, in->arg[0]);
  uint32_t x = arg(e, in, 0);
  (void)row;
  if (type_is_float(to) != type_is_float(from))
    x = spirv_make(&e->m, SpvOpBitcast, emitter_type(e, to), x);
  if (type_is_float(to)) return type_is_int(from) ? hide_made(e, to, x) : x;
  return cut(e, to, x);
}

static uint32_t put_copy(emitter *e, uint32_t op, const emitter_row *row) {
  (void)row;
  return arg(e, &e->p->code[op], 0);
}

// ---- facts --------------------------------------------------------------------------------------

static uint32_t put_param(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = (vyre_type)in->type;
  (void)row;
  uint32_t lo = fact(e, FACT_OF_PARAM, in->arg[0], 0), type = emitter_type(e, t);
  if (t == VYRE_BOOL) return to_bool(e, VYRE_U32, lo);
  if (t == VYRE_F32) return spirv_make(&e->m, SpvOpBitcast, type, lo);
  if (type_bits(t) < 64) return cut(e, t, lo);
  return join_words(e, type, lo, fact(e, FACT_OF_PARAM, in->arg[0], 1));
}

static uint32_t put_param_word(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  uint32_t part = (uint32_t)e->p->consts[ref_index(in->arg[1])].bits;
  return fact(e, FACT_OF_PARAM, in->arg[0], part);
}

static uint32_t put_len(emitter *e, uint32_t op, const emitter_row *row) {
  (void)row;
  return fact(e, FACT_OF_LENGTH, e->p->code[op].arg[0], 0);
}

static uint32_t builtin(emitter *e, uint32_t variable, uint32_t axis) {
  uint32_t u32 = emitter_u32(e);
  uint32_t pointer = spirv_declare(&e->m, SpvOpTypePointer, 0, SpvStorageClassInput, u32);
  uint32_t place = spirv_make(&e->m, SpvOpAccessChain, pointer, variable, emitter_number(e, axis));
  return spirv_make(&e->m, SpvOpLoad, u32, place);
}

// A large grid is dispatched in pieces, which do not begin at 0.
static uint32_t group_number(emitter *e, uint32_t axis) {
  uint32_t group = builtin(e, e->group_id, axis);
  return spirv_make(&e->m, SpvOpIAdd, emitter_u32(e), group, fact(e, FACT_OF_BASE, axis, 0));
}

static uint32_t put_fact(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  uint32_t axis = in->arg[0], u32 = emitter_u32(e);
  bool is_past = axis >= e->r->rank;
  (void)row;
  switch ((vyre_op)in->op) {
  case VYRE_OP_LOCAL_SIZE: return emitter_number(e, e->r->workgroup[axis]);
  case VYRE_OP_GLOBAL_SIZE: return is_past ? emitter_number(e, 1) : fact(e, FACT_OF_GRID, axis, 0);
  case VYRE_OP_GROUP_COUNT:
    if (is_past) return emitter_number(e, 1);
    return spirv_make(&e->m, SpvOpUDiv, u32, fact(e, FACT_OF_GRID, axis, 0),
                      emitter_number(e, e->r->workgroup[axis]));
  case VYRE_OP_LOCAL_ID: return is_past ? emitter_number(e, 0) : builtin(e, e->local_id, axis);
  case VYRE_OP_GROUP_ID: return is_past ? emitter_number(e, 0) : group_number(e, axis);
  default: break; // the position in the grid
  }
  if (is_past) return emitter_number(e, 0);
  uint32_t first = spirv_make(&e->m, SpvOpIMul, u32, group_number(e, axis), e->size[axis]);
  return spirv_make(&e->m, SpvOpIAdd, u32, first, builtin(e, e->local_id, axis));
}

// ---- memory -------------------------------------------------------------------------------------

// An index is below the length, which has 32 bits.
static uint32_t index_of(emitter *e, ref index) {
  uint32_t value = emitter_ref(e, index);
  if (type_bits(ref_type(e->p, index)) < 64) return value;
  return spirv_make(&e->m, SpvOpUConvert, emitter_u32(e), value);
}

static uint32_t element(emitter *e, const inst *in) {
  static const SpvStorageClass classes[] = {
      [MEM_BUFFER] = SpvStorageClassStorageBuffer,
      [MEM_SHARED] = SpvStorageClassWorkgroup,
      [MEM_PRIVATE] = SpvStorageClassFunction,
  };
  uint32_t space = mem_space(in->arg[0]), i = mem_index(in->arg[0]);
  uint32_t type = emitter_memory(e, emitter_declared(e, in->arg[0]));
  uint32_t pointer = spirv_declare(&e->m, SpvOpTypePointer, 0, classes[space], type);
  uint32_t at = index_of(e, in->arg[1]);
  if (space == MEM_BUFFER)
    return spirv_make(&e->m, SpvOpAccessChain, pointer, e->buffers[i], emitter_number(e, 0), at);
  uint32_t base = space == MEM_SHARED ? e->shared[i] : e->values[i];
  return spirv_make(&e->m, SpvOpAccessChain, pointer, base, at);
}

static uint32_t put_load(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = emitter_element(e, in->arg[0]), declared = emitter_declared(e, in->arg[0]);
  (void)row;
  uint32_t found = spirv_make(&e->m, SpvOpLoad, emitter_memory(e, declared), element(e, in));
  if (declared != t) return spirv_make(&e->m, SpvOpBitcast, emitter_type(e, t), found);
  if (type_bytes(t) >= 4) return found;
  SpvOp widen = type_is_signed(t) ? SpvOpSConvert : SpvOpUConvert;
  found = spirv_make(&e->m, widen, emitter_u32(e), found);
  return t == VYRE_BOOL ? to_bool(e, VYRE_U32, found) : found;
}

static uint32_t put_store(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = emitter_element(e, in->arg[0]), declared = emitter_declared(e, in->arg[0]);
  (void)row;
  uint32_t value = arg(e, in, 2);
  if (declared != t) value = spirv_make(&e->m, SpvOpBitcast, emitter_type(e, declared), value);
  if (t == VYRE_BOOL) value = from_bool(e, VYRE_U32, value);
  if (type_bytes(t) < 4) value = spirv_make(&e->m, SpvOpUConvert, emitter_memory(e, t), value);
  spirv_put(&e->m, SECTION_BODY, SpvOpStore, element(e, in), value);
  return 0;
}

static uint32_t put_atomic(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = emitter_element(e, in->arg[0]), declared = emitter_declared(e, in->arg[0]);
  bool is_shared = mem_space(in->arg[0]) == MEM_SHARED;
  if (type_bits(t) == 64) spirv_require(&e->m, SpvCapabilityInt64Atomics);
  uint32_t at = element(e, in), type = emitter_type(e, declared), relaxed = emitter_number(e, 0);
  uint32_t scope = emitter_number(e, is_shared ? SpvScopeWorkgroup : SpvScopeDevice);
  uint32_t x = arg(e, in, 2);
  if (op_table[in->op].operand_count < 4)
    return spirv_make(&e->m, op_for(row, t), type, at, scope, relaxed, x);
  uint32_t y = arg(e, in, 3);
  if (declared == t)
    return spirv_make(&e->m, SpvOpAtomicCompareExchange, type, at, scope, relaxed, relaxed, y, x);
  x = spirv_make(&e->m, SpvOpBitcast, type, x);
  y = spirv_make(&e->m, SpvOpBitcast, type, y);
  uint32_t old = flow_exchange_bits(e, &(flow_exchange){declared, at, scope, x, y});
  return spirv_make(&e->m, SpvOpBitcast, emitter_type(e, t), old);
}

uint32_t emitter_stop_flag(emitter *e) {
  uint32_t pointer =
      spirv_declare(&e->m, SpvOpTypePointer, 0, SpvStorageClassStorageBuffer, emitter_u32(e));
  return spirv_make(&e->m, SpvOpAccessChain, pointer, e->stop, emitter_number(e, 0));
}

// Of memory that the host writes meanwhile.
static uint32_t put_stop(emitter *e, uint32_t op, const emitter_row *row) {
  (void)op;
  (void)row;
  uint32_t asked = spirv_make(&e->m, SpvOpAtomicLoad, emitter_u32(e), emitter_stop_flag(e),
                              emitter_number(e, SpvScopeDevice), emitter_number(e, 0));
  return to_bool(e, VYRE_U32, asked);
}

// ---- private state ------------------------------------------------------------------------------

uint32_t emitter_local(emitter *e, uint32_t type) {
  uint32_t pointer = spirv_declare(&e->m, SpvOpTypePointer, 0, SpvStorageClassFunction, type);
  uint32_t made = spirv_id(&e->m);
  spirv_put(&e->m, SECTION_LOCALS, SpvOpVariable, pointer, made, SpvStorageClassFunction);
  return made;
}

static uint32_t put_var(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  uint32_t made = emitter_local(e, emitter_type(e, (vyre_type)in->type));
  spirv_put(&e->m, SECTION_BODY, SpvOpStore, made, arg(e, in, 0));
  return made;
}

static uint32_t put_get(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  return spirv_make(&e->m, SpvOpLoad, emitter_type(e, (vyre_type)in->type), e->values[in->arg[0]]);
}

static uint32_t put_set(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  spirv_put(&e->m, SECTION_BODY, SpvOpStore, e->values[in->arg[0]], arg(e, in, 1));
  return 0;
}

// Zero each time that it is reached.
static uint32_t put_array(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  if (type_bytes(in->type) < 4)
    spirv_require(&e->m, type_bytes(in->type) == 1 ? SpvCapabilityInt8 : SpvCapabilityInt16);
  uint32_t type = spirv_declare(&e->m, SpvOpTypeArray, 0, emitter_memory(e, (vyre_type)in->type),
                                emitter_number(e, in->arg[0]));
  uint32_t made = emitter_local(e, type);
  uint32_t zeros = spirv_declare_words(&e->m, SpvOpConstantNull, type, NULL, 0, NULL);
  spirv_put(&e->m, SECTION_BODY, SpvOpStore, made, zeros);
  return made;
}

// ---- the table ----------------------------------------------------------------------------------

static uint32_t put_lowered(emitter *e, uint32_t op, const emitter_row *row) {
  (void)row;
  VYRE_BUG("vulkan", "%s was not lowered", inst_name(&e->p->code[op]));
}

// clang-format off
#define SAME(op) SpvOp##op, SpvOp##op
#define EMIT_ADD    put_binary, SAME(IAdd), SpvOpFAdd, 0
#define EMIT_SUB    put_binary, SAME(ISub), SpvOpFSub, 0
#define EMIT_MUL    put_binary, SAME(IMul), SpvOpFMul, 0
#define EMIT_DIV    put_binary, SpvOpUDiv, SpvOpSDiv, SpvOpFDiv, 0
#define EMIT_REM    put_inside, SpvOpUMod, SpvOpSRem, 0, 0
#define EMIT_NEG    put_sign, SAME(SNegate), 0, 0
#define EMIT_ABS    put_sign, 0, 0, 0, 0
#define EMIT_MIN    put_lowered, 0, 0, 0, 0
#define EMIT_MAX    put_lowered, 0, 0, 0, 0
#define EMIT_MULHI  put_lowered, 0, 0, 0, 0
#define EMIT_AND    put_inside, SAME(BitwiseAnd), 0, SpvOpLogicalAnd
#define EMIT_OR     put_inside, SAME(BitwiseOr), 0, SpvOpLogicalOr
#define EMIT_XOR    put_inside, SAME(BitwiseXor), 0, SpvOpLogicalNotEqual
#define EMIT_NOT    put_not, SAME(Not), 0, SpvOpLogicalNot
#define EMIT_SHL    put_binary, SAME(ShiftLeftLogical), 0, 0
#define EMIT_SHR    put_inside, SpvOpShiftRightLogical, SpvOpShiftRightArithmetic, 0, 0
#define EMIT_ROTL   put_lowered, 0, 0, 0, 0
#define EMIT_ROTR   put_lowered, 0, 0, 0, 0
#define EMIT_POPCOUNT put_count, 0, 0, 0, 0
#define EMIT_CLZ    put_count, 0, 0, 0, 0
#define EMIT_CTZ    put_lowered, 0, 0, 0, 0
#define EMIT_EQ     put_compare, SAME(IEqual), SpvOpFOrdEqual, SpvOpLogicalEqual
#define EMIT_NE     put_compare, SAME(INotEqual), SpvOpFUnordNotEqual, SpvOpLogicalNotEqual
#define EMIT_LT     put_compare, SpvOpULessThan, SpvOpSLessThan, SpvOpFOrdLessThan, 0
#define EMIT_LE     put_compare, SpvOpULessThanEqual, SpvOpSLessThanEqual, SpvOpFOrdLessThanEqual, 0
#define EMIT_GT     put_compare, SpvOpUGreaterThan, SpvOpSGreaterThan, SpvOpFOrdGreaterThan, 0
#define EMIT_GE     put_compare, SpvOpUGreaterThanEqual, SpvOpSGreaterThanEqual, SpvOpFOrdGreaterThanEqual, 0
#define EMIT_SELECT put_select, 0, 0, 0, 0
#define EMIT_FMA    put_call, 0, 0, GLSLstd450Fma, 0
#define EMIT_SQRT   put_call, 0, 0, GLSLstd450Sqrt, 0
#define EMIT_FLOOR  put_call, 0, 0, GLSLstd450Floor, 0
#define EMIT_CEIL   put_call, 0, 0, GLSLstd450Ceil, 0
#define EMIT_TRUNC  put_call, 0, 0, GLSLstd450Trunc, 0
#define EMIT_ROUND  put_round, 0, 0, 0, 0
#define EMIT_RINT   put_call, 0, 0, GLSLstd450RoundEven, 0
#define EMIT_CONVERT put_convert, 0, 0, 0, 0
#define EMIT_BITCAST put_bitcast, 0, 0, 0, 0
#define EMIT_COPY   put_copy, 0, 0, 0, 0
#define EMIT_EXP    put_lowered, 0, 0, 0, 0
#define EMIT_EXP2   put_lowered, 0, 0, 0, 0
#define EMIT_EXPM1  put_lowered, 0, 0, 0, 0
#define EMIT_LOG    put_lowered, 0, 0, 0, 0
#define EMIT_LOG2   put_lowered, 0, 0, 0, 0
#define EMIT_LOG10  put_lowered, 0, 0, 0, 0
#define EMIT_LOG1P  put_lowered, 0, 0, 0, 0
#define EMIT_SIN    put_lowered, 0, 0, 0, 0
#define EMIT_COS    put_lowered, 0, 0, 0, 0
#define EMIT_TAN    put_lowered, 0, 0, 0, 0
#define EMIT_ASIN   put_lowered, 0, 0, 0, 0
#define EMIT_ACOS   put_lowered, 0, 0, 0, 0
#define EMIT_ATAN   put_lowered, 0, 0, 0, 0
#define EMIT_ATAN2  put_lowered, 0, 0, 0, 0
#define EMIT_SINH   put_lowered, 0, 0, 0, 0
#define EMIT_COSH   put_lowered, 0, 0, 0, 0
#define EMIT_TANH   put_lowered, 0, 0, 0, 0
#define EMIT_POW    put_lowered, 0, 0, 0, 0
#define EMIT_CBRT   put_lowered, 0, 0, 0, 0
#define EMIT_HYPOT  put_lowered, 0, 0, 0, 0
#define EMIT_FMOD   put_lowered, 0, 0, 0, 0
#define EMIT_RSQRT  put_lowered, 0, 0, 0, 0
#define EMIT_PARAM  put_param, 0, 0, 0, 0
#define EMIT_LEN    put_len, 0, 0, 0, 0
#define EMIT_GLOBAL_ID   put_fact, 0, 0, 0, 0
#define EMIT_LOCAL_ID    put_fact, 0, 0, 0, 0
#define EMIT_GROUP_ID    put_fact, 0, 0, 0, 0
#define EMIT_GLOBAL_SIZE put_fact, 0, 0, 0, 0
#define EMIT_LOCAL_SIZE  put_fact, 0, 0, 0, 0
#define EMIT_GROUP_COUNT put_fact, 0, 0, 0, 0
#define EMIT_LOAD   put_load, 0, 0, 0, 0
#define EMIT_STORE  put_store, 0, 0, 0, 0
#define EMIT_ATOMIC_ADD put_atomic, SAME(AtomicIAdd), 0, 0
#define EMIT_ATOMIC_SUB put_atomic, SAME(AtomicISub), 0, 0
#define EMIT_ATOMIC_MIN put_atomic, SpvOpAtomicUMin, SpvOpAtomicSMin, 0, 0
#define EMIT_ATOMIC_MAX put_atomic, SpvOpAtomicUMax, SpvOpAtomicSMax, 0, 0
#define EMIT_ATOMIC_AND put_atomic, SAME(AtomicAnd), 0, 0
#define EMIT_ATOMIC_OR  put_atomic, SAME(AtomicOr), 0, 0
#define EMIT_ATOMIC_XOR put_atomic, SAME(AtomicXor), 0, 0
#define EMIT_ATOMIC_EXCHANGE put_atomic, SAME(AtomicExchange), 0, 0
#define EMIT_ATOMIC_CAS put_atomic, 0, 0, 0, 0
#define EMIT_VAR    put_var, 0, 0, 0, 0
#define EMIT_GET    put_get, 0, 0, 0, 0
#define EMIT_SET    put_set, 0, 0, 0, 0
#define EMIT_ARRAY  put_array, 0, 0, 0, 0
#define EMIT_IF     flow_if, 0, 0, 0, 0
#define EMIT_ELSE   flow_else, 0, 0, 0, 0
#define EMIT_FOR    flow_for, 0, 0, 0, 0
#define EMIT_WHILE  flow_while, 0, 0, 0, 0
#define EMIT_DO     flow_do, 0, 0, 0, 0
#define EMIT_END    flow_end, 0, 0, 0, 0
#define EMIT_BREAK  flow_jump, 0, 0, 0, 0
#define EMIT_CONTINUE flow_jump, 0, 0, 0, 0
#define EMIT_RETURN flow_jump, 0, 0, 0, 0
#define EMIT_BARRIER flow_barrier, 0, 0, 0, 0
#define EMIT_STOP_ASKED put_stop, 0, 0, 0, 0
#define EMIT_PARAM_WORD put_param_word, 0, 0, 0, 0
// A buffer that is accessed so has elements of a word, and the device has whole words of it.
#define EMIT_LOAD_WORD  put_load, 0, 0, 0, 0
#define EMIT_STORE_WORD put_store, 0, 0, 0, 0
#define EMIT_CAS_WORD   put_atomic, 0, 0, 0, 0
// clang-format on

static const emitter_row rows[OP_COUNT] = {
    [VYRE_OP_NONE] = {put_lowered, 0, 0, 0, 0},
#define OP(op, text, infix, operands, rule, flags, doc) [VYRE_OP_##op] = {EMIT_##op},
#include <vyre/ops.def>
#define FORM(op, text, precondition)
#define LOWERED(op, text, operands, rule, flags, doc) [OP_##op] = {EMIT_##op},
#include "ir/lowered.def"
};

void emitter_operation(emitter *e, uint32_t op) {
  const inst *in = &e->p->code[op];
  if (in->op != VYRE_OP_ELSE && in->op != VYRE_OP_END) emitter_need_block(e);
  e->values[op] = rows[in->op].put(e, op, &rows[in->op]);
  if (e->has_names && e->p->names && e->p->names[op] && e->values[op])
    spirv_put_text(&e->m, SECTION_NAMES, SpvOpName, &e->values[op], 1, e->p->names[op], NULL, 0);
}
