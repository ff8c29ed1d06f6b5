// SPDX-License-Identifier: MIT
//
// What the parts of the generator share while they make one program. Private to generate*.c.
//
// Race freedom is a matter of roles. For one region each buffer is either read by everybody, or
// each invocation reads and writes elements of its own, or everybody applies one kind of
// commutative atomic and nobody looks at what it returns. Shared arrays (and buffers that a
// workgroup uses as one) have such a role from one barrier to the next.
#ifndef VYRE_CONFORM_GENERATE_STATE_H
#define VYRE_CONFORM_GENERATE_STATE_H

#include "conform/generate.h"
#include "base/vec.h"
#include "ir/builder.h"

typedef enum role { ROLE_FREE, ROLE_READ, ROLE_OWN, ROLE_ATOMIC, ROLE_BUSY } role;

typedef struct memory_state {
  vyre_mem mem;
  vyre_type type;
  vyre_access access;
  uint64_t length;
  role role;
  bool is_tile;   // a buffer whose role changes at barriers, among a workgroup's own elements
  bool is_sized;  // its length is declared, not taken from what is bound
  bool is_shared; // an array of the workgroup
  uint32_t slots; // elements that an invocation owns
  uint32_t form;  // how they are spread
  vyre_op atomic; // the one kind of atomic while ROLE_ATOMIC
  bool is_whole;  // floats that are small whole numbers, so that their sums have no order
} memory_state;

typedef struct known_value {
  vyre_value value;
  vyre_type type;
  bool is_uniform; // the same for the whole workgroup
} known_value;

typedef struct known_var {
  vyre_var var;
  vyre_type type;
  bool is_uniform, is_counter;
} known_var;

typedef struct known_array {
  vyre_mem mem;
  vyre_type type;
  uint32_t length;
} known_array;

enum { MAX_OPS = 80, MAX_LOOPS = 8 };

typedef struct loop_state {
  bool is_uniform;
  bool allows_continue;
} loop_state;

typedef struct generator {
  random_state random;
  const generate_options *options;
  vyre_builder *b;

  // Tables, filled once.
  vyre_type types[VYRE_TYPE_COUNT];
  uint32_t type_count;
  uint8_t ops[VYRE_TYPE_COUNT][MAX_OPS]; // that give a value of the type
  uint32_t op_counts[VYRE_TYPE_COUNT];

  // The program so far.
  vec(vyre_scalar) params;
  vec(memory_state) buffers; // all, in order
  uint32_t name_count;

  // The region.
  vec(memory_state) shared;
  vec(known_value) values; // these three are stacks: a block pops what it pushed
  vec(known_var) vars;
  vec(known_array) arrays;
  uint32_t rank, workgroup[3];
  uint64_t grid[3];
  bool is_rigid;
  bool has_barriers; // may have, from here on
  bool is_uniform;   // the whole workgroup is here, or nobody
  uint32_t private_bytes;
  vyre_value linear, total;             // of the invocation in the grid, u32
  vyre_value local_linear, group_first; // in the workgroup; first of the group, for rank 1

  // The block.
  loop_state loops[MAX_LOOPS];
  uint32_t loop_count, depth, weight; // weight: how often a statement here runs at most
  int32_t budget;                     // statements left
} generator;

// Pushes; when memory runs out the builder fails, and generate_trial says so.
#define generator_keep(g, v, ...)                                                                  \
  ((void)(vec_push(v, __VA_ARGS__) ||                                                              \
          (builder_fail((g)->b, VYRE_ERROR_MEMORY, "out of memory. Fix: free some"), false)))

// generate_expr.c: values.
void generator_fill_tables(generator *g);
vyre_type generator_type(generator *g);       // any allowed one
vyre_type generator_index_type(generator *g); // that an index may have
// A value of the type. `uniform`: made only of what is the same for the whole workgroup.
vyre_value generator_expr(generator *g, vyre_type type, bool uniform, int depth);
// An index for reading a memory object of this length; sometimes out of bounds.
vyre_value generator_index(generator *g, uint64_t length, bool uniform, int depth);
// An index of an element that only this invocation touches; sometimes one out of bounds.
vyre_value generator_own_index(generator *g, const memory_state *m, int depth);
// Gives a free shared array or tile a role for the rest of the phase.
void generator_take_role(generator *g, memory_state *m);
bool generator_has_atomics(const generator *g, const memory_state *m); // on such elements
// The kind of commutative atomic that everybody applies to it.
vyre_op generator_atomic(generator *g, const memory_state *m);
void generator_know(generator *g, vyre_value value, vyre_type type, bool is_uniform);

// generate_body.c: statements.
void generator_body(generator *g);

#endif
