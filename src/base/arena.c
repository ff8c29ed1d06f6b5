// SPDX-License-Identifier: MIT
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
  arena_block *next;
  size_t size;
};

enum { ALIGN = 16, FIRST_BLOCK = 4096, HEADER = (sizeof(arena_block) + ALIGN - 1) / ALIGN * ALIGN };

static bool grow(arena *a, size_t need) {
  size_t size = a->capacity ? a->capacity * 2 : FIRST_BLOCK;
  if (size > (size_t)1 << 24) size = (size_t)1 << 24;
  if (need > SIZE_MAX - HEADER) return false;
  if (size < need + HEADER) size = need + HEADER;
  arena_block *block = malloc(size);
  if (!block) return false;
  block->next = a->blocks;
  block->size = size;
  a->blocks = block;
  a->used = HEADER;
  a->capacity = size;
  return true;
}

void *arena_alloc(arena *a, size_t size) {
  if (size > SIZE_MAX - ALIGN) return NULL;
  size = size ? (size + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
  if (a->capacity - a->used < size && !grow(a, size)) return NULL;
  void *memory = (char *)a->blocks + a->used;
  a->used += size;
  a->allocations++;
  a->total_bytes += size;
  return memset(memory, 0, size);
}

void *arena_alloc_array(arena *a, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  return arena_alloc(a, bytes);
}

char *arena_copy_string(arena *a, const char *text, size_t size) {
  char *copy = arena_alloc_array(a, size + 1, 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

void arena_reset(arena *a) {
  if (!a->blocks) return;
  while (a->blocks->next) {
    arena_block *old = a->blocks->next;
    a->blocks->next = old->next;
    free(old);
  }
  a->used = HEADER;
  a->allocations = a->total_bytes = 0;
}

void arena_free(arena *a) {
  while (a->blocks) {
    arena_block *next = a->blocks->next;
    free(a->blocks);
    a->blocks = next;
  }
  *a = ARENA_INIT;
}
