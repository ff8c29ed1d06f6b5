// SPDX-License-Identifier: MIT
#include "policy/predict.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
  SCORED = 16,   // predictions that a way is judged by
  MIN_MATCH = 3, // keys that must repeat before a period is believed
  OCCURRENCES = 16,
  FULL = 10000, // basis points
};

// One stream of keys and the ways of predicting it. A ring of a power of two: `count` keys, the
// last at `head`.
typedef struct stream {
  uint32_t values, window;
  uint32_t count, head;
  uint64_t *keys;   // window * values
  uint64_t *hashes; // window
  uint64_t *ids;    // window; equal keys have equal ids
  uint64_t next_id;
  // Per way: what it says comes next, and how the last ones went (a bit each, newest lowest).
  uint64_t *next; // PREDICT_KIND_COUNT * values
  bool speaks[PREDICT_KIND_COUNT];
  uint32_t right[PREDICT_KIND_COUNT];
  uint32_t scored[PREDICT_KIND_COUNT];
} stream;

struct predictor {
  stream all, changes;
  uint8_t *misses; // of the window of `all`
  uint32_t missed;
  uint32_t trust_bps;
};

const char *predict_kind_name(predict_kind kind) {
  static const char *const names[] = {"repeat", "arithmetic", "geometric", "cycle", "successor"};
  return (unsigned)kind < PREDICT_KIND_COUNT ? names[kind] : "unknown";
}

// ---- the stream --------------------------------------------------------------------------------

// The key `back` steps ago; 0 is the last one.
static uint32_t at(const stream *s, uint32_t back) {
  return (s->head - back) & (s->window - 1);
}

static const uint64_t *key(const stream *s, uint32_t back) {
  return s->keys + (size_t)at(s, back) * s->values;
}

static bool same_values(const stream *s, const uint64_t *a, const uint64_t *b) {
  return !s->values || !memcmp(a, b, s->values * sizeof *a);
}

static bool same_keys(const stream *s, uint32_t back_a, uint32_t back_b) {
  return s->ids[at(s, back_a)] == s->ids[at(s, back_b)];
}

// The id of the newest key, which is that of an equal one if there is any.
static uint64_t identify(stream *s) {
  for (uint32_t back = 1; back < s->count; back++)
    if (s->hashes[at(s, back)] == s->hashes[s->head] && same_values(s, key(s, back), key(s, 0)))
      return s->ids[at(s, back)];
  return s->next_id++;
}

static bool stream_init(stream *s, uint32_t values, uint32_t window) {
  *s = (stream){.values = values, .window = window, .head = window - 1};
  s->keys = calloc((size_t)window * values + 1, sizeof *s->keys);
  s->hashes = calloc(window, sizeof *s->hashes);
  s->ids = calloc(window, sizeof *s->ids);
  s->next = calloc((size_t)PREDICT_KIND_COUNT * values + 1, sizeof *s->next);
  return s->keys && s->hashes && s->ids && s->next;
}

static void stream_fini(stream *s) {
  free(s->keys);
  free(s->hashes);
  free(s->ids);
  free(s->next);
}

// ---- the ways ----------------------------------------------------------------------------------

// a, b, ?: what follows by the difference, `steps` times. False when it leaves the range.
static bool go_on_by_difference(uint64_t a, uint64_t b, uint32_t steps, uint64_t *out) {
  uint64_t step = a < b ? b - a : a - b;
  wide distance = (wide)step * steps;
  if (a < b ? distance > UINT64_MAX - b : distance > b) return false;
  *out = a < b ? b + (uint64_t)distance : b - (uint64_t)distance;
  return true;
}

// The same by the ratio, which must lead to whole numbers all the way.
static bool go_on_by_ratio(uint64_t a, uint64_t b, uint32_t steps, uint64_t *out) {
  if (a == 0 || b == 0) return false;
  while (steps--) {
    wide square = (wide)b * b;
    if (square % a || square / a > UINT64_MAX) return false;
    uint64_t next = (uint64_t)(square / a);
    a = b;
    b = next;
    if (b == 0) return false;
  }
  *out = b;
  return true;
}

static bool say_arithmetic(const stream *s, uint32_t ahead, uint64_t *out) {
  if (s->count < 2) return false;
  bool moves = false;
  const uint64_t *a = key(s, 1), *b = key(s, 0);
  for (uint32_t i = 0; i < s->values; i++) {
    moves |= a[i] != b[i];
    if (!go_on_by_difference(a[i], b[i], ahead, &out[i])) return false;
  }
  return moves;
}

// A number goes by its ratio when the last three do, and by its difference otherwise.
static bool say_geometric(const stream *s, uint32_t ahead, uint64_t *out) {
  if (s->count < 3) return false;
  bool grows = false;
  const uint64_t *a = key(s, 2), *b = key(s, 1), *c = key(s, 0);
  for (uint32_t i = 0; i < s->values; i++) {
    bool by_ratio = b[i] != c[i] && (wide)a[i] * c[i] == (wide)b[i] * b[i];
    grows |= by_ratio;
    if (by_ratio ? !go_on_by_ratio(b[i], c[i], ahead, &out[i])
                 : !go_on_by_difference(b[i], c[i], ahead, &out[i]))
      return false;
  }
  return grows;
}

// The shortest period that the last keys have kept for a whole turn, and for MIN_MATCH keys.
static uint32_t find_period(const stream *s) {
  for (uint32_t period = 2; period * 2 <= s->count; period++) {
    uint32_t want = period > MIN_MATCH ? period : MIN_MATCH, match = 0;
    if (want + period > s->count) continue;
    while (match < want && same_keys(s, match, match + period)) match++;
    if (match == want) return period;
  }
  return 0;
}

static bool say_cycle(const stream *s, uint32_t ahead, uint64_t *out) {
  uint32_t period = find_period(s);
  if (!period) return false;
  memcpy(out, key(s, period - 1 - (ahead - 1) % period), s->values * sizeof *out);
  return true;
}

// How far back the key at `back` stands before the one that most often followed it; the later of
// two that are equally often. 0 when none followed twice. Looks at the last OCCURRENCES of the key.
static uint32_t most_frequent_successor(const stream *s, uint32_t back) {
  uint32_t found[OCCURRENCES], count = 0, best = 0, best_votes = 1;
  for (uint32_t i = 1; i < s->count && count < OCCURRENCES; i++)
    if (same_keys(s, i, back)) found[count++] = i;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t votes = 0;
    for (uint32_t k = i; k < count; k++) votes += same_keys(s, found[k] - 1, found[i] - 1);
    if (votes <= best_votes) continue;
    best_votes = votes;
    best = found[i];
  }
  return best;
}

static bool say_successor(const stream *s, uint32_t ahead, uint64_t *out) {
  uint32_t back = 0;
  while (ahead--) {
    uint32_t before = most_frequent_successor(s, back);
    if (!before) return false;
    back = before - 1;
  }
  memcpy(out, key(s, back), s->values * sizeof *out);
  return true;
}

static bool say(const stream *s, predict_kind kind, uint32_t ahead, uint64_t *out) {
  switch (kind) {
  case PREDICT_REPEAT:
    if (s->count) memcpy(out, key(s, 0), s->values * sizeof *out);
    return s->count > 0;
  case PREDICT_ARITHMETIC: return say_arithmetic(s, ahead, out);
  case PREDICT_GEOMETRIC: return say_geometric(s, ahead, out);
  case PREDICT_CYCLE: return say_cycle(s, ahead, out);
  case PREDICT_SUCCESSOR: return say_successor(s, ahead, out);
  default: return false;
  }
}

// ---- confidence --------------------------------------------------------------------------------

// The lower end of Wilson's 95 % interval for the share of right answers. 6 of 6 is the shortest
// record that gives 6,000; of 16, at most two may be wrong.
static uint32_t confidence(const stream *s, predict_kind kind) {
  double n = s->scored[kind], z2 = 1.96 * 1.96;
  if (n == 0) return 0;
  double share = __builtin_popcount(s->right[kind]) / n;
  double center = share + z2 / (2 * n);
  double spread = sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)));
  return (uint32_t)(FULL * (center - spread) / (1 + z2 / n));
}

// Returns whether the most trusted way was right.
static bool score(stream *s, const uint64_t *values, bool *spoke) {
  uint32_t best = 0;
  bool best_right = false;
  *spoke = false;
  for (int kind = 0; kind < PREDICT_KIND_COUNT; kind++) {
    if (!s->speaks[kind]) continue;
    bool right = same_values(s, s->next + (size_t)kind * s->values, values);
    uint32_t bps = confidence(s, (predict_kind)kind);
    if (!*spoke || bps > best) {
      best = bps;
      best_right = right;
    }
    *spoke = true;
    s->right[kind] = (s->right[kind] << 1 | right) & ((1u << SCORED) - 1);
    if (s->scored[kind] < SCORED) s->scored[kind]++;
  }
  return best_right;
}

static void append(stream *s, const uint64_t *values) {
  s->head = (s->head + 1) & (s->window - 1);
  if (s->values) memcpy(s->keys + (size_t)s->head * s->values, values, s->values * sizeof *values);
  s->hashes[s->head] = hash_fast(values, s->values * sizeof *values);
  if (s->count < s->window) s->count++;
  s->ids[s->head] = identify(s);
  for (int kind = 0; kind < PREDICT_KIND_COUNT; kind++)
    s->speaks[kind] = say(s, (predict_kind)kind, 1, s->next + (size_t)kind * s->values);
}

// ---- the predictor -----------------------------------------------------------------------------

predictor *predictor_new(uint32_t value_count, uint32_t window) {
  if (!window) window = PREDICT_WINDOW;
  if (value_count > PREDICT_MAX_VALUES || window > PREDICT_MAX_WINDOW) return NULL;
  while (window & (window - 1)) window += window & -window; // up to a power of two
  predictor *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->trust_bps = FULL;
  p->misses = calloc(window, 1);
  bool all = stream_init(&p->all, value_count, window);
  bool changes = stream_init(&p->changes, value_count, window);
  if (all && changes && p->misses) return p;
  predictor_free(p);
  return NULL;
}

void predictor_free(predictor *p) {
  if (!p) return;
  stream_fini(&p->all);
  stream_fini(&p->changes);
  free(p->misses);
  free(p);
}

void predictor_observe(predictor *p, const uint64_t *values, bool missed) {
  bool spoke, right;
  bool repeats = p->all.count && same_values(&p->all, key(&p->all, 0), values);
  score(&p->all, values, &spoke);
  uint32_t slot = (p->all.head + 1) & (p->all.window - 1);
  p->missed += missed;
  p->missed -= p->misses[slot];
  p->misses[slot] = missed;
  append(&p->all, values);
  if (repeats) return;
  right = score(&p->changes, values, &spoke);
  // Being right without being acted upon is how a silenced predictor earns its trust again.
  if (spoke && right) p->trust_bps += (FULL - p->trust_bps) / 8;
  append(&p->changes, values);
  p->changes.speaks[PREDICT_REPEAT] = false;
}

uint32_t predictor_seen(const predictor *p) {
  return p->all.count;
}

uint32_t predictor_missed(const predictor *p) {
  return p->missed;
}

void predictor_outcome(predictor *p, bool used) {
  if (used)
    p->trust_bps += (FULL - p->trust_bps) / 4;
  else
    p->trust_bps -= p->trust_bps / 4;
}

// That a way which was right in its last n answers is right in the next k, given that it is in the
// next one: (n + 1) / (n + k), by the rule of succession.
static double goes_on(const stream *s, predict_kind kind, uint32_t ahead) {
  double run = __builtin_ctz(~s->right[kind]);
  return (run + 1) / (run + ahead);
}

// The most trusted way that can say something that far ahead.
static bool best_of(const predictor *p, const stream *s, uint32_t ahead, uint64_t *values,
                    prediction *out) {
  bool found = false;
  uint64_t own[PREDICT_MAX_VALUES];
  if (!ahead) return false;
  for (int kind = 0; kind < PREDICT_KIND_COUNT; kind++) {
    if (!s->speaks[kind]) continue;
    double share = goes_on(s, (predict_kind)kind, ahead) * p->trust_bps / FULL;
    uint32_t bps = (uint32_t)(share * confidence(s, (predict_kind)kind));
    if ((found && bps <= out->confidence_bps) || !say(s, (predict_kind)kind, ahead, own)) continue;
    if (s->values) memcpy(values, own, s->values * sizeof *values);
    *out = (prediction){(predict_kind)kind, bps};
    found = true;
  }
  return found;
}

bool predictor_next(const predictor *p, uint32_t ahead, uint64_t *values, prediction *out) {
  return best_of(p, &p->all, ahead, values, out);
}

bool predictor_next_change(const predictor *p, uint32_t ahead, uint64_t *values, prediction *out) {
  return best_of(p, &p->changes, ahead, values, out);
}
