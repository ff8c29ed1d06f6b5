// SPDX-License-Identifier: MIT
//
// Pointer arithmetic. Constants stay in the displacement, in bytes; everything else is counted in
// words of the object, so that x[i] of a float buffer is just i. Objects of known size are small:
// their indices are computed in 32 bits, which is exact for every place inside of them.
#include "front/clang/lower.h"

#include <vyre/extend.h>

const pointer *pointer_keep(lowering *l, pointer p) {
  pointer *kept = UNIT_NEW(l->u, pointer);
  *kept = p;
  return kept;
}

pointer pointer_to(lowering *l, base *b) {
  (void)l;
  return (pointer){.set = &b->alone};
}

pointer pointer_null(lowering *l) {
  return pointer_to(l, l->null);
}

bool pointer_is_small(const pointer *p) {
  for (uint32_t i = 0; i < p->set->count; i++) {
    const base *b = p->set->at[i];
    if (b->kind != B_NULL && (b->size == 0 || b->size > INT32_MAX)) return false;
  }
  return true;
}

static uint32_t pointer_word(lowering *l, const pointer *p) {
  (void)l;
  for (uint32_t i = 0; i < p->set->count; i++)
    if (p->set->at[i]->word_bytes) return p->set->at[i]->word_bytes;
  return 1;
}

static void note_grain(lowering *l, const pointer *p, uint64_t bytes) {
  for (uint32_t i = 0; i < p->set->count; i++) base_grain(l, p->set->at[i], bytes);
}

static void note_indexed(lowering *l, const pointer *p) {
  for (uint32_t i = 0; i < p->set->count; i++) base_indexed(l, p->set->at[i]);
}

// ---- indices ------------------------------------------------------------------------------------

static ref narrow(lowering *l, ref i) {
  vyre_type type = e_type(l, i);
  if (type_bits(type) == 32) return i;
  return e_convert(l, type == VYRE_U64 ? VYRE_U32 : VYRE_I32, i);
}

static ref widen(lowering *l, ref i) {
  vyre_type type = e_type(l, i);
  if (type_bits(type) == 64) return i;
  return e_convert(l, type == VYRE_U32 ? VYRE_U64 : VYRE_I64, i);
}

// To one type; only the sign of the type can still differ.
static void match(lowering *l, ref *x, ref *y) {
  vyre_type a = e_type(l, *x), b = e_type(l, *y);
  if (a == b) return;
  vyre_type to = type_bits(a) == 32 ? VYRE_I32 : VYRE_I64;
  *x = e_convert(l, to, *x);
  *y = e_convert(l, to, *y);
}

static ref index_add(lowering *l, ref x, ref y, bool is_small) {
  if (!x) return y;
  x = is_small ? narrow(l, x) : widen(l, x);
  y = is_small ? narrow(l, y) : widen(l, y);
  match(l, &x, &y);
  return e_binary(l, VYRE_OP_ADD, x, y);
}

// The largest power of two up to 8 that divides a number, as far as it shows: what a count of bytes
// is made of. Numbers that wrap around keep it.
static uint64_t known_factor(lowering *l, ref r, uint32_t depth) {
  uint64_t bits;
  if (e_is_const(l, r, &bits)) return bits & 7 ? bits & -bits & 7 : 8;
  if (!depth || !r) return 1;
  const inst *in = builder_inst(l->b, r);
  uint64_t x = 1, y = 1;
  switch (in->op) {
  case VYRE_OP_COPY:
  case VYRE_OP_NEG: return known_factor(l, in->arg[0], depth - 1);
  case VYRE_OP_CONVERT:
    return type_is_int(e_type(l, in->arg[0])) ? known_factor(l, in->arg[0], depth - 1) : 1;
  case VYRE_OP_SHL:
    return e_is_const(l, in->arg[1], &bits) && bits ? 1u << (bits < 3 ? bits : 3) : 1;
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
    x = known_factor(l, in->arg[0], depth - 1);
    y = known_factor(l, in->arg[1], depth - 1);
    if (in->op == VYRE_OP_MUL) return x * y < 8 ? x * y : 8;
    return x < y ? x : y;
  default: return 1;
  }
}

// Bytes become words where the word is larger: (char *)p + 4 * n.
static ref to_words(lowering *l, ref i, uint64_t stride, uint64_t word) {
  if (stride >= word) return i;
  return e_binary(l, VYRE_OP_DIV, i, e_const(l, e_type(l, i), word / stride));
}

pointer pointer_add(lowering *l, pointer p, ref i, uint64_t stride) {
  uint64_t bits;
  if (e_is_const(l, i, &bits)) {
    p.disp = (int64_t)((uint64_t)p.disp + bits * stride);
    return p;
  }
  if (type_bits(e_type(l, i)) < 32) i = e_convert(l, VYRE_I32, i);
  uint64_t word = pointer_word(l, &p);
  note_grain(l, &p, stride && stride < 4 ? stride * known_factor(l, i, 6) : stride);
  note_indexed(l, &p);
  uint64_t scale = stride < word && stride ? 1 : stride / word;
  bool is_small = pointer_is_small(&p);
  i = stride ? to_words(l, i, stride, word) : i;
  if (scale != 1) {
    i = is_small ? narrow(l, i) : widen(l, i);
    i = e_binary(l, VYRE_OP_MUL, i, e_const(l, e_type(l, i), scale));
  }
  p.index = index_add(l, p.index, i, is_small);
  return p;
}

ref pointer_index(lowering *l, const pointer *p, int64_t disp) {
  int64_t bytes = (int64_t)((uint64_t)p->disp + (uint64_t)disp);
  if (bytes) note_grain(l, p, (uint64_t)(bytes < 0 ? -bytes : bytes));
  return pointer_piece(l, p, disp);
}

ref pointer_piece(lowering *l, const pointer *p, int64_t disp) {
  int64_t bytes = (int64_t)((uint64_t)p->disp + (uint64_t)disp);
  int64_t words = bytes / (int64_t)pointer_word(l, p);
  bool is_small = pointer_is_small(p);
  if (!p->index)
    return e_int(l, is_small || (words >= 0 && words <= UINT32_MAX) ? VYRE_U32 : VYRE_I64, words);
  if (!words) return p->index;
  ref index = is_small ? narrow(l, p->index) : widen(l, p->index);
  return e_binary(l, VYRE_OP_ADD, index, e_int(l, e_type(l, index), words));
}

// ---- several bases ------------------------------------------------------------------------------

// The set may have grown since the pointer was made; then this is not the last round.
ref pointer_is_in(lowering *l, const pointer *p, uint32_t number) {
  ref sel = p->sel ? p->sel : e_zero(l, VYRE_U32);
  return e_binary(l, VYRE_OP_EQ, sel, e_const(l, VYRE_U32, number));
}

ref pointer_sel(lowering *l, const pointer *p, const base_set *in) {
  ref made = 0;
  for (uint32_t i = p->set->count; i > 0; i--) {
    uint32_t number = set_find(in, p->set->at[i - 1]);
    ref here = e_const(l, VYRE_U32, number == UINT32_MAX ? 0 : number);
    made = made ? e_select(l, pointer_is_in(l, p, i - 1), here, made) : here;
  }
  return made ? made : e_zero(l, VYRE_U32);
}

pointer pointer_select(lowering *l, ref c, const pointer *x, const pointer *y) {
  bool is_same = x->set == y->set;
  pointer p = {.set = is_same ? x->set : set_union(l, x->set, y->set)};
  if (p.set->count > 1) p.sel = e_select(l, c, pointer_sel(l, x, p.set), pointer_sel(l, y, p.set));
  if (x->index == y->index && x->disp == y->disp) {
    p.index = x->index;
    p.disp = x->disp;
    return p;
  }
  note_indexed(l, &p);
  ref i = pointer_index(l, x, 0), k = pointer_index(l, y, 0);
  if (!pointer_is_small(&p)) {
    i = widen(l, i);
    k = widen(l, k);
  }
  match(l, &i, &k);
  p.index = e_select(l, c, i, k);
  return p;
}

// ---- comparison ---------------------------------------------------------------------------------

static ref is_null(lowering *l, const pointer *p) {
  uint32_t at = set_find(p->set, l->null);
  if (at == UINT32_MAX) return vyre_build_bool(l->b, p->set->count == 0);
  if (p->set->count == 1) return vyre_build_bool(l->b, true);
  return pointer_is_in(l, p, at);
}

ref pointer_is_set(lowering *l, const pointer *p) {
  return e_not(l, is_null(l, p));
}

static void indices(lowering *l, const pointer *x, const pointer *y, ref *i, ref *k) {
  *i = widen(l, pointer_index(l, x, 0));
  *k = widen(l, pointer_index(l, y, 0));
  *i = e_convert(l, VYRE_I64, *i);
  *k = e_convert(l, VYRE_I64, *k);
}

ref pointer_compare(lowering *l, vyre_op op, const pointer *x, const pointer *y) {
  bool is_equality = op == VYRE_OP_EQ || op == VYRE_OP_NE;
  if (is_equality && (x->set->count == 1 && x->set->at[0] == l->null)) {
    ref null = is_null(l, y);
    return op == VYRE_OP_EQ ? null : e_not(l, null);
  }
  if (is_equality && (y->set->count == 1 && y->set->at[0] == l->null))
    return pointer_compare(l, op, y, x);
  ref i, k;
  indices(l, x, y, &i, &k);
  ref compared = e_binary(l, op, i, k);
  if (!is_equality || (x->set == y->set && x->set->count == 1)) return compared;
  base_set *both = set_union(l, x->set, y->set);
  ref same = e_binary(l, VYRE_OP_EQ, pointer_sel(l, x, both), pointer_sel(l, y, both));
  return op == VYRE_OP_EQ ? e_and(l, same, compared) : e_or(l, e_not(l, same), compared);
}

ref pointer_difference(lowering *l, const pointer *x, const pointer *y, uint64_t stride) {
  ref i, k;
  indices(l, x, y, &i, &k);
  note_grain(l, x, stride);
  ref words = e_binary(l, VYRE_OP_SUB, i, k);
  uint64_t scale = stride / pointer_word(l, x);
  if (scale <= 1) return words;
  return e_binary(l, VYRE_OP_DIV, words, e_int(l, VYRE_I64, (int64_t)scale));
}

// ---- numbers ------------------------------------------------------------------------------------

enum { ADDRESS_BITS = 40 };

static uint64_t address_of(const base *b) {
  return b->kind == B_NULL ? 0 : (uint64_t)(b->number + 1) << ADDRESS_BITS;
}

static void expose(lowering *l, base *b) {
  if (b->kind == B_NULL) return;
  base_set *set = &l->exposed[b->space];
  if (!set->at) UNIT_PUSH(l->u, l->sets, l->set_count, l->set_capacity, set);
  set_add(l, set, l->null);
  set_add(l, set, b);
  base_indexed(l, b);
}

void pointer_expose(lowering *l, const base_set *set) {
  for (uint32_t i = 0; i < set->count; i++) expose(l, set->at[i]);
}

ref pointer_address(lowering *l, const pointer *p) {
  ref address = 0;
  for (uint32_t i = p->set->count; i > 0; i--) {
    ref here = e_const(l, VYRE_U64, address_of(p->set->at[i - 1]));
    address = address ? e_select(l, pointer_is_in(l, p, i - 1), here, address) : here;
  }
  if (!address) return e_zero(l, VYRE_U64);
  ref index = e_convert(l, VYRE_U64, e_convert(l, VYRE_I64, widen(l, pointer_index(l, p, 0))));
  ref bytes = e_binary(l, VYRE_OP_MUL, index, e_const(l, VYRE_U64, pointer_word(l, p)));
  return e_binary(l, VYRE_OP_ADD, address, bytes);
}

ref pointer_number(lowering *l, const pointer *p) {
  pointer_expose(l, p->set);
  ref number = pointer_address(l, p);
  if (p->set->count) UNIT_PUSH(l->u, l->numbers, l->number_count, l->number_capacity, number);
  return number;
}

// Which of the set an address is in: half of the addresses between two objects belong to each of
// them, so that a pointer to what is before the first element finds its object.
static ref address_object(lowering *l, ref number, const base_set *set) {
  ref half = e_const(l, VYRE_U64, (uint64_t)1 << (ADDRESS_BITS - 1));
  ref near = e_binary(l, VYRE_OP_ADD, number, half);
  ref object = e_binary(l, VYRE_OP_SHR, near, e_const(l, VYRE_U64, ADDRESS_BITS));
  uint32_t null = set_find(set, l->null);
  ref sel = e_const(l, VYRE_U32, null == UINT32_MAX ? 0 : null);
  for (uint32_t i = 0; i < set->count; i++) {
    const base *b = set->at[i];
    if (b->kind == B_NULL) continue;
    ref is_it =
        e_binary(l, VYRE_OP_EQ, object, e_const(l, VYRE_U64, address_of(b) >> ADDRESS_BITS));
    sel = e_select(l, is_it, e_const(l, VYRE_U32, i), sel);
  }
  return sel;
}

pointer pointer_of_address(lowering *l, ref number, base_set *set) {
  pointer p = {.set = set};
  if (set->count > 1) p.sel = address_object(l, number, set);
  ref up = e_const(l, VYRE_I64, 64 - ADDRESS_BITS);
  ref low = e_binary(l, VYRE_OP_SHL, e_convert(l, VYRE_I64, number), up);
  ref bytes = e_binary(l, VYRE_OP_SHR, low, up);
  uint32_t word = pointer_word(l, &p);
  p.index = word > 1 ? e_binary(l, VYRE_OP_DIV, bytes, e_const(l, VYRE_I64, word)) : bytes;
  if (pointer_is_small(&p)) p.index = narrow(l, p.index);
  return p;
}

// Whether a number may come from a pointer: it is computed from one, or read from what only the
// kernel itself can have written.
static bool is_of_pointer(lowering *l, ref r, uint32_t depth) {
  uint64_t bits;
  if (e_is_const(l, r, &bits)) return bits >> ADDRESS_BITS != 0;
  for (uint32_t i = 0; i < l->number_count; i++)
    if (l->numbers[i] == r) return true;
  const inst *in = builder_inst(l->b, r);
  if (in->op == VYRE_OP_GET) return true;
  if (in->op == VYRE_OP_LOAD) return vyre_memory_kind(in->arg[0]) != VYRE_MEMORY_BUFFER;
  const char *operands = op_table[in->op].operands;
  for (int k = 0; depth && operands[k]; k++)
    if (operands[k] == 'v' && is_of_pointer(l, in->arg[k], depth - 1)) return true;
  return false;
}

static base_set *exposed_in(lowering *l, addr_space space) {
  if (space != SPACE_GENERIC) return &l->exposed[space];
  base_set *made = UNIT_NEW(l->u, base_set);
  for (int s = 0; s < SPACE_GENERIC; s++)
    for (uint32_t i = 0; i < l->exposed[s].count; i++) set_push(l, made, l->exposed[s].at[i]);
  UNIT_PUSH(l->u, l->sets, l->set_count, l->set_capacity, made);
  return made;
}

pointer pointer_of_number(lowering *l, ref number, addr_space space, uint32_t offset) {
  uint64_t bits;
  if (e_is_const(l, number, &bits) && bits == 0) return pointer_null(l);
  if (!is_of_pointer(l, number, 10))
    lower_refuse(l, offset, "a number from elsewhere that becomes a pointer",
                 "pass a pointer argument, and add the offset to it");
  base_set *set = exposed_in(l, space);
  if (!set->count) return pointer_null(l);
  return pointer_of_address(l, e_convert(l, VYRE_U64, number), set);
}
