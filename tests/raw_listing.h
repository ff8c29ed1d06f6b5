// SPDX-License-Identifier: MIT
//
// Programs that no front end would make: a listing of raw records, one a line, taken as they are.
// Nothing is checked but the listing's own syntax, so that tests can give the verifier what it must
// refuse. raw_parse returns an unfrozen program that the caller releases, or NULL after printing
// what is wrong with the listing.
//
//   program NAME [FAST]                 first
//   param NAME TYPE
//   buffer NAME TYPE ACCESS [REF] [transient]   access: read, write, readwrite
//   const TYPE BITS
//   region NAME RANK REF REF REF X Y Z  the operations that follow are its grid's
//   body                                from here on the region's body
//   shared NAME TYPE LENGTH
//   op NAME TYPE ARGS...                before the first region: header code
//   name INDEX NAME                     of an operation
//   lowered                             the program is one for a target that lacks everything
//   repeat COUNT op ...
//   tunable NAME TYPE CHOSEN BITS...
//   term tunable TYPE NUMBER, term number TYPE BITS, term OPERATION TYPE
//   where TUNABLE FIRST END             its condition, by its terms
//   use KIND AT SLOT FIRST END          KIND is the number of a use_kind
//
// An operation's NAME may be one of lowered.def. NAME and TYPE may be #NUMBER. ARGS and REF: %5 is
// operation 5, c0 a constant, b0 a buffer, s0 a shared array, a5 the private array of operation 5;
// a plain number is itself. Operations are numbered from 1. Lines that begin with // are comments.
#ifndef VYRE_TESTS_RAW_LISTING_H
#define VYRE_TESTS_RAW_LISTING_H

#include "base/vec.h"
#include "ir/program.h"
#include "lower/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RAW_WORDS = 12 };

typedef struct raw_listing {
  vyre_program *program;
  vec(param) params;
  vec(buffer) buffers;
  vec(constant) consts;
  vec(region) regions;
  vec(shared_array) shared;
  vec(inst) code;
  vec(const char *) names;
  vec(tunable) tunables;
  vec(formula_term) terms;
  vec(tunable_use) uses;
  bool in_body;
  char *words[RAW_WORDS]; // of the current line; missing ones are ""
  int line;
  bool failed;
} raw_listing;

static void raw_fail(raw_listing *l, const char *what) {
  if (!l->failed) fprintf(stderr, "line %d of the listing: %s\n", l->line, what);
  l->failed = true;
}

static const char *raw_name(raw_listing *l, const char *word) {
  return arena_copy_string(&l->program->arena, word, strlen(word));
}

static uint64_t raw_number(raw_listing *l, const char *word) {
  char *end;
  uint64_t value = strtoull(word, &end, 0);
  if (!*word || *end) raw_fail(l, "a number is expected");
  return value;
}

static uint32_t raw_type(raw_listing *l, const char *word) {
  if (word[0] == '#') return (uint32_t)raw_number(l, word + 1);
  if (!strcmp(word, "void")) return VYRE_VOID;
  vyre_type type = vyre_type_from_name(word);
  if (type == VYRE_VOID) raw_fail(l, "a type is expected");
  return type;
}

static uint32_t raw_arg(raw_listing *l, const char *word) {
  if (word[0] >= '0' && word[0] <= '9') return (uint32_t)raw_number(l, word);
  uint32_t number = (uint32_t)raw_number(l, *word ? word + 1 : word);
  switch (word[0]) {
  case '%': return number;
  case 'c': return REF_CONST | number;
  case 'b': return MEM_REF(MEM_BUFFER, number);
  case 's': return MEM_REF(MEM_SHARED, number);
  case 'a': return MEM_REF(MEM_PRIVATE, number);
  default: raw_fail(l, "an operand is expected"); return 0;
  }
}

static void raw_buffer(raw_listing *l) {
  buffer b = {.name = raw_name(l, l->words[1]), .type = (vyre_type)raw_type(l, l->words[2])};
  const char *access = l->words[3], *length = l->words[4];
  b.access = !strcmp(access, "read")    ? VYRE_READ
             : !strcmp(access, "write") ? VYRE_WRITE
                                        : VYRE_READWRITE;
  b.is_transient = !strcmp(length, "transient") || !strcmp(l->words[5], "transient");
  if (*length && strcmp(length, "transient") != 0) b.length = raw_arg(l, length);
  if (!vec_push(&l->buffers, b)) raw_fail(l, "out of memory");
}

static void raw_region(raw_listing *l) {
  uint32_t at = (uint32_t)l->code.count, shared = (uint32_t)l->shared.count;
  region r = {.name = raw_name(l, l->words[1]),
              .rank = (uint32_t)raw_number(l, l->words[2]),
              .grid_code = {at, at},
              .body = {at, at},
              .shared = {shared, shared}};
  for (int k = 0; k < 3; k++) {
    r.grid[k] = raw_arg(l, l->words[3 + k]);
    r.workgroup[k] = (uint32_t)raw_number(l, l->words[6 + k]);
  }
  l->in_body = false;
  if (!vec_push(&l->regions, r)) raw_fail(l, "out of memory");
}

// What the operations and shared arrays so far mean for the part that is being listed.
static void raw_extend(raw_listing *l) {
  uint32_t at = (uint32_t)l->code.count;
  if (!l->regions.count) {
    l->program->header.end = at;
    return;
  }
  region *r = &l->regions.at[l->regions.count - 1];
  if (!l->in_body) r->grid_code.end = r->body.first = at;
  r->body.end = at;
  r->shared.end = (uint32_t)l->shared.count;
}

static void raw_op(raw_listing *l, char **words) {
  inst in = {.type = (uint8_t)raw_type(l, words[2])};
  const char *name = words[1];
  in.op = (uint8_t)(name[0] == '#' ? raw_number(l, name + 1) : op_from_name(name, strlen(name)));
  for (int op = 1; op < OP_COUNT && !in.op; op++) {
    bool is_form = op_forms[op].name && !strcmp(op_forms[op].name, name);
    if (!is_form && strcmp(op_table[op].name, name)) continue;
    in.op = (uint8_t)op;
    in.promised_by = is_form;
  }
  if (!in.op && name[0] != '#') raw_fail(l, "an operation is expected");
  for (int k = 0; k < 4 && *words[3 + k]; k++) in.arg[k] = raw_arg(l, words[3 + k]);
  if (!vec_push(&l->code, in) || !vec_push(&l->names, NULL)) raw_fail(l, "out of memory");
}

static bool raw_tunable(raw_listing *l) {
  enum { FIRST = 4 };
  tunable t = {.name = raw_name(l, l->words[1]),
               .type = (vyre_type)raw_type(l, l->words[2]),
               .chosen = (uint32_t)raw_number(l, l->words[3])};
  uint64_t *values = arena_alloc_array(&l->program->arena, RAW_WORDS, sizeof *values);
  for (int i = FIRST; values && i < RAW_WORDS && *l->words[i]; i++)
    values[t.count++] = raw_number(l, l->words[i]);
  t.values = values;
  return values && vec_push(&l->tunables, t);
}

static bool raw_term(raw_listing *l) {
  const char *name = l->words[1];
  formula_term t = {.type = (uint8_t)raw_type(l, l->words[2])};
  if (!strcmp(name, "tunable")) {
    t.op = TERM_TUNABLE;
    t.tunable = (uint32_t)raw_number(l, l->words[3]);
  } else if (!strcmp(name, "number")) {
    t.bits = raw_number(l, l->words[3]);
  } else {
    t.op = (uint8_t)op_from_name(name, strlen(name));
  }
  return vec_push(&l->terms, t);
}

static bool raw_use(raw_listing *l) {
  uint32_t numbers[5];
  for (int i = 0; i < 5; i++) numbers[i] = (uint32_t)raw_number(l, l->words[1 + i]);
  tunable_use u = {numbers[0], numbers[1], numbers[2], {numbers[3], numbers[4]}};
  return vec_push(&l->uses, u);
}

static void raw_where(raw_listing *l) {
  uint64_t number = raw_number(l, l->words[1]);
  if (number >= l->tunables.count) {
    raw_fail(l, "no such tunable");
    return;
  }
  l->tunables.at[number].where =
      (range){(uint32_t)raw_number(l, l->words[2]), (uint32_t)raw_number(l, l->words[3])};
}

static void raw_line(raw_listing *l) {
  const char *first = l->words[0];
  bool ok = true;
  if (!strcmp(first, "program")) {
    l->program->name = raw_name(l, l->words[1]);
    l->program->fast_ulp = *l->words[2] ? (uint32_t)raw_number(l, l->words[2]) : 0;
  } else if (!strcmp(first, "lowered")) {
    static const lower_target nothing = {.name = "nothing"};
    l->program->target = &nothing;
  } else if (!strcmp(first, "param")) {
    param p = {raw_name(l, l->words[1]), (vyre_type)raw_type(l, l->words[2])};
    ok = vec_push(&l->params, p);
  } else if (!strcmp(first, "buffer")) {
    raw_buffer(l);
  } else if (!strcmp(first, "const")) {
    constant c = {.type = raw_type(l, l->words[1]), .bits = raw_number(l, l->words[2])};
    ok = vec_push(&l->consts, c);
  } else if (!strcmp(first, "region")) {
    raw_region(l);
  } else if (!strcmp(first, "body")) {
    l->in_body = true;
  } else if (!strcmp(first, "shared")) {
    shared_array s = {raw_name(l, l->words[1]), (vyre_type)raw_type(l, l->words[2]),
                      (uint32_t)raw_number(l, l->words[3]), (uint32_t)l->regions.count - 1};
    ok = vec_push(&l->shared, s);
  } else if (!strcmp(first, "op")) {
    raw_op(l, l->words);
  } else if (!strcmp(first, "repeat")) {
    for (uint64_t n = raw_number(l, l->words[1]); n > 0 && !l->failed; n--) raw_op(l, l->words + 2);
  } else if (!strcmp(first, "name")) {
    uint64_t index = raw_number(l, l->words[1]);
    if (index < l->names.count)
      l->names.at[index] = raw_name(l, l->words[2]);
    else
      raw_fail(l, "no such operation");
  } else if (!strcmp(first, "tunable")) {
    ok = raw_tunable(l);
  } else if (!strcmp(first, "term")) {
    ok = raw_term(l);
  } else if (!strcmp(first, "where")) {
    raw_where(l);
  } else if (!strcmp(first, "use")) {
    ok = raw_use(l);
  } else {
    raw_fail(l, "unknown record");
  }
  if (!ok) raw_fail(l, "out of memory");
  raw_extend(l);
}

static void raw_read(raw_listing *l, char *text) {
  static char nothing[1] = "";
  for (char *line = text, *next; line && !l->failed; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    l->line++;
    int count = 0;
    for (int i = 0; i < RAW_WORDS; i++) l->words[i] = nothing;
    char *rest = NULL;
    for (char *w = strtok_r(line, " \t\r", &rest); w && count < RAW_WORDS;
         w = strtok_r(NULL, " \t\r", &rest))
      l->words[count++] = w;
    if (count && strncmp(l->words[0], "//", 2) != 0) raw_line(l);
  }
}

static void *raw_keep(raw_listing *l, const void *from, size_t count, size_t size) {
  void *to = arena_alloc_array(&l->program->arena, count, size);
  if (!to) raw_fail(l, "out of memory");
  return to && count ? memcpy(to, from, count * size) : to;
}

#define RAW_TAKE(to, count_to, v)                                                                  \
  ((to) = raw_keep(l, (v)->at, (v)->count, sizeof *(v)->at), (count_to) = (uint32_t)(v)->count,    \
   vec_free(v))

static void raw_finish(raw_listing *l) {
  vyre_program *p = l->program;
  RAW_TAKE(p->params, p->param_count, &l->params);
  RAW_TAKE(p->buffers, p->buffer_count, &l->buffers);
  RAW_TAKE(p->consts, p->const_count, &l->consts);
  RAW_TAKE(p->regions, p->region_count, &l->regions);
  RAW_TAKE(p->shared, p->shared_count, &l->shared);
  RAW_TAKE(p->code, p->code_count, &l->code);
  RAW_TAKE(p->names, p->code_count, &l->names); // as many as operations
  RAW_TAKE(p->tunables, p->tunable_count, &l->tunables);
  RAW_TAKE(p->terms, p->term_count, &l->terms);
  RAW_TAKE(p->uses, p->use_count, &l->uses);
}

// `text` is cut into words in place.
static vyre_program *raw_parse(char *text) {
  raw_listing listing = {.program = program_new()}, *l = &listing;
  if (!l->program) return NULL;
  l->program->name = "";
  l->program->header = (range){1, 1};
  if (!vec_push(&l->code, (inst){0}) || !vec_push(&l->names, NULL)) raw_fail(l, "out of memory");
  raw_read(l, text);
  raw_finish(l);
  if (!l->failed) return l->program;
  vyre_program_release(l->program);
  return NULL;
}

#endif
