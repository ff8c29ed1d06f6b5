// SPDX-License-Identifier: MIT
#include "cli/source.h"

#include "base/error.h"
#include "cli/nearest.h"
#include "cli/number.h"

#include <stdlib.h>
#include <string.h>

// Quoted, so that the frontend reads it back as one word.
void source_add_option(source_words *w, const char *word) {
  strbuf_puts(&w->build, w->build.size ? " \"" : "\"");
  for (; *word; word++) {
    if (*word == '"' || *word == '\\') strbuf_putc(&w->build, '\\');
    strbuf_putc(&w->build, *word);
  }
  strbuf_putc(&w->build, '"');
}

// NAME=image:FORMAT or NAME=sampler:WORDS; what the frontend does not know it refuses itself.
static bool take_format(source_words *w, char *word, char *equals) {
  size_t size = !strncmp(equals + 1, "image:", 6) ? 6 : !strncmp(equals + 1, "sampler:", 8) ? 8 : 0;
  if (!size) return false;
  *equals = 0;
  vyre_source_format format = {word, equals + 1 + size};
  if (!vec_push(&w->formats, format)) w->failed = true;
  return true;
}

bool source_take_argument(source_words *w, char *word) {
  char *equals = strchr(word, '=');
  if (!equals || equals == word) return false;
  if (take_format(w, word, equals)) return true;
  if (strncmp(equals + 1, "local:", 6)) return false;
  const char *end;
  uint64_t bytes;
  if (!number_read_u64(equals + 7, &end, &bytes) || *end) return false;
  *equals = 0;
  vyre_source_local local = {word, bytes};
  if (!vec_push(&w->locals, local)) w->failed = true;
  return true;
}

vyre_language_info source_language(const char *name) {
  uint32_t i = 0;
  while (vyre_language(i).name && strcmp(vyre_language(i).name, name)) i++;
  return vyre_language(i);
}

static bool is_language(const args *a) {
  if (source_language(a->value).name) return true;
  nearest n = nearest_begin(a->value);
  strbuf all = {0};
  for (uint32_t i = 0; i < vyre_language_count(); i++) {
    nearest_offer(&n, vyre_language(i).name);
    strbuf_printf(&all, "%s%s", i ? ", " : "", vyre_language(i).name);
  }
  char *names = strbuf_take(&all, NULL);
  if (n.best)
    cli_usage(a->cli, "there is no language `%s`. Fix: did you mean `%s`?", a->value, n.best);
  else
    cli_usage(a->cli, "there is no language `%s`. Fix: use one of %s", a->value,
              names ? names : "those that the manual lists");
  free(names);
  return false;
}

bool source_take(source_words *w, const args *a, int letter, bool *ok) {
  uint64_t extents[3];
  *ok = true;
  if (letter == ARGS_BUILD) {
    source_add_option(w, a->value);
    return true;
  }
  if (letter == SOURCE_LANGUAGE) {
    w->language = a->value;
    *ok = is_language(a);
    return true;
  }
  if (letter == ARGS_WORD) return source_take_argument(w, a->value);
  if (letter != SOURCE_WORKGROUP) return false;
  *ok = args_extents(a, "--workgroup", UINT32_MAX, 1, extents);
  for (int k = 0; k < 3 && *ok; k++) w->workgroup[k] = (uint32_t)extents[k];
  return true;
}

void source_words_free(source_words *w) {
  strbuf_fini(&w->build);
  vec_free(&w->locals);
  vec_free(&w->formats);
  *w = (source_words){0};
}

// The build options as one text, malloc'ed; NULL when out of memory.
static char *build_text(const source_words *words) {
  strbuf build = {0};
  if (words && (words->failed || words->build.failed)) return NULL;
  if (words && words->build.size) strbuf_add(&build, words->build.at, words->build.size);
  return strbuf_take(&build, NULL);
}

static vyre_source_options options_of(const source_words *words, const char *entry,
                                      const char *build) {
  vyre_source_options options = {.entry = entry, .build_options = build};
  if (!words) return options;
  memcpy(options.workgroup, words->workgroup, sizeof options.workgroup);
  options.rank = words->rank;
  options.locals = words->locals.at;
  options.local_count = (uint32_t)words->locals.count;
  options.formats = words->formats.at;
  options.format_count = (uint32_t)words->formats.count;
  return options;
}

vyre_status source_each(const char *language, const char *text, size_t size, const char *path,
                        const source_words *words,
                        void (*visit)(void *data, const vyre_source_result *result), void *data,
                        vyre_error *error) {
  char *build = build_text(words);
  if (!build) return error_out_of_memory(error);
  vyre_source_options options = options_of(words, NULL, build);
  vyre_status status = vyre_source_each(language, text, size, path, &options, visit, data, error);
  free(build);
  return status;
}

vyre_status source_check(const char *language, const char *text, size_t size, const char *path,
                         const source_words *words,
                         void (*mistake)(void *data, const vyre_error *mistake), void *data,
                         vyre_error *error) {
  char *build = build_text(words);
  if (!build) return error_out_of_memory(error);
  vyre_source_options options = options_of(words, NULL, build);
  vyre_status status =
      vyre_source_check(language, text, size, path, &options, mistake, data, error);
  free(build);
  return status;
}

vyre_status source_load(const char *language, const char *text, size_t size, const char *path,
                        const char *entry, const source_words *words, vyre_program **out,
                        vyre_error *error) {
  char *build = build_text(words);
  if (!build) return error_out_of_memory(error);
  vyre_source_options options = options_of(words, entry, build);
  vyre_status status = vyre_program_from(language, text, size, path, &options, out, error);
  free(build);
  return status;
}
