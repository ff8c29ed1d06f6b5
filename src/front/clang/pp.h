// SPDX-License-Identifier: MIT
//
// A preprocessor in the process: starting clang's costs as much as reading a source. It does what
// sources of kernels do, gives up on whatever is rare, doubtful or wrong (the caller then asks
// clang, which also has the words for mistakes), and never answers otherwise than clang would.
// Everything lives in the unit's arena; a preprocessor belongs to one call.
#ifndef VYRE_FRONT_CLANG_PP_H
#define VYRE_FRONT_CLANG_PP_H

#include "front/clang/unit.h"

typedef enum pp_kind {
  PP_END,
  PP_WORD,
  PP_NUMBER,
  PP_STRING,
  PP_CHAR,
  PP_PUNCT,
  PP_NOTHING
} pp_kind;

typedef struct pp_token {
  const char *text;
  uint32_t size;
  pp_kind kind : 8; // PP_NOTHING: what is left of an empty argument beside ##
  bool has_space;   // white space stands before it
  bool is_blocked;  // the name of a macro that was being expanded: stays as it is
} pp_token;

typedef struct pp_list {
  pp_token *at;
  uint32_t count, capacity;
} pp_list;

// What a name stands for: a list of tokens, the place, or something that only clang knows.
typedef enum pp_meaning { PP_BODY, PP_LINE, PP_FILE, PP_FOREIGN } pp_meaning;

typedef struct pp_macro {
  const char *name;
  uint32_t name_size;
  pp_meaning meaning;
  bool is_function, is_variadic, is_defined;
  bool is_open;     // its expansion is being read
  pp_token *params; // the last one is __VA_ARGS__ when it is variadic
  uint32_t param_count;
  pp_list body;
  struct pp_macro *next; // of the same bucket
} pp_macro;

// Tokens that are read before what follows in the file. A wall ends the reading.
typedef struct pp_context {
  const pp_token *tokens;
  uint32_t count, at;
  pp_macro *macro;
  bool is_wall;
  struct pp_context *below;
} pp_context;

typedef struct pp_input { // one file, line splices taken out
  const char *name;       // as messages and __FILE__ call it
  const char *folder;     // where includes in quotes are looked for first
  const char *at, *end;
  uint32_t line;    // of `at`, from 1
  uint32_t depth;   // how many files include it
  bool has_splices; // lines were joined: their numbers are those of the first
  bool is_long;     // the directive that is being read goes over several lines, in a comment
} pp_input;

enum { PP_BUCKETS = 2048 };

typedef struct pp {
  unit *u;
  jmp_buf give_up;
  pp_macro **buckets;
  pp_context *top;
  pp_input *input;
  uint32_t owed_lines; // newlines of the file inside of a macro's arguments
  uint32_t tokens;     // made so far
  uint32_t nesting;    // of expansions of arguments
  uint64_t included;   // bytes of files that were read
  char *out;
  uint32_t out_size, out_capacity;
  char **once; // files with #pragma once
  uint32_t once_count, once_capacity;
} pp;

_Noreturn void pp_give_up(pp *p);
void pp_push(pp *p, pp_list *list, pp_token token);

// ---- pp_lex.c -----------------------------------------------------------------------------------

// The text with line splices taken out; their newlines follow the line. Gives up on what only
// clang reads: trigraphs, digraphs of #, zero bytes, lines that end with a carriage return alone.
const char *pp_unspliced(pp *p, const char *text, size_t *size);
// The next token of the line; PP_END at its end.
pp_token pp_lex(pp *p, const char **at, const char *end);
// Behind white space and comments of this line, comments that go on below included; `*lines`
// counts the newlines in them.
const char *pp_skip_space(pp *p, const char *at, const char *end, uint32_t *lines);
bool pp_is(const pp_token *t, const char *text);

// ---- pp_expand.c --------------------------------------------------------------------------------

// NULL when the name is none.
pp_macro *pp_find(const pp *p, const char *name, size_t size);
// The text behind #define.
void pp_define(pp *p, const char *text, size_t size);
void pp_undefine(pp *p, const char *name, size_t size);
void pp_set_meaning(pp *p, const char *name, pp_meaning meaning);
// All of a list, expanded.
pp_list pp_expand(pp *p, const pp_list *list);
// The expansion that begins with a token of the file, with arguments from the file where it needs
// them. False when the token stays as it is.
bool pp_expand_file(pp *p, const pp_token *token, pp_list *out);

// ---- pp_condition.c, pp_known.c -----------------------------------------------------------------

// The value of #if and #elif; `at` is behind the word.
bool pp_condition(pp *p, const char *at, const char *end);
// Defines what clang and its header define.
void pp_define_known(pp *p);

// ---- pp.c ---------------------------------------------------------------------------------------

// Fills u->text; false when clang must do it.
bool pp_run(unit *u);

#endif
