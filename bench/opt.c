// SPDX-License-Identifier: MIT
//
// What the optimizer costs and gains on the kernels of bench/kernels: no pass, selection cold (the
// shape alone), selection hot (the region was measured as hot), and everything (every pass of every
// profile). Static operations and run time on the CPU backend with one thread are geometric means
// over "no pass"; times are CPU time of the process, the best of rounds that take the four in turn.
// Where two of them give the same program, it is measured once for both. Exit status 1 when a bar
// is missed.
#include "base/file.h"
#include "bench.h"
#include "policy/optimize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_PARAMS = 3, MAX_BUFFERS = 8, ROUNDS = 15, OPTIMIZER_ROUNDS = 60 };
enum { N = 1 << 18, ROUND_NS = 1000000 };

typedef enum variant { NO_PASS, COLD, HOT, EVERYTHING, VARIANTS } variant;
static const char *const variant_names[] = {"no pass", "selection cold", "selection hot",
                                            "everything"};

typedef struct kernel {
  const char *name;
  double params[MAX_PARAMS];
  uint32_t lengths[MAX_BUFFERS];
  uint32_t below; // of the elements of u32 buffers; 0: zeros
} kernel;

static const kernel kernels[] = {
    {"aos", {0}, {N, N / 4}, 0},
    {"blackscholes", {0.02, 0.3}, {N / 4, N / 4, N / 4, N / 4}, 0},
    {"bytes", {0}, {N, 256}, 0},
    {"conv2d", {256}, {260 * 260, 25, 256 * 256}, 0},
    {"divergent", {0}, {N, N, N}, 0},
    {"dot", {0}, {N, N, N / 256}, 0},
    {"gather", {0.5}, {N, N, N}, N},
    {"histogram", {0}, {N, 256}, 256},
    {"mandelbrot", {256, 256, 128}, {256 * 256}, 0},
    {"matmul", {192}, {192 * 192, 192 * 192, 192 * 192}, 0},
    {"nbody", {1024, 0.01}, {1024, 1024, 1024, 1024, 1024, 1024, 1024}, 0},
    {"saxpy", {0.5}, {N, N}, 0},
    {"scan", {0}, {N, N}, 0},
    {"sgemv", {512}, {512 * 512, 512, 512}, 0},
    {"stencil3", {N}, {N, N}, 0},
    {"transpose", {512, 512}, {512 * 512, 512 * 512}, 0},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

typedef struct result { // of one kernel
  double operations[VARIANTS], run_ns[VARIANTS], optimizer_ns[VARIANTS];
} result;

static void fail(const char *what, const vyre_error *error) {
  fprintf(stderr, "bench_opt: %s: %s\n", what, error->message);
  exit(1);
}

// Other processes do not count: with one thread, CPU time is what the wall clock would show alone.
static uint64_t cpu_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct arguments {
  vyre_scalar params[MAX_PARAMS];
  vyre_span spans[MAX_BUFFERS];
  vyre_dispatch_args args;
} arguments;

static vyre_scalar scalar_of(vyre_type type, double value) {
  return type == VYRE_F32 ? vyre_scalar_f32((float)value) : vyre_scalar_u32((uint32_t)value);
}

static void fill(vyre_type type, void *data, uint32_t count, uint32_t below) {
  uint32_t state = 7;
  for (uint32_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    uint32_t x = state >> 8;
    if (type == VYRE_F32) ((float *)data)[i] = 0.25f + (float)x / 16777216.0f;
    if (type == VYRE_U32) ((uint32_t *)data)[i] = below ? x % below : 0;
    if (type == VYRE_U8) ((uint8_t *)data)[i] = (uint8_t)x;
  }
}

static void bind(const kernel *k, const vyre_program *p, arguments *a) {
  uint32_t params = vyre_program_param_count(p), buffers = vyre_program_buffer_count(p);
  for (uint32_t i = 0; i < params; i++)
    a->params[i] = scalar_of(vyre_program_param(p, i).type, k->params[i]);
  for (uint32_t i = 0; i < buffers; i++) {
    vyre_buffer_info info = vyre_program_buffer(p, i);
    size_t bytes = (size_t)k->lengths[i] * (info.type == VYRE_U8 ? 1 : 4);
    void *data = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!data) exit(1);
    fill(info.type, data, k->lengths[i], info.access == VYRE_READ ? k->below : 0);
    a->spans[i] = (vyre_span){data, bytes};
  }
  a->args = (vyre_dispatch_args){
      .params = a->params, .param_count = params, .buffers = a->spans, .buffer_count = buffers};
}

// ---- the optimizer ------------------------------------------------------------------------------

static optimize_options options_of(variant v, const hints *hot) {
  switch (v) {
  case NO_PASS: return (optimize_options){.mode = OPTIMIZE_NOTHING};
  case COLD: return (optimize_options){.mode = OPTIMIZE_SELECTED};
  case HOT: return (optimize_options){.mode = OPTIMIZE_SELECTED, .hints = hot};
  default:
    return (optimize_options){.mode = OPTIMIZE_EVERYTHING,
                              .profiles = PASS_PROFILE_RELEASE | PASS_PROFILE_DATAFLOW |
                                          PASS_PROFILE_MEGAKERNEL};
  }
}

static vyre_program *optimize(vyre_program *p, variant v, const hints *hot) {
  optimize_result r;
  vyre_error error;
  optimize_options options = options_of(v, hot);
  if (optimize_program(p, &options, &r, &error) != VYRE_OK) fail(variant_names[v], &error);
  vyre_program *made = vyre_program_retain(r.program);
  optimize_result_fini(&r);
  return made;
}

static void time_optimizer(vyre_program *p, const hints *hot, result *out) {
  for (int round = 0; round < OPTIMIZER_ROUNDS; round++)
    for (variant v = 0; v < VARIANTS; v++) {
      uint64_t start = cpu_now_ns();
      vyre_program_release(optimize(p, v, hot));
      double ns = (double)(cpu_now_ns() - start);
      if (!round || ns < out->optimizer_ns[v]) out->optimizer_ns[v] = ns;
    }
}

// ---- run time -----------------------------------------------------------------------------------

static double run_ns(vyre_executable *e, const vyre_dispatch_args *args, uint32_t repeat) {
  vyre_error error;
  uint64_t start = cpu_now_ns();
  for (uint32_t i = 0; i < repeat; i++)
    if (vyre_dispatch(e, args, NULL, &error) != VYRE_OK) fail("dispatch", &error);
  return (double)(cpu_now_ns() - start) / repeat;
}

// same[v]: the first variant with the same program.
static void time_runs(const kernel *k, vyre_program *const *programs, const variant *same,
                      result *out) {
  vyre_executable *made[VARIANTS] = {NULL};
  vyre_compile_options options = {.threads = 1, .optimize = VYRE_OPTIMIZE_NONE};
  vyre_error error;
  arguments a;
  bind(k, programs[0], &a);
  for (variant v = 0; v < VARIANTS; v++)
    if (same[v] == v && vyre_compile(programs[v], "cpu", &options, &made[v], &error) != VYRE_OK)
      fail(k->name, &error);
  run_ns(made[0], &a.args, 1);
  double first = run_ns(made[0], &a.args, 1);
  uint32_t repeat = first > ROUND_NS ? 1 : (uint32_t)(ROUND_NS / first) + 1;
  for (int round = 0; round < ROUNDS; round++)
    for (variant v = 0; v < VARIANTS; v++) {
      if (same[v] != v) continue;
      double ns = run_ns(made[v], &a.args, repeat);
      if (!round || ns < out->run_ns[v]) out->run_ns[v] = ns;
    }
  for (variant v = 0; v < VARIANTS; v++) out->run_ns[v] = out->run_ns[same[v]];
  for (variant v = 0; v < VARIANTS; v++) vyre_executable_release(made[v]);
  for (uint32_t i = 0; i < a.args.buffer_count; i++) free(a.spans[i].data);
}

static bool is_same_program(const vyre_program *a, const vyre_program *b) {
  uint8_t x[32], y[32];
  vyre_program_fingerprint(a, x);
  vyre_program_fingerprint(b, y);
  return !memcmp(x, y, sizeof x);
}

static void measure(const kernel *k, result *out) {
  char path[300], *text;
  size_t size;
  vyre_error error;
  vyre_program *program, *programs[VARIANTS];
  variant same[VARIANTS];
  snprintf(path, sizeof path, "%s/bench/kernels/%s.vyre", VYRE_SOURCE_DIR, k->name);
  if (file_read(path, 1 << 20, &text, &size, &error) != VYRE_OK ||
      vyre_program_parse(text, size, path, &program, &error) != VYRE_OK)
    fail(path, &error);
  free(text);
  hints *hot = hints_new(NULL);
  hints_record(hot, k->name, 1000000, 1);
  for (variant v = 0; v < VARIANTS; v++) {
    programs[v] = optimize(program, v, hot);
    out->operations[v] = (double)vyre_program_stats(programs[v]).instruction_count;
    same[v] = 0;
    while (!is_same_program(programs[same[v]], programs[v])) same[v]++;
  }
  time_optimizer(program, hot, out);
  time_runs(k, programs, same, out);
  for (variant v = 0; v < VARIANTS; v++) vyre_program_release(programs[v]);
  vyre_program_release(program);
  hints_free(hot);
}

// ---- reporting ----------------------------------------------------------------------------------

static double mean_ratio(const result *all, size_t field, variant v, variant base) {
  double sum = 0;
  for (size_t i = 0; i < KERNELS; i++) {
    const double *row = (const double *)((const char *)&all[i] + field);
    sum += log(row[v] / row[base]);
  }
  return exp(sum / KERNELS);
}

static double mean_ns(const result *all, variant v) {
  double sum = 0;
  for (size_t i = 0; i < KERNELS; i++) sum += log(all[i].optimizer_ns[v]);
  return exp(sum / KERNELS);
}

int main(void) {
  static result all[KERNELS];
  printf("%-13s %27s   %36s   %27s\n", "kernel", "operations", "run time, us", "optimizer, us");
  for (size_t i = 0; i < KERNELS; i++) {
    const result *r = &all[i];
    measure(&kernels[i], &all[i]);
    printf("%-13s", kernels[i].name);
    for (variant v = 0; v < VARIANTS; v++) printf(" %6.0f", r->operations[v]);
    printf("  ");
    for (variant v = 0; v < VARIANTS; v++) printf(" %8.1f", r->run_ns[v] / 1000);
    printf("  ");
    for (variant v = COLD; v < VARIANTS; v++) printf(" %8.1f", r->optimizer_ns[v] / 1000);
    putchar('\n');
    fflush(stdout);
  }
  printf("\n%-16s %12s %10s %14s\n", "geometric means", "operations", "run time", "optimizer, us");
  for (variant v = 0; v < VARIANTS; v++)
    printf("%-16s %12.3f %10.3f %14.1f\n", variant_names[v],
           mean_ratio(all, offsetof(result, operations), v, NO_PASS),
           mean_ratio(all, offsetof(result, run_ns), v, NO_PASS), mean_ns(all, v) / 1000);
  puts("");
  bool ok =
      bench_at_least("optimizer time, everything over cold",
                     mean_ratio(all, offsetof(result, optimizer_ns), EVERYTHING, COLD), 2, "x");
  ok &= bench_at_most("run time, cold over everything",
                      mean_ratio(all, offsetof(result, run_ns), COLD, EVERYTHING), 1.05, "x");
  return ok ? 0 : 1;
}
