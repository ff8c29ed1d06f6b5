// SPDX-License-Identifier: MIT
//
// Compiled code on disk, for every backend that compiles: $XDG_CACHE_HOME/vyre/code, or below
// VYRE_HOME. An entry is a file named after its key, replaced atomically and checked with BLAKE3
// when read: a corrupted one is removed and counts as absent, because some drivers crash on bad
// binaries. The folder is kept below a size (VYRE_CACHE_BYTES, 256 MiB by default) by removing what
// was not used for longest. VYRE_CACHE=off turns it off. Nothing here is an error to the caller:
// without a cache, things are only slower. Any thread, any number of processes.
#ifndef VYRE_BACKEND_CACHE_H
#define VYRE_BACKEND_CACHE_H

#include "base/hash.h"

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
// Removes all entries; returns how many. For `vyre cache clear`.
size_t cache_clear(void);
// Entries and bytes there are now.
void cache_usage(size_t *entries, uint64_t *bytes);

#endif
