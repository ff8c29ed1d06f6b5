// SPDX-License-Identifier: MIT
#include "policy/route_table.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lockfile.h"
#include "base/paths.h"
#include "base/vec.h"
#include "policy/route_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILE_BYTES ((size_t)64 << 20)

typedef struct owned {
  route_entry entry; // its texts are in the arena
  arena memory;
  bool unsaved;
} owned;

typedef struct owned_wrong {
  route_wrong wrong;
  arena memory;
} owned_wrong;

struct route_table {
  vec(owned) entries;
  vec(owned_wrong) wrongs;
};

// ---- entries -----------------------------------------------------------------------------------

route_table *route_table_new(void) {
  return calloc(1, sizeof(route_table));
}

void route_table_free(route_table *table) {
  if (!table) return;
  for (size_t i = 0; i < table->entries.count; i++) arena_free(&table->entries.at[i].memory);
  for (size_t i = 0; i < table->wrongs.count; i++) arena_free(&table->wrongs.at[i].memory);
  vec_free(&table->entries);
  vec_free(&table->wrongs);
  free(table);
}

size_t route_table_count(const route_table *table) {
  return table->entries.count;
}

const route_entry *route_table_at(const route_table *table, size_t index) {
  return &table->entries.at[index].entry;
}

static int compare(const route_entry *a, const route_entry *b) {
  int order = strcmp(a->op_id, b->op_id);
  if (!order) order = strcmp(a->device ? a->device : "", b->device ? b->device : "");
  if (!order) order = a->has_size_class - b->has_size_class;
  if (!order && a->has_size_class)
    order = (a->size_class > b->size_class) - (a->size_class < b->size_class);
  return order ? order : strcmp(a->work ? a->work : "", b->work ? b->work : "");
}

static size_t lower_bound(const route_table *table, const route_entry *key) {
  size_t low = 0, high = table->entries.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare(&table->entries.at[middle].entry, key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static owned *find(const route_table *table, const route_entry *key) {
  size_t at = lower_bound(table, key);
  bool found = at < table->entries.count && !compare(&table->entries.at[at].entry, key);
  return found ? &table->entries.at[at] : NULL;
}

size_t route_table_find(const route_table *table, const char *op_id, size_t *first) {
  size_t at = lower_bound(table, &(route_entry){.op_id = op_id}), count = 0;
  while (at + count < table->entries.count &&
         !strcmp(table->entries.at[at + count].entry.op_id, op_id))
    count++;
  *first = at;
  return count;
}

const char *route_fastest_backend(const route_table *table, const char *op_id) {
  size_t first, count = route_table_find(table, op_id, &first);
  const route_entry *latest = NULL;
  for (size_t i = 0; i < count; i++) {
    const route_entry *e = route_table_at(table, first + i);
    if (!latest || e->date > latest->date) latest = e;
  }
  return latest ? latest->backend : NULL;
}

// ---- copying -----------------------------------------------------------------------------------

static bool copy_text(arena *memory, const char *text, const char **out) {
  *out = text ? arena_copy_string(memory, text, strlen(text)) : NULL;
  return *out || !text;
}

static bool copy_entry(arena *memory, const route_entry *from, route_entry *to) {
  *to = *from;
  route_observation *seen = arena_alloc_array(memory, from->observation_count, sizeof *seen);
  route_rejection *not = arena_alloc_array(memory, from->rejection_count, sizeof *not );
  bool ok = seen && not &&copy_text(memory, from->op_id, &to->op_id) &&
            copy_text(memory, from->backend, &to->backend) &&
            copy_text(memory, from->reason, &to->reason) &&
            copy_text(memory, from->fingerprint, &to->fingerprint) &&
            copy_text(memory, from->device, &to->device) &&
            copy_text(memory, from->work, &to->work) &&
            copy_text(memory, from->variant, &to->variant) &&
            copy_text(memory, from->passes, &to->passes) &&
            copy_text(memory, from->code, &to->code) && copy_text(memory, from->build, &to->build);
  for (uint32_t i = 0; ok && i < from->observation_count; i++) {
    seen[i].latency_ns = from->observations[i].latency_ns;
    ok = copy_text(memory, from->observations[i].backend, &seen[i].backend);
  }
  for (uint32_t i = 0; ok && i < from->rejection_count; i++)
    ok = copy_text(memory, from->rejections[i].backend, &not [i].backend) &&
         copy_text(memory, from->rejections[i].reason, &not [i].reason);
  to->observations = seen;
  to->rejections = not ;
  return ok;
}

static vyre_status put(route_table *table, const route_entry *entry, bool unsaved,
                       vyre_error *error) {
  owned copy = {.memory = ARENA_INIT, .unsaved = unsaved};
  if (!copy_entry(&copy.memory, entry, &copy.entry) || !vec_reserve(&table->entries, 1)) {
    arena_free(&copy.memory);
    return error_out_of_memory(error);
  }
  owned *old = find(table, entry);
  if (old) {
    copy.unsaved |= old->unsaved;
    arena_free(&old->memory);
    *old = copy;
    return VYRE_OK;
  }
  size_t at = lower_bound(table, entry);
  owned *to = &table->entries.at[at];
  memmove(to + 1, to, (table->entries.count++ - at) * sizeof *to);
  *to = copy;
  return VYRE_OK;
}

vyre_status route_table_put(route_table *table, const route_entry *entry, vyre_error *error) {
  if (!entry->op_id || !*entry->op_id || !entry->backend || !*entry->backend)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a route needs an op id and a backend. Fix: name both");
  return put(table, entry, true, error);
}

// ---- wrong codes -------------------------------------------------------------------------------

size_t route_table_wrong_count(const route_table *table) {
  return table->wrongs.count;
}

const route_wrong *route_table_wrong_at(const route_table *table, size_t index) {
  return &table->wrongs.at[index].wrong;
}

const route_wrong *route_table_find_wrong(const route_table *table, const char *code) {
  for (size_t i = 0; i < table->wrongs.count; i++)
    if (!strcmp(table->wrongs.at[i].wrong.code, code)) return &table->wrongs.at[i].wrong;
  return NULL;
}

vyre_status route_table_put_wrong(route_table *table, const route_wrong *wrong, vyre_error *error) {
  owned_wrong copy = {.wrong = *wrong, .memory = ARENA_INIT};
  if (route_table_find_wrong(table, wrong->code)) return VYRE_OK;
  if (copy_text(&copy.memory, wrong->code, &copy.wrong.code) &&
      copy_text(&copy.memory, wrong->op_id, &copy.wrong.op_id) &&
      copy_text(&copy.memory, wrong->variant, &copy.wrong.variant) &&
      copy_text(&copy.memory, wrong->device, &copy.wrong.device) &&
      copy_text(&copy.memory, wrong->reason, &copy.wrong.reason) && vec_push(&table->wrongs, copy))
    return VYRE_OK;
  arena_free(&copy.memory);
  return error_out_of_memory(error);
}

vyre_status route_table_merge(route_table *table, const route_table *from, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (size_t i = 0; status == VYRE_OK && i < from->wrongs.count; i++)
    status = route_table_put_wrong(table, &from->wrongs.at[i].wrong, error);
  for (size_t i = 0; status == VYRE_OK && i < from->entries.count; i++) {
    const route_entry *theirs = &from->entries.at[i].entry;
    const owned *ours = find(table, theirs);
    if (!ours || ours->entry.date < theirs->date) status = put(table, theirs, true, error);
  }
  return status;
}

// ---- files -------------------------------------------------------------------------------------

// Says what was being done, and to which file, before what went wrong.
static vyre_status wrap(vyre_status status, const char *what, const char *path, const char *fix,
                        vyre_error *error) {
  if (status == VYRE_OK || status == VYRE_ERROR_MEMORY || status == VYRE_ERROR_UNSUPPORTED ||
      !error)
    return status;
  vyre_error inner = *error;
  char *end = strstr(inner.message, ". Fix:");
  if (end) *end = 0;
  error_set(error, status, "failed to %s PGO table `%s`: %.300s. Fix: %s", what, path,
            inner.message, fix);
  memcpy(error->file, inner.file, sizeof error->file);
  memcpy(error->excerpt, inner.excerpt, sizeof error->excerpt);
  error->line = inner.line;
  error->column = inner.column;
  return status;
}

typedef struct adding {
  route_table *table;
  vyre_error *error;
} adding;

static vyre_status add_read(void *context, const route_entry *entry) {
  adding *a = context;
  return find(a->table, entry) ? VYRE_OK : put(a->table, entry, false, a->error);
}

static vyre_status add_read_wrong(void *context, const route_wrong *wrong) {
  adding *a = context;
  return route_table_put_wrong(a->table, wrong, a->error);
}

vyre_status route_table_load(route_table *table, const char *path, const note_sink *notes,
                             vyre_error *error) {
  char *text;
  size_t size;
  unsigned problems;
  if (access(path, F_OK) != 0 && errno == ENOENT) return VYRE_OK;
  vyre_status status = file_read_own(path, MAX_FILE_BYTES, &text, &size, error);
  if (status != VYRE_OK)
    return wrap(status, "read", path, "ensure ~/.config/vyre is readable.", error);
  adding a = {table, error};
  route_sink sink = {add_read, add_read_wrong, &a};
  status = route_text_read(text, size, path, &sink, notes, &problems, error);
  free(text);
  return wrap(status, "parse", path, "regenerate it with the cert gate.", error);
}

typedef struct saving {
  const route_table *table;
  const char *path;
} saving;

static vyre_status merge(void *context, const char *old, size_t old_size, strbuf *out,
                         bool *set_aside, vyre_error *error) {
  saving *s = context;
  route_table *merged = route_table_new();
  if (!merged) return error_out_of_memory(error);
  adding a = {merged, error};
  unsigned problems = 0;
  vyre_status status = VYRE_OK;
  // Faults were told when the file was loaded.
  route_sink sink = {add_read, add_read_wrong, &a};
  if (old) status = route_text_read(old, old_size, s->path, &sink, NULL, &problems, error);
  *set_aside = problems > 0 || status == VYRE_ERROR_SYNTAX;
  if (status == VYRE_ERROR_SYNTAX) status = VYRE_OK;
  for (size_t i = 0; status == VYRE_OK && i < s->table->entries.count; i++) {
    const owned *o = &s->table->entries.at[i];
    if (o->unsaved) status = put(merged, &o->entry, false, error);
  }
  for (size_t i = 0; status == VYRE_OK && i < s->table->wrongs.count; i++)
    status = route_table_put_wrong(merged, &s->table->wrongs.at[i].wrong, error);
  if (status == VYRE_OK) route_text_write(out, merged);
  route_table_free(merged);
  return status;
}

vyre_status route_table_save(route_table *table, const char *path, const note_sink *notes,
                             vyre_error *error) {
  saving s = {table, path};
  vyre_status status = lockfile_update(path, MAX_FILE_BYTES, merge, &s, notes, error);
  for (size_t i = 0; status == VYRE_OK && i < table->entries.count; i++)
    table->entries.at[i].unsaved = false;
  return wrap(status, "write", path, "ensure ~/.config/vyre is writable.", error);
}

char *route_default_path(vyre_error *error) {
  return path_config("pgo.toml", error);
}
