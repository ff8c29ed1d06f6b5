// SPDX-License-Identifier: MIT
#include "cli/cli.h"

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_exit_code(vyre_status status) {
  switch (status) {
  case VYRE_OK: return EXIT_FINE;
  case VYRE_ERROR_ARGUMENT: return EXIT_USAGE;
  case VYRE_ERROR_UNSUPPORTED:
  case VYRE_ERROR_BACKEND:
  case VYRE_ERROR_MEMORY:
  case VYRE_ERROR_IO: return EXIT_ENVIRONMENT;
  default: return EXIT_INPUT;
  }
}

static void add_clean(strbuf *out, const char *text) {
  for (size_t left = strlen(text); left;) {
    size_t length = utf8_length(text, left), step = length ? length : 1;
    unsigned char first = (unsigned char)text[0], second = length > 1 ? (unsigned char)text[1] : 0;
    bool control = (first < 32 && first != '\n' && first != '\t') || first == 127 ||
                   (first == 0xc2 && second < 0xa0); // the last: C1 controls
    if (!length || control)
      strbuf_putc(out, '?');
    else
      strbuf_add(out, text, length);
    text += step, left -= step;
  }
}

json_t *cli_text(const char *text) {
  strbuf clean = {0};
  add_clean(&clean, text ? text : "");
  json_t *value = json_stringn(clean.at ? clean.at : "", clean.size);
  strbuf_fini(&clean);
  return value;
}

void cli_note(const vyre_error *note) {
  strbuf clean = {0};
  add_clean(&clean, note->message);
  fprintf(stderr, "vyre: note: %.*s\n", (int)clean.size, clean.at ? clean.at : "");
  strbuf_fini(&clean);
}

static void take_note(void *context, const vyre_error *note) {
  (void)context;
  cli_note(note);
}

note_sink cli_notes(void) {
  return (note_sink){take_note, NULL};
}

// Where the advice of a message begins; its end when there is none.
static size_t fix_offset(const char *message) {
  const char *fix = strstr(message, "Fix:");
  return fix ? (size_t)(fix - message) : strlen(message);
}

static size_t without_blanks_at_end(const char *text, size_t size) {
  while (size && text[size - 1] == ' ') size--;
  return size;
}

json_t *cli_error_json(const vyre_error *e) {
  json_t *o = json_object();
  json_object_set_new(o, "status", json_string(vyre_status_name(e->status)));
  if (e->code[0]) json_object_set_new(o, "code", cli_text(e->code));
  if (e->file[0]) json_object_set_new(o, "file", cli_text(e->file));
  if (e->line) {
    json_object_set_new(o, "line", json_integer(e->line));
    json_object_set_new(o, "column", json_integer(e->column));
  }
  size_t at = fix_offset(e->message);
  char what[sizeof e->message];
  snprintf(what, sizeof what, "%.*s", (int)without_blanks_at_end(e->message, at), e->message);
  json_object_set_new(o, "message", cli_text(what));
  if (e->message[at]) {
    const char *fix = e->message + at + strlen("Fix:");
    json_object_set_new(o, "fix", cli_text(fix + strspn(fix, " ")));
  }
  if (e->excerpt[0]) json_object_set_new(o, "excerpt", cli_text(e->excerpt));
  return o;
}

static void add_excerpt(strbuf *out, const char *excerpt) {
  strbuf_puts(out, "  ");
  for (; *excerpt; excerpt++) {
    char c[] = {*excerpt, 0};
    add_clean(out, c);
    if (*excerpt == '\n') strbuf_puts(out, "  ");
  }
  strbuf_putc(out, '\n');
}

static void add_error(strbuf *out, const char *kind, const vyre_error *e, bool color) {
  const char *red = color ? "\033[1;31m" : "", *green = color ? "\033[32m" : "";
  const char *plain = color ? "\033[0m" : "";
  char what[sizeof e->message];
  size_t at = fix_offset(e->message);
  snprintf(what, sizeof what, "%.*s", (int)without_blanks_at_end(e->message, at), e->message);
  add_clean(out, e->file[0] ? e->file : "vyre");
  if (e->line) strbuf_printf(out, ":%u:%u", e->line, e->column);
  strbuf_printf(out, ": %s%s%s", red, kind, plain);
  if (e->code[0]) strbuf_printf(out, "[%s]", e->code);
  strbuf_puts(out, ": ");
  add_clean(out, what);
  strbuf_putc(out, '\n');
  if (e->excerpt[0]) add_excerpt(out, e->excerpt);
  if (!e->message[at]) return;
  strbuf_printf(out, "%sFix:%s", green, plain);
  add_clean(out, e->message + at + strlen("Fix:"));
  strbuf_putc(out, '\n');
}

void cli_finding(const cli *c, const char *kind, const vyre_error *e) {
  strbuf out = {0};
  add_error(&out, kind, e, c->color);
  if (out.at) fwrite(out.at, 1, out.size, stderr);
  strbuf_fini(&out);
}

int cli_error(const cli *c, const vyre_error *e) {
  if (c->json) {
    json_t *o = json_object();
    json_object_set_new(o, "error", cli_error_json(e));
    cli_json(o);
  } else {
    cli_finding(c, "error", e);
  }
  return cli_exit_code(e->status);
}

int cli_usage(const cli *c, const char *format, ...) {
  vyre_error error;
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (strstr(text, "Fix:"))
    error_set(&error, VYRE_ERROR_ARGUMENT, "%s", text);
  else
    error_set(&error, VYRE_ERROR_ARGUMENT, "%s. Fix: see `vyre help%s%s`", text,
              c->command ? " " : "", c->command ? c->command->name : "");
  return cli_error(c, &error);
}

int cli_json(json_t *value) {
  int bad = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(value);
  return bad ? EXIT_ENVIRONMENT : EXIT_FINE;
}
