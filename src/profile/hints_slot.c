// SPDX-License-Identifier: MIT
#include "profile/hints_slot.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

slot_key slot_key_of(const char *name) {
  size_t size = strlen(name);
  return (slot_key){name, size, hash_fast(name, size)};
}

static size_t words_of(size_t size) {
  return (size + 7) / 8;
}

static word *name_words(const slot *e, size_t size) {
  if (words_of(size) <= INLINE_WORDS) return (word *)e->name;
  return atomic_load_explicit((_Atomic(long_name *) *)&e->long_name, memory_order_acquire)->words;
}

// The name as words, the last one filled up with zeros.
static uint64_t key_word(const slot_key *k, size_t index) {
  uint64_t x = 0;
  size_t rest = k->size - index * 8;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (rest < 8 && k->size >= 8) { // cheaper than copying a varying number of bytes
    memcpy(&x, k->name + k->size - 8, 8);
    return x >> (8 * (8 - rest));
  }
#endif
  if (rest >= 8)
    memcpy(&x, k->name + index * 8, 8);
  else
    memcpy(&x, k->name + index * 8, rest);
  return x;
}

bool slot_has_name(const slot *e, const slot_key *k) {
  if (word_load(&e->hash) != k->hash || word_load32(&e->name_size) != k->size) return false;
  const word *words = name_words(e, k->size);
  for (size_t i = 0; i < words_of(k->size); i++)
    if (word_load(&words[i]) != key_word(k, i)) return false;
  return true;
}

// Memory for a name that does not fit into a slot. Sizes are powers of two, so that what a slot
// keeps for readers is never more than what it uses.
long_name *long_name_new(size_t size) {
  size_t count = 2 * INLINE_WORDS;
  while (count < words_of(size)) count *= 2;
  long_name *name = calloc(1, sizeof *name + count * sizeof(word));
  if (name) name->word_count = count;
  return name;
}

void slot_set_name(slot *e, const slot_key *k, long_name *room) {
  if (room) {
    room->older = atomic_load(&e->long_name);
    if (room->older && room->older->word_count >= room->word_count)
      free(room);
    else
      atomic_store(&e->long_name, room);
  }
  word *words = name_words(e, k->size);
  for (size_t i = 0; i < words_of(k->size); i++) word_store(&words[i], key_word(k, i));
  word_store32(&e->name_size, (uint32_t)k->size);
  word_store(&e->hash, k->hash);
}

bool slot_get_name(const slot *e, char *out, size_t capacity, size_t *size) {
  *size = word_load32(&e->name_size);
  if (*size > capacity) return false;
  const word *words = name_words(e, *size);
  for (size_t i = 0; i < words_of(*size); i++) {
    uint64_t x = word_load(&words[i]);
    size_t rest = *size - i * 8;
    memcpy(out + i * 8, &x, rest < 8 ? rest : 8);
  }
  return true;
}

void long_name_free_all(long_name *newest) {
  while (newest) {
    long_name *older = newest->older;
    free(newest);
    newest = older;
  }
}
