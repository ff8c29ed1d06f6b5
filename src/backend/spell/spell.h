// SPDX-License-Identifier: MIT
//
// Lowered programs as text of the C family: expressions, statements, names and literals, once for
// C and OpenCL C. What differs between the two is a `dialect`. A speller writes the code of one
// region, or of the header, into its text; the caller writes what stands around it. Wrapping
// arithmetic is done unsigned, because overflow has no meaning in C, and what is shorter than int
// is cut after each operation, because C promotes it. One thread.
#ifndef VYRE_BACKEND_SPELL_SPELL_H
#define VYRE_BACKEND_SPELL_SPELL_H

#include "backend/spell/names.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "ir/program.h"

typedef struct speller speller;

typedef struct dialect {
  const char *types[VYRE_TYPE_COUNT];
  const char *memory_bool;   // a bool in memory
  const char *wide_suffix;   // of 64-bit unsigned literals; the signed one is without the U
  const char *f32_suffix;    // of functions of floats: "f" in C
  const char *bits_of[2];    // functions from f32 and f64 to their bits
  const char *float_of[2];   // and back
  const char *launch_prefix; // in front of parameters, buffers and lengths
  const char *shared_prefix; // in front of the names of shared arrays
  const char *stop;          // whether the launch is asked to end
  // From VYRE_OP_GLOBAL_ID on, in their order: formats of the axis, and of the workgroup's extent.
  // That itself is a literal.
  const char *facts[VYRE_OP_GROUP_COUNT - VYRE_OP_GLOBAL_ID + 1];
  const char *(*atomic)(const inst *in, char name[40]); // the function's name
  void (*barrier)(speller *s);                          // statements
  void (*leave)(speller *s);                            // the end of the invocation, a statement
} dialect;

struct speller {
  const dialect *d;
  const vyre_program *p; // lowered
  const region *r;       // NULL in the header
  range part;            // of the code
  void *context;         // the caller's
  strbuf text;
  uint32_t indent;
  name_set names;
  const char *param_names[LIMIT_PARAMS], *buffer_names[LIMIT_BUFFERS];
  const char *length_names[LIMIT_BUFFERS];
  const char **shared_names; // per shared array of the region
  const char **value_names;  // per operation of the part; NULL for what is written where it is used
  uint32_t *use_count;       // per operation
  uint8_t *is_inline;        // per operation: written where it is used
  // Values outlive a call: they are declared by the caller, as members of `s`, not where they are
  // made.
  bool is_framed;
  bool failed; // out of memory
};

// ---- plan.c -------------------------------------------------------------------------------------

// Begins a scope, with the names of parameters, buffers and lengths: the same ones in each, because
// they are taken first.
void spell_name_interface(speller *s);
// Chooses what is inlined, and the names of values and shared arrays.
void spell_plan(speller *s, const region *r, range part);
void spell_fini(speller *s);

// What of the interface the part mentions.
typedef struct spell_usage {
  bool params[LIMIT_PARAMS], buffers[LIMIT_BUFFERS], written[LIMIT_BUFFERS];
  bool lengths[LIMIT_BUFFERS], grid[3];
} spell_usage;
void spell_find_usage(const speller *s, spell_usage *out);

// ---- value.c ------------------------------------------------------------------------------------

const char *spell_type(const speller *s, vyre_type type);
const char *spell_memory_type(const speller *s, vyre_type type);
void spell_literal(speller *s, vyre_type type, uint64_t bits);
void spell_operand(speller *s, ref value); // an expression that binds tighter than any operator
void spell_whole(speller *s, ref value);   // one that no operator stands beside
void spell_name(speller *s, uint32_t op);  // of a value, variable or private array
void spell_element(speller *s, const inst *in); // `x[i]`

// ---- statement.c --------------------------------------------------------------------------------

void spell_code(speller *s); // the whole part
void spell_line(speller *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Declares the values that are not inlined, one a line: for frames.
void spell_declarations(speller *s);

static inline uint32_t spell_offset(const speller *s, uint32_t op) {
  return op - s->part.first;
}

#endif
