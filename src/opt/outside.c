// SPDX-License-Identifier: MIT
//
// Passes from outside of the tree: a registered record becomes a pass of the table like any other,
// whose run goes through an adapter. What a caller hands to the rewriter is checked here, because
// the rewriter itself trusts its passes.
#include <vyre/extend.h>

#include "base/error.h"
#include "base/filename.h"
#include "base/fpenv.h"
#include "opt/rewrite.h"

#include <assert.h>
#include <stdlib.h>

static_assert((int)VYRE_PASS_SCALAR == PASS_FAMILY_SCALAR &&
                  (int)VYRE_PASS_SYNC == PASS_FAMILY_SYNC &&
                  (int)VYRE_PASS_LOOP == PASS_FAMILY_LOOP &&
                  (int)VYRE_PASS_MEMORY == PASS_FAMILY_MEMORY &&
                  (int)VYRE_PASS_FUSION == PASS_FAMILY_FUSION &&
                  (int)VYRE_PASS_DATAFLOW == PASS_FAMILY_DATAFLOW &&
                  (int)VYRE_PASS_MEGAKERNEL == PASS_FAMILY_MEGAKERNEL &&
                  (int)VYRE_PASS_UNKNOWN == PASS_FAMILY_UNKNOWN &&
                  (int)VYRE_PASS_UNKNOWN + 1 == PASS_FAMILY_COUNT,
              "vyre/extend.h has the families too");

enum { MAX_NAME = 31 };

typedef struct outside_pass {
  pass pass; // first: the table has a pointer to it
  vyre_pass given;
} outside_pass;

// ---- registering --------------------------------------------------------------------------------

static vyre_status run_outside(const pass_run *run, vyre_program **out, vyre_error *error) {
  const vyre_pass *given = &((const outside_pass *)run->pass)->given;
  vyre_program *made = NULL;
  vyre_status status = given->run(given->context, run, &made, error);
  bool is_new = status == VYRE_OK && made != run->program;
  if (is_new)
    *out = made;
  else
    vyre_program_release(made);
  return status;
}

static vyre_status check_given(const vyre_pass *given, vyre_error *error) {
  if (!given)
    return error_set(error, VYRE_ERROR_ARGUMENT, "there is no pass. Fix: pass a vyre_pass");
  if (given->size != sizeof *given || given->version != VYRE_EXTEND_VERSION)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "the pass is of version %u and %u bytes, not %d and %zu. Fix: compile it with "
                     "the vyre/extend.h of this library",
                     given->version, given->size, VYRE_EXTEND_VERSION, sizeof *given);
  if (!given->name || !given->summary || !given->never || !given->run)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a pass lacks its name, its texts or its function. Fix: fill all of them");
  if (!filename_is_plain(given->name, MAX_NAME))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "`%.40s` is no name for a pass. Fix: use up to %d lower-case letters, digits, "
                     "`-` and `_`",
                     given->name, MAX_NAME);
  if ((unsigned)given->family >= PASS_FAMILY_COUNT)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "pass `%s` is of family %d. Fix: use one of vyre_pass_family", given->name,
                     (int)given->family);
  return VYRE_OK;
}

vyre_status vyre_pass_register(const vyre_pass *given, vyre_error *error) {
  FPENV_SCOPE;
  vyre_status status = check_given(given, error);
  if (status != VYRE_OK) return status;
  outside_pass *o = calloc(1, sizeof *o);
  if (!o) return error_out_of_memory(error);
  o->given = *given;
  o->pass = (pass){.info = {.name = given->name,
                            .requires = given->needs,
                            .invalidates = given->invalidates,
                            .follows = given->follows,
                            .boundary = given->changes_regions ? PASS_BOUNDARY_REGION_CHANGING
                                                               : PASS_BOUNDARY_ABI_PRESERVING,
                            .family = (pass_family)given->family},
                   .summary = given->summary,
                   .never = given->never,
                   .run = run_outside};
  status = pass_table_add(&o->pass, error);
  if (status != VYRE_OK) free(o);
  return status;
}

// ---- what a run reads ---------------------------------------------------------------------------

const vyre_program *vyre_pass_program(const vyre_pass_run *run) {
  return run ? run->program : NULL;
}

bool vyre_pass_may_change(const vyre_pass_run *run, uint32_t region) {
  return run && region < run->program->region_count && run->selected[region];
}

// ---- rewriting ----------------------------------------------------------------------------------

typedef struct visitor {
  vyre_rewrite_visit visit;
  void *context;
} visitor;

static void call_visit(rewriter *rw, uint32_t index) {
  const visitor *v = rw->context;
  v->visit(v->context, rw, index);
}

static bool visit_body(rewriter *rw) {
  return rewrite_each(rw, call_visit);
}

vyre_status vyre_rewrite_program(const vyre_pass_run *run, vyre_rewrite_visit visit, void *context,
                                 vyre_program **out, vyre_error *error) {
  FPENV_SCOPE;
  if (!run || !visit || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_rewrite_program was called with NULL. Fix: pass a run, a function and "
                     "where the program goes");
  visitor v = {visit, context};
  return rewrite_program(run, visit_body, &v, out, error);
}

// Operations of the region that is being rewritten; others are the pass's mistake.
static bool is_inside(rewriter *rw, uint32_t index) {
  if (!rw) return false;
  if (index >= rw->region->body.first && index < rw->region->body.end) return true;
  builder_fail(
      rw->to, VYRE_ERROR_ARGUMENT,
      "a pass rewrites operation %u, which is not of region `%s`. Fix: pass the index that "
      "the visit was called with",
      index, rw->region->name);
  return false;
}

void vyre_rewrite_keep(vyre_rewrite *rw, uint32_t index) {
  if (is_inside(rw, index)) rewrite_keep(rw, index);
}

void vyre_rewrite_replace(vyre_rewrite *rw, uint32_t index, vyre_value value) {
  if (is_inside(rw, index)) rewrite_replace(rw, index, value);
}

void vyre_rewrite_drop(vyre_rewrite *rw, uint32_t index) {
  if (is_inside(rw, index)) rewrite_drop(rw, index);
}

vyre_builder *vyre_rewrite_builder(vyre_rewrite *rw) {
  return rw ? rw->to : NULL;
}

vyre_value vyre_rewrite_operand(vyre_rewrite *rw, uint32_t operand) {
  if (!rw) return 0;
  uint32_t count = ref_is_const(operand) ? rw->from->const_count : rw->from->code_count;
  return ref_index(operand) < count ? rewrite_ref(rw, operand) : 0;
}
