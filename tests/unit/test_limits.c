// SPDX-License-Identifier: MIT
//
// Time limits: whatever a program does, on every backend, a dispatch and a compile with a limit
// come back and say that it passed. How soon is measured by nobody here: what does not come back is
// ended by the runner.
#include "backend/backend.h"
#include "backend/pieces.h"
#include "backend/ref/ref.h"
#include "base/clock.h"
#include "base/limited.h"
#include "base/strbuf.h"

#include "../parsed_program.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MILLISECOND = 1000000 };

// ---- programs that do not end -------------------------------------------------------------------

#define HEAD  "program endless()\nbuffer x: u32[] read\nbuffer y: u32[] readwrite\n"
#define HUGE  "2147483647"
#define SPACE "1048576, 1048576, 1048576"
#define ID    "let i = global_id.x\n"

typedef struct shape {
  const char *name, *text;
} shape;

static const shape shapes[] = {
    {"an endless while",
     HEAD "region main grid(64) {\n" ID "while x[0] == 0 {\ny[i] = y[i] + 1\n}\n}\n"},
    {"an endless while that does nothing", HEAD "region main grid(64) {\nwhile true {\n}\n}\n"},
    {"a long for", HEAD "region main grid(64) {\n" ID "for k in 0u64..1u64 << 63 {\n"
                        "y[i] = y[i] * 3 + u32(k)\n}\n}\n"},
    {"nested loops", HEAD "region main grid(64) {\n" ID "for a in 0u32.." HUGE " {\n"
                          "for b in 0u32.." HUGE " {\nfor c in 0u32..3 {\ny[i] = y[i] * 3 + c\n"
                          "}\n}\n}\n}\n"},
    {"a loop of atomics", HEAD "region main grid(4096) {\nfor k in 0u64..1u64 << 63 {\n"
                               "atomic_add(y[0], 1)\n}\n}\n"},
    {"a loop of barriers",
     HEAD "region main grid(64) workgroup(8) {\nwhile x[0] == 0 {\nbarrier\n}\n}\n"},
    {"a loop of barriers and loops", HEAD "region main grid(64) workgroup(8) {\n" ID
                                          "for a in 0u32.." HUGE " {\nfor b in 0u32..1000000 {\n"
                                          "y[i] = y[i] * 3 + b\n}\nbarrier\n}\n}\n"},
    {"a huge plane", HEAD "region main grid(" HUGE ", " HUGE ") {\n" ID "y[i] = 1\n}\n"},
    {"a huge space", HEAD "region main grid(" SPACE ") {\n" ID "y[i] = 1\n}\n"},
    {"a huge plane, flat", HEAD "region main grid(1, " HUGE ", " HUGE ") {\n"
                                "let i = global_id.y\ny[i] = 1\n}\n"},
    {"a huge line with a loop", HEAD "region main grid(" HUGE ") {\n" ID "for k in 0u32..100000 {\n"
                                     "y[i] = y[i] * 3 + k\n}\n}\n"},
    {"a huge space with a loop", HEAD "region main grid(" SPACE ") {\n" ID
                                      "for k in 0u32..1000 {\ny[i] = y[i] * 3 + k\n}\n}\n"},
    {"a huge plane of workgroups",
     HEAD "region main grid(2147483640, " HUGE ") workgroup(8) {\n" ID "y[i] = 1\n}\n"},
    {"a huge plane of workgroups with barriers",
     HEAD "region main grid(2147483640, " HUGE ") workgroup(8) {\nshared s: u32[8]\n"
          "let i = local_id.x\ns[i] = global_id.x\nbarrier\ny[i] = s[7 - i] + group_id.x\n}\n"},
    {"a huge plane of atomics",
     HEAD "region main grid(" HUGE ", " HUGE ") {\natomic_add(y[global_id.x % 64], 1)\n}\n"},
    {"a huge plane that does nothing", HEAD "region main grid(" HUGE ", " HUGE ") {\n}\n"},
    {"a program without buffers", "program none()\nregion main grid(" HUGE ", " HUGE ") {\n}\n"},
    {"a region behind another", HEAD "region a grid(64) {\n" ID "y[i] = 1\n}\n"
                                     "region b grid(" HUGE ", " HUGE ") {\n" ID "y[i] = 2\n}\n"
                                     "region c grid(64) {\n" ID "y[i] = 3\n}\n"},
};

enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

static void expect_timeout(const char *backend, const shape *s, uint64_t limit_ns) {
  static uint32_t x[64], y[64];
  vyre_program *p = parse(s->text);
  vyre_executable *e;
  vyre_error error = {0};
  if (vyre_compile(p, backend, NULL, &e, &error) != VYRE_OK)
    fail_msg("%s: %s", s->name, error.message);
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {
      .buffers = spans, .buffer_count = vyre_program_buffer_count(p), .timeout_ns = limit_ns};
  // At first the driver may be compiling; it goes on, so that in the end the kernel runs.
  do {
    vyre_status status = vyre_dispatch(e, &args, NULL, &error);
    if (status != VYRE_ERROR_TIMEOUT)
      fail_msg("%s on %s: %s: %s", s->name, backend, vyre_status_name(status), error.message);
    if (!strstr(error.message, "passed the time limit") || !strstr(error.message, "Fix:"))
      fail_msg("%s on %s: %s", s->name, backend, error.message);
  } while (strncmp(error.message, "region", 6));
  vyre_executable_release(e);
  vyre_program_release(p);
}

static void expect_timeouts(const char *backend, uint64_t limit_ns) {
  uint32_t count = 0;
  if (vyre_backend_devices(backend, NULL, 0, &count, NULL) != VYRE_OK || !count) skip();
  for (int i = 0; i < SHAPE_COUNT; i++) expect_timeout(backend, &shapes[i], limit_ns);
}

static void test_endless_on_ref(void **state) {
  (void)state;
  expect_timeouts("ref", 20 * MILLISECOND);
}

static void test_endless_on_cpu(void **state) {
  (void)state;
  expect_timeouts("cpu", 20 * MILLISECOND);
}

static void test_endless_on_opencl(void **state) {
  (void)state;
  expect_timeouts("opencl", 100 * MILLISECOND);
}

// ---- grids in pieces ----------------------------------------------------------------------------

static void check_pieces(const size_t global[3], const size_t local[3], uint64_t most) {
  pieces p;
  size_t offset[3], size[3];
  uint64_t whole = (uint64_t)global[0] * global[1] * global[2], seen = 0;
  unsigned char *counts = calloc(whole + 1, 1);
  assert_non_null(counts);
  pieces_begin(&p, global, local, most);
  while (pieces_next(&p, offset, size)) {
    uint64_t count = (uint64_t)size[0] * size[1] * size[2];
    assert_true(count && (count <= most || count == (uint64_t)local[0] * local[1] * local[2]));
    for (int k = 0; k < 3; k++) assert_true(size[k] % local[k] == 0 && offset[k] % local[k] == 0);
    for (size_t z = offset[2]; z < offset[2] + size[2]; z++)
      for (size_t y = offset[1]; y < offset[1] + size[1]; y++)
        for (size_t x = offset[0]; x < offset[0] + size[0]; x++, seen++)
          assert_int_equal(counts[(z * global[1] + y) * global[0] + x]++, 0);
  }
  assert_int_equal(seen, whole);
  free(counts);
}

// Every invocation is in one piece, and pieces are of whole workgroups.
static void test_pieces(void **state) {
  (void)state;
  static const size_t locals[][3] = {{1, 1, 1}, {4, 1, 1}, {2, 3, 1}, {1, 2, 2}};
  for (size_t n = 0; n < sizeof locals / sizeof *locals; n++)
    for (size_t x = 0; x < 4; x++)
      for (size_t y = 0; y < 4; y++)
        for (size_t z = 0; z < 4; z++)
          for (uint64_t most = 1; most < 70; most += 7) {
            const size_t *l = locals[n];
            check_pieces((size_t[]){x * 3 * l[0], y * l[1], z * l[2]}, l, most);
          }
}

// Pieces are smaller where each workgroup clears much before it asks whether to stop.
static void test_weights_of_pieces(void **state) {
  (void)state;
  vyre_program *p = parse("program weights()\nbuffer y: u32[] readwrite\n"
                          "region light grid(64) {\ny[global_id.x] = 1\n}\n"
                          "region heavy grid(64) workgroup(4) {\nshared s: u32[1000]\n"
                          "shared t: u8[1000]\ns[local_id.x * 7] = 1\nt[local_id.x * 5] = 2\n"
                          "barrier\ny[global_id.x] = s[7] + u32(t[5])\n}\n");
  assert_int_equal(pieces_weight(p, &p->regions[0]), 1);
  assert_int_equal(pieces_weight(p, &p->regions[1]), 1 + 5000 / 16);
  vyre_program_release(p);
}

// Numbers of workgroups are those of the whole grid, wherever it is cut.
static void test_groups_of_pieces(void **state) {
  (void)state;
  static const char text[] =
      "program groups()\nbuffer out: u32[] readwrite\nbuffer n: u32[2] read\n"
      "region main grid(8388616, 2) workgroup(8, 1) {\nlet i = global_id.x\n"
      "var s: u32 = 0\nfor k in 0u32..n[0] {\ns = s + k\n}\n"
      "if local_id.x == 0 {\nout[group_id.y * group_count.x + group_id.x] = "
      "group_id.x * 3 + group_count.x + group_id.y + s\n}\n}\n";
  uint32_t count = 0, groups = 8388616 / 8;
  if (vyre_backend_devices("opencl", NULL, 0, &count, NULL) != VYRE_OK || !count) skip();
  vyre_program *p = parse(text);
  vyre_executable *e;
  vyre_error error = {0};
  if (vyre_compile(p, "opencl", NULL, &e, &error) != VYRE_OK) fail_msg("%s", error.message);
  uint32_t *out = calloc(2 * (size_t)groups, sizeof *out), n[2] = {3, 0};
  vyre_span spans[] = {{out, 2 * groups * sizeof *out}, {n, sizeof n}};
  vyre_dispatch_args args = {
      .buffers = spans, .buffer_count = 2, .timeout_ns = UINT64_C(500000000000)};
  if (vyre_dispatch(e, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
  for (uint32_t y = 0; y < 2; y++)
    for (uint32_t x = 0; x < groups; x++)
      if (out[y * groups + x] != x * 3 + groups + y + 3)
        fail_msg("group %u, %u: %u", x, y, out[y * groups + x]);
  free(out);
  vyre_executable_release(e);
  vyre_program_release(p);
}

// ---- compiling ----------------------------------------------------------------------------------

static char *many_loads(int count) {
  strbuf text = {0};
  strbuf_puts(&text, "program loads()\nbuffer x: f32[] read\nbuffer y: f32[] readwrite\n"
                     "region main grid(len(y)) {\nlet i = global_id.x\nvar s: f32 = 0.0\n");
  for (int k = 0; k < count; k++) strbuf_printf(&text, "s = s + x[i * 3 + %d]\n", k);
  strbuf_puts(&text, "y[i] = s\n}\n");
  size_t size;
  char *taken = strbuf_take(&text, &size);
  assert_non_null(taken);
  return taken;
}

// Nothing compiles 2,000 loads within a tenth of a millisecond.
static void test_compiling_counts(void **state) {
  (void)state;
  char *text = many_loads(2000);
  vyre_program *p = parse(text);
  vyre_compile_options options = {.timeout_ns = MILLISECOND / 10};
  for (int again = 0; again < 3; again++) {
    vyre_executable *e = NULL;
    vyre_error error = {0};
    assert_int_equal(vyre_compile(p, "cpu", &options, &e, &error), VYRE_ERROR_TIMEOUT);
    assert_null(e);
    assert_non_null(strstr(error.message, "compiling `loads` passed the time limit"));
  }
  vyre_program_release(p); // what was given up has its own reference
  free(text);
}

static void test_compiling_counts_in_the_runtime(void **state) {
  (void)state;
  char *text = many_loads(1999);
  vyre_program *p = parse(text);
  vyre_runtime *rt;
  vyre_kernel *k;
  vyre_error error = {0};
  assert_int_equal(vyre_runtime_new(NULL, &rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(rt, p, &k, &error), VYRE_OK);
  static float x[64], y[64];
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 2, .timeout_ns = MILLISECOND / 10};
  assert_int_equal(vyre_kernel_dispatch(k, &args, NULL, &error), VYRE_ERROR_TIMEOUT);
  assert_non_null(strstr(error.message, "compiling"));
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
  free(text);
}

// ---- work that is given up ----------------------------------------------------------------------

typedef struct gate {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_open;
  int begun, stopped, discarded;
} gate;

static gate work_gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void gate_add(int *count) {
  pthread_mutex_lock(&work_gate.lock);
  ++*count;
  pthread_cond_broadcast(&work_gate.changed);
  pthread_mutex_unlock(&work_gate.lock);
}

static void gate_wait(const int *count, int wanted) {
  pthread_mutex_lock(&work_gate.lock);
  while (*count < wanted) pthread_cond_wait(&work_gate.changed, &work_gate.lock);
  pthread_mutex_unlock(&work_gate.lock);
}

// Goes on until the gate opens, or until it is asked to stop.
static void wait_at_gate(void *job, const volatile uint32_t *stop) {
  (void)job;
  gate_add(&work_gate.begun);
  bool is_open = false;
  while (!is_open && !__atomic_load_n(stop, __ATOMIC_RELAXED)) {
    nanosleep(&(struct timespec){.tv_nsec = MILLISECOND}, NULL);
    pthread_mutex_lock(&work_gate.lock);
    is_open = work_gate.is_open;
    pthread_mutex_unlock(&work_gate.lock);
  }
  if (!is_open) gate_add(&work_gate.stopped);
}

static void discard_job(void *job) {
  free(job);
  gate_add(&work_gate.discarded);
}

static const limited_work gated = {.run = wait_at_gate, .discard = discard_job};

static limited_end run_limited(uint64_t limit_ns) {
  int *job = malloc(sizeof *job);
  limited_end end = limited_run(&gated, job, clock_now_ns() + limit_ns);
  if (end != LIMITED_LATE) free(job);
  return end;
}

// The oldest goes on, the ones after it are asked to stop, and each frees its job.
static void test_given_up(void **state) {
  (void)state;
  assert_int_equal(run_limited(10 * MILLISECOND), LIMITED_LATE);
  assert_int_equal(run_limited(10 * MILLISECOND), LIMITED_LATE);
  assert_int_equal(run_limited(0), LIMITED_LATE);
  gate_wait(&work_gate.discarded, 2);
  assert_int_equal(work_gate.stopped, 2);
  pthread_mutex_lock(&work_gate.lock);
  work_gate.is_open = true;
  pthread_mutex_unlock(&work_gate.lock);
  gate_wait(&work_gate.discarded, 3);
  assert_int_equal(work_gate.stopped, 2);
  assert_int_equal(run_limited(UINT64_C(60000000000)), LIMITED_DONE);
  work_gate.is_open = false;
  assert_int_equal(run_limited(MILLISECOND), LIMITED_LATE); // ended when the process ends
}

// ---- compiles that come late --------------------------------------------------------------------

static vyre_status compile_at_gate(const backend *self, vyre_program *program,
                                   const vyre_compile_options *options,
                                   const volatile uint32_t *stop, void **state, vyre_error *error) {
  wait_at_gate(NULL, stop);
  if (__atomic_load_n(stop, __ATOMIC_RELAXED)) return launch_compiling_error(program, error);
  return ref_backend.compile(self, program, options, stop, state, error);
}

static backend slow_backend;
static const uint64_t LONG_NS = UINT64_C(60000000000);

static vyre_status compile_slowly(vyre_program *p, uint64_t limit_ns, vyre_tier tier,
                                  vyre_executable **out) {
  vyre_compile_options options = {.timeout_ns = limit_ns, .tier = tier};
  vyre_error error;
  return vyre_compile(p, "slow", &options, out, &error);
}

static void set_gate(bool is_open) {
  pthread_mutex_lock(&work_gate.lock);
  work_gate.is_open = is_open;
  pthread_mutex_unlock(&work_gate.lock);
}

// Runs it, and says what its region is called.
static const char *run_once(vyre_executable *e, uint32_t expected) {
  static uint32_t x[64], y[64];
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 2};
  static vyre_region_report row;
  vyre_report report = {.regions = &row, .region_capacity = 1};
  assert_int_equal(vyre_dispatch(e, &args, &report, NULL), VYRE_OK);
  assert_int_equal(y[63], expected);
  return row.name;
}

// However short the limits are, it is compiled once, and in the end it is there.
static void test_a_late_compile_is_used(void **state) {
  (void)state;
  slow_backend = ref_backend;
  slow_backend.id = "slow";
  slow_backend.compile = compile_at_gate;
  backend_set_extra(&slow_backend);
  vyre_program *p = parse(HEAD "region main grid(64) {\n" ID "y[i] = 7\n}\n");
  vyre_executable *e = NULL, *other = NULL;
  for (int i = 0; i < 5; i++)
    assert_int_equal(compile_slowly(p, MILLISECOND, VYRE_TIER_FULL, &e), VYRE_ERROR_TIMEOUT);
  gate_wait(&work_gate.begun, 1);
  assert_int_equal(work_gate.begun, 1);
  set_gate(true);
  assert_int_equal(compile_slowly(p, LONG_NS, VYRE_TIER_FULL, &e), VYRE_OK);
  assert_int_equal(work_gate.begun, 1);
  // It is given away once, and for the very same only.
  assert_int_equal(compile_slowly(p, LONG_NS, VYRE_TIER_QUICK, &other), VYRE_OK);
  assert_int_equal(work_gate.begun, 2);
  (void)run_once(e, 7);
  vyre_executable_release(e);
  vyre_executable_release(other);
  vyre_program_release(p);
  set_gate(false);
}

// Regions of the same body with other names are told of by their names.
static void test_a_late_compile_keeps_its_names(void **state) {
  (void)state;
  vyre_program *p = parse(HEAD "region main grid(64) {\n" ID "y[i] = 8\n}\n");
  vyre_program *q = parse(HEAD "region other grid(64) {\n" ID "y[i] = 8\n}\n");
  vyre_executable *of_p = NULL, *of_q = NULL;
  assert_int_equal(compile_slowly(p, MILLISECOND, VYRE_TIER_FULL, &of_p), VYRE_ERROR_TIMEOUT);
  set_gate(true);
  assert_int_equal(compile_slowly(q, LONG_NS, VYRE_TIER_FULL, &of_q), VYRE_OK);
  assert_int_equal(compile_slowly(p, LONG_NS, VYRE_TIER_FULL, &of_p), VYRE_OK);
  assert_string_equal(run_once(of_q, 8), "other");
  assert_string_equal(run_once(of_p, 8), "main");
  vyre_executable_release(of_p);
  vyre_executable_release(of_q);
  vyre_program_release(p);
  vyre_program_release(q);
  set_gate(false);
  work_gate.begun = 0;
  backend_set_extra(NULL);
}

// ---- the caller's flag --------------------------------------------------------------------------

static void *raise_soon(void *flag) {
  nanosleep(&(struct timespec){0, 30 * MILLISECOND}, NULL);
  *(volatile uint32_t *)flag = 1;
  return NULL;
}

static void expect_stopped(const char *backend, const shape *s, uint64_t timeout_ns) {
  static uint32_t x[64], y[64];
  vyre_program *p = parse(s->text);
  vyre_executable *e;
  vyre_error error = {0};
  assert_int_equal(vyre_compile(p, backend, NULL, &e, &error), VYRE_OK);
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  volatile uint32_t flag = 0;
  vyre_dispatch_args args = {.buffers = spans,
                             .buffer_count = vyre_program_buffer_count(p),
                             .timeout_ns = timeout_ns,
                             .stop = &flag};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, raise_soon, (void *)&flag), 0);
  vyre_status status = vyre_dispatch(e, &args, NULL, &error);
  pthread_join(thread, NULL);
  if (status != VYRE_ERROR_STOPPED || !strstr(error.message, "Fix:"))
    fail_msg("%s on %s: %s: %s", s->name, backend, vyre_status_name(status), error.message);
  assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_ERROR_STOPPED); // before it begins
  vyre_executable_release(e);
  vyre_program_release(p);
}

static void test_flag(void **state) {
  (void)state;
  for (int i = 0; i < SHAPE_COUNT; i++) {
    expect_stopped("ref", &shapes[i], 0);
    expect_stopped("cpu", &shapes[i], i % 2 ? UINT64_C(60000000000) : 0);
  }
}

// A driver is asked under a time limit only: nobody looks in between otherwise.
static void test_flag_on_opencl(void **state) {
  (void)state;
  uint32_t count = 0;
  if (vyre_backend_devices("opencl", NULL, 0, &count, NULL) != VYRE_OK || !count) skip();
  for (int i = 0; i < SHAPE_COUNT; i++) expect_stopped("opencl", &shapes[i], UINT64_C(60000000000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      // First: nothing else was given up.
      cmocka_unit_test(test_a_late_compile_is_used),
      cmocka_unit_test(test_a_late_compile_keeps_its_names),
      cmocka_unit_test(test_given_up),
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_weights_of_pieces),
      cmocka_unit_test(test_groups_of_pieces),
      cmocka_unit_test(test_endless_on_ref),
      cmocka_unit_test(test_endless_on_cpu),
      cmocka_unit_test(test_endless_on_opencl),
      cmocka_unit_test(test_flag),
      cmocka_unit_test(test_flag_on_opencl),
      cmocka_unit_test(test_compiling_counts),
      cmocka_unit_test(test_compiling_counts_in_the_runtime),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
