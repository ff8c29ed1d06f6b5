// SPDX-License-Identifier: MIT
//
// What a steady dispatch costs: a saxpy of 16 elements through the runtime, through vyre_dispatch,
// and as a direct call of the compiled function; the same kernel through PoCL's enqueue and finish;
// an empty shader through a Vulkan submit. With one thread and with two. Then rule 8: what it
// allocates, and how often it enters the system.
#include "backend/cpu/compile.h"
#include "bench.h"
#include "kernels/opencl.h"
#include "parts.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 16, ROUNDS = 7, THREADS = 2 };

static const char text[] =
    "program tiny(a: f32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] readwrite\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  y[i] = a * x[i] + y[i]\n}\n";

typedef struct tiny {
  _Alignas(4096) float x[1024];
  _Alignas(4096) float y[1024];
  vyre_scalar a;
  vyre_span spans[2];
  vyre_dispatch_args args;
  vyre_kernel *kernel;
  vyre_executable *executable;
  cpu_kernels code;
  cl_peer *pocl;
} tiny;

static void tiny_init(tiny *t) {
  memset(t, 0, sizeof *t);
  t->a = vyre_scalar_f32(0.5f);
  t->spans[0] = (vyre_span){t->x, COUNT * sizeof(float)};
  t->spans[1] = (vyre_span){t->y, COUNT * sizeof(float)};
  t->args = (vyre_dispatch_args){
      .params = &t->a, .param_count = 1, .buffers = t->spans, .buffer_count = 2};
}

static void by_runtime(void *context, uint64_t count) {
  tiny *t = context;
  vyre_error error;
  for (uint64_t i = 0; i < count; i++)
    must(vyre_kernel_dispatch(t->kernel, &t->args, NULL, &error), &error);
}

static void by_executable(void *context, uint64_t count) {
  tiny *t = context;
  vyre_error error;
  for (uint64_t i = 0; i < count; i++)
    must(vyre_dispatch(t->executable, &t->args, NULL, &error), &error);
}

static void by_call(void *context, uint64_t count) {
  tiny *t = context;
  volatile uint32_t stop = 0;
  bound_buffer buffers[] = {{t->x, COUNT}, {t->y, COUNT}};
  uint64_t params[] = {t->a.bits};
  cpu_args args = {.params = params,
                   .buffers = buffers,
                   .grid = {COUNT, 1, 1},
                   .workgroup = {64, 1, 1},
                   .stop = &stop,
                   .is_alone = 1};
  uint32_t lo[3] = {0, 0, 0}, hi[3] = {COUNT, 1, 1};
  for (uint64_t i = 0; i < count; i++) t->code.functions[0](&args, lo, hi, NULL);
}

static void by_pocl(void *context, uint64_t count) {
  tiny *t = context;
  for (uint64_t i = 0; i < count; i++)
    if (!cl_peer_run(t->pocl)) exit(1);
}

// ---- two threads --------------------------------------------------------------------------------

typedef struct share {
  bench_fn run;
  void *context;
  uint64_t count;
} share;

static void *run_share(void *argument) {
  share *s = argument;
  s->run(s->context, s->count);
  return NULL;
}

// Nanoseconds of one repetition on each of two threads at once.
static double two_ns(bench_fn run, tiny *both[THREADS], uint64_t count) {
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[THREADS];
    share shares[THREADS];
    uint64_t begin = clock_now_ns();
    for (int i = 0; i < THREADS; i++) {
      shares[i] = (share){run, both[i], count};
      if (pthread_create(&threads[i], NULL, run_share, &shares[i])) exit(2);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    double each = (double)(clock_now_ns() - begin) / (double)count;
    if (!round || each < best) best = each;
  }
  return best;
}

// ---- rule 8 -------------------------------------------------------------------------------------

static uint64_t switches(void) {
  struct rusage use;
  getrusage(RUSAGE_THREAD, &use);
  return (uint64_t)use.ru_nvcsw;
}

// A steady dispatch allocates nothing and does not wait: counted over a hundred thousand.
static bool check_rule(tiny *t, vyre_runtime *rt) {
  enum { DISPATCHES = 100000 };
  by_runtime(t, 1000);
  vyre_runtime_settle(rt);
  struct mallinfo2 before = mallinfo2();
  uint64_t waited = switches();
  by_runtime(t, DISPATCHES);
  waited = switches() - waited;
  vyre_runtime_settle(rt); // answers that are compared again hold copies until then
  struct mallinfo2 after = mallinfo2();
  double bytes = (double)(int64_t)(after.uordblks - before.uordblks) / DISPATCHES;
  bool ok = bench_at_most("heap growth per dispatch", bytes, 0.01, "B");
  return bench_at_most("waits per 1000 dispatches", (double)waited * 1000.0 / DISPATCHES, 0.1,
                       "") &&
         ok;
}

// ---- the part -----------------------------------------------------------------------------------

static void prepare(tiny *t, vyre_runtime *rt, vyre_program *p, cl_driver *pocl) {
  static const uint32_t grid[3] = {COUNT}, group[3] = {COUNT};
  vyre_error error;
  float a = 0.5f;
  tiny_init(t);
  must(vyre_runtime_load(rt, p, &t->kernel, &error), &error);
  must(vyre_compile(p, "cpu", NULL, &t->executable, &error), &error);
  must(cpu_kernels_get(p, &(cpu_options){0}, &t->code, &error), &error);
  if (!pocl) return;
  t->pocl =
      cl_peer_new(pocl, VYRE_SOURCE_DIR "/bench/kernels/kernels.cl", "", "saxpy", grid, group);
  if (!t->pocl) exit(1);
  cl_peer_buffer(t->pocl, t->x, sizeof t->x);
  cl_peer_buffer(t->pocl, t->y, sizeof t->y);
  cl_peer_scalar(t->pocl, &a);
}

static bool show(tiny *both[THREADS], vyre_runtime *rt, bool has_pocl, bool has_vulkan) {
  enum { MANY = 100000, SOME = 2000 };
  tiny *t = both[0];
  double direct = bench_ns(by_call, t, MANY, ROUNDS);
  double runtime = bench_ns(by_runtime, t, MANY, ROUNDS);
  double backend = bench_ns(by_executable, t, MANY, ROUNDS);
  printf("  direct call %.1f ns; vyre_dispatch %.1f ns; runtime %.1f ns\n", direct, backend,
         runtime);
  double overhead = runtime - direct;
  bool ok = bench_at_most("overhead of the runtime over a direct call", overhead, 260, "ns");
  if (has_pocl) {
    double pocl = bench_ns(by_pocl, t, SOME, ROUNDS);
    printf("  PoCL enqueue and finish %.0f ns\n", pocl);
    ok &= bench_at_least("PoCL over the runtime's overhead, 1 thread", pocl / overhead, 10, "x");
    double two = two_ns(by_runtime, both, MANY), pocl_two = two_ns(by_pocl, both, SOME);
    printf("  two threads: runtime %.1f ns, PoCL %.0f ns\n", two, pocl_two);
    ok &= bench_at_least("PoCL over the runtime's overhead, 2 threads", pocl_two / (two - direct),
                         10, "x");
  } else {
    printf("  PoCL is not here\n");
  }
  if (has_vulkan) {
    double vulkan = bench_ns(vulkan_submit, NULL, SOME, ROUNDS);
    printf("  Vulkan submit and wait %.0f ns: %.1f times the runtime's overhead\n", vulkan,
           vulkan / overhead);
  } else {
    printf("  Vulkan is not here\n");
  }
  tiny *same[THREADS] = {t, t};
  printf("  two threads on one kernel: runtime %.1f ns\n", two_ns(by_runtime, same, MANY));
  return ok & check_rule(t, rt);
}

bool part_dispatch(void) {
  static tiny one, two;
  tiny *both[THREADS] = {&one, &two};
  vyre_runtime *rt;
  vyre_error error;
  cl_driver *pocl = cl_driver_open("Portable");
  bool has_vulkan = vulkan_open();
  must(vyre_runtime_new(NULL, &rt, &error), &error);
  for (int i = 0; i < THREADS; i++) {
    vyre_program *p = parse(i ? "tiny.two" : "tiny", text);
    prepare(both[i], rt, p, pocl);
    vyre_program_release(p);
    by_runtime(both[i], 100);
  }
  vyre_runtime_settle(rt);
  bool ok = show(both, rt, pocl != NULL, has_vulkan);
  for (int i = 0; i < THREADS; i++) {
    vyre_executable_release(both[i]->executable);
    cpu_kernels_fini(&both[i]->code);
    if (both[i]->pocl) cl_peer_free(both[i]->pocl);
  }
  vyre_runtime_free(rt);
  return ok;
}
