// SPDX-License-Identifier: MIT
#include "policy/space_draft.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "ir/text_literal.h"
#include "ir/tunable.h"

#include <string.h>

static vyre_status no_values(text_piece name, vyre_error *error) {
  return error_set(error, VYRE_ERROR_SYNTAX,
                   "`%.*s` is no tunable. Fix: give a name and values, such as TILE=4,8,16",
                   (int)name.size, name.at);
}

bool space_draft_is_name(text_piece p) {
  bool ok = p.size && !ascii_is_digit(p.at[0]);
  for (size_t i = 0; i < p.size && ok; i++) ok = ascii_is_word(p.at[i]);
  return ok;
}

// ---- words and sources --------------------------------------------------------------------------

// A name, and values between commas.
static vyre_status add_param(space_draft *d, text_piece name, text_piece values) {
  if (!space_draft_is_name(name) || !values.size) return no_values(name, d->error);
  uint32_t param = d->space->param_count, index;
  vyre_status status = space_add_param(d->space, name.at, name.size, d->error);
  for (const char *at = values.at, *end = at + values.size; status == VYRE_OK && at <= end;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    text_piece value = text_piece_trim(at, (size_t)((comma ? comma : end) - at));
    if (!value.size) return no_values(name, d->error);
    status = space_add_value(d->space, param, value.at, value.size, &index, d->error);
    at = comma ? comma + 1 : end + 1;
  }
  return status;
}

vyre_status space_draft_given(space_draft *d, const char *given) {
  const char *equals = strchr(given, '=');
  if (!equals) return no_values((text_piece){given, strlen(given)}, d->error);
  return add_param(d, text_piece_trim(given, (size_t)(equals - given)),
                   text_piece_trim(equals + 1, strlen(equals + 1)));
}

vyre_status space_draft_where(space_draft *d, text_piece where) {
  return vec_push(&d->wheres, where) ? VYRE_OK : error_out_of_memory(d->error);
}

vyre_status space_draft_source(space_draft *d, const char *text, size_t size) {
  text_piece rest = {text, size};
  declared_tunable t;
  vyre_status status = VYRE_OK;
  while (status == VYRE_OK && declared_next(&rest, &t)) {
    if (!t.is_whole) return no_values(t.line, d->error);
    if (t.where.size) status = space_draft_where(d, t.where);
    if (status == VYRE_OK) status = add_param(d, t.name, t.values);
  }
  return status;
}

// ---- of a program -------------------------------------------------------------------------------

vyre_status space_draft_program(space_draft *d, const vyre_program *program) {
  vyre_status status = VYRE_OK;
  d->program = program;
  for (uint32_t i = 0; i < vyre_program_tunable_count(program) && status == VYRE_OK; i++) {
    vyre_tunable_info t = vyre_program_tunable(program, i);
    uint32_t param = d->space->param_count, index;
    status = space_add_param(d->space, t.name, strlen(t.name), d->error);
    for (uint32_t k = 0; k < t.count && status == VYRE_OK; k++) {
      strbuf text = {0};
      literal_print(&text, t.type, t.values[k], false);
      if (text.failed) status = error_out_of_memory(d->error);
      if (status == VYRE_OK)
        status = space_add_value(d->space, param, text.at, text.size, &index, d->error);
      strbuf_fini(&text);
    }
  }
  return status;
}

// Whether the program's own conditions hold. Tunables that are not in the space stay as they are.
typedef struct fit {
  const vyre_program *program;
  const space *space;
} fit;

static bool fits_program(void *context, const uint16_t *row) {
  const fit *f = context;
  uint32_t chosen[LIMIT_TUNABLES];
  for (uint32_t i = 0; i < f->program->tunable_count; i++) {
    const tunable *t = &f->program->tunables[i];
    int param = space_find_param(f->space, t->name, strlen(t->name));
    chosen[i] = t->chosen;
    if (param == SPACE_NONE) continue;
    const char *text = f->space->params[param].values[row[param]];
    int value = tunable_find_value(t, text, strlen(text));
    if (value < 0) return false;
    chosen[i] = (uint32_t)value;
  }
  return vyre_program_tunables_hold(f->program, chosen);
}

// ---- the space ----------------------------------------------------------------------------------

void space_draft_fini(space_draft *d) {
  vec_free(&d->wheres);
}

vyre_status space_draft_finish(space_draft *d) {
  vec(space_where) read = {0};
  vyre_status status = VYRE_OK;
  for (size_t i = 0; i < d->wheres.count && status == VYRE_OK; i++) {
    space_where where;
    text_piece w = d->wheres.at[i];
    status = space_read_where(d->space, w.at, w.size, &where, d->error);
    if (status == VYRE_OK && !vec_push(&read, where)) status = error_out_of_memory(d->error);
  }
  if (status == VYRE_OK)
    status =
        space_enumerate(d->space, read.at, (uint32_t)read.count, d->program ? fits_program : NULL,
                        &(fit){d->program, d->space}, d->error);
  for (size_t i = 0; i < read.count; i++) space_where_fini(&read.at[i]);
  vec_free(&read);
  space_draft_fini(d);
  return status;
}

vyre_status space_of_program(const vyre_program *program, space *out, vyre_error *error) {
  *out = (space){0};
  space_draft d = {.space = out, .error = error};
  const program_origin *origin = program->origin;
  vyre_status status = VYRE_OK;
  if (program->tunable_count)
    status = space_draft_program(&d, program);
  else if (origin)
    status = space_draft_source(&d, origin->text, origin->size);
  if (status == VYRE_OK && out->param_count)
    status = space_draft_finish(&d);
  else
    space_draft_fini(&d);
  if (status != VYRE_OK) space_fini(out);
  return status;
}
