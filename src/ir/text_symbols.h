// SPDX-License-Identifier: MIT
//
// The words of a text, each with one number: the language's own words, known from the start, and
// the names that a text or a program brings. What a name means at the moment is kept with it, so
// that a name is looked up once, when it is read. Symbols borrow the text of names; it must outlive
// them. One thread at a time.
#ifndef VYRE_IR_TEXT_SYMBOLS_H
#define VYRE_IR_TEXT_SYMBOLS_H

#include "base/vec.h"
#include "ir/program.h"

typedef enum word {
  WORD_NONE,
  // Reserved: these cannot be names.
  WORD_PROGRAM,
  WORD_BUFFER,
  WORD_TRANSIENT,
  WORD_REGION,
  WORD_SHARED,
  WORD_LET,
  WORD_VAR,
  WORD_ARRAY,
  WORD_IF,
  WORD_ELSE,
  WORD_FOR,
  WORD_WHILE,
  WORD_DO,
  WORD_BREAK,
  WORD_CONTINUE,
  WORD_RETURN,
  WORD_BARRIER,
  WORD_CONSTANT, // true, inf_f32: `type` and `bits` say which
  WORD_AXIS,     // global_id.x: `function` and `bits` say which
  // These mean something at one place only, and may be names.
  WORD_IN,
  WORD_BY,
  WORD_FAST,
  WORD_GRID,
  WORD_WORKGROUP,
  WORD_READ,
  WORD_WRITE,
  WORD_READWRITE,
  WORD_TUNABLE,
  WORD_WHERE,
  WORD_CONST,
  WORD_FN,
  WORD_INCLUDE,
  WORD_PRINTF,
} word;

static inline bool word_is_reserved(unsigned w) {
  return w != WORD_NONE && w < WORD_IN;
}

typedef enum name_kind {
  NAME_NONE,
  NAME_VALUE,   // `at` is the value
  NAME_VAR,     // `at` is the variable
  NAME_PARAM,   // `at` is the parameter's number
  NAME_MEMORY,  // `at` is the memory reference
  NAME_TUNABLE, // `at` is the builder's reference to it
  NAME_LITERAL, // a constant without a type: `at` is its number in the parser
  NAME_VECTOR,  // `at` is the number of its parts in the parser
  NAME_BROKEN,  // its declaration was wrong, which was said
} name_kind;

// Calls that the parser takes apart, where the language has no operation.
typedef enum sugar {
  SUGAR_NONE,
  SUGAR_CLAMP,
  SUGAR_MIX,
  SUGAR_DOT,
  SUGAR_CROSS,
  SUGAR_LENGTH,
  SUGAR_NORMALIZE,
  SUGAR_ANY,
  SUGAR_ALL,
} sugar;

// Where a name was declared that cannot be seen any more.
typedef enum name_past { PAST_NONE, PAST_BLOCK, PAST_REGION, PAST_HEADER } name_past;

typedef struct symbol {
  const char *text; // not NUL-terminated
  uint32_t size;    // of `text`
  uint32_t base;    // bytes before the `$`; all of them when there is none
  uint32_t hash;
  // What the language knows about the word.
  uint8_t word;
  uint8_t function; // the operation that the word stands for or calls, or VYRE_OP_NONE
  uint8_t type;     // of a type's name, `as_` name or constant
  uint8_t lanes;    // of a type's name: how many numbers it has
  uint8_t sugar;
  bool is_type;
  uint64_t bits;
  // What it names now.
  uint8_t kind; // name_kind
  uint8_t named_type, named_lanes;
  uint8_t past; // name_past
  bool is_region;
  uint32_t at;
  uint32_t frame, order; // whose name it is: see parser_named
  uint32_t declared;     // where
  uint32_t source;       // in which text
  uint32_t called;       // number + 1 of the function of this name
  uint32_t buffer;       // number + 1 of a buffer that is declared further down
  uint8_t buffer_lanes;
  uint32_t count; // the printer: how many things of this name can be seen
} symbol;

typedef struct symbols {
  vec(symbol) list;
  uint32_t *table; // open addressing, number + 1
  size_t table_size;
  uint64_t seed;
} symbols;

// False when out of memory; symbols_fini is to be called all the same.
bool symbols_init(symbols *s);
void symbols_fini(symbols *s);
// The number of the word, UINT32_MAX when out of memory. `base` as in symbol.
uint32_t symbols_intern(symbols *s, const char *text, uint32_t size, uint32_t base);

#endif
