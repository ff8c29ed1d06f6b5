// SPDX-License-Identifier: MIT
//
// A bump allocator: allocations live until the arena is reset or freed, and nothing is freed alone.
// Memory is zeroed and 16-byte aligned. One thread at a time.
#ifndef VYRE_BASE_ARENA_H
#define VYRE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct arena_block arena_block;

typedef struct arena {
  arena_block *blocks;             // newest first
  size_t used, capacity;           // of the newest block
  bool is_zeroed;                  // the newest block, past `used`
  size_t allocations, total_bytes; // for the optimizer's report
} arena;

#define ARENA_INIT ((arena){0})

// NULL when out of memory; a size of 0 gives a valid pointer.
void *arena_alloc(arena *a, size_t size);
void *arena_alloc_array(arena *a, size_t count, size_t size);
char *arena_copy_string(arena *a, const char *text, size_t size);
// Forgets all allocations and keeps the newest block for reuse.
void arena_reset(arena *a);
void arena_free(arena *a);

#endif
