// SPDX-License-Identifier: MIT
#include "cli/csv.h"

#include "base/ascii.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/number.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
  const char *at, *end;
  const char *name;
  vyre_type type;
  uint64_t line, rows, columns;
  vec(uint64_t) elements; // bits
  vyre_error *error;
} reader;

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static bool is_separator(char c) {
  return c == ',' || c == ';';
}

// The next field of a line, without blanks around it; false at its end.
static bool take_field(reader *r, const char *line_end, const char **field, size_t *size) {
  while (r->at < line_end && is_blank(*r->at)) r->at++;
  if (r->at == line_end) return false;
  *field = r->at;
  while (r->at < line_end && !is_separator(*r->at) && !is_blank(*r->at)) r->at++;
  *size = (size_t)(r->at - *field);
  while (r->at < line_end && is_blank(*r->at)) r->at++;
  if (r->at < line_end && is_separator(*r->at)) r->at++;
  return true;
}

// A heading has a letter where a number would begin; nan, inf, true and false are values.
static bool is_heading(const char *line, const char *end) {
  while (line < end && (is_blank(*line) || *line == '"')) line++;
  size_t left = (size_t)(end - line), word = 0;
  while (word < left && ascii_is_letter(line[word])) word++;
  static const char *const values[] = {"nan", "inf", "true", "false", "infinity"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (word == strlen(values[i]) && !memcmp(line, values[i], word)) return false;
  return word > 0;
}

static vyre_status read_field(reader *r, const char *field, size_t size) {
  char text[400]; // more digits than any value needs
  uint64_t bits;
  vyre_error why;
  if (size && size < sizeof text) {
    memcpy(text, field, size);
    text[size] = 0;
    if (number_read(text, r->type, &bits, &why) == VYRE_OK)
      return vec_push(&r->elements, bits) ? VYRE_OK : error_out_of_memory(r->error);
  }
  int shown = size < 40 ? (int)size : 40;
  return error_set(r->error, VYRE_ERROR_BINDING,
                   "`%s`, line %llu: `%.*s` is no %s. Fix: write numbers with commas between them, "
                   "or another type in the program",
                   r->name, (unsigned long long)r->line, shown, field, vyre_type_name(r->type));
}

static vyre_status read_line(reader *r, const char *line_end) {
  const char *field;
  size_t size;
  uint64_t before = r->elements.count;
  while (take_field(r, line_end, &field, &size)) {
    vyre_status status = read_field(r, field, size);
    if (status != VYRE_OK) return status;
  }
  uint64_t columns = r->elements.count - before;
  if (!columns) return VYRE_OK;
  if (!r->rows) r->columns = columns;
  r->rows++;
  if (columns == r->columns) return VYRE_OK;
  return error_set(r->error, VYRE_ERROR_BINDING,
                   "`%s`, line %llu has %llu numbers, and the lines before it %llu. Fix: give all "
                   "rows as many",
                   r->name, (unsigned long long)r->line, (unsigned long long)columns,
                   (unsigned long long)r->columns);
}

static vyre_status read_lines(reader *r) {
  for (const char *next; r->at < r->end; r->at = next) {
    const char *line_end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (!line_end) line_end = r->end;
    next = line_end + (line_end < r->end);
    r->line++;
    if (r->line == 1 && is_heading(r->at, line_end)) continue;
    vyre_status status = read_line(r, line_end);
    if (status != VYRE_OK) return status;
  }
  return VYRE_OK;
}

vyre_status csv_decode(const char *text, size_t size, const char *name, vyre_type type,
                       npy_array *out, vyre_error *error) {
  reader r = {.at = text, .end = text + size, .name = name, .type = type, .error = error};
  *out = (npy_array){0};
  if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) r.at += 3; // byte order mark
  vyre_status status = read_lines(&r);
  if (status == VYRE_OK) {
    out->type = type;
    out->count = r.elements.count;
    bool is_flat = r.rows <= 1 || r.columns == 1;
    out->rank = is_flat ? 1 : 2;
    out->shape[0] = is_flat ? out->count : r.rows;
    if (!is_flat) out->shape[1] = r.columns;
    out->storage = out->data = calloc(out->count + 1, vyre_type_size(type));
    if (!out->data) status = error_out_of_memory(error);
    for (size_t i = 0; out->data && i < r.elements.count; i++)
      number_store(type, out->data, i, r.elements.at[i]);
  }
  vec_free(&r.elements);
  return status;
}

void csv_encode(vyre_type type, uint32_t rank, const uint64_t *shape, const void *data,
                strbuf *out) {
  uint64_t count = 1, columns = rank > 1 ? shape[rank - 1] : 1;
  for (uint32_t k = 0; k < rank; k++) count *= shape[k];
  for (uint64_t i = 0; i < count && !out->failed; i++) {
    char text[NUMBER_TEXT];
    number_show(type, number_load(type, data, i), text);
    strbuf_puts(out, text);
    strbuf_putc(out, (i + 1) % columns ? ',' : '\n');
  }
}
