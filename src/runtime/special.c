// SPDX-License-Identifier: MIT
//
// Specialised variants: the program with its parameters and lengths as constants, one per set of
// arguments. A dispatch looks for its own; on a miss the general variant answers, and the
// background compiles the missing one from a copy of the inputs, proves it on them, and publishes
// it, when they came before and may come again. Then it asks the predictor what comes next and,
// when the decision is to speculate, prepares that too, on the same data repeated to the predicted
// lengths. What was prepared and not used for a while is held against the predictor, and time spent
// in vain has a budget. So a sequence that can be foreseen misses only while it is being
// recognised, and one that cannot is soon left alone.
#include "runtime/special.h"

#include "base/clock.h"
#include "base/hash.h"
#include "opt/specialise.h"
#include "runtime/buffer.h"
#include "runtime/capture.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

typedef struct special_job {
  vyre_kernel *kernel;
  capture inputs;
  uint64_t *key;     // NULL: only look ahead
  uint64_t start_ns; // of the dispatch that missed
} special_job;

// ---- the table ----------------------------------------------------------------------------------

// In the place of one that was removed: a search goes on behind it.
static special gone;

static special *find(vyre_kernel *k, const uint64_t *key, uint64_t hash) {
  for (uint32_t i = 0; i < SPECIAL_SLOTS; i++) {
    special *s =
        atomic_load_explicit(&k->specials[(hash + i) % SPECIAL_SLOTS], memory_order_acquire);
    if (!s) return NULL;
    if (s != &gone && s->hash == hash && !memcmp(s->key, key, k->key_count * sizeof *key)) return s;
  }
  return NULL;
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
  free(s);
}

static void free_removed(vyre_kernel *k) {
  for (special *s = k->removed, *next; s; s = next) {
    next = s->next;
    variant_free(s->variant);
    free_special(s);
  }
  k->removed = NULL;
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
    variant_unlink(k, s->variant);
    s->next = k->removed;
    k->removed = s;
    k->special_count--;
  }
  if (!atomic_load(&k->looking)) free_removed(k);
}

// ---- making one ---------------------------------------------------------------------------------

// Runs the general variant and the special one on the inputs; true when they agree.
static bool is_proven(vyre_kernel *k, capture *inputs, const variant *general, variant *made) {
  capture_output expected = {0};
  char text[160] = "";
  bool ok = capture_run(inputs, general->executable, NULL, NULL, NULL) == VYRE_OK &&
            capture_keep(inputs, &expected) &&
            capture_run(inputs, made->executable, NULL, NULL, NULL) == VYRE_OK;
  bool same = ok && capture_matches(inputs, &expected, text, sizeof text);
  if (ok && !same)
    runtime_notice(k->runtime, NOTICE_WRONG_RESULT,
                   "a specialised variant of `%s` gives a wrong answer (%s) and is not used",
                   k->program->name, text);
  capture_output_fini(&expected);
  return same;
}

static variant *make_variant(vyre_kernel *k, const uint64_t *key, const char *backend) {
  vyre_program *program;
  variant *made = NULL;
  if (specialise_program(k->program, key, key + k->program->param_count, &program, NULL) != VYRE_OK)
    return NULL;
  variant_request request = {.program = program,
                             .backend = backend,
                             .origin = "specialised",
                             .tier = VYRE_TIER_FULL,
                             .optimize = true};
  (void)variant_make(k, &request, &made, NULL);
  vyre_program_release(program);
  return made;
}

// What a nanosecond of the background's time takes from threads that have work to do: the scheduler
// weighs a thread of nice 5 with 335 where one of nice 0 has 1024.
enum { BACKGROUND_WEIGHT = 335, FOREGROUND_WEIGHT = 1024 };

// Compiles, proves and publishes the variant for `key`; false when it came to nothing.
static bool prepare(vyre_kernel *k, capture *inputs, const uint64_t *key,
                    const prediction *foreseen) {
  plan *p = atomic_load(&k->plans[plan_size_class(&inputs->args)]);
  uint64_t hash = hash_key(k, key);
  if (find(k, key, hash)) return false;
  // A size class that was never dispatched has no plan; any plan's first variant is general.
  for (uint32_t i = 0; !p && i < SIZE_CLASSES; i++) p = atomic_load(&k->plans[i]);
  if (!p) return false;
  uint64_t start = clock_thread_cpu_ns();
  variant *general = p->first, *made = make_variant(k, key, general->backend);
  uint64_t compiled = clock_thread_cpu_ns();
  special *s = calloc(1, sizeof *s);
  uint64_t *copy = malloc(k->key_count * sizeof *copy);
  if (!made || !s || !copy || !is_proven(k, inputs, general, made)) {
    free(s);
    free(copy);
    return false;
  }
  memcpy(copy, key, k->key_count * sizeof *copy);
  uint64_t cost_ns = clock_thread_cpu_ns() - start;
  *s = (special){.hash = hash, .key = copy, .variant = made, .cost_ns = cost_ns};
  pthread_mutex_lock(&k->lock);
  k->special_cost_ns = (compiled - start) * BACKGROUND_WEIGHT / FOREGROUND_WEIGHT + 1;
  s->born = k->changes;
  k->special_device = made->device;
  if (foreseen) {
    s->was_predicted = true;
    s->kind = foreseen->kind;
    k->outcomes[s->kind].compile_ns += cost_ns;
    k->speculated++;
  }
  make_room(k);
  publish(k, s);
  pthread_mutex_unlock(&k->lock);
  return true;
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
  uint64_t allowed = (clock_now_ns() - k->begun_ns) / WASTE_SHARE + WASTE_TO_BEGIN_NS;
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
    if (j->key && prepare(k, &j->inputs, j->key, NULL)) set_miss_cost(k, j->start_ns);
    speculate(k, &j->inputs);
  }
  capture_fini(&j->inputs);
  free(j->key);
  free(j);
  atomic_fetch_sub(&k->pending, 1);
}

// Hands the inputs to the background; `key` NULL: only look ahead.
static void start_job(vyre_kernel *k, const vyre_dispatch_args *args, const uint64_t *key) {
  special_job *j = calloc(1, sizeof *j);
  if (!j) return;
  j->kernel = k;
  j->start_ns = clock_now_ns();
  j->key = key ? malloc(k->key_count * sizeof *key) : NULL;
  if ((key && !j->key) || !buffers_to_host(args) ||
      capture_take(&j->inputs, k->program, args) != CAPTURE_TAKEN) {
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
  bool is_first = s && !atomic_load(&s->was_used) && !atomic_exchange(&s->was_used, true);
  bool is_foreseen = is_first && s->was_predicted;
  use u = {0};
  pthread_mutex_lock(&k->lock);
  if (!k->begun_ns) k->begun_ns = clock_now_ns();
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
    k->outcomes[s->kind].saved_ns += k->miss_cost_ns;
    k->speculated_used++;
  }
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

variant *special_enter(vyre_kernel *k, const vyre_dispatch_args *args) {
  uint64_t key[PREDICT_MAX_VALUES];
  atomic_fetch_add(&k->looking, 1);
  if (!capture_can_take(k->program, args) || !make_key(k, args, key)) return NULL;
  uint64_t hash = hash_key(k, key);
  special *s = find(k, key, hash);
  use u = note_use(k, s, key, hash);
  // One job at a time: a queue of misses would only compile what is not asked for any more.
  bool is_free = k->runtime->worker && !atomic_load(&k->pending);
  if (is_free && (u.is_wanted || (u.is_new && sees_ahead(k))))
    start_job(k, args, u.is_wanted ? key : NULL);
  return s ? s->variant : NULL;
}
