// SPDX-License-Identifier: MIT
//
// What dispatches measured reopens decisions: variants whose times are told, with a clock that is
// told. Which variant answers is asserted dispatch by dispatch.
#include "backend/ref/ref.h"
#include "base/error.h"
#include "runtime/kernel.h"
#include "runtime/review.h"
#include "runtime/runtime.h"

#include "../scratch_dir.h"
#include "../told_clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../loaded_kernel.h"

enum { MOST = 1024 };

// The usual passes have something to do, so there is more than one code.
static const char text[] = "program test.turns(n: u32)\n"
                           "buffer x: u32[] read\n"
                           "buffer y: u32[] write\n"
                           "region main grid(len(x)) {\n"
                           "  let i = global_id.x\n"
                           "  var s: u32 = (x[i] + 0) * 1\n"
                           "  for k in 0..n { s = s + k }\n"
                           "  y[i] = s\n"
                           "}\n";

// ---- the backend --------------------------------------------------------------------------------

// Codes are numbered as they are compiled: 0 is the first, 1 the full compile, 2 that after the
// usual passes.
enum { CODES = 8 };
static _Atomic(uint64_t) takes_ns[CODES];
static atomic_uint compiled;
// Of the foreground's last dispatch: the code that answered, and its workgroup. Another may run
// after it, to compare.
static unsigned answered;
static uint32_t shape_x;
static _Atomic(uint64_t) narrow_ns; // in place of takes_ns, with fewer than 64 invocations; 0: no

typedef struct numbered {
  void *inner;
  unsigned number;
} numbered;

static vyre_status told_compile(const backend *self, vyre_program *p, const vyre_compile_options *o,
                                const volatile uint32_t *stop, void **out, vyre_error *error) {
  numbered *n = malloc(sizeof *n);
  if (!n) return error_out_of_memory(error);
  n->number = atomic_fetch_add(&compiled, 1) % CODES;
  vyre_status status = ref_backend.compile(self, p, o, stop, &n->inner, error);
  if (status == VYRE_OK)
    *out = n;
  else
    free(n);
  return status;
}

// The background's time passes between dispatches, never during one.
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_turn;

static vyre_status told_dispatch(void *state, const launch *l, vyre_report *r, vyre_error *error) {
  const numbered *n = state;
  vyre_status status = ref_backend.dispatch(n->inner, l, r, error);
  uint32_t x = l->regions[0].workgroup[0];
  if (has_turn && answered == CODES) {
    answered = n->number;
    shape_x = x;
  }
  if (!has_turn) pthread_mutex_lock(&turn);
  told_spend(narrow_ns && x < 64 ? narrow_ns : takes_ns[n->number]);
  if (!has_turn) pthread_mutex_unlock(&turn);
  return status;
}

static void told_release(void *state) {
  numbered *n = state;
  if (n) ref_backend.release(n->inner);
  free(n);
}

static backend told_backend;

static vyre_kernel *start_after(vyre_runtime **rt, uint32_t learn_after) {
  vyre_runtime_options options = {.backend = "told", .learn_after = learn_after, .no_store = true};
  told_backend = ref_backend;
  told_backend.id = "told";
  told_backend.dispatch = told_dispatch;
  told_backend.compile = told_compile;
  told_backend.release = told_release;
  backend_set_extra(&told_backend);
  compiled = 0;
  narrow_ns = 0;
  for (int i = 0; i < CODES; i++) takes_ns[i] = 2000000;
  takes_ns[1] = 900000;
  takes_ns[2] = 800000;
  return load_text(text, &options, rt);
}

static vyre_kernel *start(vyre_runtime **rt) {
  return start_after(rt, 2);
}

// ---- dispatching --------------------------------------------------------------------------------

typedef struct asked {
  uint32_t n, count;
  uint64_t timeout_ns;
} asked;

static const asked usual = {5, 64, 0};

static unsigned dispatch(vyre_kernel *k, asked a) {
  static uint32_t x[MOST], y[MOST];
  for (uint32_t i = 0; i < a.count; i++) x[i] = i, y[i] = 0;
  vyre_scalar param = vyre_scalar_u32(a.n);
  vyre_span spans[] = {{x, 4 * a.count}, {y, 4 * a.count}};
  vyre_dispatch_args args = {.params = &param,
                             .param_count = 1,
                             .buffers = spans,
                             .buffer_count = 2,
                             .timeout_ns = a.timeout_ns};
  vyre_error error;
  pthread_mutex_lock(&turn);
  has_turn = true;
  answered = CODES;
  vyre_status status = vyre_kernel_dispatch(k, &args, NULL, &error);
  has_turn = false;
  pthread_mutex_unlock(&turn);
  if (status != VYRE_OK) fail_msg("%s", error.message);
  for (uint32_t i = 0; i < a.count; i++) assert_int_equal(y[i], i + a.n * (a.n - 1) / 2);
  vyre_runtime_settle(k->runtime);
  assert_int_equal(atomic_load(&k->pending), 0);
  return answered;
}

// The numbers of the codes that answered. Eight may be in use at once.
static const char *answers(vyre_kernel *k, asked a, int count) {
  static char said[8][64];
  static unsigned next;
  char *out = said[next++ % 8];
  assert_true(count < 64);
  for (int i = 0; i < count; i++) out[i] = (char)('0' + dispatch(k, a));
  out[count] = 0;
  return out;
}

static plan *plan_of(vyre_kernel *k, asked a) {
  vyre_scalar param = vyre_scalar_u32(a.n);
  vyre_span spans[] = {{NULL, 4 * a.count}, {NULL, 4 * a.count}};
  vyre_dispatch_args args = {
      .params = &param, .param_count = 1, .buffers = spans, .buffer_count = 2};
  plan *p = kernel_find_plan(k, plan_key(k, &args));
  assert_non_null(p);
  return p;
}

static const char *reason_of(vyre_kernel *k, asked a) {
  return variant_reason_name(plan_last_decision(plan_of(k, a))->reason);
}

// The codes that answer the next dispatches, and why the last of them was taken.
static void expect(vyre_kernel *k, asked a, const char *codes, const char *reason) {
  assert_string_equal(answers(k, a, (int)strlen(codes)), codes);
  assert_string_equal(reason_of(k, a), reason);
}

static vyre_kernel *start_learned(vyre_runtime **rt) {
  vyre_kernel *k = start(rt);
  expect(k, usual, "000222", "optimized");
  answers(k, usual, 20);
  review_kernel(k);
  while (atomic_load(&plan_of(k, usual)->explore)) dispatch(k, usual); // the other is tried once
  return k;
}

// ---- learning -----------------------------------------------------------------------------------

static void check_learning(const uint64_t ns[3], const char *codes, const char *reason) {
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  for (int i = 0; i < 3; i++) takes_ns[i] = ns[i];
  expect(k, usual, codes, reason);
  finish(rt);
}

// The full compile after the usual passes stays unless another is faster by 2 %.
static void the_fastest_is_taken(void **state) {
  (void)state;
  check_learning((uint64_t[]){2000000, 900000, 800000}, "000222", "optimized");
  check_learning((uint64_t[]){1000000, 1000000, 1000000}, "000222", "optimized");
  check_learning((uint64_t[]){1000000, 980000, 1000000}, "000222", "optimized");
  check_learning((uint64_t[]){1000000, 979999, 1000000}, "000111", "faster");
  check_learning((uint64_t[]){100000, 900000, 1000000}, "000000", "not-faster");
}

// What is told of a variant is what was measured of it: the figures of dispatches and of trials,
// how far they spread, and how many there were.
static void explained_figures_are_those_that_were_measured(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  char *told;
  expect(k, usual, "0002", "optimized");
  takes_ns[2] = 820000;
  dispatch(k, usual);
  assert_int_equal(vyre_kernel_explain(k, &told, NULL), VYRE_OK);
  static const char *const wanted[] = {
      "5 dispatches, mean 1524.000 us; learned\n",
      "from 800.000 us +- 0.000 in 3 samples\n",
      "not-faster   dispatches 2000.000 us +- 0.000 in 3 samples; trial 2000.000 us +- 0.000 in 3 ",
      "not-faster   trial 900.000 us +- 0.000 in 3 samples; compiled in ",
      "optimized    trial 800.000 us +- 0.000 in 3 samples; compiled in ",
      "what would change it: what dispatches measure\n",
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (!strstr(told, wanted[i])) fail_msg("`%s` is not in\n%s", wanted[i], told);
  free(told);
  finish(rt);
}

// 3 % less than what it takes now.
static void explained_is_what_would_change_it(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  char *told;
  expect(k, usual, "0", "nothing-known");
  assert_int_equal(vyre_kernel_explain(k, &told, NULL), VYRE_OK);
  assert_non_null(strstr(told, "what would change it: more dispatches\n"));
  free(told);
  finish(rt);
  k = start_learned(&rt);
  assert_int_equal(vyre_kernel_explain(k, &told, NULL), VYRE_OK);
  if (!strstr(told,
              "what would change it: a variant that takes less than 776.000 us in dispatches"))
    fail_msg("%s", told);
  free(told);
  finish(rt);
}

// ---- following ----------------------------------------------------------------------------------

// Three slow runs may be chance; four are a change.
static void what_becomes_slow_is_left(void **state) {
  (void)state;
  for (int slow = 3; slow <= 4; slow++) {
    vyre_runtime *rt;
    vyre_kernel *k = start(&rt);
    takes_ns[0] = 3000000; // too slow to be tried
    takes_ns[1] = 2500000;
    expect(k, usual, "000222", "optimized");
    answers(k, usual, 20);
    takes_ns[2] = 8000000;
    assert_string_equal(answers(k, usual, slow), slow == 3 ? "222" : "2222");
    review_kernel(k);
    assert_string_equal(reason_of(k, usual), slow == 3 ? "optimized" : "changed");
    if (slow == 4) expect(k, usual, "1111", "changed");
    finish(rt);
  }
}

// When the other may be tried again, less so many nanoseconds.
static void pass_until_tried(vyre_kernel *k, uint64_t less) {
  plan *p = plan_of(k, usual);
  const variant *other = NULL;
  for (uint32_t i = 0; i < p->variant_count; i++)
    if (p->variants[i]->trial_ns == 900000) other = p->variants[i];
  assert_true(other && other->next_explore_ns > clock_now_ns());
  told_spend(other->next_explore_ns - clock_now_ns() - less);
  review_kernel(k);
}

// After a fifth of a second the other is tried again; three runs in a row decide.
static void what_becomes_fast_is_found(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  takes_ns[1] = 400000;
  pass_until_tried(k, 1);
  assert_int_equal(dispatch(k, usual), 2);
  review_kernel(k);
  expect(k, usual, "11", "optimized");
  expect(k, usual, "1111", "faster");
  finish(rt);
}

static void a_time_limit_is_not_spent_on_trying_others(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  asked limited = usual;
  limited.timeout_ns = 3600000; // four times what the other takes
  pass_until_tried(k, 0);
  expect(k, limited, "22", "optimized");
  limited.timeout_ns += 4;
  expect(k, limited, "12", "optimized");
  finish(rt);
}

static void what_has_no_hope_is_not_tried(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  takes_ns[1] = 970000; // more than 1.2 times as long
  expect(k, usual, "000222", "optimized");
  for (int i = 0; i < 20; i++) {
    told_spend(300000000);
    review_kernel(k);
    expect(k, usual, "222", "optimized");
  }
  finish(rt);
}

// Trying others takes one part in a hundred of a plan's time, whatever they take.
static void trying_others_has_a_share(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  unsigned tried = 1;
  enum { DISPATCHES = 600 };
  for (int i = 0; i < DISPATCHES; i++) {
    told_spend(300000000);
    review_kernel(k);
    tried += dispatch(k, usual) == 1;
  }
  // 100 us more than 800 us each, and 6 ms before.
  uint64_t total = plan_total_ns(plan_of(k, usual));
  assert_in_range(tried * 100000, total / 100 - 200000, total / 100);
  finish(rt);
}

// ---- new buckets --------------------------------------------------------------------------------

static const asked larger = {5, 512, 0};

static void known_variants_take_turns_in_a_new_bucket(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  for (int i = 0; i < PLAN_TURNS; i++) assert_string_equal(answers(k, larger, 3), "210");
  assert_int_equal(atomic_load(&plan_of(k, larger)->state), PLAN_OPENING);
  assert_int_equal(dispatch(k, larger), 2);
  assert_int_equal(atomic_load(&plan_of(k, larger)->state), PLAN_LEARNED);
  assert_string_equal(reason_of(k, larger), "predicted");
  assert_int_equal(compiled, 3); // nothing was compiled for it
  finish(rt);
}

// Whose turn it is does not matter to a caller who waits with a limit: who may not keep it is left
// out.
static void a_time_limit_is_not_spent_on_turns(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  asked limited = larger;
  limited.timeout_ns = 4 * 1500000; // enough for those that take less than 1.5 ms
  for (int i = 0; i < PLAN_TURNS; i++) assert_string_equal(answers(k, limited, 3), "212");
  assert_int_equal(dispatch(k, limited), 2);
  assert_int_equal(atomic_load(&plan_of(k, larger)->state), PLAN_LEARNED);
  finish(rt);
}

// Copying inputs for the background takes time, too.
static void a_time_limit_is_not_spent_on_copies(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  takes_ns[0] = 10;
  asked limited = usual;
  limited.timeout_ns = 4 * 2 * 4 * usual.count; // four times what copying is taken for
  expect(k, limited, "00000000", "nothing-known");
  limited.timeout_ns += 4;
  dispatch(k, limited);
  assert_string_not_equal(reason_of(k, usual), "nothing-known");
  finish(rt);
}

static void the_fastest_of_a_new_bucket_need_not_be_what_was_predicted(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  takes_ns[0] = 500000;
  for (int i = 0; i < PLAN_TURNS; i++) assert_string_equal(answers(k, larger, 3), "210");
  expect(k, larger, "0000", "faster");
  assert_string_equal(reason_of(k, usual), "optimized"); // the other bucket has its own
  finish(rt);
}

// What a bucket has not looked at is asked for when it costs one part in 20 of the time that the
// bucket has been used: two milliseconds for codes that are there, and 24 runs.
static void a_new_bucket_learns_when_that_is_worth_it(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  takes_ns[1] = takes_ns[0] = 2000000; // never tried
  dispatch(k, larger);
  const plan *p = plan_of(k, larger);
  const uint64_t needed = 20 * (2000000 + 24 * takes_ns[2]);
  uint64_t total = 0;
  while (!p->wanted && !(p->stages & STAGE_PASSES)) {
    total = plan_total_ns(p);
    assert_true(total < needed);
    dispatch(k, larger);
    review_kernel(k);
  }
  assert_true(plan_total_ns(p) >= needed);
  // It is done, and then the next is asked for: each is worth it in its turn.
  for (unsigned done = STAGE_PASSES; done <= STAGE_SHAPES; done <<= 1) {
    for (int i = 0; i < 20000 && !(p->stages & done); i++) {
      dispatch(k, larger);
      review_kernel(k);
    }
    assert_int_equal(p->stages & ~(unsigned)STAGE_TUNABLES, 2 * done - 1); // it has none
  }
  assert_int_equal(p->wanted, 0); // there is no other backend to ask
  finish(rt);
}

// ---- sizes --------------------------------------------------------------------------------------

// Once a second, when 16 dispatches came: a plan that is idle is suggested half the size, which is
// proven and timed. The first look only begins a window.
static void check_sizes(const char *mode, unsigned dispatches, uint64_t wall_ns, bool is_resized) {
  vyre_runtime *rt;
  if (mode) setenv("VYRE_AUTOTUNER", mode, 1);
  vyre_kernel *k = start(&rt);
  answers(k, usual, 6);
  narrow_ns = 100000;
  review_kernel(k);
  const plan *p = plan_of(k, usual);
  uint64_t begun = mode ? p->window.at_ns : clock_now_ns();
  assert_int_equal(begun != 0, 1);
  while (plan_dispatches(p) - p->window.dispatches < dispatches) dispatch(k, usual);
  told_spend(begun + wall_ns - clock_now_ns());
  review_kernel(k);
  assert_int_equal(p->window.resizes, is_resized);
  answers(k, usual, is_resized ? 2 : 1);
  assert_int_equal(shape_x, is_resized ? 32 : 64);
  if (is_resized) {
    assert_string_equal(reason_of(k, usual), "faster");
    assert_string_equal(plan_last_decision(p)->detail, "the resize policy suggested it");
  }
  finish(rt);
  unsetenv("VYRE_AUTOTUNER");
}

static void a_suggested_size_is_proven_and_timed(void **state) {
  (void)state;
  check_sizes("on", 16, 1000000000, true);
  check_sizes("on", 16, 999999999, false);
  check_sizes("on", 15, 1000000000, false);
  check_sizes(NULL, 30, 1000000000, false);
}

// ---- what learning may cost ---------------------------------------------------------------------

// Of the time that a plan ran, so much is left for learning: one part in twenty, less what was
// used.
static void leave(plan *p, uint64_t ns) {
  uint64_t more = UINT64_C(100000000000) - plan_total_ns(p) % 20;
  atomic_fetch_add(&atomic_load(&p->current)->total_ns, more);
  p->learned_ns = plan_total_ns(p) / 20 - ns;
  p->wanted = 0;
}

// Whether a review asks for a stage when so much is left and only `stages` are done.
static unsigned wanted_stage(vyre_kernel *k, unsigned stages, uint64_t left_ns) {
  plan *p = plan_of(k, usual);
  p->stages = stages;
  leave(p, left_ns);
  review_kernel(k);
  return p->wanted;
}

// 80 runs of 0.8 ms, and not a nanosecond less.
static void a_stage_is_asked_for_when_it_is_cheap(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  assert_int_equal(wanted_stage(k, STAGE_PASSES, 64000000 - 1), 0);
  assert_int_equal(wanted_stage(k, STAGE_ALL, 64000000), 0);
  assert_int_equal(wanted_stage(k, STAGE_PASSES, 64000000), STAGE_SHAPES);
  assert_int_equal(plan_of(k, usual)->allowed_ns, 64000000);
  assert_true(atomic_load(&plan_of(k, usual)->attention) & ATTEND_LEARN);
  // A backend that was asked for by name has no rivals.
  assert_int_equal(wanted_stage(k, STAGE_ALL & ~STAGE_BACKENDS, UINT64_C(1000000000)), 0);
  finish(rt);
}

// The word of others is taken eight times as long as it would pay to try the rest here.
static void the_word_of_others_ends_when_the_rest_is_cheap(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start_learned(&rt);
  plan *p = plan_of(k, usual);
  uint64_t compile_ns = p->is_known ? 2000000 : 20000000, all_ns = 8 * (compile_ns + 24 * 800000);
  p->is_led = true;
  assert_int_equal(wanted_stage(k, STAGE_SHAPES | STAGE_BACKENDS, all_ns - 1), 0);
  assert_true(p->is_led);
  assert_int_equal(p->stages, STAGE_SHAPES | STAGE_BACKENDS);
  assert_int_equal(wanted_stage(k, STAGE_ALL, all_ns), STAGE_PASSES);
  assert_false(p->is_led);
  assert_int_equal(p->stages, STAGE_TUNABLES);
  finish(rt);
}

static void the_word_of_others_ends_with_a_change(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  takes_ns[0] = 3000000;
  takes_ns[1] = 2500000;
  expect(k, usual, "000222", "optimized");
  answers(k, usual, 20);
  plan *p = plan_of(k, usual);
  p->is_led = true;
  p->stages = STAGE_ALL;
  review_kernel(k);
  assert_true(p->is_led && p->stages == STAGE_ALL);
  takes_ns[2] = 8000000;
  answers(k, usual, 4);
  review_kernel(k);
  assert_string_equal(reason_of(k, usual), "changed");
  assert_false(p->is_led);
  assert_int_equal(p->stages, STAGE_TUNABLES);
  finish(rt);
}

// For code that other processes compiled for other backends: once, when a tenth of a second is left
// for that, behind the launch shapes, and where the backend was not asked for by name.
static void compiled_code_is_looked_for_once(void **state) {
  (void)state;
  for (int is_named = 0; is_named < 2; is_named++) {
    vyre_runtime *rt;
    vyre_kernel *k = start_after(&rt, 1000000);
    if (!is_named) {
      finish(rt);
      backend_set_extra(&told_backend);
      k = load_text(text, &(vyre_runtime_options){.learn_after = 1000000, .no_store = true}, &rt);
    }
    dispatch(k, usual);
    plan *p = plan_of(k, usual);
    atomic_store(&p->state, PLAN_LEARNED);
    p->stages = STAGE_ALL & ~(STAGE_SHAPES | STAGE_BACKENDS);
    leave(p, 200000000);
    review_kernel(k);
    assert_false(k->has_looked);
    p->stages = STAGE_ALL;
    review_kernel(k);
    assert_false(k->has_looked);
    p->stages = STAGE_ALL & ~STAGE_BACKENDS;
    leave(p, 100000000);
    review_kernel(k);
    assert_false(k->has_looked);
    unsigned before = compiled;
    leave(p, 100000001);
    review_kernel(k);
    assert_int_equal(k->has_looked, !is_named);
    assert_int_equal(compiled, before); // it is looked for, not made
    finish(rt);
  }
}

static int set_up(void **state) {
  if (scratch_dir_make(state) || setenv("VYRE_HOME", scratch_dir, 1)) return -1;
  told_clock_begin();
  return 0;
}

// Dispatches of one bucket until another one learns, when each takes so long.
static unsigned dispatches_before_learning(uint32_t learn_after, uint64_t ns) {
  vyre_runtime *rt;
  vyre_kernel *k = start_after(&rt, learn_after);
  unsigned count = 0;
  for (int i = 0; i < CODES; i++) takes_ns[i] = ns;
  for (dispatch(k, usual); atomic_load(&plan_of(k, usual)->state) == PLAN_COLD; count++) {
    assert_true(count < 100);
    assert_int_equal(compiled, 1);
    dispatch(k, usual);
  }
  finish(rt);
  return count;
}

// As often as is asked for; else after 16, or after two that took a tenth of a millisecond each.
static void learning_begins_when_it_may_pay(void **state) {
  (void)state;
  assert_int_equal(dispatches_before_learning(0, 1000), 16);
  assert_int_equal(dispatches_before_learning(0, HINTS_HOT_MEAN_NS - 1), 16);
  assert_int_equal(dispatches_before_learning(0, HINTS_HOT_MEAN_NS), 2);
  assert_int_equal(dispatches_before_learning(1, 1000), 1);
  assert_int_equal(dispatches_before_learning(5, 1000), 5);
  assert_int_equal(dispatches_before_learning(5, 10 * HINTS_HOT_MEAN_NS), 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(learning_begins_when_it_may_pay),
      cmocka_unit_test(the_fastest_is_taken),
      cmocka_unit_test(explained_figures_are_those_that_were_measured),
      cmocka_unit_test(explained_is_what_would_change_it),
      cmocka_unit_test(what_becomes_slow_is_left),
      cmocka_unit_test(what_becomes_fast_is_found),
      cmocka_unit_test(a_time_limit_is_not_spent_on_trying_others),
      cmocka_unit_test(what_has_no_hope_is_not_tried),
      cmocka_unit_test(trying_others_has_a_share),
      cmocka_unit_test(known_variants_take_turns_in_a_new_bucket),
      cmocka_unit_test(a_time_limit_is_not_spent_on_turns),
      cmocka_unit_test(a_time_limit_is_not_spent_on_copies),
      cmocka_unit_test(the_fastest_of_a_new_bucket_need_not_be_what_was_predicted),
      cmocka_unit_test(a_new_bucket_learns_when_that_is_worth_it),
      cmocka_unit_test(a_stage_is_asked_for_when_it_is_cheap),
      cmocka_unit_test(the_word_of_others_ends_when_the_rest_is_cheap),
      cmocka_unit_test(the_word_of_others_ends_with_a_change),
      cmocka_unit_test(compiled_code_is_looked_for_once),
      cmocka_unit_test(a_suggested_size_is_proven_and_timed),
  };
  return cmocka_run_group_tests(tests, set_up, scratch_dir_remove);
}
