// SPDX-License-Identifier: MIT
//
// Buffers that the runtime owns: they stay on a device with memory of its own, are copied when
// somebody needs them and not before, and the choice of a device counts the copies. The device is
// made up: its memory is ordinary memory that only its own dispatches and copies touch.
#include "../told_clock.h"
#include "backend/ref/ref.h"
#include "base/error.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 1024, BYTES = COUNT * 4 };

// ---- a device with memory of its own ------------------------------------------------------------

static const backend far;
static unsigned uploads, fetches, dispatches;
static bool fetch_fails;
static pthread_t foreground;
static atomic_uint timed_there; // dispatches of the background on the device's own memory

static bool keeps_memory(const backend *self) {
  (void)self;
  return true;
}

static vyre_status fetch(vyre_buffer *r, vyre_error *error) {
  if (fetch_fails) return error_set(error, VYRE_ERROR_BACKEND, "the device is lost. Fix: find it");
  fetches++;
  memcpy(r->host, r->device, r->size_bytes);
  return VYRE_OK;
}

static void drop(vyre_buffer *r) {
  free(r->device);
  r->device = NULL;
  r->backend = NULL;
}

static void place(vyre_buffer *r, bool is_written) {
  pthread_mutex_lock(&r->lock);
  if (r->backend && r->backend != &far) r->backend->drop(r);
  if (!r->backend) {
    r->device = malloc(r->size_bytes + 1);
    r->backend = &far;
    r->is_device_current = false;
  }
  if (!r->is_device_current) {
    memcpy(r->device, r->host, r->size_bytes);
    r->is_device_current = true;
    r->moved_bytes += r->size_bytes;
    uploads++;
  }
  if (is_written) {
    memset(r->host, 0xee, r->size_bytes); // nobody may look at it now
    r->is_host_current = false;
  }
  pthread_mutex_unlock(&r->lock);
}

static vyre_status far_dispatch(void *state, const launch *l, vyre_report *report,
                                vyre_error *error) {
  launch here = *l;
  bound_buffer buffers[LAUNCH_INLINE];
  dispatches++;
  bool is_timed = !pthread_equal(pthread_self(), foreground);
  if (l->handles && is_timed) timed_there++;
  told_spend(l->handles ? 100000 : 400000); // the rest of it are copies
  for (uint32_t i = 0; i < l->program->buffer_count; i++) {
    vyre_buffer *handle = launch_handle(l, i);
    buffers[i] = l->buffers[i];
    if (!handle) continue;
    place(handle, l->program->buffers[i].access & VYRE_WRITE);
    buffers[i].data = handle->device;
  }
  here.buffers = buffers;
  return ref_backend.dispatch(state, &here, report, error);
}

static vyre_status far_probe(const backend *self, vyre_device *d, uint32_t capacity,
                             uint32_t *count, vyre_error *error) {
  return ref_backend.probe(self, d, capacity, count, error);
}

static vyre_status far_compile(const backend *self, vyre_program *p, const vyre_compile_options *o,
                               const volatile uint32_t *stop, void **state, vyre_error *error) {
  return ref_backend.compile(self, p, o, stop, state, error);
}

static void far_release(void *state) {
  ref_backend.release(state);
}

static const backend far = {.id = "far",
                            .summary = "has memory of its own",
                            .probe = far_probe,
                            .compile = far_compile,
                            .dispatch = far_dispatch,
                            .release = far_release,
                            .keeps_memory = keeps_memory,
                            .fetch = fetch,
                            .drop = drop};

// ---- a kernel -----------------------------------------------------------------------------------

static const char text[] =
    "program add(a: i32)\ntransient t: i32[1024]\ntransient u: i32[1024]\n"
    "buffer x: i32[] read\nbuffer y: i32[len(x)] readwrite\n"
    "region before grid(len(x)) {\n  let i = global_id.x\n  t[i] = x[i]\n  u[i] = a\n}\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  y[i] = y[i] + u[i] * t[i]\n}\n";

typedef struct fixture {
  vyre_runtime *rt;
  vyre_kernel *kernel;
  vyre_buffer *handles[2];
  vyre_scalar a;
  vyre_dispatch_args args;
} fixture;

static void open_fixture(fixture *f, vyre_runtime_options options) {
  vyre_error error;
  vyre_program *p;
  int32_t x[COUNT], y[COUNT];
  options.no_store = true;
  uploads = fetches = dispatches = 0;
  fetch_fails = false;
  backend_set_extra(&far);
  assert_int_equal(vyre_program_parse(text, strlen(text), "add", &p, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_new(&options, &f->rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(f->rt, p, &f->kernel, &error), VYRE_OK);
  vyre_program_release(p);
  for (int i = 0; i < COUNT; i++) x[i] = i, y[i] = 7;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(vyre_buffer_new(f->rt, BYTES, &f->handles[i], &error), VYRE_OK);
    assert_int_equal(vyre_buffer_write(f->handles[i], 0, i ? y : x, BYTES, &error), VYRE_OK);
  }
  f->a = vyre_scalar_i32(2);
  f->args = (vyre_dispatch_args){
      .params = &f->a, .param_count = 1, .handles = f->handles, .buffer_count = 2};
}

static void close_fixture(fixture *f) {
  vyre_runtime_free(f->rt); // and its kernel and buffers
  backend_set_extra(NULL);
}

static void dispatch(fixture *f, int count) {
  vyre_error error;
  for (int i = 0; i < count; i++)
    if (vyre_kernel_dispatch(f->kernel, &f->args, NULL, &error) != VYRE_OK)
      fail_msg("%s", error.message);
}

static void expect(fixture *f, int times) {
  int32_t y[COUNT];
  vyre_error error;
  assert_int_equal(vyre_buffer_read(f->handles[1], 0, y, sizeof y, &error), VYRE_OK);
  for (int i = 0; i < COUNT; i++) assert_int_equal(y[i], 7 + times * 2 * i);
}

// ---- tests --------------------------------------------------------------------------------------

static void buffers_stay_where_they_are_used(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, (vyre_runtime_options){.backend = "far", .no_learning = true});
  dispatch(&f, 10);
  assert_int_equal(uploads, 2); // each once
  assert_int_equal(fetches, 0);
  expect(&f, 10);
  assert_int_equal(fetches, 1); // only what was asked for
  expect(&f, 10);
  assert_int_equal(fetches, 1); // the host has it now
  dispatch(&f, 1);
  assert_int_equal(uploads, 2); // and the device still has it, too
  expect(&f, 11);
  close_fixture(&f);
}

static void a_write_of_a_part_keeps_the_rest(void **state) {
  (void)state;
  fixture f;
  vyre_error error;
  int32_t five = 5, y[COUNT];
  open_fixture(&f, (vyre_runtime_options){.backend = "far", .no_learning = true});
  dispatch(&f, 1);
  assert_int_equal(vyre_buffer_write(f.handles[1], 40, &five, 4, &error), VYRE_OK);
  assert_int_equal(fetches, 1);
  dispatch(&f, 1);
  assert_int_equal(vyre_buffer_read(f.handles[1], 0, y, sizeof y, &error), VYRE_OK);
  for (int i = 0; i < COUNT; i++) assert_int_equal(y[i], i == 10 ? 5 + 20 : 7 + 4 * i);
  assert_int_equal(vyre_buffer_write(f.handles[1], BYTES - 3, &five, 4, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_buffer_read(f.handles[1], SIZE_MAX, y, 4, &error), VYRE_ERROR_ARGUMENT);
  close_fixture(&f);
}

static void two_backends_hand_buffers_over(void **state) {
  (void)state;
  fixture f;
  vyre_error error;
  vyre_executable *on_far, *on_ref;
  open_fixture(&f, (vyre_runtime_options){.backend = "ref", .no_learning = true});
  assert_int_equal(vyre_compile(f.kernel->program, "far", NULL, &on_far, &error), VYRE_OK);
  assert_int_equal(vyre_compile(f.kernel->program, "ref", NULL, &on_ref, &error), VYRE_OK);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(vyre_dispatch(on_far, &f.args, NULL, &error), VYRE_OK);
    assert_int_equal(vyre_dispatch(on_ref, &f.args, NULL, &error), VYRE_OK);
  }
  expect(&f, 8);
  assert_int_equal(fetches, 4);     // y, for ref, each time
  assert_int_equal(uploads, 1 + 4); // x once, y each time
  vyre_executable_release(on_far);
  vyre_executable_release(on_ref);
  close_fixture(&f);
}

static void routing_counts_the_copies(void **state) {
  (void)state;
  fixture f;
  vyre_error error;
  open_fixture(&f, (vyre_runtime_options){.backend = "ref", .learn_after = 2});
  dispatch(&f, 4);
  vyre_runtime_settle(f.rt);
  vyre_dispatch_args like = {.buffers = (vyre_span[]){{NULL, BYTES}, {NULL, BYTES}},
                             .buffer_count = 2};
  plan *p = kernel_find_plan(f.kernel, plan_key(f.kernel, &like));
  assert_non_null(p);
  assert_int_equal(atomic_load(&p->state), PLAN_LEARNED);
  code *on_far;
  code_request request = {.backend = "far"};
  assert_int_equal(code_make(f.kernel, &request, &on_far, &error), VYRE_OK);
  code_passed(on_far);
  variant *far_variant = plan_variant(f.kernel, p, on_far, NULL);
  // The device is faster by 50 us; a copy of one buffer costs 41 us.
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++)
    p->variants[i]->resident_ns = 150000;
  far_variant->resident_ns = 100000;
  far_variant->copy_ns_per_byte = 10;
  dispatches = 0;
  dispatch(&f, 3);
  assert_int_equal(dispatches, 0); // two buffers to bring there: not worth it
  assert_int_equal(vyre_dispatch(on_far->executable, &f.args, NULL, &error), VYRE_OK);
  dispatch(&f, 3);
  assert_int_equal(dispatches, 1 + 3); // they are there
  int32_t x[COUNT] = {0};
  assert_int_equal(vyre_buffer_write(f.handles[0], 0, x, BYTES, &error), VYRE_OK);
  dispatch(&f, 3);
  assert_int_equal(dispatches, 1 + 6); // one to bring there, but the other to bring back from there
  close_fixture(&f);
}

static void handles_and_spans_mix_and_submit(void **state) {
  (void)state;
  fixture f;
  vyre_error error;
  vyre_completion *c;
  int32_t x[COUNT];
  open_fixture(&f, (vyre_runtime_options){.backend = "far", .no_learning = true});
  for (int i = 0; i < COUNT; i++) x[i] = i;
  vyre_span spans[2] = {{x, sizeof x}, {NULL, 0}};
  vyre_buffer *handles[2] = {NULL, f.handles[1]};
  f.args.buffers = spans;
  f.args.handles = handles;
  assert_int_equal(vyre_kernel_submit(f.kernel, &f.args, &c, &error), VYRE_OK);
  assert_int_equal(vyre_completion_wait(c, &error), VYRE_OK);
  expect(&f, 1);
  f.args.buffers = NULL;
  assert_int_equal(vyre_kernel_dispatch(f.kernel, &f.args, NULL, &error), VYRE_ERROR_BINDING);
  close_fixture(&f);
}

static void a_device_that_loses_a_buffer_is_an_error(void **state) {
  (void)state;
  fixture f;
  vyre_error error;
  int32_t y[COUNT];
  open_fixture(&f, (vyre_runtime_options){.backend = "far", .no_learning = true});
  dispatch(&f, 1);
  fetch_fails = true;
  assert_int_equal(vyre_buffer_read(f.handles[1], 0, y, sizeof y, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "Fix:"));
  fetch_fails = false;
  expect(&f, 1);
  close_fixture(&f);
}

static void learning_measures_where_buffers_are(void **state) {
  (void)state;
  fixture f;
  foreground = pthread_self();
  timed_there = 0;
  open_fixture(&f, (vyre_runtime_options){.learn_after = 2});
  dispatch(&f, 4);
  vyre_runtime_settle(f.rt);
  // Each variant of the device once to bring the buffers there, and three times with them.
  assert_true(timed_there > 0);
  assert_int_equal(timed_there % 4, 0);
  // What the time without them is more goes by the bytes there, and back of what is written.
  uint32_t known = 0;
  for (uint32_t n = 0; n < KERNEL_PLANS; n++) {
    plan *p = atomic_load(&f.kernel->plans[n]);
    for (uint32_t i = 0; p && i < atomic_load(&p->variant_count); i++) {
      const variant *v = p->variants[i];
      if (!(v->copy_ns_per_byte > 0)) continue;
      known++;
      assert_string_equal(v->code->backend, "far");
      double copies = v->copy_ns_per_byte * (3 * BYTES + 1);
      double more = (double)(v->trial_ns - v->resident_ns);
      if (fabs(copies - more) > 1) fail_msg("%f ns of copies, %f ns more", copies, more);
    }
  }
  assert_true(known > 0);
  dispatch(&f, 4);
  expect(&f, 8);
  close_fixture(&f);
}

int main(void) {
  told_clock_begin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffers_stay_where_they_are_used),
      cmocka_unit_test(a_write_of_a_part_keeps_the_rest),
      cmocka_unit_test(two_backends_hand_buffers_over),
      cmocka_unit_test(routing_counts_the_copies),
      cmocka_unit_test(handles_and_spans_mix_and_submit),
      cmocka_unit_test(a_device_that_loses_a_buffer_is_an_error),
      cmocka_unit_test(learning_measures_where_buffers_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
