// SPDX-License-Identifier: MIT
//
// Route regret: nine kernels at ten sizes, each through a runtime that chose its backend itself and
// through runtimes that were told which. All paths are the same but for the choice. Each is run
// until it has settled; then they are run in turn, and medians are compared. A path that is far
// from the best after a few rounds cannot matter and is not run on; one that was hopeless and slow
// at one size is not run at the larger ones. Backends that are there for comparison only are run
// and printed; the best is one that could have been chosen. A cell above the bar is measured again,
// because a wrong choice is wrong each time and a disturbance is not; what stays above it prints
// what the runtime has to say. Words of the command line pick kernels and sizes.
#include "backend/backend.h"
#include "bench.h"
#include "parts.h"
#include "workload.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  SIZES = 10,
  ROUNDS = 41,
  FEW_ROUNDS = 5,
  FAR = 3,
  HOPELESS = 30,
  ATTEMPTS = 3,
  ROUTED = 0,
  MAX_PATHS = 5
};
#define ROUND_NS  2000000
#define SETTLE_NS 250000000
#define SLOW_NS   10000000
#define WORST     1.3

static const uint32_t sizes[SIZES] = {1 << 4,  1 << 6,  1 << 8,  1 << 10, 1 << 12,
                                      1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22};

typedef struct paths {
  const char *names[MAX_PATHS]; // of the forced backends; number 0 is routed
  vyre_runtime *runtimes[MAX_PATHS];
  bool is_peer[MAX_PATHS];     // it cannot be chosen
  bool is_hopeless[MAX_PATHS]; // for larger sizes of this kernel
  uint32_t count;
  double log_regret, log_single[MAX_PATHS], worst, worst_over_peers;
  uint32_t cells;
} paths;

typedef struct path {  // of one cell
  vyre_kernel *kernel; // NULL: not run
  uint32_t repeat;
  double samples[ROUNDS];
  uint32_t rounds;
  double median;
} path;

static void open_paths(paths *p) {
  vyre_error error;
  p->names[p->count++] = "routed";
  for (uint32_t i = 0; vyre_backend_name(i) && p->count < MAX_PATHS; i++) {
    uint32_t devices = 0;
    const char *id = vyre_backend_name(i);
    if (strcmp(id, "ref") && vyre_backend_devices(id, NULL, 0, &devices, NULL) == VYRE_OK &&
        devices) {
      p->is_peer[p->count] = !backend_is_contender(id);
      p->names[p->count++] = id;
    }
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

// Learns, and then runs until what comes after learning is over too.
static void settle(vyre_runtime *rt, vyre_kernel *k, const vyre_dispatch_args *args, bool wholly) {
  time_ns(k, args, 4);
  vyre_runtime_settle(rt);
  time_ns(k, args, 4);
  uint64_t end = clock_now_ns() + (wholly ? SETTLE_NS : 0);
  while (clock_now_ns() < end) time_ns(k, args, 1);
  vyre_runtime_settle(rt);
}

static double best_of(const paths *p, const path *of, bool with_peers) {
  double best = 0;
  for (uint32_t i = 1; i < p->count; i++) {
    bool counts = of[i].kernel && (with_peers || !p->is_peer[i]);
    if (counts && (!best || of[i].median < best)) best = of[i].median;
  }
  return best;
}

static void measure_round(const paths *p, path *of, uint32_t round, const workload *w) {
  double best = round >= FEW_ROUNDS ? best_of(p, of, false) : 0;
  for (uint32_t k = 0; k < p->count; k++) {
    uint32_t i = round % 2 ? p->count - 1 - k : k;
    if (!of[i].kernel || (best && i != ROUTED && of[i].median > FAR * best)) continue;
    double sorted[ROUNDS];
    of[i].samples[of[i].rounds++] = time_ns(of[i].kernel, &w->args, of[i].repeat);
    memcpy(sorted, of[i].samples, of[i].rounds * sizeof *sorted);
    of[i].median = median_of(sorted, of[i].rounds);
  }
}

static void explain(vyre_kernel *k) {
  char *text;
  if (vyre_kernel_explain(k, &text, NULL) != VYRE_OK) return;
  fputs(text, stdout);
  vyre_free(text);
}

static void open_cell(paths *p, path *of, const workload *w) {
  vyre_error error;
  double fastest = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    if (p->is_hopeless[i]) continue;
    must(vyre_runtime_load(p->runtimes[i], w->program, &of[i].kernel, &error), &error);
    settle(p->runtimes[i], of[i].kernel, &w->args, false);
    double ns = time_ns(of[i].kernel, &w->args, 2);
    if (!fastest || ns < fastest) fastest = ns;
    if (ns < FAR * fastest) settle(p->runtimes[i], of[i].kernel, &w->args, true);
  }
  for (uint32_t i = 0; i < p->count; i++)
    if (of[i].kernel) of[i].repeat = (uint32_t)(ROUND_NS / time_ns(of[i].kernel, &w->args, 2)) + 1;
}

static double measure_regret(const paths *p, path *of, const workload *w) {
  double regret = 0;
  for (uint32_t attempt = 0; attempt < ATTEMPTS && (!attempt || regret > WORST); attempt++) {
    for (uint32_t i = 0; i < p->count; i++) of[i].rounds = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) measure_round(p, of, round, w);
    regret = of[ROUTED].median / best_of(p, of, false);
  }
  return regret;
}

static void print_cell(const paths *p, const path *of, const workload *w, uint32_t n,
                       double regret) {
  printf("  %-13s %7u", w->name, n);
  for (uint32_t i = 0; i < p->count; i++)
    if (of[i].kernel)
      printf("  %s %9.2f us", p->names[i], of[i].median * 1e-3);
    else
      printf("  %s   hopeless  ", p->names[i]);
  printf("  %5.2f\n", regret);
  if (regret > WORST) {
    explain(of[ROUTED].kernel);
    explain(of[1].kernel);
  }
  fflush(stdout);
}

static void measure_cell(paths *p, uint32_t which, uint32_t n) {
  workload w;
  static path of[MAX_PATHS];
  memset(of, 0, sizeof of);
  workload_init(&w, which, n);
  open_cell(p, of, &w);
  double regret = measure_regret(p, of, &w), best = best_of(p, of, false);
  print_cell(p, of, &w, n, regret);
  p->log_regret += log(regret);
  for (uint32_t i = 1; i < p->count; i++) {
    double over = of[i].kernel ? of[i].median / best : HOPELESS;
    p->log_single[i] += log(over);
    if (over >= HOPELESS && of[i].median > SLOW_NS) p->is_hopeless[i] = true;
  }
  double over_peers = of[ROUTED].median / best_of(p, of, true);
  if (regret > p->worst) p->worst = regret;
  if (over_peers > p->worst_over_peers) p->worst_over_peers = over_peers;
  p->cells++;
  for (uint32_t i = 0; i < p->count; i++) vyre_kernel_free(of[i].kernel);
  workload_fini(&w);
}

static bool is_size(const char *word) {
  return isdigit((unsigned char)*word);
}

static bool is_kernel(const char *word) {
  return !is_size(word);
}

bool part_routes(void) {
  paths p = {0};
  open_paths(&p);
  for (uint32_t which = 0; which < WORKLOADS; which++) {
    memset(p.is_hopeless, 0, sizeof p.is_hopeless);
    for (uint32_t i = 0; i < SIZES; i++) {
      char size[16];
      snprintf(size, sizeof size, "%u", sizes[i]);
      if (is_picked(workload_name(which), is_kernel) && is_picked(size, is_size))
        measure_cell(&p, which, sizes[i]);
    }
  }
  double single = 0;
  p.cells += !p.cells; // nothing picked
  for (uint32_t i = 1; i < p.count; i++) {
    double alone = exp(p.log_single[i] / p.cells);
    printf("  %s alone over the best of each cell: %.2f\n", p.names[i], alone);
    if (!p.is_peer[i] && (!single || alone < single)) single = alone;
  }
  double regret = exp(p.log_regret / p.cells);
  printf(
      "  worst cell %.2f, beside what cannot be chosen %.2f; learned routes over the best single "
      "backend %.3f\n",
      p.worst, p.worst_over_peers, regret / single);
  for (uint32_t i = 0; i < p.count; i++) vyre_runtime_free(p.runtimes[i]);
  bool ok = bench_at_most("learned routes over the best of each cell", regret, 1.05, "x");
  return bench_at_most("the worst cell", p.worst, WORST, "x") && ok;
}
