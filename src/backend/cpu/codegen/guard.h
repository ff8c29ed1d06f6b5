// SPDX-License-Identifier: MIT
//
// Checks that hold for a whole stretch of a row. The body is lowered twice: once as it stands, and
// once under assumptions (indices inside, conditions on ids that hold for all, conversions that
// lose nothing). Before a row, code computes the stretch of x for which all of the assumptions
// hold, by the calculus of analysis/stretch.h; nothing else here decides that a check may go.
//
// guard.c finds the forms of a program's values, guard_plan.c what to assume, guard_index.c how an
// index that is inside is computed. Planning and emitting walk the same functions: a plan is a run
// with a machine that makes nothing.
#ifndef VYRE_BACKEND_CPU_CODEGEN_GUARD_H
#define VYRE_BACKEND_CPU_CODEGEN_GUARD_H

#include "analysis/stretch.h"
#include "backend/cpu/codegen/emit.h"

// How a value comes to its form.
enum { UNKNOWN, NO_FORM, HAS_FORM, HAS_RANGE }; // HAS_RANGE: a static range is all that is known

enum { MOST_ROWS = 8 }; // that are jammed

typedef struct guards {
  kernel *k;
  unsigned rows;         // jammed
  uint8_t *assume;       // per operation of the body
  uint8_t *state;        // per operation: whether it has a form
  form *forms;           // per operation, in this row
  bool *is_known;        // whether `forms` has it
  uint8_t *steps;        // per operation: how many it takes to follow its form
  word *shift;           // per widening conversion: what it is more than its operand's index
  bool *is_second;       // per min and max: it is the second operand where it has a form
  bool *is_followed;     // per widening conversion: `shift` says it all
  bool *is_fixed;        // per operation: the same along the row, from the launch alone
  bool *is_set;          // per variable: changes after its declaration
  const bool *is_common; // per operation: the workgroup has computed it; NULL without barriers
  const phases *phases;  // NULL without barriers
  uint8_t *record;       // per access: elements of a record that it steps over, 0: none
  uint8_t *field;        // and its place in there
  uint32_t count;        // assumptions
  uint32_t conditions, accesses;
  emitter *scalar; // computes what is fixed, before the row; NULL while planning
  machine m;
  calculus c; // over `m`, of the row that is being looked at
} guards;

// Chooses what to assume in the body; `count` is 0 when there is nothing. `phases` is
// NULL without barriers. False: out of memory.
// With `other`, conditions are assumed the other way where that is possible.
typedef struct guards_wish {
  const phases *phases;
  unsigned rows; // jammed
  bool other;
  const uint8_t *given; // what is assumed already, per operation, or NULL
} guards_wish;
bool guards_plan(kernel *k, const shapes *shapes, guards_wish wish, guards *out);
// For a plan of one's own: makes room, with nothing assumed and nothing fixed; and drops what is
// assumed inside in this part of the body but has no form. False: out of memory, nothing is left.
bool guards_prepare(kernel *k, guards_wish wish, guards *out);
bool guards_keep_formed(guards *g, range code);
// Whether two plans differ in exactly one condition of this part of the body.
bool guards_differ(const guards *x, const guards *y, range code);
// Emits the computation: the assumptions hold for *first <= x < *end, a part of x0 <= x < x1 or
// nothing.
void guards_emit(guards *g, range code, emitter *scalar, llval x0, llval x1, llval *first,
                 llval *end);

// A part of the body that does nothing unless one condition on ids holds: cuts the row to the
// stretch in which it can hold, in steps of `width`. `kept` says what lives beyond this part; NULL:
// nothing.
void guards_gate(guards *g, range code, const bool *kept, unsigned width, emitter *scalar,
                 llval *x0, llval *x1);

// guard_loop.c: before a loop that all lanes count alike, whether accesses in it are inside in all
// of its turns (i1), and which ones, as `emitter.proven` has them; NULL where nothing is worth
// asking.
typedef struct loop_ends {
  llval from, end; // i64, extended by the counter's type; from < end
} loop_ends;
llval guards_loop(emitter *e, uint32_t loop, loop_ends ends, const uint8_t **proven);

// An index that may be anywhere in more elements than buffers have, such as the counter of a loop
// whose bounds were loaded: it would never be assumed with success.
static inline bool form_is_hopeless(form f) {
  const uint64_t most = (uint64_t)1 << 30;
  return word_is_known(f.spread) && f.spread.lo >= most;
}

// guard.c: forms of values. Of a row, which must have begun.
void guards_begin(guards *g, emitter *scalar, llval x0, llval x1); // NULLs: to plan
bool guards_form(guards *g, ref r, form *out);                     // false when it has none
llval guards_fixed(guards *g, ref r); // a value that is the same along the row
bool guards_is_fixed(const guards *g, ref r);
int64_t guards_constant(const guards *g, ref r); // as forms have it: the closest to 0

// guard_index.c: the index of an access that is assumed inside, as i64: of the first lane for
// scalar indices, of any for those that can be computed from x alone.
llval guards_index(const guards *g, const emitter *e, ref index, unsigned row, unsigned lane);
bool guards_can_index(const guards *g, const emitter *e, ref index); // from x alone
// How much more guards_index gives for the next value of a loop's counter; false: not a constant.
bool guards_step(const guards *g, const emitter *e, ref index, uint32_t loop, int64_t *step);

#endif
