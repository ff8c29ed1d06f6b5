// SPDX-License-Identifier: MIT
//
// Comparing candidates by their time. Measuring is interleaved (one sample of each in turn, every
// other round backwards), so that a machine that gets slower or faster meanwhile does not favour
// one. A winner must beat the default by more than the noise; otherwise the default stays. Routing
// and tuning both decide with it. Deciding is a pure function of samples; measuring calls back.
// One thread at a time per set of candidates.
#ifndef VYRE_POLICY_TRIAL_H
#define VYRE_POLICY_TRIAL_H

#include <vyre/vyre.h>

enum {
  TRIAL_WARMUPS = 1,
  TRIAL_ROUNDS = 3,
  TRIAL_MAX_SAMPLES = 32, // the latest are kept
  TRIAL_MARGIN_BPS = 200, // a winner is at least 2 % faster than the default
  TRIAL_NONE = -1,
};

typedef struct trial_candidate {
  const char *name; // ties are broken by it; borrowed
  // Filled by measuring, or before it with samples from an earlier time, which count as rounds.
  uint64_t samples[TRIAL_MAX_SAMPLES];
  uint32_t sample_count;
  bool rejected; // failed or gave a wrong answer; `error` says how. It is not timed.
  vyre_error error;
  // Filled by trial_decide.
  uint64_t median_ns, noise_ns;
} trial_candidate;

typedef enum trial_reason {
  TRIAL_NO_CANDIDATE,   // all were rejected, or have no sample
  TRIAL_ONLY_CANDIDATE, // nothing to compare with
  TRIAL_FASTEST,        // by more than noise and margin, or without a default
  TRIAL_DEFAULT_FASTEST,
  TRIAL_WITHIN_NOISE, // another was faster, but not clearly: the default stays
  TRIAL_REASON_COUNT
} trial_reason;

const char *trial_reason_name(trial_reason reason); // "within-noise"

typedef struct trial_decision {
  int winner; // index, or TRIAL_NONE
  int fastest;
  trial_reason reason;
} trial_decision;

// The middle sample, the later of two. 0 when there is none.
uint64_t trial_median(const uint64_t *samples, uint32_t count);
uint64_t trial_best(const trial_candidate *c); // the least sample; 0 when there is none
// How far samples lie apart: half the range of the middle half, or of all when there are below 8.
uint64_t trial_noise(const uint64_t *samples, uint32_t count);
// `default_index` may be TRIAL_NONE: then the fastest wins, as it is.
trial_decision trial_decide(trial_candidate *candidates, uint32_t count, int default_index,
                            uint32_t margin_bps);

typedef struct trial_options {
  uint32_t warmups;
  uint32_t rounds;     // samples of each
  uint32_t max_rounds; // while noise hides the winner, those that may still win get more
  uint32_t margin_bps;
  int default_index;
  // Runs candidate `index` once. A failure rejects the candidate, not the trial. It may set
  // *elapsed_ns to a time of its own, such as the device's; otherwise the call is timed.
  vyre_status (*run)(void *context, uint32_t index, uint64_t *elapsed_ns, vyre_error *error);
  // Proves candidate `index` before it is timed: compares its output with the reference. NULL: the
  // caller has done so.
  vyre_status (*check)(void *context, uint32_t index, vyre_error *error);
  // Asked before each run; false ends the trial with what there is. May be NULL.
  bool (*keep_going)(void *context, uint32_t done, uint32_t expected);
  void *context;
} trial_options;

// One warm-up, three rounds, no more, no default: what the original does.
#define TRIAL_PLAIN                                                                                \
  ((trial_options){.warmups = TRIAL_WARMUPS,                                                       \
                   .rounds = TRIAL_ROUNDS,                                                         \
                   .max_rounds = TRIAL_ROUNDS,                                                     \
                   .margin_bps = TRIAL_MARGIN_BPS,                                                 \
                   .default_index = TRIAL_NONE})

trial_decision trial_measure(trial_candidate *candidates, uint32_t count,
                             const trial_options *options);

#endif
