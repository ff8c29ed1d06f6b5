// SPDX-License-Identifier: MIT
//
// Specialised variants: the program with its parameters and lengths as constants, one per set of
// arguments. A dispatch looks for its own; on a miss the general variant answers, and the
// background compiles the missing one from a copy of the inputs, when they came before and may come
// again. It is proven on them and timed beside the general variant, as every candidate is; it is
// used when it is faster, and otherwise it is remembered that it is not. Then the predictor is
// asked what comes next and, when the decision is to speculate, that is prepared too, on the same
// data repeated to the predicted lengths. What was prepared and not used for a while is held
// against the predictor, and time spent in vain has a budget. So a sequence that can be foreseen
// misses only while it is being recognised, and one that cannot is soon left alone; so is a kernel
// that gains nothing, or is over sooner than looking for a variant pays.
#include "runtime/special.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "opt/relax.h"
#include "opt/specialise.h"
#include "runtime/buffer.h"
#include "runtime/capture.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

// Looking for a variant takes some 300 ns: below this mean time it cannot pay.
#define WORTH_LOOKING_NS UINT64_C(10000)
// So many sets of arguments that gain nothing, and none that does: it is left alone.
enum { ENOUGH_LOSERS = 8 };

typedef struct special_job {
  vyre_kernel *kernel;
  capture inputs;
  uint64_t *key;     // NULL: only look ahead
  uint64_t start_ns; // of the dispatch that missed
} special_job;

// ---- the table ----------------------------------------------------------------------------------

// In the place of one that was removed: a search goes on behind it.
static special gone;

// The place of the one for a key; SPECIAL_SLOTS when there is none.
static uint32_t find_slot(vyre_kernel *k, const uint64_t *key, uint64_t hash) {
  for (uint32_t i = 0; i < SPECIAL_SLOTS; i++) {
    uint32_t slot = (uint32_t)((hash + i) % SPECIAL_SLOTS);
    const special *s = atomic_load_explicit(&k->specials[slot], memory_order_acquire);
    if (!s) break;
    bool is_it = s != &gone && s->hash == hash && !memcmp(s->key, key, k->key_count * sizeof *key);
    if (is_it) return slot;
  }
  return SPECIAL_SLOTS;
}

static special *find(vyre_kernel *k, const uint64_t *key, uint64_t hash) {
  uint32_t slot = find_slot(k, key, hash);
  return slot < SPECIAL_SLOTS ? atomic_load_explicit(&k->specials[slot], memory_order_acquire)
                              : NULL;
}

static uint64_t hash_key(const vyre_kernel *k, const uint64_t *key) {
  return hash_fast(key, k->key_count * sizeof *key);
}

// Under the kernel's lock, by the one worker. Takes the key.
static void publish(vyre_kernel *k, special *s) {
  uint64_t i = s->hash;
  for (special *at; (at = atomic_load(&k->specials[i % SPECIAL_SLOTS])) && at != &gone;) i++;
  atomic_store_explicit(&k->specials[i % SPECIAL_SLOTS], s, memory_order_release);
  k->special_count++;
}

static special *at_slot(vyre_kernel *k, uint32_t i) {
  special *s = atomic_load(&k->specials[i]);
  return s == &gone ? NULL : s;
}

static void free_special(special *s) {
  if (s) free(s->key);
  if (s) free(s->given);
  free(s);
}

// Different arguments may have come to the same code: the last one frees it. With the lock.
static void let_go(vyre_kernel *k, code *c) {
  if (!c || --c->specials) return;
  code_unlink(k, c);
  code_free(c);
}

static void free_removed(vyre_kernel *k) {
  for (special *s = k->removed, *next; s; s = next) {
    next = s->next;
    let_go(k, s->variant.code);
    free_special(s);
  }
  k->removed = NULL;
}

uint64_t special_runs(const vyre_kernel *k) {
  uint64_t runs = 0;
  for (uint32_t i = 0; i < SPECIAL_SLOTS; i++) {
    special *s = at_slot((vyre_kernel *)k, i);
    if (s) runs += atomic_load(&s->variant.count);
  }
  return runs;
}

void special_free_all(vyre_kernel *k) {
  for (uint32_t i = 0; i < SPECIAL_SLOTS; i++) free_special(at_slot(k, i));
  free_removed(k);
}

// With the kernel's lock held, by the one worker. A dispatch that begins from now on cannot see the
// removed ones; those before it have left when nobody looks.
static void make_room(vyre_kernel *k) {
  uint32_t oldest = SPECIAL_SLOTS;
  uint64_t when = UINT64_MAX;
  for (uint32_t i = 0; i < SPECIAL_SLOTS && k->special_count >= SPECIAL_MAX; i++) {
    const special *s = at_slot(k, i);
    uint64_t last = s ? s->born > s->used ? s->born : s->used : UINT64_MAX;
    if (last < when) when = last, oldest = i;
  }
  if (oldest < SPECIAL_SLOTS) {
    special *s = at_slot(k, oldest);
    // Nothing behind it to be found: the place is free again, and so are removed ones before it.
    bool is_last = !atomic_load(&k->specials[(oldest + 1) % SPECIAL_SLOTS]);
    atomic_store(&k->specials[oldest], is_last ? NULL : &gone);
    for (uint32_t i = oldest; is_last; i = (i + SPECIAL_SLOTS - 1) % SPECIAL_SLOTS) {
      special *before = atomic_load(&k->specials[(i + SPECIAL_SLOTS - 1) % SPECIAL_SLOTS]);
      if (before != &gone) break;
      atomic_store(&k->specials[(i + SPECIAL_SLOTS - 1) % SPECIAL_SLOTS], NULL);
    }
    s->next = k->removed;
    k->removed = s;
    k->special_count--;
  }
  if (!atomic_load(&k->looking) && !atomic_load(&k->checks.waiting)) free_removed(k);
}

// ---- making one ---------------------------------------------------------------------------------

typedef struct contest { // between the general variant, number 0, and the special one
  vyre_kernel *kernel;
  capture *inputs;
  const capture_output *expected;
  const variant *general;
  code *made;
} contest;

static vyre_status run_one(const contest *c, uint32_t i, vyre_error *error) {
  vyre_executable *e = i ? c->made->executable : c->general->code->executable;
  return capture_answer(c->inputs, e, i ? NULL : c->general->shape, error);
}

static vyre_status run_contender(void *context, uint32_t i, uint64_t *elapsed_ns,
                                 vyre_error *error) {
  const contest *c = context;
  uint64_t spent_ns = 0;
  return capture_time(c->inputs, i ? c->made->executable : c->general->code->executable,
                      i ? NULL : c->general->shape, elapsed_ns, &spent_ns, error);
}

static vyre_status check_contender(void *context, uint32_t i, vyre_error *error) {
  const contest *c = context;
  char text[160];
  vyre_status status = run_one(c, i, error);
  if (status != VYRE_OK || !i) return status;
  if (capture_matches(c->inputs, c->expected, text, sizeof text)) {
    code_passed(c->made);
    return VYRE_OK;
  }
  code_condemn(c->kernel, c->made, text);
  return error_set(error, VYRE_ERROR_VERIFY, "%s", text);
}

// What a dispatch gains by the special code; 0: nothing that is more than noise, or it is wrong.
static uint64_t gain_of(vyre_kernel *k, capture *inputs, const variant *general, code *made) {
  capture_output expected = {0};
  code *first;
  trial_candidate rows[2] = {{.name = "general"}, {.name = "special"}};
  contest c = {k, inputs, &expected, general, made};
  trial_options o = TRIAL_PLAIN;
  o.max_rounds = 3 * TRIAL_ROUNDS;
  o.default_index = 0;
  o.run = run_contender;
  o.check = check_contender;
  o.context = &c;
  bool ok = kernel_first(k, &first, NULL) == VYRE_OK &&
            capture_answer(inputs, first->executable, NULL, NULL) == VYRE_OK &&
            capture_keep(inputs, &expected);
  trial_decision d = {.winner = TRIAL_NONE};
  if (ok) d = trial_measure(rows, 2, &o);
  uint64_t gain = d.winner == 1 ? rows[0].median_ns - rows[1].median_ns : 0;
  // As every candidate it has to win twice.
  trial_candidate again[2] = {{.name = "general"}, {.name = "special"}};
  o.check = NULL;
  if (gain && trial_measure(again, 2, &o).winner != 1) gain = 0;
  capture_output_fini(&expected);
  return gain;
}

// What fast arithmetic means is settled before the arguments are known: they must not change it.
static bool specialise(vyre_kernel *k, vyre_program *program, const uint64_t *key,
                       vyre_program **out) {
  vyre_program *exact;
  if (relax_program(program, &exact, NULL) != VYRE_OK) return false;
  const uint64_t *lengths = key + k->program->param_count;
  bool ok = specialise_program(exact, key, lengths, out, NULL) == VYRE_OK;
  vyre_program_release(exact);
  return ok;
}

// With the values of tunables that the general one has, unless lengths inside depend on them: those
// of the arguments are the declared ones'.
static bool has_own_lengths(const vyre_program *p) {
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (p->buffers[i].is_transient) return true;
  return false;
}

static code *make_code(vyre_kernel *k, const uint64_t *key, const code *general) {
  vyre_program *program;
  code *made = NULL;
  bool is_as_general = general->configuration[0] && !has_own_lengths(k->program);
  if (!specialise(k, is_as_general ? general->program : k->program, key, &program)) return NULL;
  code_request request = {.program = program,
                          .configuration = is_as_general ? general->configuration : NULL,
                          .backend = general->backend,
                          .tier = VYRE_TIER_FULL,
                          .passes = PASSES_RELEASE,
                          .constants = (uint32_t)hash_key(k, key) | 1};
  (void)code_make(k, &request, &made, NULL);
  vyre_program_release(program);
  return made;
}

// What a nanosecond of the background's time takes from threads that have work to do: the scheduler
// weighs a thread of nice 5 with 335 where one of nice 0 has 1024.
enum { BACKGROUND_WEIGHT = 335, FOREGROUND_WEIGHT = 1024 };

// The variant that a special one has to beat: that of its bucket, or of any that there is.
static const variant *general_for(vyre_kernel *k, const capture *inputs) {
  plan *p = kernel_find_plan(k, plan_key(k, &inputs->args));
  for (uint32_t i = 0; !p && i < KERNEL_PLANS; i++) p = atomic_load(&k->plans[i]);
  return p ? atomic_load(&p->current) : NULL;
}

// Under the kernel's lock.
static void count_outcome(vyre_kernel *k, special *s, const prediction *foreseen) {
  s->born = k->changes;
  if (!s->gain_ns) {
    k->special_losers++;
    k->wasted_ns += s->cost_ns;
    s->is_judged = true;
    return;
  }
  k->special_winners++;
  k->special_device = s->variant.code->device;
  if (!foreseen) return;
  s->was_predicted = true;
  s->kind = foreseen->kind;
  k->outcomes[s->kind].compile_ns += s->cost_ns;
  k->speculated++;
}

// The least of the latest counts. One compilation that was slow for want of a core, or of memory,
// would end foresight for good otherwise: what is not prepared is not measured again.
static void note_cost(vyre_kernel *k, uint64_t cost_ns) {
  k->special_costs[k->special_costs_seen++ % SPECIAL_COSTS] = cost_ns;
  k->special_cost_ns = cost_ns;
  for (uint32_t i = 0; i < SPECIAL_COSTS; i++)
    if (k->special_costs[i] && k->special_costs[i] < k->special_cost_ns)
      k->special_cost_ns = k->special_costs[i];
}

// The general variant has changed since: is the special one still faster?
static bool judge_again(vyre_kernel *k, capture *inputs, const variant *general, special *s) {
  if (!s->variant.code || atomic_load(&s->against) == general) return false;
  uint64_t gain = gain_of(k, inputs, general, s->variant.code);
  atomic_store(&s->gain_ns, gain);
  atomic_store(&s->against, general);
  return gain > 0;
}

// As a dispatch passes them; spans that are bound are no more than the buffers of the key.
static void copy_given(const vyre_dispatch_args *args, uint64_t *out) {
  for (uint32_t i = 0; i < args->param_count; i++) *out++ = args->params[i].bits;
  for (uint32_t i = 0; i < args->buffer_count; i++) *out++ = args->buffers[i].size_bytes;
}

static bool is_given(const special *s, const vyre_dispatch_args *args) {
  const uint64_t *at = s->given;
  for (uint32_t i = 0; i < args->param_count; i++)
    if (*at++ != args->params[i].bits) return false;
  for (uint32_t i = 0; i < args->buffer_count; i++)
    if (*at++ != args->buffers[i].size_bytes) return false;
  return true;
}

static special *new_special(const vyre_kernel *k, const capture *inputs, const uint64_t *key,
                            uint64_t hash) {
  special *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->hash = hash;
  s->key = malloc(k->key_count * sizeof *s->key);
  s->given = malloc(k->key_count * sizeof *s->given);
  if (!s->key || !s->given) {
    free_special(s);
    return NULL;
  }
  memcpy(s->key, key, k->key_count * sizeof *key);
  copy_given(&inputs->args, s->given);
  return s;
}

// Compiles, proves, times and publishes the variant for `key`; false when it came to nothing.
static bool prepare(vyre_kernel *k, capture *inputs, const uint64_t *key,
                    const prediction *foreseen) {
  uint64_t hash = hash_key(k, key), start = clock_thread_cpu_ns();
  const variant *general = general_for(k, inputs);
  special *there = find(k, key, hash);
  if (!general || there) return general && there && judge_again(k, inputs, general, there);
  code *made = make_code(k, key, general->code);
  uint64_t compiled = clock_thread_cpu_ns();
  special *s = made ? new_special(k, inputs, key, hash) : NULL;
  if (!s) return false;
  atomic_init(&s->gain_ns, gain_of(k, inputs, general, made));
  atomic_init(&s->against, general);
  s->cost_ns = clock_thread_cpu_ns() - start;
  pthread_mutex_lock(&k->lock);
  made->specials++;
  if (s->gain_ns)
    s->variant.code = made;
  else
    let_go(k, made);
  note_cost(k, (compiled - start) * BACKGROUND_WEIGHT / FOREGROUND_WEIGHT + 1);
  count_outcome(k, s, foreseen);
  make_room(k);
  publish(k, s);
  pthread_mutex_unlock(&k->lock);
  return s->gain_ns > 0;
}

// ---- the background -----------------------------------------------------------------------------

// How far ahead is prepared: enough that compiling keeps up with dispatches that come at once.
enum { AHEAD = 3 };

// In vain: one part in 20 of the time since the first dispatch, and this much to begin with.
enum { WASTE_SHARE = 20 };
#define WASTE_TO_BEGIN_NS UINT64_C(100000000)
// A variant that was not used while the arguments changed this often will not be.
enum { JUDGED_AFTER = 16 };

// With the kernel's lock held.
static void judge(vyre_kernel *k, uint64_t patience) {
  for (uint32_t i = 0; i < SPECIAL_SLOTS; i++) {
    special *s = at_slot(k, i);
    if (!s || s->is_judged || atomic_load(&s->was_used)) continue;
    if (k->changes - s->born < patience) continue;
    s->is_judged = true;
    k->wasted_ns += s->cost_ns;
    if (!s->was_predicted) continue;
    k->outcomes[s->kind].unused++;
    predictor_outcome(k->predictor, false);
  }
}

void special_judge_all(vyre_kernel *k) {
  if (!k->predictor) return;
  pthread_mutex_lock(&k->lock);
  judge(k, 0);
  pthread_mutex_unlock(&k->lock);
}

static bool has_budget(vyre_kernel *k) {
  pthread_mutex_lock(&k->lock);
  judge(k, JUDGED_AFTER);
  uint64_t allowed = (clock_now_ns() - k->special_begun_ns) / WASTE_SHARE + WASTE_TO_BEGIN_NS;
  bool is_within = k->wasted_ns <= allowed;
  pthread_mutex_unlock(&k->lock);
  return is_within;
}

static bool is_worth_it(vyre_kernel *k, uint32_t ahead, uint64_t *key, prediction *next) {
  pthread_mutex_lock(&k->lock);
  bool known = predictor_next_change(k->predictor, ahead, key, next);
  if (known)
    k->last_decision = speculate_decide((speculate_inputs){
        predictor_seen(k->predictor), next->confidence_bps, k->special_cost_ns, k->miss_cost_ns});
  bool worth = known && k->last_decision.speculate;
  pthread_mutex_unlock(&k->lock);
  return worth;
}

// What is to be prepared first, as things stand now: the arguments may have changed meanwhile.
static bool next_to_prepare(vyre_kernel *k, uint64_t *key, prediction *next) {
  for (uint32_t ahead = 1; ahead <= AHEAD && is_worth_it(k, ahead, key, next); ahead++)
    if (!find(k, key, hash_key(k, key))) return true;
  return false;
}

static void speculate(vyre_kernel *k, const capture *inputs) {
  uint64_t *key = malloc(k->key_count * sizeof *key);
  prediction next;
  bool goes_on = key != NULL;
  while (goes_on && has_budget(k) && next_to_prepare(k, key, &next)) {
    capture resized;
    if (capture_resize(inputs, key, &resized) != CAPTURE_TAKEN) break;
    goes_on = prepare(k, &resized, key, &next);
    capture_fini(&resized);
  }
  free(key);
}

// A miss costs what passes until its variant is there.
static void set_miss_cost(vyre_kernel *k, uint64_t start_ns) {
  pthread_mutex_lock(&k->lock);
  k->miss_cost_ns = clock_now_ns() - start_ns;
  pthread_mutex_unlock(&k->lock);
}

static void run_job(void *context, bool given_up) {
  special_job *j = context;
  vyre_kernel *k = j->kernel;
  if (!given_up && has_budget(k)) {
    // One that is only timed again was there.
    bool is_missing = j->key && !find(k, j->key, hash_key(k, j->key));
    if (j->key && prepare(k, &j->inputs, j->key, NULL) && is_missing) set_miss_cost(k, j->start_ns);
    speculate(k, &j->inputs);
  }
  capture_fini(&j->inputs);
  free(j->key);
  free(j);
  atomic_store(&k->is_specialising, false);
  atomic_fetch_sub(&k->pending, 1);
}

// Hands the inputs to the background; `key` NULL: only look ahead.
static void start_job(vyre_kernel *k, const vyre_dispatch_args *args, const uint64_t *key) {
  special_job *j = calloc(1, sizeof *j);
  if (!j) return;
  j->kernel = k;
  j->start_ns = clock_now_ns();
  j->key = key ? malloc(k->key_count * sizeof *key) : NULL;
  if ((key && !j->key) || !buffers_to_host(args) || atomic_exchange(&k->is_specialising, true)) {
    free(j->key);
    free(j);
    return;
  }
  if (capture_take(&j->inputs, k->program, args) != CAPTURE_TAKEN) {
    atomic_store(&k->is_specialising, false);
    free(j->key);
    free(j);
    return;
  }
  if (key) memcpy(j->key, key, k->key_count * sizeof *key);
  j->inputs.args.timeout_ns = UINT64_C(60000000000);
  atomic_fetch_add(&k->pending, 1);
  if (!worker_add(k->runtime->worker, run_job, j)) run_job(j, true);
}

// ---- the foreground -----------------------------------------------------------------------------

static bool make_key(const vyre_kernel *k, const vyre_dispatch_args *args, uint64_t *key) {
  launch l;
  if (launch_init(&l, k->program, args, NULL) != VYRE_OK) return false;
  const vyre_program *p = k->program;
  memcpy(key, l.params, p->param_count * sizeof *key);
  for (uint32_t i = 0; i < p->buffer_count; i++) key[p->param_count + i] = l.buffers[i].length;
  launch_fini(&l);
  return true;
}

typedef struct use {
  bool is_new;    // the arguments differ from those of the dispatch before
  bool is_wanted; // there is no variant for them, and there should be
} use;

// Arguments that miss get a variant when they come back, when they have stayed for as long as one
// takes to be compiled (so that at most twice the least possible time is lost), or when nothing is
// known yet of what one costs.
static bool is_wanted(vyre_kernel *k, uint64_t hash, bool is_new) {
  if (is_new) return k->seen[hash % SEEN_SLOTS] == hash || !k->special_cost_ns;
  uint64_t compile_ns = k->special_cost_ns * FOREGROUND_WEIGHT / BACKGROUND_WEIGHT;
  return clock_now_ns() - k->changed_ns >= compile_ns;
}

static use note_use(vyre_kernel *k, special *s, const uint64_t *key, uint64_t hash) {
  bool is_first = s && s->gain_ns && !atomic_exchange(&s->was_used, true);
  bool is_foreseen = is_first && s->was_predicted;
  use u = {0};
  pthread_mutex_lock(&k->lock);
  if (!k->special_begun_ns) k->special_begun_ns = clock_now_ns();
  predictor_observe(k->predictor, key, s == NULL);
  u.is_new = !k->changes || hash != k->last_hash;
  if (u.is_new) k->changed_ns = clock_now_ns();
  u.is_wanted = !s && is_wanted(k, hash, u.is_new);
  k->seen[hash % SEEN_SLOTS] = hash;
  k->last_hash = hash;
  k->changes += u.is_new;
  k->stalls += u.is_new && !s;
  if (s) s->used = k->changes;
  if (is_foreseen && !s->is_judged) {
    predictor_outcome(k->predictor, true);
    k->outcomes[s->kind].used++;
    k->speculated_used++;
  }
  uint64_t runs = s ? atomic_load(&s->variant.count) + 1 : 0; // with the one that comes
  if (s && s->was_predicted) k->outcomes[s->kind].saved_ns += s->gain_ns * (runs - s->counted);
  if (s) s->counted = runs;
  if (u.is_new) atomic_store(&k->repeats, 0);
  pthread_mutex_unlock(&k->lock);
  return u;
}

// Whether there is something to prepare; asked before the inputs are copied for it.
static bool sees_ahead(vyre_kernel *k) {
  uint64_t key[PREDICT_MAX_VALUES];
  prediction next;
  return next_to_prepare(k, key, &next);
}

void special_leave(vyre_kernel *k) {
  atomic_fetch_sub(&k->looking, 1);
}

// Whether looking can pay here at all.
static bool is_worth_looking(const vyre_kernel *k, plan *p) {
  variant *v = atomic_load_explicit(&p->current, memory_order_acquire);
  uint64_t count = atomic_load_explicit(&v->count, memory_order_relaxed);
  uint64_t total = atomic_load_explicit(&v->total_ns, memory_order_relaxed);
  bool is_hopeless = k->special_losers >= ENOUGH_LOSERS && !k->special_winners;
  return !is_hopeless && (!count || total >= count * WORTH_LOOKING_NS);
}

// The same arguments again, as often before: there is nothing new to be noted, most of the time.
static const special *find_again(vyre_kernel *k, const plan *p, const vyre_dispatch_args *args) {
  enum { OFTEN = 8, LOOK_EVERY = 64 };
  unsigned repeats = atomic_fetch_add_explicit(&k->repeats, 1, memory_order_relaxed);
  if (repeats < OFTEN || repeats % LOOK_EVERY == 0) return NULL;
  unsigned slot = atomic_load_explicit(&k->last_slot, memory_order_relaxed);
  const special *s = atomic_load(&k->specials[slot]);
  bool is_it = s && s != &gone && args->param_count == k->program->param_count &&
               args->param_count + args->buffer_count <= k->key_count && is_given(s, args);
  const variant *general = atomic_load_explicit(&((plan *)p)->current, memory_order_acquire);
  bool is_stale = is_it && s->variant.code && atomic_load(&((special *)s)->against) != general;
  return is_it && !is_stale ? s : NULL;
}

static variant *usable(const special *s) {
  special *t = (special *)s;
  return atomic_load(&t->gain_ns) && code_is_trusted(s->variant.code) ? &t->variant : NULL;
}

variant *special_enter(vyre_kernel *k, plan *p, const vyre_dispatch_args *args) {
  uint64_t key[PREDICT_MAX_VALUES];
  atomic_fetch_add(&k->looking, 1);
  if (!is_worth_looking(k, p)) return NULL;
  const special *again = find_again(k, p, args);
  if (again) return usable(again);
  if (!capture_can_take(k->program, args) || !make_key(k, args, key)) return NULL;
  uint64_t hash = hash_key(k, key);
  uint32_t slot = find_slot(k, key, hash);
  special *s = slot < SPECIAL_SLOTS ? atomic_load(&k->specials[slot]) : NULL;
  if (s) atomic_store_explicit(&k->last_slot, slot, memory_order_relaxed);
  const variant *general = atomic_load_explicit(&p->current, memory_order_acquire);
  bool is_stale = s && s->variant.code && atomic_load(&s->against) != general;
  use u = note_use(k, s, key, hash);
  u.is_wanted |= is_stale;
  // One job at a time: a queue of misses would only compile what is not asked for any more.
  bool is_free = k->runtime->worker && !atomic_load(&k->is_specialising);
  if (is_free && (u.is_wanted || (u.is_new && sees_ahead(k))))
    start_job(k, args, u.is_wanted ? key : NULL);
  return s && !is_stale ? usable(s) : NULL;
}
