// SPDX-License-Identifier: MIT
#include "icd/program.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

// One word, with quotes as in a shell, NUL-terminated in `room`; false at the end.
static bool next_word(const char **at, char *room, bool *is_broken) {
  const char *p = *at;
  char quote = 0;
  size_t size = 0;
  while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
  if (!*p) return false;
  for (; *p && (quote || !strchr(" \t\n\r", *p)); p++) {
    if (!quote && (*p == '"' || *p == '\''))
      quote = *p;
    else if (quote && *p == quote)
      quote = 0;
    else if (*p == '\\' && quote != '\'' && (p[1] == '"' || p[1] == '\\' || p[1] == ' '))
      room[size++] = *++p;
    else
      room[size++] = *p;
  }
  room[size] = 0;
  *is_broken |= quote != 0;
  *at = p;
  return true;
}

// Quoted, so that the frontend reads it back as one word.
static void put_word(strbuf *out, const char *word) {
  strbuf_puts(out, out->size ? " \"" : "\"");
  for (; *word; word++) {
    if (*word == '"' || *word == '\\') strbuf_putc(out, '\\');
    strbuf_putc(out, *word);
  }
  strbuf_putc(out, '"');
}

static bool is_one_of(const char *word, const char *const *list) {
  for (; *list; list++)
    if (!strcmp(word, *list)) return true;
  return false;
}

static bool is_standard(const char *word) {
  static const char *const all[] = {"-cl-std=CL1.0", "-cl-std=CL1.1", "-cl-std=CL1.2",
                                    "-cl-std=CL2.0", "-cl-std=CL3.0", NULL};
  return is_one_of(word, all);
}

static bool is_plain(const char *word) {
  static const char *const all[] = {"-cl-single-precision-constant",
                                    "-cl-denorms-are-zero",
                                    "-cl-fp32-correctly-rounded-divide-sqrt",
                                    "-cl-opt-disable",
                                    "-cl-strict-aliasing",
                                    "-cl-mad-enable",
                                    "-cl-no-signed-zeros",
                                    "-cl-unsafe-math-optimizations",
                                    "-cl-finite-math-only",
                                    "-cl-fast-relaxed-math",
                                    "-cl-uniform-work-group-size",
                                    "-cl-kernel-arg-info",
                                    NULL};
  return is_one_of(word, all);
}

static bool is_of_link(const char *word) {
  static const char *const all[] = {"-cl-denorms-are-zero",
                                    "-cl-no-signed-zeros",
                                    "-cl-no-signed-zeroes", // as OpenCL 1.2 spells it here
                                    "-cl-no-signed-zeroes", // so OpenCL 1.2 spells it
                                    "-cl-unsafe-math-optimizations",
                                    "-cl-finite-math-only",
                                    "-cl-fast-relaxed-math",
                                    "-cl-no-subgroup-ifp",
                                    NULL};
  return is_one_of(word, all);
}

static bool is_ignored(const char *word) {
  static const char *const all[] = {
      "-w", "-Werror", "-g", "-cl-no-subgroup-ifp", "-O0", "-O1", "-O2", "-O3", "-Wall", NULL};
  return is_one_of(word, all) || !strncmp(word, "-cl-nv-", 7);
}

// Whether the word is of a compilation; words with a value as their second take it.
static bool take_compile(const char *word, const char **at, char *room, bool *is_broken,
                         strbuf *all, strbuf *rest) {
  if (word[0] == '-' && word[1] && strchr("DUI", word[1])) {
    put_word(all, word);
    if (word[2]) return true;
    if (!next_word(at, room, is_broken)) return false;
    put_word(all, room);
    return true;
  }
  if (is_ignored(word)) return true;
  if (!strcmp(word, "-x")) // of an intermediate language, or clc
    return next_word(at, room, is_broken) && !strcmp(room, "clc");
  if (!is_standard(word) && !is_plain(word)) return false;
  put_word(all, word);
  put_word(rest, word);
  return true;
}

cl_int build_options_read(const char *text, bool is_link, build_options *out) {
  strbuf all = {0}, rest = {0};
  *out = (build_options){0};
  if (!text) text = "";
  if (!is_link) put_word(&rest, "-fpreprocessed"); // by then it is
  char *word = malloc(strlen(text) + 1), *room = malloc(strlen(text) + 1);
  bool is_broken = !word || !room, is_enabled = false;
  for (const char *at = text; !is_broken && next_word(&at, word, &is_broken);) {
    if (!is_link)
      is_broken |= !take_compile(word, &at, room, &is_broken, &all, &rest);
    else if (!strcmp(word, "-create-library"))
      out->is_library = true;
    else if (!strcmp(word, "-enable-link-options"))
      is_enabled = true;
    else
      is_broken |= !is_of_link(word);
  }
  is_broken |= is_link && is_enabled && !out->is_library;
  free(word);
  free(room);
  out->preprocess = strbuf_take(&all, NULL);
  out->read = strbuf_take(&rest, NULL);
  cl_int code = !word || !room || !out->preprocess || !out->read ? CL_OUT_OF_HOST_MEMORY
                : is_broken ? is_link ? CL_INVALID_LINKER_OPTIONS : CL_INVALID_BUILD_OPTIONS
                            : CL_SUCCESS;
  if (code != CL_SUCCESS) build_options_free(out);
  return code;
}

void build_options_free(build_options *o) {
  free(o->preprocess);
  free(o->read);
  *o = (build_options){0};
}
