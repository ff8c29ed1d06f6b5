// SPDX-License-Identifier: MIT
//
// From the text to instructions. Every suffix of an instruction is looked at, and every operand is
// held against the ISA's rules of types and sizes: what is left over is an error.
#include "module.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 128, MOST_SCOPE = 8 };

typedef struct name_row {
  char name[MOST_NAME];
  uint64_t value; // a register, an address, a place in the code
  ptx_type type;  // of a register
  uint32_t scope;
  uint8_t space; // of a variable
} name_row;

typedef struct name_table {
  name_row *at;
  size_t count, room;
} name_table;

typedef struct reader {
  const char *at, *end;
  uint32_t line;
  char token[MOST_NAME], mnemonic[MOST_NAME];
  char *message;
  jmp_buf failed;
  ptx_module *m;
  ptx_kernel *k;
  name_table regs, variables, labels;
  uint32_t scope, code_room, reg_room;
  uint32_t static_shared; // bytes that variables outside of kernels have
} reader;

static _Noreturn void fail(reader *r, const char *format, ...) {
  va_list args;
  int used = snprintf(r->message, PTX_MESSAGE, "line %u: ", r->line);
  va_start(args, format);
  vsnprintf(r->message + used, (size_t)(PTX_MESSAGE - used), format, args);
  va_end(args);
  longjmp(r->failed, 1);
}

static void *more(reader *r, void *old, size_t bytes) {
  void *p = realloc(old, bytes);
  if (!p) fail(r, "out of memory");
  return p;
}

// ---- tokens -------------------------------------------------------------------------------------

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '%';
}

static void skip_blanks(reader *r) {
  while (r->at < r->end) {
    if (*r->at == '\n') r->line++;
    if (isspace((unsigned char)*r->at)) {
      r->at++;
    } else if (r->end - r->at > 1 && r->at[0] == '/' && r->at[1] == '/') {
      while (r->at < r->end && *r->at != '\n') r->at++;
    } else {
      return;
    }
  }
}

// A word, a text in quotes, or one other character; "" at the end.
static const char *next(reader *r) {
  skip_blanks(r);
  size_t n = 0;
  const char *from = r->at;
  if (r->at < r->end && *r->at == '"') {
    do r->at++;
    while (r->at < r->end && *r->at != '"');
    if (r->at < r->end) r->at++;
  } else if (r->at < r->end && is_word(*r->at)) {
    while (r->at < r->end && is_word(*r->at)) r->at++;
  } else if (r->at < r->end) {
    r->at++;
  }
  n = (size_t)(r->at - from);
  if (n >= MOST_NAME) fail(r, "a word is too long");
  memcpy(r->token, from, n);
  r->token[n] = 0;
  return r->token;
}

static char peek(reader *r) {
  skip_blanks(r);
  return r->at < r->end ? *r->at : 0;
}

static void expect(reader *r, const char *token) {
  if (strcmp(next(r), token)) fail(r, "`%s` where `%s` is due", r->token, token);
}

static bool accept(reader *r, char c) {
  if (peek(r) != c) return false;
  r->at++;
  return true;
}

static uint64_t read_number(reader *r, const char *text) {
  char *end;
  bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  bool is_float = text[0] == '0' && strchr("fFdD", text[1]) && text[1];
  uint64_t value = is_float ? strtoull(text + 2, &end, 16) : strtoull(text, &end, is_hex ? 16 : 10);
  if (is_float && strlen(text) != (tolower((unsigned char)text[1]) == 'f' ? 10u : 18u))
    fail(r, "`%s` is no float", text);
  if (*end == 'U' && !is_float) end++;
  if (!isdigit((unsigned char)text[0]) || *end) fail(r, "`%s` is no number", text);
  return value;
}

static uint32_t read_u32(reader *r) {
  return (uint32_t)read_number(r, next(r));
}

// ---- names --------------------------------------------------------------------------------------

static name_row *add_name(reader *r, name_table *t, const char *name) {
  if (t->count == t->room) {
    t->room = t->room ? 2 * t->room : 64;
    t->at = more(r, t->at, t->room * sizeof *t->at);
  }
  name_row *row = &t->at[t->count++];
  *row = (name_row){.scope = r->scope};
  snprintf(row->name, sizeof row->name, "%s", name);
  return row;
}

// The innermost comes last.
static name_row *find_name(name_table *t, const char *name) {
  for (size_t i = t->count; i-- > 0;)
    if (!strcmp(t->at[i].name, name)) return &t->at[i];
  return NULL;
}

static void leave_scope(reader *r) {
  while (r->regs.count && r->regs.at[r->regs.count - 1].scope == r->scope) r->regs.count--;
  r->scope--;
}

// ---- types --------------------------------------------------------------------------------------

static bool find_type(const char *word, ptx_type *out) {
  static const struct {
    const char *name;
    ptx_type type;
  } rows[] = {{"pred", {KIND_PRED, 1}}, {"b8", {KIND_B, 8}},   {"b16", {KIND_B, 16}},
              {"b32", {KIND_B, 32}},    {"b64", {KIND_B, 64}}, {"u8", {KIND_U, 8}},
              {"u16", {KIND_U, 16}},    {"u32", {KIND_U, 32}}, {"u64", {KIND_U, 64}},
              {"s8", {KIND_S, 8}},      {"s16", {KIND_S, 16}}, {"s32", {KIND_S, 32}},
              {"s64", {KIND_S, 64}},    {"f16", {KIND_F, 16}}, {"f32", {KIND_F, 32}},
              {"f64", {KIND_F, 64}}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, word)) {
      *out = rows[i].type;
      return true;
    }
  return false;
}

static ptx_type read_type(reader *r) {
  ptx_type t;
  const char *word = next(r);
  if (word[0] != '.' || !find_type(word + 1, &t)) fail(r, "`%s` is no type", word);
  return t;
}

// ---- suffixes -----------------------------------------------------------------------------------

static int find_word(const char *const *words, const char *wanted) {
  for (int i = 0; words[i]; i++)
    if (!strcmp(words[i], wanted)) return i;
  return -1;
}

static const char *const rounds[] = {"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", NULL};
static const char *const compares[] = {"",    "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                       "neu", "ltu", "leu", "gtu", "geu", "num", "nan", NULL};
static const char *const unsigned_compares[] = {"lo", "ls", "hi", "hs", NULL};
static const char *const modes[] = {"", "lo", "hi", "wide", NULL};
static const char *const spaces[] = {"", "param", "global", "shared", "local", NULL};
static const char *const atomics[] = {"",   "add", "min",  "max", "and",
                                      "or", "xor", "exch", "cas", NULL};

static bool is_one_of(uint8_t op, const ptx_op *ops, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (ops[i] == op) return true;
  return false;
}
#define IS(op, ...)                                                                                \
  is_one_of(op, (const ptx_op[]){__VA_ARGS__},                                                     \
            sizeof((const ptx_op[]){__VA_ARGS__}) / sizeof(ptx_op))

static bool is_memory(uint8_t op) {
  return IS(op, PTX_ld, PTX_st, PTX_atom, PTX_red);
}

// How strongly an access is ordered: all of it is kept here, where threads take turns.
static bool is_ordering(const char *word) {
  static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "weak", "sys",
                                      "gpu",      "cta",     "acq_rel", "sc",      NULL};
  return find_word(words, word) >= 0;
}

// What the word says of the instruction; false: nothing.
static bool take_suffix(ptx_inst *in, const char *word, uint32_t *vector) {
  int found;
  uint8_t op = in->op;
  if (IS(op, PTX_add, PTX_sub, PTX_mul, PTX_mad, PTX_fma, PTX_div, PTX_sqrt, PTX_rcp, PTX_cvt) &&
      (found = find_word(rounds, word)) > 0 && !in->round) {
    in->round = (uint8_t)found;
    return true;
  }
  if (op == PTX_setp && !in->compare) {
    if ((found = find_word(unsigned_compares, word)) >= 0) {
      in->compare = (uint8_t)(CMP_LT + found);
      in->mode = MODE_HI; // of unsigned numbers only
      return true;
    }
    if ((found = find_word(compares, word)) > 0) {
      in->compare = (uint8_t)found;
      return true;
    }
  }
  if (IS(op, PTX_mul, PTX_mad) && (found = find_word(modes, word)) > 0 && !in->mode) {
    in->mode = (uint8_t)found;
    return true;
  }
  if ((is_memory(op) || op == PTX_cvta) && (found = find_word(spaces, word)) > 0 && !in->space) {
    in->space = (uint8_t)found;
    return true;
  }
  if (IS(op, PTX_atom, PTX_red) && (found = find_word(atomics, word)) > 0 && !in->atomic) {
    in->atomic = (uint8_t)found;
    return true;
  }
  if (is_memory(op) && is_ordering(word)) return true;
  if (op == PTX_ld && !strcmp(word, "nc")) return in->space == SPACE_GLOBAL;
  if (IS(op, PTX_ld, PTX_st) && (!strcmp(word, "v2") || !strcmp(word, "v4")) && !*vector) {
    *vector = (uint32_t)(word[1] - '0');
    return true;
  }
  if (op == PTX_cvta && !strcmp(word, "to")) return in->is_to = true;
  if (IS(op, PTX_add, PTX_addc, PTX_sub, PTX_subc) && !strcmp(word, "cc"))
    return in->sets_carry = true;
  if (op == PTX_bra && !strcmp(word, "uni")) return true;
  if (op == PTX_bar && !strcmp(word, "sync")) return true;
  if (IS(op, PTX_membar, PTX_fence)) return is_ordering(word) || !strcmp(word, "gl");
  if (op == PTX_shf && !strcmp(word, "l")) return in->is_left = true;
  if (op == PTX_shf && (!strcmp(word, "r") || !strcmp(word, "wrap"))) return true;
  if (op == PTX_shf && !strcmp(word, "clamp")) return in->is_clamped = true;
  return false;
}

// The word with its dots: the name, and what follows it.
static void read_mnemonic(reader *r, ptx_inst *in, const char *word, uint32_t *vector) {
  static const char *const names[] = {
#define OP(name) #name,
      PTX_OPS(OP)
#undef OP
          NULL};
  char copy[MOST_NAME], *at = copy;
  snprintf(copy, sizeof copy, "%s", word);
  memcpy(r->mnemonic, copy, sizeof copy);
  char *part = strsep(&at, ".");
  int op = find_word(names, part);
  if (op < 0) fail(r, "the instruction `%s` is not known", word);
  in->op = (uint8_t)op;
  while ((part = strsep(&at, "."))) {
    ptx_type t;
    if (find_type(part, &t)) {
      if (in->from.kind) fail(r, "`%s` has three types", word);
      if (in->type.kind) {
        in->from = t;
      } else {
        in->type = t;
      }
    } else if (!take_suffix(in, part, vector)) {
      fail(r, "`.%s` of `%s` is not known", part, word);
    }
  }
}

// ---- what an instruction may be -----------------------------------------------------------------

static bool is_int(ptx_type t) {
  return t.kind == KIND_U || t.kind == KIND_S;
}

static void check_rounding(reader *r, const ptx_inst *in) {
  bool is_float = in->type.kind == KIND_F;
  bool must = is_float &&
              IS(in->op, PTX_add, PTX_sub, PTX_mul, PTX_mad, PTX_fma, PTX_div, PTX_sqrt, PTX_rcp);
  if (must && in->round != ROUND_RN)
    fail(r, "a float is computed without .rn, which leaves open how it is rounded");
  if (!must && in->op != PTX_cvt && in->round) fail(r, "what is rounded is no float");
}

static void check_conversion(reader *r, const ptx_inst *in) {
  bool to_float = in->type.kind == KIND_F, from_float = in->from.kind == KIND_F;
  bool is_whole = in->round >= ROUND_RNI;
  bool narrows = to_float && from_float && in->type.bits < in->from.bits;
  if (!in->from.kind) fail(r, "cvt needs two types");
  if (in->type.kind == KIND_B || in->from.kind == KIND_B) fail(r, "cvt takes no bits");
  bool ok = !to_float && from_float   ? is_whole
            : to_float && !from_float ? in->round == ROUND_RN
            : narrows                 ? in->round == ROUND_RN
            : to_float                ? !in->round || (is_whole && in->type.bits == in->from.bits)
                                      : !in->round;
  if (!ok) fail(r, "cvt with this rounding");
}

// What it takes is what it gives, unless it says otherwise.
static void settle_types(reader *r, ptx_inst *in) {
  ptx_type t = in->type;
  static const ptx_type bit = {KIND_PRED, 1}, word = {KIND_U, 32};
  bool has_none = IS(in->op, PTX_bra, PTX_ret, PTX_exit, PTX_bar, PTX_membar, PTX_fence);
  if (!t.kind && !has_none) fail(r, "an instruction without a type");
  if (in->op == PTX_cvt) {
    check_conversion(r, in);
    return;
  }
  if (in->from.kind) fail(r, "an instruction with two types");
  in->from = t;
  if (in->op == PTX_setp) in->type = bit;
  if (IS(in->op, PTX_popc, PTX_clz, PTX_bfind)) in->type = word;
  if (IS(in->op, PTX_mul, PTX_mad) && is_int(t)) {
    if (!in->mode) fail(r, "an integer product without .lo, .hi or .wide");
    if (in->mode == MODE_WIDE) {
      if (t.bits > 32) fail(r, "a wide product of 64 bits");
      in->type.bits = (uint8_t)(2 * t.bits);
    }
  } else if (in->mode && in->op != PTX_setp) {
    fail(r, "a part of what is no integer product");
  }
  check_rounding(r, in);
}

static void check_kind(reader *r, const ptx_inst *in) {
  ptx_type t = in->from;
  bool bits = IS(in->op, PTX_and, PTX_or, PTX_xor, PTX_not, PTX_shl, PTX_popc, PTX_clz, PTX_brev,
                 PTX_shf, PTX_prmt, PTX_bfi);
  bool ints = IS(in->op, PTX_rem, PTX_bfe, PTX_bfind);
  if (in->sets_carry || IS(in->op, PTX_addc, PTX_subc))
    if (!is_int(t) || t.bits < 32) fail(r, "a carry of what is no integer of 32 or 64 bits");
  bool numbers =
      IS(in->op, PTX_add, PTX_sub, PTX_mul, PTX_mad, PTX_div, PTX_neg, PTX_abs, PTX_min, PTX_max);
  bool floats = IS(in->op, PTX_fma, PTX_sqrt, PTX_rcp, PTX_copysign);
  bool logical = IS(in->op, PTX_and, PTX_or, PTX_xor, PTX_not) && t.kind == KIND_PRED;
  bool ok = (!bits || t.kind == KIND_B || logical) && (!ints || is_int(t)) &&
            (!numbers || is_int(t) || t.kind == KIND_F) && (!floats || t.kind == KIND_F);
  if (IS(in->op, PTX_neg, PTX_abs)) ok &= t.kind != KIND_U;
  if (IS(in->op, PTX_shf, PTX_prmt)) ok &= t.bits == 32;
  if (in->op == PTX_shf || in->op == PTX_popc || in->op == PTX_clz || in->op == PTX_bfe ||
      in->op == PTX_bfi || in->op == PTX_brev || in->op == PTX_bfind)
    ok &= t.bits >= 32;
  if (t.kind == KIND_F && !IS(in->op, PTX_mov, PTX_ld, PTX_st, PTX_cvt, PTX_selp, PTX_setp))
    ok &= t.bits >= 32;
  // Only ld, st and cvt have numbers of a byte.
  if (t.bits == 8) ok &= IS(in->op, PTX_ld, PTX_st, PTX_cvt);
  if (in->op == PTX_setp) {
    bool is_equality = in->compare == CMP_EQ || in->compare == CMP_NE;
    if (!in->compare) fail(r, "a comparison that says not which");
    ok &= t.kind != KIND_PRED && (t.kind != KIND_B || is_equality) &&
          (in->mode != MODE_HI || t.kind == KIND_U) && (t.kind == KIND_F || in->compare <= CMP_GE);
  }
  if (IS(in->op, PTX_atom, PTX_red)) {
    bool is_bits = in->atomic == ATOMIC_CAS || in->atomic == ATOMIC_EXCH ||
                   in->atomic == ATOMIC_AND || in->atomic == ATOMIC_OR || in->atomic == ATOMIC_XOR;
    if (!in->atomic) fail(r, "an atomic that says not which");
    // atom.add of f32 flushes subnormals in global memory: the evaluator has none.
    ok &= t.bits >= 32 && (is_bits ? t.kind == KIND_B : is_int(t));
    if (in->atomic == ATOMIC_ADD && t.bits == 64) ok &= t.kind == KIND_U;
    ok &= in->op == PTX_atom || (in->atomic != ATOMIC_CAS && in->atomic != ATOMIC_EXCH);
  }
  if (!ok) fail(r, "`%s` is not there for its type", r->mnemonic);
}

// ---- operands -----------------------------------------------------------------------------------

static bool find_special(const char *word, uint64_t *out) {
  static const char *const names[] = {"%tid.x",    "%tid.y",    "%tid.z",   "%ntid.x",  "%ntid.y",
                                      "%ntid.z",   "%ctaid.x",  "%ctaid.y", "%ctaid.z", "%nctaid.x",
                                      "%nctaid.y", "%nctaid.z", NULL};
  int found = find_word(names, word);
  if (found < 0) return false;
  *out = (uint64_t)found;
  return true;
}

static uint32_t find_reg(reader *r, const char *name) {
  const name_row *row = find_name(&r->regs, name);
  if (!row) fail(r, "there is no register `%s`", name);
  return (uint32_t)row->value;
}

static ptx_operand read_address(reader *r, const ptx_inst *in) {
  ptx_operand o = {.kind = OPERAND_ADDRESS, .reg = NO_REG};
  const char *word = next(r);
  const name_row *v = find_name(&r->variables, word);
  if (v) {
    if (v->space != in->space) fail(r, "`%s` is in another space", word);
    o.value = v->value;
  } else {
    o.reg = find_reg(r, word);
    if (r->k->regs[o.reg].bits != 64) fail(r, "an address that has not 64 bits");
  }
  if (accept(r, '+')) {
    bool is_negative = accept(r, '-');
    uint64_t offset = read_number(r, next(r));
    o.value += is_negative ? 0 - offset : offset;
  }
  expect(r, "]");
  return o;
}

static ptx_operand read_vector(reader *r) {
  ptx_operand o = {.kind = OPERAND_VECTOR};
  do {
    const char *word = next(r);
    if (o.count == 4) fail(r, "a vector of more than four");
    o.parts[o.count++] = strcmp(word, "_") ? find_reg(r, word) : NO_REG;
  } while (accept(r, ','));
  expect(r, "}");
  return o;
}

static ptx_operand read_operand(reader *r, const ptx_inst *in) {
  ptx_operand o = {.reg = NO_REG};
  if (accept(r, '[')) return read_address(r, in);
  if (accept(r, '{')) return read_vector(r);
  o.is_not = accept(r, '!');
  bool is_negative = accept(r, '-');
  const char *word = next(r);
  if (isdigit((unsigned char)word[0])) {
    uint64_t value = read_number(r, word);
    o.kind = OPERAND_VALUE;
    o.value = is_negative ? 0 - value : value;
  } else if (find_special(word, &o.value)) {
    o.kind = OPERAND_SPECIAL;
  } else if (word[0] == '%' || find_name(&r->regs, word)) {
    o.kind = OPERAND_REG;
    o.reg = find_reg(r, word);
  } else if (in->op == PTX_bra) {
    o.kind = OPERAND_LABEL;
    name_row *l = find_name(&r->labels, word);
    if (!l) {
      l = add_name(r, &r->labels, word);
      l->value = UINT64_MAX; // until it is met
    }
    o.value = (uint64_t)(l - r->labels.at);
  } else {
    const name_row *v = find_name(&r->variables, word);
    if (!v || in->op != PTX_mov) fail(r, "`%s` is no operand here", word);
    if (v->space != SPACE_SHARED && v->space != SPACE_LOCAL) fail(r, "the address of `%s`", word);
    o.kind = OPERAND_VALUE;
    o.value = v->value;
  }
  if (is_negative && o.kind != OPERAND_VALUE) fail(r, "a minus before `%s`", word);
  if (o.is_not && o.kind != OPERAND_REG) fail(r, "a `!` before `%s`", word);
  return o;
}

// A register may be wider than the type where the ISA says so; its kind must fit in any case.
static void check_reg(reader *r, uint32_t reg, ptx_type t, bool may_be_wider) {
  if (reg == NO_REG) return;
  ptx_type has = r->k->regs[reg];
  bool is_size = may_be_wider ? has.bits >= t.bits : has.bits == t.bits;
  bool is_bits = has.kind == KIND_B || t.kind == KIND_B;
  bool is_kind = is_bits || has.kind == t.kind || (is_int(has) && is_int(t));
  if ((has.kind == KIND_PRED) != (t.kind == KIND_PRED)) is_kind = false;
  if (!is_size || !is_kind) fail(r, "a register of another type or size");
}

static void check_value(reader *r, const ptx_operand *o, ptx_type t, bool may_be_wider) {
  if (o->kind == OPERAND_REG)
    check_reg(r, o->reg, t, may_be_wider);
  else if (o->kind == OPERAND_SPECIAL) {
    if (t.bits != 32) fail(r, "a special register has 32 bits");
  } else if (o->kind != OPERAND_VALUE)
    fail(r, "an operand of another kind");
  if (o->is_not && t.kind != KIND_PRED) fail(r, "a `!` before what is no predicate");
}

// The number of operands behind the result, for what computes.
static uint32_t sources_of(uint8_t op) {
  if (IS(op, PTX_neg, PTX_abs, PTX_sqrt, PTX_rcp, PTX_not, PTX_popc, PTX_clz, PTX_brev, PTX_bfind,
         PTX_cvt, PTX_cvta, PTX_mov))
    return 1;
  if (IS(op, PTX_mad, PTX_fma, PTX_shf, PTX_prmt, PTX_bfe, PTX_selp)) return 3;
  return op == PTX_bfi ? 4 : 2;
}

static ptx_type source_type(const ptx_inst *in, uint32_t k) {
  static const ptx_type word = {KIND_B, 32}, bit = {KIND_PRED, 1};
  if (IS(in->op, PTX_shl, PTX_shr) && k == 1) return word;
  if (in->op == PTX_bfe && k > 0) return word;
  if (in->op == PTX_bfi && k > 1) return word;
  if (in->op == PTX_selp && k == 2) return bit;
  if (in->op == PTX_mad && k == 2) return in->type;
  return in->from;
}

static void check_memory(reader *r, ptx_inst *in, uint32_t vector) {
  bool is_load = in->op == PTX_ld, is_plain = is_load || in->op == PTX_st;
  uint32_t address = is_load || in->op == PTX_atom ? 1 : 0, n = in->operand_count;
  uint32_t wanted = is_plain ? 2 : address + (in->atomic == ATOMIC_CAS ? 3 : 2);
  if (n != wanted || in->operand[address].kind != OPERAND_ADDRESS) fail(r, "operands of an access");
  if (in->space == SPACE_PARAM && !is_load) fail(r, "a parameter is written");
  for (uint32_t i = 0; i < n; i++) {
    const ptx_operand *o = &in->operand[i];
    if (i == address) continue;
    if (o->kind == OPERAND_VECTOR) {
      if (!is_plain || o->count != vector) fail(r, "a vector of another size");
      for (uint32_t k = 0; k < o->count; k++) check_reg(r, o->parts[k], in->type, true);
    } else {
      if (vector) fail(r, "no vector where one is due");
      if (i == 0 && address && o->kind != OPERAND_REG) fail(r, "what is loaded goes nowhere");
      check_value(r, o, in->type, is_plain);
    }
  }
}

// mov between one register and its parts.
static bool is_packing(const ptx_inst *in) {
  return in->op == PTX_mov && in->operand_count == 2 &&
         (in->operand[0].kind == OPERAND_VECTOR || in->operand[1].kind == OPERAND_VECTOR);
}

static void check_packing(reader *r, const ptx_inst *in) {
  bool unpacks = in->operand[0].kind == OPERAND_VECTOR;
  const ptx_operand *all = &in->operand[unpacks ? 1 : 0], *parts = &in->operand[unpacks ? 0 : 1];
  if (all->kind != OPERAND_REG || in->type.kind != KIND_B) fail(r, "operands of a mov of parts");
  check_reg(r, all->reg, in->type, false);
  ptx_type part = {KIND_B, (uint8_t)(in->type.bits / parts->count)};
  for (uint32_t k = 0; k < parts->count; k++) {
    if (!unpacks && parts->parts[k] == NO_REG) fail(r, "a part that is nothing");
    check_reg(r, parts->parts[k], part, false);
  }
}

static void check_operands(reader *r, ptx_inst *in, uint32_t vector) {
  uint32_t n = in->operand_count;
  if (is_memory(in->op)) {
    check_memory(r, in, vector);
  } else if (is_packing(in)) {
    check_packing(r, in);
  } else if (in->op == PTX_bra) {
    if (n != 1 || in->operand[0].kind != OPERAND_LABEL) fail(r, "a jump to nowhere");
  } else if (in->op == PTX_bar) {
    if (n != 1 || in->operand[0].kind != OPERAND_VALUE || in->operand[0].value)
      fail(r, "a barrier of some threads only");
  } else if (IS(in->op, PTX_ret, PTX_exit, PTX_membar, PTX_fence)) {
    if (n) fail(r, "an operand too many");
  } else {
    if (n != sources_of(in->op) + 1) fail(r, "%u operands", n);
    if (in->operand[0].kind != OPERAND_REG) fail(r, "a result that goes nowhere");
    check_reg(r, in->operand[0].reg, in->type, in->op == PTX_cvt);
    for (uint32_t k = 1; k < n; k++)
      check_value(r, &in->operand[k], source_type(in, k - 1), in->op == PTX_cvt);
  }
}

// ---- statements ---------------------------------------------------------------------------------

static void add_inst(reader *r, const ptx_inst *in) {
  if (r->k->code_count == r->code_room) {
    r->code_room = r->code_room ? 2 * r->code_room : 256;
    r->k->code = more(r, r->k->code, r->code_room * sizeof *r->k->code);
  }
  r->k->code[r->k->code_count++] = *in;
}

static void read_inst(reader *r, const char *first) {
  ptx_inst in = {.guard = NO_REG, .line = r->line};
  uint32_t vector = 0;
  const char *word = first;
  if (!strcmp(word, "@")) {
    in.guard_is_not = accept(r, '!');
    in.guard = find_reg(r, next(r));
    if (r->k->regs[in.guard].kind != KIND_PRED) fail(r, "a condition that is no predicate");
    word = next(r);
  }
  read_mnemonic(r, &in, word, &vector);
  settle_types(r, &in);
  check_kind(r, &in);
  if (peek(r) != ';') {
    do {
      if (in.operand_count == MOST_OPERANDS) fail(r, "too many operands");
      in.operand[in.operand_count] = read_operand(r, &in);
      in.operand_count++;
    } while (accept(r, ','));
  }
  expect(r, ";");
  check_operands(r, &in, vector);
  add_inst(r, &in);
}

static void add_reg(reader *r, const char *name, ptx_type t) {
  if (r->k->reg_count == r->reg_room) {
    r->reg_room = r->reg_room ? 2 * r->reg_room : 64;
    r->k->regs = more(r, r->k->regs, r->reg_room * sizeof *r->k->regs);
  }
  r->k->regs[r->k->reg_count] = t;
  name_row *row = add_name(r, &r->regs, name);
  row->value = r->k->reg_count++;
  row->type = t;
}

// `.reg .b32 %r<10>;` is %r0 to %r9.
static void read_regs(reader *r) {
  ptx_type t = read_type(r);
  do {
    char name[MOST_NAME], numbered[MOST_NAME + 16];
    snprintf(name, sizeof name, "%s", next(r));
    if (!accept(r, '<')) {
      add_reg(r, name, t);
      continue;
    }
    uint32_t count = read_u32(r);
    expect(r, ">");
    if (count > 1 << 20) fail(r, "%u registers", count);
    for (uint32_t i = 0; i < count; i++) {
      snprintf(numbered, sizeof numbered, "%s%u", name, i);
      if (strlen(numbered) >= MOST_NAME) fail(r, "a name is too long");
      add_reg(r, numbered, t);
    }
  } while (accept(r, ','));
  expect(r, ";");
}

static uint32_t round_up(uint32_t x, uint32_t to) {
  return (x + to - 1) / to * to;
}

// `.align 8 .b8 name[16];` behind .shared or .local. An open one is what the launch gives.
static void read_variable(reader *r, ptx_space space, uint32_t *used) {
  uint32_t align = 1, bytes = 0;
  const char *word = next(r);
  ptx_type t;
  if (!strcmp(word, ".align")) {
    align = read_u32(r);
    word = next(r);
  }
  if (!align || align > 256 || word[0] != '.' || !find_type(word + 1, &t))
    fail(r, "a variable without a type");
  name_row *v = add_name(r, &r->variables, next(r));
  v->space = (uint8_t)space;
  if (accept(r, '[')) {
    if (peek(r) != ']') bytes = read_u32(r) * t.bits / 8;
    expect(r, "]");
  } else {
    bytes = t.bits / 8;
  }
  expect(r, ";");
  *used = round_up(*used, align);
  v->value = bytes ? *used : OPEN_ADDRESS;
  *used += bytes;
}

static void read_statement(reader *r, const char *word) {
  if (!strcmp(word, ".reg")) {
    read_regs(r);
  } else if (!strcmp(word, ".local")) {
    read_variable(r, SPACE_LOCAL, &r->k->local_bytes);
  } else if (!strcmp(word, ".shared")) {
    read_variable(r, SPACE_SHARED, &r->k->shared_bytes);
  } else if (!strcmp(word, ".pragma")) {
    next(r);
    expect(r, ";");
  } else if (word[0] != '@' && peek(r) == ':') {
    char name[MOST_NAME];
    snprintf(name, sizeof name, "%s", word);
    expect(r, ":");
    name_row *l = find_name(&r->labels, name);
    if (!l)
      l = add_name(r, &r->labels, name);
    else if (l->value != UINT64_MAX)
      fail(r, "`%s` is there twice", name);
    l->value = r->k->code_count;
  } else {
    read_inst(r, word);
  }
}

static void link_labels(reader *r) {
  for (uint32_t i = 0; i < r->k->code_count; i++) {
    ptx_inst *in = &r->k->code[i];
    if (in->op != PTX_bra) continue;
    const name_row *l = &r->labels.at[in->operand[0].value];
    r->line = in->line;
    if (l->value == UINT64_MAX) fail(r, "there is no label `%s`", l->name);
    in->operand[0].value = l->value;
  }
}

// ---- kernels ------------------------------------------------------------------------------------

static void read_params(reader *r) {
  expect(r, "(");
  if (accept(r, ')')) return;
  do {
    expect(r, ".param");
    ptx_type t = read_type(r);
    const char *name = next(r);
    ptx_kernel *k = r->k;
    k->params = more(r, k->params, (k->param_count + 1) * sizeof *k->params);
    ptx_param *p = &k->params[k->param_count++];
    *p = (ptx_param){.bytes = t.bits / 8u};
    p->offset = k->param_bytes = round_up(k->param_bytes, p->bytes);
    k->param_bytes += p->bytes;
    name_row *v = add_name(r, &r->variables, name);
    v->space = SPACE_PARAM;
    v->value = p->offset;
    if (k->param_bytes > 4096) fail(r, "more than 4096 bytes of parameters");
  } while (accept(r, ','));
  expect(r, ")");
}

static void read_most(reader *r) {
  for (int i = 0; i < 3; i++) {
    r->k->most[i] = read_u32(r);
    if (i < 2 && !accept(r, ',')) break;
  }
}

static void read_body(reader *r) {
  uint32_t depth = r->scope;
  while (true) {
    const char *word = next(r);
    if (!*word) fail(r, "the text ends in a kernel");
    if (!strcmp(word, "{")) {
      if (++r->scope == MOST_SCOPE) fail(r, "too many braces");
    } else if (!strcmp(word, "}")) {
      if (r->scope == depth) break;
      leave_scope(r);
    } else {
      char copy[MOST_NAME];
      snprintf(copy, sizeof copy, "%s", word);
      read_statement(r, copy);
    }
  }
}

static void read_entry(reader *r) {
  const char *name = next(r);
  ptx_module *m = r->m;
  if (ptx_find(m, name)) fail(r, "`%s` is there twice", name);
  m->kernels = more(r, m->kernels, (m->kernel_count + 1) * sizeof *m->kernels);
  r->k = &m->kernels[m->kernel_count++];
  *r->k = (ptx_kernel){
      .most = {1024, 1, 1}, .local_bytes = FIRST_ADDRESS, .shared_bytes = r->static_shared};
  r->k->name = strdup(name);
  if (!r->k->name) fail(r, "out of memory");
  r->code_room = r->reg_room = 0;
  r->regs.count = r->labels.count = 0;
  size_t outside = r->variables.count;
  r->scope = 1;
  read_params(r);
  const char *word;
  while (strcmp(word = next(r), "{")) {
    if (!strcmp(word, ".maxntid"))
      read_most(r);
    else
      fail(r, "`%s` before a kernel's body", word);
  }
  read_body(r);
  link_labels(r);
  r->variables.count = outside;
  r->scope = 0;
  r->k = NULL;
}

static __attribute__((noinline)) void read_module(reader *r) {
  const char *word;
  r->static_shared = FIRST_ADDRESS;
  while (*(word = next(r))) {
    if (!strcmp(word, ".version") || !strcmp(word, ".target")) {
      next(r);
    } else if (!strcmp(word, ".address_size")) {
      if (read_u32(r) != 64) fail(r, "addresses of another size");
    } else if (!strcmp(word, ".visible")) {
      expect(r, ".entry");
      read_entry(r);
    } else if (!strcmp(word, ".extern")) {
      expect(r, ".shared");
      read_variable(r, SPACE_SHARED, &r->static_shared);
    } else if (!strcmp(word, ".shared")) {
      read_variable(r, SPACE_SHARED, &r->static_shared);
    } else {
      fail(r, "`%s` is not known here", word);
    }
  }
}

// ---- all ----------------------------------------------------------------------------------------

// Apart from the rest: nothing that setjmp could lose lives here.
static __attribute__((noinline)) bool try_reading(reader *r) {
  if (setjmp(r->failed)) return false;
  read_module(r);
  return true;
}

ptx_module *ptx_parse(const char *text, size_t size, char message[PTX_MESSAGE]) {
  reader *r = calloc(1, sizeof *r);
  ptx_module *m = calloc(1, sizeof *m);
  bool ok = false;
  snprintf(message, PTX_MESSAGE, "out of memory");
  if (r && m) {
    *r = (reader){.at = text, .end = text + size, .line = 1, .message = message, .m = m};
    ok = try_reading(r);
    free(r->regs.at);
    free(r->variables.at);
    free(r->labels.at);
  }
  free(r);
  if (ok) return m;
  ptx_free(m);
  return NULL;
}

void ptx_free(ptx_module *m) {
  if (!m) return;
  for (uint32_t i = 0; i < m->kernel_count; i++) {
    free(m->kernels[i].name);
    free(m->kernels[i].params);
    free(m->kernels[i].code);
    free(m->kernels[i].regs);
  }
  free(m->kernels);
  free(m);
}

const ptx_kernel *ptx_find(const ptx_module *m, const char *entry) {
  for (uint32_t i = 0; i < m->kernel_count; i++)
    if (m->kernels[i].name && !strcmp(m->kernels[i].name, entry)) return &m->kernels[i];
  return NULL;
}

uint32_t ptx_param_count(const ptx_kernel *k) {
  return k->param_count;
}

uint32_t ptx_param_bytes(const ptx_kernel *k, uint32_t index) {
  return k->params[index].bytes;
}

uint32_t ptx_static_shared(const ptx_kernel *k) {
  return k->shared_bytes - FIRST_ADDRESS;
}

uint32_t ptx_most_threads(const ptx_kernel *k) {
  return k->most[0] * k->most[1] * k->most[2];
}
