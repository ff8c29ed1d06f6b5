// SPDX-License-Identifier: MIT
//
// The thread with a queue: its jobs, what is given up, ticks, and how it gives way.
#include "runtime/worker.h"

#include "base/clock.h"
#include "base/priority.h"
#include "../parsed_program.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_NS UINT64_C(3600000000000)

static void doze(void) {
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// ---- jobs ---------------------------------------------------------------------------------------

static struct {
  uint32_t count;
  uintptr_t context[16];
  bool given_up[16];
} done;

static void note(void *context, bool given_up) {
  done.context[done.count] = (uintptr_t)context;
  done.given_up[done.count++] = given_up;
}

static void jobs_run_in_their_order(void **state) {
  (void)state;
  worker *w = worker_new(&(worker_options){0});
  for (int round = 0; round < 2; round++) {
    done.count = 0;
    for (uintptr_t i = 1; i <= 5; i++) assert_true(worker_add(w, note, (void *)(i * 3)));
    worker_wait_idle(w);
    assert_int_equal(done.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
      assert_int_equal(done.context[i], (i + 1) * 3);
      assert_false(done.given_up[i]);
    }
  }
  assert_false(worker_is_ending(w));
  worker_free(w);
  worker_free(NULL);
}

static atomic_bool has_begun;

static void until_it_ends(void *context, bool given_up) {
  assert_false(given_up);
  atomic_store(&has_begun, true);
  while (!worker_is_ending(context)) doze();
  note((void *)7, false);
}

static void what_has_not_begun_is_given_up(void **state) {
  (void)state;
  done.count = 0;
  worker *w = worker_new(&(worker_options){0});
  assert_true(worker_add(w, until_it_ends, w));
  while (!atomic_load(&has_begun)) doze();
  assert_true(worker_add(w, note, (void *)8));
  assert_true(worker_add(w, note, (void *)9));
  worker_free(w);
  assert_int_equal(done.count, 3);
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(done.context[i], 7 + i);
    assert_int_equal(done.given_up[i], i > 0);
  }
}

// ---- ticks --------------------------------------------------------------------------------------

typedef struct ticking {
  worker *w;
  atomic_uint ticks;
  atomic_bool was_poked, pokes_again;
} ticking;

static void tick(void *context) {
  ticking *t = context;
  if (worker_is_poked(t->w)) atomic_store(&t->was_poked, true);
  if (atomic_exchange(&t->pokes_again, false)) worker_poke(t->w);
  atomic_fetch_add(&t->ticks, 1);
}

static void settle(ticking *t, unsigned ticks) {
  while (atomic_load(&t->ticks) < ticks) doze();
  worker_wait_idle(t->w);
  for (int i = 0; i < 20; i++) doze();
  assert_int_equal(atomic_load(&t->ticks), ticks);
  assert_false(worker_is_poked(t->w));
}

static void a_poke_is_a_tick(void **state) {
  (void)state;
  ticking t = {0};
  t.w = worker_new(&(worker_options){.tick_ns = 1000000, .tick = tick, .context = &t});
  settle(&t, 0);
  worker_poke(t.w);
  settle(&t, 1);
  worker_poke(t.w);
  settle(&t, 2);
  atomic_store(&t.pokes_again, true); // from within
  worker_poke(t.w);
  settle(&t, 4);
  assert_false(atomic_load(&t.was_poked)); // when a tick begins, the next poke counts
  worker_free(t.w);
}

static void a_tick_waits_for_its_time_and_jobs_do_not(void **state) {
  (void)state;
  ticking t = {0};
  t.w = worker_new(&(worker_options){.tick_ns = HOUR_NS, .tick = tick, .context = &t});
  done.count = 0;
  worker_poke(t.w);
  worker_poke(t.w);
  assert_true(worker_add(t.w, note, NULL));
  worker_wait_idle(t.w);
  assert_int_equal(done.count, 1);
  assert_true(worker_is_poked(t.w));
  assert_true(worker_add(t.w, note, NULL));
  worker_wait_idle(t.w);
  assert_int_equal(done.count, 2);
  worker_free(t.w);
  assert_int_equal(atomic_load(&t.ticks), 0);
}

static void a_poke_of_one_without_ticks_does_nothing(void **state) {
  (void)state;
  worker *w = worker_new(&(worker_options){0});
  done.count = 0;
  worker_poke(w);
  assert_true(worker_add(w, note, NULL));
  worker_wait_idle(w);
  assert_int_equal(done.count, 1);
  worker_free(w);
}

// ---- the thread ---------------------------------------------------------------------------------

typedef struct seen {
  int nice, rounding;
  bool is_lowered;
} seen;

static void look(void *context, bool given_up) {
  (void)given_up;
  seen *s = context;
  s->nice = getpriority(PRIO_PROCESS, 0);
  s->rounding = fegetround();
  s->is_lowered = priority_is_lowered();
}

// By as much as it says, however nice the process is; and in the usual floating-point environment.
static void the_background_gives_way(void **state) {
  (void)state;
  int own = getpriority(PRIO_PROCESS, 0),
      nicer = own + PRIORITY_STEP < 19 ? own + PRIORITY_STEP : 19;
  for (int in_background = 0; in_background < 2; in_background++) {
    seen s = {0};
    fesetround(FE_UPWARD);
    worker *w = worker_new(&(worker_options){.in_background = in_background});
    fesetround(FE_TONEAREST);
    assert_true(worker_add(w, look, &s));
    worker_wait_idle(w);
    assert_int_equal(s.nice, in_background ? nicer : own);
    assert_int_equal(s.is_lowered, in_background && nicer > own);
    assert_int_equal(s.rounding, FE_TONEAREST);
    worker_free(w);
  }
}

static vyre_program *many_regions(void) {
  char text[4000] = "program p()\nbuffer x: u32[] readwrite\n";
  for (int i = 0; i < 40; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "region r%d grid(len(x)) { x[global_id.x] = x[global_id.x] * 3 + %d }\n", i, i);
  return parse(text);
}

typedef struct compiling {
  vyre_program *program;
  vyre_status status;
  uint64_t helps; // how often other threads did a part
} compiling;

static void compile_all(void *context, bool given_up) {
  compiling *c = context;
  vyre_executable *e = NULL;
  vyre_compile_options options = {.threads = 4, .optimize = VYRE_OPTIMIZE_NONE};
  (void)given_up;
  clock_use before = clock_thread_use();
  c->status = vyre_compile(c->program, "cpu", &options, &e, NULL);
  c->helps = clock_thread_use().helps - before.helps;
  vyre_executable_release(e);
}

// Other threads do not give way, so that it is not they who compile for it.
static void the_background_compiles_alone(void **state) {
  (void)state;
  vyre_program *p = many_regions();
  setenv("VYRE_CACHE", "off", 1);
  for (int in_background = 0; in_background < 2; in_background++) {
    compiling c = {.program = p};
    worker *w = worker_new(&(worker_options){.in_background = in_background});
    assert_true(worker_add(w, compile_all, &c));
    worker_wait_idle(w);
    worker_free(w);
    assert_int_equal(c.status, VYRE_OK);
    assert_int_equal(c.helps > 0, !in_background);
  }
  vyre_program_release(p);
}

static uint64_t own_cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t used_ns;

static void use(void *context, bool given_up) {
  (void)context, (void)given_up;
  while (own_cpu_ns() < 3000000) {
  }
  used_ns = own_cpu_ns();
}

static void its_time_is_its_own(void **state) {
  (void)state;
  worker *w = worker_new(&(worker_options){0});
  assert_true(worker_cpu_ns(w) < 3000000);
  assert_true(worker_add(w, use, NULL));
  worker_wait_idle(w);
  uint64_t ns = worker_cpu_ns(w);
  assert_in_range(ns, used_ns, used_ns + 1000000000);
  worker_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jobs_run_in_their_order),
      cmocka_unit_test(what_has_not_begun_is_given_up),
      cmocka_unit_test(a_poke_is_a_tick),
      cmocka_unit_test(a_tick_waits_for_its_time_and_jobs_do_not),
      cmocka_unit_test(a_poke_of_one_without_ticks_does_nothing),
      cmocka_unit_test(the_background_gives_way),
      cmocka_unit_test(the_background_compiles_alone),
      cmocka_unit_test(its_time_is_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
