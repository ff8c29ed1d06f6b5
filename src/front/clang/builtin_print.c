// SPDX-License-Identifier: MIT
//
// printf: a record in a buffer of its own (ir/print_layout.h), for which an atomic counter makes
// room. A record that finds none is left out as a whole.
#include "front/clang/builtin.h"
#include "front/clang/formula.h"
#include "ir/print_layout.h"

#include <string.h>

enum { MOST_WORDS = 4096 };

typedef struct record {
  ref words[MOST_WORDS];
  uint32_t count;
} record;

static void add_word(lowering *l, const node *n, record *r, ref word) {
  if (r->count == MOST_WORDS)
    unit_fail(l->u, VYRE_ERROR_LIMIT, n->offset,
              "a printf of more than %d bytes. Fix: print less at once", 4 * MOST_WORDS);
  r->words[r->count++] = word;
}

static void add_tag(lowering *l, const node *n, record *r, uint32_t kind, size_t count) {
  add_word(l, n, r, e_const(l, VYRE_U32, kind | (uint64_t)count << PRINT_COUNT_SHIFT));
}

static void add_string(lowering *l, const node *n, record *r, const char *text) {
  size_t size = strlen(text);
  add_tag(l, n, r, PRINT_STRING, size);
  for (size_t at = 0; at < size; at += 4) {
    uint32_t word = 0;
    memcpy(&word, text + at, size - at < 4 ? size - at : 4);
    add_word(l, n, r, e_const(l, VYRE_U32, word));
  }
}

static void add_numbers(lowering *l, const node *n, record *r, value v) {
  bool is_float = type_is_float(v.type->scalar);
  add_tag(l, n, r, is_float ? PRINT_FLOAT : PRINT_INTEGER, v.type->leaf_count);
  for (uint32_t i = 0; i < v.type->leaf_count; i++) {
    ref x = v.at[i].v;
    vyre_type wide_type = type_is_signed(v.type->scalar) ? VYRE_I64 : VYRE_U64;
    ref bits = is_float ? e_bits(l, VYRE_U64, e_convert(l, VYRE_F64, x))
                        : e_bits(l, VYRE_U64, e_convert(l, wide_type, x));
    ref high = e_binary(l, VYRE_OP_SHR, bits, e_const(l, VYRE_U64, 32));
    add_word(l, n, r, e_convert(l, VYRE_U32, bits));
    add_word(l, n, r, e_convert(l, VYRE_U32, high));
  }
}

// The text of a literal, or of a constant that is one.
static const char *text_of(node *n) {
  n = ast_skip_casts(n);
  bool is_constant =
      n->kind == N_NAME && n->decl->init && (n->decl->is_const || n->decl->space == SPACE_CONSTANT);
  if (is_constant) n = ast_skip_casts(n->decl->init);
  return n->kind == N_STRING ? n->name : NULL;
}

static void add_operand(lowering *l, node *n, record *r) {
  const char *text = text_of(n);
  if (text) {
    add_string(l, n, r, text);
    return;
  }
  value v = rvalue(l, n);
  if (v.type->kind == T_POINTER) v = value_scalar(l, pointer_number(l, v.at[0].p));
  if (!type_is_arithmetic(v.type))
    lower_refuse(l, n->offset, "what is neither a number nor a literal in printf",
                 "print numbers, vectors and literals");
  add_numbers(l, n, r, v);
}

// Room for the record, then its words.
static void write_record(lowering *l, const record *r) {
  ref size = e_const(l, VYRE_U32, r->count), one = e_const(l, VYRE_U32, 1);
  ref length = vyre_build_len(l->b, l->print);
  ref old = vyre_build_atomic(l->b, VYRE_OP_ATOMIC_ADD, l->print, e_zero(l, VYRE_U32), size);
  ref is_before = lt(l, old, length);
  vyre_build_if(l->b, e_and(l, is_before, lt(l, size, sub(l, length, old))));
  ref first = add(l, old, one);
  for (uint32_t i = 0; i < r->count; i++)
    vyre_build_store(l->b, l->print, e_add_const(l, first, i), r->words[i]);
  vyre_build_end(l->b);
}

// The buffer is there from the second round on.
value print_call(lowering *l, node *n, const value *args, int what) {
  (void)args, (void)what;
  const char *format = text_of(n->kid[0]);
  if (!format)
    lower_refuse(l, n->offset, "printf with a format that is no literal", "write it in the call");
  record *r = UNIT_NEW(l->u, record);
  add_word(l, n, r, 0);
  for (uint32_t axis = 0; axis < 3; axis++)
    add_word(l, n, r,
             axis < l->rank ? vyre_build_id(l->b, VYRE_OP_GLOBAL_ID, axis) : e_zero(l, VYRE_U32));
  add_string(l, n, r, format);
  for (uint32_t i = 1; i < n->count; i++) add_operand(l, n->kid[i], r);
  r->words[0] = e_const(l, VYRE_U32, r->count);
  note(l, &l->prints);
  if (l->has_print) write_record(l, r);
  return value_zero(l, n->type, n->offset);
}
