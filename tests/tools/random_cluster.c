// SPDX-License-Identifier: MIT
//
// random_cluster COUNT SEED [RANKS]: random programs without races on 1 to 8 ranks (threads of this
// process, tests/thread_transport.h), two dispatches each, beside one process. Every third program
// runs on the CPU backend, the others on the interpreter. Prints what differs, and the count.
#include "../thread_transport.h"

#include "backend/executable.h"
#include "conform/compare.h"
#include "conform/generate.h"
#include "conform/shapes.h"
#include "runtime/clustered.h"

#include <inttypes.h>

enum { DISPATCHES = 2 };

typedef struct job {
  const trial *t;
  hub *h;
  uint32_t rank, ranks;
  const char *backend;
  outcome *out; // of rank 0
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

static vyre_status run_rank(job *j, vyre_runtime *rt) {
  const trial *t = j->t;
  vyre_kernel *k;
  vyre_buffer *handles[128] = {0};
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
  for (int n = 0; n < DISPATCHES && status == VYRE_OK; n++)
    status = vyre_kernel_dispatch(k, &args, NULL, &j->error);
  if (status == VYRE_OK && !j->rank) vyre_kernel_explain(k, &j->explained, NULL);
  for (uint32_t i = 0; i < t->buffer_count && status == VYRE_OK; i++) {
    bool is_mine = !j->rank;
    status = vyre_buffer_read(handles[i], 0, is_mine ? j->out->buffers[i].data : NULL,
                              is_mine ? t->buffers[i].size_bytes : 0, &j->error);
  }
  return status;
}

static void *rank_main(void *context) {
  job *j = context;
  vyre_runtime *rt = NULL;
  hub_mine = (hub_rank){j->h, j->rank};
  vyre_runtime_options options = {.backend = j->backend};
  j->status = clustered_runtime_new(&hub_transport, 0, &options, 1, &rt, &j->error);
  if (j->status == VYRE_OK) j->status = run_rank(j, rt);
  if (j->status != VYRE_OK && rt) hub_fail(&(hub_rank){j->h, j->rank}, j->error.message);
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

static void run_alone(const trial *t, outcome *out) {
  vyre_executable *e;
  vyre_dispatch_args args = {.params = t->params,
                             .param_count = t->param_count,
                             .buffers = out->buffers,
                             .buffer_count = t->buffer_count,
                             .fuel = 3000000};
  memcpy(args.workgroup, t->workgroup, sizeof args.workgroup);
  out->status = vyre_compile(t->program, "ref", NULL, &e, &out->error);
  if (out->status != VYRE_OK) return;
  for (int n = 0; n < DISPATCHES && out->status == VYRE_OK; n++)
    out->status = vyre_dispatch(e, &args, NULL, &out->error);
  vyre_executable_release(e);
}

static void run_cluster(const trial *t, uint32_t ranks, const char *backend, outcome *out,
                        char **explained) {
  hub h;
  job jobs[HUB_RANKS] = {0};
  hub_init(&h, ranks);
  for (uint32_t n = 0; n < ranks; n++) {
    jobs[n] = (job){t, &h, n, ranks, backend, out, VYRE_OK, {0}, 0, NULL};
    if (pthread_create(&jobs[n].thread, NULL, rank_main, &jobs[n])) abort();
  }
  for (uint32_t n = 0; n < ranks; n++) {
    pthread_join(jobs[n].thread, NULL);
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

int main(int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  uint32_t fixed = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
  uint64_t wrong = 0, unusable = 0, split = 0, whole = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t own = seed + i;
    trial t;
    vyre_error error;
    vyre_status status = own % 2 ? shapes_trial(&(shapes_options){.seed = own}, &t, NULL, &error)
                                 : generate_trial(&(generate_options){.seed = own}, &t, &error);
    if (status != VYRE_OK) {
      printf("seed %" PRIu64 ": %s\n", own, error.message);
      return 2;
    }
    uint32_t ranks = fixed ? fixed : 1 + (uint32_t)(own * 2654435761u >> 16) % 8;
    outcome expected, found;
    difference d;
    char *explained = NULL;
    if (!make_outcome(&t, &expected) || !make_outcome(&t, &found)) return 2;
    for (uint32_t b = 0; b < t.buffer_count; b++)
      memset(found.buffers[b].data, 0xee, found.buffers[b].size_bytes);
    run_alone(&t, &expected);
    if (expected.status == VYRE_OK) {
      run_cluster(&t, ranks, own % 3 ? "ref" : "cpu", &found, &explained);
      compare_outcomes(&t, &expected, &found, &d);
      split += count_of(explained, ": split along");
      whole += count_of(explained, ": whole on");
      if (d.verdict != SAME && wrong++ < 5) {
        char *text = NULL;
        printf("seed %" PRIu64 ", %u ranks: %s %s\n%s", own, ranks, d.text, found.error.message,
               explained ? explained : "");
        if (wrong == 1 && vyre_program_print(t.program, &text, NULL, &error) == VYRE_OK) puts(text);
        vyre_free(text);
      }
    } else {
      unusable++;
    }
    vyre_free(explained);
    free_outcome(&expected);
    free_outcome(&found);
    trial_fini(&t);
  }
  printf("%" PRIu64 " programs, %" PRIu64 " regions split, %" PRIu64 " whole, %" PRIu64
         " unusable, %" PRIu64 " wrong\n",
         count, split, whole, unusable, wrong);
  return wrong != 0;
}
