// SPDX-License-Identifier: MIT
//
// The evidence store: records per second in batches as the background writer makes them, the size
// of the file after a million dispatches, and how long it takes to open a store of 100,000 keys and
// read one. Then the same through a runtime: a million dispatches of one kernel.
#include "bench.h"
#include "parts.h"
#include "profile/store.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, OPS = 64, DISPATCHES = 1000000, KEYS = 100000 };

static char names[KEYS][24];
static uint8_t prints[KEYS][STORE_FINGERPRINT];

// A dispatch is a region record and a latency sample; the writer joins those of one key.
static void append_dispatches(store *s, uint64_t dispatches) {
  static uint64_t ns[BATCH];
  vyre_error error;
  for (uint64_t done = 0; done < dispatches; done += BATCH) {
    store_region regions[OPS];
    store_latency latencies[OPS];
    for (uint32_t i = 0; i < BATCH; i++) ns[i] = 1000 + (done + i) % 977;
    for (uint32_t i = 0; i < OPS; i++) {
      uint32_t each = BATCH / OPS;
      regions[i] = (store_region){
          "cpu", prints[i], names[i], {each, each * 1000, 1976, each * 64, 0, 0}, each};
      latencies[i] =
          (store_latency){"cpu", names[i], prints[i], 12, "", "cpu full", "b", ns + i * each, each};
    }
    store_batch batch = {
        .regions = regions, .region_count = OPS, .latencies = latencies, .latency_count = OPS};
    must(store_append(s, &batch, &error), &error);
  }
}

static void append_keys(store *s) {
  static store_latency latencies[KEYS];
  static uint64_t ns[3] = {1, 2, 3};
  vyre_error error;
  for (uint32_t i = 0; i < KEYS; i++)
    latencies[i] = (store_latency){"cpu", names[i], prints[i], 12, "", "cpu full", "b", ns, 3};
  for (uint32_t i = 0; i < KEYS; i += 1000)
    must(store_append(s, &(store_batch){.latencies = latencies + i, .latency_count = 1000}, &error),
         &error);
}

static double open_and_read_ms(const char *path) {
  store *s;
  vyre_error error;
  arena memory = ARENA_INIT;
  store_latency_row *rows;
  uint32_t count;
  uint64_t begin = clock_now_ns();
  must(store_open(&(store_options){.path = path}, NULL, &s, &error), &error);
  must(store_load_latencies(s, prints[KEYS / 2], &memory, &rows, &count, &error), &error);
  double ms = (double)(clock_now_ns() - begin) * 1e-6;
  if (count != 1) exit(2);
  arena_free(&memory);
  store_close(s);
  return ms;
}

static bool measure_store(void) {
  char path[4200];
  snprintf(path, sizeof path, "%s/bench.db", getenv("VYRE_HOME"));
  for (int i = 0; i < KEYS; i++) {
    snprintf(names[i], sizeof *names, "op.kernel.%d", i);
    memcpy(prints[i], &i, sizeof i);
  }
  store *s;
  vyre_error error;
  must(store_open(&(store_options){.path = path}, NULL, &s, &error), &error);
  uint64_t begin = clock_now_ns();
  append_dispatches(s, DISPATCHES);
  double seconds = (double)(clock_now_ns() - begin) * 1e-9;
  store_counts counts;
  must(store_count(s, &counts, &error), &error);
  printf("%-50s %10.0f per second\n", "dispatches recorded, in batches of 256",
         DISPATCHES / seconds);
  bool ok = bench_at_most("size after 10^6 dispatches of 64 ops", (double)counts.size_bytes / 1024,
                          1024, "KiB");
  append_keys(s);
  must(store_count(s, &counts, &error), &error);
  ok &= bench_at_most("size with 10^5 keys", (double)counts.size_bytes / (1 << 20), 64, "MiB");
  store_close(s);
  double ms = 1e9;
  for (int i = 0; i < 10; i++) {
    double now = open_and_read_ms(path);
    if (now < ms) ms = now;
  }
  printf("%-50s %10.2f ms\n", "open a store of 10^5 keys and read one", ms);
  return ok;
}

// Through the runtime: every dispatch is counted, and the file stays small.
static bool measure_runtime(void) {
  static const char text[] = "program counted()\nbuffer x: f32[] readwrite\n"
                             "region counted_once grid(len(x)) { x[global_id.x] = 1.0 }\n";
  static float x[16];
  vyre_program *p = parse("counted", text);
  vyre_runtime *rt;
  vyre_kernel *k;
  vyre_error error;
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  must(vyre_runtime_new(&(vyre_runtime_options){.backend = "cpu"}, &rt, &error), &error);
  must(vyre_runtime_load(rt, p, &k, &error), &error);
  uint64_t begin = clock_now_ns();
  for (int i = 0; i < DISPATCHES; i++) must(vyre_kernel_dispatch(k, &args, NULL, &error), &error);
  double seconds = (double)(clock_now_ns() - begin) * 1e-9;
  vyre_runtime_free(rt);
  vyre_program_release(p);
  store *s;
  store_counts counts;
  hints *h = hints_new(NULL);
  must(store_open(NULL, NULL, &s, &error), &error);
  must(store_load_regions(s, NULL, 256, h, &error), &error);
  must(store_count(s, &counts, &error), &error);
  printf("%-50s %10.0f per second, %llu of 10^6 counted\n", "dispatches through the runtime",
         DISPATCHES / seconds, (unsigned long long)hints_dispatch_count(h, "counted_once"));
  bool ok = hints_dispatch_count(h, "counted_once") == DISPATCHES;
  hints_free(h);
  store_close(s);
  return bench_at_most("size of the store after them", (double)counts.size_bytes / 1024, 1024,
                       "KiB") &&
         ok;
}

bool part_store(void) {
  bool ok = measure_store();
  return measure_runtime() && ok;
}
