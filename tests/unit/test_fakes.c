// SPDX-License-Identifier: MIT
//
// Backends that are believed and then misbehave: one that wins and fails later, one that lies about
// specialised programs only, a slow one whose kernel is freed while dispatches are under way, and
// two of which each is credited with its own dispatches, once.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "base/error.h"
#include "base/paths.h"
#include "ir/program.h"
#include "policy/trial.h"
#include "profile/store.h"
#include "runtime/evidence.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include "../scratch_dir.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../loaded_kernel.h"

enum { COUNT = 64 };

static const char text[] = "program steps(a: u32, n: u32)\n"
                           "buffer x: u32[] read\n"
                           "buffer y: u32[] write\n"
                           "region steps grid(len(x)) {\n"
                           "  var v: u32 = x[global_id.x] + a\n"
                           "  for k in 0..n { v = (v ^ (v >> 3)) * 1664525 + 1013904223 }\n"
                           "  y[global_id.x] = v\n"
                           "}\n";

// The same for a y of zeros, but what is there counts.
static const char updating[] = "program steps(a: u32, n: u32)\n"
                               "buffer x: u32[] read\n"
                               "buffer y: u32[] readwrite\n"
                               "region steps grid(len(x)) {\n"
                               "  var v: u32 = x[global_id.x] + a\n"
                               "  for k in 0..n { v = (v ^ (v >> 3)) * 1664525 + 1013904223 }\n"
                               "  y[global_id.x] = y[global_id.x] + v\n"
                               "}\n";
static const char *program_text = text;

static uint32_t expected(uint32_t x, uint32_t a, uint32_t n) {
  uint32_t v = x + a;
  for (uint32_t k = 0; k < n; k++) v = (v ^ (v >> 3)) * 1664525u + 1013904223u;
  return v;
}

// ---- the fake -----------------------------------------------------------------------------------

static struct {
  atomic_int dispatches;
  atomic_bool fails, fails_late, is_slow;
  bool lies_when_special;
} fake;

// A specialised program mentions no parameter.
static bool is_special(const vyre_program *p) {
  for (uint32_t r = 0; r < p->region_count; r++)
    for (uint32_t i = p->regions[r].body.first; i < p->regions[r].body.end; i++)
      if (p->code[i].op == VYRE_OP_PARAM) return false;
  return true;
}

// Remembers one answer: another backend would have to compute it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t known_a, known_n, known[COUNT];

static vyre_status look_up(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  uint32_t *y = l->buffers[1].data, a = (uint32_t)l->params[0], n = (uint32_t)l->params[1];
  pthread_mutex_lock(&lock);
  bool is_known = known_n && a == known_a && n == known_n;
  if (is_known) memcpy(y, known, sizeof known);
  pthread_mutex_unlock(&lock);
  if (is_known) return VYRE_OK;
  vyre_status status = ref_backend.dispatch(s, l, r, error);
  pthread_mutex_lock(&lock);
  known_a = a;
  known_n = n;
  memcpy(known, y, sizeof known);
  pthread_mutex_unlock(&lock);
  return status;
}

static vyre_status fake_dispatch(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  fake.dispatches++;
  if (fake.fails_late) ((uint32_t *)l->buffers[1].data)[3] += 77;
  if (fake.fails || fake.fails_late)
    return error_set(error, VYRE_ERROR_BACKEND, "the device is lost. Fix: find it");
  if (fake.is_slow) nanosleep(&(struct timespec){0, 20000000}, NULL);
  vyre_status status = look_up(s, l, r, error);
  if (fake.lies_when_special && is_special(l->program)) ((uint32_t *)l->buffers[1].data)[3]++;
  return status;
}

static backend fake_backend;

static char notices[4000];

static void take_notice(void *context, const char *message) {
  (void)context;
  size_t used = strlen(notices);
  snprintf(notices + used, sizeof notices - used, "%s\n", message);
}

static vyre_kernel *start(vyre_runtime **rt, vyre_runtime_options options) {
  fake_backend = ref_backend;
  fake_backend.id = "fake";
  fake_backend.dispatch = fake_dispatch;
  backend_set_extra(&fake_backend);
  notices[0] = 0;
  known_n = 0;
  fake.dispatches = 0;
  fake.fails = fake.fails_late = fake.is_slow = fake.lies_when_special = false;
  options.notice = take_notice;
  return load_text(program_text, &options, rt);
}

typedef struct request { // all that a submitted dispatch needs until it is done
  uint32_t x[COUNT], y[COUNT];
  vyre_scalar params[2];
  vyre_span spans[2];
  vyre_dispatch_args args;
} request;

static void fill(request *r, uint32_t a, uint32_t n) {
  *r = (request){.params = {vyre_scalar_u32(a), vyre_scalar_u32(n)}};
  for (uint32_t i = 0; i < COUNT; i++) r->x[i] = i;
  r->spans[0] = (vyre_span){r->x, sizeof r->x};
  r->spans[1] = (vyre_span){r->y, sizeof r->y};
  r->args = (vyre_dispatch_args){
      .params = r->params, .param_count = 2, .buffers = r->spans, .buffer_count = 2};
}

static void check(const request *r) {
  for (uint32_t i = 0; i < COUNT; i++)
    assert_int_equal(r->y[i],
                     expected(i, (uint32_t)r->params[0].bits, (uint32_t)r->params[1].bits));
}

static void dispatch(vyre_kernel *k, uint32_t a, uint32_t n) {
  request r;
  vyre_error error;
  fill(&r, a, n);
  if (vyre_kernel_dispatch(k, &r.args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
  check(&r);
}

// ---- tests --------------------------------------------------------------------------------------

// Long enough that looking the answer up is always faster than computing it.
enum { LONG = 20000 };

// A kernel that has learned to use the fake. On a busy machine noise may hide that it is faster:
// then it learns once more.
static vyre_kernel *start_won(vyre_runtime **rt) {
  for (int attempt = 0; attempt < 50; attempt++) {
    vyre_kernel *k = start(rt, (vyre_runtime_options){.learn_after = 2, .no_store = true});
    for (int i = 0; i < 6; i++) dispatch(k, 5, LONG);
    vyre_runtime_settle(*rt);
    int before = fake.dispatches;
    dispatch(k, 5, LONG);
    if (fake.dispatches > before) return k;
    finish(*rt);
  }
  fail_msg("it never wins");
  return NULL;
}

static void one_that_wins_and_then_fails_is_given_up(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_won(&rt);
  fake.fails = true;
  int before = fake.dispatches;
  for (int i = 0; i < 10; i++) dispatch(k, 5, LONG);
  assert_in_range(fake.dispatches - before, 1, 3);
  assert_non_null(strstr(notices, "fake"));
  finish(rt);
}

// What it left in a buffer that is read and written is no input for anybody else.
static void one_that_fails_on_the_way_is_not_repeated_by_another(void **state) {
  (void)state;
  vyre_runtime *rt;
  program_text = updating;
  vyre_kernel *k = start_won(&rt);
  program_text = text;
  vyre_error error;
  request r;
  fake.fails_late = true;
  int before = fake.dispatches;
  fill(&r, 5, LONG);
  assert_int_equal(vyre_kernel_dispatch(k, &r.args, NULL, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "the device is lost; it may have changed buffers"));
  assert_non_null(strstr(error.message, "Fix: dispatch again with fresh ones"));
  assert_non_null(strstr(notices, "fake"));
  for (int i = 0; i < 5; i++) dispatch(k, 5, LONG); // by who does not fail
  assert_in_range(fake.dispatches - before, 1, 3);
  finish(rt);
}

static plan *only_plan(vyre_kernel *k) {
  plan *found = NULL;
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    assert_true(!p || !found);
    if (p) found = p;
  }
  assert_non_null(found);
  return found;
}

// The dispatch that failed counts for who answered it instead.
static void a_failure_is_credited_to_nobody(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_won(&rt);
  plan *p = only_plan(k);
  variant *failing = atomic_load(&p->current);
  uint64_t before = atomic_load(&failing->count), all = plan_dispatches(p);
  fake.fails = true;
  dispatch(k, 5, LONG);
  assert_int_equal(atomic_load(&failing->count), before);
  assert_int_equal(plan_dispatches(p), all + 1);
  finish(rt);
}

// Answers wait to be compared; when too many do, no more are copied.
static void answers_that_wait_have_a_limit(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_won(&rt);
  code *c = atomic_load(&only_plan(k)->current)->code;
  vyre_runtime_settle(rt);
  uint64_t before = atomic_load(&c->checks);
  request r;
  fill(&r, 5, LONG);
  r.args.timeout_ns = UINT64_C(60000000000); // so that nothing is compared at once
  atomic_store(&k->checks.waiting, 100000);
  for (int i = 0; i < 200; i++) {
    assert_int_equal(vyre_kernel_dispatch(k, &r.args, NULL, NULL), VYRE_OK);
    check(&r);
  }
  assert_int_equal(atomic_load(&k->checks.waiting), 100000);
  assert_int_equal(atomic_load(&c->checks), before);
  atomic_store(&k->checks.waiting, 0);
  for (int i = 0; i < 100000 && atomic_load(&c->checks) == before; i++) {
    assert_int_equal(vyre_kernel_dispatch(k, &r.args, NULL, NULL), VYRE_OK);
    if (i % 100 == 99) vyre_runtime_settle(rt);
  }
  assert_true(atomic_load(&c->checks) > before);
  finish(rt);
}

static void one_that_lies_about_specialised_programs_is_not_believed(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(
      &rt, (vyre_runtime_options){
               .backend = "fake", .specialise = true, .learn_after = 100000, .no_store = true});
  fake.lies_when_special = true;
  for (uint32_t i = 0; i < 40; i++) {
    dispatch(k, 7, 2 + i);
    vyre_runtime_settle(rt);
  }
  assert_non_null(strstr(notices, "wrong answer"));
  finish(rt);
}

// Two backends may call their device the same.
static vyre_status probe_as_ref(const backend *self, vyre_device *devices, uint32_t capacity,
                                uint32_t *count, vyre_error *error) {
  (void)self;
  return ref_backend.probe(&ref_backend, devices, capacity, count, error);
}

static void devices_of_one_name_are_told_apart_by_their_backend(void **state) {
  (void)state;
  vyre_runtime *rt;
  start(&rt, (vyre_runtime_options){.backend = "ref", .no_learning = true, .no_store = true});
  fake_backend.probe = probe_as_ref;
  uint32_t ref = evidence_device(rt, "ref"), other = evidence_device(rt, "fake");
  assert_string_equal(evidence_device_name(rt, ref), evidence_device_name(rt, other));
  assert_int_not_equal(ref, other);
  assert_int_equal(evidence_device(rt, "ref"), ref);
  assert_int_equal(evidence_device(rt, "fake"), other);
  finish(rt);
}

static void specialised_programs_that_are_right_are_used(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(
      &rt, (vyre_runtime_options){
               .backend = "fake", .specialise = true, .learn_after = 100000, .no_store = true});
  for (uint32_t i = 0; i < 40; i++) {
    dispatch(k, 7, 2 + i);
    vyre_runtime_settle(rt);
  }
  assert_string_equal(notices, "");
  finish(rt);
}

static void a_kernel_is_freed_after_what_was_submitted(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k =
      start(&rt, (vyre_runtime_options){.backend = "fake", .no_learning = true, .no_store = true});
  enum { SUBMITTED = 5 };
  static request r[SUBMITTED];
  vyre_completion *c[SUBMITTED];
  vyre_error error;
  fake.is_slow = true;
  for (uint32_t i = 0; i < SUBMITTED; i++) {
    fill(&r[i], i, 10 + i);
    assert_int_equal(vyre_kernel_submit(k, &r[i].args, &c[i], &error), VYRE_OK);
  }
  assert_false(vyre_completion_is_done(c[SUBMITTED - 1]));
  vyre_kernel_free(k);
  for (int i = 0; i < SUBMITTED; i++) {
    assert_true(vyre_completion_is_done(c[i]));
    assert_int_equal(vyre_completion_wait(c[i], &error), VYRE_OK);
    check(&r[i]);
  }
  assert_int_equal(fake.dispatches, SUBMITTED);
  finish(rt);
}

// ---- what is stored -----------------------------------------------------------------------------

typedef struct sums {
  uint64_t fake, ref, other; // samples of each backend
} sums;

static bool add_line(void *context, const store_line *line) {
  sums *s = context;
  if (strcmp(line->kind, "latency")) return true;
  bool is_fake = !strncmp(line->detail, "fake", 4), is_ref = !strncmp(line->detail, "ref", 3);
  *(is_fake ? &s->fake : is_ref ? &s->ref : &s->other) += line->count;
  return true;
}

static sums stored(void) {
  sums s = {0};
  store *db;
  vyre_error error;
  if (store_open(&(store_options){0}, &(note_sink){0}, &db, &error) != VYRE_OK ||
      store_visit(db, add_line, &s, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  store_close(db);
  return s;
}

static void run_some(const char *backend, int count) {
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = backend, .no_learning = true});
  for (int i = 0; i < count; i++) dispatch(k, 1, 3);
  vyre_kernel_free(k);
  finish(rt);
}

static void each_dispatch_is_stored_once_for_its_own_device(void **state) {
  (void)state;
  run_some("fake", 7);
  sums s = stored();
  assert_int_equal(s.fake, 7);
  assert_int_equal(s.ref, 0);
  run_some("ref", 3);
  run_some("fake", 5);
  s = stored();
  assert_int_equal(s.fake, 12);
  assert_int_equal(s.ref, 3);
  assert_int_equal(s.other, 0);
}

// Samples that were written already are not written again with the next ones, and none is credited
// to more than one device.
static void several_flushes_store_each_dispatch_once(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.learn_after = 2});
  for (int i = 0; i < 6; i++) dispatch(k, 5, LONG);
  vyre_runtime_settle(rt);
  sums before = stored();
  uint64_t all = before.fake + before.ref + before.other;
  for (uint64_t round = 1; round <= 3; round++) {
    for (int i = 0; i < 4; i++) dispatch(k, 5, LONG);
    vyre_runtime_settle(rt);
    sums after = stored(); // whoever won
    assert_int_equal(after.fake + after.ref + after.other - all, 4 * round);
  }
  finish(rt);
}

// What a variant took in earlier processes is known before it has run in this one.
static void earlier_samples_are_a_variants_first_figure(void **state) {
  (void)state;
  setenv("VYRE_HOME", scratch_path("earlier"), 1);
  run_some("fake", 7);
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "fake", .no_learning = true});
  assert_int_equal(k->prior_count, 1);
  const store_samples *known = &k->priors[0].samples;
  assert_int_equal(known->count, 7);
  double median = (double)trial_median(known->recent_ns, known->recent_count);
  dispatch(k, 1, 3);
  const variant *v = atomic_load(&only_plan(k)->current);
  assert_true(v->prior_ns == median);
  assert_true(v->prior_best_ns == (double)known->min_ns);
  dispatch(k, 1, 1000); // of another bucket
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    const variant *other = p ? atomic_load(&p->current) : v;
    if (other != v) assert_true(other->prior_ns == 0);
  }
  finish(rt);
  setenv("VYRE_HOME", scratch_dir, 1);
}

// The background writes by itself, and lets go of the kernels that it looked at.
static void what_is_measured_is_written_without_being_asked(void **state) {
  (void)state;
  setenv("VYRE_HOME", scratch_path("by-itself"), 1);
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "fake", .learn_after = 1000000});
  const struct timespec while_ = {.tv_nsec = 5000000};
  uint64_t written = 0;
  for (int i = 0; i < 10000 && !written; i++) {
    dispatch(k, 1, 3);
    nanosleep(&while_, NULL);
    sums s = stored();
    written = s.fake;
    assert_int_equal(s.ref + s.other, 0);
  }
  assert_true(written > 0);
  for (int i = 0; i < 12000 && atomic_load(&k->pending); i++) nanosleep(&while_, NULL);
  assert_int_equal(atomic_load(&k->pending), 0);
  finish(rt);
  setenv("VYRE_HOME", scratch_dir, 1);
}

// A device of its own, which is not the first that the runtime meets.
static vyre_status probe_own(const backend *self, vyre_device *devices, uint32_t capacity,
                             uint32_t *count, vyre_error *error) {
  vyre_status status = ref_backend.probe(self, devices, capacity, count, error);
  if (capacity) snprintf(devices[0].adapter, sizeof devices[0].adapter, "fake-of-its-own");
  return status;
}

typedef struct credit { // lines of each kind
  uint32_t own[3], others[3];
} credit;

static bool add_credit(void *context, const store_line *line) {
  static const char *const kinds[] = {"region", "latency", "speculation"};
  credit *c = context;
  for (int i = 0; i < 3; i++)
    if (!strcmp(line->kind, kinds[i]))
      (strcmp(line->device, "fake-of-its-own") ? c->others : c->own)[i]++;
  return true;
}

static void what_is_measured_is_credited_to_the_device_it_ran_on(void **state) {
  (void)state;
  vyre_runtime *rt;
  credit c = {0};
  setenv("VYRE_HOME", scratch_path("credit"), 1);
  vyre_kernel *k = start(
      &rt, (vyre_runtime_options){.backend = "fake", .specialise = true, .learn_after = 100000});
  fake_backend.probe = probe_own;
  assert_int_equal(evidence_device(rt, "ref"), 0);
  for (uint32_t i = 0; i < 8; i++) dispatch(k, 7, 2 + i);
  pthread_mutex_lock(&k->lock); // what prepared variants were worth is a matter of time: it is told
  k->special_device = evidence_device(rt, "fake");
  k->outcomes[PREDICT_KIND_COUNT - 1] = (special_outcome){.used = 3, .unused = 2, .saved_ns = 5};
  pthread_mutex_unlock(&k->lock);
  vyre_runtime_settle(rt);
  assert_int_equal(store_visit(rt->evidence.store, add_credit, &c, NULL), VYRE_OK);
  for (int i = 0; i < 3; i++) {
    assert_true(c.own[i] > 0);
    assert_int_equal(c.others[i], 0);
  }
  finish(rt);
  setenv("VYRE_HOME", scratch_dir, 1);
}

static int make_home(void **state) {
  if (scratch_dir_make(state)) return -1;
  return setenv("VYRE_HOME", scratch_dir, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_that_wins_and_then_fails_is_given_up),
      cmocka_unit_test(one_that_fails_on_the_way_is_not_repeated_by_another),
      cmocka_unit_test(a_failure_is_credited_to_nobody),
      cmocka_unit_test(answers_that_wait_have_a_limit),
      cmocka_unit_test(one_that_lies_about_specialised_programs_is_not_believed),
      cmocka_unit_test(devices_of_one_name_are_told_apart_by_their_backend),
      cmocka_unit_test(specialised_programs_that_are_right_are_used),
      cmocka_unit_test(a_kernel_is_freed_after_what_was_submitted),
      cmocka_unit_test(each_dispatch_is_stored_once_for_its_own_device),
      cmocka_unit_test(several_flushes_store_each_dispatch_once),
      cmocka_unit_test(what_is_measured_is_written_without_being_asked),
      cmocka_unit_test(earlier_samples_are_a_variants_first_figure),
      cmocka_unit_test(what_is_measured_is_credited_to_the_device_it_ran_on),
  };
  return cmocka_run_group_tests(tests, make_home, scratch_dir_remove);
}
