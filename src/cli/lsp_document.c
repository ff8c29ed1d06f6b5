// SPDX-License-Identifier: MIT
#include "cli/lsp_document.h"

#include "base/ascii.h"
#include "base/strbuf.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

// ---- positions ----------------------------------------------------------------------------------

// UTF-16 units that a byte of UTF-8 begins.
static size_t units_of(unsigned char c) {
  return c >= 0xf0 ? 2 : (c & 0xc0) == 0x80 ? 0 : 1;
}

size_t document_offset(const document *d, size_t line, size_t character) {
  size_t at = 0;
  for (; line && at < d->size; at++) line -= d->text[at] == '\n';
  if (line) return d->size;
  while (at < d->size && d->text[at] != '\n' && character) {
    size_t units = units_of((unsigned char)d->text[at++]);
    character -= units < character ? units : character;
    while (at < d->size && ((unsigned char)d->text[at] & 0xc0) == 0x80) at++;
  }
  return at;
}

static json_t *position(const char *text, size_t size, size_t offset) {
  size_t line = 0, units = 0;
  if (offset > size) offset = size;
  for (size_t at = 0; at < offset; at++) {
    units += units_of((unsigned char)text[at]);
    if (text[at] == '\n') line++, units = 0;
  }
  return json_pack("{s:I,s:I}", "line", (json_int_t)line, "character", (json_int_t)units);
}

json_t *document_range(const document *d, size_t begin, size_t end) {
  return json_pack("{s:o,s:o}", "start", position(d->text, d->size, begin), "end",
                   position(d->text, d->size, end));
}

static unsigned hex_value(char c) {
  return ascii_is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

// The path of a file:// address, malloc'ed; the address itself when it is another.
static char *document_path(const char *uri) {
  strbuf s = {0};
  if (strncmp(uri, "file://", 7) != 0) return strdup(uri);
  for (const char *p = uri + 7; *p; p++) {
    bool is_code = *p == '%' && ascii_is_hex_digit(p[1]) && ascii_is_hex_digit(p[2]);
    if (is_code && (p[1] != '0' || p[2] != '0')) {
      strbuf_putc(&s, (char)(hex_value(p[1]) * 16 + hex_value(p[2])));
      p += 2;
    } else {
      strbuf_putc(&s, *p);
    }
  }
  return strbuf_take(&s, NULL);
}

// ---- reading ------------------------------------------------------------------------------------

// From a place to the end of the word that stands there.
static size_t word_end(const document *d, size_t at) {
  size_t end = at;
  while (end < d->size && (ascii_is_word(d->text[end]) || d->text[end] == '.')) end++;
  if (end == at && at < d->size && d->text[at] != '\n') end++;
  return end;
}

static void add_mistake(void *data, const vyre_error *e) {
  document *d = data;
  strbuf message = {0};
  bool is_here = !e->file[0] || !strcmp(e->file, d->path);
  size_t begin = 0;
  if (!is_here) strbuf_printf(&message, "%s:%u: ", e->file, e->line);
  strbuf_puts(&message, e->message);
  for (uint32_t line = 1; is_here && line < e->line && begin < d->size; begin++)
    line += d->text[begin] == '\n';
  if (is_here && e->column) begin += e->column - 1;
  char *text = strbuf_take(&message, NULL);
  json_t *o = json_pack("{s:o,s:i,s:s,s:o}", "range",
                        document_range(d, begin, is_here ? word_end(d, begin) : begin), "severity",
                        1, "source", "vyre", "message", cli_text(text ? text : ""));
  if (e->code[0]) json_object_set_new(o, "code", json_string(e->code));
  json_array_append_new(d->diagnostics, o);
  free(text);
}

static void add_mark(void *data, const text_mark *m) {
  document *d = data;
  document_mark made = {*m, m->declared_file ? strdup(m->declared_file) : NULL};
  made.mark.declared_file = made.file;
  if (!vec_push(&d->marks, made)) free(made.file);
}

static void forget(document *d) {
  for (size_t i = 0; i < d->marks.count; i++) free(d->marks.at[i].file);
  d->marks.count = 0;
  json_decref(d->diagnostics);
  d->diagnostics = json_array();
}

static void read_again(document *d) {
  vyre_error error;
  forget(d);
  if (d->is_text) {
    vyre_program *made = NULL;
    text_options asked = {.mistake = add_mistake, .mark = add_mark, .data = d};
    text_read(d->text, d->size, d->path, &asked, &made, &error);
    vyre_program_release(made);
    return;
  }
  vyre_status status =
      vyre_source_check(d->language, d->text, d->size, d->path, NULL, add_mistake, d, &error);
  // A machine without clang has nothing to say about the file.
  if (status == VYRE_ERROR_UNSUPPORTED || status == VYRE_ERROR_IO) forget(d);
}

bool document_set_text(document *d, const char *text, size_t size) {
  char *copy = malloc(size + 1);
  if (!copy) return false;
  memcpy(copy, text, size);
  copy[size] = 0;
  free(d->text);
  d->text = copy;
  d->size = size;
  read_again(d);
  return true;
}

document *document_new(const char *uri, const char *text, size_t size) {
  document *d = calloc(1, sizeof *d);
  if (!d) return NULL;
  d->uri = strdup(uri);
  d->path = document_path(uri);
  if (d->path) d->language = vyre_language_guess(d->path, NULL, 0);
  d->is_text = d->language && !strcmp(d->language, "text");
  if (d->uri && d->path && document_set_text(d, text, size)) return d;
  document_free(d);
  return NULL;
}

void document_free(document *d) {
  if (!d) return;
  forget(d);
  json_decref(d->diagnostics);
  vec_free(&d->marks);
  free(d->uri);
  free(d->path);
  free(d->text);
  free(d);
}

const document_mark *document_find(const document *d, size_t offset) {
  for (size_t i = 0; i < d->marks.count; i++) {
    const text_mark *m = &d->marks.at[i].mark;
    if (offset >= m->offset && offset <= m->offset + m->size) return &d->marks.at[i];
  }
  return NULL;
}
