// SPDX-License-Identifier: MIT
//
// Checks that hold for a whole stretch of a row. The body is lowered twice: once as it stands, and
// once under assumptions (indices inside, conditions on ids that hold for all, conversions that
// lose nothing). Before a row, code computes the stretch of x for which all of the assumptions
// hold.
//
// An assumption is about integers of the form stride * x + [lo, hi], where all three are computed
// before the row from what is the same along it, and cover all iterations of the loops around. Such
// a form is exact: the value is congruent to it modulo its width, and equal to it where that
// matters, which is then one of the conditions.
#ifndef VYRE_BACKEND_CPU_CODEGEN_GUARD_H
#define VYRE_BACKEND_CPU_CODEGEN_GUARD_H

#include "backend/cpu/codegen/emit.h"

typedef struct form {
  int64_t stride;  // when it is a constant
  bool is_runtime; // it is not: `step` is it
  llval step;      // i64
  llval lo, hi;    // i64
  double bound;    // of |lo| and |hi|, for all dispatches
  bool is_point;   // lo is hi
} form;

static inline bool form_moves(const form *f) {
  return f->stride || f->is_runtime;
}

// How a value comes to its form.
enum { UNKNOWN, NO_FORM, HAS_FORM, HAS_RANGE }; // HAS_RANGE: a static range is all that is known

typedef struct guards {
  kernel *k;
  unsigned rows;         // jammed
  uint8_t *assume;       // per operation of the body
  uint8_t *state;        // per operation: whether it has a form
  form *forms;           // per operation, in this row
  bool *is_known;        // whether `forms` has it
  bool *is_fixed;        // per operation: the same along the row, from the launch alone
  bool *is_set;          // per variable: changes after its declaration
  const bool *is_common; // per operation: the workgroup has computed it; NULL without barriers
  const phases *phases;  // NULL without barriers
  uint8_t *record;       // per access: elements of a record that it steps over, 0: none
  uint8_t *field;        // and its place in there
  uint32_t count;        // assumptions
  uint32_t conditions, accesses;
  emitter *scalar; // computes what is fixed, before the row
  llval low, high; // low <= x < high, so far
  llval bad;       // i1, or NULL: something fails for the whole row
  llval x0, x1;
  // While the stretch is computed outside of which nothing happens.
  bool is_gating;
  llval type_low, type_high; // where forms are values
  llval never;               // i1, or NULL: the condition fails for the whole row
} guards;

// Chooses what to assume in the body; `count` is 0 when there is nothing. `phases` is
// NULL without barriers. False: out of memory.
// With `other`, conditions are assumed the other way where that is possible.
typedef struct guards_wish {
  const phases *phases;
  unsigned rows; // jammed
  bool other;
} guards_wish;
bool guards_plan(kernel *k, const shapes *shapes, guards_wish wish, guards *out);
// Whether two plans differ in exactly one condition of this part of the body.
bool guards_differ(const guards *x, const guards *y, range code);
// Emits the computation: the assumptions hold for *first <= x < *end.
void guards_emit(guards *g, range code, emitter *scalar, llval x0, llval x1, llval *first,
                 llval *end);

// A part of the body that does nothing unless one condition on ids holds: cuts the row to the
// stretch in which it can hold, in steps of `width`. `kept` says what lives beyond this part; NULL:
// nothing.
void guards_gate(guards *g, range code, const bool *kept, unsigned width, emitter *scalar,
                 llval *x0, llval *x1);

// The index of an access that is assumed inside, as i64: of the first lane for scalar indices, of
// any for those that can be computed from x alone.
llval guards_index(const guards *g, const emitter *e, ref index, unsigned row, unsigned lane);
bool guards_can_index(const guards *g, ref index); // from x alone

// Between guard.c (forms and conditions on them) and guard_plan.c (what to assume).
bool guards_form(guards *g, ref r, form *out); // false when it has none
// A constant that a sum takes as negative, because it is unsigned and wraps.
bool guards_negative_term(const guards *g, ref r, int64_t *value);
llval guards_fixed(guards *g, ref r); // a value that is the same along the row
// The conditions, for the stretch that is being computed; without effect in a plan.
void guards_require_type(guards *g, const form *f, vyre_type type); // the form is the value
void guards_require_range(guards *g, const form *f, llval least, llval most);
void guards_require_order(guards *g, const form *x, const form *y, bool or_equal); // x < y
void guards_require_unequal(guards *g, const form *x, const form *y);
void guards_require(guards *g, llval condition); // for the whole row

#endif
