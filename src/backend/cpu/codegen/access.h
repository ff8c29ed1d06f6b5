// SPDX-License-Identifier: MIT
//
// What loads, stores and atomics share: the memory object that they touch, whether an index is
// inside of it, and running something for each active lane in turn.
#ifndef VYRE_BACKEND_CPU_CODEGEN_ACCESS_H
#define VYRE_BACKEND_CPU_CODEGEN_ACCESS_H

#include "backend/cpu/codegen/emit.h"

typedef struct place {
  uint32_t mem;
  vyre_type type;
  lltype element;        // in memory
  llval data;            // of element 0
  llval length;          // i64
  uint64_t known_length; // 0: only the dispatch knows
} place;

// Of buffers and shared arrays.
place place_of(const emitter *e, uint32_t mem);
llval place_at(const emitter *e, const place *p, llval index); // i64 to address

// Proven without looking: by range or by assumption.
bool is_inside(const emitter *e, const place *p, uint32_t op);
llval inside_scalar(const emitter *e, const place *p, llval index); // i64 to i1
llval inside_vector(const emitter *e, const place *p, vyre_type type, llval indices);
// Who takes part in the access `op` of a vector of indices: a vector of i1, NULL for all.
llval access_bits(const emitter *e, const place *p, uint32_t op, unsigned row);

// The class of an access whose index is no scalar, in this version of the code.
access_class access_class_of(const emitter *e, uint32_t op);
bool is_assumed(const emitter *e, uint32_t op);  // inside, by an assumption
bool can_mask(const emitter *e, const place *p); // moves of chosen elements are instructions
llval index_scalar(const emitter *e, uint32_t op, unsigned row); // i64, of the first lane
// Of one lane: from the vector of indices, or from x alone when that is NULL.
llval lane_index(const emitter *e, uint32_t op, unsigned row, unsigned lane, llval indices);
// Neighbours: whether they are even when some are out of bounds, in every vector or in this one
// (i1), the address of the lowest, and whether all are inside (i1).
bool is_line(const emitter *e, uint32_t op);
llval line_is_straight(const emitter *e, uint32_t op, unsigned row);
llval line_address(const emitter *e, const place *p, uint32_t op, unsigned row);
llval line_is_inside(const emitter *e, const place *p, uint32_t op, unsigned row);
// Lanes of which nothing is known may turn out to be neighbours: a loop over a row by all of a
// workgroup, halves of blocks. Whether it is worth to ask, and whether the active ones are, with
// all of the line inside (i1), and where it begins.
bool is_line_by_chance(const emitter *e, uint32_t op);
llval lanes_are_line(const emitter *e, const place *p, uint32_t op, unsigned row, llval *address);
llval build_reversed(const emitter *e, llval vector, access_class class); // when it is reversed
llval load_wide(const emitter *e, const place *p, llval address);
void store_wide(const emitter *e, const place *p, llval address, llval value);
// Where some lanes are out of bounds or not active, or not known not to be.
void store_checked(const emitter *e, const place *p, uint32_t op, unsigned row, llval value);

// Two ways to access, of which a condition (i1) picks one. Each gives a value, or neither does.
typedef struct either {
  llblock second, after, from_first;
  llval first;
} either;
either either_begin(const emitter *e, llval condition);
void either_else(const emitter *e, either *x, llval first);
llval either_end(const emitter *e, const either *x, llval second); // whichever it was, or NULL

// Between memory and values: bool is a byte there.
llval to_memory(const emitter *e, vyre_type type, llval value);
llval from_memory(const emitter *e, vyre_type type, llval value);

// Vectors as arrays on the stack, for loops over lanes.
llval spill(const emitter *e, llval vector);
llval spilled_lane(const emitter *e, llval array, lltype element, llval lane);
void spill_lane(const emitter *e, llval array, llval value, llval lane);

// A loop over the set bits, lowest first; over all lanes when `bits` is NULL; at width 1 an if.
typedef struct lane_loop {
  llval lane; // i64
  llval rest, next, limit;
  llblock head, exit;
} lane_loop;
void lanes_begin(const emitter *e, lane_loop *l, llval bits);
void lanes_end(const emitter *e, const lane_loop *l);

// gather.c: any elements at once, where the machine has instructions for it that are fast. `saves`:
// it is more than one load for each lane, since lanes are chosen, or get two elements at once.
// Lanes without their bit read nothing and give zero; NULL: all take part.
bool can_gather(const emitter *e, vyre_type type, bool saves);
llval build_gather(const emitter *e, vyre_type type, llval addresses, llval bits);
llval build_scatter(const emitter *e, vyre_type type, llval addresses, llval value, llval bits);
llval load_gathered(const emitter *e, const place *p, ref index, llval indices, llval bits);
void store_scattered(const emitter *e, const place *p, ref index, llval indices, llval value,
                     llval bits); // of several lanes that write one element the last one wins

// private.c
void private_load(emitter *e, uint32_t i);
void private_store(emitter *e, uint32_t i);

#endif
