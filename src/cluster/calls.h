// SPDX-License-Identifier: MIT
//
// Which calls a rank has made. Every rank makes the same ones, with the same numbers; what each
// remembers of them is compared where ranks meet anyway, and told to others when one has waited for
// them for long, so that a difference ends in an error that says what it is. Plain data: it is sent
// as it stands. One thread at a time.
#ifndef VYRE_CLUSTER_CALLS_H
#define VYRE_CLUSTER_CALLS_H

#include "ir/program.h"

enum {
  CALLS_KEPT = 16,       // that are told in words
  CALLS_FACTS = 16,      // numbers of a call that are
  CALLS_HISTORIES = 1024 // hashes of the latest calls: how far ranks may be apart
};

typedef enum call_kind {
  CALL_LOAD = 1,
  CALL_ALLOCATE,
  CALL_WRITE,
  CALL_READ,
  CALL_DISPATCH,
  CALL_SAVE,
  CALL_LOAD_CHECKPOINT,
  CALL_END
} call_kind;

typedef struct call_record {
  uint64_t history;            // of all calls up to this one
  uint32_t kind, number;       // the number of the kernel or buffer
  uint32_t count, is_wrong;    // of the facts; whether this rank cannot make it
  uint64_t facts[CALLS_FACTS]; // the first of them
} call_record;

typedef struct calls_said { // by a rank to others; of one size
  uint64_t count;           // of calls made; that of number n, from 1, is latest[n % CALLS_KEPT]
  call_record latest[CALLS_KEPT];
} calls_said;

typedef struct calls {
  calls_said said;
  uint64_t histories[CALLS_HISTORIES]; // of call n at n % CALLS_HISTORIES
} calls;

void calls_add(calls *c, call_kind kind, uint32_t number, const uint64_t *facts, uint32_t count);
void calls_add_wrong(calls *c, call_kind kind, uint32_t number); // that this rank cannot make
void calls_take_back(calls *c);                                  // the latest
uint64_t calls_history(const calls *c);
uint64_t calls_history_before(const calls *c); // the latest

// Whether another rank is known to have made other calls. It may be unknown: that rank is too far
// ahead, but can tell from what this one says.
typedef enum calls_verdict { CALLS_SAME, CALLS_DIFFER, CALLS_UNKNOWN } calls_verdict;
calls_verdict calls_compare(const calls *own, const calls_said *other);

// What the first call is that they made otherwise, as far as they remember. `programs` finds the
// one of a kernel, NULL when it is gone.
typedef const vyre_program *(*calls_program)(const void *context, uint32_t kernel);
void calls_difference(uint32_t rank_a, const calls_said *a, uint32_t rank_b, const calls_said *b,
                      calls_program programs, const void *context, char *out, size_t size);

#endif
