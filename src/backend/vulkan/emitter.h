// SPDX-License-Identifier: MIT
//
// The state of an emission, shared by the files that write SPIR-V: emit.c the interface, value.c
// operations, flow.c blocks. Private to this folder. One thread.
#ifndef VYRE_BACKEND_VULKAN_EMITTER_H
#define VYRE_BACKEND_VULKAN_EMITTER_H

#include "backend/vulkan/emit.h"
#include "backend/vulkan/module.h"
#include "ir/limits.h"

typedef struct emitter_block {
  uint32_t merge, next; // labels: behind the block; `else`, or where a loop goes on
  uint32_t header;      // of a loop
  uint32_t stepped;     // of a for: the value behind the present one
} emitter_block;

typedef struct emitter_hidden {
  uint32_t plain, hidden; // a constant, and the same where no compiler knows it
} emitter_hidden;

typedef struct emitter {
  const vyre_program *p; // lowered
  const region *r;
  const vulkan_target *t;
  spirv_module m;
  bool has_names;
  uint32_t glsl;                         // the imported instructions
  uint32_t *values;                      // per operation of the program: its number in the module
  uint32_t *shared;                      // per shared array of the program
  uint32_t buffers[LIMIT_BUFFERS], stop; // variables; 0: not declared
  uint8_t accesses[LIMIT_BUFFERS];       // OPF_READS, OPF_WRITES, of all regions
  bool *holds_bits;                      // per buffer, then per shared array: floats as integers
  bool has_8_bits;                       // the extension is declared
  uint32_t size[3];                      // the workgroup's extents
  uint32_t group_id, local_id;           // variables

  // Of the region at work.
  uint8_t uses[LIMIT_BUFFERS]; // OPF_READS, OPF_WRITES
  vec(vulkan_fact) facts;
  vec(uint32_t) fact_values; // one per fact
  vec(emitter_hidden) hidden;
  uint32_t fact_block, fact_class; // the variable that holds them, and where it is
  emitter_block blocks[LIMIT_OPEN + 1];
  uint32_t depth;
  uint32_t turns; // the variable that counts iterations; 0: nobody does
  uint32_t label; // of the SPIR-V block at work
  bool is_open;   // it has no terminator yet
} emitter;

// ---- value.c ------------------------------------------------------------------------------------

uint32_t emitter_type(emitter *e, vyre_type type);   // of values
uint32_t emitter_memory(emitter *e, vyre_type type); // of elements
uint32_t emitter_u32(emitter *e);
uint32_t emitter_number(emitter *e, uint32_t value); // a constant u32
uint32_t emitter_const(emitter *e, vyre_type type, uint64_t bits);
uint32_t emitter_ref(emitter *e, ref value);
uint32_t emitter_local(emitter *e, uint32_t type); // a variable of the function
uint32_t emitter_stop_flag(emitter *e);            // a pointer to it
void emitter_read_facts(emitter *e);               // when the region's code begins
// What elements of a memory object are for shaders, and what they are declared as: words where the
// target has no type for them, integers where floats are exchanged atomically.
vyre_type emitter_element(const emitter *e, uint32_t mem);
vyre_type emitter_declared(const emitter *e, uint32_t mem);
void emitter_operation(emitter *e, uint32_t op); // one operation of the program

// ---- flow.c -------------------------------------------------------------------------------------

// The first block of a function is begun by whoever ends the function.
void emitter_begin_code(emitter *e);
void emitter_end_code(emitter *e);
// Before an operation: code behind a jump is in a block that nobody reaches.
void emitter_need_block(emitter *e);

// Compare-exchange of a float's bits: `old`, which is exchanged when it is `want` or both are NaN.
typedef struct flow_exchange {
  vyre_type bits; // the integer type
  uint32_t place, scope, want, desired;
} flow_exchange;
uint32_t flow_exchange_bits(emitter *e, const flow_exchange *x);

// A row of value.c's table: how an operation is written.
typedef struct emitter_row emitter_row;
struct emitter_row {
  uint32_t (*put)(emitter *e, uint32_t op, const emitter_row *row); // the result's number
  uint16_t on_unsigned, on_signed, on_float, on_bool;               // what it is in SPIR-V
};

void flow_begin_turns(emitter *e); // when the region's code begins
uint32_t flow_if(emitter *e, uint32_t op, const emitter_row *row);
uint32_t flow_else(emitter *e, uint32_t op, const emitter_row *row);
uint32_t flow_for(emitter *e, uint32_t op, const emitter_row *row);
uint32_t flow_while(emitter *e, uint32_t op, const emitter_row *row);
uint32_t flow_do(emitter *e, uint32_t op, const emitter_row *row);
uint32_t flow_end(emitter *e, uint32_t op, const emitter_row *row);
uint32_t flow_jump(emitter *e, uint32_t op, const emitter_row *row);
uint32_t flow_barrier(emitter *e, uint32_t op, const emitter_row *row);

#endif
