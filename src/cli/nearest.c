// SPDX-License-Identifier: MIT
#include "cli/nearest.h"

#include "base/edit_distance.h"

#include <string.h>

nearest nearest_begin(const char *word) {
  // Further away than this, a suggestion confuses more than it helps.
  size_t length = strlen(word);
  return (nearest){word, NULL, length < 2 ? 1 : length <= 3 ? 2 : length / 2 + 1};
}

void nearest_offer(nearest *n, const char *candidate) {
  size_t distance = edit_distance(n->word, strlen(n->word), candidate, strlen(candidate));
  if (distance >= n->distance) return;
  n->distance = distance;
  n->best = candidate;
}
