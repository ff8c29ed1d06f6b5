// SPDX-License-Identifier: MIT
//
// Values as expressions. Signed arithmetic of 32 and 64 bits is done unsigned, because overflow has
// no meaning in C; shorter types are computed in int and cut. Counts are masked, because C promotes
// short operands and a shift would see 32 bits.
#include "backend/opencl/emit_state.h"

#include "base/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const type_names[VYRE_TYPE_COUNT] = {
    [VYRE_VOID] = "void", [VYRE_BOOL] = "bool",  [VYRE_I8] = "char",   [VYRE_U8] = "uchar",
    [VYRE_I16] = "short", [VYRE_U16] = "ushort", [VYRE_I32] = "int",   [VYRE_U32] = "uint",
    [VYRE_I64] = "long",  [VYRE_U64] = "ulong",  [VYRE_F32] = "float", [VYRE_F64] = "double",
};

const char *emit_type(vyre_type type) {
  return type_names[type];
}

const char *emit_memory_type(vyre_type type) {
  return type == VYRE_BOOL ? "uchar" : type_names[type];
}

static vyre_type unsigned_of(vyre_type type) {
  return type_is_signed(type) && type_is_int(type) ? (vyre_type)(type + 1) : type;
}

static void put(emitter *e, const char *text) {
  strbuf_puts(&e->body, text);
}

// ---- constants ----------------------------------------------------------------------------------

static void put_decimal(emitter *e, double value, bool is_f32) {
  if (signbit(value)) put(e, "(");
  decimal_print(&e->body, value, is_f32);
  if (is_f32) put(e, "f");
  if (signbit(value)) put(e, ")");
}

static void put_f32(emitter *e, uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  if (f != f || (bits << 1 && !(bits & 0x7f800000u))) { // NaN, and subnormals that a compiler
    strbuf_printf(&e->body, "as_float(0x%08xu)", bits); // might flush when it reads them
    return;
  }
  if (isinf(f)) {
    put(e, f < 0 ? "(-INFINITY)" : "INFINITY");
    return;
  }
  put_decimal(e, (double)f, true);
}

static void put_f64(emitter *e, uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  if (d != d || isinf(d) || (bits << 1 && !(bits & 0x7ff0000000000000u))) {
    strbuf_printf(&e->body, "as_double(0x%016" PRIx64 "UL)", bits);
    return;
  }
  put_decimal(e, d, false);
}

void emit_const(emitter *e, vyre_type type, uint64_t bits) {
  int64_t value = (int64_t)bits;
  switch (type) {
  case VYRE_BOOL: put(e, bits ? "true" : "false"); break;
  case VYRE_F32: put_f32(e, (uint32_t)bits); break;
  case VYRE_F64: put_f64(e, bits); break;
  case VYRE_U32: strbuf_printf(&e->body, "%" PRIu64 "u", bits); break;
  case VYRE_U64: strbuf_printf(&e->body, "%" PRIu64 "UL", bits); break;
  case VYRE_I64:
    if (value == INT64_MIN)
      put(e, "(-9223372036854775807L - 1)");
    else
      strbuf_printf(&e->body, value < 0 ? "(%" PRId64 "L)" : "%" PRId64 "L", value);
    break;
  case VYRE_I32:
    if (value == INT32_MIN)
      put(e, "(-2147483647 - 1)");
    else
      strbuf_printf(&e->body, value < 0 ? "(%" PRId64 ")" : "%" PRId64, value);
    break;
  default: strbuf_printf(&e->body, "((%s)%" PRId64 ")", emit_type(type), value);
  }
}

void emit_zero(emitter *e, vyre_type type) {
  emit_const(e, type, 0);
}

// ---- operands -----------------------------------------------------------------------------------

// Operations that are one built-in function for all their types.
static const char *call_name(vyre_op op) {
  static const char *const names[VYRE_OP_COUNT] = {
      [VYRE_OP_MULHI] = "mul_hi",
      [VYRE_OP_FMA] = "fma",
      [VYRE_OP_CLZ] = "clz",
      [VYRE_OP_POPCOUNT] = "popcount",
  };
  return names[op];
}

// Names and calls, which need no parentheses.
static bool is_tight(const emitter *e, const inst *in) {
  bool is_float = type_is_float(in->type);
  switch (in->op) {
  case VYRE_OP_GET:
  case VYRE_OP_LEN:
  case VYRE_OP_GLOBAL_SIZE:
  case VYRE_OP_LOCAL_SIZE:
  case VYRE_OP_REM:
  case VYRE_OP_MIN:
  case VYRE_OP_MAX:
  case VYRE_OP_BITCAST:
  case VYRE_OP_CTZ:
  case VYRE_OP_ROTL:
  case VYRE_OP_ROTR:
  case VYRE_OP_FLOOR:
  case VYRE_OP_CEIL:
  case VYRE_OP_TRUNC:
  case VYRE_OP_ROUND:
  case VYRE_OP_RINT: return true;
  case VYRE_OP_PARAM: return in->type != VYRE_BOOL;
  case VYRE_OP_DIV: return !is_float;
  case VYRE_OP_SQRT: return is_float;
  case VYRE_OP_ABS: return is_float || type_is_signed(in->type);
  case VYRE_OP_CONVERT: return type_is_float(ref_type(e->p, in->arg[0])) && type_is_int(in->type);
  default: return call_name((vyre_op)in->op) != NULL;
  }
}

void emit_operand(emitter *e, ref value) {
  bool is_const = ref_is_const(value);
  if (is_const || !e->is_inline[emit_offset(e, value)] || is_tight(e, &e->p->code[value])) {
    emit_whole(e, value);
  } else {
    put(e, "(");
    emit_expression(e, value);
    put(e, ")");
  }
}

void emit_whole(emitter *e, ref value) {
  if (ref_is_const(value)) {
    const constant *c = &e->p->consts[ref_index(value)];
    emit_const(e, (vyre_type)c->type, c->bits);
  } else if (e->is_inline[emit_offset(e, value)]) {
    emit_expression(e, value);
  } else {
    put(e, e->value_names[emit_offset(e, value)]);
  }
}

static void binary(emitter *e, const inst *in, const char *sign) {
  emit_operand(e, in->arg[0]);
  strbuf_printf(&e->body, " %s ", sign);
  emit_operand(e, in->arg[1]);
}

static void call(emitter *e, const inst *in, const char *name) {
  strbuf_printf(&e->body, "%s(", name);
  for (int k = 0; k < op_table[in->op].operand_count; k++) {
    if (k) put(e, ", ");
    emit_whole(e, in->arg[k]);
  }
  put(e, ")");
}

static void helper_call(emitter *e, const inst *in, helper h, vyre_type of, const char *stem) {
  char name[40];
  e->uses[h][of] = true;
  snprintf(name, sizeof name, "vyre_%s_%s", stem, vyre_type_name(of));
  call(e, in, name);
}

// ---- integers -----------------------------------------------------------------------------------

// `x + y` and the like, computed so that it wraps.
static void wrapping(emitter *e, const inst *in, const char *sign) {
  vyre_type t = (vyre_type)in->type;
  const char *name = emit_type(t), *wide = emit_type(unsigned_of(t));
  bool is_short = type_bits(t) < 32;
  if (is_short && t == VYRE_U16 && in->op == VYRE_OP_MUL) wide = "uint"; // 65535 * 65535
  if (type_is_float(t) || (!is_short && !type_is_signed(t))) {
    binary(e, in, sign);
  } else if (is_short && strcmp(wide, "uint")) {
    strbuf_printf(&e->body, "(%s)(", name);
    binary(e, in, sign);
    put(e, ")");
  } else {
    strbuf_printf(&e->body, "(%s)((%s)", name, wide);
    emit_operand(e, in->arg[0]);
    strbuf_printf(&e->body, " %s (%s)", sign, wide);
    emit_operand(e, in->arg[1]);
    put(e, ")");
  }
}

static void negation(emitter *e, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  if (type_is_float(t)) {
    put(e, "-");
    emit_operand(e, in->arg[0]);
    return;
  }
  const char *wide = emit_type(unsigned_of(t));
  strbuf_printf(&e->body, "(%s)((%s)0 - (%s)", emit_type(t), wide, wide);
  emit_operand(e, in->arg[0]);
  put(e, ")");
}

static void shift(emitter *e, const inst *in, const char *sign) {
  vyre_type t = (vyre_type)in->type, wide = unsigned_of(t);
  bool is_left = in->op == VYRE_OP_SHL;
  bool is_plain = type_bits(t) >= 32 && !(is_left && type_is_signed(t));
  if (!is_plain) strbuf_printf(&e->body, "(%s)(", emit_type(t));
  if (is_left && !is_plain)
    strbuf_printf(&e->body, "(%s)", type_bits(t) < 32 ? "uint" : emit_type(wide));
  emit_operand(e, in->arg[0]);
  if (ref_is_const(in->arg[1])) {
    uint64_t count = e->p->consts[ref_index(in->arg[1])].bits & (type_bits(t) - 1);
    strbuf_printf(&e->body, " %s %" PRIu64, sign, count);
  } else {
    strbuf_printf(&e->body, " %s (", sign);
    emit_operand(e, in->arg[1]);
    strbuf_printf(&e->body, " & %u)", type_bits(t) - 1);
  }
  if (!is_plain) put(e, ")");
}

static void rotation(emitter *e, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  strbuf_printf(&e->body, "rotate(");
  emit_whole(e, in->arg[0]);
  strbuf_printf(&e->body, ", (%s)(", emit_type(t));
  if (in->op == VYRE_OP_ROTR) strbuf_printf(&e->body, "%u - ", type_bits(t));
  put(e, "(");
  emit_operand(e, in->arg[1]);
  strbuf_printf(&e->body, " & %u)", type_bits(t) - 1);
  if (in->op == VYRE_OP_ROTR) strbuf_printf(&e->body, " & %u", type_bits(t) - 1);
  put(e, "))");
}

// The ones below the lowest one: all, when there is none.
static void trailing_zeros(emitter *e, const inst *in) {
  vyre_type t = (vyre_type)in->type, wide = unsigned_of(t);
  strbuf_printf(&e->body, "popcount((%s)(~", emit_type(t));
  emit_operand(e, in->arg[0]);
  strbuf_printf(&e->body, " & (%s)((%s)", emit_type(t), emit_type(wide));
  emit_operand(e, in->arg[0]);
  strbuf_printf(&e->body, " - (%s)1)))", emit_type(wide));
}

static void cut(emitter *e, const inst *in, const char *sign) {
  vyre_type t = (vyre_type)in->type;
  bool is_short = type_bits(t) < 32;
  if (is_short) strbuf_printf(&e->body, "(%s)(", emit_type(t));
  if (op_table[in->op].operand_count == 1) {
    put(e, sign);
    emit_operand(e, in->arg[0]);
  } else {
    binary(e, in, sign);
  }
  if (is_short) put(e, ")");
}

static void bitwise(emitter *e, const inst *in) {
  static const char *const logical[] = {"&&", "||", "!=", "!"}, *const bits[] = {"&", "|", "^",
                                                                                 "~"};
  int k = in->op - VYRE_OP_AND;
  if (in->type != VYRE_BOOL) {
    cut(e, in, bits[k]);
  } else if (in->op == VYRE_OP_NOT) {
    put(e, "!");
    emit_operand(e, in->arg[0]);
  } else {
    binary(e, in, logical[k]);
  }
}

// ---- floats and conversion ----------------------------------------------------------------------

static void division(emitter *e, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  bool is_plain = t == VYRE_F64 || (t == VYRE_F32 && e->target->has_rounded_f32);
  if (is_plain)
    binary(e, in, "/");
  else
    helper_call(e, in, HELPER_DIV, t, "div");
}

static void square_root(emitter *e, const inst *in) {
  if (in->type == VYRE_F32 && !e->target->has_rounded_f32)
    helper_call(e, in, HELPER_SQRT, VYRE_F32, "sqrt");
  else
    call(e, in, "sqrt");
}

static void rounding(emitter *e, const inst *in) {
  static const helper helpers[] = {HELPER_FLOOR, HELPER_CEIL, HELPER_TRUNC, HELPER_ROUND,
                                   HELPER_RINT};
  const char *name = op_table[in->op].name;
  if (e->target->has_rounding || (in->type == VYRE_F32 && in->op != VYRE_OP_RINT))
    call(e, in, name);
  else
    helper_call(e, in, helpers[in->op - VYRE_OP_FLOOR], (vyre_type)in->type, name);
}

static void smaller_or_larger(emitter *e, const inst *in) {
  bool is_min = in->op == VYRE_OP_MIN;
  const char *name = is_min ? "min" : "max";
  if (type_is_float(in->type))
    helper_call(e, in, is_min ? HELPER_MIN : HELPER_MAX, (vyre_type)in->type, name);
  else
    call(e, in, name);
}

static void absolute(emitter *e, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  if (type_is_float(t)) {
    call(e, in, "fabs");
  } else if (type_is_signed(t)) {
    helper_call(e, in, HELPER_ABS, t, "abs");
  } else {
    emit_whole(e, in->arg[0]);
  }
}

static void conversion(emitter *e, const inst *in) {
  vyre_type to = (vyre_type)in->type, from = ref_type(e->p, in->arg[0]);
  if (to == VYRE_BOOL && from != VYRE_BOOL) {
    emit_operand(e, in->arg[0]);
    put(e, " != 0");
  } else if (type_is_float(from) && type_is_int(to)) {
    helper_call(e, in, from == VYRE_F32 ? HELPER_FROM_F32 : HELPER_FROM_F64, to,
                from == VYRE_F32 ? "f32_to" : "f64_to");
  } else {
    strbuf_printf(&e->body, "(%s)", emit_type(to));
    emit_operand(e, in->arg[0]);
  }
}

static void bit_cast(emitter *e, const inst *in) {
  vyre_type to = (vyre_type)in->type, from = ref_type(e->p, in->arg[0]);
  strbuf_printf(&e->body, "as_%s(", emit_type(to));
  if (type_is_float(from) && type_is_int(to))
    helper_call(e, in, HELPER_BITS, from, "bits");
  else
    emit_whole(e, in->arg[0]);
  put(e, ")");
}

static void selection(emitter *e, const inst *in) {
  bool is_short = type_is_int(in->type) && type_bits(in->type) < 32;
  if (is_short) strbuf_printf(&e->body, "(%s)(", emit_type((vyre_type)in->type));
  emit_operand(e, in->arg[0]);
  put(e, " ? ");
  emit_operand(e, in->arg[1]);
  put(e, " : ");
  emit_operand(e, in->arg[2]);
  if (is_short) put(e, ")");
}

// ---- launch facts -------------------------------------------------------------------------------

static void launch_fact(emitter *e, const inst *in) {
  uint32_t i = in->arg[0];
  switch (in->op) {
  case VYRE_OP_PARAM:
    strbuf_printf(&e->body, in->type == VYRE_BOOL ? "%s != 0" : "%s", e->param_names[i]);
    break;
  case VYRE_OP_LEN: put(e, e->length_names[i]); break;
  case VYRE_OP_GLOBAL_ID: strbuf_printf(&e->body, "(uint)get_global_id(%u)", i); break;
  case VYRE_OP_LOCAL_ID: strbuf_printf(&e->body, "(uint)get_local_id(%u)", i); break;
  case VYRE_OP_GROUP_ID:
    if (e->is_polled) // the grid may be cut into pieces, whose workgroups are numbered from 0
      strbuf_printf(&e->body, "((uint)get_global_id(%u) / %uu)", i, e->r->workgroup[i]);
    else
      strbuf_printf(&e->body, "(uint)get_group_id(%u)", i);
    break;
  case VYRE_OP_GLOBAL_SIZE:
    if (i < e->r->rank)
      put(e, e->grid_names[i]);
    else
      put(e, "1u");
    break;
  case VYRE_OP_LOCAL_SIZE: strbuf_printf(&e->body, "%uu", e->r->workgroup[i]); break;
  default:
    if (e->is_polled && i < e->r->rank)
      strbuf_printf(&e->body, "(%s / %uu)", e->grid_names[i], e->r->workgroup[i]);
    else
      strbuf_printf(&e->body, "(uint)get_num_groups(%u)", i);
    break;
  }
}

// ---- memory -------------------------------------------------------------------------------------

static const char *memory_name(const emitter *e, uint32_t mem) {
  uint32_t i = mem_index(mem);
  switch (mem_space(mem)) {
  case MEM_BUFFER: return e->buffer_names[i];
  case MEM_SHARED: return e->shared_names[i - e->r->shared.first];
  default: return e->value_names[emit_offset(e, i)];
  }
}

bool emit_check(emitter *e, const inst *in) {
  uint32_t mem = in->arg[0], i = mem_index(mem);
  vyre_type type = ref_type(e->p, in->arg[1]);
  uint64_t length = mem_space(mem) == MEM_SHARED    ? e->p->shared[i].length
                    : mem_space(mem) == MEM_PRIVATE ? e->p->code[i].arg[0]
                                                    : 0;
  if (length && range_is_within(range_of(&e->ranges, in->arg[1]), 0, (int64_t)length - 1))
    return false;
  // A negative index is a large one. No buffer has 2^31 elements here, see the backend.
  if (type_is_signed(type)) strbuf_printf(&e->body, "(%s)", emit_type(unsigned_of(type)));
  emit_operand(e, in->arg[1]);
  if (mem_space(mem) == MEM_BUFFER)
    strbuf_printf(&e->body, " < %s", e->length_names[i]);
  else
    strbuf_printf(&e->body, " < %" PRIu64 "u", length);
  return true;
}

void emit_element(emitter *e, const inst *in) {
  strbuf_printf(&e->body, "%s[", memory_name(e, in->arg[0]));
  emit_whole(e, in->arg[1]);
  put(e, "]");
}

static void load(emitter *e, const inst *in) {
  bool is_short = type_is_int(in->type) && type_bits(in->type) < 32;
  size_t start = e->body.size;
  bool is_checked = emit_check(e, in);
  if (is_checked && is_short) { // C would make an int of it
    e->body.size = start;
    strbuf_printf(&e->body, "(%s)(", emit_type((vyre_type)in->type));
    emit_check(e, in);
  }
  if (is_checked) put(e, " ? ");
  emit_element(e, in);
  if (in->type == VYRE_BOOL) put(e, " != 0");
  if (!is_checked) return;
  put(e, " : ");
  emit_zero(e, (vyre_type)in->type);
  if (is_short) put(e, ")");
}

static const struct {
  const char *narrow, *wide, *stem;
  helper emulation; // of the wide one; HELPER_COUNT: always there
} atomics[] = {
    {"atomic_add", "atom_add", "add", HELPER_COUNT},
    {"atomic_sub", "atom_sub", "sub", HELPER_COUNT},
    {"atomic_min", "atom_min", "min", HELPER_ATOMIC_MIN},
    {"atomic_max", "atom_max", "max", HELPER_ATOMIC_MAX},
    {"atomic_and", "atom_and", "and", HELPER_ATOMIC_AND},
    {"atomic_or", "atom_or", "or", HELPER_ATOMIC_OR},
    {"atomic_xor", "atom_xor", "xor", HELPER_ATOMIC_XOR},
    {"atomic_xchg", "atom_xchg", "exchange", HELPER_COUNT},
    {"atomic_cmpxchg", "atom_cmpxchg", "cas", HELPER_COUNT},
};

void emit_atomic_call(emitter *e, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  bool is_wide = type_bits(t) == 64, is_local = mem_space(in->arg[0]) == MEM_SHARED;
  int k = in->op - VYRE_OP_ATOMIC_ADD;
  helper h = atomics[k].emulation;
  if (is_wide && h != HELPER_COUNT && !e->target->has_i64_extended_atomics) {
    (is_local ? e->uses_local : e->uses)[h][t] = true;
    strbuf_printf(&e->body, "vyre_atomic_%s_%s%s(&", atomics[k].stem, vyre_type_name(t),
                  is_local ? "_local" : "");
  } else {
    strbuf_printf(&e->body, "%s(&", is_wide ? atomics[k].wide : atomics[k].narrow);
  }
  emit_element(e, in);
  for (int i = 2; i < op_table[in->op].operand_count; i++) {
    put(e, ", ");
    emit_whole(e, in->arg[i]);
  }
  put(e, ")");
}

// ---- all ----------------------------------------------------------------------------------------

void emit_expression(emitter *e, uint32_t op) {
  const inst *in = &e->p->code[op];
  if (call_name((vyre_op)in->op)) {
    call(e, in, call_name((vyre_op)in->op));
    return;
  }
  switch (in->op) {
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL: wrapping(e, in, op_table[in->op].infix); break;
  case VYRE_OP_DIV: division(e, in); break;
  case VYRE_OP_REM: helper_call(e, in, HELPER_REM, (vyre_type)in->type, "rem"); break;
  case VYRE_OP_NEG: negation(e, in); break;
  case VYRE_OP_ABS: absolute(e, in); break;
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: smaller_or_larger(e, in); break;
  case VYRE_OP_AND:
  case VYRE_OP_OR:
  case VYRE_OP_XOR:
  case VYRE_OP_NOT: bitwise(e, in); break;
  case VYRE_OP_SHL:
  case VYRE_OP_SHR: shift(e, in, op_table[in->op].infix); break;
  case VYRE_OP_ROTL:
  case VYRE_OP_ROTR: rotation(e, in); break;
  case VYRE_OP_CTZ: trailing_zeros(e, in); break;
  case VYRE_OP_EQ:
  case VYRE_OP_NE:
  case VYRE_OP_LT:
  case VYRE_OP_LE:
  case VYRE_OP_GT:
  case VYRE_OP_GE: binary(e, in, op_table[in->op].infix); break;
  case VYRE_OP_SELECT: selection(e, in); break;
  case VYRE_OP_SQRT: square_root(e, in); break;
  case VYRE_OP_FLOOR:
  case VYRE_OP_CEIL:
  case VYRE_OP_TRUNC:
  case VYRE_OP_ROUND:
  case VYRE_OP_RINT: rounding(e, in); break;
  case VYRE_OP_CONVERT: conversion(e, in); break;
  case VYRE_OP_BITCAST: bit_cast(e, in); break;
  case VYRE_OP_COPY: emit_whole(e, in->arg[0]); break;
  case VYRE_OP_LOAD: load(e, in); break;
  case VYRE_OP_GET: put(e, e->value_names[emit_offset(e, in->arg[0])]); break;
  default: launch_fact(e, in); break;
  }
}
