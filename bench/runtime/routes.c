// SPDX-License-Identifier: MIT
//
// Route regret: nine kernels at ten sizes, each through a runtime that chose its backend itself and
// through runtimes that were told which. All four paths are the same but for the choice; they are
// run in turn, and medians are compared.
#include "bench.h"
#include "parts.h"
#include "workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 10, ROUNDS = 9, ROUTED = 0, MAX_PATHS = 5 };
#define ROUND_NS 400000

static const uint32_t sizes[SIZES] = {1 << 4,  1 << 6,  1 << 8,  1 << 10, 1 << 12,
                                      1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22};

typedef struct paths {
  const char *names[MAX_PATHS]; // of the forced backends; number 0 is routed
  vyre_runtime *runtimes[MAX_PATHS];
  uint32_t count;
  double log_regret, log_single[MAX_PATHS], worst;
  uint32_t cells;
} paths;

static void open_paths(paths *p) {
  vyre_error error;
  p->names[p->count++] = "routed";
  for (uint32_t i = 0; vyre_backend_name(i) && p->count < MAX_PATHS; i++) {
    uint32_t devices = 0;
    const char *id = vyre_backend_name(i);
    if (strcmp(id, "ref") && vyre_backend_devices(id, NULL, 0, &devices, NULL) == VYRE_OK &&
        devices)
      p->names[p->count++] = id;
  }
  for (uint32_t i = 0; i < p->count; i++) {
    vyre_runtime_options o = {.backend = i ? p->names[i] : NULL, .learn_after = 2};
    must(vyre_runtime_new(&o, &p->runtimes[i], &error), &error);
  }
}

static double time_ns(vyre_kernel *k, const vyre_dispatch_args *args, uint32_t repeat) {
  vyre_error error;
  uint64_t begin = clock_now_ns();
  for (uint32_t i = 0; i < repeat; i++) must(vyre_kernel_dispatch(k, args, NULL, &error), &error);
  return (double)(clock_now_ns() - begin) / repeat;
}

static void measure_cell(paths *p, uint32_t which, uint32_t n) {
  workload w;
  vyre_kernel *kernels[MAX_PATHS];
  static double samples[MAX_PATHS][ROUNDS];
  double medians[MAX_PATHS], best = 0;
  vyre_error error;
  workload_init(&w, which, n);
  for (uint32_t i = 0; i < p->count; i++) {
    must(vyre_runtime_load(p->runtimes[i], w.program, &kernels[i], &error), &error);
    time_ns(kernels[i], &w.args, 4);
    vyre_runtime_settle(p->runtimes[i]);
    time_ns(kernels[i], &w.args, 4);
  }
  uint32_t repeat[MAX_PATHS];
  for (uint32_t i = 0; i < p->count; i++)
    repeat[i] = (uint32_t)(ROUND_NS / time_ns(kernels[i], &w.args, 2)) + 1;
  for (uint32_t round = 0; round < ROUNDS; round++)
    for (uint32_t k = 0; k < p->count; k++) {
      uint32_t i = round % 2 ? p->count - 1 - k : k;
      samples[i][round] = time_ns(kernels[i], &w.args, repeat[i]);
    }
  printf("  %-13s %7u", w.name, n);
  for (uint32_t i = 0; i < p->count; i++) {
    medians[i] = median_of(samples[i], ROUNDS);
    if (i && (!best || medians[i] < best)) best = medians[i];
    printf("  %s %9.2f us", p->names[i], medians[i] * 1e-3);
  }
  double regret = medians[ROUTED] / best;
  printf("  %5.2f\n", regret);
  p->log_regret += log(regret);
  for (uint32_t i = 1; i < p->count; i++) p->log_single[i] += log(medians[i] / best);
  if (regret > p->worst) p->worst = regret;
  p->cells++;
  for (uint32_t i = 0; i < p->count; i++) vyre_kernel_free(kernels[i]);
  workload_fini(&w);
}

bool part_routes(void) {
  paths p = {0};
  open_paths(&p);
  for (uint32_t which = 0; which < WORKLOADS; which++)
    for (uint32_t i = 0; i < SIZES; i++) measure_cell(&p, which, sizes[i]);
  double single = 0;
  for (uint32_t i = 1; i < p.count; i++) {
    double alone = exp(p.log_single[i] / p.cells);
    printf("  %s alone over the best of each cell: %.2f\n", p.names[i], alone);
    if (!single || alone < single) single = alone;
  }
  double regret = exp(p.log_regret / p.cells);
  printf("  worst cell %.2f; learned routes over the best single backend %.3f\n", p.worst,
         regret / single);
  for (uint32_t i = 0; i < p.count; i++) vyre_runtime_free(p.runtimes[i]);
  bool ok = bench_at_most("learned routes over the best of each cell", regret, 1.05, "x");
  return bench_at_most("the worst cell", p.worst, 1.3, "x") && ok;
}
