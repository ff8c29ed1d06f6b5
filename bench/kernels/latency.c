// SPDX-License-Identifier: MIT
#include "kernels/latency.h"

#include "base/file.h"
#include "bench.h"

#include <stdlib.h>
#include <sys/resource.h>

double latency_cpu_ms(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

enum { TINY = 64, LATENCY_RUNS = 7 };

static float tiny_x[TINY], tiny_y[TINY];

static void dispatch_tiny(vyre_executable *e) {
  vyre_scalar a = vyre_scalar_f32(0.5f);
  vyre_span spans[] = {{tiny_x, sizeof tiny_x}, {tiny_y, sizeof tiny_y}};
  vyre_dispatch_args args = {.params = &a, .param_count = 1, .buffers = spans, .buffer_count = 2};
  if (vyre_dispatch(e, &args, NULL, NULL) != VYRE_OK) exit(1);
}

// CPU milliseconds from a program to its first answer, the best of several.
static double vyre_first(vyre_program *p, vyre_tier tier) {
  double best = 1e9;
  for (int i = 0; i < LATENCY_RUNS; i++) {
    vyre_executable *e;
    vyre_compile_options options = {.tier = tier, .threads = 1};
    double start = latency_cpu_ms();
    if (vyre_compile(p, "cpu", &options, &e, NULL) != VYRE_OK) exit(1);
    dispatch_tiny(e);
    double ms = latency_cpu_ms() - start;
    if (ms < best) best = ms;
    vyre_executable_release(e);
  }
  return best;
}

static void run_vyre_tiny(void *context, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) dispatch_tiny(context);
}

static void run_cl_tiny(void *context, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    if (!cl_peer_run(context)) exit(1);
}

static bool tiny_dispatches(vyre_program *p, const char *cl_path, cl_driver *driver) {
  vyre_executable *e;
  bool ok = true;
  if (vyre_compile(p, "cpu", NULL, &e, NULL) != VYRE_OK) exit(1);
  double mine = bench_ns(run_vyre_tiny, e, 20000, 9);
  printf("%-50s %10.1f ns\n", "a dispatch of 64 elements", mine);
  if (driver) {
    cl_peer *peer =
        cl_peer_new(driver, cl_path, "", "saxpy", (uint32_t[3]){TINY}, (uint32_t[3]){0});
    if (!peer) exit(1);
    cl_peer_buffer(peer, tiny_x, sizeof tiny_x);
    cl_peer_buffer(peer, tiny_y, sizeof tiny_y);
    cl_peer_scalar(peer, &(float){0.5f});
    double other = bench_ns(run_cl_tiny, peer, 2000, 9);
    ok = bench_at_least("  less than PoCL's enqueue and finish", other / mine, 5, "x");
    cl_peer_free(peer);
  }
  vyre_executable_release(e);
  return ok;
}

bool latency_show(const char *vyre_path, const char *cl_path, cl_driver *driver) {
  char *text;
  size_t size;
  vyre_program *p;
  bool ok = true;
  if (file_read(vyre_path, 1 << 20, &text, &size, NULL) != VYRE_OK ||
      vyre_program_parse(text, size, vyre_path, &p, NULL) != VYRE_OK)
    exit(1);
  setenv("VYRE_CACHE", "off", 1);
  double quick = vyre_first(p, VYRE_TIER_QUICK), full = vyre_first(p, VYRE_TIER_FULL);
  unsetenv("VYRE_CACHE");
  (void)vyre_first(p, VYRE_TIER_FULL); // fills the cache
  double cached = vyre_first(p, VYRE_TIER_FULL);
  printf("\nsaxpy, program to first answer, CPU ms: quick %.2f, full %.2f, cached %.3f\n", quick,
         full, cached);
  if (driver)
    ok &= bench_at_least("less CPU time than PoCL's build and first run",
                         cl_first_ms(driver) / quick, 30, "x");
  ok &= bench_at_least("full compile over cached object", full / cached, 20, "x");
  ok &= tiny_dispatches(p, cl_path, driver);
  vyre_program_release(p);
  free(text);
  return ok;
}
