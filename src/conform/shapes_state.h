// SPDX-License-Identifier: MIT
//
// What the parts of shapes.h share while they make one trial. Private to shapes*.c.
//
// A limit is of use where it cuts the row. So every value is made together with what it comes out
// as for one invocation, the sample, and limits, bases and lengths are put near that.
//
// Race freedom: an output is written at places that are its invocation's own, by one injective
// function of the invocation for a whole region; or in turns that an input assigns to exactly one
// of the invocations that share a place; or by one commutative atomic whose result nobody looks at.
// Other buffers are only read.
//
// Calls that take a maker have side effects, on its random numbers and on the program: at most one
// of them stands among the arguments of another (random.h).
#ifndef VYRE_CONFORM_SHAPES_STATE_H
#define VYRE_CONFORM_SHAPES_STATE_H

#include "base/random.h"
#include "conform/shapes.h"
#include "base/vec.h"
#include "ir/builder.h"

typedef struct node {
  vyre_value value;
  vyre_type type;
  uint64_t sample; // canonical bits, for the sample
} node;

// How an output's own places are spread over it.
typedef enum own_form {
  OWN_PLAIN,    // id
  OWN_REVERSED, // n - 1 - id
  OWN_SHIFTED,  // id + c
  OWN_STRIDED,  // id * s + c
  OWN_NARROWED, // through a type that just holds all ids
  OWN_BASED,    // 64 bits: a base from anywhere + id
  OWN_STAGED,   // id * 2 - (id & (s - 1)) + c: pieces of s side by side, as stages of transforms do
  OWN_PLANE,    // y * w + x, w at least the row's length
  OWN_TURNED,   // x * h + y
  OWN_FORMS,
} own_form;

typedef enum purpose {
  FOR_OUTPUT,  // own places
  FOR_TURNS,   // written where `turns` says so
  FOR_COUNTS,  // commutative atomics
  FOR_VALUES,  // read: elements of any type
  FOR_NARROW,  // read: 8- and 16-bit integers
  FOR_NUMBERS, // read: 64-bit numbers that are put there as they are needed
  FOR_WHOSE,   // read: whose turn it is
  PURPOSES,
} purpose;

typedef struct memory {
  vyre_mem mem;
  vyre_type type;
  uint64_t length;
  unsigned char *data; // its first content
  // For one region:
  own_form form;
  uint32_t slots; // own places, side by side
  node base;      // of SHIFTED, STRIDED, BASED and STAGED; the last place of OWN_REVERSED
  node stride;    // of OWN_STRIDED; the width of PLANE, the height of TURNED, s - 1 of STAGED
  vyre_op atomic;
} memory;

enum { MAX_COUNTERS = 4 };

typedef struct maker {
  random_state random;
  vyre_builder *b;
  vec(vyre_scalar) params;
  memory memories[PURPOSES];
  uint32_t numbers_used;
  uint32_t name_count;
  uint64_t places;      // of FOR_TURNS that are shared
  int64_t frozen_place; // from here on it is nobody's turn; 0: it is always somebody's

  // The region.
  uint32_t rank, workgroup[3];
  uint64_t grid[3], total;
  uint32_t turn; // the axis of the program that is our first one, and the other way round
  bool is_rigid; // its grid is a whole number of workgroups, and ids within them may be asked for
  uint32_t sample[3];
  node ids[3], linear;
  node counters[MAX_COUNTERS]; // of the loops around
  uint32_t counter_count;
} maker;

// shapes_value.c: numbers.
bool maker_chance(maker *m, uint32_t percent);
uint32_t maker_below(maker *m, uint32_t count);
vyre_type maker_index_type(maker *m); // 32 or 64 bits
node maker_const(maker *m, vyre_type type, uint64_t bits);
node maker_param(maker *m, vyre_type type, uint64_t bits);
node maker_fact(maker *m, vyre_op op, uint32_t axis, uint64_t sample); // of the launch
node maker_binary(maker *m, vyre_op op, node x, node y);
node maker_as(maker *m, node x, vyre_type type);
node maker_load(maker *m, purpose from, node index);
vyre_var maker_var(maker *m, node first);
node maker_get(maker *m, vyre_var var, vyre_type type);
// A constant of which static ranges know nothing, and LLVM all.
node maker_hidden(maker *m, vyre_type type, uint64_t bits);
// The same for all invocations, as a constant, a parameter or a loaded number.
node maker_uniform(maker *m, vyre_type type, uint64_t bits);
// Bits near an end: of the type, mostly, or of another.
uint64_t maker_end(maker *m, vyre_type type);
// The same for all invocations: near the number, or from the end of a type.
node maker_limit(maker *m, vyre_type type, uint64_t near);
// The same for all invocations, to multiply by: small, negative, or from the end of a type.
node maker_stride(maker *m, vyre_type type);
// Another for each invocation, mostly along a line.
node maker_moving(maker *m, vyre_type type);
node maker_narrow(maker *m); // loaded from FOR_NARROW
// An index that moves: inside for some invocations, mostly.
node maker_index(maker *m, uint64_t length);
node maker_piece(maker *m, vyre_type type); // 2^n - 1, the same for all
// Says for the region how an output's places are spread.
void maker_choose_own(maker *m, memory *out);
// The index of this invocation's own place.
node maker_own(maker *m, const memory *out, uint32_t slot);

// shapes_condition.c: conditions.
node maker_relation(maker *m);
node maker_compare(maker *m, node x, node y); // one of the six relations
node maker_condition(maker *m, int depth);
node maker_uniform_condition(maker *m); // the same for a workgroup

// shapes_body.c: what a region does.
// Something to store that depends on who stores it, most of the time.
node maker_value(maker *m, vyre_type type);
void maker_store_own(maker *m, node value);
// shapes_group.c: what its invocations do among themselves.
void maker_turns(maker *m);
void maker_barrier(maker *m);
void maker_table(maker *m);
void maker_meeting(maker *m);
void maker_shifts(maker *m);

typedef enum body_need {
  NEEDS_LOOPS = 1,    // few invocations
  NEEDS_PLANE = 2,    // two axes
  NEEDS_BARRIERS = 4, // rigid
  NEEDS_ROW = 8,      // one axis
  NEEDS_MANY = 16,    // more invocations than places
} body_need;

typedef struct body_kind {
  const char *name;
  int needs; // of body_need
  void (*make)(maker *m);
} body_kind;

extern const body_kind body_kinds[];
extern const uint32_t body_kind_count;

#endif
