// SPDX-License-Identifier: MIT
//
// An op's latest decision stands in its own table, where a reader that knows of one decision per op
// finds it; decisions for other devices and sizes follow in the array `also`, with the same fields.
#include "policy/route_text.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/toml.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FORMAT = 1 };

// ---- writing -----------------------------------------------------------------------------------

static void write_pair(strbuf *out, const char *key, const char *value) {
  if (!value) return;
  strbuf_printf(out, "%s = ", key);
  toml_write_string(out, value);
  strbuf_putc(out, '\n');
}

static void write_header(strbuf *out, const char *op_id, const char *rest) {
  strbuf_puts(out, "\n[[routes.");
  toml_write_key(out, op_id);
  strbuf_printf(out, "%s]]\n", rest);
}

static void write_date(strbuf *out, int64_t date) {
  struct tm t;
  time_t seconds = (time_t)date;
  char text[32];
  if (!date || !gmtime_r(&seconds, &t) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t))
    return;
  write_pair(out, "date", text);
}

static void write_fields(strbuf *out, const route_entry *e, bool is_also) {
  write_pair(out, "backend", e->backend);
  write_pair(out, "reason", e->reason);
  write_pair(out, "fingerprint", e->fingerprint);
  write_pair(out, "device", e->device);
  if (e->has_size_class) strbuf_printf(out, "size_class = %u\n", e->size_class);
  write_pair(out, "work", e->work);
  write_pair(out, "variant", e->variant);
  write_pair(out, "passes", e->passes);
  write_pair(out, "code", e->code);
  write_pair(out, "build", e->build);
  write_date(out, e->date);
  for (uint32_t i = 0; i < e->observation_count; i++) {
    write_header(out, e->op_id, is_also ? ".also.observations" : ".observations");
    write_pair(out, "backend", e->observations[i].backend);
    strbuf_printf(out, "latency_ns = %" PRIu64 "\n", e->observations[i].latency_ns);
  }
  for (uint32_t i = 0; i < e->rejection_count; i++) {
    write_header(out, e->op_id, is_also ? ".also.rejected" : ".rejected");
    write_pair(out, "backend", e->rejections[i].backend);
    write_pair(out, "reason", e->rejections[i].reason);
  }
}

static void write_main(strbuf *out, const route_entry *e) {
  strbuf_puts(out, "\n[routes.");
  toml_write_key(out, e->op_id);
  strbuf_puts(out, "]\n");
  // The original cannot read an entry without the list, be it empty.
  if (!e->observation_count) strbuf_puts(out, "observations = []\n");
  write_fields(out, e, false);
}

static void write_wrong(strbuf *out, const route_wrong *w) {
  strbuf_puts(out, "\n[[quarantine]]\n");
  write_pair(out, "code", w->code);
  write_pair(out, "op", w->op_id);
  write_pair(out, "variant", w->variant);
  write_pair(out, "device", w->device);
  write_pair(out, "reason", w->reason);
  write_date(out, w->date);
}

void route_text_write(strbuf *out, const route_table *table) {
  size_t count = route_table_count(table);
  strbuf_printf(out, "version = %d\n", FORMAT);
  for (size_t i = 0, end; i < count; i = end) {
    const route_entry *latest = route_table_at(table, i), *e;
    for (end = i + 1; end < count; end++) {
      e = route_table_at(table, end);
      if (strcmp(e->op_id, latest->op_id)) break;
      if (e->date > latest->date) latest = e;
    }
    write_main(out, latest);
    for (size_t k = i; k < end; k++) {
      e = route_table_at(table, k);
      if (e == latest) continue;
      write_header(out, e->op_id, ".also");
      write_fields(out, e, true);
    }
  }
  for (size_t i = 0; i < route_table_wrong_count(table); i++)
    write_wrong(out, route_table_wrong_at(table, i));
}

// ---- reading -----------------------------------------------------------------------------------

typedef struct reader {
  arena memory;
  const char *path;
  const route_sink *sink;
  const note_sink *notes;
  unsigned problems;
  vyre_error *error;
} reader;

// Leaves an entry out. Returns false, so that `return reject(...)` reads well.
static bool reject(reader *r, const char *op_id, uint32_t line, const char *what) {
  vyre_error note;
  error_set(&note, VYRE_ERROR_SYNTAX,
            "the route of `%.80s` is left out: %s. Fix: correct it, or measure again with "
            "`vyre certify`",
            op_id, what);
  snprintf(note.file, sizeof note.file, "%s", r->path);
  note.line = line;
  r->problems++;
  note_tell(r->notes, &note);
  return false;
}

static bool read_date(const toml_value *v, int64_t *out) {
  const char *text = toml_get_string(v);
  struct tm t = {0};
  const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &t) : NULL;
  if (!end || *end) return false;
  *out = (int64_t)timegm(&t);
  return true;
}

static bool is_hash(const char *text) {
  return strlen(text) == 2 * HASH_BYTES && strspn(text, "0123456789abcdef") == 2 * HASH_BYTES;
}

// An array of tables, each with `backend`; `visit` reads the rest of one.
static bool read_rows(reader *r, const char *op_id, const toml_table *from, const char *key,
                      size_t row_bytes, void **rows, uint32_t *count,
                      bool (*visit)(const toml_table *row, const char *backend, void *to)) {
  const toml_value *v = toml_find(from, key);
  *count = 0;
  *rows = NULL;
  if (!v) return true;
  if (v->kind != TOML_ARRAY) return reject(r, op_id, v->line, "it has a list that is no array");
  if (!(*rows = arena_alloc_array(&r->memory, v->array.count, row_bytes)))
    return reject(r, op_id, v->line, "there is no memory for it");
  for (size_t i = 0; i < v->array.count; i++) {
    const toml_value *item = v->array.items[i];
    const toml_table *row = item->kind == TOML_TABLE ? item->table : NULL;
    const char *backend = row ? toml_get_string(toml_find(row, "backend")) : NULL;
    if (!backend || !visit(row, backend, (char *)*rows + i * row_bytes))
      return reject(r, op_id, item->line, "a row of a list lacks a field or has a wrong one");
    ++*count;
  }
  return true;
}

static bool visit_observation(const toml_table *row, const char *backend, void *to) {
  route_observation *o = to;
  o->backend = backend;
  return toml_get_u64(toml_find(row, "latency_ns"), &o->latency_ns);
}

static bool visit_rejection(const toml_table *row, const char *backend, void *to) {
  route_rejection *o = to;
  o->backend = backend;
  return (o->reason = toml_get_string(toml_find(row, "reason"))) != NULL;
}

// False, with the line in *line, when it is no text; NULL when it is not there.
static bool read_text(const toml_table *t, const char *key, const char **out, uint32_t *line) {
  const toml_value *v = toml_find(t, key);
  *out = v ? toml_get_string(v) : NULL;
  if (v && !*out) *line = v->line;
  return *out || !v;
}

static bool read_entry(reader *r, const char *op_id, uint32_t line, const toml_table *t,
                       route_entry *e) {
  uint64_t size_class = 0;
  const toml_value *size = toml_find(t, "size_class"), *date = toml_find(t, "date");
  void *seen, *not ;
  *e = (route_entry){.op_id = op_id, .has_size_class = size != NULL};
  if (!read_text(t, "backend", &e->backend, &line) || !e->backend || !*e->backend)
    return reject(r, op_id, line, "it names no backend");
  if (!read_text(t, "reason", &e->reason, &line) || !read_text(t, "device", &e->device, &line))
    return reject(r, op_id, line, "its reason or device is no text");
  if (!read_text(t, "fingerprint", &e->fingerprint, &line) ||
      (e->fingerprint && !is_hash(e->fingerprint)))
    return reject(r, op_id, line, "its fingerprint has not 64 hexadecimal digits");
  if (!read_text(t, "work", &e->work, &line) || !read_text(t, "variant", &e->variant, &line) ||
      !read_text(t, "passes", &e->passes, &line) || !read_text(t, "build", &e->build, &line) ||
      !read_text(t, "code", &e->code, &line) || (e->code && !is_hash(e->code)))
    return reject(r, op_id, line, "its work, variant, passes, build or code is not one");
  if (size && (!toml_get_u64(size, &size_class) || size_class > 64))
    return reject(r, op_id, size->line, "its size class is not 0 to 64");
  if (date && !read_date(date, &e->date))
    return reject(r, op_id, date->line, "its date is not written as \"2025-01-31T12:00:00Z\"");
  e->size_class = (uint32_t)size_class;
  bool ok = read_rows(r, op_id, t, "observations", sizeof *e->observations, &seen,
                      &e->observation_count, visit_observation) &&
            read_rows(r, op_id, t, "rejected", sizeof *e->rejections, &not, &e->rejection_count,
                      visit_rejection);
  if (!ok) return false;
  e->observations = seen;
  e->rejections = not ;
  return true;
}

static vyre_status read_op(reader *r, const toml_entry *op) {
  route_entry entry;
  vyre_status status = VYRE_OK;
  if (strlen(op->key) != op->key_size || !op->key_size || op->value->kind != TOML_TABLE) {
    reject(r, op->key, op->line, "it is no table with a name");
    return VYRE_OK;
  }
  const toml_table *t = op->value->table;
  if (read_entry(r, op->key, op->value->line, t, &entry))
    status = r->sink->add(r->sink->context, &entry);
  const toml_value *also = toml_find(t, "also");
  if (also && also->kind != TOML_ARRAY) reject(r, op->key, also->line, "`also` is no array");
  for (size_t i = 0; also && also->kind == TOML_ARRAY && i < also->array.count; i++) {
    const toml_value *v = also->array.items[i];
    if (v->kind != TOML_TABLE)
      reject(r, op->key, v->line, "`also` holds something else than tables");
    else if (status == VYRE_OK && read_entry(r, op->key, v->line, v->table, &entry))
      status = r->sink->add(r->sink->context, &entry);
  }
  return status;
}

static vyre_status read_wrong(reader *r, const toml_value *v) {
  const toml_table *t = v->kind == TOML_TABLE ? v->table : NULL;
  const toml_value *date = t ? toml_find(t, "date") : NULL;
  route_wrong w = {0};
  uint32_t line = v->line;
  bool ok = t && read_text(t, "code", &w.code, &line) && w.code && is_hash(w.code) &&
            read_text(t, "op", &w.op_id, &line) && read_text(t, "variant", &w.variant, &line) &&
            read_text(t, "device", &w.device, &line) && read_text(t, "reason", &w.reason, &line) &&
            (!date || read_date(date, &w.date));
  if (ok) return r->sink->add_wrong(r->sink->context, &w);
  reject(r, "quarantine", line, "its code has not 64 hexadecimal digits, or a field is no text");
  return VYRE_OK;
}

static vyre_status read_root(reader *r, const toml_table *root) {
  uint64_t version = FORMAT;
  const toml_value *v = toml_find(root, "version"), *routes = toml_find(root, "routes");
  if (v && (!toml_get_u64(v, &version) || version > FORMAT))
    return error_set(r->error, VYRE_ERROR_UNSUPPORTED,
                     "the PGO table `%s` has a format this version does not know. Fix: use the "
                     "newer vyre that wrote it, or delete the file",
                     r->path);
  if (routes && routes->kind != TOML_TABLE) {
    reject(r, "*", routes->line, "`routes` is no table");
    return VYRE_OK;
  }
  vyre_status status = VYRE_OK;
  const toml_entry *op = routes ? routes->table->first : NULL;
  for (; op && status == VYRE_OK; op = op->next) status = read_op(r, op);
  const toml_value *wrong = toml_find(root, "quarantine");
  if (wrong && wrong->kind != TOML_ARRAY) {
    reject(r, "quarantine", wrong->line, "it is no array of tables");
    return status;
  }
  for (size_t i = 0; wrong && status == VYRE_OK && i < wrong->array.count; i++)
    status = read_wrong(r, wrong->array.items[i]);
  return status;
}

vyre_status route_text_read(const char *text, size_t size, const char *path, const route_sink *sink,
                            const note_sink *notes, unsigned *problems, vyre_error *error) {
  reader r = {.memory = ARENA_INIT, .path = path, .sink = sink, .notes = notes, .error = error};
  toml_table *root;
  vyre_status status = toml_parse(&r.memory, text, size, path, NULL, NULL, &root, error);
  if (status == VYRE_OK) status = read_root(&r, root);
  arena_free(&r.memory);
  *problems = r.problems;
  return status;
}
