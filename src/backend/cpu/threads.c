// SPDX-License-Identifier: MIT
#include "backend/cpu/threads.h"

// ---- buckets ------------------------------------------------------------------------------------

static uint64_t magnitude(uint64_t value) {
  return value ? 64 - (uint64_t)__builtin_clzll(value) : 0;
}

// Never 0.
static uint64_t bucket_of(const launch *l, uint64_t invocations) {
  const vyre_program *p = l->program;
  uint64_t bucket = 1 + magnitude(invocations);
  for (uint32_t i = 0; i < p->param_count; i++)
    if (!type_is_float(p->params[i].type)) bucket = bucket * 67 + magnitude(l->params[i]);
  return bucket ? bucket : 1;
}

// A few places are looked at; when they are taken by others, the first is taken over.
threads_cost *threads_find(threads_state *s, const launch *l, uint64_t invocations) {
  enum { LOOKS = 4 };
  uint64_t bucket = bucket_of(l, invocations);
  uint32_t first = (uint32_t)(bucket * UINT64_C(0x9e3779b97f4a7c15) >> 60); // THREADS_BUCKETS
  for (uint32_t i = 0; i < LOOKS; i++) {
    threads_cost *c = &s->costs[(first + i) % THREADS_BUCKETS];
    uint_fast64_t there = atomic_load_explicit(&c->bucket, memory_order_relaxed);
    if (there == bucket) return c;
    if (!there && atomic_compare_exchange_strong(&c->bucket, &there, bucket)) return c;
    if (there == bucket) return c;
  }
  threads_cost *c = &s->costs[first];
  atomic_store(&c->bucket, bucket);
  atomic_store(&c->alone, 0);
  atomic_store(&c->best_alone, 0);
  atomic_store(&c->alone_runs, 0);
  for (int k = 0; k < 2; k++) {
    atomic_store(&c->together[k], 0);
    atomic_store(&c->best_together[k], 0);
    atomic_store(&c->runs[k], 0);
  }
  return c;
}

// ---- the choice ---------------------------------------------------------------------------------

// A thread that is awake joins within a microsecond, and one that sleeps takes 5 to 50 us to wake,
// more on a busy machine: less work than the first is done sooner alone, and up to the second it is
// measured who is faster. For short work all threads have to be clearly so, because they burn other
// CPUs' time; by so little that it hardly matters which side of the margin a disturbed measurement
// falls on. Whoever lost is tried again, at first often, because first runs are slow, and later as
// seldom as keeps what that costs to about one part in a hundred; two times in a row, because the
// first one may find its data in another core's cache.
enum {
  ALONE_NS = 5000,
  SHORT_NS = 30000,
  SHORT_MARGIN = 16, // one part in so many
  COMPETE_NS = 1000000,
  FIRST_ALONE = 4096,
  FIRST_RUNS = 8,
  TRY_AGAIN = 256,
  TRY_SOON = 64,     // one that was clearly faster once: what disturbed it may be over
  TRY_SELDOM = 1024, // one that takes more than twice as long
  TRY_RARELY = 4096, // one that was far slower, which costs
  ALONE_RUNS = 3, // before one thread is judged, where it can be afforded: the first may be unlucky
  AFFORDED_NS = 10000000,
};

static bool is_within(uint64_t alone, uint64_t together, uint64_t times) {
  return alone / times < together && together / times < alone;
}

static bool is_close(uint64_t alone, uint64_t together) {
  return is_within(alone, together, 4);
}

// How many runs pass until the one that lost is tried again.
static unsigned pause_of(threads_cost *c, bool is_awake, bool is_alone, uint64_t alone,
                         uint64_t together) {
  atomic_uint_fast64_t *lost = is_alone ? &c->best_together[is_awake] : &c->best_alone;
  uint64_t best = atomic_load_explicit(lost, memory_order_relaxed);
  uint64_t usual = is_alone ? alone : together;
  bool was_faster = best && best < usual - usual / 5;
  if (is_within(alone, together, 2)) return was_faster ? TRY_SOON : TRY_AGAIN;
  if (!is_close(alone, together)) return TRY_RARELY;
  return was_faster ? TRY_AGAIN : TRY_SELDOM;
}

// Whether the one that lost has its turn. One that lost by far gets one more chance at first, and
// one later: whoever times the region meanwhile sees what it will take, not what was tried.
static bool is_turn(threads_cost *c, bool is_awake, unsigned run, bool is_alone, uint64_t alone,
                    uint64_t together) {
  if (run >= FIRST_RUNS) {
    bool is_second_chance = run == TRY_AGAIN && !is_close(alone, together);
    return is_second_chance || run % pause_of(c, is_awake, is_alone, alone, together) < 2;
  }
  return is_close(alone, together) ? run / 2 % 2 == 0 : run == 0;
}

// Picoseconds of one invocation in one thread. It cannot take longer than all of them together: a
// run alone that seems to was disturbed.
static uint64_t one_of(uint64_t alone, uint64_t together, uint32_t all) {
  return !alone || (together && together * all < alone) ? together * all : alone;
}

uint64_t threads_work_ns(const threads_cost *c, uint32_t all, uint64_t invocations) {
  threads_cost *costs = (threads_cost *)c;
  uint64_t ps = atomic_load_explicit(&costs->alone, memory_order_relaxed);
  for (int k = 1; !ps && k >= 0; k--)
    ps = atomic_load_explicit(&costs->together[k], memory_order_relaxed) * all;
  return (uint64_t)((double)invocations * (double)ps / 1000.0);
}

// Nothing was measured yet, in this process.
static bool is_short_at_first(const threads_state *s, uint64_t invocations) {
  uint64_t expected_ns =
      atomic_load_explicit(&((threads_state *)s)->expected_ns, memory_order_relaxed);
  if (s->has_atomics) return true;
  return expected_ns ? expected_ns < SHORT_NS : invocations <= FIRST_ALONE;
}

uint32_t threads_choose(const threads_state *s, threads_cost *c, uint32_t all, uint64_t invocations,
                        bool is_awake) {
  if (all == 1) return 1;
  uint64_t alone = atomic_load_explicit(&c->alone, memory_order_relaxed), alone_ps;
  // The usual short dispatch, which has no time for the rest.
  if (alone && !__builtin_mul_overflow(alone, invocations, &alone_ps) && alone_ps < ALONE_NS * 1000)
    return 1;
  uint64_t together = atomic_load_explicit(&c->together[is_awake], memory_order_relaxed);
  uint64_t other = atomic_load_explicit(&c->together[!is_awake], memory_order_relaxed);
  uint64_t least = !together || (other && other < together) ? other : together;
  double ns = (double)invocations * (double)one_of(alone, least, all) / 1000.0;
  bool may_compete = s->has_atomics || ns < COMPETE_NS;
  if (!alone && !least) return is_short_at_first(s, invocations) ? 1 : all;
  // One that was not measured is guessed from all of them, which may be slower than it.
  double together_ns = (double)invocations * (double)least / 1000.0;
  if (!alone) return may_compete || (together_ns < COMPETE_NS && ns < AFFORDED_NS) ? 1 : all;
  bool is_judged = atomic_load_explicit(&c->alone_runs, memory_order_relaxed) >= ALONE_RUNS;
  if (ns < ALONE_NS || (!is_judged && ns < AFFORDED_NS)) return 1;
  if (!together || !may_compete) return all;
  unsigned run = atomic_fetch_add_explicit(&c->runs[is_awake], 1, memory_order_relaxed);
  uint64_t margin = ns < SHORT_NS ? alone / SHORT_MARGIN : 0;
  bool is_alone = alone - margin <= together;
  return is_alone != is_turn(c, is_awake, run, is_alone, alone, together) ? 1 : all;
}

void threads_learn(threads_cost *c, uint64_t time_ns, uint32_t threads, uint64_t invocations,
                   bool is_awake) {
  atomic_uint_fast64_t *cost = threads == 1 ? &c->alone : &c->together[is_awake];
  if (threads == 1 && atomic_load_explicit(&c->alone_runs, memory_order_relaxed) < ALONE_RUNS)
    atomic_fetch_add_explicit(&c->alone_runs, 1, memory_order_relaxed);
  uint64_t now = (uint64_t)((double)time_ns * 1000.0 / (double)invocations) + 1;
  uint64_t old = atomic_load_explicit(cost, memory_order_relaxed);
  // What is slow may have been somebody else's fault (a page fault, another process): it counts
  // less, and never for more than twice of what is known. A single run that waited ten milliseconds
  // for the CPU would make what takes microseconds look worth all threads, for good.
  if (old && now > 2 * old) now = 2 * old;
  atomic_uint_fast64_t *best = threads == 1 ? &c->best_alone : &c->best_together[is_awake];
  uint64_t least = atomic_load_explicit(best, memory_order_relaxed);
  if (!least || now < least) atomic_store_explicit(best, now, memory_order_relaxed);
  // Threads that are woken are fast or slow by chance, so that the best of them would flatter them:
  // it is the mean that counts, but what takes less than half is what a disturbance left behind.
  uint64_t mean = !old || now < old / 2 ? now : (3 * old + now) / 4;
  atomic_store_explicit(cost, mean, memory_order_relaxed);
}
