// SPDX-License-Identifier: MIT
//
// Identifiers of emitted text: the names taken in one scope, and copies of them. One thread.
#ifndef VYRE_BACKEND_SPELL_NAMES_H
#define VYRE_BACKEND_SPELL_NAMES_H

#include "base/arena.h"

typedef struct name_set {
  arena arena;
  const char **slots; // open addressing
  size_t capacity, count;
  bool failed;
} name_set;

// A valid identifier like `wanted` (may be NULL) that nobody took yet and that means nothing else
// in C or OpenCL C: every name has a prefix, taken names get a suffix. Lives as long as the set; ""
// when out of memory.
const char *names_take(name_set *set, const char *wanted, const char *fallback);
void names_fini(name_set *set);

#endif
