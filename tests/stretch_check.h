// SPDX-License-Identifier: MIT
//
// The calculus of stretches with short words, against its definitions. The machine here computes
// numbers at once, and fails the moment one is outside of the interval that stands beside it. What
// it is given as known, as an interval or as anything at all is chosen by the case, so that the
// same rule is seen folded and computed.
#ifndef VYRE_TESTS_STRETCH_CHECK_H
#define VYRE_TESTS_STRETCH_CHECK_H

#include "analysis/stretch.h"

#include <stdint.h>

// A form as numbers, and how much the rules are told of it.
typedef struct check_form {
  uint8_t stride, base, spread;
} check_form;

typedef enum check_knowledge {
  KNOWS_ALL,     // every number is known
  KNOWS_STRIDES, // the numbers of steps are
  KNOWS_RANGES,  // small intervals around the numbers
  KNOWS_NOTHING,
  KNOWLEDGE_COUNT
} check_knowledge;

typedef struct check_case {
  unsigned bits;      // of a word: 3 to 8
  int_type type;      // of the values
  uint8_t first, end; // the row
  check_form a, b;
  check_knowledge knowledge;
  uint8_t length; // for must_within
  uint32_t seed;  // of the intervals
} check_case;

typedef struct check_result {
  const char *wrong; // NULL: all is as it should be
  unsigned x;        // where
} check_result;

// All relations, conversions and operations of the case.
check_result check_relations(const check_case *t);
check_result check_within(const check_case *t);
check_result check_forms(const check_case *t);

#endif
