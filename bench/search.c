// SPDX-License-Identifier: MIT
//
// Searches replayed on recorded spaces: how near the best of a space the best that was found is,
// after 25, 50, 100 and 200 evaluations, for every strategy, from nothing and with the times of
// other devices. VYRE_SPACES names the folder of the spaces (kernel-device.csv); without it the
// bench is skipped. Arguments: how many seeds (100), and names of strategies.
#include "base/file.h"
#include "base/pool.h"
#include "bench.h"
#include "policy/recorded.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS = 4, MOST_SPACES = 64, MOST_SEEDS = 1000, MOST_BYTES = 64 << 20 };
static const uint32_t marks[MARKS] = {25, 50, 100, 200};
static const double bars[MARKS] = {0.86, 0.91, 0.96, 0.99};
static const double TRANSFER_BAR = 0.96, ASK_BAR_MS = 5;

typedef struct bench_space {
  char name[128];
  recorded recorded;
} bench_space;

static bench_space spaces[MOST_SPACES];
static uint32_t space_count;

static int by_name(const void *a, const void *b) {
  return strcmp(((const bench_space *)a)->name, ((const bench_space *)b)->name);
}

static bool load(const char *folder) {
  DIR *d = opendir(folder);
  if (!d) return false;
  for (struct dirent *e; (e = readdir(d)) && space_count < MOST_SPACES;) {
    const char *end = strrchr(e->d_name, '.');
    char path[512], *text;
    size_t size;
    vyre_error error;
    bench_space *s = &spaces[space_count];
    if (!end || strcmp(end, ".csv")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    snprintf(s->name, sizeof s->name, "%.*s", (int)(end - e->d_name), e->d_name);
    if (file_read(path, MOST_BYTES, &text, &size, &error) != VYRE_OK) continue;
    if (recorded_parse(text, size, path, &s->recorded, &error) == VYRE_OK)
      space_count++;
    else
      printf("%s\n", error.message);
    free(text);
  }
  closedir(d);
  qsort(spaces, space_count, sizeof *spaces, by_name);
  return space_count > 0;
}

typedef struct job {
  const bench_space *space;
  search_options options;
  double found[MOST_SEEDS][MARKS];
} job;

static bool run_seeds(void *context, uint64_t from, uint64_t to) {
  job *j = context;
  for (uint64_t seed = from; seed < to; seed++) {
    double curve[200];
    search_options options = j->options;
    options.seed = seed + 1;
    uint32_t count = recorded_replay(&j->space->recorded, &options, marks[MARKS - 1], curve, NULL);
    for (int i = 0; i < MARKS; i++)
      j->found[seed][i] = count ? curve[(marks[i] < count ? marks[i] : count) - 1] : 0;
  }
  return true;
}

static void measure(const bench_space *s, const search_options *options, uint32_t seeds,
                    double mean[MARKS]) {
  static job j;
  j.space = s;
  j.options = *options;
  (void)pool_run(pool_cpu_count(), seeds, 1, run_seeds, &j);
  for (int i = 0; i < MARKS; i++) {
    mean[i] = 0;
    for (uint32_t k = 0; k < seeds; k++) mean[i] += j.found[k][i] / seeds;
  }
}

static void print_row(const char *what, const double *found) {
  printf("  %-32s", what);
  for (int i = 0; i < MARKS; i++) printf("  %.3f", found[i]);
  putchar('\n');
  fflush(stdout);
}

// "convolution" of "convolution-A100"
static bool is_same_kernel(const bench_space *a, const bench_space *b) {
  size_t size = strcspn(a->name, "-");
  return a != b && strcspn(b->name, "-") == size && !memcmp(a->name, b->name, size);
}

static uint32_t gather_priors(const bench_space *s, search_options *options) {
  vyre_error error;
  for (uint32_t i = 0; i < space_count && options->prior_count < SEARCH_PRIORS; i++) {
    double *times;
    if (!is_same_kernel(s, &spaces[i])) continue;
    if (recorded_times(&spaces[i].recorded, &s->recorded.space, spaces[i].name, &times, &error))
      continue;
    options->priors[options->prior_count++] = times;
  }
  return options->prior_count;
}

static bool bench_strategy(search_strategy strategy, bool has_priors, uint32_t seeds) {
  double all[MARKS] = {0};
  uint32_t count = 0;
  printf("%s%s\n", search_strategy_name(strategy), has_priors ? ", with other devices' times" : "");
  for (uint32_t k = 0; k < space_count; k++) {
    double found[MARKS];
    search_options options = {.strategy = strategy};
    if (has_priors && !gather_priors(&spaces[k], &options)) continue;
    measure(&spaces[k], &options, seeds, found);
    for (uint32_t i = 0; i < options.prior_count; i++) free((double *)options.priors[i]);
    print_row(spaces[k].name, found);
    for (int i = 0; i < MARKS; i++) all[i] += found[i];
    count++;
  }
  for (int i = 0; i < MARKS; i++) all[i] /= count ? count : 1;
  print_row("mean", all);
  if (strategy != SEARCH_MODEL) return true;
  bool ok = true;
  for (int i = 0; i < (has_priors ? 1 : MARKS); i++) {
    char what[64];
    snprintf(what, sizeof what, "fraction of the optimum after %u", marks[i]);
    ok &= bench_at_least(what, all[i], has_priors ? TRANSFER_BAR : bars[i], "");
  }
  return ok;
}

// What the search itself costs when a thousand are told.
static bool bench_asking(void) {
  enum { TOLD = 1000, ASKED = 100 };
  const recorded *r = &spaces[0].recorded;
  search *s = search_new(&r->space, &(search_options){.strategy = SEARCH_MODEL, .seed = 1});
  uint32_t config, count = 0;
  uint64_t begin = 0;
  if (!s) return false;
  for (uint32_t i = 0; i < TOLD + ASKED && search_ask(s, &config); i++) {
    search_tell(s, config, r->times[config]);
    if (i == TOLD) begin = clock_now_ns();
    count += i > TOLD;
  }
  double ms = (double)(clock_now_ns() - begin) * 1e-6 / (count ? count : 1);
  search_free(s);
  return bench_at_most("asking, of 1,000 evaluations told", ms, ASK_BAR_MS, "ms");
}

int main(int argc, char **argv) {
  const char *folder = getenv("VYRE_SPACES");
  uint32_t seeds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100;
  if (!folder || !load(folder)) {
    printf("no recorded spaces: set VYRE_SPACES to their folder; skipped\n");
    return 0;
  }
  if (!seeds || seeds > MOST_SEEDS) seeds = MOST_SEEDS;
  bool ok = true;
  for (int k = 0; k < SEARCH_STRATEGIES; k++) {
    const char *name = search_strategy_name((search_strategy)k);
    bool is_asked = argc < 3;
    for (int i = 2; i < argc; i++) is_asked |= !strcmp(argv[i], name);
    if (!is_asked || k == SEARCH_EXHAUSTIVE) continue;
    ok &= bench_strategy((search_strategy)k, false, seeds);
    if (k == SEARCH_MODEL) ok &= bench_strategy(SEARCH_MODEL, true, seeds);
  }
  ok &= bench_asking();
  for (uint32_t i = 0; i < space_count; i++) recorded_fini(&spaces[i].recorded);
  return !ok;
}
