// SPDX-License-Identifier: MIT
//
// A recipe writes one kind of operation in terms of others that the target does exactly. It is a
// const record in a file of its own, listed once in recipes.def. What it builds goes through the
// recipes again, so that each one knows only its own step. Private to src/lower and its tests.
//
// A recipe may promise a precondition (`promise`): the operation then is of the form that
// ir/lowered.def names, and the reference interpreter holds the recipe to it.
#ifndef VYRE_LOWER_RECIPE_H
#define VYRE_LOWER_RECIPE_H

#include "analysis/ranges.h"
#include "analysis/uniformity.h"
#include "base/vec.h"
#include "ir/builder.h"
#include "lower/target.h"

#include <assert.h>

// Two values that stand for one of a type that the target lacks (wide.h). Beside the values of the
// new program and its constants, it has numbers of its own.
#define REF_WIDE 0x40000000u
static inline bool ref_is_wide(ref r) {
  return (r & (REF_CONST | REF_WIDE)) == REF_WIDE;
}
typedef struct lower_wide {
  ref lo, hi; // values, or variables
  vyre_type type;
} lower_wide;

typedef struct lowering {
  const vyre_program *from;
  const lower_target *target;
  vyre_builder *b;
  const region *r; // of `from`; NULL in the header
  uint32_t lanes;  // the axis of r that becomes x
  uint32_t origin; // the operation of `from` that is being lowered; 0: one that a recipe built
  uint8_t recipe;  // the one at work: its number plus 1
  uint32_t needed; // a bit per recipe: those that the target needs
  ref *map;        // what became of the values of `from`
  bool on_host;    // extents are being lowered, which no device evaluates
  vec(lower_wide) wides;
  uint32_t shared_shift;
  ranges ranges;      // of r's body
  uniformity uniform; // of r's body; where polling needs it
  arena scratch;      // of the region
  struct {            // of the region, when it is polled
    vyre_var tick, stopped;
    vyre_mem seen;
  } stop;
} lowering;

typedef struct recipe {
  const char *name;
  const char *doc; // what it does, for docs/IR.md
  bool (*is_needed)(const lower_target *target);

  // Operations. `in` has operands of the new program; `takes` must be false for what `rewrite`
  // builds, or the two would never end. The result is the value that replaces the operation's.
  bool (*takes)(const lowering *l, const inst *in);
  ref (*rewrite)(lowering *l, const inst *in);

  // Places: the beginning of a region's body, of a loop's body, and behind a block. The operation
  // is the opening one, in `from`. NULL: nothing to do there.
  void (*enter)(lowering *l);
  void (*in_loop)(lowering *l, uint32_t opener);
  void (*behind)(lowering *l, uint32_t opener);
} recipe;

enum {
#define RECIPE(name) RECIPE_##name,
#include "lower/recipes.def"
  RECIPE_COUNT
};

extern const recipe *const recipe_table[RECIPE_COUNT];
#define RECIPE(name) extern const recipe recipe_##name;
#include "lower/recipes.def"

// ---- building -----------------------------------------------------------------------------------

ref lower_op(lowering *l, const inst *in); // through the recipes
ref promise(lowering *l, inst in);         // the same, in the form of lowered.def

ref lower_un(lowering *l, vyre_op op, ref x);
ref lower_bin(lowering *l, vyre_op op, ref x, ref y);
ref lower_select(lowering *l, ref condition, ref x, ref y);
ref lower_convert(lowering *l, vyre_type type, ref x);
ref lower_bitcast(lowering *l, vyre_type type, ref x);
ref lower_const(lowering *l, vyre_type type, uint64_t bits);
ref lower_float(lowering *l, vyre_type type, double value); // `value` is exact in the type
ref lower_get(lowering *l, vyre_var variable);
vyre_var lower_var(lowering *l, ref first);
void lower_set(lowering *l, vyre_var variable, ref value);
void lower_if(lowering *l, ref condition);
void lower_end(lowering *l);

// ---- looking ------------------------------------------------------------------------------------

vyre_type lower_type(const lowering *l, ref value); // of a value of the new program
bool lower_const_bits(const lowering *l, ref value, uint64_t *bits);
static inline uint64_t type_max(vyre_type type) { // of an integer type, in canonical bits
  return UINT64_MAX >> (64 - type_bits(type)) >> type_is_signed(type);
}

#endif
