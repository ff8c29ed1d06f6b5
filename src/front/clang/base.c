// SPDX-License-Identifier: MIT
//
// Objects of the source and how they are stored: as values when nothing changes them, as variables
// when something does, as an array when their address is computed.
#include "front/clang/lower.h"

#include <string.h>

// Larger private objects are arrays from the start.
enum { MOST_VARIABLES = 16, MOST_REGISTER_BYTES = 256 };

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void base_grain(lowering *l, base *b, uint64_t bytes) {
  uint64_t grain = gcd(b->grain, bytes);
  if (grain != b->grain && b->kind != B_NULL && learn(l)) b->grain = grain;
}

void base_indexed(lowering *l, base *b) {
  if (b->kind == B_VALUE || b->kind == B_PARAM || b->kind == B_VARS) note(l, &b->in_memory);
  if (b->kind == B_TABLE) note(l, &b->is_dynamic);
}

vyre_access base_access(const base *b) {
  if (b->is_written) return b->is_read ? VYRE_READWRITE : VYRE_WRITE;
  return VYRE_READ;
}

base *base_new(lowering *l, const void *key, int kind) {
  base *b = fact(l, key, kind, sizeof(base));
  if (!b->self) {
    b->self = b;
    b->alone = (base_set){&b->self, 1, 1};
    b->number = l->base_count;
    UNIT_PUSH(l->u, l->bases, l->base_count, l->base_capacity, b);
  }
  return b;
}

base *base_of_decl(lowering *l, const decl *d) {
  context *inner = l->ctx;
  if (d->is_file) l->ctx = NULL; // one object for all calls
  base *b = base_new(l, d, FACT_BASE);
  l->ctx = inner;
  return b;
}

vyre_type leaf_word(const ctype *type) {
  return type->kind == T_POINTER ? VYRE_U64 : type->scalar;
}

// The words that a type consists of, without taking large arrays apart.
typedef struct word_scan {
  vyre_type first;
  uint64_t grain;
  bool is_mixed;
} word_scan;

static void scan_word(word_scan *s, vyre_type word, uint64_t at) {
  if (s->first == VYRE_VOID) s->first = word;
  s->grain = gcd(gcd(s->grain, at), type_bytes(word));
  s->is_mixed |= word != s->first;
}

static void scan_words(word_scan *s, const ctype *type, uint64_t at) {
  switch (type->kind) {
  case T_SCALAR:
  case T_POINTER: scan_word(s, leaf_word(type), at); return;
  case T_VECTOR:
  case T_ARRAY:
    scan_words(s, type->element, at);
    s->grain = gcd(s->grain, type->element->size);
    return;
  case T_STRUCT:
    for (uint32_t i = 0; i < type->field_count; i++)
      scan_words(s, type->fields[i].type, at + type->fields[i].offset);
    return;
  case T_UNION:
    scan_word(s, type_unsigned(type->align < 8 ? (unsigned)type->align : 8), at);
    return;
  default: return;
  }
}

vyre_type base_first_type(const ctype *type) {
  word_scan s = {.first = VYRE_VOID, .grain = type->kind == T_ARRAY ? 0 : type->size};
  scan_words(&s, type, 0);
  if (s.first == VYRE_VOID) return VYRE_U8;
  bool is_plain = !s.is_mixed && s.grain == type_bytes(s.first);
  return is_plain ? s.first : type_unsigned((unsigned)gcd(s.grain, 8));
}

// What the object is accessed as, where that is one type. Exchanging the bits of a float, as loops
// that add to it do, leaves it one.
static vyre_type base_access_type(const base *b) {
  if (b->is_mixed) return VYRE_VOID;
  if (b->access == VYRE_VOID) return b->bits;
  bool is_declared = b->bits == VYRE_VOID || !type_is_float(b->access) || type_is_float(b->bits) ||
                     type_is_float(base_first_type(b->type));
  return is_declared ? b->access : VYRE_VOID;
}

void base_words(base *b) {
  uint64_t grain = b->grain ? gcd(b->grain, 8) : 0;
  if (!grain) {
    b->word = base_first_type(b->type);
    b->word_bytes = type_bytes(b->word);
    return;
  }
  b->word_bytes = (uint32_t)grain;
  vyre_type access = base_access_type(b);
  bool is_plain = access != VYRE_VOID && type_bytes(access) == grain;
  b->word = is_plain ? access : type_unsigned((unsigned)grain);
  if (b->order != VYRE_VOID && type_bytes(b->order) == grain) b->word = b->order;
}

// ---- private objects ----------------------------------------------------------------------------

static const char *leaf_name(lowering *l, const char *name, const leaf *at) {
  return *at->suffix ? unit_printf(l->u, "%s%s", name, at->suffix) : name;
}

static void declare_values(lowering *l, base *b, const leaf *leaves, const value *init,
                           uint32_t since, bool keeps_names) {
  b->kind = B_VALUE;
  b->cells = UNIT_ARRAY(l->u, b->type->leaf_count, cell);
  for (uint32_t i = 0; i < b->type->leaf_count; i++) {
    cell c = init->at[i];
    const char *name = leaf_name(l, b->name, &leaves[i]);
    if (!c.p && keeps_names)
      c.v = e_let(l, c.v, since, name);
    else
      e_suggest(l, c.p ? c.p->index : c.v, since, name);
    b->cells[i] = c;
  }
}

static void declare_pointer(lowering *l, base *b, uint32_t i, const char *name) {
  if (!b->stored) b->stored = UNIT_ARRAY(l->u, b->type->leaf_count, base_set *);
  if (!b->stored[i]) {
    b->stored[i] = UNIT_NEW(l->u, base_set);
    UNIT_PUSH(l->u, l->sets, l->set_count, l->set_capacity, b->stored[i]);
  }
  pointer p = {.set = b->stored[i]};
  vyre_type type = pointer_is_small(&p) ? VYRE_I32 : VYRE_I64;
  b->vars[i].v = vyre_build_var(l->b, name, e_zero(l, type));
  if (b->stored[i]->count > 1)
    b->vars[i].sel = vyre_build_var(l->b, unit_printf(l->u, "%s.base", name), e_zero(l, VYRE_U32));
}

static void declare_variables(lowering *l, base *b, const leaf *leaves, const value *init,
                              uint32_t offset) {
  b->kind = B_VARS;
  b->vars = UNIT_ARRAY(l->u, b->type->leaf_count, var_cell);
  for (uint32_t i = 0; i < b->type->leaf_count; i++) {
    const char *name = leaf_name(l, b->name, &leaves[i]);
    if (leaves[i].type->kind == T_POINTER)
      declare_pointer(l, b, i, name);
    else
      b->vars[i].v =
          vyre_build_var(l->b, name, init->at ? init->at[i].v : e_zero(l, leaves[i].type->scalar));
  }
  if (!init->at) return;
  for (uint32_t i = 0; i < b->type->leaf_count; i++) {
    if (leaves[i].type->kind != T_POINTER) continue;
    place to = {.type = leaves[i].type, .at = pointer_to(l, b)};
    to.at.disp = (int64_t)leaves[i].offset;
    store(l, &to, (value){leaves[i].type, &init->at[i]}, offset);
  }
}

static void store_initial(lowering *l, base *b, const value *init, uint32_t offset) {
  const leaf *leaves = type_leaves(l->u, b->type, offset);
  uint64_t bits;
  for (uint32_t i = 0; i < b->type->leaf_count; i++) {
    cell c = init->at[i];
    if (!c.p && e_is_const(l, c.v, &bits) && bits == 0) continue; // arrays begin as zeros
    place to = {.type = leaves[i].type, .at = pointer_to(l, b)};
    to.at.disp = (int64_t)leaves[i].offset;
    store(l, &to, (value){leaves[i].type, &c}, offset);
  }
}

static uint32_t word_count(lowering *l, const base *b, uint64_t size, uint32_t offset) {
  uint64_t count = (size + b->word_bytes - 1) / b->word_bytes;
  if (count == 0) count = 1;
  if (count > UINT32_MAX)
    unit_fail(l->u, VYRE_ERROR_LIMIT, offset, "`%s` has %llu bytes. Fix: use a smaller array",
              b->name, (unsigned long long)size);
  return (uint32_t)count;
}

static void declare_array(lowering *l, base *b, const value *init, uint32_t offset) {
  b->kind = B_MEMORY;
  base_words(b);
  b->mem = vyre_build_array(l->b, b->name, b->word, word_count(l, b, b->size, offset));
  if (init->at) store_initial(l, b, init, offset);
}

void base_declare(lowering *l, base *b, const char *name, const ctype *type, base_use use,
                  const value *init, uint32_t since, uint32_t offset) {
  b->name = name;
  b->type = type;
  b->space = SPACE_PRIVATE;
  b->size = type->size;
  b->offset = offset;
  b->word_bytes = 1;
  if (type->kind == T_OTHER) type_leaves(l->u, type, offset); // refuses
  bool is_large = type_is_aggregate(type) && type->size > MOST_REGISTER_BYTES;
  if (!is_large && !b->in_memory) {
    const leaf *leaves = type_leaves(l->u, type, offset);
    if (!type_is_aggregate(type) || type->leaf_count <= MOST_VARIABLES) {
      if (init->at && use != BASE_MUTABLE && !b->is_mutable)
        declare_values(l, b, leaves, init, since, use == BASE_CONSTANT);
      else
        declare_variables(l, b, leaves, init, offset);
      return;
    }
  }
  declare_array(l, b, init, offset);
}

void base_declare_shared(lowering *l, base *b, const char *name, const ctype *type,
                         uint64_t size_bytes, uint32_t offset) {
  b->name = name;
  b->type = type;
  b->space = SPACE_LOCAL;
  b->size = size_bytes;
  b->offset = offset;
  b->kind = B_MEMORY;
  base_words(b);
  b->mem = vyre_build_shared(l->b, name, b->word, word_count(l, b, size_bytes, offset));
}

// ---- constant objects ---------------------------------------------------------------------------

void base_declare_table(lowering *l, base *b, const char *name, const ctype *type,
                        const value *init, uint32_t offset) {
  if (!b->has_buffer) b->name = name;
  b->type = type;
  b->space = SPACE_CONSTANT;
  b->size = type->size;
  b->offset = offset;
  b->kind = B_TABLE;
  b->cells = init->at;
  if (!b->table) b->table = UNIT_ARRAY(l->u, type->leaf_count, uint64_t);
  for (uint32_t i = 0; i < type->leaf_count; i++) e_is_const(l, init->at[i].v, &b->table[i]);
  if (!b->has_buffer) base_words(b);
}

// ---- variables in global memory -----------------------------------------------------------------

void base_stand_in(lowering *l, base *b, const char *name, const ctype *type, uint32_t offset) {
  note(l, &b->is_global);
  base_declare_shared(l, b, name, type, type->size, offset);
  b->space = SPACE_GLOBAL;
}

void base_begin_global(lowering *l, base *b) {
  note(l, &b->is_read); // whether it has begun
  note(l, &b->is_written);
  base_stand_in(l, b, b->name, b->type, b->offset);
}

static uint64_t own_words(const base *b) {
  uint64_t words = (b->size + b->word_bytes - 1) / b->word_bytes;
  return words ? words : 1;
}

// Kernels that access a variable in words of other sizes agree about how large its buffer is.
static uint64_t mark_words(const base *b) {
  return b->type->align > b->word_bytes ? b->type->align / b->word_bytes : 1;
}

uint64_t base_word_total(const base *b) {
  return own_words(b) + (b->is_global && b->table ? mark_words(b) : 0);
}

// The caller binds zeros; the mark behind the variable says that it has its values. It is a one in
// the lowest byte, whatever the words are.
static void begin_once(lowering *l, base *b) {
  ref at = e_const(l, VYRE_U32, own_words(b));
  vyre_type bits = type_unsigned(b->word_bytes);
  ref mark = e_bits(l, bits, vyre_build_load(l->b, b->mem, at));
  vyre_build_if(l->b, e_binary(l, VYRE_OP_EQ, mark, e_zero(l, bits)));
  vyre_build_store(l->b, b->mem, at, e_const(l, b->word, 1));
}

// A table that is indexed by a value is a buffer of its own, filled by a region that runs first.
void base_fill_table(lowering *l, base *b) {
  const leaf *leaves = type_leaves(l->u, b->type, b->offset);
  vyre_build_region_begin(l->b, unit_printf(l->u, "%s.fill", b->name));
  ref one = e_const(l, VYRE_U32, 1);
  vyre_build_grid(l->b, 1, &one, (uint32_t[]){1, 1, 1});
  pointer p = pointer_to(l, b);
  b->kind = B_MEMORY;
  if (b->is_global) begin_once(l, b);
  for (uint32_t i = 0; i < b->type->leaf_count; i++) {
    if (!b->table[i]) continue; // it begins as zeros
    store_scalar(l, &p, (int64_t)leaves[i].offset, e_const(l, leaves[i].type->scalar, b->table[i]),
                 b->offset);
  }
  if (b->is_global) vyre_build_end(l->b);
  vyre_build_region_end(l->b);
}
