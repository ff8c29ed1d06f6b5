// SPDX-License-Identifier: MIT
//
// Looking ahead: a kernel whose arguments change, each set used for a while. A stall is a change to
// arguments whose variant is not there yet. Cycles and progressions can be foreseen; random ones
// cannot, and there the time that the background spends is waste.
#include "bench.h"
#include "parts.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { COUNT = 4096, CHANGES = 160 };
#define HOLD_NS UINT64_C(100000000)

static const char text[] =
    "program steps(n: u32, m: u32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] write\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  var s: f32 = x[i]\n"
    "  for k in 0..n { s = s * 0.5 + f32(m) }\n  y[i] = s\n}\n";

typedef struct sequence {
  const char *name;
  void (*key)(uint32_t step, uint32_t out[2]);
} sequence;

static void cycle_of_five(uint32_t step, uint32_t out[2]) {
  out[0] = 8 + step % 5 * 7;
  out[1] = step % 5;
}

static void cycle_of_twelve(uint32_t step, uint32_t out[2]) {
  out[0] = 4 + (step * 5) % 12;
  out[1] = (step * 7) % 12;
}

static void arithmetic(uint32_t step, uint32_t out[2]) {
  out[0] = 8 + step;
  out[1] = 3;
}

static void geometric(uint32_t step, uint32_t out[2]) {
  out[0] = 16;
  out[1] = 1u << step % 30; // doubles, and begins anew
}

static void random_keys(uint32_t step, uint32_t out[2]) {
  uint32_t x = step * 2654435761u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  out[0] = 1 + x % 64;
  out[1] = x >> 8;
}

static double seconds_of(int who) {
  struct rusage use;
  getrusage(who, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

typedef struct outcome {
  double removed;           // share of changes without a stall
  double background, waste; // shares of the CPU time: all of it, and for what nobody used
  uint32_t prepared, used;
} outcome;

static outcome play(const sequence *s) {
  static float x[COUNT], y[COUNT];
  vyre_runtime *rt;
  vyre_kernel *k;
  vyre_error error;
  vyre_program *p = parse(s->name, text);
  vyre_runtime_options o = {.backend = "cpu", .specialise = true, .learn_after = UINT32_MAX};
  must(vyre_runtime_new(&o, &rt, &error), &error);
  must(vyre_runtime_load(rt, p, &k, &error), &error);
  double self = seconds_of(RUSAGE_SELF);
  for (uint32_t step = 0; step < CHANGES; step++) {
    uint32_t key[2];
    s->key(step, key);
    vyre_scalar params[] = {vyre_scalar_u32(key[0]), vyre_scalar_u32(key[1])};
    vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_dispatch_args args = {
        .params = params, .param_count = 2, .buffers = spans, .buffer_count = 2};
    uint64_t begin = clock_now_ns();
    while (clock_now_ns() - begin < HOLD_NS)
      must(vyre_kernel_dispatch(k, &args, NULL, &error), &error);
  }
  self = seconds_of(RUSAGE_SELF) - self;
  double background = (double)worker_cpu_ns(rt->worker) * 1e-9;
  vyre_runtime_settle(rt);
  special_judge_all(k);
  outcome r = {.removed = 1 - (double)k->stalls / (double)k->changes,
               .background = background / self,
               .waste = (double)k->wasted_ns * 1e-9 / self,
               .prepared = k->speculated,
               .used = k->speculated_used};
  vyre_runtime_free(rt);
  vyre_program_release(p);
  return r;
}

bool part_speculation(void) {
  static const sequence sequences[] = {
      {"cycle5", cycle_of_five}, {"cycle12", cycle_of_twelve}, {"arithmetic", arithmetic},
      {"geometric", geometric},  {"random", random_keys},
  };
  bool ok = true;
  setenv("VYRE_CACHE", "off", 1); // compiling is what is to be hidden
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
    bool is_random = sequences[i].key == random_keys;
    outcome r = play(&sequences[i]);
    printf("  %-11s stalls removed %5.1f %%; of the CPU time %.1f %% in the background, %.1f %% in "
           "vain; %u prepared, %u of them used\n",
           sequences[i].name, r.removed * 100, r.background * 100, r.waste * 100, r.prepared,
           r.used);
    if (is_random)
      ok &= bench_at_most("random: CPU time in vain", r.waste * 100, 5, "%");
    else
      ok &= bench_at_least("stalls removed", r.removed * 100, 90, "%");
  }
  unsetenv("VYRE_CACHE");
  return ok;
}
