// SPDX-License-Identifier: MIT
//
// A language server over standard input and output: messages of JSON-RPC with a Content-Length. It
// answers one message after the other; a text is read again at each change, which takes less than a
// key press for any that a person writes.
#include "base/ascii.h"
#include "base/strbuf.h"
#include "cli/args.h"
#include "cli/lsp_document.h"
#include "ir/text_format.h"
#include "ir/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_MESSAGE = 64 << 20, // bytes
  PARSE_ERROR = -32700,
  UNKNOWN_METHOD = -32601,
  NOT_READY = -32002,
};

typedef struct server {
  vec(document *) documents;
  bool is_ready, is_shut, has_ended;
} server;

// ---- messages -----------------------------------------------------------------------------------

// NULL at the end of the input, or when what comes is no message.
static char *read_message(FILE *in, size_t *size) {
  char line[256];
  size_t length = 0;
  bool has_length = false;
  while (fgets(line, sizeof line, in)) {
    if (!strcmp(line, "\r\n") || !strcmp(line, "\n")) {
      if (!has_length) return NULL;
      char *text = length <= MOST_MESSAGE ? malloc(length + 1) : NULL;
      if (text && fread(text, 1, length, in) == length) {
        text[length] = 0;
        *size = length;
        return text;
      }
      free(text);
      return NULL;
    }
    unsigned long long given;
    if (sscanf(line, "Content-Length: %llu", &given) == 1) {
      length = given <= MOST_MESSAGE ? (size_t)given : MOST_MESSAGE + 1;
      has_length = true;
    }
  }
  return NULL;
}

// Takes the message.
static void send_message(json_t *message) {
  json_object_set_new(message, "jsonrpc", json_string("2.0"));
  char *text = json_dumps(message, JSON_COMPACT);
  if (text) printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  fflush(stdout);
  free(text);
  json_decref(message);
}

static void reply(const json_t *id, json_t *result) {
  json_t *message = json_object();
  json_object_set(message, "id", (json_t *)id);
  json_object_set_new(message, "result", result ? result : json_null());
  send_message(message);
}

static void reply_error(const json_t *id, int code, const char *text) {
  json_t *message = json_object();
  if (id)
    json_object_set(message, "id", (json_t *)id);
  else
    json_object_set_new(message, "id", json_null());
  json_object_set_new(message, "error", json_pack("{s:i,s:s}", "code", code, "message", text));
  send_message(message);
}

static void publish(const document *d, bool is_closed) {
  json_t *list = is_closed ? json_array() : json_incref(d->diagnostics);
  send_message(json_pack("{s:s,s:{s:s,s:o}}", "method", "textDocument/publishDiagnostics", "params",
                         "uri", d->uri, "diagnostics", list));
}

// ---- documents ----------------------------------------------------------------------------------

static const char *uri_of(const json_t *params) {
  return json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
}

static document *find_document(const server *s, const json_t *params) {
  const char *uri = uri_of(params);
  for (size_t i = 0; uri && i < s->documents.count; i++)
    if (!strcmp(s->documents.at[i]->uri, uri)) return s->documents.at[i];
  return NULL;
}

static void open_document(server *s, const json_t *params) {
  const json_t *text = json_object_get(json_object_get(params, "textDocument"), "text");
  document *d = find_document(s, params);
  if (!uri_of(params) || !json_is_string(text)) return;
  const char *value = json_string_value(text);
  size_t size = json_string_length(text);
  if (d) {
    document_set_text(d, value, size);
  } else {
    d = document_new(uri_of(params), value, size);
    if (d && !vec_push(&s->documents, d)) {
      document_free(d);
      d = NULL;
    }
  }
  if (d) publish(d, false);
}

// The whole text comes with each change: the last one counts.
static void change_document(server *s, const json_t *params) {
  document *d = find_document(s, params);
  const json_t *changes = json_object_get(params, "contentChanges");
  size_t count = json_array_size(changes);
  const json_t *text = count ? json_object_get(json_array_get(changes, count - 1), "text") : NULL;
  if (!d || !json_is_string(text)) return;
  document_set_text(d, json_string_value(text), json_string_length(text));
  publish(d, false);
}

static void close_document(server *s, const json_t *params) {
  document *d = find_document(s, params);
  if (!d) return;
  publish(d, true);
  for (size_t i = 0; i < s->documents.count; i++)
    if (s->documents.at[i] == d) s->documents.at[i] = s->documents.at[--s->documents.count];
  document_free(d);
}

// ---- what is asked ------------------------------------------------------------------------------

static size_t asked_offset(const document *d, const json_t *params) {
  const json_t *position = json_object_get(params, "position");
  json_int_t line = json_integer_value(json_object_get(position, "line"));
  json_int_t character = json_integer_value(json_object_get(position, "character"));
  return document_offset(d, line > 0 ? (size_t)line : 0, character > 0 ? (size_t)character : 0);
}

static void put_type(strbuf *s, const text_mark *m) {
  if (m->type == VYRE_VOID) return;
  strbuf_printf(s, "%s%s", !strcmp(m->what, "fn") ? " -> " : ": ",
                vyre_type_name((vyre_type)m->type));
  if (m->lanes > 1) strbuf_printf(s, "x%u", m->lanes);
  if (!strcmp(m->what, "buffer") || !strcmp(m->what, "array")) strbuf_puts(s, "[]");
}

static json_t *hover_text(strbuf *s) {
  char *text = strbuf_take(s, NULL);
  json_t *made =
      text ? json_pack("{s:{s:s,s:s}}", "contents", "kind", "markdown", "value", text) : NULL;
  free(text);
  return made;
}

// An operation is told by its row in the table.
static json_t *hover_operation(const document *d, size_t offset) {
  size_t begin = offset, end = offset;
  while (begin && ascii_is_word(d->text[begin - 1])) begin--;
  while (end < d->size && ascii_is_word(d->text[end])) end++;
  vyre_op op = op_from_name(d->text + begin, end - begin);
  if (op == VYRE_OP_NONE || begin == end) return NULL;
  strbuf s = {0};
  strbuf_printf(&s, "`%s`: %s", op_table[op].name, op_table[op].doc);
  return hover_text(&s);
}

static json_t *answer_hover(const document *d, const json_t *params) {
  size_t offset = asked_offset(d, params);
  const document_mark *found = document_find(d, offset);
  if (!d->is_text) return NULL;
  if (!found) return hover_operation(d, offset);
  const text_mark *m = &found->mark;
  strbuf s = {0};
  strbuf_printf(&s, "```vyre\n%s %.*s", m->what, (int)m->size, d->text + m->offset);
  put_type(&s, m);
  strbuf_puts(&s, "\n```");
  json_t *made = hover_text(&s);
  if (made) json_object_set_new(made, "range", document_range(d, m->offset, m->offset + m->size));
  return made;
}

static json_t *answer_definition(const document *d, const json_t *params) {
  const document_mark *found = document_find(d, asked_offset(d, params));
  if (!found) return NULL;
  if (!found->file)
    return json_pack(
        "{s:s,s:o}", "uri", d->uri, "range",
        document_range(d, found->mark.declared, found->mark.declared + found->mark.size));
  char *path = realpath(found->file, NULL);
  strbuf uri = {0};
  strbuf_printf(&uri, "file://%s", path ? path : found->file);
  free(path);
  char *text = strbuf_take(&uri, NULL);
  document *other = NULL;
  FILE *file = text ? fopen(found->file, "rb") : NULL;
  strbuf content = {0};
  for (int c; file && content.size < MOST_MESSAGE && (c = getc(file)) != EOF;)
    strbuf_putc(&content, (char)c);
  if (file) fclose(file);
  if (content.size) other = document_new(text, content.at, content.size);
  json_t *made = other ? json_pack("{s:s,s:o}", "uri", text, "range",
                                   document_range(other, found->mark.declared,
                                                  found->mark.declared + found->mark.size))
                       : NULL;
  document_free(other);
  strbuf_fini(&content);
  free(text);
  return made;
}

static int symbol_kind(const char *what) {
  static const struct {
    const char *what;
    int kind;
  } kinds[] = {{"program", 2}, {"region", 6}, {"fn", 12}, {"buffer", 18}, {"const", 14}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kinds[i].what, what)) return kinds[i].kind;
  return 13;
}

static json_t *answer_symbols(const document *d) {
  json_t *list = json_array();
  for (size_t i = 0; i < d->marks.count; i++) {
    const text_mark *m = &d->marks.at[i].mark;
    if (!m->is_declaration || !m->is_global) continue;
    strbuf detail = {0};
    strbuf_puts(&detail, m->what);
    put_type(&detail, m);
    char *text = strbuf_take(&detail, NULL);
    json_array_append_new(
        list, json_pack("{s:o,s:s,s:i,s:o,s:o}", "name", json_stringn(d->text + m->offset, m->size),
                        "detail", text ? text : "", "kind", symbol_kind(m->what), "range",
                        document_range(d, m->offset, m->offset + m->size), "selectionRange",
                        document_range(d, m->offset, m->offset + m->size)));
    free(text);
  }
  return list;
}

static json_t *answer_format(const document *d) {
  strbuf out = {0};
  if (!d->is_text) return NULL;
  text_format(d->text, d->size, &out);
  size_t size;
  char *text = strbuf_take(&out, &size);
  json_t *edits = json_array();
  if (text && (size != d->size || memcmp(text, d->text, size) != 0))
    json_array_append_new(edits, json_pack("{s:o,s:o}", "range", document_range(d, 0, d->size),
                                           "newText", json_stringn(text, size)));
  free(text);
  return edits;
}

static json_t *answer_initialize(void) {
  return json_pack("{s:{s:i,s:b,s:b,s:b,s:b,s:s},s:{s:s,s:s}}", "capabilities", "textDocumentSync",
                   1, "hoverProvider", 1, "definitionProvider", 1, "documentSymbolProvider", 1,
                   "documentFormattingProvider", 1, "positionEncoding", "utf-16", "serverInfo",
                   "name", "vyre", "version", vyre_version());
}

// ---- the loop -----------------------------------------------------------------------------------

static void take_note(server *s, const char *method, const json_t *params) {
  if (!strcmp(method, "exit")) s->has_ended = true;
  if (!s->is_ready) return;
  if (!strcmp(method, "textDocument/didOpen")) open_document(s, params);
  if (!strcmp(method, "textDocument/didChange")) change_document(s, params);
  if (!strcmp(method, "textDocument/didClose")) close_document(s, params);
}

static void answer(server *s, const json_t *id, const char *method, const json_t *params) {
  const document *d = find_document(s, params);
  if (!strcmp(method, "initialize")) {
    s->is_ready = true;
    reply(id, answer_initialize());
  } else if (!s->is_ready || s->is_shut) {
    reply_error(id, NOT_READY, "the server was not asked to initialize, or was shut down");
  } else if (!strcmp(method, "shutdown")) {
    s->is_shut = true;
    reply(id, NULL);
  } else if (!strcmp(method, "textDocument/hover")) {
    reply(id, d ? answer_hover(d, params) : NULL);
  } else if (!strcmp(method, "textDocument/definition")) {
    reply(id, d ? answer_definition(d, params) : NULL);
  } else if (!strcmp(method, "textDocument/documentSymbol")) {
    reply(id, d ? answer_symbols(d) : NULL);
  } else if (!strcmp(method, "textDocument/formatting")) {
    reply(id, d ? answer_format(d) : NULL);
  } else {
    reply_error(id, UNKNOWN_METHOD, "this server has no such method");
  }
}

static void take_message(server *s, const char *text, size_t size) {
  json_t *message = json_loadb(text, size, 0, NULL);
  const char *method = json_string_value(json_object_get(message, "method"));
  const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
  if (!json_is_object(message))
    reply_error(NULL, PARSE_ERROR, "this is no message");
  else if (method && id)
    answer(s, id, method, params);
  else if (method)
    take_note(s, method, params);
  json_decref(message);
}

static int serve(void) {
  server s = {0};
  size_t size = 0;
  for (char *text; !s.has_ended && (text = read_message(stdin, &size)); free(text))
    take_message(&s, text, size);
  while (s.documents.count) document_free(s.documents.at[--s.documents.count]);
  vec_free(&s.documents);
  return s.is_shut ? EXIT_FINE : EXIT_INPUT;
}

static const args_option lsp_options[] = {{'s', "stdio", NULL}, {0, NULL, NULL}};

static int run(cli *c, int argc, char **argv) {
  args a = args_begin(c, lsp_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return EXIT_USAGE;
    if (letter != 's')
      return cli_usage(c, "`%s` is not needed. Fix: run `vyre lsp` alone", a.value);
  }
  return serve();
}

const command lsp_command = {
    "lsp", "serve an editor: mistakes, types, definitions, layout",
    "usage: vyre lsp [--stdio]\n"
    "\n"
    "A language server for .vyre and .cl files, over standard input and output. An editor starts "
    "it:\n"
    "editors/ has what vim and VS Code need. It tells every mistake of a text while it is "
    "written,\n"
    "the type of a name and what an operation does (hover), where a name is declared, what a text\n"
    "declares, and lays it out.\n"
    "\n"
    "options:\n"
    "  -s, --stdio   what it does anyway; some editors say so\n"
    "\n"
    "examples:\n"
    "  vyre lsp                             # in the settings of an editor\n",
    run};
