// SPDX-License-Identifier: MIT
//
// The table has three parts, each with its own rule.
//
// Slots hold a name and its sums (hints_slot.h). A slot's memory is never given back before the
// table is, so that a reader may look at any slot at any time and then see whether it has changed.
//
// Buckets are chains of slots, found by the hash of the name. Only the holder of the table's lock
// changes chains. A reader that walks one while it changes may miss its name; the version in the
// bucket's head has then changed, and it walks again. A recorder that misses takes the lock and
// looks again, so a miss is never acted upon unless it is certain.
//
// Recency must be exact without a counter or a list that all CPUs write. So there is one list per
// CPU (a stripe) with a small lock: recording moves the slot to the young end of the list of the
// CPU it runs on, taking it from another CPU's list if need be, and gives it a time stamp that all
// CPUs agree on. Each list is then sorted by stamp, and the least recently used slot of the table
// is the oldest of the lists' old ends: a handful of comparisons, whatever the capacity. In
// single-threaded use the order is strict, also when the thread moves between CPUs.
//
// Lock order: the table's lock, then stripes by ascending number.
#include "profile/hints.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "profile/hints_slot.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STRIPES = 64, NO_OWNER = 0 };

typedef struct stripe {
  _Atomic(uint32_t) lock;
  _Atomic(uint32_t) oldest;
  uint32_t youngest;
  uint64_t last_stamp;
  char apart[2 * CACHE_LINE - 24];
} stripe;

struct hints {
  slot *slots; // 1 to capacity
  word *buckets;
  stripe *stripes;
  void *slot_memory, *stripe_memory;
  size_t capacity;
  uint64_t bucket_mask;
  uint32_t stripe_mask;
  _Atomic(uint64_t) hot_mean_ns, hot_total_ns;
  _Atomic(uint32_t) used; // slots that ever had a name; they keep one from then on
  pthread_mutex_t lock;
  hints_losses losses; // under the lock
};

// ---- names -------------------------------------------------------------------------------------

void hints_region_key(const uint8_t *fingerprint, const char *region, char out[HINTS_KEY]) {
  enum { BYTES = 12 }; // of the fingerprint: two programs that share them share a hint, no more
  for (int i = 0; i < BYTES; i++) snprintf(out + 2 * i, 3, "%02x", fingerprint[i]);
  snprintf(out + 2 * BYTES, HINTS_KEY - 2 * BYTES, " %s", region);
}

// ---- memory ------------------------------------------------------------------------------------

// Zeroed and aligned to two lines; untouched pages of a large table cost nothing.
static void *alloc_aligned(size_t count, size_t size, void **memory) {
  if (count > SIZE_MAX / size - 2) return NULL;
  *memory = calloc(count * size + 2 * CACHE_LINE, 1);
  if (!*memory) return NULL;
  uintptr_t address = (uintptr_t)*memory + 2 * CACHE_LINE - 1;
  return (char *)*memory + (address - address % (2 * CACHE_LINE) - (uintptr_t)*memory);
}

static uint32_t count_stripes(void) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  uint32_t count = 1;
  while (count < MAX_STRIPES && (long)count < cpus) count *= 2;
  return count;
}

hints *hints_new(const hints_options *options) {
  hints_options o = options ? *options : HINTS_PLAIN;
  hints *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  h->capacity = o.capacity < HINTS_MAX_CAPACITY ? o.capacity : HINTS_MAX_CAPACITY;
  atomic_init(&h->hot_mean_ns, o.hot_mean_ns);
  atomic_init(&h->hot_total_ns, o.hot_total_ns);
  pthread_mutex_init(&h->lock, NULL);
  size_t buckets = 16;
  while (buckets < h->capacity * 2) buckets *= 2;
  h->bucket_mask = buckets - 1;
  h->stripe_mask = count_stripes() - 1;
  h->buckets = calloc(buckets, sizeof *h->buckets);
  h->slots = alloc_aligned(h->capacity + 1, sizeof(slot), &h->slot_memory);
  h->stripes = alloc_aligned(h->stripe_mask + 1, sizeof(stripe), &h->stripe_memory);
  if (h->buckets && h->slots && h->stripes) return h;
  hints_free(h);
  return NULL;
}

void hints_free(hints *h) {
  if (!h) return;
  for (uint32_t i = 1; h->slots && i <= word_load32(&h->used); i++)
    long_name_free_all(atomic_load(&h->slots[i].long_name));
  pthread_mutex_destroy(&h->lock);
  free(h->buckets);
  free(h->slot_memory);
  free(h->stripe_memory);
  free(h);
}

// ---- recency -----------------------------------------------------------------------------------

static uint32_t stripe_here(const hints *h) {
  return (uint32_t)sched_getcpu() & h->stripe_mask;
}

static void stripe_lock(stripe *s) {
  unsigned spins = 0;
  while (atomic_exchange_explicit(&s->lock, 1, memory_order_acquire))
    while (atomic_load_explicit(&s->lock, memory_order_relaxed)) slot_relax(&spins);
}
static void stripe_unlock(stripe *s) {
  word_store32(&s->lock, 0);
}

static void list_remove(hints *h, stripe *s, uint32_t index) {
  slot *e = &h->slots[index];
  if (e->older)
    h->slots[e->older].younger = e->younger;
  else
    word_store32(&s->oldest, e->younger);
  if (e->younger)
    h->slots[e->younger].older = e->older;
  else
    s->youngest = e->older;
}

static void list_add(hints *h, stripe *s, uint32_t index) {
  slot *e = &h->slots[index];
  e->older = s->youngest;
  e->younger = 0;
  if (s->youngest)
    h->slots[s->youngest].younger = index;
  else
    word_store32(&s->oldest, index);
  s->youngest = index;
}

// Stamps of a stripe grow strictly, whatever the counter does.
static uint64_t next_stamp(stripe *s, uint64_t ticks) {
  s->last_stamp = ticks > s->last_stamp ? ticks : s->last_stamp + 1;
  return s->last_stamp;
}

// Locks the stripe of this CPU and the one that owns the slot, which may be the same. False, with
// nothing locked, when the slot has no owner because it is being evicted.
static bool lock_for(hints *h, const slot *e, stripe **here, stripe **owner) {
  for (;;) {
    stripe *mine = &h->stripes[stripe_here(h)];
    uint32_t number = word_load32(&e->owner);
    if (number == NO_OWNER) return false;
    stripe *theirs = &h->stripes[number - 1];
    stripe_lock(mine < theirs ? mine : theirs);
    if (mine != theirs) stripe_lock(mine < theirs ? theirs : mine);
    *here = mine;
    *owner = theirs;
    if (word_load32(&e->owner) == number) return true;
    stripe_unlock(mine);
    if (mine != theirs) stripe_unlock(theirs);
  }
}

// Adds to the slot if it still has this name, and makes it the most recently used.
static bool touch(hints *h, uint32_t index, const slot_key *k, const record_sums *sample,
                  uint64_t ticks) {
  slot *e = &h->slots[index];
  stripe *here, *owner;
  if (!lock_for(h, e, &here, &owner)) return false;
  bool same = slot_has_name(e, k);
  if (same) {
    slot_write_begin(e);
    record_sums sums = record_add(slot_get_sums(e), *sample);
    slot_set_sums(e, &sums);
    if (here->youngest != index) {
      list_remove(h, owner, index);
      list_add(h, here, index);
      if (here != owner) word_store32(&e->owner, (uint32_t)(here - h->stripes) + 1);
    }
    // Last, because whoever evicts must not see a young stamp at the old end of a list.
    word_store(&e->stamp, next_stamp(here, ticks));
    slot_write_end(e);
  }
  stripe_unlock(here);
  if (here != owner) stripe_unlock(owner);
  return same;
}

// Who is evicted next, and after that, is known now: what that will touch is on its way to the
// cache when it is needed. Prefetching takes any address, so a guess does.
static void prefetch_after(const hints *h, uint32_t index) {
  uint32_t next = h->slots[index].younger, after = h->slots[next].younger;
  __builtin_prefetch(&h->buckets[word_load(&h->slots[next].hash) & h->bucket_mask], 1);
  __builtin_prefetch(&h->slots[after].sequence, 1);
  __builtin_prefetch(&h->slots[after].hash, 1);
}

// Takes the least recently used slot off its list. Under the table's lock. Another CPU may use the
// slot between the comparison and the lock; then it is not the one to evict, and we look again. The
// old end of a list only gets younger, so what was compared still holds for the other lists.
static uint32_t take_oldest(hints *h) {
  for (;;) {
    stripe *best = NULL;
    uint64_t best_stamp = 0;
    for (uint32_t i = 0; i <= h->stripe_mask; i++) {
      uint32_t oldest = word_load32(&h->stripes[i].oldest);
      if (!oldest) continue;
      uint64_t stamp = word_load(&h->slots[oldest].stamp);
      if (best && stamp >= best_stamp) continue;
      best = &h->stripes[i];
      best_stamp = stamp;
    }
    if (!best) continue; // every list was empty when it was looked at: slots were moving
    stripe_lock(best);
    uint32_t index = word_load32(&best->oldest);
    bool is_it = index && word_load(&h->slots[index].stamp) == best_stamp;
    if (is_it) {
      prefetch_after(h, index);
      list_remove(h, best, index);
      word_store32(&h->slots[index].owner, NO_OWNER);
    }
    stripe_unlock(best);
    if (is_it) return index;
  }
}

// ---- buckets -----------------------------------------------------------------------------------

static word *bucket_of(const hints *h, uint64_t hash) {
  return &h->buckets[hash & h->bucket_mask];
}

// The upper half of a bucket counts its changes.
static void bucket_set(word *bucket, uint32_t first) {
  word_store(bucket, ((word_load(bucket) >> 32) + 1) << 32 | first);
}

static void bucket_add(hints *h, uint32_t index) {
  word *bucket = bucket_of(h, word_load(&h->slots[index].hash));
  word_store32(&h->slots[index].chain, (uint32_t)word_load(bucket));
  bucket_set(bucket, index);
}

static void bucket_remove(hints *h, uint32_t index) {
  word *bucket = bucket_of(h, word_load(&h->slots[index].hash));
  uint32_t first = (uint32_t)word_load(bucket), next = word_load32(&h->slots[index].chain);
  if (first == index) {
    bucket_set(bucket, next);
    return;
  }
  slot *before = &h->slots[first];
  while (word_load32(&before->chain) != index) before = &h->slots[word_load32(&before->chain)];
  word_store32(&before->chain, next);
  bucket_set(bucket, first);
}

// A slot whose hash fits, or 0. Without a lock the answer is only a guess.
static uint32_t guess(const hints *h, uint64_t hash) {
  enum { ENOUGH = 64 };
  uint32_t index = (uint32_t)word_load(bucket_of(h, hash));
  for (int steps = 0; index && steps < ENOUGH; steps++) {
    if (word_load(&h->slots[index].hash) == hash) return index;
    index = word_load32(&h->slots[index].chain);
  }
  return 0;
}

// Under the table's lock.
static uint32_t find(const hints *h, const slot_key *k) {
  uint32_t index = (uint32_t)word_load(bucket_of(h, k->hash));
  while (index && !slot_has_name(&h->slots[index], k)) index = word_load32(&h->slots[index].chain);
  return index;
}

// ---- recording ---------------------------------------------------------------------------------

// Under the table's lock: a slot that nobody can find.
static uint32_t take_slot(hints *h) {
  uint32_t used = word_load32(&h->used);
  if (used < h->capacity) return used + 1;
  uint32_t index = take_oldest(h);
  bucket_remove(h, index);
  h->losses.evicted_regions++;
  h->losses.evicted_samples += word_load(&h->slots[index].count);
  return index;
}

static void insert(hints *h, const slot_key *k, const record_sums *first, uint64_t ticks) {
  long_name *room = slot_name_is_long(k->size) ? long_name_new(k->size) : NULL;
  if (!room && slot_name_is_long(k->size)) {
    h->losses.dropped_samples += first->count;
    return;
  }
  uint32_t index = take_slot(h);
  slot *e = &h->slots[index];
  stripe *here = &h->stripes[stripe_here(h)];
  slot_write_begin(e);
  slot_set_name(e, k, room);
  slot_set_sums(e, first);
  stripe_lock(here);
  list_add(h, here, index);
  word_store(&e->stamp, next_stamp(here, ticks));
  // From the owner on others may write: somebody may still come by on the chain of an earlier name.
  slot_write_end(e);
  word_store32(&e->owner, (uint32_t)(here - h->stripes) + 1);
  stripe_unlock(here);
  bucket_add(h, index);
  if (index > word_load32(&h->used)) word_store32(&h->used, index);
}

static void add(hints *h, const char *region, const record_sums *sample) {
  if (h->capacity == 0) return;
  uint64_t ticks = clock_ticks();
  slot_key k = slot_key_of(region);
  uint32_t index = guess(h, k.hash);
  if (index && touch(h, index, &k, sample, ticks)) return;
  pthread_mutex_lock(&h->lock);
  index = find(h, &k);
  if (index)
    touch(h, index, &k, sample, ticks);
  else
    insert(h, &k, sample, ticks);
  pthread_mutex_unlock(&h->lock);
}

void hints_record(hints *h, const char *region, uint64_t kernel_ns, uint64_t bytes_touched) {
  record_sums sample = {.count = 1, .max_ns = kernel_ns, .ns = kernel_ns, .bytes = bytes_touched};
  add(h, region, &sample);
}

void hints_merge(hints *h, const char *region, const region_record *record) {
  record_sums sums = record_add((record_sums){0}, record_to_sums(record));
  if (sums.count) add(h, region, &sums);
}

hints_losses hints_lost(hints *h) {
  pthread_mutex_lock(&h->lock);
  hints_losses losses = h->losses;
  pthread_mutex_unlock(&h->lock);
  return losses;
}

// ---- queries -----------------------------------------------------------------------------------

// True when the slot has this name; *sums is then consistent, and untouched otherwise.
static bool read_slot(const slot *e, const slot_key *k, record_sums *sums) {
  for (;;) {
    uint32_t sequence = slot_read_begin(e);
    bool same = slot_has_name(e, k);
    record_sums read = slot_get_sums(e);
    if (!slot_read_end(e, sequence)) continue;
    if (same) *sums = read;
    return same;
  }
}

static bool lookup(const hints *h, const char *region, record_sums *sums) {
  enum { PATIENCE = 1024 }; // a reader that was led astray does not walk for ever
  *sums = (record_sums){0};
  if (h->capacity == 0) return false;
  slot_key k = slot_key_of(region);
  const word *bucket = bucket_of(h, k.hash);
  for (;;) {
    uint64_t before = word_load(bucket);
    uint32_t index = (uint32_t)before;
    for (int steps = 0; index && steps < PATIENCE; steps++) {
      const slot *e = &h->slots[index];
      if (word_load(&e->hash) == k.hash && read_slot(e, &k, sums)) return true;
      index = word_load32(&e->chain);
    }
    if (!index && word_load(bucket) == before) return false;
  }
}

bool hints_record_for(const hints *h, const char *region, region_record *out) {
  record_sums sums;
  bool found = lookup(h, region, &sums);
  *out = record_from_sums(&sums);
  return found;
}

bool hints_is_hot(const hints *h, const char *region) {
  record_sums sums;
  if (!lookup(h, region, &sums)) return false;
  uint64_t mean = atomic_load_explicit(&((hints *)h)->hot_mean_ns, memory_order_relaxed);
  uint64_t total = atomic_load_explicit(&((hints *)h)->hot_total_ns, memory_order_relaxed);
  // The same as comparing the mean, without a division.
  return sums.ns >= (record_wide)mean * sums.count || (total && sums.ns >= total);
}

uint64_t hints_dispatch_count(const hints *h, const char *region) {
  record_sums sums;
  lookup(h, region, &sums);
  return sums.count;
}

uint64_t hints_mean_kernel_ns(const hints *h, const char *region) {
  region_record record;
  hints_record_for(h, region, &record);
  return record.mean_kernel_ns;
}

size_t hints_len(const hints *h) {
  return word_load32(&h->used);
}

bool hints_is_empty(const hints *h) {
  return hints_len(h) == 0;
}

void hints_set_hot_mean_ns(hints *h, uint64_t threshold_ns) {
  atomic_store_explicit(&h->hot_mean_ns, threshold_ns, memory_order_relaxed);
}

void hints_set_hot_total_ns(hints *h, uint64_t threshold_ns) {
  atomic_store_explicit(&h->hot_total_ns, threshold_ns, memory_order_relaxed);
}

// ---- copies ------------------------------------------------------------------------------------

typedef struct copied {
  uint64_t stamp;
  size_t name_at; // in the names
  const char *name;
  record_sums sums;
} copied;

typedef vec(copied) copied_list;

static bool copy_slot(const slot *e, strbuf *names, copied *out) {
  size_t size = 0;
  for (size_t capacity = 256;;) {
    char *to = strbuf_reserve(names, capacity);
    if (!to) return false;
    uint32_t sequence = slot_read_begin(e);
    bool fitted = slot_get_name(e, to, capacity, &size);
    *out = (copied){word_load(&e->stamp), names->size, NULL, slot_get_sums(e)};
    if (!slot_read_end(e, sequence)) continue;
    if (fitted) break;
    capacity = size;
  }
  names->size += size;
  strbuf_putc(names, 0);
  return !names->failed;
}

static int by_name(const void *a, const void *b) {
  const copied *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->stamp < y->stamp) - (x->stamp > y->stamp);
}

static int by_stamp(const void *a, const void *b) {
  const copied *x = a, *y = b;
  return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

// Every region once, oldest first. A region that was evicted and came back in another slot while we
// looked may have been seen twice: the newer one counts.
static bool copy_all(const hints *h, copied_list *list, strbuf *names) {
  for (uint32_t i = 1, used = word_load32(&h->used); i <= used; i++) {
    copied one;
    if (!copy_slot(&h->slots[i], names, &one) || !vec_push(list, one)) return false;
  }
  for (size_t i = 0; i < list->count; i++) list->at[i].name = names->at + list->at[i].name_at;
  if (!list->count) return true;
  qsort(list->at, list->count, sizeof *list->at, by_name);
  size_t kept = 1;
  for (size_t i = 1; i < list->count; i++)
    if (strcmp(list->at[i].name, list->at[kept - 1].name)) list->at[kept++] = list->at[i];
  list->count = kept;
  qsort(list->at, list->count, sizeof *list->at, by_stamp);
  return true;
}

hints_entry *hints_snapshot(const hints *h, size_t *count) {
  strbuf names = {0};
  copied_list list = {0};
  hints_entry *entries = NULL;
  *count = 0;
  if (copy_all(h, &list, &names)) entries = malloc(list.count * sizeof *entries + names.size + 1);
  if (entries) {
    char *text = (char *)(entries + list.count);
    if (names.size) memcpy(text, names.at, names.size);
    for (size_t i = 0; i < list.count; i++)
      entries[i] =
          (hints_entry){text + (list.at[i].name - names.at), record_from_sums(&list.at[i].sums)};
    *count = list.count;
  }
  vec_free(&list);
  strbuf_fini(&names);
  return entries;
}

hints *hints_clone(const hints *h) {
  hints *from = (hints *)h;
  hints_options options = {h->capacity, atomic_load(&from->hot_mean_ns),
                           atomic_load(&from->hot_total_ns)};
  hints *clone = hints_new(&options);
  strbuf names = {0};
  copied_list list = {0};
  bool done = clone && copy_all(h, &list, &names);
  for (size_t i = 0; done && i < list.count; i++) add(clone, list.at[i].name, &list.at[i].sums);
  done = done && clone->losses.dropped_samples == 0;
  vec_free(&list);
  strbuf_fini(&names);
  if (done) return clone;
  hints_free(clone);
  return NULL;
}
