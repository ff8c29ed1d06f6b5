// SPDX-License-Identifier: MIT
//
// Devices of one driver as backends of their own: which ids there are, that each runs on its
// device, that what one keeps is not taken for another's, and that the runtime tries them all. The
// driver is made up; its devices are the reference under other names.
#include "backend/executable.h"
#include "backend/numbered.h"
#include "backend/ref/ref.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

enum { DEVICES = 4 };
static const char *const adapters[DEVICES] = {"many-dead", "many-a", "many-b", "many-c"};
static atomic_uint compiled[DEVICES];

static vyre_status probe(const backend *self, vyre_device *out, uint32_t capacity, uint32_t *count,
                         vyre_error *error) {
  (void)self, (void)error;
  for (uint32_t i = 0; i < DEVICES && i < capacity; i++) {
    out[i] = (vyre_device){.max_workgroup = 64, .has_f64 = true, .has_i64 = true};
    strcpy(out[i].adapter, adapters[i]);
    strcpy(out[i].description, adapters[i]);
    if (!i) strcpy(out[i].unusable, "it is dead");
  }
  *count = DEVICES;
  return VYRE_OK;
}

static vyre_status compile(const backend *self, vyre_program *program,
                           const vyre_compile_options *options, const volatile uint32_t *stop,
                           void **state, vyre_error *error) {
  (void)self;
  for (int i = 0; i < DEVICES; i++)
    if (!strcmp(options->device ? options->device : adapters[1], adapters[i]))
      atomic_fetch_add(&compiled[i], 1);
  return ref_backend.compile(&ref_backend, program, options, stop, state, error);
}

// A copy on the device: the host's memory is zeroed meanwhile.
static vyre_status fetch(vyre_buffer *b, vyre_error *error) {
  (void)error;
  memcpy(b->host, b->device, b->size_bytes);
  return VYRE_OK;
}

static void drop(vyre_buffer *b) {
  free(b->device);
  b->device = NULL;
  b->backend = NULL;
}

static bool keeps_memory(const backend *self) {
  (void)self;
  return true;
}

// Buffers with handles stay on the device, as whoever's the launch says.
static vyre_status dispatch(void *state, const launch *l, vyre_report *report, vyre_error *error) {
  for (uint32_t i = 0; i < l->program->buffer_count; i++) {
    vyre_buffer *h = launch_handle(l, i);
    if (!h) continue;
    if (h->backend && h->backend != l->owner) h->backend->drop(h);
    if (!h->backend) {
      h->device = malloc(h->size_bytes);
      h->backend = l->owner;
      h->is_device_current = false;
    }
    if (h->is_device_current)
      memcpy(h->host, h->device, h->size_bytes);
    else
      memcpy(h->device, h->host, h->size_bytes);
  }
  vyre_status status = ref_backend.dispatch(state, l, report, error);
  for (uint32_t i = 0; i < l->program->buffer_count; i++) {
    vyre_buffer *h = launch_handle(l, i);
    if (!h) continue;
    memcpy(h->device, h->host, h->size_bytes);
    h->is_device_current = true;
    if (l->program->buffers[i].access == VYRE_READ) continue;
    h->is_host_current = false;
    memset(h->host, 0, h->size_bytes);
  }
  return status;
}

static backend many;

static const char *const text = "program twice()\nbuffer x: u32[] readwrite\n"
                                "region r grid(len(x)) { x[global_id.x] = x[global_id.x] * 2 }\n";

static vyre_program *program(void) {
  vyre_program *p;
  assert_int_equal(vyre_program_parse(text, strlen(text), "twice", &p, NULL), VYRE_OK);
  return p;
}

static void test_ids(void **state) {
  (void)state;
  static const char *const none[] = {"many:",   "many:0",      "many:17", "many:02", "many:2x",
                                     ":2",      "many:many-d", "cpu:1",   "cpu:2",   "ref:1",
                                     "manyy:2", "many:2:2",    "many: 2", "many:-1"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (backend_find(none[i])) fail_msg("`%s` is a backend", none[i]);
  assert_ptr_equal(backend_find("many:1"), &many);
  const backend *third = backend_find("many:3");
  assert_non_null(third);
  assert_string_equal(third->id, "many:3");
  assert_ptr_equal(third, backend_find("many:3"));
  assert_ptr_equal(third, backend_find("many:many-b"));
  assert_ptr_equal(numbered_find(third, 2), NULL); // of a device there are no devices
  assert_string_equal(numbered_adapter(third), "many-b");
  assert_null(numbered_adapter(&many));
  vyre_device d;
  uint32_t count;
  assert_int_equal(vyre_backend_devices("many:3", &d, 1, &count, NULL), VYRE_OK);
  assert_int_equal(count, 1);
  assert_string_equal(d.adapter, "many-b");
  vyre_error error;
  assert_int_equal(vyre_backend_devices("many:5", &d, 1, &count, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "Fix:"));
  assert_true(backend_is_of("many:3", "many") && backend_is_of("many", "many"));
  assert_false(backend_is_of("manyy", "many") || backend_is_of("many", "many:3") ||
               backend_is_of("many", ""));
}

static void test_usable(void **state) {
  (void)state;
  const char *ids[NUMBERED_MOST];
  vyre_device d;
  assert_int_equal(backend_device_ids("many", true, ids, NUMBERED_MOST, NULL), 3);
  assert_string_equal(ids[0], "many");
  assert_string_equal(ids[1], "many:3");
  assert_string_equal(ids[2], "many:4");
  assert_int_equal(backend_device_ids("many", true, ids, 2, NULL), 2);
  assert_int_equal(backend_device_ids("many:4", true, ids, 2, NULL), 1);
  assert_true(backend_device("many", &d));
  assert_string_equal(d.adapter, "many-a");
  assert_int_equal(backend_device_ids("cpu", true, ids, NUMBERED_MOST, NULL), 1);
}

static void test_compiles_for_its_device(void **state) {
  (void)state;
  vyre_program *p = program();
  vyre_executable *e;
  vyre_error error;
  memset(compiled, 0, sizeof compiled);
  assert_int_equal(vyre_compile(p, "many:4", NULL, &e, NULL), VYRE_OK);
  assert_string_equal(vyre_executable_backend(e), "many:4");
  vyre_executable_release(e);
  assert_int_equal(vyre_compile(p, "many", NULL, &e, NULL), VYRE_OK);
  vyre_executable_release(e);
  assert_int_equal(compiled[1], 1);
  assert_int_equal(compiled[3], 1);
  assert_int_equal(vyre_compile(p, "many:9", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  vyre_program_release(p);
}

// What one device wrote is fetched before another reads it.
static void test_memory_moves(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_buffer *b;
  vyre_program *p = program();
  static const char *const order[] = {"many", "many:3", "many:3", "many:4", "many", "ref"};
  assert_int_equal(vyre_runtime_new(&(vyre_runtime_options){.no_store = true}, &rt, NULL), VYRE_OK);
  assert_int_equal(vyre_buffer_new(rt, 8 * sizeof(uint32_t), &b, NULL), VYRE_OK);
  uint32_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  assert_int_equal(vyre_buffer_write(b, 0, data, sizeof data, NULL), VYRE_OK);
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    vyre_executable *e;
    vyre_span none = {b->host, b->size_bytes};
    assert_int_equal(vyre_compile(p, order[i], NULL, &e, NULL), VYRE_OK);
    vyre_dispatch_args args = {.buffers = &none, .buffer_count = 1, .handles = &b};
    assert_int_equal(executable_dispatch(e, &args, NULL, NULL), VYRE_OK);
    vyre_executable_release(e);
  }
  assert_int_equal(vyre_buffer_read(b, 0, data, sizeof data, NULL), VYRE_OK);
  for (uint32_t i = 0; i < 8; i++) assert_int_equal(data[i], (i + 1) << 6);
  vyre_buffer_free(b);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

// All devices are tried, but for those that are left out.
static void learn(const char *without, const char *backend) {
  vyre_runtime *rt;
  vyre_kernel *k;
  vyre_program *p = program();
  uint32_t x[64] = {0};
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  memset(compiled, 0, sizeof compiled);
  vyre_runtime_options options = {
      .no_store = true, .learn_after = 1, .without = without, .backend = backend};
  assert_int_equal(vyre_runtime_new(&options, &rt, NULL), VYRE_OK);
  assert_int_equal(vyre_runtime_load(rt, p, &k, NULL), VYRE_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(vyre_kernel_dispatch(k, &args, NULL, NULL), VYRE_OK);
    vyre_runtime_settle(rt);
  }
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

static void test_runtime_tries_all(void **state) {
  (void)state;
  learn(NULL, NULL);
  assert_int_equal(compiled[0], 0);
  for (int i = 1; i < DEVICES; i++) assert_true(compiled[i] > 0);
  learn("many:3", NULL);
  assert_true(compiled[1] > 0 && !compiled[2] && compiled[3] > 0);
  learn("many", NULL);
  assert_true(!compiled[1] && !compiled[2] && !compiled[3]);
  learn(NULL, "many:many-b");
  assert_true(!compiled[1] && compiled[2] > 0 && !compiled[3]);
}

static int setup(void **state) {
  (void)state;
  many = ref_backend;
  many.id = "many";
  many.has_devices = true;
  many.probe = probe;
  many.compile = compile;
  many.compile_cached = NULL;
  many.dispatch = dispatch;
  many.keeps_memory = keeps_memory;
  many.fetch = fetch;
  many.drop = drop;
  backend_set_extra(&many);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ids),
      cmocka_unit_test(test_usable),
      cmocka_unit_test(test_compiles_for_its_device),
      cmocka_unit_test(test_memory_moves),
      cmocka_unit_test(test_runtime_tries_all),
  };
  return cmocka_run_group_tests_name("numbered", tests, setup, NULL);
}
