// SPDX-License-Identifier: MIT
//
// The routing decisions, `pgo.toml`: which backend runs an op, with the measurements that decided
// it. A person may read, edit, commit and ship it. An op may have several decisions, for different
// devices and size classes; what an entry does not state, it does not depend on.
//
// A table has one owner and owns its entries; an entry is valid until its table changes. One thread
// at a time; several processes may save to one file.
#ifndef VYRE_POLICY_ROUTE_TABLE_H
#define VYRE_POLICY_ROUTE_TABLE_H

#include "base/note.h"

typedef struct route_observation {
  const char *backend;
  uint64_t latency_ns;
} route_observation;

typedef struct route_rejection {
  const char *backend;
  const char *reason; // such as the first element that differed
} route_rejection;

typedef struct route_entry {
  const char *op_id;
  const char *backend;     // the decision
  const char *reason;      // by which it was taken; NULL when not stated
  const char *fingerprint; // of the program, in hexadecimal; NULL: any
  const char *device;      // adapter name; NULL: any
  bool has_size_class;
  uint32_t size_class; // see profile/size_class.h
  const char *work;    // what the amount of work depends on besides the bytes; NULL: any
  // The variant in full, where it is known; each may be NULL. See variant_name.h, and
  // optimize_selection for `passes`; `code` is the hash of all that it was made from.
  const char *variant, *passes, *code, *build;
  int64_t date;                          // seconds since 1970; 0 when not stated
  const route_observation *observations; // by latency, then by name
  uint32_t observation_count;
  const route_rejection *rejections;
  uint32_t rejection_count;
} route_entry;

// A code that gave a wrong answer: it is not used any more, wherever this file goes.
typedef struct route_wrong {
  const char *code; // its hash in hexadecimal
  const char *op_id, *variant, *device, *reason;
  int64_t date;
} route_wrong;

typedef struct route_table route_table;

route_table *route_table_new(void); // NULL when out of memory
void route_table_free(route_table *table);

// Sorted by op id, then device, then size class, then work; what is not stated comes first.
size_t route_table_count(const route_table *table);
const route_entry *route_table_at(const route_table *table, size_t index);
// The entries of an op are [*first, *first + count).
size_t route_table_find(const route_table *table, const char *op_id, size_t *first);
// The latest decision for the op, whatever it was taken for; NULL when there is none.
const char *route_fastest_backend(const route_table *table, const char *op_id);

// Copies the entry into the table, in place of the one for the same op, device, size class and
// work.
vyre_status route_table_put(route_table *table, const route_entry *entry, vyre_error *error);
// Codes that were wrong: one is added once, and none is ever taken out.
vyre_status route_table_put_wrong(route_table *table, const route_wrong *wrong, vyre_error *error);
const route_wrong *route_table_find_wrong(const route_table *table, const char *code);
size_t route_table_wrong_count(const route_table *table);
const route_wrong *route_table_wrong_at(const route_table *table, size_t index);
// Takes over what `from` has and `table` has not, or has with an earlier date.
vyre_status route_table_merge(route_table *table, const route_table *from, vyre_error *error);

// Adds the entries of a file, those already in the table excepted. A missing file has none. A file
// that cannot be read or parsed, or is of a newer format, is an error; a faulty entry is left out
// and told with its line.
vyre_status route_table_load(route_table *table, const char *path, const note_sink *notes,
                             vyre_error *error);
// Merges what was put since the last save into the file. Creates directories. A file that could not
// be read whole is kept under another name first, and told; one of a newer format is left alone,
// with an error.
vyre_status route_table_save(route_table *table, const char *path, const note_sink *notes,
                             vyre_error *error);

// $VYRE_HOME/config/pgo.toml, $XDG_CONFIG_HOME/vyre/pgo.toml or ~/.config/vyre/pgo.toml; malloc'ed.
// NULL with an error when there is no such place (base/paths.h).
char *route_default_path(vyre_error *error);

#endif
