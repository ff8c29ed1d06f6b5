// SPDX-License-Identifier: MIT
//
// random_cpu: random programs on the CPU backend beside the reference. Processes of their own take
// one seed after another (src/conform/sweep.h says what a seed is), so that a crash or a hang is a
// failure like any other. Failures are listed with their seeds; the first few are made small and
// written to a folder. The last line counts; `--help` lists the options.
#include "base/clock.h"
#include "base/error.h"
#include "cli/trial_file.h"
#include "conform/isolate.h"
#include "conform/shapes.h"
#include "conform/shrink.h"
#include "conform/sweep.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_JOBS = 64, MAX_FAILURES = 4096, HANG_S = 180, SHRUNK_HANG_S = 10 };

typedef struct settings {
  uint64_t first, count;
  uint32_t kinds;
  bool has_shapes, is_only, prints;
  uint32_t jobs, most_failures, most_shrunk, shrink_s;
  const char *folder;
} settings;

typedef struct failure {
  uint64_t seed;
  difference d;
  _Atomic bool is_there; // all of it was written
} failure;

// What the processes share.
typedef struct board {
  settings s;
  _Atomic uint64_t next, done, declined, unusable;
  _Atomic uint32_t failure_count;
  struct {
    _Atomic uint64_t seed, since_ns; // 0: between two cases
  } workers[MAX_JOBS];
  failure failures[MAX_FAILURES];
} board;

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number) {
  (void)number;
  is_interrupted = 1;
}

// ---- workers ------------------------------------------------------------------------------------

static void fail(board *b, uint64_t seed, const difference *d) {
  uint32_t at = atomic_fetch_add(&b->failure_count, 1);
  if (at >= MAX_FAILURES) return;
  b->failures[at].seed = seed;
  b->failures[at].d = *d;
  atomic_store(&b->failures[at].is_there, true);
}

static bool make_case(const settings *s, uint64_t seed, sweep_case *out) {
  sweep_options o = {seed, s->kinds, s->is_only, s->has_shapes};
  vyre_error error = {0};
  if (sweep_make(&o, out, &error) == VYRE_OK) return true;
  fprintf(stderr, "seed %" PRIu64 ": no program: %s\n", seed, error.message);
  return false;
}

static void show_failure(const settings *s, const failure *f) {
  sweep_case c;
  char how[200];
  if (!make_case(s, f->seed, &c)) return;
  sweep_describe(&c.how, how, sizeof how);
  printf("FAIL seed %" PRIu64 " (%s; %s): %s\n", f->seed, c.kind, how, f->d.text);
  trial_fini(&c.trial);
  fflush(stdout);
}

static void run_seed(board *b, uint64_t seed) {
  sweep_case c;
  difference d = {.verdict = DIFFERENT, .is_about_status = true};
  snprintf(d.text, sizeof d.text, "there is no program");
  if (make_case(&b->s, seed, &c)) {
    if (!sweep_compare(&c.trial, &c.how, &d)) snprintf(d.text, sizeof d.text, "out of memory");
    trial_fini(&c.trial);
  }
  if (d.verdict == DIFFERENT) fail(b, seed, &d);
  if (d.verdict == UNUSABLE) printf("seed %" PRIu64 ": %s\n", seed, d.text), fflush(stdout);
  atomic_fetch_add(&b->declined, d.verdict == DECLINED);
  atomic_fetch_add(&b->unusable, d.verdict == UNUSABLE);
  atomic_fetch_add(&b->done, 1);
}

typedef struct worker {
  board *b;
  uint32_t number;
} worker;

static void work(void *context) {
  worker *w = context;
  board *b = w->b;
  uint64_t end = b->s.first + b->s.count, seed;
  while (!is_interrupted && atomic_load(&b->failure_count) < b->s.most_failures &&
         (seed = atomic_fetch_add(&b->next, 1)) < end) {
    atomic_store(&b->workers[w->number].seed, seed);
    atomic_store(&b->workers[w->number].since_ns, clock_now_ns());
    run_seed(b, seed);
    atomic_store(&b->workers[w->number].since_ns, 0);
  }
}

// The worker ended in the middle of a case, or hangs there: a failure of that case.
static void note_loss(board *b, uint32_t number, const char *text) {
  difference d = {.verdict = DIFFERENT, .is_about_status = true};
  snprintf(d.text, sizeof d.text, "%s", text);
  fail(b, atomic_load(&b->workers[number].seed), &d);
  atomic_store(&b->workers[number].since_ns, 0);
  atomic_fetch_add(&b->done, 1);
}

static bool start(worker *w, isolate *p) {
  if (isolate_start(p, work, w)) return true;
  fprintf(stderr, "random_cpu: no process: %s\n", strerror(errno));
  return false;
}

// Prints the failures that came since it was last called.
static void show_news(board *b, uint32_t *shown) {
  uint32_t count = atomic_load(&b->failure_count);
  for (; *shown < count && *shown < MAX_FAILURES; ++*shown)
    if (atomic_load(&b->failures[*shown].is_there))
      show_failure(&b->s, &b->failures[*shown]);
    else
      return;
}

// Looks after one worker; false when it is gone for good.
static bool tend(board *b, worker *w, isolate *p) {
  char text[400] = "";
  uint64_t since = atomic_load(&b->workers[w->number].since_ns);
  isolate_end end = isolate_wait(p, 20, text, sizeof text);
  if (end == ISOLATE_DONE) return false;
  if (end == ISOLATE_RUNS && (!since || clock_now_ns() - since < HANG_S * 1000000000ull))
    return true;
  if (end == ISOLATE_RUNS) {
    isolate_kill(p);
    snprintf(text, sizeof text, "it does not end");
  }
  note_loss(b, w->number, text);
  return start(w, p);
}

static bool run_all(board *b) {
  uint32_t shown = 0;
  isolate processes[MAX_JOBS];
  worker workers[MAX_JOBS];
  bool runs[MAX_JOBS] = {false};
  for (uint32_t i = 0; i < b->s.jobs; i++) {
    workers[i] = (worker){b, i};
    runs[i] = start(&workers[i], &processes[i]);
    if (!runs[i] && !i) return false;
  }
  for (bool is_busy = true; is_busy;) {
    is_busy = false;
    for (uint32_t i = 0; i < b->s.jobs; i++)
      if (runs[i]) is_busy |= runs[i] = tend(b, &workers[i], &processes[i]);
    show_news(b, &shown);
  }
  return true;
}

// ---- failures -----------------------------------------------------------------------------------

typedef struct check {
  const trial *t;
  const sweep_run *how;
  difference *out; // shared
  bool *ok;        // shared
} check;

static void compare_inside(void *context) {
  check *c = context;
  *c->ok = sweep_compare(c->t, c->how, c->out);
}

typedef struct answer {
  difference d;
  bool ok;
} answer;

static bool compare_isolated(void *context, const trial *t, difference *out) {
  answer *shared = isolate_share(sizeof *shared);
  if (!shared) return false;
  check c = {t, context, &shared->d, &shared->ok};
  char text[400];
  isolate_end end = isolate_run(compare_inside, &c, SHRUNK_HANG_S * 1000, text, sizeof text);
  bool ok = end == ISOLATE_DIED || (end == ISOLATE_DONE && shared->ok);
  *out = shared->d;
  if (end == ISOLATE_DIED) {
    *out = (difference){.verdict = DIFFERENT, .is_about_status = true};
    snprintf(out->text, sizeof out->text, "%.390s", text);
  }
  isolate_unshare(shared, sizeof *shared);
  return ok;
}

static void print_program(const trial *t) {
  char *text = NULL;
  size_t size;
  if (vyre_program_print(t->program, &text, &size, NULL) == VYRE_OK) fputs(text, stdout);
  for (uint32_t i = 0; i < t->param_count; i++)
    printf("# %s = %" PRId64 "\n", vyre_program_param(t->program, i).name,
           (int64_t)t->params[i].bits);
  for (uint32_t i = 0, bound = 0; i < vyre_program_buffer_count(t->program); i++) {
    vyre_buffer_info b = vyre_program_buffer(t->program, i);
    if (!b.is_transient)
      printf("# %s has %zu elements\n", b.name,
             t->buffers[bound++].size_bytes / vyre_type_size(b.type));
  }
  if (t->workgroup[0])
    printf("# launched as %u,%u,%u\n", t->workgroup[0], t->workgroup[1], t->workgroup[2]);
  vyre_free(text);
}

static void shrink_case(const settings *s, sweep_case *c, uint64_t seed, const char *how) {
  difference d;
  vyre_error error;
  char folder[1024], note[700];
  shrink_limits limits = {.deadline_ns = clock_now_ns() + s->shrink_s * 1000000000ull};
  if (!shrink_compared(&c->trial, compare_isolated, &c->how, limits, &d)) {
    printf("  it does not fail again\n");
    return;
  }
  printf("  made small: %s\n", d.text);
  print_program(&c->trial);
  snprintf(folder, sizeof folder, "%.900s/cpu-%s-%" PRIu64, s->folder, c->kind, seed);
  snprintf(note, sizeof note, "seed %" PRIu64 ", %s: %s", seed, how, d.text);
  if (trial_save(&c->trial, folder, "cpu", note, &error) == VYRE_OK)
    printf("  written to %s\n", folder);
  else
    printf("  not written: %s\n", error.message);
}

static void shrink_failure(const settings *s, const failure *f) {
  sweep_case c;
  char how[200];
  if (!make_case(s, f->seed, &c)) return;
  sweep_describe(&c.how, how, sizeof how);
  printf("seed %" PRIu64 " (%s; %s):\n", f->seed, c.kind, how);
  shrink_case(s, &c, f->seed, how);
  trial_fini(&c.trial);
  fflush(stdout);
}

static int by_seed(const void *left, const void *right) {
  const failure *x = left, *y = right;
  return x->seed < y->seed ? -1 : x->seed > y->seed;
}

static int conclude(board *b) {
  uint32_t failed = atomic_load(&b->failure_count), shown = failed;
  uint64_t end = b->s.first + b->s.count, next = atomic_load(&b->next);
  if (shown > MAX_FAILURES) shown = MAX_FAILURES;
  qsort(b->failures, shown, sizeof *b->failures, by_seed);
  if (shown > b->s.most_shrunk) shown = b->s.most_shrunk;
  for (uint32_t i = 0; i < shown && !is_interrupted; i++) shrink_failure(&b->s, &b->failures[i]);
  if (next < end) printf("stopped: go on with --seed %" PRIu64 "\n", next);
  uint64_t declined = atomic_load(&b->declined), unusable = atomic_load(&b->unusable);
  if (unusable) printf("%" PRIu64 " did not end on the reference\n", unusable);
  failed += (uint32_t)unusable;
  printf("%" PRIu64 " passed, %u failed", atomic_load(&b->done) - failed - declined, failed);
  if (declined) printf(", %" PRIu64 " skipped", declined);
  printf("\n");
  return failed || is_interrupted;
}

// ---- options ------------------------------------------------------------------------------------

static int usage(FILE *to) {
  fprintf(to,
          "usage: random_cpu [--seed S] [--count N] [--shapes LIST] [--only] [--jobs N]\n"
          "                  [--failures N] [--shrunk N] [--shrink S] [--out FOLDER] [--print]\n"
          "  --seed S      of the first program (0)\n"
          "  --count N     programs (1000)\n"
          "  --shapes LIST all (the default), none, or kinds with commas between them:\n           "
          "    ");
  for (uint32_t i = 0; i < shapes_count(); i++) fprintf(to, " %s", shapes_name(i));
  fprintf(to, "\n"
              "  --only        no other programs than these\n"
              "  --jobs N      processes (one for each core)\n"
              "  --failures N  stop after so many (20)\n"
              "  --shrunk N    make so many of them small (3)\n"
              "  --shrink S    seconds for each of them (30)\n"
              "  --out FOLDER  where they are written (build/conform-failures)\n"
              "  --print       print the programs and run nothing\n");
  return to == stdout ? 0 : 2;
}

static bool read_kinds(const char *text, settings *s) {
  s->has_shapes = strcmp(text, "none") != 0;
  s->kinds = 0;
  if (!s->has_shapes || !strcmp(text, "all")) return true;
  for (size_t size; *text; text += size + (text[size] == ',')) {
    uint32_t i = 0;
    size = strcspn(text, ",");
    while (i < shapes_count() &&
           (strlen(shapes_name(i)) != size || strncmp(shapes_name(i), text, size)))
      i++;
    if (i == shapes_count()) {
      fprintf(stderr, "random_cpu: there is no kind `%.*s`. Fix: see --help\n", (int)size, text);
      return false;
    }
    s->kinds |= 1u << i;
  }
  return true;
}

static bool read_number(const char *text, uint64_t most, uint64_t *out) {
  char *end;
  errno = 0;
  *out = strtoull(text, &end, 10);
  if (!errno && end != text && !*end && *text != '-' && *out <= most) return true;
  fprintf(stderr, "random_cpu: `%s` is no number up to %" PRIu64 ". Fix: see --help\n", text, most);
  return false;
}

static bool read_u32(const char *text, uint64_t most, uint32_t *out) {
  uint64_t number = 0;
  bool ok = read_number(text, most, &number);
  *out = (uint32_t)number;
  return ok;
}

// 0: go on; otherwise the exit status + 1.
static int read_options(int argc, char **argv, settings *s) {
  static const struct option options[] = {
      {"seed", 1, NULL, 's'},   {"count", 1, NULL, 'n'},  {"shapes", 1, NULL, 'k'},
      {"only", 0, NULL, 'o'},   {"jobs", 1, NULL, 'j'},   {"failures", 1, NULL, 'f'},
      {"shrunk", 1, NULL, 'm'}, {"shrink", 1, NULL, 't'}, {"out", 1, NULL, 'd'},
      {"print", 0, NULL, 'p'},  {"help", 0, NULL, 'h'},   {0}};
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    bool ok = true;
    switch (c) {
    case 's': ok = read_number(optarg, UINT64_MAX / 2, &s->first); break;
    case 'n': ok = read_number(optarg, UINT64_MAX / 2, &s->count); break;
    case 'k': ok = read_kinds(optarg, s); break;
    case 'o': s->is_only = true; break;
    case 'j': ok = read_u32(optarg, MAX_JOBS, &s->jobs); break;
    case 'f': ok = read_u32(optarg, MAX_FAILURES, &s->most_failures); break;
    case 'm': ok = read_u32(optarg, MAX_FAILURES, &s->most_shrunk); break;
    case 't': ok = read_u32(optarg, 3600, &s->shrink_s); break;
    case 'd': s->folder = optarg; break;
    case 'p': s->prints = true; break;
    case 'h': return usage(stdout) + 1;
    default: return usage(stderr) + 1;
    }
    if (!ok) return 3;
  }
  return optind < argc ? usage(stderr) + 1 : 0;
}

static int print_all(const settings *s) {
  for (uint64_t seed = s->first; seed < s->first + s->count; seed++) {
    sweep_case c;
    char how[200];
    if (!make_case(s, seed, &c)) return 1;
    sweep_describe(&c.how, how, sizeof how);
    printf("# seed %" PRIu64 " (%s; %s)\n", seed, c.kind, how);
    print_program(&c.trial);
    trial_fini(&c.trial);
  }
  return 0;
}

int main(int argc, char **argv) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  settings s = {.count = 1000,
                .has_shapes = true,
                .jobs = cores > 0 && cores <= MAX_JOBS ? (uint32_t)cores : 1,
                .most_failures = 20,
                .most_shrunk = 3,
                .shrink_s = 30,
                .folder = "build/conform-failures"};
  int status = read_options(argc, argv, &s);
  if (status) return status - 1;
  if (s.prints) return print_all(&s);
  board *b = isolate_share(sizeof *b);
  if (!b) return 1;
  b->s = s;
  atomic_store(&b->next, s.first);
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  setenv("VYRE_CACHE", "off", 1);
  printf("seeds %" PRIu64 " to %" PRIu64 "\n", s.first, s.first + s.count - 1);
  status = run_all(b) ? conclude(b) : 1;
  isolate_unshare(b, sizeof *b);
  return status;
}
