// SPDX-License-Identifier: MIT
#include "conform/fence.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD_BYTE = 0xa5, MAX_KNOWN = 256 };

// Zero: a free place. The memory is written before its address is published.
static struct known {
  _Atomic(uintptr_t) data;
  size_t size_bytes;
  uint32_t number;
} known[MAX_KNOWN];

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

// The pages between the fences: where they begin, and their size.
static char *first_page(const vyre_span *span) {
  return (char *)((uintptr_t)span->data & ~(uintptr_t)(page_bytes() - 1));
}

static size_t pages_size(size_t size_bytes) {
  size_t page = page_bytes();
  return (size_bytes + page - 1) / page * page;
}

// A fence that finds no place is as good as the others, except that it has no name.
static void remember(const vyre_span *span, uint32_t number) {
  for (int i = 0; i < MAX_KNOWN; i++) {
    uintptr_t none = 0;
    if (!atomic_compare_exchange_strong(&known[i].data, &none, UINTPTR_MAX)) continue;
    known[i].size_bytes = span->size_bytes;
    known[i].number = number;
    atomic_store(&known[i].data, (uintptr_t)span->data);
    return;
  }
}

static void forget(const vyre_span *span) {
  for (int i = 0; i < MAX_KNOWN; i++) {
    uintptr_t data = (uintptr_t)span->data;
    if (atomic_compare_exchange_strong(&known[i].data, &data, 0)) return;
  }
}

// Pages from the first one that begins at the byte or after it; the byte 0 is at `data`.
static bool freeze(char *data, char *end, int64_t byte) {
  size_t page = page_bytes();
  uintptr_t at = byte ? (uintptr_t)data + (uintptr_t)byte + page - 1 : (uintptr_t)data;
  char *first = (char *)(at & ~(uintptr_t)(page - 1));
  return first >= end || !mprotect(first, (size_t)(end - first), PROT_READ);
}

bool fence_copy(const vyre_span *from, fence_side side, int64_t frozen, uint32_t number,
                vyre_span *out) {
  size_t page = page_bytes(), inner = pages_size(from->size_bytes);
  char *all = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return false;
  if (inner && mprotect(all + page, inner, PROT_READ | PROT_WRITE)) {
    munmap(all, inner + 2 * page);
    return false;
  }
  memset(all + page, GUARD_BYTE, inner);
  char *data = all + page + (side == FENCE_END ? inner - from->size_bytes : 0);
  memcpy(data, from->data, from->size_bytes);
  if (frozen >= 0 && !freeze(data, all + page + inner, frozen)) {
    munmap(all, inner + 2 * page);
    return false;
  }
  *out = (vyre_span){data, from->size_bytes};
  remember(out, number);
  return true;
}

void fence_free(const vyre_span *span) {
  if (!span->data) return;
  size_t page = page_bytes();
  forget(span);
  munmap(first_page(span) - page, pages_size(span->size_bytes) + 2 * page);
}

static bool is_guard(const char *first, const char *end) {
  for (; first < end; first++)
    if ((unsigned char)*first != GUARD_BYTE) return false;
  return true;
}

bool fence_is_intact(const vyre_span *span) {
  const char *first = first_page(span), *data = span->data;
  return is_guard(first, data) &&
         is_guard(data + span->size_bytes, first + pages_size(span->size_bytes));
}

bool fence_find(const void *address, fence_hit *out) {
  size_t page = page_bytes();
  for (int i = 0; i < MAX_KNOWN; i++) {
    uintptr_t data = atomic_load(&known[i].data);
    if (!data || data == UINTPTR_MAX) continue;
    vyre_span span = {(void *)data, known[i].size_bytes};
    const char *first = first_page(&span), *at = address;
    if (at < first - page || at >= first + pages_size(span.size_bytes) + page) continue;
    *out = (fence_hit){known[i].number, span.size_bytes, at - (const char *)span.data};
    return true;
  }
  return false;
}
