// SPDX-License-Identifier: MIT
//
// From a program to SPIR-V 1.3: one shader per region. What a device does not do as docs/IR.md says
// is lowered away first (lower/lower.h); what is left is written one operation after the other, and
// blocks become structured control flow one to one. Integers of less than 32 bits are computed in
// 32, so that a device needs no arithmetic for them. Pure functions: any thread.
#ifndef VYRE_BACKEND_VULKAN_EMIT_H
#define VYRE_BACKEND_VULKAN_EMIT_H

#include "ir/program.h"
#include "lower/target.h"

// What a device can be asked to keep to, a bit per width: 1 for 16, 2 for 32, 4 for 64.
typedef struct vulkan_float_modes {
  uint8_t keeps_subnormals, keeps_special, rounds_to_even;
} vulkan_float_modes;

typedef struct vulkan_target {
  lower_target lower;
  vulkan_float_modes modes;
  uint32_t push_bytes; // of facts that are pushed; more go through a uniform buffer
  // The compiler takes 0 * x for 0, x + 0 for x, x - x for 0: constants are hidden from it, and
  // that both sides of a difference are the same.
  bool hides_floats;
  // Iterations of an invocation, of all its loops, that the driver is known to let it make; 0: any
  // number. Shaders that could make more count them, and raise the stop flag to STOP_TOO_LONG.
  uint32_t most_turns;
} vulkan_target;

enum { STOP_ASKED_BY_HOST = 1, STOP_TOO_LONG = 2 };

extern const vulkan_target vulkan_full_target; // what every device has, and may have

// A fact of the launch that a shader reads, in one 32-bit word. They stand in their order, packed.
typedef enum vulkan_fact_kind {
  FACT_OF_PARAM,  // word `part` of scalar `index`
  FACT_OF_LENGTH, // number of elements of buffer `index`
  FACT_OF_GRID,   // extent along axis `index`
  FACT_OF_BASE,   // where the dispatch begins along axis `index`, in workgroups
  FACT_OF_ZERO,   // 0, which no compiler knows
} vulkan_fact_kind;

typedef struct vulkan_fact {
  uint8_t kind, part;
  uint16_t index;
} vulkan_fact;

// A buffer that a shader touches; its number is the binding.
typedef struct vulkan_use {
  uint16_t buffer;
  bool is_read, is_written;
} vulkan_use;

// Workgroups are specialisation constants 0, 1 and 2.
typedef struct vulkan_shader {
  char *entry;    // name of the entry point
  uint32_t *code; // SPIR-V
  size_t words;   // in it
  vulkan_use *uses;
  uint32_t use_count;
  vulkan_fact *facts;
  uint32_t fact_count;
  bool has_uniform; // facts are at binding vulkan_uniform_binding, not pushed
  bool has_loop;    // that is not provably short, or has more turns than the driver grants
} vulkan_shader;

typedef struct vulkan_source {
  vulkan_shader *shaders; // one per region
  uint32_t shader_count;
  bool is_polled;
} vulkan_source;

static inline uint32_t vulkan_stop_binding(const vyre_program *p) {
  return p->buffer_count;
}
static inline uint32_t vulkan_uniform_binding(const vyre_program *p) {
  return p->buffer_count + 1;
}

// `is_polled`: shaders look at a stop flag, so that a time limit can end them.
// VYRE_ERROR_UNSUPPORTED names what the target lacks, or the barrier that is not provably reached
// by whole workgroups. The caller ends what it got with vulkan_source_fini.
vyre_status vulkan_emit(const vyre_program *program, const vulkan_target *target, bool is_polled,
                        vulkan_source *out, vyre_error *error);
void vulkan_source_fini(vulkan_source *source);

// Whether a region could run for long, or make more turns than the target grants.
bool vulkan_is_long(const vyre_program *program, const region *r, const vulkan_target *target);

// All regions as entry points of one module, with names: for reading. *code is malloc'ed.
vyre_status vulkan_emit_module(const vyre_program *program, const vulkan_target *target,
                               bool is_polled, uint32_t **code, size_t *words, vyre_error *error);

#endif
