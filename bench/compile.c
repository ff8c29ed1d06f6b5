// SPDX-License-Identifier: MIT
//
// How long the cpu backend takes to compile, with every pass and the full tier, and nothing cached.
// Many regions, many operations and many loops must cost each what few do: a compiler that is
// quadratic in anything shows there; what is beyond every reasonable size gets the quick tier.
// Regions are compiled side by side, on all cores.
// Kernels of ordinary size stand beside `clang-19 -O2 -march=native` on the C of the same program
// (`vyre compile --emit=c`): two commands that write assembly, run in turn. Ends with status 1 when
// a bar is missed.
#include <vyre/vyre.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "bench.h"
#include "process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 5 };

static void fail(const char *what) {
  fprintf(stderr, "bench_compile: %s\n", what);
  exit(2);
}

static double compile_ms(const char *text, size_t size, const vyre_compile_options *options) {
  vyre_program *p;
  vyre_executable *e;
  vyre_error error;
  uint64_t start = clock_now_ns();
  if (vyre_program_parse(text, size, "bench", &p, &error) != VYRE_OK ||
      vyre_compile(p, "cpu", options, &e, &error) != VYRE_OK)
    fail(error.message);
  uint64_t end = clock_now_ns();
  vyre_executable_release(e);
  vyre_program_release(p);
  return (double)(end - start) * 1e-6;
}

// ---- growth -------------------------------------------------------------------------------------

static void many_regions(strbuf *s, int count) {
  strbuf_puts(s, "program regions(a: u32)\nbuffer x: u32[] readwrite\n");
  for (int i = 0; i < count; i++)
    strbuf_printf(s, "region r%d grid(len(x)) { x[global_id.x] = x[global_id.x] * a + %d }\n", i,
                  i);
}

static void many_operations(strbuf *s, int count) {
  strbuf_puts(s, "program operations(a: u32)\nbuffer x: u32[] readwrite\n"
                 "region main grid(len(x)) {\n  let i = global_id.x\n  var v: u32 = x[i]\n");
  for (int i = 0; i < count / 4; i++)
    strbuf_printf(s, "  v = (v ^ %d) * a + (v >> %d)\n", 3 * i + 1, 1 + i % 31);
  strbuf_puts(s, "  x[i] = v\n}\n");
}

static void many_conditions(strbuf *s, int count) {
  strbuf_puts(s,
              "program conditions(a: u32)\nbuffer x: u32[] readwrite\nbuffer y: u32[] readwrite\n"
              "region main grid(len(x)) {\n  let i = global_id.x\n");
  for (int i = 0; i < count; i++) strbuf_printf(s, "  if i + %d < a { y[i] = x[i] + %d }\n", i, i);
  strbuf_puts(s, "}\n");
}

static void many_loops(strbuf *s, int count) {
  strbuf_puts(s, "program loops(a: u32)\nbuffer x: u32[] readwrite\n"
                 "region main grid(len(x)) {\n  let i = global_id.x\n  var v: u32 = x[i]\n");
  for (int i = 0; i < count; i++) strbuf_printf(s, "  for k in %d..a { v = v * 3 + k }\n", i);
  strbuf_puts(s, "  x[i] = v\n}\n");
}

static double time_of(void (*make)(strbuf *s, int count), int count,
                      const vyre_compile_options *options) {
  strbuf s = {0};
  size_t size;
  make(&s, count);
  char *text = strbuf_take(&s, &size);
  if (!text) fail("out of memory");
  double best = 0;
  for (int i = 0; i < 3; i++) {
    double ms = compile_ms(text, size, options);
    if (i == 0 || ms < best) best = ms;
  }
  free(text);
  return best;
}

static bool grows_straight(const char *what, void (*make)(strbuf *s, int count), int few,
                           int many) {
  double small = time_of(make, few, NULL), large = time_of(make, many, NULL);
  char line[100];
  printf("  %d %s: %.1f ms; %d: %.1f ms\n", few, what, small, many, large);
  snprintf(line, sizeof line, "one of %d %s over one of %d", many, what, few);
  return bench_at_most(line, large / many / (small / few), 1.5, "x");
}

// ---- threads ------------------------------------------------------------------------------------

static bool regions_share_cores(int count) {
  vyre_compile_options one = {
      .tier = VYRE_TIER_QUICK, .threads = 1, .optimize = VYRE_OPTIMIZE_NONE};
  vyre_compile_options all = one;
  all.threads = 0;
  double alone = time_of(many_regions, count, &one), together = time_of(many_regions, count, &all);
  printf("  %d regions, quick tier: %.1f ms on one thread, %.1f on all\n", count, alone, together);
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return true;
  return bench_at_least("all cores over one thread", alone / together, 1.5, "x");
}

// ---- beside clang -------------------------------------------------------------------------------

// 50 lines with a mask of 16 bits on each.
static void many_masks(strbuf *s) {
  strbuf_puts(s, "program masks()\nbuffer x: u16[] read\nbuffer y: u16[] readwrite\n"
                 "region main grid(len(x)) {\n  let i = global_id.x\n  var v: u16 = x[i]\n");
  for (int i = 0; i < 50; i++)
    strbuf_printf(s, "  if (v & %d) != %d { v = v * %d + y[i + %d] }\n", 1 << i % 16,
                  i % 3 << i % 14, 2 * i + 3, i % 7);
  strbuf_puts(s, "  y[i] = v\n}\n");
}

// Bytes at equal distances, which are accessed lane by lane.
static void many_strides(strbuf *s) {
  strbuf_puts(s, "program strides()\nbuffer x: u8[] read\nbuffer y: u8[] write\n"
                 "region main grid(len(y) / 13) {\n  let i = global_id.x\n");
  for (int i = 0; i < 13; i++)
    strbuf_printf(s, "  y[i * 13 + %d] = x[i * 11 + %d] * %d + x[i]\n", i, i % 11, 2 * i + 3);
  strbuf_puts(s, "}\n");
}

typedef struct peer {
  const char *command; // vyre
  char folder[40];
} peer;

enum { PROGRAM, SOURCE, ASSEMBLY, FILES };

static void paths_of(const peer *p, char paths[FILES][80]) {
  static const char *const names[FILES] = {"kernel.vyre", "kernel.c", "kernel.s"};
  for (int i = 0; i < FILES; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", p->folder, names[i]);
}

static double must_run(const char *const *args) {
  double ms = process_ms(args);
  if (ms < 0) fail(args[0]);
  return ms;
}

static bool compare(const peer *p, const char *name, const char *text, size_t size) {
  char at[FILES][80], line[100];
  vyre_error error;
  paths_of(p, at);
  if (file_replace(at[PROGRAM], text, size, &error) != VYRE_OK) fail(error.message);
  const char *emit[] = {p->command, "compile", at[PROGRAM], "--emit=c", "-o", at[SOURCE], NULL};
  const char *vyre[] = {p->command, "compile", at[PROGRAM], "--emit=asm", "-o", at[ASSEMBLY], NULL};
  const char *clang[] = {"clang-19", "-O2", "-march=native", "-w", "-S",
                         at[SOURCE], "-o",  at[ASSEMBLY],    NULL};
  must_run(emit);
  double ours = 0, clangs = 0;
  for (int i = 0; i < REPEATS; i++) {
    double a = must_run(vyre), b = must_run(clang);
    if (i == 0 || a < ours) ours = a;
    if (i == 0 || b < clangs) clangs = b;
  }
  snprintf(line, sizeof line, "%s: %.1f ms, clang %.1f ms", name, ours, clangs);
  return bench_at_most(line, ours / clangs, 3, "x");
}

static bool compare_kernel(const peer *p, const char *name) {
  char path[400], *text;
  size_t size;
  vyre_error error;
  snprintf(path, sizeof path, "%s/bench/kernels/%s.vyre", VYRE_SOURCE_DIR, name);
  if (file_read(path, 1 << 20, &text, &size, &error) != VYRE_OK) fail(error.message);
  bool ok = compare(p, name, text, size);
  free(text);
  return ok;
}

static bool compare_made(const peer *p, const char *name, void (*make)(strbuf *s)) {
  strbuf s = {0};
  size_t size;
  make(&s);
  char *text = strbuf_take(&s, &size);
  if (!text) fail("out of memory");
  bool ok = compare(p, name, text, size);
  free(text);
  return ok;
}

static void remove_folder(const peer *p) {
  char at[FILES][80];
  paths_of(p, at);
  for (int i = 0; i < FILES; i++) unlink(at[i]);
  rmdir(p->folder);
}

int main(int argc, char **argv) {
  static const char *const kernels[] = {"saxpy", "matmul", "nbody", "blackscholes", "scan"};
  char *command = find_command(argc ? argv[0] : "");
  peer p = {command, "/tmp/vyre-bench-compile-XXXXXX"};
  if (!command || !mkdtemp(p.folder) || setenv("VYRE_CACHE", "off", 1)) fail("cannot begin");
  printf("compile: program to machine code, full tier, nothing cached; minima\n");
  bool ok = grows_straight("regions", many_regions, 512, 4096);
  ok &= grows_straight("operations", many_operations, 7500, 30000);
  ok &= grows_straight("conditions", many_conditions, 64, 512);
  ok &= grows_straight("loops", many_loops, 32, 256);
  ok &= regions_share_cores(512);
  ok &= compare_made(&p, "50 masks of 16 bits", many_masks);
  ok &= compare_made(&p, "26 accesses at equal distances", many_strides);
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    ok &= compare_kernel(&p, kernels[i]);
  remove_folder(&p);
  free(command);
  return !ok;
}
