// SPDX-License-Identifier: MIT
//
// Tunables and formulas over them. A formula is kept as its terms and named by a reference of its
// own kind; where it is used, the builder puts the constant that it is worth with the present
// values, and notes the place.
#include "ir/builder_state.h"

#include "base/error.h"
#include "ir/limits.h"
#include "ir/tunable.h"

#include <string.h>

uint32_t builder_tunable_count(const vyre_builder *b) {
  return (uint32_t)b->tunables.count;
}

const tunable *builder_tunable(const vyre_builder *b, uint32_t index) {
  return &b->tunables.at[index];
}

static range terms_of(const vyre_builder *b, ref formula) {
  return b->formulas.at[formula_index(formula)];
}

vyre_type builder_formula_type(const vyre_builder *b, ref formula) {
  return (vyre_type)b->terms.at[terms_of(b, formula).end - 1].type;
}

bool builder_is_tunable(const vyre_builder *b, ref r, uint32_t *number) {
  if (!ref_is_formula(r) || formula_index(r) >= b->formulas.count) return false;
  range terms = terms_of(b, r);
  if (terms.end - terms.first != 1 || b->terms.at[terms.first].op != TERM_TUNABLE) return false;
  *number = b->terms.at[terms.first].tunable;
  return true;
}

// The terms that were added last, as a formula.
static ref name_formula(vyre_builder *b, size_t first) {
  range made = {(uint32_t)first, (uint32_t)b->terms.count};
  if (!vec_push(&b->formulas, made)) {
    builder_fail_memory(b);
    return 0;
  }
  return REF_FORMULA | (uint32_t)(b->formulas.count - 1);
}

static bool evaluate(const vyre_builder *b, range terms, vyre_scalar *out) {
  uint64_t values[LIMIT_TUNABLES];
  for (size_t i = 0; i < b->tunables.count; i++)
    values[i] = b->tunables.at[i].values[b->tunables.at[i].chosen];
  return formula_value(b->terms.at + terms.first, terms.end - terms.first, b->tunables.at,
                       (uint32_t)b->tunables.count, values, out);
}

// ---- making -------------------------------------------------------------------------------------

static bool can_declare(vyre_builder *b, const char *name, uint32_t count, const uint64_t *values,
                        uint32_t chosen) {
  if (!builder_is_usable(b)) return false;
  if (b->section != IN_HEADER)
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "tunable `%s` was declared inside a region. Fix: declare tunables before the "
                 "first region",
                 name ? name : "");
  else if (b->tunables.count == LIMIT_TUNABLES || count > LIMIT_TUNABLE_VALUES)
    builder_fail(b, VYRE_ERROR_LIMIT,
                 "there are more than %d tunables, or more than %d values of `%s`. Fix: have fewer",
                 LIMIT_TUNABLES, LIMIT_TUNABLE_VALUES, name ? name : "");
  else if (!count || !values || chosen >= count)
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "tunable `%s` has no values, or not the one that is chosen. Fix: pass them",
                 name ? name : "");
  return builder_is_usable(b);
}

vyre_value vyre_build_tunable(vyre_builder *b, const char *name, vyre_type type, uint32_t count,
                              const uint64_t *values, uint32_t chosen) {
  if (!can_declare(b, name, count, values, chosen)) return 0;
  if (type <= VYRE_VOID || type >= VYRE_TYPE_COUNT) {
    builder_fail(b, VYRE_ERROR_ARGUMENT, "a tunable has no valid type. Fix: pass a vyre_type");
    return 0;
  }
  uint64_t *copy = arena_alloc_array(&b->program->arena, count, sizeof *copy);
  for (uint32_t i = 0; i < count && copy; i++) copy[i] = type_canonical_bits(type, values[i]);
  tunable made = {.name = builder_copy_name(b, name ? name : ""),
                  .type = type,
                  .count = count,
                  .chosen = chosen,
                  .values = copy,
                  .place = b->place};
  formula_term is_tunable = {TERM_TUNABLE, (uint8_t)type, (uint32_t)b->tunables.count, 0};
  if (!copy || !vec_push(&b->tunables, made)) {
    builder_fail_memory(b);
    return 0;
  }
  return builder_formula(b, &is_tunable, 1);
}

ref builder_formula(vyre_builder *b, const formula_term *terms, uint32_t count) {
  if (!builder_is_usable(b)) return 0;
  if (count > LIMIT_TERMS) {
    builder_fail(b, VYRE_ERROR_LIMIT,
                 "a formula has more than %d parts. Fix: make it simpler, or another tunable",
                 LIMIT_TERMS);
    return 0;
  }
  size_t first = b->terms.count;
  for (uint32_t i = 0; i < count; i++)
    if (!vec_push(&b->terms, terms[i])) {
      builder_fail_memory(b);
      return 0;
    }
  return name_formula(b, first);
}

// Adds the terms of an operand; false when it is none of a formula.
static bool add_operand(const vyre_builder *b, ref r, formula_term *terms, uint32_t *count) {
  if (ref_is_formula(r)) {
    if (formula_index(r) >= b->formulas.count) return false;
    range of = terms_of(b, r);
    for (uint32_t i = of.first; i < of.end; i++, ++*count)
      if (*count < LIMIT_TERMS) terms[*count] = b->terms.at[i];
    return true;
  }
  uint64_t bits;
  if (!builder_const_bits(b, r, &bits)) return false;
  if (*count < LIMIT_TERMS)
    terms[*count] = (formula_term){VYRE_OP_NONE, (uint8_t)vyre_build_type_of(b, r), 0, bits};
  ++*count;
  return true;
}

vyre_value vyre_build_formula(vyre_builder *b, vyre_op op, vyre_type type, uint32_t count,
                              const vyre_value *args) {
  if (!builder_is_usable(b)) return 0;
  formula_term terms[LIMIT_TERMS + 1];
  vyre_type types[3] = {VYRE_VOID, VYRE_VOID, VYRE_VOID}, made = VYRE_VOID;
  uint32_t used = 0;
  bool ok = op > VYRE_OP_NONE && op < VYRE_OP_COUNT && count && count <= 3 && args &&
            count == op_table[op].operand_count;
  for (uint32_t i = 0; i < count && ok; i++) {
    types[i] = vyre_build_type_of(b, args[i]);
    ok = add_operand(b, args[i], terms, &used);
  }
  if (ok) made = formula_type(op, type, types);
  if (!ok || made == VYRE_VOID) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_formula was called with an operation or operands that no formula has. "
                 "Fix: pass arithmetic, comparisons, select or convert, on tunables and constants "
                 "of the types that it takes");
    return 0;
  }
  if (used <= LIMIT_TERMS) terms[used] = (formula_term){(uint8_t)op, (uint8_t)made, 0, 0};
  return builder_formula(b, terms, used + 1);
}

void vyre_build_tunable_where(vyre_builder *b, vyre_value value, vyre_value condition) {
  uint32_t number;
  if (!builder_is_usable(b)) return;
  if (builder_is_tunable(b, value, &number) && ref_is_formula(condition) &&
      formula_index(condition) < b->formulas.count)
    b->tunables.at[number].where = terms_of(b, condition);
  else
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_tunable_where wants a tunable and a formula. Fix: pass what "
                 "vyre_build_tunable and vyre_build_formula returned");
}

// ---- using --------------------------------------------------------------------------------------

static bool has_tunable(const vyre_builder *b, range terms) {
  for (uint32_t i = terms.first; i < terms.end; i++)
    if (b->terms.at[i].op == TERM_TUNABLE) return true;
  return false;
}

ref builder_resolve(vyre_builder *b, ref r, use_kind kind, uint32_t at, uint32_t slot) {
  if (!ref_is_formula(r) || !builder_is_usable(b)) return r;
  range terms = terms_of(b, r);
  vyre_scalar value;
  bool is_value = kind == USE_OPERAND || kind == USE_LENGTH || kind == USE_GRID;
  if (is_value && terms.end - terms.first != 1) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "a formula stands where a value is needed. Fix: build operations on the tunables; "
                 "formulas are for conditions, workgroups and lengths of arrays");
    return r;
  }
  if (!evaluate(b, terms, &value)) {
    builder_fail(b, VYRE_ERROR_ARGUMENT, "a formula has no value. Fix: build it from tunables");
    return r;
  }
  tunable_use use = {kind, at, slot, terms};
  if (has_tunable(b, terms) && !vec_push(&b->uses, use)) builder_fail_memory(b);
  return vyre_build_const(b, value.type, value.bits);
}

// A workgroup's size or an array's length.
static uint32_t take_number(vyre_builder *b, vyre_value value, use_kind kind, uint32_t at,
                            uint32_t slot) {
  uint64_t bits = 0;
  if (!builder_is_usable(b)) return 0;
  if (vyre_build_type_of(b, value) != VYRE_U32 ||
      !builder_const_bits(b, builder_resolve(b, value, kind, at, slot), &bits))
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "a workgroup's size or an array's length is no constant of type u32. Fix: pass a "
                 "constant, a tunable or a formula of that type");
  return (uint32_t)bits;
}

void vyre_build_grid_of(vyre_builder *b, uint32_t rank, const vyre_value *extents,
                        const vyre_value workgroup[3]) {
  if (!builder_is_usable(b)) return;
  if (!workgroup || !b->regions.count) {
    builder_fail(b, VYRE_ERROR_ARGUMENT,
                 "vyre_build_grid_of was called without a workgroup or a region. Fix: pass the "
                 "sizes, after vyre_build_region_begin");
    return;
  }
  uint32_t sizes[3], region = (uint32_t)b->regions.count - 1;
  for (uint32_t i = 0; i < 3; i++)
    sizes[i] = take_number(b, workgroup[i], USE_WORKGROUP, region, i);
  vyre_build_grid(b, rank, extents, sizes);
}

vyre_mem vyre_build_shared_of(vyre_builder *b, const char *name, vyre_type type,
                              vyre_value length) {
  if (!builder_is_usable(b)) return (vyre_mem){0};
  uint32_t index = (uint32_t)b->shared.count;
  return vyre_build_shared(b, name, type, take_number(b, length, USE_SHARED, index, 0));
}

vyre_mem vyre_build_array_of(vyre_builder *b, const char *name, vyre_type type, vyre_value length) {
  if (!builder_is_usable(b)) return (vyre_mem){0};
  uint32_t index = (uint32_t)b->code.count;
  return vyre_build_array(b, name, type, take_number(b, length, USE_ARRAY, index, 0));
}

// ---- finishing ----------------------------------------------------------------------------------

static int by_place(const void *a, const void *b) {
  return tunable_compare_uses(a, b);
}

// Copies the terms of one formula to the program's end; equal programs have equal lists.
static void move_terms(const vyre_builder *b, formula_term *to, uint32_t *count, range *of) {
  uint32_t first = *count;
  for (uint32_t i = of->first; i < of->end; i++) to[(*count)++] = b->terms.at[i];
  *of = (range){first, *count};
}

bool builder_fill_tunables(vyre_builder *b) {
  vyre_program *p = b->program;
  if (!b->tunables.count) return true;
  size_t room = 0;
  for (size_t i = 0; i < b->tunables.count; i++)
    room += b->tunables.at[i].where.end - b->tunables.at[i].where.first;
  for (size_t i = 0; i < b->uses.count; i++)
    room += b->uses.at[i].terms.end - b->uses.at[i].terms.first;
  tunable *tunables = arena_alloc_array(&p->arena, b->tunables.count, sizeof *tunables);
  tunable_use *uses = arena_alloc_array(&p->arena, b->uses.count, sizeof *uses);
  formula_term *terms = arena_alloc_array(&p->arena, room, sizeof *terms);
  if (!tunables || !uses || !terms) return false;
  if (b->uses.count) qsort(b->uses.at, b->uses.count, sizeof *b->uses.at, by_place);
  for (size_t i = 0; i < b->tunables.count; i++) {
    tunables[i] = b->tunables.at[i];
    move_terms(b, terms, &p->term_count, &tunables[i].where);
  }
  for (size_t i = 0; i < b->uses.count; i++) {
    uses[i] = b->uses.at[i];
    move_terms(b, terms, &p->term_count, &uses[i].terms);
  }
  p->tunables = tunables;
  p->tunable_count = (uint32_t)b->tunables.count;
  p->uses = uses;
  p->use_count = (uint32_t)b->uses.count;
  p->terms = terms;
  return true;
}
