// SPDX-License-Identifier: MIT
#include "policy/trial.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

const char *trial_reason_name(trial_reason reason) {
  static const char *const names[] = {"no-candidate", "only-candidate", "fastest",
                                      "default-fastest", "within-noise"};
  return (unsigned)reason < TRIAL_REASON_COUNT ? names[reason] : "unknown";
}

// ---- deciding ----------------------------------------------------------------------------------

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint32_t sorted(const uint64_t *samples, uint32_t count, uint64_t out[TRIAL_MAX_SAMPLES]) {
  if (count > TRIAL_MAX_SAMPLES) {
    samples += count - TRIAL_MAX_SAMPLES;
    count = TRIAL_MAX_SAMPLES;
  }
  if (count) memcpy(out, samples, count * sizeof *out);
  qsort(out, count, sizeof *out, by_size);
  return count;
}

uint64_t trial_median(const uint64_t *samples, uint32_t count) {
  uint64_t order[TRIAL_MAX_SAMPLES];
  count = sorted(samples, count, order);
  return count ? order[count / 2] : 0;
}

uint64_t trial_noise(const uint64_t *samples, uint32_t count) {
  uint64_t order[TRIAL_MAX_SAMPLES];
  count = sorted(samples, count, order);
  if (!count) return 0;
  uint32_t cut = count < 8 ? 0 : count / 4;
  return (order[count - 1 - cut] - order[cut]) / 2;
}

uint64_t trial_best(const trial_candidate *c) {
  uint64_t best = c->sample_count ? c->samples[0] : 0;
  for (uint32_t i = 1; i < c->sample_count; i++)
    if (c->samples[i] < best) best = c->samples[i];
  return best;
}

static bool can_win(const trial_candidate *c) {
  return !c->rejected && c->sample_count > 0;
}

static bool is_before(const trial_candidate *a, const trial_candidate *b) {
  return a->median_ns != b->median_ns ? a->median_ns < b->median_ns : strcmp(a->name, b->name) < 0;
}

// What a candidate must be faster by to replace the default.
static uint64_t needed_gain(const trial_candidate *a, const trial_candidate *b,
                            uint32_t margin_bps) {
  uint64_t noise = a->noise_ns > UINT64_MAX - b->noise_ns ? UINT64_MAX : a->noise_ns + b->noise_ns;
  uint64_t margin = b->median_ns / 10000 * margin_bps + b->median_ns % 10000 * margin_bps / 10000;
  return noise > margin ? noise : margin;
}

// Whether no sample of one is as slow as any of the other's, and the medians are far apart: then it
// does not matter how far the slow one's scatter.
static bool is_apart(const trial_candidate *fast, const trial_candidate *slow) {
  enum { FAR = 10 }; // one part in so many of the slow one's median
  if (fast->sample_count < TRIAL_ROUNDS || slow->sample_count < TRIAL_ROUNDS) return false;
  uint64_t most = 0;
  for (uint32_t i = 0; i < fast->sample_count; i++)
    if (fast->samples[i] > most) most = fast->samples[i];
  return most < trial_best(slow) && slow->median_ns - fast->median_ns > slow->median_ns / FAR;
}

trial_decision trial_decide(trial_candidate *candidates, uint32_t count, int default_index,
                            uint32_t margin_bps) {
  trial_decision d = {TRIAL_NONE, TRIAL_NONE, TRIAL_NO_CANDIDATE};
  uint32_t left = 0;
  for (uint32_t i = 0; i < count; i++) {
    trial_candidate *c = &candidates[i];
    c->median_ns = trial_median(c->samples, c->sample_count);
    c->noise_ns = trial_noise(c->samples, c->sample_count);
    if (!can_win(c)) continue;
    left++;
    if (d.fastest < 0 || is_before(c, &candidates[d.fastest])) d.fastest = (int)i;
  }
  d.winner = d.fastest;
  if (!left) return d;
  const trial_candidate *fastest = &candidates[d.fastest];
  const trial_candidate *usual = default_index >= 0 ? &candidates[default_index] : NULL;
  d.reason = left == 1 ? TRIAL_ONLY_CANDIDATE : TRIAL_FASTEST;
  if (left == 1 || !usual || !can_win(usual)) return d;
  uint64_t gain = usual->median_ns - fastest->median_ns;
  if (usual == fastest) {
    d.reason = TRIAL_DEFAULT_FASTEST;
  } else if (gain <= needed_gain(fastest, usual, margin_bps) && !is_apart(fastest, usual)) {
    d.reason = TRIAL_WITHIN_NOISE;
    d.winner = default_index;
  }
  return d;
}

// ---- measuring ---------------------------------------------------------------------------------

typedef struct trial {
  trial_candidate *candidates;
  uint32_t count;
  const trial_options *options;
  uint32_t done, expected;
  bool stopped;
} trial;

static bool may_run(trial *t) {
  const trial_options *o = t->options;
  if (!t->stopped && o->keep_going && !o->keep_going(o->context, t->done, t->expected))
    t->stopped = true;
  return !t->stopped;
}

static bool run_once(trial *t, uint32_t index, uint64_t *elapsed_ns) {
  trial_candidate *c = &t->candidates[index];
  if (c->rejected || !may_run(t)) return false;
  *elapsed_ns = 0;
  uint64_t begin = clock_now_ns();
  vyre_status status = t->options->run(t->options->context, index, elapsed_ns, &c->error);
  uint64_t wall_ns = clock_now_ns() - begin;
  t->done++;
  if (!*elapsed_ns) *elapsed_ns = wall_ns ? wall_ns : 1;
  c->rejected = status != VYRE_OK;
  return !c->rejected;
}

static void prepare(trial *t, uint32_t index) {
  trial_candidate *c = &t->candidates[index];
  const trial_options *o = t->options;
  // What was measured at an earlier time was proven then, and is run no more.
  if (c->rejected || c->sample_count >= o->rounds) return;
  if (o->check && may_run(t) && o->check(o->context, index, &c->error) != VYRE_OK)
    c->rejected = true;
  uint64_t ignored;
  for (uint32_t i = 0; i < o->warmups; i++)
    if (!run_once(t, index, &ignored)) return;
}

static void take_sample(trial *t, uint32_t index) {
  trial_candidate *c = &t->candidates[index];
  uint64_t ns;
  if (!run_once(t, index, &ns)) return;
  if (c->sample_count == TRIAL_MAX_SAMPLES) {
    memmove(c->samples, c->samples + 1, (TRIAL_MAX_SAMPLES - 1) * sizeof *c->samples);
    c->sample_count--;
  }
  c->samples[c->sample_count++] = ns;
}

// One that was faster once than the fastest usually is: its other samples may have been disturbed.
static bool may_be_faster(const trial_candidate *c, const trial_candidate *fastest) {
  return can_win(c) && trial_best(c) < fastest->median_ns;
}

// Those whose median, less the noise, is not above that of the fastest.
static bool is_contender(const trial *t, const trial_decision *d, uint32_t index) {
  const trial_candidate *c = &t->candidates[index], *fastest = &t->candidates[d->fastest];
  if (!can_win(c)) return false;
  return (int)index == t->options->default_index || may_be_faster(c, fastest) ||
         c->median_ns - fastest->median_ns <= c->noise_ns + fastest->noise_ns;
}

static trial_decision decide(const trial *t) {
  return trial_decide(t->candidates, t->count, t->options->default_index, t->options->margin_bps);
}

// Whether more samples could change the answer: another contender beside the winner.
static bool is_open(const trial *t, const trial_decision *d) {
  if (d->winner < 0) return false;
  if (d->reason == TRIAL_WITHIN_NOISE) return true;
  for (uint32_t i = 0; i < t->count; i++) {
    if ((int)i == d->fastest) continue;
    bool is_default = (int)i == t->options->default_index;
    if (is_default ? may_be_faster(&t->candidates[i], &t->candidates[d->fastest])
                   : is_contender(t, d, i))
      return true;
  }
  return false;
}

trial_decision trial_measure(trial_candidate *candidates, uint32_t count,
                             const trial_options *options) {
  trial t = {.candidates = candidates, .count = count, .options = options};
  for (uint32_t i = 0; i < count; i++)
    if (!candidates[i].rejected && candidates[i].sample_count < options->rounds)
      t.expected += options->warmups + options->rounds - candidates[i].sample_count;
  for (uint32_t i = 0; i < count; i++) prepare(&t, i);
  trial_decision d = {TRIAL_NONE, TRIAL_NONE, TRIAL_NO_CANDIDATE};
  for (uint32_t round = 0; !t.stopped; round++) {
    bool extra = round >= options->rounds;
    if (extra) {
      d = decide(&t);
      if (round >= options->max_rounds || !is_open(&t, &d)) break;
    }
    for (uint32_t k = 0; k < count; k++) {
      uint32_t i = round % 2 ? count - 1 - k : k;
      bool is_asked = !extra || is_contender(&t, &d, i);
      if (is_asked && candidates[i].sample_count <= round) take_sample(&t, i);
    }
  }
  return decide(&t);
}
