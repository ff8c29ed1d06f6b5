// SPDX-License-Identifier: MIT
#include "policy/tune_cache.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/filename.h"
#include "base/lockfile.h"
#include "base/paths.h"
#include "base/toml.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 1 };
#define MAX_FILE_BYTES ((size_t)64 << 20)

typedef struct entry {
  char *key;
  tune_shape shape;
  char *texts[3]; // of a choice: op, configuration, reason; NULL of a shape
  bool unsaved;
} entry;

struct tune_cache {
  vec(entry) entries; // sorted by key
};

// ---- entries -----------------------------------------------------------------------------------

tune_cache *tune_cache_new(void) {
  return calloc(1, sizeof(tune_cache));
}

static void free_texts(entry *e) {
  for (int i = 0; i < 3; i++) {
    free(e->texts[i]);
    e->texts[i] = NULL;
  }
}

void tune_cache_free(tune_cache *cache) {
  if (!cache) return;
  for (size_t i = 0; i < cache->entries.count; i++) {
    free(cache->entries.at[i].key);
    free_texts(&cache->entries.at[i]);
  }
  vec_free(&cache->entries);
  free(cache);
}

size_t tune_cache_count(const tune_cache *cache) {
  return cache->entries.count;
}

// The first entry that is not below the key.
static size_t lower_bound(const tune_cache *cache, const char *key) {
  size_t low = 0, high = cache->entries.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(cache->entries.at[middle].key, key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static entry *find(const tune_cache *cache, const char *key) {
  size_t at = lower_bound(cache, key);
  if (at == cache->entries.count || strcmp(cache->entries.at[at].key, key)) return NULL;
  return &cache->entries.at[at];
}

bool tune_cache_get(const tune_cache *cache, const char *key, tune_shape *out) {
  const entry *e = find(cache, key);
  if (!e || e->texts[0]) return false;
  *out = e->shape;
  return true;
}

// `texts` is NULL for a shape.
static vyre_status put(tune_cache *cache, const char *key, tune_shape shape,
                       const char *const *texts, bool unsaved, vyre_error *error) {
  entry made = {strdup(key), shape, {NULL, NULL, NULL}, unsaved};
  bool ok = made.key && vec_reserve(&cache->entries, 1);
  for (int i = 0; i < 3 && texts && ok; i++) ok = (made.texts[i] = strdup(texts[i])) != NULL;
  entry *old = find(cache, key);
  if (!ok || old) {
    free(made.key);
    if (!ok) free_texts(&made);
    if (!ok) return error_out_of_memory(error);
    free_texts(old);
    memcpy(old->texts, made.texts, sizeof old->texts);
    old->unsaved |= unsaved;
    old->shape = shape;
    return VYRE_OK;
  }
  size_t at = lower_bound(cache, key);
  entry *to = &cache->entries.at[at];
  memmove(to + 1, to, (cache->entries.count++ - at) * sizeof *to);
  *to = made;
  return VYRE_OK;
}

vyre_status tune_cache_choose(tune_cache *cache, const char *key, const tune_choice *c,
                              vyre_error *error) {
  const char *const texts[3] = {c->op, c->configuration, c->reason};
  return put(cache, key, TUNE_DEFAULT_SHAPE, texts, true, error);
}

bool tune_cache_choice(const tune_cache *cache, uint32_t index, tune_choice *out) {
  for (size_t i = 0; i < cache->entries.count; i++) {
    const entry *e = &cache->entries.at[i];
    if (!e->texts[0] || index--) continue;
    *out = (tune_choice){e->texts[0], e->texts[1], e->texts[2]};
    return true;
  }
  return false;
}

vyre_status tune_cache_set(tune_cache *cache, const char *key, tune_shape shape,
                           vyre_error *error) {
  if (!tune_shape_is_valid(shape))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "[%u, %u, %u] is no launch shape. Fix: use axes of at least 1 and at most "
                     "1024 invocations",
                     shape.axis[0], shape.axis[1], shape.axis[2]);
  return put(cache, key, shape, NULL, true, error);
}

// ---- reading -----------------------------------------------------------------------------------

typedef struct reading {
  tune_cache *into;
  const char *path;
  const note_sink *notes;
  unsigned problems;
} reading;

static void on_problem(void *context, const vyre_error *problem) {
  reading *r = context;
  r->problems++;
  note_tell(r->notes, problem);
}

static void reject(reading *r, const toml_entry *e, const char *what) {
  vyre_error note;
  error_set(
      &note, VYRE_ERROR_SYNTAX,
      "the entry `%.80s` is left out: %s. Fix: write \"key\" = [x, y, z] with axes of at least 1 "
      "and at most 1024 invocations, or delete the line",
      e->key, what);
  snprintf(note.file, sizeof note.file, "%s", r->path);
  note.line = e->line;
  on_problem(r, &note);
}

static const char *read_shape(const toml_value *v, tune_shape *out) {
  if (v->kind != TOML_ARRAY) return "it is no array";
  if (v->array.count != 3) return "it has not three numbers";
  for (int i = 0; i < 3; i++) {
    uint64_t x;
    if (!toml_get_u64(v->array.items[i], &x) || x > UINT32_MAX)
      return "an element is no number of a size";
    out->axis[i] = (uint32_t)x;
  }
  return tune_shape_is_valid(*out) ? NULL : "the shape is empty or too large";
}

// Whether it is a choice: three texts.
static bool read_texts(const toml_value *v, const char **out) {
  if (v->kind != TOML_ARRAY || v->array.count != 3) return false;
  for (int i = 0; i < 3; i++) {
    const toml_value *item = v->array.items[i];
    if (item->kind != TOML_STRING || strlen(item->string.at) != item->string.size) return false;
    out[i] = item->string.at;
  }
  return true;
}

static vyre_status check_format(const toml_table *root, const char *path, vyre_error *error) {
  uint64_t version = FORMAT;
  const toml_value *v = toml_find(root, "version");
  if (!v || (toml_get_u64(v, &version) && version <= FORMAT)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the tuner cache `%s` has a format this version does not know. Fix: use the "
                   "newer vyre that wrote it, or delete the file",
                   path);
}

static vyre_status read_text(reading *r, const char *text, size_t size, vyre_error *error) {
  arena memory = ARENA_INIT;
  toml_table *root;
  vyre_status status = toml_parse(&memory, text, size, r->path, on_problem, r, &root, error);
  if (status == VYRE_OK) status = check_format(root, r->path, error);
  for (toml_entry *e = status == VYRE_OK ? root->first : NULL; e && status == VYRE_OK;
       e = e->next) {
    if (!strcmp(e->key, "version") && e->value->kind == TOML_INTEGER) continue;
    tune_shape shape = TUNE_DEFAULT_SHAPE;
    const char *texts[3];
    bool has_texts = read_texts(e->value, texts);
    const char *fault = strlen(e->key) != e->key_size ? "its key holds a NUL"
                        : has_texts                   ? NULL
                                                      : read_shape(e->value, &shape);
    if (fault)
      reject(r, e, fault);
    else if (!find(r->into, e->key))
      status = put(r->into, e->key, shape, has_texts ? texts : NULL, false, error);
  }
  arena_free(&memory);
  return status;
}

vyre_status tune_cache_load(tune_cache *cache, const char *path, const note_sink *notes,
                            vyre_error *error) {
  char *text;
  size_t size;
  if (access(path, F_OK) != 0 && errno == ENOENT) return VYRE_OK;
  vyre_status status = file_read_own(path, MAX_FILE_BYTES, &text, &size, error);
  if (status != VYRE_OK) return status;
  reading r = {cache, path, notes, 0};
  status = read_text(&r, text, size, error);
  free(text);
  return status;
}

// ---- writing -----------------------------------------------------------------------------------

static void print_texts(const entry *e, strbuf *out) {
  for (int i = 0; i < 3; i++) {
    strbuf_puts(out, i ? ", " : " = [");
    toml_write_string(out, e->texts[i]);
  }
  strbuf_puts(out, "]\n");
}

static void print(const tune_cache *cache, strbuf *out) {
  strbuf_printf(out, "version = %d\n", FORMAT);
  for (size_t i = 0; i < cache->entries.count; i++) {
    const entry *e = &cache->entries.at[i];
    // Always in quotes, as the original writes it.
    toml_write_string(out, e->key);
    if (e->texts[0]) {
      print_texts(e, out);
      continue;
    }
    strbuf_printf(out, " = [%u, %u, %u]\n", e->shape.axis[0], e->shape.axis[1], e->shape.axis[2]);
  }
}

typedef struct saving {
  tune_cache *cache;
  const char *path;
} saving;

static vyre_status merge(void *context, const char *old, size_t old_size, strbuf *out,
                         bool *set_aside, vyre_error *error) {
  saving *s = context;
  tune_cache *merged = tune_cache_new();
  vyre_status status = merged ? VYRE_OK : error_out_of_memory(error);
  // Faults were told when the file was loaded.
  reading r = {merged, s->path, NULL, 0};
  if (old && merged) {
    status = read_text(&r, old, old_size, error);
    // No text, or more faults than the parser bears: nothing of it is kept but the file itself.
    if (status == VYRE_ERROR_SYNTAX) {
      r.problems++;
      status = VYRE_OK;
    }
  }
  for (size_t i = 0; status == VYRE_OK && i < s->cache->entries.count; i++) {
    const entry *e = &s->cache->entries.at[i];
    const char *const texts[3] = {e->texts[0], e->texts[1], e->texts[2]};
    if (e->unsaved)
      status = put(merged, e->key, e->shape, e->texts[0] ? texts : NULL, false, error);
  }
  if (status == VYRE_OK) print(merged, out);
  *set_aside = r.problems > 0;
  tune_cache_free(merged);
  return status;
}

vyre_status tune_cache_save(tune_cache *cache, const char *path, const note_sink *notes,
                            vyre_error *error) {
  saving s = {cache, path};
  vyre_status status = lockfile_update(path, MAX_FILE_BYTES, merge, &s, notes, error);
  for (size_t i = 0; status == VYRE_OK && i < cache->entries.count; i++)
    cache->entries.at[i].unsaved = false;
  return status;
}

// ---- the tuner ---------------------------------------------------------------------------------

struct tuner {
  tune_mode mode;
  tune_cache *cache;
  char *path;         // NULL: there is none,
  vyre_error no_path; // and this is why
};

char *tuner_path_for_adapter(const char *adapter, vyre_error *error) {
  char name[FILENAME_SAFE];
  filename_make_safe(adapter, name);
  strbuf file = {0};
  strbuf_printf(&file, "tuner/%s.toml", name);
  char *relative = strbuf_take(&file, NULL);
  if (!relative) error_out_of_memory(error);
  char *path = relative ? path_cache(relative, error) : NULL;
  free(relative);
  return path;
}

tuner *tuner_new_empty(const char *adapter, tune_mode mode) {
  tuner *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->mode = mode;
  t->cache = tune_cache_new();
  t->path = tuner_path_for_adapter(adapter, &t->no_path);
  if (t->cache) return t;
  tuner_free(t);
  return NULL;
}

tuner *tuner_new(const char *adapter, tune_mode mode, const note_sink *notes) {
  tuner *t = tuner_new_empty(adapter, mode);
  vyre_error error;
  if (!t) return NULL;
  if (!t->path)
    note_tell(notes, &t->no_path);
  else if (tune_cache_load(t->cache, t->path, notes, &error) != VYRE_OK)
    note_tell(notes, &error);
  return t;
}

void tuner_free(tuner *t) {
  if (!t) return;
  tune_cache_free(t->cache);
  free(t->path);
  free(t);
}

const char *tuner_path(const tuner *t) {
  return t->path;
}

tune_mode tuner_mode(const tuner *t) {
  return t->mode;
}

tune_shape tuner_resolve(const tuner *t, const char *key) {
  tune_shape shape = TUNE_DEFAULT_SHAPE;
  tune_cache_get(t->cache, key, &shape);
  return shape;
}

bool tuner_is_decided(const tuner *t, const char *key) {
  tune_shape shape;
  return tune_cache_get(t->cache, key, &shape);
}

vyre_status tuner_record_decision(tuner *t, const char *key, tune_shape shape, vyre_error *error) {
  return tune_cache_set(t->cache, key, shape, error);
}

vyre_status tuner_record_choice(tuner *t, const char *key, const tune_choice *choice,
                                vyre_error *error) {
  return tune_cache_choose(t->cache, key, choice, error);
}

bool tuner_choice(const tuner *t, uint32_t index, tune_choice *out) {
  return tune_cache_choice(t->cache, index, out);
}

vyre_status tuner_persist(tuner *t, const note_sink *notes, vyre_error *error) {
  if (t->path) return tune_cache_save(t->cache, t->path, notes, error);
  if (error) *error = t->no_path;
  return t->no_path.status;
}
