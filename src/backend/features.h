// SPDX-License-Identifier: MIT
//
// What a program uses, as a set: operations with the type they work on, and a few facts of
// structure. Conformance is stated over such sets: a backend that fails at one is not used for
// programs that have it. Pure functions: any thread.
#ifndef VYRE_BACKEND_FEATURES_H
#define VYRE_BACKEND_FEATURES_H

#include "base/strbuf.h"
#include "ir/program.h"

typedef enum feature_fact {
  FACT_SHARED,          // "shared": arrays of a workgroup
  FACT_TRANSIENT,       // "transient": buffers between regions
  FACT_REGIONS,         // "region": more than one
  FACT_BARRIER_IN_LOOP, // "barrier-in-loop"
  FACT_COUNT
} feature_fact;

// An index type is a feature of its own: "index:i64" is an access through one.
enum {
  FEATURE_INDEX = VYRE_OP_COUNT * VYRE_TYPE_COUNT,
  FEATURE_FACT = FEATURE_INDEX + VYRE_TYPE_COUNT,
  FEATURE_COUNT = FEATURE_FACT + FACT_COUNT,
};

typedef struct features {
  uint64_t bits[(FEATURE_COUNT + 63) / 64];
} features;

void features_of(const vyre_program *program, features *out);
static inline bool features_has(const features *f, uint32_t feature) {
  return f->bits[feature / 64] >> feature % 64 & 1;
}
static inline void features_add(features *f, uint32_t feature) {
  f->bits[feature / 64] |= 1ull << feature % 64;
}
bool features_meet(const features *x, const features *y); // some feature in both
bool features_contain(const features *all, const features *part);

// Names, separated by blanks: "add:f32 load:u8 barrier-in-loop". An operation without a type gets
// `type`; "atomic" is all atomics. False when a name is unknown.
bool features_parse(const char *names, vyre_type type, features *out);
void features_print(const features *f, strbuf *out);

#endif
