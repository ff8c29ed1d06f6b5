// SPDX-License-Identifier: MIT
//
// Specialised variants may gain and must not lose: eight kernels through a runtime that specialises
// and through one that does not, in turn; the ratio of their fastest dispatches, which are those
// that nothing else on the machine disturbed.
#include "bench.h"
#include "parts.h"
#include "workload.h"

#include <string.h>

enum { KERNELS = 8, SIZE = 1 << 16, ROUNDS = 11 };
#define ROUND_NS 20000000

// The fastest dispatch of a round.
static double time_ns(vyre_kernel *k, const vyre_dispatch_args *args) {
  vyre_error error;
  uint64_t begin = clock_now_ns(), before = begin, now, best = UINT64_MAX;
  do {
    must(vyre_kernel_dispatch(k, args, NULL, &error), &error);
    now = clock_now_ns();
    if (now - before < best) best = now - before;
    before = now;
  } while (now - begin < ROUND_NS);
  return (double)best;
}

static bool measure(uint32_t which) {
  workload w;
  vyre_runtime *runtimes[2];
  vyre_kernel *kernels[2];
  double best[2] = {0, 0};
  vyre_error error;
  workload_init(&w, which, SIZE);
  for (int i = 0; i < 2; i++) {
    vyre_runtime_options o = {.backend = "cpu", .specialise = i, .no_store = true};
    must(vyre_runtime_new(&o, &runtimes[i], &error), &error);
    must(vyre_runtime_load(runtimes[i], w.program, &kernels[i], &error), &error);
    for (int n = 0; n < 5; n++) {
      (void)time_ns(kernels[i], &w.args);
      vyre_runtime_settle(runtimes[i]);
    }
  }
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < 2; k++) {
      int i = round % 2 ? 1 - k : k;
      double ns = time_ns(kernels[i], &w.args);
      if (!round || ns < best[i]) best[i] = ns;
    }
  double gain = best[0] / best[1];
  char what[80];
  snprintf(what, sizeof what, "%s: without over with", w.name);
  for (int i = 0; i < 2; i++) vyre_runtime_free(runtimes[i]);
  workload_fini(&w);
  return bench_at_least(what, gain, 0.98, "x");
}

bool part_special(void) {
  bool ok = true;
  for (uint32_t i = 0; i < KERNELS; i++) ok &= measure(i);
  return ok;
}
