// SPDX-License-Identifier: MIT
#include "cli/opencl.h"

#include "base/error.h"
#include "cli/number.h"

#include <string.h>

// Quoted, so that the frontend reads it back as one word.
void opencl_add_option(opencl_words *w, const char *word) {
  strbuf_puts(&w->build, w->build.size ? " \"" : "\"");
  for (; *word; word++) {
    if (*word == '"' || *word == '\\') strbuf_putc(&w->build, '\\');
    strbuf_putc(&w->build, *word);
  }
  strbuf_putc(&w->build, '"');
}

bool opencl_take_local(opencl_words *w, char *word) {
  char *equals = strchr(word, '=');
  if (!equals || equals == word || strncmp(equals + 1, "local:", 6)) return false;
  const char *end;
  uint64_t bytes;
  if (!number_read_u64(equals + 7, &end, &bytes) || *end) return false;
  *equals = 0;
  vyre_opencl_local local = {word, bytes};
  if (!vec_push(&w->locals, local)) w->failed = true;
  return true;
}

bool opencl_take(opencl_words *w, const args *a, int letter, bool *ok) {
  uint64_t extents[3];
  *ok = true;
  if (letter == ARGS_BUILD) {
    opencl_add_option(w, a->value);
    return true;
  }
  if (letter == ARGS_WORD) return opencl_take_local(w, a->value);
  if (letter != OPENCL_WORKGROUP) return false;
  *ok = args_extents(a, "--workgroup", UINT32_MAX, 1, extents);
  for (int k = 0; k < 3 && *ok; k++) w->workgroup[k] = (uint32_t)extents[k];
  return true;
}

void opencl_free(opencl_words *w) {
  strbuf_fini(&w->build);
  vec_free(&w->locals);
  *w = (opencl_words){0};
}

// The build options as one text, malloc'ed; NULL when out of memory.
static char *build_text(const opencl_words *words) {
  strbuf build = {0};
  if (words && (words->failed || words->build.failed)) return NULL;
  if (words && words->build.size) strbuf_add(&build, words->build.at, words->build.size);
  return strbuf_take(&build, NULL);
}

vyre_status opencl_kernels(const char *text, size_t size, const char *path,
                           const opencl_words *words, vyre_opencl_kernel **out, uint32_t *count,
                           vyre_error *error) {
  char *build = build_text(words);
  if (!build) return error_out_of_memory(error);
  vyre_status status = vyre_opencl_kernels(text, size, path, build, out, count, error);
  free(build);
  return status;
}

vyre_status opencl_load(const char *text, size_t size, const char *path, const char *entry,
                        const opencl_words *words, vyre_program **out, vyre_error *error) {
  char *build = build_text(words);
  if (!build) return error_out_of_memory(error);
  vyre_opencl_options options = {.kernel = entry, .build_options = build};
  if (words) {
    memcpy(options.workgroup, words->workgroup, sizeof options.workgroup);
    options.rank = words->rank;
    options.locals = words->locals.at;
    options.local_count = (uint32_t)words->locals.count;
  }
  vyre_status status = vyre_program_from_opencl(text, size, path, &options, out, error);
  free(build);
  return status;
}
