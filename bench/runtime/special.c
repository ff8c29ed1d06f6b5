// SPDX-License-Identifier: MIT
//
// Specialised variants may gain and must not lose: eight kernels through a runtime that specialises
// and through one that does not, in short turns; the ratio of their medians. What misses the bar is
// measured again, because a loss is there each time and a disturbance is not. Words of the command
// line pick kernels.
#include "bench.h"
#include "parts.h"
#include "workload.h"

#include <string.h>

enum { KERNELS = 8, SIZE = 1 << 16, ROUNDS = 101, SETTLING = 5, ATTEMPTS = 3 };
#define ROUND_NS  2000000
#define SETTLE_NS 300000000
#define BAR       0.98

static double time_ns(vyre_kernel *k, const vyre_dispatch_args *args, uint64_t least_ns) {
  vyre_error error;
  uint32_t count = 0;
  uint64_t begin = clock_now_ns(), now;
  do {
    must(vyre_kernel_dispatch(k, args, NULL, &error), &error);
    count++;
    now = clock_now_ns();
  } while (now - begin < least_ns);
  return (double)(now - begin) / count;
}

static void explain(vyre_kernel *k) {
  char *text;
  if (vyre_kernel_explain(k, &text, NULL) != VYRE_OK) return;
  fputs(text, stdout);
  vyre_free(text);
}

// How many times faster the second is.
static double compare(vyre_kernel *const kernels[2], const vyre_dispatch_args *args) {
  double samples[2][ROUNDS];
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < 2; k++) {
      int i = round % 2 ? 1 - k : k;
      samples[i][round] = time_ns(kernels[i], args, ROUND_NS);
    }
  double without = median_of(samples[0], ROUNDS), with = median_of(samples[1], ROUNDS);
  printf("  without %.2f us, with %.2f us\n", without * 1e-3, with * 1e-3);
  return without / with;
}

static bool measure(uint32_t which) {
  workload w;
  vyre_runtime *runtimes[2];
  vyre_kernel *kernels[2];
  double gain = 0;
  vyre_error error;
  workload_init(&w, which, SIZE);
  for (int i = 0; i < 2; i++) {
    vyre_runtime_options o = {.backend = "cpu", .specialise = i, .no_store = true};
    must(vyre_runtime_new(&o, &runtimes[i], &error), &error);
    must(vyre_runtime_load(runtimes[i], w.program, &kernels[i], &error), &error);
    for (int n = 0; n < SETTLING; n++) {
      (void)time_ns(kernels[i], &w.args, SETTLE_NS);
      vyre_runtime_settle(runtimes[i]);
    }
  }
  for (int n = 0; n < ATTEMPTS && gain < BAR; n++) gain = compare(kernels, &w.args);
  char what[80];
  snprintf(what, sizeof what, "%s: without over with", w.name);
  bool ok = bench_at_least(what, gain, BAR, "x");
  for (int i = 0; i < 2 && !ok; i++) explain(kernels[i]);
  for (int i = 0; i < 2; i++) vyre_runtime_free(runtimes[i]);
  workload_fini(&w);
  return ok;
}

static bool is_any(const char *word) {
  (void)word;
  return true;
}

bool part_special(void) {
  bool ok = true;
  for (uint32_t i = 0; i < KERNELS; i++)
    if (is_picked(workload_name(i), is_any)) ok &= measure(i);
  return ok;
}
