// SPDX-License-Identifier: MIT
//
// What `vyre report` shows, gathered from the store and the files of searches: this machine's
// evidence only, by program. Texts live in the arena. One thread.
#ifndef VYRE_CLI_REPORT_DATA_H
#define VYRE_CLI_REPORT_DATA_H

#include "base/hash.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "profile/store.h"

typedef struct report_region {
  const char *name;
  region_record record;
  store_effort_row effort; // operations 0: not known
} report_region;

typedef struct report_program {
  const char *op;
  char print[HASH_HEX];
  store_latency_row *latencies;
  store_decision_row *decisions;
  uint32_t latency_count, decision_count;
  report_region *regions;
  uint32_t region_count;
  uint64_t dispatches, total_ns; // of all latencies
} report_program;

// A search over configurations: how long each took, in the order of evaluation.
typedef struct report_search {
  const char *op, *device;
  double *times_ns; // NAN: it failed
  uint32_t count;
} report_search;

typedef struct report_data {
  arena memory;
  const char *path;             // of the store
  vec(report_program) programs; // the longest in all first
  vec(report_search) searches;
  json_t *lines; // as `vyre profile show --json` has them
  store_counts counts;
  double machine_bytes_per_ns;      // what memory gives; 0: not measured
  double machine_operations_per_ns; // what this CPU computes; likewise
} report_data;

vyre_status report_gather(report_data *d, const char *only, const note_sink *notes,
                          vyre_error *error);
void report_data_fini(report_data *d);
// How many bytes this machine copies in a nanosecond, read and written, on all cores; about a
// third of a second.
double report_measure_memory(void);
// How many operations on f32 it makes in a nanosecond, fused multiplications and additions counted
// as two, on all cores, by code that vyre makes for it; some 0.1 s. 0 where that does not work.
double report_measure_operations(void);

#endif
