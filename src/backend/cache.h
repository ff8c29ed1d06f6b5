// SPDX-License-Identifier: MIT
//
// Compiled code on disk, for every backend that compiles: $XDG_CACHE_HOME/vyre/code, or below
// VYRE_HOME. An entry is a file named after its key, replaced atomically and checked with BLAKE3,
// key and all, when read: one that is damaged or another's is removed, reported (warning.h) and
// counts as absent, because it is code that will run. A folder that others can write is not used.
// It is kept below a size (VYRE_CACHE_BYTES, 256 MiB by default) by removing what was not used for
// longest, and what killed writers left is removed after a while. VYRE_CACHE=off turns it off.
// Nothing here is an error to the caller: without a cache, things are only slower. Any thread, any
// number of processes.
#ifndef VYRE_BACKEND_CACHE_H
#define VYRE_BACKEND_CACHE_H

#include "base/hash.h"

#include <vyre/vyre.h>

#include <stdbool.h>

// A key names everything that the code depends on. Fields are length-prefixed, so that no two lists
// of fields give the same key.
typedef struct cache_key {
  hasher hash;
} cache_key;

void cache_key_init(cache_key *key, const char *kind);
void cache_key_add(cache_key *key, const void *data, size_t size);
void cache_key_add_string(cache_key *key, const char *text); // NULL is a field of its own
void cache_key_add_number(cache_key *key, uint64_t number);

// Whether there is a cache at all; without one, nothing need be made ready for it.
bool cache_is_on(void);
// *data is malloc'ed.
bool cache_load(const cache_key *key, void **data, size_t *size);
void cache_store(const cache_key *key, const void *data, size_t size);

typedef struct cache_contents {
  size_t entries;    // compiled programs
  size_t unfinished; // temporary files of writers that write now or were killed
  uint64_t bytes;    // of both
} cache_contents;

// Removes everything; returns what that was.
cache_contents cache_clear(void);
cache_contents cache_usage(void);
// Where the entries are, malloc'ed; NULL when there can be none, and `error` says why.
char *cache_folder(vyre_error *error);

#endif
