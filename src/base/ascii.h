// SPDX-License-Identifier: MIT
//
// Kinds of bytes, the same in every locale: those of ctype.h change with it. Pure functions.
#ifndef VYRE_BASE_ASCII_H
#define VYRE_BASE_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_digit(char c) {
  return c >= '0' && c <= '9';
}

static inline char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool ascii_is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_letter(char c) {
  return ascii_is_lower(ascii_lower(c));
}

static inline bool ascii_is_hex_digit(char c) {
  return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
}

// What an identifier is made of.
static inline bool ascii_is_word(char c) {
  return ascii_is_letter(c) || ascii_is_digit(c) || c == '_';
}

static inline bool ascii_is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
