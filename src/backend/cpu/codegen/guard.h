// SPDX-License-Identifier: MIT
//
// Checks that hold for a whole stretch of a row. The body is lowered twice: once as it stands, and
// once under assumptions (indices inside, conditions on ids that hold for all, conversions that
// lose nothing). Before a row, code computes the stretch of x for which all of the assumptions
// hold.
//
// An assumption is about integers of the form stride * x + [lo, hi], where lo and hi are computed
// before the row from what is the same along it, and cover all iterations of the loops around. Such
// a form is exact: the value is congruent to it modulo its width, and equal to it where that
// matters, which is then one of the conditions.
#ifndef VYRE_BACKEND_CPU_CODEGEN_GUARD_H
#define VYRE_BACKEND_CPU_CODEGEN_GUARD_H

#include "backend/cpu/codegen/emit.h"

typedef struct form {
  int64_t stride;
  llval lo, hi;  // i64
  double bound;  // of |lo| and |hi|, for all dispatches
  bool is_point; // lo is hi
} form;

// How a value comes to its form.
enum { UNKNOWN, NO_FORM, HAS_FORM, HAS_RANGE }; // HAS_RANGE: a static range is all that is known

typedef struct guards {
  kernel *k;
  unsigned rows;   // jammed
  uint8_t *assume; // per operation of the body
  uint8_t *state;  // per operation: whether it has a form
  form *forms;     // per operation, in this row
  bool *is_known;  // whether `forms` has it
  bool *is_fixed;  // per operation: the same along the row, from the launch alone
  bool *is_set;    // per variable: changes after its declaration
  uint8_t *record; // per access: elements of a record that it steps over, 0: none
  uint8_t *field;  // and its place in there
  uint32_t count;  // assumptions
  uint32_t conditions, accesses;
  emitter *scalar; // computes what is fixed, before the row
  llval low, high; // low <= x < high, so far
  llval bad;       // i1, or NULL: something fails for the whole row
  llval x0, x1;
} guards;

// Chooses what to assume in the body; `count` is 0 when there is nothing. `phases` is
// NULL without barriers. False: out of memory.
bool guards_plan(kernel *k, const shapes *shapes, const phases *phases, unsigned rows, guards *out);
// Emits the computation: the assumptions hold for *first <= x < *end.
void guards_emit(guards *g, range code, emitter *scalar, llval x0, llval x1, llval *first,
                 llval *end);

// The index of an access that is assumed inside, as i64. Scalar indices only.
llval guards_index(const guards *g, const emitter *e, ref index, unsigned row);

// Between guard.c (forms and conditions on them) and guard_plan.c (what to assume).
bool guards_form(guards *g, ref r, form *out); // false when it has none
llval guards_fixed(guards *g, ref r);          // a value that is the same along the row
// The conditions, for the stretch that is being computed; without effect in a plan.
void guards_require_type(guards *g, const form *f, vyre_type type); // the form is the value
void guards_require_range(guards *g, const form *f, llval least, llval most);
void guards_require_order(guards *g, const form *x, const form *y, bool or_equal); // x < y
void guards_require_unequal(guards *g, const form *x, const form *y);
void guards_require(guards *g, llval condition); // for the whole row

#endif
