// SPDX-License-Identifier: MIT
//
// Pass selection against the figures of the Rust original on a machine like this: 10 to 16 us for
// 64 passes, 131 us for 256, 16 ms for a chain of 256 requirements. The original resolves names at
// each call, so the bars are for making the index and selecting; a compile that keeps the index
// pays only the second figure. Exit status 1 when a bar is missed.
#include "bench.h"
#include "policy/select.h"

#include <stdlib.h>

enum { MOST = 256 };

typedef struct job {
  const pass_info *pointers[MOST];
  pass_info passes[MOST];
  const char *requires[MOST][3];
  char names[MOST + 1][24];
  size_t count;
  select_input input;
  select_index *index;
  select_decision decisions[MOST];
  uint64_t selected;
} job;

static void add(job *j, size_t i, pass_family family, size_t need, bool needs) {
  j->requires[i][0] = needs ? j->names[need] : NULL;
  j->passes[i] = (pass_info){.name = j->names[i],
                             .requires = j->requires[i],
                             .family = family};
  j->pointers[i] = &j->passes[i];
}

static void prepare(job *j, size_t count, bool chain) {
  static vyre_stats stats = {.node_count = 20, .top_level_regions = 1, .peak_memory_bytes = 4096};
  *j = (job){.count = count};
  for (size_t i = 0; i <= count; i++) snprintf(j->names[i], sizeof *j->names, "pass_%zu", i);
  for (size_t i = 0; i < count; i++) {
    // The chain is selected at its end and has to be followed to its beginning.
    if (chain)
      add(j, i, i + 1 == count ? PASS_FAMILY_SCALAR : PASS_FAMILY_MEMORY, i ? i - 1 : 0, i > 0);
    else
      add(j, i, (pass_family)(i % PASS_FAMILY_COUNT), i / 2, i % 3 == 0);
  }
  j->input = (select_input){.profiles = PASS_PROFILE_RELEASE, .stats = &stats, .op_id = "op"};
  j->input.hints = hints_new(NULL);
  j->index = select_index_new(j->pointers, count);
  if (!j->index || !j->input.hints) exit(2);
}

static void finish(job *j) {
  select_index_free(j->index);
  hints_free((hints *)j->input.hints);
}

static void run_indexed(void *context, uint64_t count) {
  job *j = context;
  for (uint64_t i = 0; i < count; i++) {
    if (!select_passes(j->index, &j->input, j->decisions)) exit(2);
    j->selected += j->decisions[i % j->count].selected;
  }
}

static void run_whole(void *context, uint64_t count) {
  job *j = context;
  for (uint64_t i = 0; i < count; i++) {
    select_index *index = select_index_new(j->pointers, j->count);
    if (!index || !select_passes(index, &j->input, j->decisions)) exit(2);
    j->selected += j->decisions[i % j->count].selected;
    select_index_free(index);
  }
}

static bool measure(job *j, const char *what, size_t count, bool chain, double original_ns,
                    double factor) {
  char line[64];
  prepare(j, count, chain);
  snprintf(line, sizeof line, "%s, index and selection", what);
  bool ok = bench_faster(line, bench_ns(run_whole, j, 2000, 20), original_ns, factor);
  snprintf(line, sizeof line, "%s, selection alone", what);
  bench_faster(line, bench_ns(run_indexed, j, 2000, 20), original_ns, 0);
  finish(j);
  return ok;
}

int main(void) {
  job *j = malloc(sizeof *j);
  if (!j) return 2;
  bool ok = measure(j, "64 passes", 64, false, 10000, 5);
  ok &= measure(j, "256 passes", 256, false, 131000, 0);
  ok &= measure(j, "chain of 256", 256, true, 16000000, 100);
  free(j);
  return ok ? 0 : 1;
}
