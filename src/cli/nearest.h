// SPDX-License-Identifier: MIT
//
// "Did you mean": the entry of a list that is spelled most like a word. Any thread.
#ifndef VYRE_CLI_NEAREST_H
#define VYRE_CLI_NEAREST_H

#include <stddef.h>

typedef struct nearest {
  const char *word;
  const char *best; // borrowed from what was offered; NULL when nothing is near
  size_t distance;
} nearest;

nearest nearest_begin(const char *word);
void nearest_offer(nearest *n, const char *candidate);

#endif
