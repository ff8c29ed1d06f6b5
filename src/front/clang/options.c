// SPDX-License-Identifier: MIT
//
// The build options of OpenCL, as clBuildProgram takes them.
#include "front/clang/preprocess.h"

#include <string.h>

static bool starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

// One word, with the quotes of a shell; NULL at the end.
static char *next_word(unit *u, const char **at) {
  const char *p = *at;
  while (*p == ' ' || *p == '\t' || *p == '\n') p++;
  if (!*p) return NULL;
  char *word = unit_alloc(u, strlen(p) + 1, 1), *out = word, quote = 0;
  for (; *p && (quote || (*p != ' ' && *p != '\t' && *p != '\n')); p++) {
    if (!quote && (*p == '"' || *p == '\''))
      quote = *p;
    else if (quote && *p == quote)
      quote = 0;
    else if (*p == '\\' && quote != '\'' && p[1])
      *out++ = *++p;
    else
      *out++ = *p;
  }
  if (quote)
    unit_fail(u, VYRE_ERROR_ARGUMENT, NO_PLACE,
              "a quote in the build options is not closed. Fix: close it");
  *at = p;
  return word;
}

static void add_option(unit *u, uint32_t *capacity, const char *word) {
  UNIT_PUSH(u, u->user_args, u->user_count, *capacity, word);
}

// Permissions for less exact arithmetic that are used: what `fast` of a program means.
static uint32_t fast_ulp_of(const char *word) {
  if (!strcmp(word, "-cl-mad-enable")) return 1;
  bool is_fast =
      !strcmp(word, "-cl-fast-relaxed-math") || !strcmp(word, "-cl-unsafe-math-optimizations");
  return is_fast ? 4 : 0;
}

// Other permissions, and what changes nothing here.
static bool is_ignored(const char *word) {
  static const char *const ignored[] = {
      "-g",
      "-w",
      "-Werror",
      "-cl-opt-disable",
      "-cl-no-signed-zeros",
      "-cl-finite-math-only",
      "-cl-denorms-are-zero",
      "-cl-fp32-correctly-rounded-divide-sqrt",
      "-cl-kernel-arg-info",
      "-cl-strict-aliasing",
      "-cl-uniform-work-group-size",
  };
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    if (!strcmp(word, ignored[i])) return true;
  return false;
}

void preprocess_options(unit *u, const char *build_options) {
  uint32_t capacity = 0;
  char *word;
  u->standard = NULL;
  u->is_preprocessed = false;
  u->fast_ulp = 0;
  while ((word = next_word(u, &build_options))) {
    if (starts_with(word, "-cl-std=")) {
      u->standard = word;
    } else if (fast_ulp_of(word)) {
      if (u->fast_ulp < fast_ulp_of(word)) u->fast_ulp = fast_ulp_of(word);
      if (!strcmp(word, "-cl-fast-relaxed-math"))
        add_option(u, &capacity, "-D__FAST_RELAXED_MATH__=1");
    } else if (!strcmp(word, "-fpreprocessed")) {
      u->is_preprocessed = true;
    } else if (is_ignored(word)) {
      continue;
    } else if (!strcmp(word, "-cl-single-precision-constant")) {
      add_option(u, &capacity, word);
    } else if (word[0] == '-' && strchr("DUI", word[1]) && word[1]) {
      if (!word[2]) {
        char *value = next_word(u, &build_options);
        if (!value)
          unit_fail(u, VYRE_ERROR_ARGUMENT, NO_PLACE,
                    "`%s` ends the build options. Fix: give it its value, as in %sname", word,
                    word);
        word = unit_printf(u, "%s%s", word, value);
      }
      add_option(u, &capacity, word);
    } else {
      unit_fail(u, VYRE_ERROR_ARGUMENT, NO_PLACE,
                "`%s` is no build option that is understood. Fix: use -D, -U, -I, -cl-std= and the "
                "-cl- options of OpenCL",
                word);
    }
  }
}
