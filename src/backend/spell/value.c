// SPDX-License-Identifier: MIT
//
// Values as expressions, and the table of how each operation is written. An operation that has no
// SPELL_ row does not compile; one that lowering never leaves is `put_lowered`.
#include "backend/spell/table.h"

#include "base/decimal.h"
#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put(speller *s, const char *text) {
  strbuf_puts(&s->text, text);
}

const char *spell_type(const speller *s, vyre_type type) {
  return s->d->types[type];
}

const char *spell_memory_type(const speller *s, vyre_type type) {
  return type == VYRE_BOOL ? s->d->memory_bool : s->d->types[type];
}

static bool is_short(vyre_type type) {
  return type_is_int(type) && type_bits(type) < 32;
}

// ---- literals -----------------------------------------------------------------------------------

// What no decimal says, and subnormals, which a compiler might flush when it reads them, by bits.
static void put_float(speller *s, vyre_type type, uint64_t bits) {
  bool is_f32 = type == VYRE_F32;
  uint64_t magnitude = is_f32 ? bits & 0x7fffffff : bits & INT64_MAX;
  uint64_t normal = is_f32 ? 0x00800000 : 0x0010000000000000;
  uint64_t infinity = is_f32 ? 0x7f800000 : 0x7ff0000000000000;
  if (magnitude >= infinity || (magnitude && magnitude < normal)) {
    strbuf_printf(&s->text, is_f32 ? "%s(0x%08" PRIx64 "%s)" : "%s(0x%016" PRIx64 "%s)",
                  s->d->float_of[!is_f32], bits, is_f32 ? "u" : s->d->wide_suffix);
    return;
  }
  double d;
  float f;
  uint32_t low = (uint32_t)bits;
  memcpy(&d, &bits, sizeof d);
  memcpy(&f, &low, sizeof f);
  if (is_f32) d = (double)f;
  if (signbit(d)) put(s, "(");
  decimal_print(&s->text, d, is_f32 ? 32 : 64);
  if (is_f32) put(s, "f");
  if (signbit(d)) put(s, ")");
}

static void put_integer(speller *s, vyre_type type, uint64_t bits) {
  bool is_signed = type_is_signed(type), is_wide = type_bits(type) == 64;
  const char *suffix = is_wide ? s->d->wide_suffix + is_signed : is_signed ? "" : "u";
  uint64_t lowest = type_canonical_bits(type, (uint64_t)1 << (type_bits(type) - 1));
  if (is_short(type))
    strbuf_printf(&s->text, "((%s)%" PRId64 ")", spell_type(s, type), (int64_t)bits);
  else if (is_signed && bits == lowest) // its magnitude is in no literal of the type
    strbuf_printf(&s->text, "(%" PRId64 "%s - 1)", (int64_t)bits + 1, suffix);
  else if (is_signed && (int64_t)bits < 0)
    strbuf_printf(&s->text, "(%" PRId64 "%s)", (int64_t)bits, suffix);
  else
    strbuf_printf(&s->text, "%" PRIu64 "%s", bits, suffix);
}

void spell_literal(speller *s, vyre_type type, uint64_t bits) {
  if (type == VYRE_BOOL)
    put(s, bits ? "true" : "false");
  else if (type_is_float(type))
    put_float(s, type, bits);
  else
    put_integer(s, type, bits);
}

// ---- operands -----------------------------------------------------------------------------------

void spell_name(speller *s, uint32_t op) {
  if (s->is_framed) put(s, "s->");
  put(s, s->value_names[spell_offset(s, op)]);
}

static void put_expression(speller *s, uint32_t op) {
  const spelling *how = &spellings[s->p->code[op].op];
  how->put(s, op, how->text);
}

void spell_whole(speller *s, ref value) {
  if (ref_is_const(value)) {
    const constant *c = &s->p->consts[ref_index(value)];
    spell_literal(s, (vyre_type)c->type, c->bits);
  } else if (s->is_inline[spell_offset(s, value)]) {
    put_expression(s, value);
  } else {
    spell_name(s, value);
  }
}

static void infix(speller *s, const inst *in, const char *sign) {
  spell_operand(s, in->arg[0]);
  strbuf_printf(&s->text, " %s ", sign);
  spell_operand(s, in->arg[1]);
}

// ---- operations ---------------------------------------------------------------------------------

// `x + y` and the like, computed so that it wraps.
static void put_wrapping(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  vyre_type t = (vyre_type)in->type, u = type_to_unsigned(t);
  if (type_is_float(t) || t == u || is_short(t)) {
    bool is_cut = is_short(t);
    if (is_cut) strbuf_printf(&s->text, "(%s)(", spell_type(s, t));
    if (t == VYRE_U16 && in->op == VYRE_OP_MUL) put(s, "1u * "); // 65535 * 65535 is no int
    infix(s, in, sign);
    if (is_cut) put(s, ")");
    return;
  }
  strbuf_printf(&s->text, "(%s)((%s)", spell_type(s, t), spell_type(s, u));
  spell_operand(s, in->arg[0]);
  strbuf_printf(&s->text, " %s (%s)", sign, spell_type(s, u));
  spell_operand(s, in->arg[1]);
  put(s, ")");
}

// Nothing wraps, but short types are cut.
static void put_infix(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  bool is_cut = is_short((vyre_type)in->type);
  if (is_cut) strbuf_printf(&s->text, "(%s)(", spell_type(s, (vyre_type)in->type));
  infix(s, in, sign);
  if (is_cut) put(s, ")");
}

// On bool, and and or are the logical ones, which C has as others.
static void put_bitwise(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  if (in->type != VYRE_BOOL)
    put_infix(s, op, sign);
  else
    infix(s, in, in->op == VYRE_OP_AND ? "&&" : in->op == VYRE_OP_OR ? "||" : "!=");
}

static void put_not(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  bool is_cut = is_short((vyre_type)in->type);
  if (is_cut) strbuf_printf(&s->text, "(%s)", spell_type(s, (vyre_type)in->type));
  put(s, in->type == VYRE_BOOL ? "!" : sign);
  spell_operand(s, in->arg[0]);
}

static void put_negation(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  vyre_type t = (vyre_type)in->type;
  if (type_is_float(t)) {
    put(s, sign);
    spell_operand(s, in->arg[0]);
    return;
  }
  const char *u = spell_type(s, type_to_unsigned(t));
  strbuf_printf(&s->text, "(%s)((%s)0 - (%s)", spell_type(s, t), u, u);
  spell_operand(s, in->arg[0]);
  put(s, ")");
}

// To the left unsigned, because C leaves the others open.
static void put_shift(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  vyre_type t = (vyre_type)in->type, wide = is_short(t) ? VYRE_U32 : type_to_unsigned(t);
  bool is_left = in->op == VYRE_OP_SHL, is_plain = t == wide || (!is_left && !is_short(t));
  if (!is_plain) strbuf_printf(&s->text, "(%s)(", spell_type(s, t));
  if (!is_plain && is_left) strbuf_printf(&s->text, "(%s)", spell_type(s, wide));
  infix(s, in, sign);
  if (!is_plain) put(s, ")");
}

static void put_call(speller *s, uint32_t op, const char *name) {
  const inst *in = &s->p->code[op];
  strbuf_printf(&s->text, "%s%s(", name, in->type == VYRE_F32 ? s->d->f32_suffix : "");
  for (int k = 0; k < op_table[in->op].operand_count; k++) {
    if (k) put(s, ", ");
    spell_whole(s, in->arg[k]);
  }
  put(s, ")");
}

static void put_select(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  bool is_cut = is_short((vyre_type)in->type);
  if (is_cut) strbuf_printf(&s->text, "(%s)(", spell_type(s, (vyre_type)in->type));
  spell_operand(s, in->arg[0]);
  put(s, sign);
  spell_operand(s, in->arg[1]);
  put(s, " : ");
  spell_operand(s, in->arg[2]);
  if (is_cut) put(s, ")");
}

static void put_conversion(speller *s, uint32_t op, const char *sign) {
  const inst *in = &s->p->code[op];
  vyre_type to = (vyre_type)in->type;
  bool is_test = to == VYRE_BOOL && ref_type(s->p, in->arg[0]) != VYRE_BOOL;
  if (!is_test) strbuf_printf(&s->text, "(%s)", spell_type(s, to));
  spell_operand(s, in->arg[0]);
  if (is_test) put(s, sign);
}

static void put_bits(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  (void)text;
  vyre_type to = (vyre_type)in->type, from = ref_type(s->p, in->arg[0]);
  if (type_is_float(to) == type_is_float(from)) {
    strbuf_printf(&s->text, "(%s)", spell_type(s, to));
    spell_operand(s, in->arg[0]);
  } else if (type_is_float(from)) {
    strbuf_printf(&s->text, "(%s)%s(", spell_type(s, to), s->d->bits_of[from == VYRE_F64]);
    spell_whole(s, in->arg[0]);
    put(s, ")");
  } else {
    vyre_type u = type_to_unsigned(from);
    strbuf_printf(&s->text, "%s((%s)", s->d->float_of[to == VYRE_F64], spell_type(s, u));
    spell_operand(s, in->arg[0]);
    put(s, ")");
  }
}

static void put_copy(speller *s, uint32_t op, const char *text) {
  (void)text;
  spell_whole(s, s->p->code[op].arg[0]);
}

// ---- facts and memory ---------------------------------------------------------------------------

static void put_param(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  strbuf_printf(&s->text, "%s%s", s->d->launch_prefix, s->param_names[in->arg[0]]);
  if (in->type == VYRE_BOOL) put(s, text);
}

static void put_len(speller *s, uint32_t op, const char *text) {
  (void)text;
  strbuf_printf(&s->text, "%s%s", s->d->launch_prefix, s->length_names[s->p->code[op].arg[0]]);
}

static void put_fact(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  uint32_t axis = in->arg[0];
  (void)text;
  bool is_size = in->op == VYRE_OP_GLOBAL_SIZE || in->op == VYRE_OP_GROUP_COUNT;
  if (is_size && axis >= s->r->rank)
    put(s, "1u");
  else if (in->op == VYRE_OP_LOCAL_SIZE)
    strbuf_printf(&s->text, "%uu", s->r->workgroup[axis]);
  else
    strbuf_printf(&s->text, s->d->facts[in->op - VYRE_OP_GLOBAL_ID], axis, s->r->workgroup[axis]);
}

static void put_get(speller *s, uint32_t op, const char *text) {
  (void)text;
  spell_name(s, s->p->code[op].arg[0]);
}

void spell_element(speller *s, const inst *in) {
  uint32_t i = mem_index(in->arg[0]);
  if (mem_space(in->arg[0]) == MEM_PRIVATE)
    spell_name(s, i);
  else if (mem_space(in->arg[0]) == MEM_BUFFER)
    strbuf_printf(&s->text, "%s%s", s->d->launch_prefix, s->buffer_names[i]);
  else
    strbuf_printf(&s->text, "%s%s", s->d->shared_prefix, s->shared_names[i - s->r->shared.first]);
  put(s, "[");
  spell_whole(s, in->arg[1]);
  put(s, "]");
}

static void put_load(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  spell_element(s, in);
  if (in->type == VYRE_BOOL) put(s, text);
}

static void put_stop(speller *s, uint32_t op, const char *text) {
  (void)op;
  (void)text;
  put(s, s->d->stop);
}

static void put_atomic(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  char name[40];
  (void)text;
  strbuf_printf(&s->text, "%s(&", s->d->atomic(in, name));
  spell_element(s, in);
  for (int k = 2; k < op_table[in->op].operand_count; k++) {
    put(s, ", ");
    spell_whole(s, in->arg[k]);
  }
  put(s, ")");
}

// Functions of the dialect, which know where the buffer ends: `word_load(x, bytes, i)`.
static void put_word(speller *s, uint32_t op, const char *name) {
  const inst *in = &s->p->code[op];
  uint32_t i = mem_index(in->arg[0]);
  const char *prefix = s->d->launch_prefix;
  strbuf_printf(&s->text, "word_%s(%s%s, (%s)%s%s * %u", name, prefix, s->buffer_names[i],
                spell_type(s, VYRE_U64), prefix, s->length_names[i],
                type_bytes(s->p->buffers[i].type));
  for (int k = 1; k < op_table[in->op].operand_count; k++) {
    put(s, ", ");
    spell_whole(s, in->arg[k]);
  }
  put(s, ")");
}

static void put_word_store(speller *s, uint32_t op, const char *name) {
  for (uint32_t i = 0; i < s->indent; i++) put(s, "  ");
  put_word(s, op, name);
  put(s, ";\n");
}

static void put_param_word(speller *s, uint32_t op, const char *text) {
  const inst *in = &s->p->code[op];
  (void)text;
  strbuf_printf(&s->text, "(%s)((%s)%s%s >> 32 * ", spell_type(s, VYRE_U32),
                spell_type(s, VYRE_U64), s->d->launch_prefix, s->param_names[in->arg[0]]);
  spell_operand(s, in->arg[1]);
  put(s, ")");
}

static void put_lowered(speller *s, uint32_t op, const char *text) {
  (void)text;
  VYRE_BUG("spell", "`%s` was not lowered", op_table[s->p->code[op].op].name);
}

// ---- the table ----------------------------------------------------------------------------------

#define SPELL_ADD             put_wrapping, "+"
#define SPELL_SUB             put_wrapping, "-"
#define SPELL_MUL             put_wrapping, "*"
#define SPELL_DIV             put_infix, "/"
#define SPELL_REM             put_infix, "%"
#define SPELL_NEG             put_negation, "-"
#define SPELL_ABS             put_call, "fabs" // of floats
#define SPELL_MIN             put_lowered, ""
#define SPELL_MAX             put_lowered, ""
#define SPELL_MULHI           put_call, "mul_hi" // OpenCL C only
#define SPELL_AND             put_bitwise, "&"
#define SPELL_OR              put_bitwise, "|"
#define SPELL_XOR             put_bitwise, "^"
#define SPELL_NOT             put_not, "~"
#define SPELL_SHL             put_shift, "<<"
#define SPELL_SHR             put_shift, ">>"
#define SPELL_ROTL            put_lowered, ""
#define SPELL_ROTR            put_lowered, ""
#define SPELL_POPCOUNT        put_call, "popcount" // OpenCL C only
#define SPELL_CLZ             put_call, "clz"      // OpenCL C only
#define SPELL_CTZ             put_lowered, ""
#define SPELL_EQ              put_infix, "=="
#define SPELL_NE              put_infix, "!="
#define SPELL_LT              put_infix, "<"
#define SPELL_LE              put_infix, "<="
#define SPELL_GT              put_infix, ">"
#define SPELL_GE              put_infix, ">="
#define SPELL_SELECT          put_select, " ? "
#define SPELL_FMA             put_call, "fma"
#define SPELL_SQRT            put_call, "sqrt"
#define SPELL_FLOOR           put_call, "floor"
#define SPELL_CEIL            put_call, "ceil"
#define SPELL_TRUNC           put_call, "trunc"
#define SPELL_ROUND           put_call, "round"
#define SPELL_RINT            put_call, "rint"
#define SPELL_CONVERT         put_conversion, " != 0"
#define SPELL_BITCAST         put_bits, ""
#define SPELL_COPY            put_copy, ""
#define SPELL_EXP             put_lowered, ""
#define SPELL_EXP2            put_lowered, ""
#define SPELL_EXPM1           put_lowered, ""
#define SPELL_LOG             put_lowered, ""
#define SPELL_LOG2            put_lowered, ""
#define SPELL_LOG10           put_lowered, ""
#define SPELL_LOG1P           put_lowered, ""
#define SPELL_SIN             put_lowered, ""
#define SPELL_COS             put_lowered, ""
#define SPELL_TAN             put_lowered, ""
#define SPELL_ASIN            put_lowered, ""
#define SPELL_ACOS            put_lowered, ""
#define SPELL_ATAN            put_lowered, ""
#define SPELL_ATAN2           put_lowered, ""
#define SPELL_SINH            put_lowered, ""
#define SPELL_COSH            put_lowered, ""
#define SPELL_TANH            put_lowered, ""
#define SPELL_POW             put_lowered, ""
#define SPELL_CBRT            put_lowered, ""
#define SPELL_HYPOT           put_lowered, ""
#define SPELL_FMOD            put_lowered, ""
#define SPELL_RSQRT           put_lowered, ""
#define SPELL_PARAM           put_param, " != 0"
#define SPELL_LEN             put_len, ""
#define SPELL_GLOBAL_ID       put_fact, ""
#define SPELL_LOCAL_ID        put_fact, ""
#define SPELL_GROUP_ID        put_fact, ""
#define SPELL_GLOBAL_SIZE     put_fact, ""
#define SPELL_LOCAL_SIZE      put_fact, ""
#define SPELL_GROUP_COUNT     put_fact, ""
#define SPELL_LOAD            put_load, " != 0"
#define SPELL_STORE           put_store, ""
#define SPELL_ATOMIC_ADD      put_atomic, ""
#define SPELL_ATOMIC_SUB      put_atomic, ""
#define SPELL_ATOMIC_MIN      put_atomic, ""
#define SPELL_ATOMIC_MAX      put_atomic, ""
#define SPELL_ATOMIC_AND      put_atomic, ""
#define SPELL_ATOMIC_OR       put_atomic, ""
#define SPELL_ATOMIC_XOR      put_atomic, ""
#define SPELL_ATOMIC_EXCHANGE put_atomic, ""
#define SPELL_ATOMIC_CAS      put_atomic, ""
#define SPELL_VAR             put_var, ""
#define SPELL_GET             put_get, ""
#define SPELL_SET             put_set, ""
#define SPELL_ARRAY           put_array, ""
#define SPELL_IF              put_if, ""
#define SPELL_ELSE            put_else, ""
#define SPELL_FOR             put_for, ""
#define SPELL_WHILE           put_while, ""
#define SPELL_DO              put_do, ""
#define SPELL_END             put_end, ""
#define SPELL_BREAK           put_jump, "break;"
#define SPELL_CONTINUE        put_jump, "continue;"
#define SPELL_RETURN          put_return, ""
#define SPELL_BARRIER         put_barrier, ""
#define SPELL_STOP_ASKED      put_stop, ""
#define SPELL_PARAM_WORD      put_param_word, ""
#define SPELL_LOAD_WORD       put_word, "load"
#define SPELL_STORE_WORD      put_word_store, "store"
#define SPELL_CAS_WORD        put_word, "cas"

const spelling spellings[OP_COUNT] = {
    [VYRE_OP_NONE] = {put_lowered, ""},
#define OP(op, text, infix, operands, rule, flags, doc) [VYRE_OP_##op] = {SPELL_##op},
#include <vyre/ops.def>
#define FORM(op, text, precondition)
#define LOWERED(op, text, operands, rule, flags, doc) [OP_##op] = {SPELL_##op},
#include "ir/lowered.def"
};

// Names and calls need no parentheses; a cast in front of one does.
static bool is_tight(const speller *s, const inst *in) {
  void (*put)(speller *, uint32_t, const char *) = spellings[in->op].put;
  if (put == put_fact)
    return in->op != VYRE_OP_GROUP_COUNT && in->op != VYRE_OP_LOCAL_SIZE &&
           s->d->facts[in->op - VYRE_OP_GLOBAL_ID][0] != '(';
  return put == put_call || put == put_get || put == put_len ||
         ((put == put_param || put == put_load) && in->type != VYRE_BOOL);
}

void spell_operand(speller *s, ref value) {
  bool is_inline = !ref_is_const(value) && s->is_inline[spell_offset(s, value)];
  if (!is_inline || is_tight(s, &s->p->code[value])) {
    spell_whole(s, value);
  } else {
    put(s, "(");
    put_expression(s, value);
    put(s, ")");
  }
}
