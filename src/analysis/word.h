// SPDX-License-Identifier: MIT
//
// Numbers that are known when a kernel runs, and what is known of them before. A word is an element
// of the ring of integers modulo 2^bits, made by a `machine`: code to emit, a term to prove, or the
// number itself. Beside it stands an interval of that ring which holds whatever it turns out to be;
// where the interval is one number nothing is made. Every operation folds what the intervals
// decide, so that what is known costs nothing when it runs.
//
// Nothing here can overflow, divide by zero or depend on the host's signed arithmetic. Values; they
// own nothing. Any thread that the machine allows.
#ifndef VYRE_ANALYSIS_WORD_H
#define VYRE_ANALYSIS_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct word {
  uint64_t lo, size; // it is lo + 0..size, modulo 2^bits; size 0: it is known
  void *made;        // by the machine; meaningless where it is known
} word;

typedef enum answer { ANSWER_NO, ANSWER_YES, ANSWER_OPEN } answer;

typedef struct truth {
  answer answer;
  void *made; // by the machine, where it is open
} truth;

typedef enum word_op {
  WORD_PLUS,
  WORD_MINUS,
  WORD_TIMES,
  WORD_AND,
  WORD_DIVIDE, // unsigned; by something that is not 0
  WORD_FLOOR,  // signed, towards minus infinity; by a known number above 0
  WORD_LEAST,  // of two unsigned ones
  WORD_LOWER,  // of two signed ones
  WORD_HIGHER, // of two signed ones
} word_op;

typedef enum word_test {
  TEST_BELOW,  // unsigned <
  TEST_BEFORE, // signed <
  TEST_SAME,
} word_test;

// Makes operations on what it made before. A machine that only plans makes NULL.
typedef struct machine {
  unsigned bits; // of a word, at most 64
  void *context;
  void *(*number)(void *context, uint64_t value);
  void *(*compute)(void *context, word_op op, void *x, void *y);
  void *(*compare)(void *context, word_test test, void *x, void *y);
  void *(*choose)(void *context, void *condition, void *x, void *y); // of two words
  void *(*both)(void *context, void *p, void *q);                    // truths
  void *(*opposite)(void *context, void *p);
} machine;

machine machine_planning(unsigned bits); // makes nothing: for the intervals alone

static inline uint64_t machine_mask(const machine *m) {
  return UINT64_MAX >> (64 - m->bits);
}
static inline bool word_is_known(word x) {
  return !x.size;
}
static inline bool truth_is(truth t, answer a) {
  return t.answer == a;
}

word word_number(const machine *m, uint64_t value);                       // known
word word_within(const machine *m, uint64_t lo, uint64_t hi, void *made); // lo..hi, as they wrap
word word_narrowed(const machine *m, word x, uint64_t lo, uint64_t hi);   // the caller knows more
void *word_made(const machine *m, word x); // as the machine wants it, also when it is known
bool word_is_same(word x, word y);         // for certain
bool word_is(const machine *m, word x, uint64_t value); // for certain
bool word_wraps(const machine *m,
                word x); // its interval passes the end of the ring, or is all of it
// The interval as unsigned numbers, and as signed ones; everything where it passes their ends.
void word_bounds(const machine *m, word x, uint64_t *least, uint64_t *most);
void word_signed_bounds(const machine *m, word x, int64_t *least, int64_t *most);

word word_plus(const machine *m, word x, word y);
word word_minus(const machine *m, word x, word y);
word word_negative(const machine *m, word x);
word word_times(const machine *m, word x, word y);
word word_low_bits(const machine *m, word x, unsigned count);   // unsigned
word word_low_signed(const machine *m, word x, unsigned count); // as a signed number
word word_divide(const machine *m, word x, word y);             // y is not 0
word word_floor(const machine *m, word x, uint64_t y);          // 0 < y < 2^(bits-1)
word word_least(const machine *m, word x, word y);
word word_lower(const machine *m, word x, word y);
word word_higher(const machine *m, word x, word y);
word word_choose(const machine *m, truth c, word x, word y);
// As numbers, not in the ring: the largest word where the result is larger.
word word_plus_or_most(const machine *m, word x, word y);
word word_times_or_most(const machine *m, word x, word y); // one of them known, or it cannot pass
bool word_product_fits(const machine *m, word x, word y);  // it cannot pass the largest word

truth word_is_below(const machine *m, word x, word y);
truth word_is_before(const machine *m, word x, word y);
truth word_is_equal(const machine *m, word x, word y);
truth truth_known(bool value);
truth truth_both(const machine *m, truth p, truth q);
truth truth_either(const machine *m, truth p, truth q);
truth truth_opposite(const machine *m, truth p);

#endif
