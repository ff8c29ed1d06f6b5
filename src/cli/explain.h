// SPDX-License-Identifier: MIT
//
// What the files of `vyre explain` share: all that is known of one op, and a function per kind of
// decision that prints it, or adds it to the JSON. One thread.
#ifndef VYRE_CLI_EXPLAIN_H
#define VYRE_CLI_EXPLAIN_H

#include "base/hash.h"
#include "cli/cli.h"
#include "policy/route_table.h"
#include "profile/store.h"

#include <jansson.h>

enum { MAX_PRINTS = 16 };

typedef struct evidence_line { // a copy of a store_line of this machine
  char kind[12], device[128], subject[200], detail[64];
  uint64_t count, total_ns, extreme_ns;
  int64_t date;
} evidence_line;

// What the store has of one program, by its fingerprint.
typedef struct program_evidence {
  char print[HASH_HEX];
  store_latency_row *latencies;
  store_decision_row *decisions;
  uint32_t latency_count, decision_count;
} program_evidence;

typedef struct explaining {
  const cli *cli;
  const char *op;
  bool is_one_program;                   // a file was named: others of its name do not count
  program_evidence programs[MAX_PRINTS]; // of that name
  uint32_t program_count;
  arena memory;
  note_sink notes;
  store *store; // NULL: none to be had
  route_table *routes;
  char *routes_path;
  vec(evidence_line) lines;
  bool found_any;
  json_t *json; // NULL: text
} explaining;

// A fingerprint, from its digits.
bool explain_read_print(const char *hex, uint8_t out[HASH_BYTES]);
const program_evidence *explain_find_print(const explaining *e, const char *hex); // NULL: none

void explain_backend(explaining *e);  // which variant runs, at each size
void explain_wrong(explaining *e);    // what is not used any more
void explain_shape(explaining *e);    // launch shapes
void explain_choices(explaining *e);  // configurations of tunables
void explain_passes(explaining *e);   // what the optimizer did
void explain_variants(explaining *e); // what was prepared ahead

#endif
