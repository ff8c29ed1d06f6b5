// SPDX-License-Identifier: MIT
//
// Which passes run. A cheap pass always does; an expensive one only when the shape of the program,
// the telemetry of its region, or an earlier run of the pass says that it pays. What a selected
// pass requires is selected with it. A pure function of its inputs; nothing here decides about
// correctness. Any thread; an index is constant once made.
#ifndef VYRE_POLICY_SELECT_H
#define VYRE_POLICY_SELECT_H

#include <vyre/vyre.h>

#include "opt/pass.h"
#include "opt/report.h"
#include "profile/hints.h"

enum {
  SELECT_MIN_LOOP_NODES = 12,
  SELECT_MIN_MEMORY_BYTES = 16 * 1024,
  SELECT_MIN_FUSION_REGIONS = 2,
  SELECT_MIN_DATAFLOW_NODES = 64,
  SELECT_MIN_MEGAKERNEL_NODES = 512,
};

// In the order in which they are asked, except that a dependency is only found afterwards.
typedef enum select_reason {
  SELECT_PROFILE_REJECTED,
  SELECT_HOT_PATH_TELEMETRY,  // the region, or the program's op id, is hot
  SELECT_PASS_COST_REPORT,    // an earlier run of the pass reduced some cost
  SELECT_PROGRAM_SHAPE,       // the program reaches the threshold of the family
  SELECT_ALWAYS_ON,           // scalar, sync and unknown families
  SELECT_BELOW_THRESHOLD,     // nothing speaks for it
  SELECT_REQUIRED_DEPENDENCY, // a selected pass requires it
  SELECT_REASON_COUNT
} select_reason;

const char *select_reason_name(select_reason reason);  // "hot-path-telemetry"
uint16_t select_reason_priority(select_reason reason); // 500 to 0: how strong the evidence is

// The pass table with its requirements resolved. Made once per table; borrows the records.
// Requirements that name no pass of the table are left out here: the table's own check reports
// them.
typedef struct select_index select_index;
select_index *select_index_new(const pass_info *const *passes, size_t count); // NULL: no memory
void select_index_free(select_index *index);

typedef struct select_input {
  unsigned profiles;       // PASS_PROFILE_*, joined
  const vyre_stats *stats; // of the program, or of the region alone
  const char *op_id;       // hot when either name is; each may be NULL
  const char *region;
  const char *region_key; // what the hints call the region; NULL: its name
  const hints *hints;     // may be NULL
  const opt_report
      *report; // of an earlier compile; may be NULL. Rows of other regions are ignored.
} select_input;

typedef struct select_decision {
  const pass_info *pass;
  bool selected;
  bool outside_profile; // the profile rejects it; when selected, only as a dependency
  select_reason reason;
  uint16_t priority;
} select_decision;

// Fills one decision per pass, in the order of the table. Takes time linear in passes, requirements
// and rows of the report. False when out of memory, which only tables above 256 passes can meet.
bool select_passes(const select_index *index, const select_input *input, select_decision *out);

#endif
