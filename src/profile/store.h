// SPDX-License-Identifier: MIT
//
// The evidence store: what was measured, kept across processes in one SQLite file. It is written in
// batches, beside the hot path, and read when something is to be decided. Each key keeps the sums
// of all its samples and the latest ones; the number of keys is bounded, and those that were not
// added to for longest go first. Evidence from other machines is kept apart and never returned by
// the store_load functions. Every function may fail without harm: then nothing is remembered.
//
// Any thread may use a store; calls take turns. Several processes may use one file.
#ifndef VYRE_PROFILE_STORE_H
#define VYRE_PROFILE_STORE_H

#include "base/arena.h"
#include "base/note.h"
#include "opt/report.h"
#include "profile/hints.h"

typedef struct store store;

enum { STORE_RECENT = 32, STORE_FINGERPRINT = 32 };

typedef struct store_options {
  const char *path;         // NULL: evidence.db in the state directory
  uint64_t max_bytes;       // of the file; 0: 64 MiB
  uint32_t max_keys;        // per kind of evidence; 0: 100,000
  uint32_t busy_timeout_ms; // waiting for another process; 0: 5,000
  const char *vfs;          // of SQLite; NULL: the usual one
} store_options;

// Opens or creates the store. `options` may be NULL. `notes` is borrowed as long as the store
// lives, and is told: that write-ahead logging does not work here and is not used; that the store
// can only be read; that the file was corrupt and was set aside, which may also happen later.
vyre_status store_open(const store_options *options, const note_sink *notes, store **out,
                       vyre_error *error);
void store_close(store *s);
const char *store_path(const store *s);
bool store_is_read_only(const store *s);

// ---- writing -----------------------------------------------------------------------------------

typedef struct store_region {
  const char *device;
  const uint8_t *fingerprint; // STORE_FINGERPRINT bytes
  const char *region;
  region_record added; // since the last batch, not in total
  uint64_t operations; // of all these dispatches; 0: not known, or none
} store_region;

typedef struct store_latency {
  const char *device, *op;
  const uint8_t *fingerprint;
  uint32_t size_class;
  const char *work;    // what the amount of work depends on besides the bytes; "" when nothing
  const char *variant; // see policy/variant_name.h
  const char *build;   // by what it was compiled and on how many cores: see build_name
  const uint64_t *ns;  // samples, oldest first
  uint32_t count;
} store_latency;

// What is known of the answers of a code, by the hash of all that it was made from.
typedef struct store_code {
  const uint8_t *hash; // STORE_FINGERPRINT bytes
  const char *op, *variant, *device;
  uint64_t checks; // that it passed, since the last batch
  bool is_wrong;   // it failed one: it is not used any more, anywhere
  const char *detail;
} store_code;

// A decision as it was taken, for the next process and for people. The last 8 of a key are kept.
typedef struct store_decision {
  const uint8_t *fingerprint;
  uint32_t size_class;
  const char *work, *op, *device, *variant, *build;
  const char *reason;
  uint64_t samples, mean_ns, spread_ns; // of the variant that was taken
  const char *others;                   // what the alternatives cost, one per line
} store_decision;

typedef struct store_tuning {
  const char *device, *key;
  const char *op; // that the key belongs to, for people; may be NULL
  uint32_t shape[3];
  const uint64_t *ns;
  uint32_t count;
} store_tuning;

typedef struct store_speculation {
  const char *device;
  const uint8_t *fingerprint;
  const char *kind;      // the way it was predicted
  uint64_t used, unused; // variants, since the last batch
  uint64_t compile_ns;   // spent on them
  uint64_t saved_ns;     // by those that were used
} store_speculation;

// Replaces what is kept of the program's last compile.
typedef struct store_passes {
  const uint8_t *fingerprint;
  const opt_report *report;
} store_passes;

typedef struct store_batch {
  const store_region *regions;
  const store_latency *latencies;
  const store_code *codes;
  const store_decision *decisions;
  const store_tuning *tunings;
  const store_speculation *speculations;
  const store_passes *passes;
  uint32_t region_count, latency_count, code_count, decision_count;
  uint32_t tuning_count, speculation_count, passes_count;
} store_batch;

// All of the batch or nothing of it.
vyre_status store_append(store *s, const store_batch *batch, vyre_error *error);

// ---- reading, this machine's evidence only -----------------------------------------------------

typedef struct store_samples {
  uint64_t count; // ever
  uint64_t min_ns;
  uint64_t recent_ns[STORE_RECENT]; // oldest first
  uint32_t recent_count;
  int64_t date; // of the latest, seconds since 1970
} store_samples;

typedef struct store_latency_row {
  const char *device, *work, *variant, *build;
  uint32_t size_class;
  store_samples samples;
} store_latency_row;

typedef struct store_decision_row {
  const char *work, *op, *device, *variant, *build, *reason, *others;
  uint32_t size_class;
  uint64_t samples, mean_ns, spread_ns;
  int64_t date;
} store_decision_row;

typedef struct store_code_state {
  uint64_t checks;  // passed on this machine
  bool is_wrong;    // on any
  char detail[160]; // of what was wrong
} store_code_state;

typedef struct store_tuning_row {
  uint32_t shape[3];
  store_samples samples;
} store_tuning_row;

// Merges the latest `limit` regions of a device, or of all when it is NULL, into the hints, the
// latest last, under their keys (hints_region_key).
vyre_status store_load_regions(store *s, const char *device, uint32_t limit, hints *into,
                               vyre_error *error);
// All of a program, by size class, work and variant.
// What is known of a region's operations: sums of the same dispatches, on all devices.
typedef struct store_effort_row {
  const char *region;
  uint64_t operations, total_ns, bytes;
} store_effort_row;

vyre_status store_load_efforts(store *s, const uint8_t *fingerprint, arena *memory,
                               store_effort_row **rows, uint32_t *count, vyre_error *error);
vyre_status store_load_latencies(store *s, const uint8_t *fingerprint, arena *memory,
                                 store_latency_row **rows, uint32_t *count, vyre_error *error);
// All of a program, by size class and work, the latest first.
vyre_status store_load_decisions(store *s, const uint8_t *fingerprint, arena *memory,
                                 store_decision_row **rows, uint32_t *count, vyre_error *error);
vyre_status store_load_code(store *s, const uint8_t *hash, store_code_state *out,
                            vyre_error *error);
// By shape.
vyre_status store_load_tunings(store *s, const char *device, const char *key, arena *memory,
                               store_tuning_row **rows, uint32_t *count, vyre_error *error);
// Sums over all ways of predicting, and over all devices when `device` is NULL; the strings of
// *out stay NULL.
vyre_status store_load_speculation(store *s, const char *device, const uint8_t *fingerprint,
                                   store_speculation *out, vyre_error *error);
// Appends the rows of the program's last compile; their texts are in the arena.
vyre_status store_load_passes(store *s, const uint8_t *fingerprint, arena *memory, opt_report *out,
                              vyre_error *error);

// When that compile was, in seconds since 1970; 0 when there was none.
vyre_status store_passes_date(store *s, const uint8_t *fingerprint, int64_t *date,
                              vyre_error *error);

// What was found to be wrong, on any machine, for an op or (NULL) all of them. Texts live for the
// call.
typedef struct store_wrong {
  const char *op, *variant, *device, *detail;
  const uint8_t *hash;
  int64_t date;
} store_wrong;
vyre_status store_visit_wrong(store *s, const char *op,
                              bool (*visit)(void *context, const store_wrong *wrong), void *context,
                              vyre_error *error);

// ---- looking, exchanging -----------------------------------------------------------------------

// One line of what there is, from all machines: for `vyre profile show`. Texts live for the call.
typedef struct store_line {
  const char *kind;   // "region", "latency", "tuning", "speculation"
  const char *origin; // NULL: this machine; otherwise an id of another one
  const char *device;
  const char *subject;     // region, op, key or fingerprint
  const char *op;          // of a latency or a tuning, where it is known; otherwise ""
  const char *fingerprint; // of a latency or a speculation, in hexadecimal; otherwise ""
  const char *detail;      // variant and size class, shape, or way of predicting
  uint64_t count;          // samples, or variants
  uint64_t total_ns;
  uint64_t extreme_ns; // the fastest sample; of a region, the longest; of a speculation, how many
                       // variants were used
  int64_t date;
} store_line;

// Calls `visit` for each line until it returns false.
vyre_status store_visit(store *s, bool (*visit)(void *context, const store_line *line),
                        void *context, vyre_error *error);

typedef struct store_counts {
  uint64_t regions, latencies, tunings, speculations, codes, decisions; // keys, of all machines
  uint64_t pass_rows;
  uint64_t foreign; // of them from other machines
  uint64_t size_bytes;
} store_counts;

vyre_status store_count(store *s, store_counts *out, vyre_error *error);
// Writes everything into a new file, whole or not at all.
vyre_status store_export(store *s, const char *path, vyre_error *error);
// Takes over the evidence of an exported file. What another machine measured is kept under that
// machine's id; of two states of one key the one with more samples stays, so importing twice is
// importing once. *taken counts the keys that were new or renewed.
vyre_status store_import(store *s, const char *path, uint64_t *taken, vyre_error *error);
// Forgets everything.
vyre_status store_clear(store *s, vyre_error *error);

#endif
