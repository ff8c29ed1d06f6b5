// SPDX-License-Identifier: MIT
#include "cli/nearest.h"

#include <string.h>

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
static size_t edit_distance(const char *a, const char *b) {
  size_t d[LONGEST + 1][LONGEST + 1], m = strlen(a), n = strlen(b);
  if (m > LONGEST || n > LONGEST) return LONGEST;
  for (size_t i = 0; i <= m; i++) d[i][0] = i;
  for (size_t j = 0; j <= n; j++) d[0][j] = j;
  for (size_t i = 1; i <= m; i++)
    for (size_t j = 1; j <= n; j++) {
      size_t replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      d[i][j] = least(replaced, least(d[i - 1][j], d[i][j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[m][n];
}

nearest nearest_begin(const char *word) {
  // Further away than this, a suggestion confuses more than it helps.
  size_t length = strlen(word);
  return (nearest){word, NULL, length < 2 ? 1 : length <= 3 ? 2 : length / 2 + 1};
}

void nearest_offer(nearest *n, const char *candidate) {
  size_t distance = edit_distance(n->word, candidate);
  if (distance >= n->distance) return;
  n->distance = distance;
  n->best = candidate;
}
