// SPDX-License-Identifier: MIT
#include "conform/sweep.h"

#include "backend/backend.h"
#include "base/error.h"
#include "conform/generate.h"
#include "conform/idioms.h"
#include "conform/shapes.h"
#include "ir/limits.h"
#include "opt/scheduler.h"
#include "opt/relax.h"
#include "opt/specialise.h"

#include <stdio.h>
#include <stdlib.h>

// ---- cases --------------------------------------------------------------------------------------

static void choose_run(random_state *r, sweep_run *how) {
  static const uint32_t widths[] = {8, 8, 4, 16, 1, 2, 32, 0}, threads[] = {1, 1, 2, 2, 7};
  how->options.optimize = VYRE_OPTIMIZE_NONE; // passes are applied here
  how->options.vector_width = widths[random_below(r, 8)];
  how->options.threads = threads[random_below(r, 5)];
  how->options.tier = random_chance(r, 50) ? VYRE_TIER_QUICK : VYRE_TIER_FULL;
  how->is_optimised = random_chance(r, 35);
  how->is_specialised = random_chance(r, 25);
  how->has_time_limit = random_chance(r, 30);
}

vyre_status sweep_make(const sweep_options *options, sweep_case *out, vyre_error *error) {
  uint64_t seed = options->seed;
  random_state r = {seed * 0xa0761d6478bd642fu + 0xe7037ed1a0b428dbu};
  *out = (sweep_case){.kind = "random"};
  choose_run(&r, &out->how);
  bool is_other = random_chance(&r, 50), is_idiom = random_chance(&r, 33);
  if (options->is_only || (options->has_shapes && !is_other)) {
    shapes_options o = {.seed = seed, .kinds = options->kinds};
    uint32_t kind = 0;
    vyre_status status = shapes_trial(&o, &out->trial, &kind, error);
    out->kind = shapes_name(kind);
    return status;
  }
  if (is_idiom) {
    out->kind = "idiom";
    return idioms_trial(seed, &out->trial, error);
  }
  generate_options o = {.seed = seed, .with_math = random_chance(&r, 12)};
  if (random_chance(&r, 12)) o.fast_ulp = 1u << random_below(&r, 3);
  o.size = 5 + random_below(&r, 8);
  return generate_trial(&o, &out->trial, error);
}

void sweep_describe(const sweep_run *how, char *text, size_t size) {
  snprintf(text, size, "width %u, threads %u, %s%s%s%s", how->options.vector_width,
           how->options.threads, how->options.tier == VYRE_TIER_QUICK ? "quick" : "full",
           how->is_optimised ? ", optimised" : "", how->is_specialised ? ", specialised" : "",
           how->has_time_limit ? ", with a time limit" : "");
}

// ---- running ------------------------------------------------------------------------------------

// The trial's program as the runtime would hand it to the backend; a new reference.
static vyre_status prepare(const trial *t, const sweep_run *how, vyre_program **out,
                           vyre_error *error) {
  vyre_program *exact, *special = NULL;
  uint64_t params[LIMIT_PARAMS], lengths[LIMIT_BUFFERS];
  for (uint32_t i = 0; i < t->param_count; i++) params[i] = t->params[i].bits;
  vyre_status status = relax_program(t->program, &exact, error);
  if (status != VYRE_OK) return status;
  if (how->is_specialised && trial_extents(t, lengths, NULL))
    status = specialise_program(exact, params, lengths, &special, error);
  else
    special = vyre_program_retain(exact);
  vyre_program_release(exact);
  if (status != VYRE_OK) return status;
  opt_plan plan = {.caps = UINT32_MAX};
  if (how->is_optimised) plan.passes = pass_table(&plan.pass_count);
  if (how->is_optimised)
    status = opt_run(special, &plan, NULL, NULL, out, error);
  else
    *out = vyre_program_retain(special);
  vyre_program_release(special);
  return status;
}

// Threads do not meet at the same place each time.
enum { DISPATCHES_TOGETHER = 8 };

static bool compare_sides(const trial *t, const sweep_run *how, vyre_executable *made,
                          const outcome *expected, difference *out) {
  trial_limits limits = {.timeout_ns = how->has_time_limit ? COMPARE_TIMEOUT_NS : 0};
  int count = how->options.threads > 1 ? DISPATCHES_TOGETHER : FENCE_SIDES;
  *out = (difference){.verdict = SAME};
  for (int i = 0; i < count && out->verdict == SAME; i++) {
    outcome found;
    if (!trial_dispatch(t, made, (fence_side)(i % FENCE_SIDES), limits, &found)) return false;
    compare_outcomes(t, expected, &found, out);
    outcome_fini(&found);
  }
  return true;
}

bool sweep_compare(const trial *t, const sweep_run *how, difference *out) {
  outcome expected, found = {.overrun = -1};
  if (!trial_run(t, NULL, backend_oracle()->id, NULL, (trial_limits){.fuel = SWEEP_FUEL},
                 &expected))
    return false;
  vyre_program *program = NULL;
  vyre_executable *made = NULL;
  bool ok = true;
  found.status = prepare(t, how, &program, &found.error);
  if (found.status == VYRE_OK)
    found.status = vyre_compile(program, backend_usual()->id, &how->options, &made, &found.error);
  if (found.status == VYRE_OK)
    ok = compare_sides(t, how, made, &expected, out);
  else
    compare_outcomes(t, &expected, &found, out);
  vyre_executable_release(made);
  vyre_program_release(program);
  outcome_fini(&expected);
  return ok;
}
