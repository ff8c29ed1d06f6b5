// SPDX-License-Identifier: MIT
//
// Removes what nobody looks at: values that are not used, variables that are not read together with
// what sets them, private arrays that are not loaded together with what stores to them, and blocks
// that are left empty. Stores to memory that others see, atomics, barriers and jumps are needed for
// what they do; a while is kept, because removing it could make a program end that does not.
#include "opt/passes.h"

#include "ir/needed.h"
#include "opt/rewrite.h"

static bool body(rewriter *rw) {
  range all = rw->region->body;
  const bool *is_needed = needed_find(rw->scratch, rw->from, rw->region);
  for (uint32_t i = all.first; is_needed && i < all.end; i++) {
    if (is_needed[i - all.first])
      rewrite_keep(rw, i);
    else
      rewrite_drop(rw, i);
  }
  return is_needed != NULL;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_dce = {
    .info = {.name = "dce",
             .invalidates = (const char *const[]){"promote_variables", "if_simplify", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "remove values, variables, arrays and blocks that nobody looks at",
    .never = "remove stores that others see, atomics, barriers, jumps, or a while",
    .run = run,
};
