// SPDX-License-Identifier: MIT
#include "kernels/ways.h"

#include "backend/executable.h"
#include "policy/variant_name.h"

#include <math.h>
#include <stdio.h>

enum { RUNS = 4 };
static const double LONG_NS = 1e8; // once is enough

static vyre_executable *compile(vyre_program *program, variant_passes passes, uint32_t threads,
                                vyre_error *error) {
  optimize_options options = {.mode = passes == PASSES_NONE      ? OPTIMIZE_NOTHING
                                      : passes == PASSES_RELEASE ? OPTIMIZE_SELECTED
                                                                 : OPTIMIZE_EVERYTHING,
                              .profiles = variant_passes_profiles(passes)};
  optimize_result result;
  vyre_executable *out = NULL;
  vyre_compile_options how = {.threads = threads};
  if (optimize_program(program, &options, &result, error) == VYRE_OK &&
      executable_compile(result.program, "cpu", &how, &out, error) != VYRE_OK)
    out = NULL;
  optimize_result_fini(&result);
  return out;
}

static double time_best(ways_timer time, void *context, vyre_executable *e) {
  double best = time(context, e);
  for (int i = 1; i < RUNS && best < LONG_NS; i++) best = fmin(best, time(context, e));
  return best;
}

vyre_executable *ways_fastest(vyre_program *program, uint32_t threads, ways_timer time,
                              void *context, const char *label, vyre_error *error) {
  static const variant_passes ways[] = {PASSES_NONE, PASSES_RELEASE, PASSES_DATAFLOW};
  static const char *const names[] = {"none", "selected", "all"};
  vyre_executable *best = NULL;
  double best_ns = 0;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    vyre_executable *e = compile(program, ways[i], threads, error);
    if (!e) {
      vyre_executable_release(best);
      return NULL;
    }
    double ns = time_best(time, context, e);
    if (label) fprintf(stderr, "%-16s %-10s %10.1f us\n", label, names[i], ns / 1e3);
    bool is_better = !best || ns < best_ns;
    vyre_executable_release(is_better ? best : e);
    if (!is_better) continue;
    best = e;
    best_ns = ns;
  }
  return best;
}
