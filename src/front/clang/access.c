// SPDX-License-Identifier: MIT
//
// Loads and stores. An object in memory has words of one type; an access of another type of the
// same size takes the bits, a larger one takes several words. There is no smaller one, because the
// size of the word is a divisor of all accesses.
#include "front/clang/lower.h"

static void note_access(lowering *l, base *b, vyre_type type) {
  if (b->access == VYRE_VOID && learn(l)) b->access = type;
  if (b->access != type) note(l, &b->is_mixed);
  base_grain(l, b, type_bytes(type));
}

static void watch(lowering *l, base *b) {
  if (l->loaded) set_push(l, l->loaded, b);
}

// ---- one object ---------------------------------------------------------------------------------

// The leaf of a register object that is at `disp` and has the size of `type`; -1: there is none,
// the object has to be in memory.
static int64_t find_leaf(lowering *l, base *b, const pointer *p, int64_t disp, vyre_type type,
                         uint32_t offset) {
  const leaf *leaves = type_leaves(l->u, b->type, offset);
  int64_t at = p->disp + disp;
  if (!p->index)
    for (uint32_t i = 0; i < b->type->leaf_count; i++)
      if ((int64_t)leaves[i].offset == at && leaves[i].type->size == type_bytes(type)) return i;
  note(l, b->kind == B_TABLE ? &b->is_dynamic : &b->in_memory);
  note_access(l, b, type);
  return -1;
}

// An index as it is written: one that was only widened to 64 bits means the same without.
static ref plain_index(lowering *l, ref index) {
  if (ref_is_const(index) || e_is_named(l, index)) return index;
  const inst *in = builder_inst(l->b, index);
  bool is_widened = in->op == VYRE_OP_CONVERT && type_bits(in->type) == 64 &&
                    type_is_index(e_type(l, in->arg[0])) && type_bits(e_type(l, in->arg[0])) == 32;
  return is_widened ? in->arg[0] : index;
}

static ref index_at(lowering *l, const pointer *p, int64_t disp) {
  return plain_index(l, pointer_index(l, p, disp));
}

// Of a word `at` bytes behind the first of an access.
static ref piece_at(lowering *l, const pointer *p, int64_t disp, uint64_t at) {
  return at ? plain_index(l, pointer_piece(l, p, disp + (int64_t)at)) : index_at(l, p, disp);
}

static ref load_words(lowering *l, base *b, const pointer *p, int64_t disp, vyre_type type) {
  note_access(l, b, type);
  note(l, &b->is_read);
  watch(l, b);
  uint32_t count = type_bytes(type) / b->word_bytes;
  if (count <= 1) return e_bits(l, type, vyre_build_load(l->b, b->mem, index_at(l, p, disp)));
  piece pieces[8];
  for (uint32_t i = 0; i < count && i < 8; i++) {
    uint64_t at = (uint64_t)i * b->word_bytes;
    pieces[i] = (piece){at, vyre_build_load(l->b, b->mem, piece_at(l, p, disp, at))};
  }
  return bits_cut(l, pieces, count, 0, type);
}

// A leaf of an object that is no memory, as `type`.
static ref leaf_as(lowering *l, base *b, int64_t i, vyre_type type) {
  if (b->kind == B_PARAM) return e_bits(l, type, vyre_build_param_value(l->b, b->cells[i].v));
  if (b->kind != B_VARS)
    return e_bits(l, type, b->cells[i].p ? e_zero(l, VYRE_U64) : b->cells[i].v);
  watch(l, b);
  return e_bits(l, type, vyre_build_get(l->b, b->vars[i].v));
}

// The same of a leaf that is to be a number: a pointer is one in memory only.
static int64_t find_number(lowering *l, base *b, const pointer *p, int64_t disp, vyre_type type,
                           uint32_t offset) {
  int64_t i = find_leaf(l, b, p, disp, type, offset);
  if (i < 0 || b->kind == B_TABLE || b->type->leaves[i].type->kind != T_POINTER) return i;
  note(l, &b->in_memory);
  return -1;
}

static bool has_union(const ctype *type) {
  if (type->kind == T_UNION) return true;
  if (type->kind == T_ARRAY) return has_union(type->element);
  for (uint32_t i = 0; i < type->field_count; i++)
    if (has_union(type->fields[i].type)) return true;
  return false;
}

// An integer is read where pointers are: it may be one of them.
static void note_number_read(lowering *l, base *b, vyre_type type) {
  if (!b->held.count || !type_is_int(type)) return;
  if (type_bytes(type) == 8 || has_union(b->type)) pointer_expose(l, &b->held);
}

static void note_number_written(lowering *l, base *b, vyre_type type) {
  if (!b->holds || !type_is_int(type)) return;
  if (type_bytes(type) == 8 || has_union(b->type)) note(l, &b->is_patched);
}

static ref base_load(lowering *l, base *b, const pointer *p, int64_t disp, vyre_type type,
                     uint32_t offset) {
  switch (b->kind) {
  case B_VALUE:
  case B_PARAM:
  case B_VARS: {
    int64_t i = find_number(l, b, p, disp, type, offset);
    return i < 0 ? e_zero(l, type) : leaf_as(l, b, i, type);
  }
  case B_TABLE:
    if (!p->index) {
      int64_t i = find_leaf(l, b, p, disp, type, offset);
      if (i >= 0) return leaf_as(l, b, i, type);
    }
    note(l, &b->is_dynamic);
    return b->has_buffer ? load_words(l, b, p, disp, type) : e_zero(l, type);
  case B_MEMORY: note_number_read(l, b, type); return load_words(l, b, p, disp, type);
  default: return e_zero(l, type);
  }
}

static void store_words(lowering *l, base *b, const pointer *p, int64_t disp, ref v) {
  vyre_type type = e_type(l, v);
  note_access(l, b, type);
  note(l, &b->is_written);
  uint32_t count = type_bytes(type) / b->word_bytes;
  if (count < 1) count = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t at = (uint64_t)i * b->word_bytes;
    vyre_build_store(l->b, b->mem, piece_at(l, p, disp, at),
                     bits_cut(l, &(piece){0, v}, 1, at, b->word));
  }
}

static void base_store(lowering *l, base *b, const pointer *p, int64_t disp, ref v,
                       uint32_t offset) {
  vyre_type type = e_type(l, v);
  switch (b->kind) {
  case B_PARAM:
  case B_VALUE: note(l, &b->is_mutable); return;
  case B_VARS: {
    int64_t i = find_number(l, b, p, disp, type, offset);
    if (i < 0) return;
    note(l, &b->is_written);
    vyre_build_set(l->b, b->vars[i].v, e_bits(l, leaf_word(b->type->leaves[i].type), v));
    return;
  }
  case B_MEMORY: {
    note_number_written(l, b, type);
    store_words(l, b, p, disp, v);
    return;
  }
  case B_TABLE:
    if (b->space == SPACE_GLOBAL) { // a buffer of the next round
      note(l, &b->is_written);
      return;
    }
    lower_refuse(l, offset, "an assignment to constant memory", "use a global or private array");
  default: return;
  }
}

// ---- pointers that are stored -------------------------------------------------------------------

// In memory a pointer is the number that it is elsewhere, so that a union shows it: see
// pointer_number. Numbers that were stored may be pointers too.
static pointer decode(lowering *l, ref bits, base *b) {
  note(l, &b->holds);
  for (int s = 0; s < SPACE_GENERIC && b->is_patched; s++)
    for (uint32_t i = 0; i < l->exposed[s].count; i++) set_add(l, &b->held, l->exposed[s].at[i]);
  if (b->held.count && !b->is_kept) {
    UNIT_PUSH(l->u, l->sets, l->set_count, l->set_capacity, &b->held);
    b->is_kept = true;
  }
  return b->held.count ? pointer_of_address(l, bits, &b->held) : pointer_null(l);
}

static void need_memory(lowering *l, const base_set *set) {
  for (uint32_t i = 0; i < set->count; i++) base_indexed(l, set->at[i]);
}

static bool can_hold_pointers(const base *b) {
  return b->space == SPACE_PRIVATE || b->space == SPACE_LOCAL;
}

// The leaf of an object in registers that holds the pointer; -1 where there is none. In a union it
// is a number, as in memory, and there the object goes.
static int64_t pointer_leaf(lowering *l, base *b, const pointer *p, int64_t disp, uint32_t offset) {
  int64_t i = find_leaf(l, b, p, disp, VYRE_U64, offset);
  if (i < 0 || b->type->leaves[i].type->kind == T_POINTER) return i;
  note(l, &b->in_memory);
  return -1;
}

static pointer base_load_pointer(lowering *l, base *b, const pointer *p, int64_t disp,
                                 uint32_t offset) {
  if (b->kind == B_VALUE || b->kind == B_VARS) {
    int64_t i = pointer_leaf(l, b, p, disp, offset);
    if (i < 0) return pointer_null(l);
    if (b->kind == B_VALUE) return b->cells[i].p ? *b->cells[i].p : pointer_null(l);
    watch(l, b);
    if (!b->stored[i]->count) return pointer_null(l);
    pointer made = {.set = b->stored[i], .index = vyre_build_get(l->b, b->vars[i].v)};
    if (b->vars[i].sel) made.sel = vyre_build_get(l->b, b->vars[i].sel);
    return made;
  }
  if (b->kind == B_NULL) return pointer_null(l);
  if (!can_hold_pointers(b))
    lower_refuse(l, offset, "a pointer that is kept in a buffer",
                 "keep offsets in the buffer, and add them to a pointer argument");
  return decode(l, load_words(l, b, p, disp, VYRE_U64), b);
}

static pointer load_pointer(lowering *l, const pointer *p, int64_t disp, uint32_t offset) {
  if (p->set->count == 1) return base_load_pointer(l, p->set->at[0], p, disp, offset);
  need_memory(l, p->set);
  pointer made = pointer_null(l);
  for (uint32_t i = p->set->count; i > 0; i--) {
    base *b = p->set->at[i - 1];
    if (b->kind == B_NULL) continue;
    pointer one = base_load_pointer(l, b, p, disp, offset);
    made = pointer_select(l, pointer_is_in(l, p, i - 1), &one, &made);
  }
  return made;
}

static void hold(lowering *l, base_set *set, const pointer *p) {
  for (uint32_t i = 0; i < p->set->count; i++) {
    base *to = p->set->at[i];
    set_add(l, set, to);
    base_indexed(l, to);
  }
}

static void base_store_pointer(lowering *l, base *b, const pointer *p, int64_t disp,
                               const pointer *v, uint32_t offset) {
  if (b->kind == B_VALUE) {
    note(l, &b->is_mutable);
    return;
  }
  if (b->kind == B_VARS) {
    int64_t i = pointer_leaf(l, b, p, disp, offset);
    if (i < 0) return;
    hold(l, b->stored[i], v);
    ref index = pointer_index(l, v, 0);
    vyre_type type = (vyre_type)builder_inst(l->b, b->vars[i].v)->type;
    vyre_build_set(l->b, b->vars[i].v, e_convert(l, type, index));
    if (b->vars[i].sel) vyre_build_set(l->b, b->vars[i].sel, pointer_sel(l, v, b->stored[i]));
    return;
  }
  if (b->kind == B_NULL) return;
  if (!can_hold_pointers(b))
    lower_refuse(l, offset, "a pointer that is kept in a buffer",
                 "keep offsets in the buffer, and add them to a pointer argument");
  hold(l, &b->held, v);
  store_words(l, b, p, disp, pointer_address(l, v));
}

static void store_pointer(lowering *l, const pointer *p, int64_t disp, const pointer *v,
                          uint32_t offset) {
  if (p->set->count == 1) {
    base_store_pointer(l, p->set->at[0], p, disp, v, offset);
    return;
  }
  need_memory(l, p->set);
  for (uint32_t i = 0; i < p->set->count; i++) {
    if (p->set->at[i]->kind == B_NULL) continue;
    vyre_build_if(l->b, pointer_is_in(l, p, i));
    base_store_pointer(l, p->set->at[i], p, disp, v, offset);
    vyre_build_end(l->b);
  }
}

// ---- any pointer --------------------------------------------------------------------------------

ref load_scalar(lowering *l, const pointer *p, int64_t disp, vyre_type type, uint32_t offset) {
  if (p->set->count == 0) return e_zero(l, type);
  if (p->set->count == 1) return base_load(l, p->set->at[0], p, disp, type, offset);
  need_memory(l, p->set);
  ref made = 0;
  for (uint32_t i = p->set->count; i > 0; i--) {
    ref one = base_load(l, p->set->at[i - 1], p, disp, type, offset);
    made = made ? e_select(l, pointer_is_in(l, p, i - 1), one, made) : one;
  }
  return made;
}

void store_scalar(lowering *l, const pointer *p, int64_t disp, ref v, uint32_t offset) {
  if (p->set->count == 1) {
    base_store(l, p->set->at[0], p, disp, v, offset);
    return;
  }
  need_memory(l, p->set);
  for (uint32_t i = 0; i < p->set->count; i++) {
    if (p->set->at[i]->kind == B_NULL) continue;
    vyre_build_if(l->b, pointer_is_in(l, p, i));
    base_store(l, p->set->at[i], p, disp, v, offset);
    vyre_build_end(l->b);
  }
}

// Sums of floats and comparisons need memory of the type.
static void note_order(lowering *l, base *b, vyre_type type, uint32_t offset) {
  if (b->order == type) return;
  if (b->order != VYRE_VOID)
    lower_refuse(l, offset, "an object whose atomics need its numbers as two types",
                 "use one of the two types");
  if (learn(l)) b->order = type;
}

vyre_mem atomic_place(lowering *l, const pointer *p, uint32_t which, vyre_type type,
                      atomic_kind kind, ref *index, uint32_t offset) {
  base *b = p->set->at[which];
  if (b->kind == B_TABLE && b->space == SPACE_GLOBAL) base_begin_global(l, b);
  if (b->kind != B_MEMORY || (b->space != SPACE_GLOBAL && b->space != SPACE_LOCAL))
    lower_refuse(l, offset, "an atomic operation on private or constant memory",
                 "use global or local memory");
  if (kind == ATOMIC_BITS) {
    if (b->bits == VYRE_VOID && learn(l)) b->bits = type;
    base_grain(l, b, type_bytes(type));
  } else {
    note_access(l, b, type);
  }
  note(l, &b->is_read);
  note(l, &b->is_written);
  note(l, &b->is_atomic);
  bool needs_type = kind == ATOMIC_ORDER || (kind == ATOMIC_SUM && type_is_float(type));
  if (needs_type) note_order(l, b, type, offset);
  // Integers are not added up in what is a float.
  if (kind == ATOMIC_SUM && !type_is_float(type) && type_is_float(b->order))
    note_order(l, b, type, offset);
  if (b->word_bytes != type_bytes(type) && !l->changed)
    lower_refuse(l, offset, "an atomic operation on memory that is also accessed in smaller parts",
                 "access it with one size only");
  *index = index_at(l, p, 0);
  return b->mem;
}

// ---- values -------------------------------------------------------------------------------------

static cell load_leaf(lowering *l, const pointer *p, const leaf *at, uint32_t offset) {
  if (at->type->kind == T_POINTER)
    return (cell){0, pointer_keep(l, load_pointer(l, p, (int64_t)at->offset, offset))};
  return (cell){load_scalar(l, p, (int64_t)at->offset, at->type->scalar, offset), NULL};
}

value load(lowering *l, const place *from, uint32_t offset) {
  if (from->lane_count) {
    value v = value_new(l, from->type, offset);
    uint64_t bytes = from->whole->element->size;
    for (uint32_t i = 0; i < from->lane_count; i++)
      v.at[i].v = from->lanes[i] < from->whole->count
                      ? load_scalar(l, &from->at, (int64_t)(from->lanes[i] * bytes),
                                    from->whole->scalar, offset)
                      : e_zero(l, from->whole->scalar); // the fourth of three
    return v;
  }
  if (from->type->kind == T_ARRAY) return value_pointer(l, from->type, from->at);
  const leaf *leaves = type_leaves(l->u, from->type, offset);
  value v = value_new(l, from->type, offset);
  for (uint32_t i = 0; i < from->type->leaf_count; i++)
    v.at[i] = load_leaf(l, &from->at, &leaves[i], offset);
  return v;
}

void store(lowering *l, const place *to, value v, uint32_t offset) {
  if (to->lane_count) {
    uint64_t bytes = to->whole->element->size;
    for (uint32_t i = 0; i < to->lane_count; i++)
      if (to->lanes[i] < to->whole->count)
        store_scalar(l, &to->at, (int64_t)(to->lanes[i] * bytes), v.at[i].v, offset);
    return;
  }
  const leaf *leaves = type_leaves(l->u, to->type, offset);
  for (uint32_t i = 0; i < to->type->leaf_count; i++) {
    if (v.at[i].p)
      store_pointer(l, &to->at, (int64_t)leaves[i].offset, v.at[i].p, offset);
    else
      store_scalar(l, &to->at, (int64_t)leaves[i].offset, v.at[i].v, offset);
  }
}

// ---- large structures ---------------------------------------------------------------------------

enum { MOST_COPIED_BYTES = 4096 };

static bool has_pointers(const ctype *type) {
  if (type->kind == T_POINTER) return true;
  if (type->kind == T_ARRAY) return has_pointers(type->element);
  for (uint32_t i = 0; i < type->field_count; i++)
    if (has_pointers(type->fields[i].type)) return true;
  return false;
}

bool copies_in_loop(const ctype *type) {
  return (type->kind == T_STRUCT || type->kind == T_UNION) && type->size > MOST_COPIED_BYTES &&
         !has_pointers(type);
}

void copy_in_loop(lowering *l, const place *to, const place *from) {
  vyre_type word = base_first_type(to->type);
  uint64_t bytes = type_bytes(word);
  ref count = e_const(l, VYRE_U32, to->type->size / bytes);
  ref k = vyre_build_for(l->b, e_zero(l, VYRE_U32), count, e_const(l, VYRE_U32, 1));
  pointer target = pointer_add(l, to->at, k, bytes), source = pointer_add(l, from->at, k, bytes);
  store_scalar(l, &target, 0, load_scalar(l, &source, 0, word, NO_PLACE), NO_PLACE);
  vyre_build_end(l->b);
}
