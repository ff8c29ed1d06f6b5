// SPDX-License-Identifier: MIT
//
// The launch shapes and configurations that were chosen, one text file per adapter: lines
// `"key" = [x, y, z]` and `"key" = ["op", "TILE=8 WAYS=2", "reason"]`, sorted by key. A person may
// edit it. Faulty entries are left out and told with file and line, the others are kept, and the
// file is kept under another name before it is rewritten without them.
//
// A cache or tuner has one owner. One thread at a time; several processes may save to one file.
#ifndef VYRE_POLICY_TUNE_CACHE_H
#define VYRE_POLICY_TUNE_CACHE_H

#include "base/note.h"
#include "policy/tune.h"

typedef struct tune_cache tune_cache;

tune_cache *tune_cache_new(void); // NULL when out of memory
void tune_cache_free(tune_cache *cache);
size_t tune_cache_count(const tune_cache *cache);
bool tune_cache_get(const tune_cache *cache, const char *key, tune_shape *out);
// Invalid shapes are refused.
vyre_status tune_cache_set(tune_cache *cache, const char *key, tune_shape shape, vyre_error *error);

// What was chosen of a space of configurations, as three texts.
typedef struct tune_choice {
  const char *op, *configuration, *reason;
} tune_choice;

vyre_status tune_cache_choose(tune_cache *cache, const char *key, const tune_choice *choice,
                              vyre_error *error);
// The choices by number, in the order of their keys; false past the end. Borrowed until the next
// change.
bool tune_cache_choice(const tune_cache *cache, uint32_t index, tune_choice *out);

// Adds the entries of a file, those already in the cache excepted. A missing file has none. An
// error when the file cannot be read at all or is of a newer format; faulty entries are only told.
vyre_status tune_cache_load(tune_cache *cache, const char *path, const note_sink *notes,
                            vyre_error *error);
// Merges what was set since the last save into the file. Creates directories. The file of a newer
// format is left alone, with an error.
vyre_status tune_cache_save(tune_cache *cache, const char *path, const note_sink *notes,
                            vyre_error *error);

// ---- the tuner of one adapter ------------------------------------------------------------------

typedef struct tuner tuner;

// `adapter` names device, driver and compiler version. A cache file that cannot be read is told,
// and the tuner begins with none; where there is no place for one, persisting fails. NULL when out
// of memory.
tuner *tuner_new(const char *adapter, tune_mode mode, const note_sink *notes);
// One that reads no file and must not be persisted.
tuner *tuner_new_empty(const char *adapter, tune_mode mode);
void tuner_free(tuner *t);
// $XDG_CACHE_HOME/vyre/tuner/<adapter>.toml; malloc'ed. The name is made safe where it is not. NULL
// with an error when there is no such place (base/paths.h).
char *tuner_path_for_adapter(const char *adapter, vyre_error *error);
const char *tuner_path(const tuner *t);
tune_mode tuner_mode(const tuner *t);
// What was decided for the key, or the default shape.
tune_shape tuner_resolve(const tuner *t, const char *key);
bool tuner_is_decided(const tuner *t, const char *key);
vyre_status tuner_record_decision(tuner *t, const char *key, tune_shape shape, vyre_error *error);
vyre_status tuner_record_choice(tuner *t, const char *key, const tune_choice *choice,
                                vyre_error *error);
bool tuner_choice(const tuner *t, uint32_t index, tune_choice *out); // as tune_cache_choice
vyre_status tuner_persist(tuner *t, const note_sink *notes, vyre_error *error);

#endif
