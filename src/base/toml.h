// SPDX-License-Identifier: MIT
//
// The part of TOML 1.0 that vyre's own files use: tables, arrays of tables, inline tables, arrays,
// dotted and quoted keys, all four kinds of strings, decimal integers up to 2^64-1, booleans and
// comments. What else TOML has (floats, dates, numbers in other bases or beyond 64 bits) is read as
// TOML_OTHER, for the reader to refuse: it costs what it stands in, not the file. Strict: duplicate
// keys, reopened tables, control characters and broken UTF-8 are errors with file, line and column.
//
// Everything parsed lives in the caller's arena. One thread at a time per arena; a parsed tree is
// constant.
#ifndef VYRE_BASE_TOML_H
#define VYRE_BASE_TOML_H

#include <vyre/vyre.h>

#include "base/arena.h"
#include "base/strbuf.h"

typedef enum toml_kind {
  TOML_STRING,
  TOML_INTEGER,
  TOML_BOOL,
  TOML_ARRAY,
  TOML_TABLE,
  TOML_OTHER, // its text is in `string`
} toml_kind;

typedef struct toml_value toml_value;
typedef struct toml_table toml_table;

struct toml_value {
  toml_kind kind;
  uint32_t line; // where it begins, from 1
  union {
    struct {
      const char *at; // with a NUL behind it; may also hold NULs
      size_t size;
    } string;
    struct {
      uint64_t magnitude;
      bool negative;
    } integer;
    bool boolean;
    struct {
      toml_value **items;
      size_t count;
      size_t capacity; // of an array of tables, which grows
      bool of_tables;  // written as [[...]]
    } array;
    toml_table *table;
  };
};

typedef struct toml_entry {
  const char *key; // with a NUL behind it
  size_t key_size;
  uint32_t line;
  uint64_t hash;
  toml_value *value;
  struct toml_entry *next; // in the order of the file
} toml_entry;

struct toml_table {
  toml_entry *first, *last;
  size_t count;
  toml_entry **index; // by hash
  size_t index_size;
  int origin;
};

// Called for each faulty statement when the caller wants to keep the rest of a file.
typedef void (*toml_problem_fn)(void *context, const vyre_error *problem);

// Parses the whole text into *root, a table. Without `on_problem` the first fault fails the parse.
// With it each fault is told, its line is skipped, and the rest is kept (what follows a faulty
// header is dropped up to the next header); more than TOML_MAX_PROBLEMS faults fail the parse.
enum { TOML_MAX_PROBLEMS = 100, TOML_MAX_DEPTH = 32 };
vyre_status toml_parse(arena *memory, const char *text, size_t size, const char *file,
                       toml_problem_fn on_problem, void *context, toml_table **root,
                       vyre_error *error);

// NULL when there is no such key.
const toml_value *toml_find(const toml_table *table, const char *key);
// False when the value (which may be NULL) is not of that kind or out of range.
bool toml_get_u64(const toml_value *value, uint64_t *out);
bool toml_get_i64(const toml_value *value, int64_t *out);
// NULL when it is no string, or holds a NUL.
const char *toml_get_string(const toml_value *value);

// Writing. A key is written bare where TOML allows it. Bytes that are not UTF-8 become U+FFFD,
// because TOML has no way to write them.
void toml_write_key(strbuf *out, const char *key);
void toml_write_string(strbuf *out, const char *text);

#endif
