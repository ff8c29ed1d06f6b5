// SPDX-License-Identifier: MIT
//
// One reading of one OpenCL C source: the preprocessed text, where its lines come from, libclang's
// translation unit, and the memory of everything made from them. A unit belongs to one call on one
// thread.
//
// The first mistake ends the reading: unit_fail fills the caller's error and unwinds to the call
// that set `bail`. For that, all memory is in the unit's arena or listed for unit_fini, and
// callbacks of libclang, which must not be unwound, only collect.
#ifndef VYRE_FRONT_CLANG_UNIT_H
#define VYRE_FRONT_CLANG_UNIT_H

#include "base/arena.h"
#include "front/front.h"

#include <clang-c/Index.h>

#include <setjmp.h>
#include <stdarg.h>

#define NO_PLACE UINT32_MAX

typedef struct line_mark { // from `offset` on the text comes from `line` of `file` and following
  uint32_t offset, line;
  const char *file;
  bool is_system; // clang's own header
} line_mark;

typedef struct line_index { // where the lines of a text start
  uint32_t *start;
  uint32_t count;
} line_index;

typedef struct unit {
  arena arena;
  front_source source;
  vyre_error *error; // never NULL
  jmp_buf bail;

  // Arguments of clang, borrowed from the arena.
  const char *standard;           // "-cl-std=CL1.2"
  bool is_preprocessed;           // the source is: -fpreprocessed
  uint32_t fast_ulp;              // what the program may be off by: a permission of the options
  const char *resources, *header; // clang's folder and the header in it, once they were looked for
  const char **user_args;
  uint32_t user_count;

  char *text; // preprocessed, malloc'ed, NUL-terminated
  size_t size;
  line_mark *marks;
  uint32_t mark_count;
  bool has_teams;               // `text` calls functions of subgroups
  line_index lines, user_lines; // of `text`, of the source

  CXIndex index;
  CXTranslationUnit tu;
  struct type_table *types;
  struct ast *ast;
  struct vyre_builder *builder; // freed by unit_fini when a lowering was unwound
} unit;

// Ends the reading. `offset` is a place in the preprocessed text, or NO_PLACE.
_Noreturn void unit_fail(unit *u, vyre_status status, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void unit_fail_memory(unit *u);
// Ends the reading with what is in u->error.
_Noreturn void unit_bail(unit *u);

// Zeroed memory of the unit; never NULL.
void *unit_alloc(unit *u, size_t count, size_t size);
char *unit_copy(unit *u, const char *text, size_t size);
char *unit_printf(unit *u, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Copies and disposes.
const char *unit_string(unit *u, CXString string);

#define UNIT_NEW(u, T)          ((T *)unit_alloc(u, 1, sizeof(T)))
#define UNIT_ARRAY(u, count, T) ((T *)unit_alloc(u, count, sizeof(T)))

// A growable array in the unit's arena: makes room for one more element.
#define UNIT_PUSH(u, array, count, capacity, ...)                                                  \
  (*((count) == (capacity)                                                                         \
         ? ((array) = unit_grow(u, array, &(capacity), sizeof *(array)), (array) + (count)++)      \
         : (array) + (count)++) = (__VA_ARGS__))
void *unit_grow(unit *u, void *array, uint32_t *capacity, size_t size);

void unit_fini(unit *u);

#endif
