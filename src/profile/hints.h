// SPDX-License-Identifier: MIT
//
// Hot-path hints: one record per region name, in a table of bounded size that forgets the least
// recently recorded region first. Every dispatch records, the optimizer asks. A hint says what to
// try first, never what is correct: absent, stale or wrong hints may cost time and nothing else.
//
// Any thread may call anything but hints_free, which comes last and alone. Recording a known region
// allocates nothing and takes only a lock of the CPU it runs on; a new region takes the table's one
// lock. Queries take no lock and make nobody wait.
#ifndef VYRE_PROFILE_HINTS_H
#define VYRE_PROFILE_HINTS_H

#include "profile/record.h"

#include <stddef.h>

#define HINTS_CAPACITY     256
#define HINTS_MAX_CAPACITY (1u << 24)
#define HINTS_HOT_MEAN_NS  UINT64_C(100000)
#define HINTS_HOT_TOTAL_NS UINT64_C(1000000000)

typedef struct hints hints;

typedef struct hints_options {
  size_t capacity;       // regions; 0 disables recording
  uint64_t hot_mean_ns;  // hot when the mean is at least this
  uint64_t hot_total_ns; // or when all samples together are; 0: this criterion is off
} hints_options;

// By mean alone, and what the runtime uses: a region of 90 us that ran a million times is hot too.
#define HINTS_PLAIN   ((hints_options){HINTS_CAPACITY, HINTS_HOT_MEAN_NS, 0})
#define HINTS_RUNTIME ((hints_options){HINTS_CAPACITY, HINTS_HOT_MEAN_NS, HINTS_HOT_TOTAL_NS})

// `options` may be NULL: HINTS_PLAIN. A capacity above HINTS_MAX_CAPACITY counts as that. NULL when
// out of memory.
hints *hints_new(const hints_options *options);
void hints_free(hints *h);
// An independent copy with the same records, recency and options; NULL when out of memory.
hints *hints_clone(const hints *h);

void hints_set_hot_mean_ns(hints *h, uint64_t threshold_ns);
void hints_set_hot_total_ns(hints *h, uint64_t threshold_ns);

// One dispatch of `region`, which is copied when it is new.
void hints_record(hints *h, const char *region, uint64_t kernel_ns, uint64_t bytes_touched);
// Adds what was recorded elsewhere, as an earlier process did; counts as a use of the region.
void hints_merge(hints *h, const char *region, const region_record *record);

// The name under which a region of a program is known: regions of other programs may have the same.
enum { HINTS_KEY = 320 };
void hints_region_key(const uint8_t *fingerprint, const char *region, char out[HINTS_KEY]);

bool hints_is_hot(const hints *h, const char *region);
uint64_t hints_dispatch_count(const hints *h, const char *region);
uint64_t hints_mean_kernel_ns(const hints *h, const char *region);
// False, and *out zeroed, when the region is not in the table.
bool hints_record_for(const hints *h, const char *region, region_record *out);
size_t hints_len(const hints *h);
bool hints_is_empty(const hints *h);

typedef struct hints_entry {
  const char *region;
  region_record record;
} hints_entry;

// All entries, least recently recorded first. Each entry is consistent in itself. One block that
// the caller frees with free(); NULL when out of memory. *count may be 0 with a non-NULL result.
hints_entry *hints_snapshot(const hints *h, size_t *count);

// What left the table: samples recorded = samples in the table + evicted + dropped.
typedef struct hints_losses {
  uint64_t evicted_regions;
  uint64_t evicted_samples;
  uint64_t dropped_samples; // of new regions with a long name, when out of memory
} hints_losses;

hints_losses hints_lost(hints *h);

#endif
