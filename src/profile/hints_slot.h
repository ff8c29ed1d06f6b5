// SPDX-License-Identifier: MIT
//
// One slot of the hints' table: a region's name, its sums and its place in the lists. A slot has a
// sequence number that is odd while somebody writes; a reader copies what it wants and tries again
// when the number has changed. Writers exclude one another by the rules of hints.c. Private to the
// hints.
#ifndef VYRE_PROFILE_HINTS_SLOT_H
#define VYRE_PROFILE_HINTS_SLOT_H

#include "profile/record.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { CACHE_LINE = 64, INLINE_WORDS = 5 };

typedef _Atomic(uint64_t) word;

typedef struct long_name {
  struct long_name *older; // kept for readers that may still look at it
  size_t word_count;
  word words[];
} long_name;

typedef struct slot {
  // The first line is written by every recording, under the lock of the owning stripe.
  _Atomic(uint32_t) sequence;
  _Atomic(uint32_t) owner; // stripe number plus 1, or NO_OWNER
  uint32_t older, younger; // in the owner's list; 0 is none
  word stamp, count, max_ns, ns_low, bytes_low;
  _Atomic(uint32_t) ns_high, bytes_high;
  // The second line is written when the slot gets a name, and read by those who pass by.
  word hash;
  _Atomic(uint32_t) chain; // next slot of the bucket
  _Atomic(uint32_t) name_size;
  _Atomic(long_name *) long_name;
  word name[INLINE_WORDS];
} slot;

_Static_assert(sizeof(slot) == 2 * CACHE_LINE, "a slot is two lines, so that slots share none");

typedef struct slot_key {
  const char *name;
  size_t size;
  uint64_t hash;
} slot_key;

// Every access goes through these. Loads acquire and stores release, which makes the sequence
// number sound without fences and costs nothing on the machines that matter.
static inline uint64_t word_load(const word *w) {
  return atomic_load_explicit((word *)w, memory_order_acquire);
}
static inline void word_store(word *w, uint64_t x) {
  atomic_store_explicit(w, x, memory_order_release);
}
static inline uint32_t word_load32(const _Atomic(uint32_t) *w) {
  return atomic_load_explicit((_Atomic(uint32_t) *)w, memory_order_acquire);
}
static inline void word_store32(_Atomic(uint32_t) *w, uint32_t x) {
  atomic_store_explicit(w, x, memory_order_release);
}

slot_key slot_key_of(const char *name);
bool slot_has_name(const slot *e, const slot_key *key);
// Memory for a name that does not fit into a slot; NULL when out of memory.
long_name *long_name_new(size_t size);
void long_name_free_all(long_name *newest);
// `room` is for a long name; the slot owns it from here, and it may turn out not to be needed.
void slot_set_name(slot *e, const slot_key *key, long_name *room);
// Writes the name without a NUL; false when it is longer than `capacity` (then *size is what it
// needs). What was read counts only if the sequence number has not changed.
bool slot_get_name(const slot *e, char *out, size_t capacity, size_t *size);
static inline bool slot_name_is_long(size_t size) {
  return size > 8 * INLINE_WORDS;
}

// One more turn of a loop that waits for another thread.
static inline void slot_relax(unsigned *spins) {
  if (++*spins % 64 == 0) sched_yield();
#if defined(__x86_64__)
  else
    __builtin_ia32_pause();
#endif
}

static inline void slot_write_begin(slot *e) {
  atomic_store_explicit(&e->sequence, word_load32(&e->sequence) + 1, memory_order_relaxed);
}
static inline void slot_write_end(slot *e) {
  word_store32(&e->sequence, word_load32(&e->sequence) + 1);
}

static inline uint32_t slot_read_begin(const slot *e) {
  uint32_t sequence;
  for (unsigned spins = 0; (sequence = word_load32(&e->sequence)) & 1;) slot_relax(&spins);
  return sequence;
}
static inline bool slot_read_end(const slot *e, uint32_t sequence) {
  return word_load32(&e->sequence) == sequence;
}

static inline record_sums slot_get_sums(const slot *e) {
  return (record_sums){
      .count = word_load(&e->count),
      .max_ns = word_load(&e->max_ns),
      .ns = (record_wide)word_load32(&e->ns_high) << 64 | word_load(&e->ns_low),
      .bytes = (record_wide)word_load32(&e->bytes_high) << 64 | word_load(&e->bytes_low),
  };
}

static inline void slot_set_sums(slot *e, const record_sums *s) {
  word_store(&e->count, s->count);
  word_store(&e->max_ns, s->max_ns);
  word_store(&e->ns_low, (uint64_t)s->ns);
  word_store32(&e->ns_high, (uint32_t)(s->ns >> 64));
  word_store(&e->bytes_low, (uint64_t)s->bytes);
  word_store32(&e->bytes_high, (uint32_t)(s->bytes >> 64));
}

#endif
