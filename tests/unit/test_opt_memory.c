// SPDX-License-Identifier: MIT
//
// Memory that runs out while a program is built, counted, specialised or optimised: the golden
// programs of every pass, each pass alone and all together. An error, and nothing is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../memory_sweep.h"
#include "../sample_programs.h"
#include "base/file.h"
#include "ir/stats.h"
#include "opt/passes.h"
#include "opt/specialise.h"
#include "policy/optimize.h"

static void must_be_memory(vyre_status status) {
  if (status != VYRE_OK && status != VYRE_ERROR_MEMORY) fail_msg("status %d", (int)status);
}

// ---- building -----------------------------------------------------------------------------------

static void build(void) {
  vyre_error error = {0};
  vyre_program *p = sample_structure(&error);
  // Without a builder, finishing it is what fails.
  assert_true(p || error.status == VYRE_ERROR_MEMORY || error.status == VYRE_ERROR_ARGUMENT);
  vyre_program_release(p);
}

static void building_survives(void **state) {
  (void)state;
  memory_sweep(build, 5);
}

// ---- one pass at a time -------------------------------------------------------------------------

static vyre_program *program; // the subject
static const char *pass_name; // NULL: all of them

static void optimize(void) {
  const char *const names[] = {pass_name, NULL};
  optimize_options o = {.mode = pass_name ? OPTIMIZE_NAMED : OPTIMIZE_EVERYTHING, .names = names};
  optimize_result result;
  vyre_error error;
  vyre_status status = optimize_program(program, &o, &result, &error);
  must_be_memory(status);
  assert_int_equal(status == VYRE_OK, result.program != NULL);
  optimize_result_fini(&result);
}

static vyre_program *read_golden(const char *name) {
  char path[300], *text = NULL;
  size_t size;
  vyre_error error;
  vyre_program *p = NULL;
  snprintf(path, sizeof path, VYRE_SOURCE_DIR "/tests/golden/opt/%s.vyre", name);
  if (file_read(path, 1 << 20, &text, &size, &error) != VYRE_OK ||
      vyre_program_parse(text, size, path, &p, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  free(text);
  return p;
}

static void passes_survive(void **state) {
  (void)state;
  size_t count;
  const pass *const *passes = pass_table(&count);
  for (size_t i = 0; i < count; i++) {
    pass_name = passes[i]->info.name;
    program = read_golden(pass_name);
    memory_sweep(optimize, 2);
    vyre_program_release(program);
  }
}

static void all_passes_together_survive(void **state) {
  (void)state;
  pass_name = NULL;
  program = read_golden("region_fusion");
  memory_sweep(optimize, 20);
  vyre_program_release(program);
}

// ---- specialising and counting ------------------------------------------------------------------

static void specialise(void) {
  uint64_t params[16] = {4, 5, 6}, lengths[16] = {100, 100, 100};
  vyre_program *made = NULL;
  vyre_error error;
  must_be_memory(specialise_program(program, params, lengths, &made, &error));
  vyre_program_release(made);
  vyre_stats stats;
  must_be_memory(stats_compute_region(program, 0, &stats, &error));
}

static void specialising_survives(void **state) {
  (void)state;
  program = read_golden("licm");
  memory_sweep(specialise, 2);
  vyre_program_release(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(building_survives),
      cmocka_unit_test(passes_survive),
      cmocka_unit_test(all_passes_together_survive),
      cmocka_unit_test(specialising_survives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
