// SPDX-License-Identifier: MIT
#include "front/origin.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "front/declared.h"
#include "ir/limits.h"
#include "ir/tunable.h"

#include <stdlib.h>
#include <string.h>

// ---- keeping ------------------------------------------------------------------------------------

// Copies into the arena; `failed` is set when there is no memory.
typedef struct copier {
  arena *memory;
  bool failed;
} copier;

static const char *copy_text(copier *c, const char *text, size_t size) {
  char *copy = text ? arena_copy_string(c->memory, text, size) : NULL;
  c->failed |= text && !copy;
  return copy;
}

static const char *copy_name(copier *c, const char *text) {
  return copy_text(c, text, text ? strlen(text) : 0);
}

static void copy_options(copier *c, const vyre_source_options *from, vyre_source_options *to) {
  *to = *from;
  to->entry = copy_name(c, from->entry);
  to->build_options = copy_name(c, from->build_options);
  vyre_source_local *locals = arena_alloc_array(c->memory, from->local_count + 1u, sizeof *locals);
  vyre_source_format *formats =
      arena_alloc_array(c->memory, from->format_count + 1u, sizeof *formats);
  c->failed |= !locals || !formats;
  for (uint32_t i = 0; locals && i < from->local_count; i++)
    locals[i] = (vyre_source_local){copy_name(c, from->locals[i].name), from->locals[i].size_bytes};
  for (uint32_t i = 0; formats && i < from->format_count; i++)
    formats[i] = (vyre_source_format){copy_name(c, from->formats[i].name),
                                      copy_name(c, from->formats[i].format)};
  to->locals = locals;
  to->formats = formats;
}

void origin_keep(vyre_program *program, const char *language, const front_source *source,
                 const vyre_source_options *options) {
  if (!declared_has_any(source->text, source->size)) return;
  copier c = {.memory = &program->arena};
  program_origin *o = arena_alloc(&program->arena, sizeof *o);
  if (!o) return;
  *o = (program_origin){.language = copy_name(&c, language),
                        .text = copy_text(&c, source->text, source->size),
                        .name = copy_name(&c, source->name),
                        .size = source->size};
  copy_options(&c, options, &o->options);
  if (!c.failed) program->origin = o;
}

// ---- configuring --------------------------------------------------------------------------------

// The next NAME=VALUE; false at the end, or where there is none.
static bool next_given(const char **text, tunable_given *out) {
  const char *at = *text + strspn(*text, " ");
  size_t name = strcspn(at, "= "), value;
  if (!name || at[name] != '=') return false;
  value = strcspn(at + name + 1, " ");
  *out = (tunable_given){at, at + name + 1, name, value};
  *text = at + name + 1 + value;
  return true;
}

static vyre_status configure_own(const vyre_program *p, const char *text, vyre_program **out,
                                 vyre_error *error) {
  tunable_given given[LIMIT_TUNABLES];
  uint32_t count = 0;
  while (count < LIMIT_TUNABLES && next_given(&text, &given[count])) count++;
  return tunable_give(p, given, count, out, error);
}

// What is defined later counts.
static vyre_status configure_source(const program_origin *o, const char *text, vyre_program **out,
                                    vyre_error *error) {
  strbuf words = {0};
  tunable_given g;
  strbuf_puts(&words, o->options.build_options ? o->options.build_options : "");
  while (next_given(&text, &g))
    strbuf_printf(&words, " -U%.*s -D%.*s=%.*s", (int)g.name_size, g.name, (int)g.name_size, g.name,
                  (int)g.value_size, g.value);
  char *build = strbuf_take(&words, NULL);
  if (!build) return error_out_of_memory(error);
  vyre_source_options options = o->options;
  options.build_options = build;
  vyre_status status =
      vyre_program_from(o->language, o->text, o->size, o->name, &options, out, error);
  free(build);
  return status;
}

vyre_status origin_configure(const vyre_program *p, const char *configuration, vyre_program **out,
                             vyre_error *error) {
  *out = NULL;
  if (p->tunable_count) return configure_own(p, configuration, out, error);
  if (p->origin) return configure_source(p->origin, configuration, out, error);
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "program `%s` has no tunables. Fix: declare some, or give no values", p->name);
}
