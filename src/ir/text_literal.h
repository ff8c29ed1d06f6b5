// SPDX-License-Identifier: MIT
//
// Numbers in the text form: from digits to the bits of a type, correctly rounded, and back as the
// shortest text that gives the same bits. Neither depends on the locale of the process. Pure
// functions: any thread.
#ifndef VYRE_IR_TEXT_LITERAL_H
#define VYRE_IR_TEXT_LITERAL_H

#include "base/strbuf.h"
#include "ir/types.h"

typedef struct literal {
  uint64_t magnitude; // of an integer
  const char *text;   // its digits in the source, without sign and suffix; borrowed
  uint32_t size;      // of `text`
  uint8_t suffix;     // vyre_type, VYRE_VOID when there is none
  bool is_float;      // written with a point or an exponent
  bool is_negative;
  bool is_huge; // an integer that does not fit 64 bits
} literal;

typedef enum literal_fit {
  LITERAL_FITS,
  LITERAL_WRONG_KIND,
  LITERAL_OUT_OF_RANGE,
  LITERAL_NO_MEMORY,
} literal_fit;

// Fills `magnitude` and `is_huge` of an integer from its text.
void literal_read_int(literal *l);
// *bits is set when the result is LITERAL_FITS. A decimal integer is a float where one is needed.
literal_fit literal_bits(const literal *l, vyre_type type, uint64_t *bits);

// A number as a person gives it, without a suffix: 8, 0x10, -1, 2, 2.5, true. False when it is none
// of the type.
bool literal_read_text(const char *text, size_t size, vyre_type type, uint64_t *bits);

// Prints a constant without a suffix.
void literal_print(strbuf *s, vyre_type type, uint64_t bits, bool as_hex);
// Whether the text of the constant says its type: true, inf_f32.
bool literal_tells_type(vyre_type type, uint64_t bits);

#endif
