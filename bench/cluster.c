// SPDX-License-Identifier: MIT
//
// One program on several ranks: beside two threads of one process and beside programs written by
// hand over MPI with the same kernels; what the layer costs; how long a plan for 1,024 ranks takes;
// links with delay (added in front of MPI: a message is there when its latency and its bytes have
// passed); ranks of unequal speed; how long a job goes on without a lost rank; and the model that
// says what to expect of more ranks than one machine has. Returns 1 when a bar is missed.
//
// bench_cluster [PART...] starts the ranks of each part by mpirun.
#include "bench.h"

#include "base/error.h"
#include "base/module.h"
#include "cluster/balance.h"
#include "cluster/cluster_plan.h"
#include "runtime/clustered.h"

#include <mpi.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int own_rank, rank_count;
static vyre_error error;

static void check(vyre_status status) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "rank %d: %s\n", own_rank, error.message);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static double now_us(void) {
  return (double)clock_now_ns() / 1e3;
}

// Whoever has nothing to do must not take the CPU of the others.
static void meet(void) {
  MPI_Request request;
  int is_done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), !is_done) usleep(50);
}

// ---- kernels ------------------------------------------------------------------------------------

// In a window: the whole grid here, and rows of it with a row more on both sides by hand.
static const char heat_text[] =
    "program heat(width: u32, height: u32, rate: f32)\n"
    "buffer a: f32[width * height] read\nbuffer b: f32[width * height] write\n"
    "region main grid(width, height) {\n"
    "  let x = global_id.x\n  let y = global_id.y\n  let i = y * width + x\n"
    "  let left = select(x == 0, 0.0, a[i - 1])\n"
    "  let right = select(x + 1 == width, 0.0, a[i + 1])\n"
    "  let up = select(y == 0, 0.0, a[i - width])\n"
    "  let down = select(y + 1 == height, 0.0, a[i + width])\n"
    "  b[i] = fma(rate, left + right + up + down - 4.0 * a[i], a[i])\n}\n";
static const char heat_hand_text[] =
    "program heat(width: u32, rows: u32, first: u32, count: u32, rate: f32)\n"
    "buffer a: f32[width * (rows + 2)] read\nbuffer b: f32[width * (rows + 2)] readwrite\n"
    "region main grid(width, count) {\n"
    "  let x = global_id.x\n  let i = (global_id.y + first + 1) * width + x\n"
    "  let left = select(x == 0, 0.0, a[i - 1])\n"
    "  let right = select(x + 1 == width, 0.0, a[i + 1])\n"
    "  b[i] = fma(rate, left + right + a[i - width] + a[i + width] - 4.0 * a[i], a[i])\n}\n";
static const char matmul_text[] =
    "program matmul(m: u32, n: u32, k: u32)\nbuffer a: f32[m * k] read\nbuffer b: f32[k * n] read\n"
    "buffer c: f32[m * n] write\nregion main grid(n, m) workgroup(16, 16) {\n"
    "  var sum: f32 = 0.0\n  for j in 0..k {\n"
    "    sum = fma(a[global_id.y * k + j], b[j * n + global_id.x], sum)\n  }\n"
    "  c[global_id.y * n + global_id.x] = sum\n}\n";
static const char histogram_text[] =
    "program histogram()\nbuffer data: u8[] read\nbuffer counts: u32[256] readwrite\n"
    "region main grid(len(data)) workgroup(256) {\n  shared local: u32[256]\n"
    "  atomic_add(local[u32(data[global_id.x])], 1)\n  barrier\n"
    "  let count = local[local_id.x]\n"
    "  if count != 0 { atomic_add(counts[local_id.x], count) }\n}\n";
static const char each_text[] = "program each(n: u32)\nbuffer a: f32[n] readwrite\n"
                                "region main grid(n) { a[global_id.x] = a[global_id.x] + 1.0 }\n";
static const char loop_text[] =
    "program loop(n: u32, turns: u32)\nbuffer o: u32[n] write\nregion main grid(n) workgroup(64) "
    "{\n"
    "  var s: u32 = global_id.x\n  for k in 0..turns { s = s * 1664525 + (s >> 7) + k }\n"
    "  o[global_id.x] = s\n}\n";

static vyre_program *parse(const char *text) {
  vyre_program *p;
  check(vyre_program_parse(text, strlen(text), "bench", &p, &error));
  return p;
}

static vyre_executable *compile(const char *text) {
  vyre_program *p = parse(text);
  vyre_executable *e;
  check(vyre_compile(p, "cpu", NULL, &e, &error));
  vyre_program_release(p);
  return e;
}

static float *numbers(size_t count) {
  float *out = aligned_alloc(64, (count * sizeof *out + 63) / 64 * 64);
  if (!out) abort();
  uint32_t state = 1;
  for (size_t i = 0; i < count; i++) out[i] = (float)((state = state * 1664525 + 1013904223) >> 8);
  return out;
}

// ---- a link with delay --------------------------------------------------------------------------

typedef struct slow_link {
  const cluster_transport *mpi;
  double latency_us, us_per_byte;
} slow_link;
static slow_link link_now;
static double link_until; // when the messages that were begun are there

static vyre_status link_begin(void *state, const transport_message *sends, uint32_t send_count,
                              const transport_message *receives, uint32_t receive_count,
                              vyre_error *e) {
  size_t most = 0; // each neighbour has a link of its own
  for (uint32_t i = 0; i < receive_count; i++)
    if (receives[i].bytes > most) most = receives[i].bytes;
  link_until = now_us() + link_now.latency_us + link_now.us_per_byte * (double)most;
  return link_now.mpi->begin(state, sends, send_count, receives, receive_count, e);
}

static vyre_status link_test(void *state, bool *is_done, vyre_error *e) {
  vyre_status status = link_now.mpi->test(state, is_done, e);
  *is_done = *is_done && now_us() >= link_until;
  return status;
}

static vyre_status link_end(void *state, vyre_error *e) {
  vyre_status status = link_now.mpi->end(state, e);
  while (now_us() < link_until) continue;
  return status;
}

static vyre_status link_gather(void *state, const void *own, size_t bytes, void *all,
                               vyre_error *e) {
  double until = now_us() + link_now.latency_us * ceil(log2(rank_count));
  vyre_status status = link_now.mpi->gather(state, own, bytes, all, e);
  while (now_us() < until) continue;
  return status;
}

static cluster_transport slow_transport(double latency_us, double gbit) {
  const void *found;
  check(module_find(TRANSPORT_MODULE_FILE, TRANSPORT_MODULE_SYMBOL, &found, &error));
  link_now = (slow_link){found, latency_us, gbit > 0 ? 8e-3 / gbit : 0};
  cluster_transport t = *link_now.mpi;
  t.begin = link_begin;
  t.test = link_test;
  t.end = link_end;
  t.gather = link_gather;
  return t;
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct job { // a kernel of a cluster
  vyre_runtime *rt;
  vyre_kernel *kernel;
  vyre_buffer *buffers[3];
  uint32_t buffer_count;
  vyre_scalar params[4];
  uint32_t param_count;
  uint32_t threads;
} job;

static job job_new(const char *text, const cluster_transport *transport,
                   const cluster_options *how) {
  job j = {.threads = 1};
  vyre_runtime_options options = {.backend = "cpu"};
  vyre_program *p = parse(text);
  check(
      clustered_runtime_new(transport, MPI_Comm_c2f(MPI_COMM_WORLD), &options, how, &j.rt, &error));
  check(vyre_runtime_load(j.rt, p, &j.kernel, &error));
  vyre_program_release(p);
  return j;
}

// Every rank gives its share.
static void job_buffer(job *j, const void *data, size_t bytes) {
  size_t lo = bytes / (size_t)rank_count * (size_t)own_rank;
  size_t hi =
      own_rank + 1 == rank_count ? bytes : bytes / (size_t)rank_count * ((size_t)own_rank + 1);
  vyre_buffer **b = &j->buffers[j->buffer_count++];
  check(vyre_buffer_new(j->rt, bytes, b, &error));
  check(vyre_buffer_write(*b, lo, (const char *)data + lo, hi - lo, &error));
}

static void job_run(job *j, bool is_back) {
  vyre_buffer *handles[3] = {j->buffers[is_back], j->buffers[!is_back], j->buffers[2]};
  vyre_dispatch_args args = {.params = j->params,
                             .param_count = j->param_count,
                             .handles = j->buffer_count == 2 ? handles : j->buffers,
                             .buffer_count = j->buffer_count,
                             .threads = j->threads};
  check(vyre_kernel_dispatch(j->kernel, &args, NULL, &error));
}

static void run(vyre_executable *e, const vyre_scalar *params, uint32_t param_count,
                const vyre_span *spans, uint32_t span_count, uint32_t threads) {
  vyre_dispatch_args args = {.params = params,
                             .param_count = param_count,
                             .buffers = spans,
                             .buffer_count = span_count,
                             .threads = threads};
  check(vyre_dispatch(e, &args, NULL, &error));
}

// The slowest rank's time for one of `steps`.
static double all_us(double begin, int steps) {
  double mine = (now_us() - begin) / steps, most;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

static void keep_least(double *best, double found) {
  if (*best == 0 || found < *best) *best = found;
}

// ---- heat ---------------------------------------------------------------------------------------

typedef struct by_hand { // heat: this rank's rows, with one more on both sides
  vyre_executable *e;
  uint32_t width, rows;
  float *a, *b;
} by_hand;

static by_hand hand_new(uint32_t width, uint32_t height) {
  by_hand h = {compile(heat_hand_text), width, height / (uint32_t)rank_count, NULL, NULL};
  h.a = numbers((size_t)width * (h.rows + 2));
  h.b = numbers((size_t)width * (h.rows + 2));
  return h;
}

static void hand_rows(const by_hand *h, uint32_t first, uint32_t count) {
  vyre_scalar params[] = {vyre_scalar_u32(h->width), vyre_scalar_u32(h->rows),
                          vyre_scalar_u32(first), vyre_scalar_u32(count), vyre_scalar_f32(0.2f)};
  size_t bytes = (size_t)h->width * (h->rows + 2) * sizeof(float);
  vyre_span spans[] = {{h->a, bytes}, {h->b, bytes}};
  run(h->e, params, 5, spans, 2, 1);
}

static void hand_step(by_hand *h) {
  MPI_Request r[4];
  int w = (int)h->width, up = own_rank ? own_rank - 1 : MPI_PROC_NULL;
  int down = own_rank + 1 < rank_count ? own_rank + 1 : MPI_PROC_NULL;
  size_t last = (size_t)h->width * h->rows;
  MPI_Irecv(h->a, w, MPI_FLOAT, up, 1, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(h->a + last + w, w, MPI_FLOAT, down, 0, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(h->a + w, w, MPI_FLOAT, up, 0, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(h->a + last, w, MPI_FLOAT, down, 1, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  hand_rows(h, 0, h->rows);
  float *kept = h->a;
  h->a = h->b;
  h->b = kept;
}

static job heat_job(uint32_t width, uint32_t height, const cluster_transport *transport,
                    const cluster_options *how) {
  job j = job_new(heat_text, transport, how);
  size_t count = (size_t)width * height;
  float *data = numbers(count);
  job_buffer(&j, data, count * sizeof *data);
  job_buffer(&j, data, count * sizeof *data);
  free(data);
  j.params[0] = vyre_scalar_u32(width);
  j.params[1] = vyre_scalar_u32(height);
  j.params[2] = vyre_scalar_f32(0.2f);
  j.param_count = 3;
  return j;
}

typedef struct figures {
  double threads_us, hand_us, cluster_us;
} figures;

// Rank 0 alone on two threads, then both by hand, then both as a cluster; in turn, the best of
// each.
static bool tell(const char *what, const figures *f, double bar) {
  char text[80];
  if (own_rank) return true;
  printf("%-22s two threads %9.1f us, by hand %9.1f us, cluster %9.1f us (%.2f of by hand)\n", what,
         f->threads_us, f->hand_us, f->cluster_us, f->cluster_us / f->hand_us);
  snprintf(text, sizeof text, "%s: two ranks against two threads", what);
  return bench_at_most(text, f->cluster_us / f->threads_us, bar, "");
}

enum { ROUNDS = 7 };

static bool heat_part(void) {
  enum { WIDTH = 2048, HEIGHT = 2048, STEPS = 40 };
  figures f = {0};
  job j = heat_job(WIDTH, HEIGHT, NULL, NULL);
  by_hand h = hand_new(WIDTH, HEIGHT);
  vyre_executable *whole = compile(heat_text);
  size_t bytes = (size_t)WIDTH * HEIGHT * sizeof(float);
  vyre_span spans[2][2];
  float *a = numbers(WIDTH * HEIGHT), *b = numbers(WIDTH * HEIGHT);
  spans[0][0] = spans[1][1] = (vyre_span){a, bytes};
  spans[0][1] = spans[1][0] = (vyre_span){b, bytes};
  for (int i = 0; i < 40; i++) job_run(&j, i % 2);
  for (int round = 0; round < ROUNDS; round++) {
    double begin = now_us();
    for (int i = 0; i < STEPS && !own_rank; i++) run(whole, j.params, 3, spans[i % 2], 2, 2);
    if (!own_rank) keep_least(&f.threads_us, (now_us() - begin) / STEPS);
    meet();
    begin = now_us();
    for (int i = 0; i < STEPS; i++) hand_step(&h);
    keep_least(&f.hand_us, all_us(begin, STEPS));
    begin = now_us();
    for (int i = 0; i < STEPS; i++) job_run(&j, i % 2);
    keep_least(&f.cluster_us, all_us(begin, STEPS));
  }
  vyre_runtime_free(j.rt);
  return tell("heat 2048 x 2048", &f, 1.00);
}

static bool matmul_part(void) {
  enum { N = 1024, STEPS = 3 };
  figures f = {0};
  job j = job_new(matmul_text, NULL, NULL);
  size_t count = (size_t)N * N, bytes = count * sizeof(float);
  float *a = numbers(count), *b = numbers(count), *c = numbers(count);
  job_buffer(&j, a, bytes);
  job_buffer(&j, b, bytes);
  job_buffer(&j, c, bytes);
  uint32_t rows = N / (uint32_t)rank_count;
  vyre_scalar part[] = {vyre_scalar_u32(rows), vyre_scalar_u32(N), vyre_scalar_u32(N)};
  for (int i = 0; i < 3; i++) j.params[i] = vyre_scalar_u32(N);
  j.param_count = 3;
  vyre_executable *e = compile(matmul_text);
  vyre_span whole[] = {{a, bytes}, {b, bytes}, {c, bytes}};
  vyre_span mine[] = {{a, bytes / (size_t)rank_count}, {b, bytes}, {c, bytes / (size_t)rank_count}};
  for (int i = 0; i < 12; i++) job_run(&j, false);
  for (int round = 0; round < ROUNDS; round++) {
    double begin = now_us();
    for (int i = 0; i < STEPS && !own_rank; i++) run(e, j.params, 3, whole, 3, 2);
    if (!own_rank) keep_least(&f.threads_us, (now_us() - begin) / STEPS);
    meet();
    begin = now_us();
    for (int i = 0; i < STEPS; i++) run(e, part, 3, mine, 3, 1);
    keep_least(&f.hand_us, all_us(begin, STEPS));
    begin = now_us();
    for (int i = 0; i < STEPS; i++) job_run(&j, false);
    keep_least(&f.cluster_us, all_us(begin, STEPS));
  }
  vyre_runtime_free(j.rt);
  return tell("matrix product 1024", &f, 1.05);
}

static bool histogram_part(void) {
  enum { BYTES = 1 << 24, STEPS = 5 };
  figures f = {0};
  job j = job_new(histogram_text, NULL, NULL);
  unsigned char *data = malloc(BYTES);
  uint32_t counts[256] = {0}, state = 1;
  for (size_t i = 0; i < BYTES; i++)
    data[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
  job_buffer(&j, data, BYTES);
  vyre_buffer *b;
  check(vyre_buffer_new(j.rt, sizeof counts, &b, &error));
  j.buffers[j.buffer_count++] = b;
  vyre_executable *e = compile(histogram_text);
  size_t part = BYTES / (size_t)rank_count;
  vyre_span whole[] = {{data, BYTES}, {counts, sizeof counts}};
  vyre_span mine[] = {{data + part * (size_t)own_rank, part}, {counts, sizeof counts}};
  for (int i = 0; i < 12; i++) job_run(&j, false);
  for (int round = 0; round < ROUNDS; round++) {
    double begin = now_us();
    for (int i = 0; i < STEPS && !own_rank; i++) run(e, NULL, 0, whole, 2, 2);
    if (!own_rank) keep_least(&f.threads_us, (now_us() - begin) / STEPS);
    meet();
    begin = now_us();
    for (int i = 0; i < STEPS; i++) {
      if (own_rank) memset(counts, 0, sizeof counts);
      run(e, NULL, 0, mine, 2, 1);
      MPI_Allreduce(MPI_IN_PLACE, counts, 256, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    }
    keep_least(&f.hand_us, all_us(begin, STEPS));
    begin = now_us();
    for (int i = 0; i < STEPS; i++) job_run(&j, false);
    keep_least(&f.cluster_us, all_us(begin, STEPS));
  }
  vyre_runtime_free(j.rt);
  return tell("histogram 16 MiB", &f, 0.60);
}

// ---- what the layer costs -----------------------------------------------------------------------

static bool cost_part(void) {
  enum { N = 8192, WIDTH = 256, STEPS = 2000 };
  double each = 0, plain = 0, heat = 0, hand = 0;
  job j = job_new(each_text, NULL, NULL), s = heat_job(WIDTH, WIDTH, NULL, NULL);
  by_hand h = hand_new(WIDTH, WIDTH);
  float *a = numbers(N);
  job_buffer(&j, a, N * sizeof *a);
  j.params[0] = vyre_scalar_u32(N);
  j.param_count = 1;
  vyre_executable *e = compile(each_text);
  vyre_scalar part[] = {vyre_scalar_u32(N / (uint32_t)rank_count)};
  vyre_span mine[] = {{a, N * sizeof *a / (size_t)rank_count}};
  for (int round = 0; round < 3 * ROUNDS; round++) {
    meet();
    double begin = now_us();
    for (int i = 0; i < STEPS; i++) run(e, part, 1, mine, 1, 1);
    keep_least(&plain, (now_us() - begin) / STEPS);
    meet();
    begin = now_us();
    for (int i = 0; i < STEPS; i++) job_run(&j, false);
    keep_least(&each, (now_us() - begin) / STEPS);
    meet();
    begin = now_us();
    for (int i = 0; i < STEPS; i++) hand_step(&h);
    keep_least(&hand, all_us(begin, STEPS));
    meet();
    begin = now_us();
    for (int i = 0; i < STEPS; i++) job_run(&s, i % 2);
    keep_least(&heat, all_us(begin, STEPS));
  }
  vyre_runtime_free(j.rt);
  vyre_runtime_free(s.rt);
  if (own_rank) return true;
  printf("a dispatch without messages: %.2f us, of its executable alone %.2f us\n", each, plain);
  printf("heat %d x %d with messages: %.2f us, by hand %.2f us\n", WIDTH, WIDTH, heat, hand);
  bool ok = bench_at_most("cost of the layer, no messages", each - plain, 2, "us");
  return bench_at_most("cost of the layer beside a program by hand", heat - hand, 2, "us") && ok;
}

// ---- a plan for 1,024 ranks ---------------------------------------------------------------------

static bool plan_part(void) {
  enum { RANKS = 1024, WIDTH = 8192 };
  vyre_program *p = parse(heat_text);
  footprint_region *r = footprint_new(p, 0);
  layout_table layouts = {0};
  uint64_t bytes = (uint64_t)WIDTH * WIDTH * 4, lengths[2] = {bytes / 4, bytes / 4};
  layout *all = layout_everywhere(&layouts, RANKS, bytes), *before[2] = {all, all};
  uint64_t params[3] = {WIDTH, WIDTH, 0}, grid[1][3] = {{WIDTH, WIDTH, 1}};
  double best = 0;
  size_t sends = 0;
  cluster_plan *kept = NULL; // the first: from it on parts are where they belong
  for (int round = 0; round < 40; round++) {
    cluster_facts facts = {.program = p,
                           .footprints = &r,
                           .params = params,
                           .lengths = lengths,
                           .grids = (const uint64_t(*)[3])grid,
                           .before = before,
                           .rank = RANKS / 2,
                           .ranks = RANKS,
                           .split_least = 4096,
                           .depth = 1};
    double begin = now_us();
    cluster_plan *made = cluster_plan_make(&layouts, &facts);
    double took = now_us() - begin;
    if (!made) return false;
    if (round > 1) keep_least(&best, took), sends = made->regions[0].sends.count;
    layout *after[2] = {made->after[1], made->after[0]};
    if (round == 1) memcpy(before, after, sizeof before);
    if (round == 0) before[0] = after[0], before[1] = after[1];
    if (kept && round > 1) cluster_plan_free(&layouts, kept);
    kept = made;
  }
  printf("a plan of heat on %d ranks sends %zu messages from one in the middle\n", RANKS, sends);
  return bench_at_most("a plan for 1,024 ranks", best / 1e3, 1, "ms");
}

// ---- links with delay, and the model ------------------------------------------------------------

typedef struct way {
  const char *name;
  uint32_t depth; // 0: as measured
  cluster_interior interior;
} way;
static const way ways[] = {{"messages first", 1, INTERIOR_LAST},
                           {"interior first", 1, INTERIOR_FIRST},
                           {"depth 8", 8, INTERIOR_LAST},
                           {"as measured", 0, INTERIOR_MEASURED}};

// Rows that are computed twice, and what travels once per `depth` steps: both buffers, because what
// may be written travels, too, where halos are deep.
static double expected_us(double compute, double rows, uint32_t width, const way *w,
                          double overhead, double latency, double us_per_byte) {
  double bytes = 4.0 * width * w->depth * (w->depth > 1 ? 2 : 1) - (w->depth > 1 ? 4.0 * width : 0);
  double travel = latency + us_per_byte * bytes;
  double extra = compute * (w->depth - 1) / rows;
  if (w->interior == INTERIOR_LAST) return compute + extra + (travel + overhead) / w->depth;
  double edges = compute * 2 / rows;
  return (travel > compute - edges ? travel : compute - edges) + edges + overhead;
}

static double slow_heat(uint32_t width, double latency, double gbit, const way *w, double *pure) {
  enum { STEPS = 96, WARM = 160 };
  cluster_transport t = slow_transport(latency, gbit);
  cluster_options how = {.depth = w->depth, .interior = w->interior};
  job j = heat_job(width, width, &t, &how);
  by_hand h = hand_new(width, width);
  double best = 0;
  for (int i = 0; i < WARM; i++) job_run(&j, i % 2);
  for (int round = 0; round < 5; round++) {
    meet();
    double begin = now_us();
    for (int i = 0; i < STEPS; i++) hand_rows(&h, 0, h.rows);
    keep_least(pure, all_us(begin, STEPS));
    meet();
    begin = now_us();
    for (int i = 0; i < STEPS; i++) job_run(&j, i % 2);
    keep_least(&best, all_us(begin, STEPS));
  }
  char *text = NULL;
  if (!own_rank && w->depth == 0 && vyre_kernel_explain(j.kernel, &text, NULL) == VYRE_OK)
    printf("%s", text);
  vyre_free(text);
  vyre_runtime_free(j.rt);
  free(h.a);
  free(h.b);
  vyre_executable_release(h.e);
  return best;
}

static bool delay_part(void) {
  static const double links[][3] = {{100, 10, 1.05}, {300, 1, 1.45}};
  enum { WIDTH = 1024, WAYS = sizeof ways / sizeof *ways };
  bool ok = true;
  double errors[16], overhead = 0, pure = 0;
  int count = 0;
  double free_us =
      slow_heat(WIDTH, 0, 0, &ways[0], &pure); // what the layer and MPI take themselves
  overhead = free_us - pure > 0 ? free_us - pure : 0;
  for (int l = 0; l < 2; l++) {
    double least = 0;
    for (int i = 0; i < WAYS; i++) {
      double own_pure = 0, found = slow_heat(WIDTH, links[l][0], links[l][1], &ways[i], &own_pure);
      keep_least(&least, own_pure);
      if (own_rank) continue;
      printf("heat %d, %3.0f us, %2.0f Gbit/s, %-15s %8.1f us, compute %8.1f us", WIDTH,
             links[l][0], links[l][1], ways[i].name, found, own_pure);
      if (ways[i].depth) {
        double expected = expected_us(own_pure, WIDTH / (double)rank_count, WIDTH, &ways[i],
                                      overhead, links[l][0], 8e-3 / links[l][1]);
        errors[count] = fabs(found - expected) / found;
        printf(", model %8.1f us (%.0f %%)\n", expected, 100 * errors[count++]);
        continue;
      }
      putchar('\n');
      char text[80];
      snprintf(text, sizeof text, "over pure compute, %.0f us and %.0f Gbit/s", links[l][0],
               links[l][1]);
      ok = bench_at_most(text, found / own_pure, links[l][2], "") && ok;
    }
  }
  if (own_rank) return true;
  double worst = 0;
  for (int i = 0; i < count; i++)
    if (errors[i] > worst) worst = errors[i];
  return bench_at_most("the model is off by", 100 * worst, 20, "%") && ok;
}

// What to expect where there are more ranks: heat along one axis, strong and weak, as the model has
// it. A node computes a cell in `cell_ns`; a dispatch costs 3 us beside.
static bool model_part(void) {
  static const struct {
    const char *name;
    double latency_us, us_per_byte;
  } nets[] = {{"25 Gbit/s Ethernet", 25, 1 / 2500.0}, {"100 Gbit/s RDMA", 2, 1 / 11000.0}};
  const double cell_us = 60e-6; // 12 bytes of traffic at 200 GB/s
  for (unsigned i = 0; i < 2; i++)
    for (int ranks = 4; ranks <= 1024; ranks *= 4) {
      double width = 32768, rows = width / ranks, alone = width * width * cell_us;
      double best = 0;
      const char *how = "";
      for (unsigned w = 0; w < 3; w++) {
        double us = expected_us(rows * width * cell_us, rows, (uint32_t)width, &ways[w], 3,
                                nets[i].latency_us, nets[i].us_per_byte);
        if (best == 0 || us < best) best = us, how = ways[w].name;
      }
      double weak = expected_us(8192.0 * 8192 * cell_us, 8192, 8192, &ways[1], 3,
                                nets[i].latency_us, nets[i].us_per_byte);
      printf("%-20s %4d nodes: 32768 x 32768 shared out: %3.0f %% of ideal (%s); 8192 x 8192 each: "
             "%3.0f %%\n",
             nets[i].name, ranks, 100 * alone / ranks / best, how,
             100 * 8192.0 * 8192 * cell_us / weak);
    }
  return true;
}

// ---- unequal ranks ------------------------------------------------------------------------------

static void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static volatile bool is_over;

static void *take_cpu(void *unused) {
  while (!is_over) continue;
  return unused;
}

// Rank 1 shares its CPU with two others.
static bool unequal_part(void) {
  enum { N = 1 << 14, TURNS = 40000, DISPATCHES = 20 };
  pthread_t others[2];
  stay_on(own_rank % 2);
  for (int i = 0; i < 2 && own_rank; i++) pthread_create(&others[i], NULL, take_cpu, NULL);
  job j = job_new(loop_text, NULL, NULL);
  uint32_t *zeros = calloc(N, sizeof *zeros);
  job_buffer(&j, zeros, N * sizeof *zeros);
  j.params[0] = vyre_scalar_u32(N);
  j.params[1] = vyre_scalar_u32(TURNS);
  j.param_count = 2;
  vyre_executable *e = compile(loop_text);
  vyre_span span = {zeros, N * sizeof *zeros};
  double whole = 0, rate, rates;
  for (int i = 0; i < 4; i++) {
    double begin = now_us();
    run(e, j.params, 2, &span, 1, 1);
    if (i) whole += (now_us() - begin) / 3;
  }
  rate = 1 / whole;
  MPI_Allreduce(&rate, &rates, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double took[DISPATCHES];
  for (int i = 0; i < DISPATCHES; i++) {
    meet();
    double begin = now_us();
    job_run(&j, false);
    took[i] = all_us(begin, 1);
  }
  is_over = true;
  vyre_runtime_free(j.rt);
  for (int i = 0; i < 2 && own_rank; i++) pthread_join(others[i], NULL);
  if (own_rank) return true;
  double ideal = 1 / rates, last = 0;
  for (int i = DISPATCHES - 5; i < DISPATCHES; i++) last += took[i] / 5;
  printf("whole on the fast rank %.1f ms, on both %.1f ms at best; dispatches", whole / 1e3,
         ideal / 1e3);
  for (int i = 0; i < DISPATCHES; i++) printf(" %.1f", took[i] / 1e3);
  puts(" ms");
  return bench_at_least("ranks of speed 3:1, of ideal after 15 dispatches", 100 * ideal / last, 95,
                        "%");
}

// ---- parts --------------------------------------------------------------------------------------

typedef struct part {
  const char *name;
  bool (*run)(void);
  int ranks; // 1: without mpirun
} part;
static const part parts[] = {
    {"heat", heat_part, 2},   {"matmul", matmul_part, 2},   {"histogram", histogram_part, 2},
    {"cost", cost_part, 2},   {"plan", plan_part, 1},       {"delay", delay_part, 2},
    {"model", model_part, 1}, {"unequal", unequal_part, 2},
};
enum { PARTS = sizeof parts / sizeof *parts };

// What rank 0 says goes through a file: mpirun has much to say about a rank that returns 1.
static int run_ranks(const part *p) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  bool ok = p->run();
  const char *path = getenv("VYRE_BENCH_MISSED");
  FILE *missed = !ok && path ? fopen(path, "w") : NULL;
  if (missed) fclose(missed);
  MPI_Finalize();
  return 0;
}

static int launch_part_of(const part *p, const char *self) {
  char command[1000], count[12], folder[] = "/tmp/bench_cluster.XXXXXX", missed[60];
  if (p->ranks == 1) return p->run() ? 0 : 1;
  if (!mkdtemp(folder)) return 1;
  snprintf(missed, sizeof missed, "%s/missed", folder);
  snprintf(count, sizeof count, "%d", p->ranks);
  snprintf(command, sizeof command,
           "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
           "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none "
           "VYRE_BENCH_MISSED=%s VYRE_BENCH_PART=%s mpirun -n %s '%s'",
           missed, p->name, count, self);
  fflush(stdout);
  int status = system(command);
  bool has_missed = !unlink(missed);
  rmdir(folder);
  return has_missed || !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  const char *mine = getenv("VYRE_BENCH_PART");
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; mine && i < PARTS; i++)
    if (!strcmp(parts[i].name, mine)) return run_ranks(&parts[i]);
  int wrong = 0;
  for (int i = 0; i < PARTS; i++) {
    bool is_wanted = argc == 1;
    for (int k = 1; k < argc; k++) is_wanted |= !strcmp(argv[k], parts[i].name);
    if (is_wanted && launch_part_of(&parts[i], argv[0])) wrong = 1;
  }
  return wrong;
}
