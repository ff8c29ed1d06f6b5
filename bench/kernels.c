// SPDX-License-Identifier: MIT
//
// The CPU backend beside what its users would write instead: C loops, plain and tuned, by gcc and
// clang, exact and fast, with OpenMP; the same kernels in OpenCL C by PoCL and by Intel; Halide;
// OpenBLAS and MKL. All run on the same data in one process, in turn, and medians are compared;
// what is printed are ratios. One process measures with one core, another one with all. Ends with
// status 1 when a bar is missed or vyre gave a wrong answer.
//
//     bench_kernels [--json] [--one | --all] [--cpu] [--ways] [--rounds N] [--list] [NAME ...]
//
// A NAME picks kernels whose name begins with it; --one and --all measure with one core only, or
// with all of them only; --cpu takes CPU time on one core, for a machine that does other things;
// --ways leaves the peers out, and tells how long vyre takes without passes, with those that are
// selected, and with all.
#include "bench.h"
#include "kernels/latency.h"
#include "kernels/report.h"
#include "kernels/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_picked(const kernel *k, char **names, int count) {
  for (int i = 0; i < count; i++)
    if (!strncmp(k->label, names[i], strlen(names[i]))) return true;
  return count == 0;
}

static void measure(report *all, phase at, const run_options *options, char **names, int count) {
  run_begin(at, options);
  report_phase *out = &all->phases[at];
  out->gflops = roof_gflops(at == PHASE_ALL);
  out->memory = roof_measure_memory(at == PHASE_ALL);
  if (!all->is_json) {
    if (at == PHASE_ONE) run_describe();
    report_head(out, at);
  }
  for (uint32_t i = 0; i < bench_kernel_count; i++) {
    if (!is_picked(&bench_kernels[i], names, count)) continue;
    run_kernel(&bench_kernels[i], &out->results[i]);
    if (!all->is_json) report_row(&bench_kernels[i], &out->results[i], out, at);
  }
  if (count == 0 && at == PHASE_ALL && !all->is_json)
    out->is_latency_missed = !latency_show(VYRE_SOURCE_DIR "/bench/kernels/saxpy.vyre",
                                           VYRE_SOURCE_DIR "/bench/kernels/kernels.cl", run_pocl());
  fflush(stdout);
}

// In a child, since how many cores a library uses is settled when it is first called.
static bool measure_apart(report *all, phase at, const run_options *options, char **names,
                          int count) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    measure(all, at, options, names, count);
    _exit(0); // without the destructors of drivers that the parent does not have
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    fprintf(stderr, "bench_kernels: measuring %s ended with status %d\n",
            at == PHASE_ONE ? "one core" : "all cores", status);
    return false;
  }
  return true;
}

static int usage(void) {
  fputs("usage: bench_kernels [--json] [--one | --all] [--cpu] [--ways] [--rounds N] [--list] "
        "[NAME ...]\n",
        stderr);
  return 2;
}

int main(int argc, char **argv) {
  run_options options = {.rounds = 9, .peers_folder = VYRE_SOURCE_DIR "/build/peers"};
  bool is_wanted[PHASES] = {true, true}, ok = true;
  report *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return 1;
  setvbuf(stdout, NULL, _IOLBF, 0); // a row is there as soon as it was measured
  int at = 1;
  for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
    if (!strcmp(argv[at], "--json")) {
      all->is_json = true;
    } else if (!strcmp(argv[at], "--one")) {
      is_wanted[PHASE_ALL] = false;
    } else if (!strcmp(argv[at], "--all")) {
      is_wanted[PHASE_ONE] = false;
    } else if (!strcmp(argv[at], "--cpu")) {
      options.is_cpu_time = true;
    } else if (!strcmp(argv[at], "--ways")) {
      options.is_vyre_only = true;
    } else if (!strcmp(argv[at], "--rounds") && at + 1 < argc && atoi(argv[at + 1]) > 0) {
      options.rounds = atoi(argv[++at]);
    } else if (!strcmp(argv[at], "--list")) {
      for (uint32_t i = 0; i < bench_kernel_count; i++) puts(bench_kernels[i].label);
      return 0;
    } else {
      return usage();
    }
  }
  for (phase p = 0; p < PHASES; p++)
    if (is_wanted[p]) ok &= measure_apart(all, p, &options, argv + at, argc - at);
  if (all->is_json) report_json(all);
  return report_bars(all) && ok ? 0 : 1;
}
