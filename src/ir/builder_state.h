// SPDX-License-Identifier: MIT
//
// The builder's own records, shared by its files: builder.c, and builder_tunable.c for tunables and
// formulas. One builder, one thread.
#ifndef VYRE_IR_BUILDER_STATE_H
#define VYRE_IR_BUILDER_STATE_H

#include "base/vec.h"
#include "ir/builder.h"

// A reference to a formula looks like one to a constant that no program has: the places that take
// values know it by this bit, and put the formula's number there (builder_resolve).
#define REF_FORMULA (REF_CONST | 0x40000000u)
static inline bool ref_is_formula(ref r) {
  return (r & REF_FORMULA) == REF_FORMULA;
}
static inline uint32_t formula_index(ref r) {
  return r & ~REF_FORMULA;
}

typedef struct slot { // an operation and what belongs to it, split into arrays when frozen
  inst in;
  const char *name;
  source_place place;
} slot;

typedef enum section { IN_HEADER, IN_GRID, IN_BODY, IN_NOTHING } section;

struct vyre_builder {
  vyre_program *program; // strings go to its arena; arrays are filled at the end
  vec(slot) code;
  vec(constant) consts;
  vec(param) params;
  vec(buffer) buffers;
  vec(region) regions;
  vec(shared_array) shared;
  vec(comment) comments;
  vec(tunable) tunables;
  vec(formula_term) terms; // of the formulas, and of those that were used
  vec(range) formulas;     // what a formula's reference numbers
  vec(tunable_use) uses;   // in any order
  uint32_t *const_table;   // open addressing, index + 1
  size_t const_table_size;
  section section;
  source_place place;
  vyre_error first_error;
};

// False when the builder was finished or has failed.
bool builder_is_usable(vyre_builder *b);
void builder_fail_memory(vyre_builder *b);
const char *builder_copy_name(vyre_builder *b, const char *name);

// ---- builder_tunable.c --------------------------------------------------------------------------

vyre_type builder_formula_type(const vyre_builder *b, ref formula);
// The constant that has the formula's value, and a note that it stands there; other references are
// left as they are. Only a tunable alone can be an operand.
ref builder_resolve(vyre_builder *b, ref r, use_kind kind, uint32_t at, uint32_t slot);
// Fills the program's tunables, uses and terms; false when out of memory.
bool builder_fill_tunables(vyre_builder *b);

#endif
