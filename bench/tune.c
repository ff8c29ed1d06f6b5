// SPDX-License-Identifier: MIT
//
// Searches on this machine, live: `vyre tune` over the programs of bench/tune, once over all
// configurations and then with a tenth as many evaluations, several seeds, from nothing. What a
// search found is compared with the best of all by the times of the whole space, which were
// measured in one go, so that a machine that is slower later makes no difference; and, since the
// least of hundreds of times is also the luckiest, by timing both again, in turn, 32 samples each,
// of which the medians count. On the CPU the lanes of its vectors are a fifth parameter. Arguments
// pick programs and backends: `bench_tune sum cpu`. VYRE_BENCH_KEEP names a folder that
// is there, in which results stay: what was measured before is not measured again.
#include "base/file.h"
#include "bench.h"
#include "process.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 8, SEEDS = 3, SHARE = 10 };

typedef struct subject {
  const char *name;
  const char *words[WORDS]; // of the command, up to NULL
} subject;

static const subject subjects[] = {
    {"product", {"n=256", "a=rand:65536", "b=rand:65536:1", "c=zeros:65536"}},
    {"sum", {"x=rand:1048576", "total=zeros:1"}},
    {"convolution",
     {"width=512", "height=512", "image=rand:268324", "weights=rand:49:1", "out=zeros:262144"}},
    {"transpose", {"n=1024", "x=rand:1048576", "y=zeros:1048576"}},
};

typedef struct place {
  const char *command;
  char folder[128];
} place;

// ---- running the command ------------------------------------------------------------------------

// What `vyre tune` says, as JSON; NULL when it fails.
static json_t *run_tune(const place *p, const subject *s, const char *backend, const char *results,
                        const char *const *more) {
  strbuf line = {0};
  strbuf_printf(&line, "%s tune " VYRE_SOURCE_DIR "/bench/tune/%s.vyre", p->command, s->name);
  for (int i = 0; i < WORDS && s->words[i]; i++) strbuf_printf(&line, " %s", s->words[i]);
  strbuf_printf(&line, " --backend %s --no-prior --json --results %s/%s", backend, p->folder,
                results);
  if (!strcmp(backend, "cpu")) strbuf_puts(&line, " --tunable VYRE_VECTOR_WIDTH=8,16,32");
  for (; *more; more++) strbuf_printf(&line, " %s", *more);
  char *text = strbuf_take(&line, NULL);
  FILE *out = text ? popen(text, "r") : NULL;
  json_error_t why;
  json_t *said = out ? json_loadf(out, 0, &why) : NULL;
  int status = out ? pclose(out) : -1;
  if (status || !said) fprintf(stderr, "%s: status %d\n", text ? text : "", status);
  free(text);
  if (!status) return said;
  json_decref(said);
  return NULL;
}

static const json_t *tuned_of(const json_t *said) {
  return json_array_get(json_object_get(said, "tuned"), 0);
}

// ---- what the whole space took ------------------------------------------------------------------

static json_t *read_results(const place *p, const char *results) {
  char path[256];
  json_error_t why;
  snprintf(path, sizeof path, "%s/%s", p->folder, results);
  return json_load_file(path, 0, &why);
}

static double time_of(const json_t *result) {
  const json_t *measured = json_array_get(json_object_get(result, "measurements"), 0);
  return json_number_value(json_object_get(measured, "value"));
}

// NAN: it failed.
static double time_in(const json_t *whole, const json_t *configuration) {
  const json_t *all = json_object_get(whole, "results");
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *r = json_array_get(all, i);
    if (!json_equal(json_object_get(r, "configuration"), configuration)) continue;
    double time = time_of(r);
    return time > 0 ? time : (double)NAN;
  }
  return (double)NAN;
}

// ---- again --------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The median of a configuration that was timed again; NAN: it was not.
static double median_in(const json_t *tuned, const json_t *configuration) {
  const json_t *all = json_object_get(tuned, "finalists");
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *f = json_array_get(all, i);
    if (json_equal(json_object_get(f, "configuration"), configuration))
      return json_number_value(json_object_get(f, "median_ns"));
  }
  return (double)NAN;
}

static void put_condition(strbuf *out, const json_t *configuration) {
  const char *name;
  const json_t *value;
  bool is_first = true;
  strbuf_puts(out, "(");
  json_object_foreach((json_t *)configuration, name, value) {
    strbuf_printf(out, "%s%s == %.17g", is_first ? "" : " && ", name, json_number_value(value));
    is_first = false;
  }
  strbuf_puts(out, ")");
}

// How much longer `found` takes than `best`, both timed anew; 1 when they are the same.
static double time_again(const place *p, const subject *s, const char *backend, const json_t *best,
                         const json_t *found, int seed) {
  if (json_equal(best, found)) return 1;
  char results[48];
  strbuf where = {0};
  snprintf(results, sizeof results, "%s-%s-again-%d.json", s->name, backend, seed);
  strbuf_puts(&where, "--where '");
  put_condition(&where, best);
  strbuf_puts(&where, " || ");
  put_condition(&where, found);
  strbuf_puts(&where, "'");
  char *text = strbuf_take(&where, NULL);
  json_t *said = run_tune(p, s, backend, results,
                          (const char *const[]){"--strategy exhaustive -r 32", text, NULL});
  double ratio = median_in(tuned_of(said), found) / median_in(tuned_of(said), best);
  if (isnan(ratio)) { // one is so much slower that it was not timed again
    json_t *both = read_results(p, results);
    ratio = time_in(both, found) / time_in(both, best);
    json_decref(both);
  }
  json_decref(said);
  free(text);
  return ratio;
}

// ---- one program on one backend -----------------------------------------------------------------

// Over the best of all; NAN when the command fails.
static double search_once(const place *p, const subject *s, const char *backend,
                          const json_t *whole, const json_t *best, uint32_t evaluations, int seed,
                          double *again, double *ask_ms) {
  char count[48], number[32], results[32];
  snprintf(count, sizeof count, "--evaluations %u", evaluations);
  snprintf(number, sizeof number, "--seed %d", seed);
  snprintf(results, sizeof results, "%s-%s-%d.json", s->name, backend, seed);
  json_t *said = run_tune(p, s, backend, results, (const char *const[]){count, number, NULL});
  const json_t *tuned = tuned_of(said);
  const json_t *found = json_object_get(tuned, "configuration");
  double ratio = time_in(whole, found) / time_in(whole, best);
  *again = time_again(p, s, backend, best, found, seed);
  double spent = json_number_value(json_object_get(json_object_get(tuned, "seconds"), "searching"));
  if (spent * 1e3 / evaluations > *ask_ms) *ask_ms = spent * 1e3 / evaluations;
  json_decref(said);
  return ratio;
}

static bool tune_one(const place *p, const subject *s, const char *backend, double *ask_ms) {
  char results[48], what[96];
  double found[SEEDS], again[SEEDS];
  snprintf(results, sizeof results, "%s-%s.json", s->name, backend);
  uint64_t start = clock_now_ns();
  json_t *said =
      run_tune(p, s, backend, results, (const char *const[]){"--strategy", "exhaustive", NULL});
  const json_t *tuned = tuned_of(said);
  json_t *whole = read_results(p, results);
  uint32_t count = (uint32_t)json_integer_value(json_object_get(tuned, "configurations"));
  const json_t *best = json_object_get(tuned, "configuration");
  bool ok = count && time_in(whole, best) > 0;
  if (ok)
    printf("  %s on %s: %u configurations in %.1f s\n", s->name, backend, count,
           (double)(clock_now_ns() - start) * 1e-9);
  for (int i = 0; i < SEEDS && ok; i++) {
    found[i] = search_once(p, s, backend, whole, best, count / SHARE, i, &again[i], ask_ms);
    ok = !isnan(found[i]) && !isnan(again[i]);
  }
  json_decref(said);
  json_decref(whole);
  snprintf(what, sizeof what, "%s on %s, %u evaluations, over the best", s->name, backend,
           count / SHARE);
  if (!ok) {
    printf("%s: FAILED\n", what);
    return false;
  }
  qsort(found, SEEDS, sizeof *found, by_value);
  printf("  seeds: %.3f %.3f %.3f by the times of the whole space, ", found[0], found[1], found[2]);
  qsort(again, SEEDS, sizeof *again, by_value);
  printf("%.3f %.3f %.3f timed again\n", again[0], again[1], again[2]);
  fflush(stdout);
  return bench_at_most(what, again[SEEDS / 2], 1.05, "x");
}

// Whether the words name it, or none of its kind.
static bool is_picked(int argc, char **argv, const char *word, bool is_backend) {
  bool has_any = false;
  for (int i = 1; i < argc; i++) {
    bool names_program = false;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
      names_program |= !strcmp(argv[i], subjects[k].name);
    if (names_program == is_backend) continue;
    has_any = true;
    if (!strcmp(argv[i], word)) return true;
  }
  return !has_any && strcmp(word, "opencl");
}

// A folder of its own, or the one that is kept.
static bool find_folder(place *p) {
  const char *kept = getenv("VYRE_BENCH_KEEP");
  snprintf(p->folder, sizeof p->folder, "%s", kept ? kept : "/tmp/vyre-bench-tune-XXXXXX");
  if (kept) return strlen(kept) < sizeof p->folder && !access(kept, W_OK);
  return mkdtemp(p->folder) != NULL;
}

int main(int argc, char **argv) {
  static const char *const backends[] = {"cpu", "opencl"};
  place p = {.command = find_command(argv[0])};
  if (!p.command || !find_folder(&p)) return 2;
  setenv("VYRE_HOME", p.folder, 1);
  bool ok = true;
  double ask_ms = 0;
  for (size_t b = 0; b < 2; b++)
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
      if (is_picked(argc, argv, subjects[i].name, false) &&
          is_picked(argc, argv, backends[b], true))
        ok &= tune_one(&p, &subjects[i], backends[b], &ask_ms);
  ok &= bench_at_most("choosing a configuration, in the mean of a search", ask_ms, 5, "ms");
  char remove[160];
  snprintf(remove, sizeof remove, "rm -rf '%s'", p.folder);
  if (getenv("VYRE_BENCH_KEEP") || system(remove)) printf("%s stays\n", p.folder);
  free((char *)p.command);
  return ok ? 0 : 1;
}
