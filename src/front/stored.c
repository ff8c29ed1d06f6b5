// SPDX-License-Identifier: MIT
#include "front/stored.h"

#include "base/error.h"
#include "base/vec.h"
#include "ir/text_check.h"
#include "ir/wire.h"

#include <stdlib.h>
#include <string.h>

// A source is one program, so an entry can only be that one.
static vyre_status check_entry(const front_source *source, const vyre_source_options *options,
                               vyre_program **program, vyre_error *error) {
  const char *name = vyre_program_name(*program);
  if (!options->entry || !strcmp(options->entry, name)) return VYRE_OK;
  error_set(error, VYRE_ERROR_BINDING,
            "`%.200s` holds the program `%.100s`, not `%.100s`. Fix: leave out `:%.100s`",
            source->name, name, options->entry, options->entry);
  vyre_program_release(*program);
  *program = NULL;
  return VYRE_ERROR_BINDING;
}

// ---- values of tunables -------------------------------------------------------------------------

typedef vec(tunable_given) givens;
typedef vec(const char *) folders;

// The next word of the build options, with its quotes and backslashes taken off in place; NULL at
// the end.
static char *next_word(char **at) {
  char *from = *at + strspn(*at, " \t\r\n"), *to = from, *word = from;
  bool is_quoted = false;
  if (!*from) return NULL;
  for (; *from && (is_quoted || !strchr(" \t\r\n", *from)); from++) {
    if (*from == '"')
      is_quoted = !is_quoted;
    else
      *to++ = *from == '\\' && from[1] ? *++from : *from;
  }
  *at = *from ? from + 1 : from;
  *to = 0;
  return word;
}

// NAME=VALUE; a name alone is 1, as for a compiler.
static bool add_given(givens *g, const char *text) {
  size_t size = strcspn(text, "=");
  const char *value = text[size] ? text + size + 1 : "1";
  return vec_push(g, (tunable_given){text, value, size, strlen(value)});
}

// -DNAME=VALUE and -D NAME=VALUE, and -IFOLDER where `in` is not NULL; other options mean nothing
// here. `words` is changed, and what is given points into it.
static bool find_given(char *words, givens *g, folders *in) {
  for (char *word; (word = next_word(&words));) {
    bool is_folder = in && !strncmp(word, "-I", 2);
    if (!is_folder && strncmp(word, "-D", 2) != 0) continue;
    const char *text = word[2] ? word + 2 : next_word(&words);
    if (text && is_folder && !vec_push(in, text)) return false;
    if (text && !is_folder && !add_given(g, text)) return false;
  }
  return true;
}

// ---- the languages ------------------------------------------------------------------------------

typedef struct telling {
  void (*mistake)(void *data, const vyre_error *error);
  void *data;
} telling;

static vyre_status read_text(const front_source *source, const vyre_source_options *options,
                             const telling *t, vyre_program **out, vyre_error *error) {
  givens g = {0};
  folders in = {0};
  char *words = strdup(options->build_options ? options->build_options : "");
  bool is_known = words && find_given(words, &g, &in);
  vyre_status status = is_known ? VYRE_OK : error_out_of_memory(error);
  if (is_known) {
    text_options asked = {.given = g.at,
                          .given_count = (uint32_t)g.count,
                          .folders = in.at,
                          .folder_count = (uint32_t)in.count,
                          .mistake = t ? t->mistake : NULL,
                          .data = t ? t->data : NULL};
    status = text_read(source->text, source->size, source->name, &asked, out, error);
  }
  vec_free(&g);
  vec_free(&in);
  free(words);
  return status;
}

static vyre_status from_text(const front_source *source, const vyre_source_options *options,
                             vyre_program **out, vyre_error *error) {
  vyre_status status = read_text(source, options, NULL, out, error);
  return status == VYRE_OK ? check_entry(source, options, out, error) : status;
}

static vyre_status check_text(const front_source *source, const vyre_source_options *options,
                              front_mistake *mistake, void *data, vyre_error *error) {
  vyre_program *made = NULL;
  telling t = {mistake, data};
  vyre_status status = read_text(source, options, &t, &made, error);
  if (status == VYRE_OK) status = check_entry(source, options, &made, error);
  vyre_program_release(made);
  return status;
}

// Gives a program that was read the values of the build options.
static vyre_status give(const vyre_source_options *options, vyre_program **program,
                        vyre_error *error) {
  if (!options->build_options) return VYRE_OK;
  givens g = {0};
  vyre_program *made = NULL;
  char *words = strdup(options->build_options);
  vyre_status status = words && find_given(words, &g, NULL) ? VYRE_OK : error_out_of_memory(error);
  if (status == VYRE_OK && g.count) {
    status = tunable_give(*program, g.at, (uint32_t)g.count, &made, error);
    vyre_program_release(*program);
    *program = made;
  }
  vec_free(&g);
  free(words);
  return status;
}

static vyre_status from_wire(const front_source *source, const vyre_source_options *options,
                             vyre_program **out, vyre_error *error) {
  vyre_status status = vyre_program_decode(source->text, source->size, out, error);
  if (status == VYRE_OK) status = give(options, out, error);
  return status == VYRE_OK ? check_entry(source, options, out, error) : status;
}

const front_language text_language = {
    .info = {.name = "text", .title = "text form", .suffixes = ".vyre"},
    .first_byte = -1,
    .program = from_text,
    .check = check_text,
};

const front_language wire_language = {
    .info = {.name = "wire", .title = "wire form", .suffixes = ".vyreb"},
    .first_byte = WIRE_FIRST_BYTE,
    .program = from_wire,
};
