// SPDX-License-Identifier: MIT
//
// The launch shape that the tuner chose, against the best of all candidates when each is measured
// many times. Even rounds choose the best, odd rounds judge both, so that luck does not count.
#include "bench.h"
#include "parts.h"
#include "runtime/sweep.h"
#include "workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 30, WORK = 1 << 16 };

typedef struct totals {
  double log_ratio, worst;
  uint32_t cells, measured, exhaustive;
} totals;

static double run_shape(const sweep_request *r, tune_shape shape) {
  vyre_report report = {0};
  vyre_error error;
  uint32_t axis[3];
  sweep_launch_shape(r->program, shape, axis);
  must(capture_run(r->inputs, r->executable, axis, &report, &error), &error);
  return (double)report.wall_ns;
}

static double judge(const sweep_request *r, const tune_sweep_result *s, tune_shape chosen,
                    const char **best_name) {
  static double samples[2][TUNE_MAX_CANDIDATES + 1][ROUNDS / 2];
  for (uint32_t round = 0; round < ROUNDS; round++)
    for (uint32_t k = 0; k < s->count; k++) {
      uint32_t i = round % 4 / 2 ? s->count - 1 - k : k;
      samples[round % 2][i][round / 2] = run_shape(r, s->rows[i].shape);
    }
  uint32_t best = 0, own = 0;
  double first[TUNE_MAX_CANDIDATES + 1];
  for (uint32_t i = 0; i < s->count; i++) {
    first[i] = median_of(samples[0][i], ROUNDS / 2);
    if (first[i] < first[best]) best = i;
    if (tune_shape_equal(s->rows[i].shape, chosen)) own = i;
  }
  *best_name = s->rows[best].name;
  return median_of(samples[1][own], ROUNDS / 2) / median_of(samples[1][best], ROUNDS / 2);
}

static void measure_cell(totals *t, uint32_t which, const char *backend, const vyre_device *d) {
  workload w;
  capture inputs;
  capture_output expected;
  vyre_executable *executable, *reference;
  vyre_error error, store_error;
  tune_shape chosen;
  tune_sweep_result result;
  const char *best;
  workload_init(&w, which, WORK);
  must(vyre_compile(w.program, backend, NULL, &executable, &error), &error);
  must(vyre_compile(w.program, "ref", NULL, &reference, &error), &error);
  if (capture_take(&inputs, w.program, &w.args) != CAPTURE_TAKEN) exit(2);
  must(capture_run(&inputs, reference, NULL, NULL, &error), &error);
  if (!capture_keep(&inputs, &expected)) exit(2);
  tuner *shapes = tuner_new(d->adapter, TUNE_ON, NULL);
  sweep_request r = {.program = w.program,
                     .inputs = &inputs,
                     .expected = &expected,
                     .executable = executable,
                     .device = d};
  must(sweep_run(&r, shapes, &result, &chosen, &store_error, &error), &error);
  double ratio = judge(&r, &result, chosen, &best);
  uint32_t measured = 0;
  for (uint32_t i = 0; i < result.count; i++) measured += result.trials[i].sample_count + 2;
  printf("  %-13s %-7s %2u candidates, chose %ux%ux%u, best %s: %.3f, %u runs\n", w.name, backend,
         result.count, chosen.axis[0], chosen.axis[1], chosen.axis[2], best, ratio, measured);
  t->log_ratio += log(ratio);
  if (ratio > t->worst) t->worst = ratio;
  t->cells++;
  t->measured += measured;
  t->exhaustive += result.count * ROUNDS;
  tune_sweep_free(&result);
  tuner_free(shapes);
  capture_output_fini(&expected);
  capture_fini(&inputs);
  vyre_executable_release(reference);
  vyre_executable_release(executable);
  workload_fini(&w);
}

bool part_tuner(void) {
  static const char *const backends[] = {"cpu", "opencl"};
  totals t = {0};
  for (int b = 0; b < 2; b++) {
    vyre_device device;
    uint32_t count = 0;
    if (vyre_backend_devices(backends[b], &device, 1, &count, NULL) != VYRE_OK || !count) continue;
    for (uint32_t which = 0; which < WORKLOADS; which++)
      measure_cell(&t, which, backends[b], &device);
  }
  printf("  %u runs where the exhaustive search took %u; worst cell %.3f\n", t.measured,
         t.exhaustive, t.worst);
  return bench_at_most("chosen shape over the best of all", exp(t.log_ratio / t.cells), 1.05, "x");
}
