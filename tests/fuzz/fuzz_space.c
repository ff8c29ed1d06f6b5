// SPDX-License-Identifier: MIT
//
// Any bytes are a constraint, a recorded space and a search, or errors: a constraint that was read
// has a value, a space that was read finds each of its configurations, and a search asks for each
// once.
#include "policy/recorded.h"
#include "require.h"

static int find_letter(const void *context, const char *name, size_t size) {
  (void)context;
  return size == 1 && *name >= 'a' && *name <= 'h' ? *name - 'a' : -1;
}

static void read_where(const char *text, size_t size) {
  static const double values[8] = {0, 1, 2, 3, 4, 0.5, -1, 1e300};
  space_where w;
  vyre_error error;
  if (space_where_parse(text, size, find_letter, NULL, &w, &error) != VYRE_OK) return;
  (void)space_where_holds(&w, values);
  space_where_fini(&w);
}

static void replay(const recorded *r, search_strategy strategy) {
  enum { MOST = 64 };
  double curve[MOST];
  uint32_t asked[MOST];
  const double *priors[] = {r->times};
  search_options o = {.strategy = strategy, .priors = {priors[0]}, .prior_count = r->times[0] > 1};
  uint32_t count = recorded_replay(r, &o, MOST, curve, asked);
  REQUIRE(count == (r->space.count < MOST ? r->space.count : MOST));
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < i; k++) REQUIRE(asked[i] != asked[k]);
  for (uint32_t i = 1; i < count; i++) REQUIRE(curve[i] >= curve[i - 1] && curve[i] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  recorded r;
  vyre_error error;
  read_where((const char *)data, size);
  if (recorded_parse((const char *)data, size, "fuzz", &r, &error) != VYRE_OK) return 0;
  for (uint32_t i = 0; i < r.space.count; i++)
    REQUIRE(space_find(&r.space, space_row(&r.space, i)) == i);
  for (int k = 0; k < SEARCH_STRATEGIES; k++) replay(&r, (search_strategy)k);
  recorded_fini(&r);
  return 0;
}
