// SPDX-License-Identifier: MIT
//
// The same bits whatever floating-point environment the caller has, and the caller's environment
// afterwards as before: control bits and exception flags. Each case is run in environments that
// other programs make: subnormals flushed (-ffast-math does that), other rounding modes, exceptions
// that end the process, the x87 unit set apart from the rest.
#include "base/fpenv.h"
#include "base/pool.h"
#include "runtime/worker.h"
#include "../scratch_dir.h"

#include <vyre/vyre.h>

#include <fenv.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#if defined(__x86_64__)
#include <fpu_control.h>
#include <xmmintrin.h>

static void flush_subnormals(void) {
  _mm_setcsr(_mm_getcsr() | 0x8040);
}

static void shorten_x87(void) {
  fpu_control_t word = 0x027f; // 53 bits, as some runtimes of other languages set it
  _FPU_SETCW(word);
}
#else
static void flush_subnormals(void) {}
static void shorten_x87(void) {}
#endif

static void round_up(void) {
  fesetround(FE_UPWARD);
}

static void round_down(void) {
  fesetround(FE_DOWNWARD);
}

static void round_to_zero(void) {
  fesetround(FE_TOWARDZERO);
}

static void unmask(void) {
  feenableexcept(FE_ALL_EXCEPT);
}

static void all_at_once(void) {
  flush_subnormals();
  round_up();
  unmask();
}

static void raise_flags(void) {
  feraiseexcept(FE_OVERFLOW | FE_DIVBYZERO);
}

static const struct {
  const char *name;
  void (*set)(void);
} environments[] = {
    {"the default", NULL},
    {"subnormals flushed", flush_subnormals},
    {"rounding up", round_up},
    {"rounding down", round_down},
    {"rounding to zero", round_to_zero},
    {"exceptions unmasked", unmask},
    {"x87 shortened", shorten_x87},
    {"all at once", all_at_once},
    {"flags raised", raise_flags},
};
enum { ENVIRONMENTS = sizeof environments / sizeof *environments };

// What a program can see of its environment.
typedef struct seen {
  uint32_t mxcsr, x87;
  int rounding, flags, unmasked;
} seen;

static seen look(void) {
  seen s = {0};
#if defined(__x86_64__)
  fpu_control_t word;
  _FPU_GETCW(word);
  s.x87 = word;
  s.mxcsr = _mm_getcsr();
#endif
  s.rounding = fegetround();
  s.flags = fetestexcept(FE_ALL_EXCEPT);
  s.unmasked = fegetexcept();
  return s;
}

// Runs `act` in an environment and leaves the default one behind.
static void run_in(size_t environment, void (*act)(void *), void *context) {
  fesetenv(FE_DFL_ENV);
  if (environments[environment].set) environments[environment].set();
  seen before = look();
  act(context);
  seen after = look();
  fesetenv(FE_DFL_ENV);
  if (memcmp(&before, &after, sizeof before))
    fail_msg("%s: the caller's environment was changed: mxcsr %x to %x, x87 %x to %x, flags %x to "
             "%x",
             environments[environment].name, before.mxcsr, after.mxcsr, before.x87, after.x87,
             (unsigned)before.flags, (unsigned)after.flags);
}

// ---- dispatches ---------------------------------------------------------------------------------

// Every kind of rounding, results and operands below the normal numbers, and constants that an
// optimizer computes: 0.1 * 0.3 and the like are inexact, 1e-300 * 1e-20 is subnormal.
static const char program_text[] =
    "program p(a: f32, b: f64)\n"
    "buffer x: f32[] readwrite\n"
    "buffer y: f64[] readwrite\n"
    "buffer z: f64[] readwrite\n"
    "region main grid(len(x)) {\n"
    "  let i = global_id.x\n"
    "  let u = x[i]\n"
    "  let v = y[i]\n"
    "  let c = 0.1f32 * 0.3f32 + 1.0f32 / 3.0f32\n"
    "  let d = (0.1f64 * 0.3f64 + 1.0f64 / 3.0f64) * sqrt(2.0f64)\n"
    "  let tiny = (1e-300f64 * 1e-20f64) * 1e10f64\n"
    "  let small = (1e-30f32 * 1e-12f32) * 1e3f32\n"
    "  x[i] = fma(u, a, c) / (u + 0.7) + sqrt(abs(u)) + sin(u) + small\n"
    "  y[i] = fma(v, b, d) / (v + 0.7) + sqrt(abs(v)) + exp(v) + tiny\n"
    "  z[i] = v * 1e-310 + f64(u * 1e-41) + f64(i32(v)) + f64(f32(v)) * 1e-30 + tiny\n"
    "}\n";

enum { COUNT = 4000 };

typedef struct data {
  float x[COUNT];
  double y[COUNT], z[COUNT];
} data;

static void fill(data *d) {
  for (int i = 0; i < COUNT; i++) {
    d->x[i] = (float)(i - 1000) / 7.0f * (i % 3 ? 1.0f : 1e-40f);
    d->y[i] = (double)(i - 1000) / 700.0 * (i % 5 ? 1.0 : 1e-310);
    d->z[i] = 0;
  }
}

typedef struct job {
  const char *backend;
  uint32_t threads;
  data *data;
  vyre_status status;
  vyre_error error;
} job;

static const float param_a = 1.1f;
static const double param_b = 1.2;

// From the text to the results, all in the environment.
static void parse_and_run(void *context) {
  job *j = context;
  vyre_program *p = NULL;
  vyre_executable *e = NULL;
  vyre_compile_options options = {.threads = j->threads};
  vyre_scalar params[] = {vyre_scalar_f32(param_a), vyre_scalar_f64(param_b)};
  vyre_span spans[] = {{j->data->x, sizeof j->data->x},
                       {j->data->y, sizeof j->data->y},
                       {j->data->z, sizeof j->data->z}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 3};
  j->status = vyre_program_parse(program_text, sizeof program_text - 1, NULL, &p, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_compile(p, j->backend, &options, &e, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_dispatch(e, &args, NULL, &j->error);
  vyre_executable_release(e);
  vyre_program_release(p);
}

static data *expected; // in the default environment, on ref

static void check_run(const char *backend, uint32_t threads, size_t environment) {
  data *d = malloc(sizeof *d);
  fill(d);
  job j = {.backend = backend, .threads = threads, .data = d};
  run_in(environment, parse_and_run, &j);
  if (j.status != VYRE_OK) fail_msg("%s: %s", environments[environment].name, j.error.message);
  if (!expected) {
    expected = d;
    return;
  }
  if (memcmp(d->x, expected->x, sizeof d->x) || memcmp(d->y, expected->y, sizeof d->y) ||
      memcmp(d->z, expected->z, sizeof d->z))
    fail_msg("%s with %u threads: other bits with %s", backend, threads,
             environments[environment].name);
  free(d);
}

static void check_backend(const char *backend, uint32_t threads) {
  check_run("ref", 1, 0);
  for (size_t i = 0; i < ENVIRONMENTS; i++) check_run(backend, threads, i);
}

static void ref_gives_the_same_bits(void **state) {
  (void)state;
  check_backend("ref", 1);
}

static void cpu_gives_the_same_bits(void **state) {
  (void)state;
  check_backend("cpu", 1);
  check_backend("cpu", 2);
}

// The first use of the driver is in a foreign environment: its threads are started there.
static void opencl_gives_the_same_bits(void **state) {
  (void)state;
  vyre_device device;
  uint32_t count = 0;
  fesetenv(FE_DFL_ENV);
  all_at_once();
  vyre_status status = vyre_backend_devices("opencl", &device, 1, &count, NULL);
  fesetenv(FE_DFL_ENV);
  if (status != VYRE_OK || !count || device.unusable[0]) {
    print_message("no OpenCL device\n");
    skip();
  }
  check_backend("opencl", 0);
}

// ---- what is not a dispatch ---------------------------------------------------------------------

typedef struct stored {
  void *wire;
  size_t wire_size;
  char *text;
  vyre_status status;
} stored;

static void store_program(vyre_program *p, stored *s) {
  if (s->status == VYRE_OK) s->status = vyre_program_encode(p, &s->wire, &s->wire_size, NULL);
  if (s->status == VYRE_OK) s->status = vyre_program_print(p, &s->text, NULL, NULL);
  vyre_program_release(p);
}

// Literals are rounded when they are read, and their shortest digits are found by rounding.
static void read_text(void *context) {
  static const char text[] = "program p()\nbuffer x: f64[] write\nbuffer y: f32[] write\n"
                             "region r grid(1) {\n"
                             "  x[0] = 0.1\n  x[1] = 4.9e-324\n  x[2] = 2.2250738585072011e-308\n"
                             "  x[3] = 123456789.123456789\n  y[0] = 0.1\n  y[1] = 1e-45\n"
                             "  y[2] = 16777217.0\n}\n";
  stored *s = context;
  vyre_program *p = NULL;
  s->status = vyre_program_parse(text, strlen(text), NULL, &p, NULL);
  store_program(p, s);
}

static void read_opencl(void *context) {
  static const char text[] = "__kernel void k(__global float *x, __global double *y) {\n"
                             "  x[0] = 0.1f * 0.3f; y[0] = 0.1 * 0.3 + 1e-310; x[1] = 1e-40f;\n}\n";
  stored *s = context;
  vyre_program *p = NULL;
  s->status = vyre_program_from("opencl", text, strlen(text), NULL, NULL, &p, NULL);
  store_program(p, s);
}

static void check_stored(void (*act)(void *)) {
  stored first = {0};
  run_in(0, act, &first);
  assert_int_equal(first.status, VYRE_OK);
  for (size_t i = 1; i < ENVIRONMENTS; i++) {
    stored s = {0};
    run_in(i, act, &s);
    assert_int_equal(s.status, VYRE_OK);
    assert_string_equal(s.text, first.text);
    assert_int_equal(s.wire_size, first.wire_size);
    assert_memory_equal(s.wire, first.wire, s.wire_size);
    vyre_free(s.text);
    vyre_free(s.wire);
  }
  vyre_free(first.text);
  vyre_free(first.wire);
}

static void programs_are_read_the_same(void **state) {
  (void)state;
  check_stored(read_text);
  check_stored(read_opencl);
}

static void learn(void *context) {
  job *j = context;
  vyre_program *p = NULL;
  vyre_runtime *rt = NULL;
  vyre_kernel *k = NULL;
  vyre_buffer *buffer = NULL;
  vyre_completion *completion = NULL;
  char *text = NULL;
  vyre_runtime_options options = {.learn_after = 2, .specialise = true};
  vyre_scalar params[] = {vyre_scalar_f32(param_a), vyre_scalar_f64(param_b)};
  vyre_span spans[] = {{j->data->x, sizeof j->data->x},
                       {j->data->y, sizeof j->data->y},
                       {j->data->z, sizeof j->data->z}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 3};
  j->status = vyre_program_parse(program_text, sizeof program_text - 1, NULL, &p, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_runtime_new(&options, &rt, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_runtime_load(rt, p, &k, &j->error);
  for (int i = 0; i < 4 && j->status == VYRE_OK; i++)
    j->status = vyre_kernel_dispatch(k, &args, NULL, &j->error);
  if (j->status == VYRE_OK) vyre_runtime_settle(rt);
  if (j->status == VYRE_OK) j->status = vyre_kernel_dispatch(k, &args, NULL, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_kernel_submit(k, &args, &completion, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_completion_wait(completion, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_kernel_explain(k, &text, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_buffer_new(rt, 64, &buffer, &j->error);
  if (j->status == VYRE_OK) j->status = vyre_buffer_write(buffer, 0, params, 32, &j->error);
  vyre_buffer_free(buffer);
  vyre_free(text);
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

// Each dispatch works on what the one before left, so that one wrong bit anywhere shows.
static void runtimes_give_the_same_bits(void **state) {
  (void)state;
  static const size_t tried[] = {0, 1, 7};
  data *first = malloc(sizeof *first), *d = malloc(sizeof *d);
  for (size_t i = 0; i < 3; i++) {
    data *now = i ? d : first;
    fill(now);
    job j = {.data = now};
    run_in(tried[i], learn, &j);
    if (j.status != VYRE_OK) fail_msg("%s: %s", environments[tried[i]].name, j.error.message);
    if (i && memcmp(d, first, sizeof *d))
      fail_msg("a runtime gives other bits with %s", environments[tried[i]].name);
  }
  free(first);
  free(d);
}

// ---- the module and its threads -----------------------------------------------------------------

static void enter_and_leave(void *context) {
  seen *inside = context;
  FPENV_SCOPE;
  *inside = look();
  volatile float x = 1e-30f; // raises flags, which are not the caller's business
  x = x * x;
}

static void scopes_are_the_known_environment(void **state) {
  (void)state;
  fesetenv(FE_DFL_ENV);
  seen known = look();
  for (size_t i = 0; i < ENVIRONMENTS; i++) {
    seen inside;
    run_in(i, enter_and_leave, &inside);
    assert_int_equal(inside.mxcsr & ~0x3fu, known.mxcsr & ~0x3fu);
    assert_int_equal(inside.x87, known.x87);
    assert_int_equal(inside.rounding, FE_TONEAREST);
    assert_int_equal(inside.unmasked, 0);
  }
}

typedef struct watched {
  atomic_uint foreign; // threads with another environment
  atomic_uint ran;
  pthread_t caller;
} watched;

static void watch(watched *w) {
  seen s = look();
  bool is_known = s.rounding == FE_TONEAREST && !s.unmasked;
#if defined(__x86_64__)
  is_known &= (s.mxcsr & ~0x3fu) == 0x1f80 && s.x87 == _FPU_DEFAULT;
#endif
  if (pthread_equal(pthread_self(), w->caller)) return;
  atomic_fetch_add(&w->ran, 1);
  if (!is_known) atomic_fetch_add(&w->foreign, 1);
}

static _Bool watch_item(void *context, uint64_t first, uint64_t end) {
  (void)first, (void)end;
  watched *w = context;
  watch(w);
  if (pthread_equal(pthread_self(), w->caller)) // leave some of it to the others
    while (!atomic_load(&w->ran)) sched_yield();
  return true;
}

static void use_pool(void *context) {
  pool_run(2, 64, 1, watch_item, context);
}

static void watch_job(void *context, bool given_up) {
  (void)given_up;
  watch(context);
}

static void use_worker(void *context) {
  worker *w = worker_new(&(worker_options){.in_background = false});
  worker_add(w, watch_job, context);
  worker_wait_idle(w);
  worker_free(w);
}

static void threads_do_not_inherit(void **state) {
  (void)state;
  watched w = {.caller = pthread_self()};
  run_in(ENVIRONMENTS - 2, use_pool, &w);
  assert_true(w.ran > 0);
  run_in(ENVIRONMENTS - 2, use_worker, &w);
  assert_int_equal(w.foreign, 0);
}

static int set_up(void **state) {
  if (scratch_dir_make(state)) return -1;
  setenv("VYRE_HOME", scratch_dir, 1);
  return 0;
}

static int tear_down(void **state) {
  free(expected);
  return scratch_dir_remove(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      // First: no thread of the pool is there yet.
      cmocka_unit_test(threads_do_not_inherit),
      cmocka_unit_test(scopes_are_the_known_environment),
      cmocka_unit_test(opencl_gives_the_same_bits),
      cmocka_unit_test(ref_gives_the_same_bits),
      cmocka_unit_test(cpu_gives_the_same_bits),
      cmocka_unit_test(programs_are_read_the_same),
      cmocka_unit_test(runtimes_give_the_same_bits),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
