// SPDX-License-Identifier: MIT
#include "backend/spell/names.h"

#include "base/ascii.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// In front of every name. Keywords, types, functions and macros of C, of OpenCL C and of drivers
// are too many to list, and other drivers have others; none of them begins like this.
#define NAME_PREFIX "v_"

static size_t find_slot(const name_set *set, const char *name) {
  size_t i = hash_fast(name, strlen(name)) & (set->capacity - 1);
  while (set->slots[i] && strcmp(set->slots[i], name)) i = (i + 1) & (set->capacity - 1);
  return i;
}

static bool grow(name_set *set) {
  name_set bigger = {.capacity = set->capacity ? set->capacity * 2 : 64};
  bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
  if (!bigger.slots) return false;
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slots[i]) bigger.slots[find_slot(&bigger, set->slots[i])] = set->slots[i];
  free(set->slots);
  set->slots = bigger.slots;
  set->capacity = bigger.capacity;
  return true;
}

const char *names_take(name_set *set, const char *wanted, const char *fallback) {
  enum { MAX = 300 };
  char name[MAX];
  snprintf(name, MAX - 16, NAME_PREFIX "%s", wanted && *wanted ? wanted : fallback);
  for (char *c = name; *c; c++)
    if (!ascii_is_word(*c)) *c = '_';
  if (set->failed || (set->count * 2 >= set->capacity && !grow(set))) {
    set->failed = true;
    return "";
  }
  size_t stem = strlen(name);
  for (unsigned n = 2; set->slots[find_slot(set, name)]; n++)
    snprintf(name + stem, MAX - stem, "_%u", n);
  const char *kept = arena_copy_string(&set->arena, name, strlen(name));
  if (!kept) {
    set->failed = true;
    return "";
  }
  set->slots[find_slot(set, name)] = kept;
  set->count++;
  return kept;
}

void names_fini(name_set *set) {
  arena_free(&set->arena);
  free(set->slots);
  *set = (name_set){0};
}
