// SPDX-License-Identifier: MIT
//
// random_cluster COUNT SEED [RANKS]: random programs without races on 1 to 8 ranks (threads of this
// process, tests/thread_transport.h), five dispatches each, beside one process. Before some of them
// ranks read parts of buffers, and write what was there at first to parts that may overlap; at the
// end all ranks read. Every third program runs on the CPU backend, the others on the interpreter.
// By the seed, too: shares of any size, or measured anew all the time; halos of any depth; what
// needs no messages first, or last. Prints what differs, and the count.
#include "../thread_transport.h"

#include "backend/executable.h"
#include "base/error.h"
#include "base/random.h"
#include "conform/compare.h"
#include "conform/generate.h"
#include "conform/shapes.h"
#include "runtime/clustered.h"

#include <inttypes.h>

enum { DISPATCHES = 5, MOST_BUFFERS = 128 };

typedef struct job {
  const trial *t;
  hub *h;
  uint32_t rank, ranks;
  uint64_t seed;
  const char *backend;
  outcome *out;              // of rank 0
  char *parts[MOST_BUFFERS]; // what another rank read at the end, from `range_of` it
  vyre_status status;
  vyre_error error;
  pthread_t thread;
  char *explained;
} job;

static vyre_status write_part(vyre_buffer *b, const vyre_span *from, uint32_t rank, uint32_t ranks,
                              vyre_error *error) {
  size_t lo = from->size_bytes * rank / ranks, hi = from->size_bytes * (rank + 1) / ranks;
  return vyre_buffer_write(b, lo, (char *)from->data + lo, hi - lo, error);
}

typedef struct byte_range {
  size_t lo, size;
} byte_range;

// Which bytes of a buffer a rank writes or reads after a dispatch: often none.
static byte_range range_of(uint64_t seed, uint32_t turn, uint32_t buffer, uint32_t rank,
                           size_t size) {
  random_state random = {seed * 0x9e3779b97f4a7c15u + turn * 4096u + buffer * 16u + rank + 1u};
  random_below(&random, 2);
  if (!size || random_below(&random, 100) < 40) return (byte_range){0, 0};
  size_t a = random_below(&random, (uint32_t)size), b = random_below(&random, (uint32_t)size + 1);
  return a < b ? (byte_range){a, b - a} : (byte_range){b, a - b};
}

// Often nothing happens between two dispatches: then what ranks have is what the first left.
static bool has_change(uint64_t seed, uint32_t turn) {
  return turn && (seed / 5 + turn) % 3 == 0;
}

// How the ranks share the work: the same on all of them.
static cluster_options options_of(uint64_t seed, uint32_t *weights) {
  random_state random = {seed * 0x9e3779b97f4a7c15u + 77};
  random_below(&random, 2);
  cluster_options o = {.split_least = 1, .keeps_shares = true, .depth = 1};
  uint32_t kind = random_below(&random, 4);
  for (uint32_t n = 0; n < HUB_RANKS; n++) weights[n] = 1 + random_below(&random, 1000);
  if (kind == 1 || kind == 2) o.weights = weights;
  if (kind == 2 || kind == 3) o.keeps_shares = false, o.adapt_every = 1 + random_below(&random, 2);
  if (random_below(&random, 2)) o.depth = 1 + random_below(&random, 5);
  o.interior = random_below(&random, 3) ? INTERIOR_FIRST : INTERIOR_LAST;
  return o;
}

static vyre_status change_between(const job *j, uint32_t turn, vyre_buffer **handles,
                                  vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < j->t->buffer_count && status == VYRE_OK; i++) {
    size_t size = j->t->buffers[i].size_bytes;
    byte_range read = range_of(j->seed, 2 * turn, i, j->rank, size);
    byte_range write = range_of(j->seed, 2 * turn + 1, i, j->rank, size);
    char *unused = malloc(read.size + 1);
    if (!unused) abort();
    status = vyre_buffer_read(handles[i], read.lo, unused, read.size, error);
    free(unused);
    if (status == VYRE_OK)
      status = vyre_buffer_write(handles[i], write.lo, (char *)j->t->buffers[i].data + write.lo,
                                 write.size, error);
  }
  return status;
}

// The same in one process: where ranks write the same bytes those of the lowest count, and all
// write what was there at first.
static void change_alone(const trial *t, uint64_t seed, uint32_t ranks, uint32_t turn,
                         outcome *out) {
  for (uint32_t i = 0; i < t->buffer_count; i++)
    for (uint32_t n = 0; n < ranks; n++) {
      byte_range write = range_of(seed, 2 * turn + 1, i, n, t->buffers[i].size_bytes);
      memcpy((char *)out->buffers[i].data + write.lo, (char *)t->buffers[i].data + write.lo,
             write.size);
    }
}

// Rank 0 all of it, the others a part.
static vyre_status read_last(job *j, uint32_t i, vyre_buffer *from) {
  size_t size = j->t->buffers[i].size_bytes;
  byte_range mine = range_of(j->seed, 1000, i, j->rank, size);
  if (!j->rank) return vyre_buffer_read(from, 0, j->out->buffers[i].data, size, &j->error);
  j->parts[i] = malloc(mine.size + 1);
  if (!j->parts[i]) abort();
  return vyre_buffer_read(from, mine.lo, j->parts[i], mine.size, &j->error);
}

static vyre_status run_rank(job *j, vyre_runtime *rt) {
  const trial *t = j->t;
  vyre_kernel *k;
  vyre_buffer *handles[MOST_BUFFERS] = {0};
  vyre_status status = vyre_runtime_load(rt, t->program, &k, &j->error);
  for (uint32_t i = 0; i < t->buffer_count && status == VYRE_OK; i++) {
    status = vyre_buffer_new(rt, t->buffers[i].size_bytes, &handles[i], &j->error);
    if (status == VYRE_OK)
      status = write_part(handles[i], &t->buffers[i], j->rank, j->ranks, &j->error);
  }
  vyre_dispatch_args args = {.params = t->params,
                             .param_count = t->param_count,
                             .buffer_count = t->buffer_count,
                             .handles = handles,
                             .threads = 1};
  memcpy(args.workgroup, t->workgroup, sizeof args.workgroup);
  for (uint32_t n = 0; n < DISPATCHES && status == VYRE_OK; n++) {
    if (has_change(j->seed, n)) status = change_between(j, n, handles, &j->error);
    if (status == VYRE_OK) status = vyre_kernel_dispatch(k, &args, NULL, &j->error);
  }
  if (status == VYRE_OK && !j->rank) vyre_kernel_explain(k, &j->explained, NULL);
  for (uint32_t i = 0; i < t->buffer_count && status == VYRE_OK; i++)
    status = read_last(j, i, handles[i]);
  return status;
}

static void *rank_main(void *context) {
  job *j = context;
  vyre_runtime *rt = NULL;
  hub_mine = (hub_rank){.h = j->h, .rank = j->rank};
  vyre_runtime_options options = {.backend = j->backend};
  uint32_t weights[HUB_RANKS];
  cluster_options how = options_of(j->seed, weights);
  j->status = clustered_runtime_new(&hub_transport, 0, &options, &how, &rt, &j->error);
  if (j->status == VYRE_OK) j->status = run_rank(j, rt);
  if (j->status != VYRE_OK && rt)
    hub_fail(&(hub_rank){.h = j->h, .rank = j->rank}, j->error.message);
  vyre_runtime_free(rt);
  return NULL;
}

static bool make_outcome(const trial *t, outcome *out) {
  *out = (outcome){.was_compiled = true, .buffer_count = t->buffer_count, .overrun = -1};
  out->buffers = calloc(t->buffer_count + 1u, sizeof *out->buffers);
  for (uint32_t i = 0; out->buffers && i < t->buffer_count; i++) {
    out->buffers[i] = (vyre_span){malloc(t->buffers[i].size_bytes + 1), t->buffers[i].size_bytes};
    if (!out->buffers[i].data) return false;
    memcpy(out->buffers[i].data, t->buffers[i].data, t->buffers[i].size_bytes);
  }
  return out->buffers != NULL;
}

static void free_outcome(outcome *o) {
  for (uint32_t i = 0; i < o->buffer_count; i++) free(o->buffers[i].data);
  free(o->buffers);
}

static void run_alone(const trial *t, uint64_t seed, uint32_t ranks, outcome *out) {
  vyre_executable *e;
  vyre_dispatch_args args = {.params = t->params,
                             .param_count = t->param_count,
                             .buffers = out->buffers,
                             .buffer_count = t->buffer_count,
                             .fuel = 3000000};
  memcpy(args.workgroup, t->workgroup, sizeof args.workgroup);
  out->status = vyre_compile(t->program, "ref", NULL, &e, &out->error);
  if (out->status != VYRE_OK) return;
  for (uint32_t n = 0; n < DISPATCHES && out->status == VYRE_OK; n++) {
    if (has_change(seed, n)) change_alone(t, seed, ranks, n, out);
    out->status = vyre_dispatch(e, &args, NULL, &out->error);
  }
  vyre_executable_release(e);
}

// Every rank read what rank 0 read.
static void compare_parts(job *j) {
  for (uint32_t i = 0; i < j->t->buffer_count && j->parts[i]; i++) {
    byte_range r = range_of(j->seed, 1000, i, j->rank, j->t->buffers[i].size_bytes);
    bool is_same = !j->rank || !memcmp(j->parts[i], (char *)j->out->buffers[i].data + r.lo, r.size);
    if (j->status == VYRE_OK && !is_same)
      j->status = error_set(&j->error, VYRE_ERROR_BACKEND,
                            "rank %u reads other bytes of buffer %u than rank 0. Fix: look at the "
                            "layout",
                            j->rank, i);
    free(j->parts[i]);
  }
}

static void run_cluster(const trial *t, uint64_t seed, uint32_t ranks, const char *backend,
                        outcome *out, char **explained) {
  hub h;
  static job jobs[HUB_RANKS];
  hub_init(&h, ranks);
  for (uint32_t n = 0; n < ranks; n++) {
    jobs[n] = (job){.t = t, .h = &h, .rank = n, .ranks = ranks, .seed = seed};
    jobs[n].backend = backend;
    jobs[n].out = out;
    if (pthread_create(&jobs[n].thread, NULL, rank_main, &jobs[n])) abort();
  }
  for (uint32_t n = 0; n < ranks; n++) pthread_join(jobs[n].thread, NULL);
  for (uint32_t n = 0; n < ranks; n++) {
    compare_parts(&jobs[n]);
    if (jobs[n].status == VYRE_OK || out->status != VYRE_OK) continue;
    out->status = jobs[n].status;
    out->error = jobs[n].error;
  }
  *explained = jobs[0].explained;
  hub_fini(&h);
}

static uint32_t count_of(const char *text, const char *word) {
  uint32_t count = 0;
  for (const char *at = text; at && (at = strstr(at, word)); at++) count++;
  return count;
}

typedef struct tally {
  uint64_t wrong, unusable, split, whole, deep, early;
} tally;

static void show_difference(const trial *t, uint64_t seed, uint32_t ranks, const difference *d,
                            const outcome *found, const char *explained, bool with_text) {
  vyre_error error;
  char *text = NULL;
  printf("seed %" PRIu64 ", %u ranks: %s %s\n%s", seed, ranks, d->text, found->error.message,
         explained ? explained : "");
  if (with_text && vyre_program_print(t->program, &text, NULL, &error) == VYRE_OK) puts(text);
  vyre_free(text);
}

// False without memory.
static bool try_trial(trial *t, uint64_t seed, uint32_t ranks, tally *all) {
  outcome expected, found;
  difference d;
  char *explained = NULL;
  if (!make_outcome(t, &expected) || !make_outcome(t, &found)) return false;
  for (uint32_t b = 0; b < t->buffer_count; b++)
    memset(found.buffers[b].data, 0xee, found.buffers[b].size_bytes);
  run_alone(t, seed, ranks, &expected);
  if (expected.status == VYRE_OK) {
    run_cluster(t, seed, ranks, seed % 3 ? "ref" : "cpu", &found, &explained);
    compare_outcomes(t, &expected, &found, &d);
    all->split += count_of(explained, ": split along");
    all->whole += count_of(explained, ": whole on");
    all->deep += count_of(explained, "parts overlap");
    all->early += count_of(explained, "what needs no message first");
    if (d.verdict != SAME && all->wrong++ < 5)
      show_difference(t, seed, ranks, &d, &found, explained, all->wrong == 1);
  } else {
    all->unusable++;
  }
  vyre_free(explained);
  free_outcome(&expected);
  free_outcome(&found);
  return true;
}

static void show_tally(FILE *out, uint64_t count, const tally *all) {
  fprintf(out,
          "%" PRIu64 " programs, %" PRIu64 " regions split (%" PRIu64 " overlap, %" PRIu64
          " begin before messages are there), %" PRIu64 " whole, %" PRIu64 " unusable, %" PRIu64
          " wrong\n",
          count, all->split, all->deep, all->early, all->whole, all->unusable, all->wrong);
}

enum { TOLD_EVERY = 500 };

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  uint32_t fixed = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
  tally all = {0};
  for (uint64_t i = 0; i < count; i++) {
    uint64_t seed = first + i;
    trial t;
    vyre_error error;
    vyre_status status = seed % 2 ? shapes_trial(&(shapes_options){.seed = seed}, &t, NULL, &error)
                                  : generate_trial(&(generate_options){.seed = seed}, &t, &error);
    if (status != VYRE_OK) {
      printf("seed %" PRIu64 ": %s\n", seed, error.message);
      return 2;
    }
    uint32_t ranks = fixed ? fixed : 1 + (uint32_t)(seed * 2654435761u >> 16) % 8;
    bool ok = try_trial(&t, seed, ranks, &all);
    trial_fini(&t);
    if (!ok) return 2;
    if (i && i % TOLD_EVERY == 0)
      show_tally(stderr, i, &all); // whoever ends it knows how far it was
  }
  show_tally(stdout, count, &all);
  return all.wrong != 0;
}
