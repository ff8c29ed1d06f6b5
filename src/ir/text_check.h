// SPDX-License-Identifier: MIT
//
// The text form with all that can be asked of it: values of tunables, folders of included files,
// every mistake instead of the first, and where names are declared and used (for editors). The
// caller's functions are called while the text is read. Any thread.
#ifndef VYRE_IR_TEXT_CHECK_H
#define VYRE_IR_TEXT_CHECK_H

#include "ir/tunable.h"

enum { TEXT_MOST_MISTAKES = 100 };

// A name in the text itself (not in included files).
typedef struct text_mark {
  uint32_t offset, size;
  uint32_t declared;         // where, or UINT32_MAX when that is in another file
  const char *declared_file; // NULL: this text
  const char *what;          // "let", "parameter", ...
  uint8_t type, lanes;
  bool is_declaration;
  bool is_global; // of the program, not of a region or function
} text_mark;

typedef struct text_options {
  const tunable_given *given;
  uint32_t given_count;
  const char *const *folders; // where included files are looked for, behind the text's own
  uint32_t folder_count;
  // Each may be NULL. With `mistake`, reading goes on after one, up to TEXT_MOST_MISTAKES.
  void (*mistake)(void *data, const vyre_error *error);
  void (*mark)(void *data, const text_mark *mark);
  void *data;
} text_options;

// As vyre_program_parse; the error is the first mistake.
vyre_status text_read(const char *text, size_t size, const char *name, const text_options *options,
                      vyre_program **out, vyre_error *error);

#endif
