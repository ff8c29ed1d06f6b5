// SPDX-License-Identifier: MIT
#include "kernels/run.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "kernels/ahead.h"
#include "kernels/blas.h"
#include "kernels/opencl.h"
#include "kernels/roof.h"
#include "kernels/variants.h"
#include "kernels/ways.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <vyre/vyre.h>

enum { MAX_ROUNDS = 99 };

const peer_info bench_peers[PEERS] = {
    [VYRE] = {"vyre", CLASS_VYRE},
    [VYRE_FAST] = {"vyre fast", CLASS_VYRE},
    [VYRE_SINGLE] = {"vyre one thread", CLASS_VYRE},
    [VYRE_PAUSED] = {"vyre paused", CLASS_VYRE},
    [C_PLAIN] = {"gcc -O3", CLASS_EXACT},
    [C_TUNED] = {"gcc -O3 tuned", CLASS_EXACT},
    [C_PLAIN_FAST] = {"gcc -Ofast", CLASS_FAST},
    [C_TUNED_FAST] = {"gcc -Ofast tuned", CLASS_FAST},
    [CLANG_PLAIN] = {"clang -O3", CLASS_EXACT},
    [CLANG_TUNED] = {"clang -O3 tuned", CLASS_EXACT},
    [CLANG_PLAIN_FAST] = {"clang -Ofast", CLASS_FAST},
    [CLANG_TUNED_FAST] = {"clang -Ofast tuned", CLASS_FAST},
    [POCL] = {"PoCL", CLASS_EXACT},
    [POCL_FAST] = {"PoCL fast", CLASS_FAST},
    [INTEL] = {"Intel", CLASS_EXACT},
    [INTEL_FAST] = {"Intel fast", CLASS_FAST},
    [HALIDE] = {"Halide", CLASS_EXACT},
    [HALIDE_FAST] = {"Halide fast", CLASS_FAST},
    [OPENBLAS] = {"OpenBLAS", CLASS_FAST},
    [MKL] = {"MKL", CLASS_FAST},
    [STREAM] = {"stream", CLASS_ROOF},
    [STREAM_NT] = {"stream nt", CLASS_ROOF},
};

static struct {
  phase at;
  run_options options;
  cl_driver *pocl, *intel;
  blas *openblas, *mkl;
  ahead halide;
} here;

typedef struct run {
  const kernel *k;
  void *buffers[MAX_BUFFERS];
  size_t bytes[MAX_BUFFERS];
  uint32_t buffer_count;
  vyre_executable *vyre[PEERS]; // of those that are vyre's
  vyre_scalar params[8];
  uint32_t param_count;
  cl_peer *cl[PEERS]; // of OpenCL's
  bool is_there[PEERS];
  double ns[PEERS][MAX_ROUNDS];
  int rounds[PEERS];
} run;

// ---- the process --------------------------------------------------------------------------------

static void pin_to_one_core(void) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &one);
      break;
    }
  if (sched_setaffinity(0, sizeof one, &one) != 0) perror("sched_setaffinity");
}

void run_begin(phase at, const run_options *options) {
  char vendors[400];
  here.at = at;
  here.options = *options;
  if (at == PHASE_ONE) {
    pin_to_one_core();
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
    setenv("POCL_CPU_MAX_CU_COUNT", "1", 1); // the name in newer versions
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 1);
  } else {
    setenv("MKL_THREADING_LAYER", "GNU", 1);
  }
  snprintf(vendors, sizeof vendors, "%s/vendors", options->peers_folder);
  if (!access(vendors, R_OK)) setenv("OCL_ICD_VENDORS", vendors, 0);
  blas_choose_core();
  here.pocl = cl_driver_open("Portable");
  here.intel = cl_driver_open("Intel");
  here.openblas = blas_open_openblas();
  here.mkl = blas_open_mkl(options->peers_folder);
  here.halide = ahead_open(options->peers_folder, "libhalide_kernels.so");
}

cl_driver *run_pocl(void) {
  return here.pocl;
}

void run_describe(void) {
  printf("peers: gcc; clang %s; ", variant_get(VARIANT_clang_exact) ? "is there" : "is missing");
  printf("PoCL %s; ", here.pocl ? cl_driver_version(here.pocl) : "is missing");
  printf("Intel's OpenCL %s; ",
         here.intel ? cl_driver_version(here.intel) : "is missing (make peers)");
  printf("OpenBLAS %s; ", here.openblas ? blas_version(here.openblas) : "is missing");
  printf("Halide %s; ", here.halide.library ? "is there" : "is missing (make peers)");
  printf("MKL %s\n", here.mkl ? blas_version(here.mkl) : "is missing (make peers)");
}

// ---- data ---------------------------------------------------------------------------------------

static uint32_t next_random(uint32_t *state) {
  return *state = *state * 1664525u + 1013904223u;
}

static void fill(const run *r) {
  uint32_t state = 7;
  for (uint32_t i = 0; i < r->buffer_count; i++) {
    char kind = r->k->buffers[i].kind;
    uint32_t below = r->k->buffers[i].below;
    for (uint32_t k = 0; k < r->k->buffers[i].count; k++) {
      uint32_t x = next_random(&state) >> 8;
      // From 0.25 to 1.25: no denormals, which make any CPU slow, whatever the kernel does.
      if (kind == 'f' || kind == 'F') ((float *)r->buffers[i])[k] = 0.25f + (float)x / 16777216.0f;
      if (kind == 'u' || kind == 'V') ((uint32_t *)r->buffers[i])[k] = x % below;
      if (kind == 'U') ((uint32_t *)r->buffers[i])[k] = 0;
      if (kind == 'b' || kind == 'B') ((uint8_t *)r->buffers[i])[k] = (uint8_t)x;
    }
  }
  if (r->k->prepare) r->k->prepare(r->buffers);
}

static bool is_bytes(const run *r, uint32_t buffer) {
  return r->k->buffers[buffer].kind == 'b' || r->k->buffers[buffer].kind == 'B';
}

static bool is_written(const run *r, uint32_t buffer) {
  return strchr("FUVB", r->k->buffers[buffer].kind) != NULL;
}

static void allocate(run *r) {
  for (; r->buffer_count < MAX_BUFFERS && r->k->buffers[r->buffer_count].kind; r->buffer_count++) {
    uint32_t i = r->buffer_count;
    r->bytes[i] = (size_t)r->k->buffers[i].count * (is_bytes(r, i) ? 1u : 4u);
    r->buffers[i] = aligned_alloc(4096, (r->bytes[i] + 4095) / 4096 * 4096);
    if (!r->buffers[i]) exit(1);
  }
}

// ---- vyre ---------------------------------------------------------------------------------------

static void must(vyre_status status, const char *what, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

static void source_path(const kernel *k, bool text, char *path, size_t size) {
  if (text)
    snprintf(path, size, "%s/bench/kernels/%s.vyre", VYRE_SOURCE_DIR, k->name);
  else
    snprintf(path, size, "%s/bench/kernels/%s", VYRE_SOURCE_DIR, k->source);
}

static vyre_program *parse_text(const char *path, const char *text, size_t size, bool is_fast) {
  strbuf s = {0};
  vyre_error error;
  vyre_program *program;
  const char *end = strchr(text, ')'); // of the parameters
  size_t head = is_fast && end ? (size_t)(end - text) + 1 : 0;
  strbuf_add(&s, text, head);
  if (head) strbuf_puts(&s, " fast(4)");
  strbuf_add(&s, text + head, size - head);
  char *all = strbuf_take(&s, &size);
  must(vyre_program_parse(all, size, path, &program, &error), path, &error);
  free(all);
  return program;
}

static vyre_program *program_of(const kernel *k, bool is_fast) {
  char path[300], entry[60], *text;
  size_t size;
  vyre_error error;
  vyre_program *program;
  source_path(k, k->has_text, path, sizeof path);
  must(file_read(path, 1 << 20, &text, &size, &error), path, &error);
  if (k->has_text) {
    program = parse_text(path, text, size, is_fast);
  } else {
    snprintf(entry, sizeof entry, "k_%s", k->name);
    uint32_t rank = k->grid[2] ? 3 : k->grid[1] ? 2 : 1;
    vyre_source_options options = {
        .entry = entry, .rank = rank, .build_options = is_fast ? "-cl-fast-relaxed-math" : NULL};
    for (uint32_t i = 0; i < 3 && k->group[0]; i++)
      options.workgroup[i] = k->group[i] ? k->group[i] : 1;
    must(vyre_program_from("opencl", text, size, path, &options, &program, &error), path, &error);
  }
  free(text);
  return program;
}

static void set_params(run *r, const vyre_program *program) {
  const kernel *k = r->k;
  uint32_t rank = k->has_text ? 0 : k->grid[2] ? 3 : k->grid[1] ? 2 : 1;
  r->param_count = 0;
  for (uint32_t i = 0; i < k->size_count; i++) {
    vyre_type type = vyre_program_param(program, r->param_count).type;
    r->params[r->param_count++] = (vyre_scalar){type, k->sizes[i]};
  }
  for (uint32_t i = 0; i < k->scalar_count; i++)
    r->params[r->param_count++] = vyre_scalar_f32(k->scalars[i]);
  for (uint32_t i = 0; i < rank; i++) {
    vyre_type type = vyre_program_param(program, r->param_count).type;
    r->params[r->param_count++] = (vyre_scalar){type, k->grid[i]};
  }
}

static void dispatch(const run *r, vyre_executable *executable) {
  vyre_span spans[MAX_BUFFERS];
  vyre_error error;
  for (uint32_t i = 0; i < r->buffer_count; i++) spans[i] = (vyre_span){r->buffers[i], r->bytes[i]};
  vyre_dispatch_args args = {.params = r->params,
                             .param_count = r->param_count,
                             .buffers = spans,
                             .buffer_count = r->buffer_count};
  must(vyre_dispatch(executable, &args, NULL, &error), r->k->label, &error);
}

static uint64_t now_ns(void) {
  if (!here.options.is_cpu_time || here.at != PHASE_ONE) return clock_now_ns();
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double time_way(void *context, vyre_executable *executable) {
  uint64_t start = now_ns();
  dispatch(context, executable);
  return (double)(now_ns() - start);
}

static void compile(run *r, peer p) {
  vyre_error error;
  bool is_single = here.at == PHASE_ONE || p == VYRE_SINGLE;
  vyre_program *program = program_of(r->k, p == VYRE_FAST);
  set_params(r, program);
  fill(r);
  const char *label = here.options.is_vyre_only ? r->k->label : NULL;
  r->vyre[p] = ways_fastest(program, is_single ? 1 : 0, time_way, r, label, &error);
  must(r->vyre[p] ? VYRE_OK : error.status, r->k->label, &error);
  vyre_program_release(program);
}

// ---- peers --------------------------------------------------------------------------------------

static native_kernel native_of(const run *r, peer p) {
  bool is_tuned = p == C_TUNED || p == C_TUNED_FAST || p == CLANG_TUNED || p == CLANG_TUNED_FAST;
  bool is_fast = bench_peers[p].class == CLASS_FAST, is_clang = p >= CLANG_PLAIN;
  if (here.at == PHASE_ALL && is_clang) return NULL; // its OpenMP runtime is not gcc's
  variant v = here.at == PHASE_ALL ? is_fast ? VARIANT_omp_fast : VARIANT_omp_exact
              : is_clang           ? is_fast ? VARIANT_clang_fast : VARIANT_clang_exact
              : is_fast            ? VARIANT_gcc_fast
                                   : VARIANT_gcc_exact;
  const native_kernel *table = is_tuned ? variant_get_tuned(v) : variant_get(v);
  return table ? table[r->k->native] : NULL;
}

static void open_cl(run *r, peer p, cl_driver *driver, const char *options) {
  const kernel *k = r->k;
  char path[300];
  if (!driver || k->is_without_drivers) return;
  source_path(k, false, path, sizeof path);
  cl_peer *made = cl_peer_new(driver, path, options, k->name, k->grid, k->group);
  if (!made) return;
  for (uint32_t b = 0; b < r->buffer_count; b++) cl_peer_buffer(made, r->buffers[b], r->bytes[b]);
  for (uint32_t s = 0; s < k->size_count; s++) cl_peer_scalar(made, &k->sizes[s]);
  for (uint32_t s = 0; s < k->scalar_count; s++) cl_peer_scalar(made, &k->scalars[s]);
  r->cl[p] = made;
}

static native_kernel halide_of(const run *r, peer p) {
  return ahead_find(here.halide, r->k->native, p == HALIDE_FAST, here.at == PHASE_ALL);
}

static bool open_peer(run *r, peer p) {
  bool is_fast = p == VYRE_FAST || bench_peers[p].class == CLASS_FAST;
  if (is_fast && kernel_is_integer(r->k)) return false;
  if (here.options.is_vyre_only && bench_peers[p].class != CLASS_VYRE && p != C_PLAIN) return false;
  switch (p) {
  case VYRE:
  case VYRE_FAST: compile(r, p); return true;
  case VYRE_SINGLE:
  case VYRE_PAUSED:
    if (here.at == PHASE_ONE || (p == VYRE_PAUSED && !r->k->is_compute_bound)) return false;
    compile(r, p);
    return true;
  case POCL: open_cl(r, p, here.pocl, ""); return r->cl[p] != NULL;
  case POCL_FAST: open_cl(r, p, here.pocl, "-cl-fast-relaxed-math"); return r->cl[p] != NULL;
  case INTEL: open_cl(r, p, here.intel, ""); return r->cl[p] != NULL;
  case INTEL_FAST: open_cl(r, p, here.intel, "-cl-fast-relaxed-math"); return r->cl[p] != NULL;
  case HALIDE:
  case HALIDE_FAST: return halide_of(r, p) != NULL;
  case OPENBLAS: return blas_has(here.openblas, r->k);
  case MKL: return blas_has(here.mkl, r->k);
  case STREAM: return r->k->roof != ROOF_NONE;
  case STREAM_NT: return r->k->roof != ROOF_NONE && r->k->roof != ROOF_READ;
  default: return native_of(r, p) != NULL;
  }
}

static void run_roof(const run *r, bool streaming) {
  bool all = here.at == PHASE_ALL;
  void *const *b = r->buffers;
  size_t count = r->k->buffers[0].count;
  switch (r->k->roof) {
  case ROOF_NONE: break;
  case ROOF_READ: roof_read(b[0], count, all); break;
  case ROOF_COPY: roof_copy(b[0], b[1], count, streaming, all); break;
  case ROOF_UPDATE: roof_update(b[0], b[1], count, streaming, all); break;
  case ROOF_TRIAD: roof_triad(b[0], b[1], b[2], count, streaming, all); break;
  }
}

// False: it cannot, after all.
static bool run_peer(const run *r, peer p) {
  if (r->vyre[p])
    dispatch(r, r->vyre[p]);
  else if (r->cl[p])
    return cl_peer_run(r->cl[p]);
  else if (p == HALIDE || p == HALIDE_FAST)
    halide_of(r, p)(r->buffers, r->k->sizes, r->k->scalars);
  else if (p == OPENBLAS)
    blas_run(here.openblas, r->k, r->buffers);
  else if (p == MKL)
    blas_run(here.mkl, r->k, r->buffers);
  else if (p == STREAM || p == STREAM_NT)
    run_roof(r, p == STREAM_NT);
  else
    native_of(r, p)(r->buffers, r->k->sizes, r->k->scalars);
  return true;
}

// ---- checking -----------------------------------------------------------------------------------

static bool same_floats(const float *x, const float *y, size_t count, double tolerance,
                        double *worst) {
  double scale = 0;
  *worst = 0;
  for (size_t i = 0; i < count; i++) scale = fmax(scale, fabs((double)x[i]));
  for (size_t i = 0; i < count; i++) {
    double e = fabs((double)x[i] - (double)y[i]) / scale;
    if (!(e <= *worst)) *worst = e;
  }
  return *worst <= tolerance;
}

static bool same_buffer(const run *r, uint32_t b, const void *expected, bool is_fast,
                        double *worst) {
  const kernel *k = r->k;
  double tolerance = k->tolerance > 0 ? k->tolerance : 1e-5;
  bool is_float = k->buffers[b].kind == 'F';
  if (is_float && k->share == 0)
    return same_floats(expected, r->buffers[b], k->buffers[b].count,
                       is_fast ? 100 * tolerance : tolerance, worst);
  size_t each = is_bytes(r, b) ? 1 : 4, wrong = 0;
  const char *x = expected, *y = r->buffers[b];
  for (size_t i = 0; i < k->buffers[b].count; i++) {
    bool same = !memcmp(x + i * each, y + i * each, each);
    if (!same && is_float) {
      float u = ((const float *)x)[i], v = ((const float *)y)[i];
      same = fabsf(u - v) <= 1e-3f * fmaxf(1, fabsf(u));
    }
    wrong += !same;
  }
  *worst = (double)wrong / k->buffers[b].count;
  return *worst <= k->share;
}

// What each computes, against the plain loop in C: who is wrong does not count.
static void check(run *r, result *out) {
  void *expected[MAX_BUFFERS] = {NULL};
  fill(r);
  native_of(r, C_PLAIN)(r->buffers, r->k->sizes, r->k->scalars);
  for (uint32_t b = 0; b < r->buffer_count; b++)
    if (is_written(r, b)) {
      expected[b] = malloc(r->bytes[b]);
      if (!expected[b]) exit(1);
      memcpy(expected[b], r->buffers[b], r->bytes[b]);
    }
  for (peer p = 0; p < PEERS; p++) {
    if (!r->is_there[p] || bench_peers[p].class == CLASS_ROOF || p == C_PLAIN) continue;
    fill(r);
    uint64_t start = now_ns();
    bool has_run = run_peer(r, p);
    r->ns[p][0] = (double)(now_ns() - start);
    if (!has_run) {
      r->is_there[p] = false;
      fprintf(stderr, "%s: %s cannot run it\n", r->k->label, bench_peers[p].name);
      continue;
    }
    for (uint32_t b = 0; b < r->buffer_count; b++) {
      double worst;
      bool is_fast = p == VYRE_FAST || bench_peers[p].class == CLASS_FAST;
      if (!expected[b] || same_buffer(r, b, expected[b], is_fast, &worst)) continue;
      out->is_wrong[p] = true;
      fprintf(stderr, "%s: %s is WRONG in buffer %u (%g)\n", r->k->label, bench_peers[p].name, b,
              worst);
    }
  }
  for (uint32_t b = 0; b < r->buffer_count; b++) free(expected[b]);
}

// ---- measuring ----------------------------------------------------------------------------------

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double once(const run *r, peer p, uint32_t repeat) {
  if (p == VYRE_PAUSED) usleep(3000);
  uint64_t start = now_ns();
  for (uint32_t i = 0; i < repeat; i++) (void)run_peer(r, p);
  double ns = (double)(now_ns() - start) / repeat;
  // OpenMP's threads go on looking for work, in the way of whoever comes next.
  bool is_openmp = here.at == PHASE_ALL && ((p >= C_PLAIN && p <= C_TUNED_FAST) || p >= OPENBLAS);
  if (is_openmp) usleep(20000);
  return ns;
}

// Who takes this long is measured less often. Who took so long in the check that compiling, which a
// driver does then, is no excuse, and is slow, is not run again.
static const double LONG_NS = 2e8, HOPELESS_NS = 3e9, SLOW = 8;

static void measure(run *r, result *out) {
  uint32_t repeat[PEERS];
  for (peer p = 0; p < PEERS; p++) {
    if (!r->is_there[p]) continue;
    if (p != VYRE && r->ns[p][0] > HOPELESS_NS && r->ns[p][0] > SLOW * r->ns[VYRE][0]) continue;
    double best = once(r, p, 1);
    for (int i = 0; i < 4 && best < LONG_NS; i++) best = fmin(best, once(r, p, 1));
    repeat[p] = best > 2e6 || p == VYRE_PAUSED ? 1 : (uint32_t)(2e6 / best) + 1;
    r->rounds[p] = best < LONG_NS || here.options.rounds < 3 ? here.options.rounds : 3;
  }
  for (int round = 0; round < here.options.rounds; round++)
    for (peer p = 0; p < PEERS; p++)
      if (r->is_there[p] && round < r->rounds[p]) r->ns[p][round] = once(r, p, repeat[p]);
  for (peer p = 0; p < PEERS; p++) {
    if (!r->is_there[p]) continue;
    qsort(r->ns[p], (size_t)r->rounds[p], sizeof(double), compare_doubles);
    out->ns[p] = r->ns[p][r->rounds[p] / 2];
  }
}

void run_kernel(const kernel *k, result *out) {
  run r = {.k = k};
  *out = (result){0};
  if (here.options.rounds > MAX_ROUNDS) here.options.rounds = MAX_ROUNDS;
  allocate(&r);
  for (peer p = 0; p < PEERS; p++) r.is_there[p] = open_peer(&r, p);
  check(&r, out);
  fill(&r);
  measure(&r, out);
  out->is_measured = true;
  for (peer p = 0; p < PEERS; p++) {
    vyre_executable_release(r.vyre[p]);
    cl_peer_free(r.cl[p]);
  }
  for (uint32_t i = 0; i < r.buffer_count; i++) free(r.buffers[i]);
}
