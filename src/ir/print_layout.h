// SPDX-License-Identifier: MIT
//
// What printf of a kernel leaves in the buffer `printf`, between the frontends that write it and
// vyre_print_text that reads it. The first word counts the words of all records, also of those that
// found no room; then come the records, in any order. A record is its length in words, the three
// global ids, and items: the format, then the arguments. An item is a word that says what it is and
// how much, and its words: a string four bytes to a word, a number two words per lane.
#ifndef VYRE_IR_PRINT_LAYOUT_H
#define VYRE_IR_PRINT_LAYOUT_H

enum {
  PRINT_HEAD = 4, // words of a record before its items
  PRINT_STRING = 's',
  PRINT_INTEGER = 'i',   // an i64 or u64 of which the conversion takes as much as it names
  PRINT_FLOAT = 'f',     // an f64
  PRINT_COUNT_SHIFT = 8, // bytes of a string or lanes, above the kind
};

#endif
