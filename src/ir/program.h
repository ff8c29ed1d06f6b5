// SPDX-License-Identifier: MIT
//
// The frozen program: arrays of small records in one arena, which refer to one another by 32-bit
// index. The layout is open to every folder because analyses, passes and backends are loops over
// `code`. A program is immutable once frozen and safe to share between threads; it is reference
// counted (vyre_program_retain / vyre_program_release).
//
// Code is one array in program order. Each operation is at once a statement or a value: a value is
// named by the index of the operation that made it, and blocks are bracketed by IF ELSE END,
// FOR END, and WHILE (condition) DO (body) END. A value may be used after its operation and inside
// the block that holds it. Constants are no operations: they live in a pool, and a reference to one
// has REF_CONST set.
#ifndef VYRE_IR_PROGRAM_H
#define VYRE_IR_PROGRAM_H

#include <vyre/vyre.h>

#include "base/arena.h"
#include "base/hash.h"
#include "ir/types.h"

#include <stdatomic.h>

// A value: 0 is none, REF_CONST | i is consts[i], anything else is code[i].
typedef uint32_t ref;
#define REF_CONST 0x80000000u
static inline bool ref_is_const(ref r) {
  return (r & REF_CONST) != 0;
}
static inline uint32_t ref_index(ref r) {
  return r & ~REF_CONST;
}

// A memory object: a buffer, a shared array, or the private array declared by an ARRAY operation.
enum { MEM_BUFFER, MEM_SHARED, MEM_PRIVATE };
#define MEM_REF(space, index) ((uint32_t)(space) << 30 | (uint32_t)(index))
static inline unsigned mem_space(uint32_t mem) {
  return mem >> 30;
}
static inline uint32_t mem_index(uint32_t mem) {
  return mem & 0x3fffffffu;
}

// One operation. What the slots mean is in ops.def; the links of structure operations are:
//   IF    arg[0] condition, arg[1] its ELSE or 0, arg[2] its END
//   ELSE  arg[1] its IF, arg[2] its END
//   FOR   arg[0..2] lo, hi, step, arg[3] its END
//   WHILE arg[1] its DO, arg[2] its END
//   DO    arg[0] condition, arg[1] its WHILE, arg[2] its END
//   END   arg[1] the IF, FOR or WHILE it closes
//   BREAK, CONTINUE  arg[1] the FOR or WHILE they leave
typedef struct inst {
  uint8_t op;   // vyre_op
  uint8_t type; // vyre_type of the value, variable or elements; VYRE_VOID for statements
  // 0: as the row of ops.def says. Otherwise the form of lowered.def: the precondition is promised
  // by the recipe of this number plus 1 (lower/recipe.h). Only lowered programs have that.
  uint8_t promised_by;
  uint8_t reserved;
  uint32_t arg[4];
} inst;

// The slot of an operation that opens or goes on with a block (IF ELSE FOR WHILE DO) which links to
// its END, and that END.
static inline unsigned inst_end_slot(const inst *in) {
  return in->op == VYRE_OP_FOR ? 3 : 2;
}
static inline uint32_t inst_end(const inst *in) {
  return in->arg[inst_end_slot(in)];
}

typedef struct constant {
  uint64_t bits; // type_canonical_bits
  uint32_t type;
  uint32_t reserved;
} constant;

typedef struct range { // of code: first <= i < end
  uint32_t first, end;
} range;

typedef struct source_place { // byte offset in the text that something came from, plus 1; 0:
                              // unknown
  uint32_t offset;
} source_place;

typedef struct param {
  const char *name;
  vyre_type type;
} param;

typedef struct buffer {
  const char *name;
  vyre_type type;
  vyre_access access;
  bool is_transient;
  ref length; // in the header code; 0: as bound
  source_place place;
} buffer;

typedef struct shared_array {
  const char *name;
  vyre_type type;
  uint32_t length;
  uint32_t region;
} shared_array;

typedef struct region {
  const char *name;
  uint32_t rank;
  ref grid[3]; // in grid_code; constants 1 past the rank
  uint32_t workgroup[3];
  range grid_code, body;
  range shared;           // of the program's shared arrays
  uint32_t lanes;         // of a lowered program: the axis that x was before (analysis/axis.h)
  bool is_merged;         // of a lowered program: an invocation was a workgroup (lower/groups.h)
  bool is_elastic;        // derived: nothing in the body depends on the workgroup
  bool has_barrier;       // derived
  uint32_t private_bytes; // derived: sum of the private arrays
  source_place place;
} region;

// Tunables: constants with the values that a tuner may give them. What runs has numbers in the
// places where they are used; beside them the program keeps which places these are, so that the
// same program with other values can be made (vyre_program_tune). Passes drop that.
//
// A formula is a list of terms in postfix order: a number, a tunable, or an operation on what
// stands before it.
enum { TERM_TUNABLE = 0xff };
typedef struct formula_term {
  uint8_t op;       // VYRE_OP_NONE: a number; TERM_TUNABLE; otherwise a vyre_op
  uint8_t type;     // of its value
  uint32_t tunable; // the number of that
  uint64_t bits;    // of a number
} formula_term;

typedef struct tunable {
  const char *name;
  vyre_type type;
  uint32_t count, chosen; // of the values
  const uint64_t *values;
  range where; // of the terms; empty: nothing is asked of it
  source_place place;
} tunable;

// Places where a formula decides what stands there: one tunable alone where a value is needed.
typedef enum use_kind {
  USE_OPERAND,   // slot of operation `at`
  USE_ARRAY,     // length of the private array that operation `at` declares
  USE_LENGTH,    // of buffer `at`
  USE_GRID,      // extent `slot` of region `at`
  USE_WORKGROUP, // likewise
  USE_SHARED,    // length of shared array `at`
  USE_KINDS
} use_kind;

typedef struct tunable_use { // in rising order of kind, at and slot
  uint32_t kind, at, slot;
  range terms;
} tunable_use;

// A comment of the text form, kept so that formatting loses nothing. `anchor` is the operation it
// stands before, or an item number for declarations; only the text form looks at it.
typedef struct comment {
  uint32_t kind, anchor;
  const char *text;
} comment;

// What a program was made from, in its arena: kept where the source declares macros as tunables
// (front/declared.h), so that the same program with other values can be made.
typedef struct program_origin {
  const char *language, *text, *name;
  size_t size;
  vyre_source_options options;
} program_origin;

struct vyre_program {
  arena arena;
  atomic_uint references;
  const char *name;
  uint32_t fast_ulp;
  bool is_derived; // made from a program that was verified, see builder_copy_head

  uint32_t param_count, buffer_count, region_count, shared_count, const_count, code_count;
  uint32_t comment_count;
  param *params;
  buffer *buffers;
  region *regions;
  shared_array *shared;
  constant *consts;
  inst *code;                 // code[0] is unused
  range header;               // extents of buffers
  const char **names;         // per operation, NULL when unnamed; NULL when nothing is named
  const source_place *places; // per operation; NULL when unknown
  const uint32_t *lines;      // where each line of the source text begins; NULL when unknown
  uint32_t line_count;
  const char *source_name; // the path of that text; NULL when it has none
  bool begins_undefined;   // its language leaves arrays undefined at first; here they are zero
  const comment *comments;

  uint32_t tunable_count, use_count, term_count;
  const tunable *tunables;
  const tunable_use *uses;
  const formula_term *terms;

  const program_origin *origin; // NULL: not known, or nothing is declared in it

  // What the program was lowered for, a lower_target in the arena; NULL when it is as written.
  const struct lower_target *target;

  uint8_t lazy_fingerprint[HASH_BYTES]; // see program_fingerprint
  atomic_bool has_fingerprint;
  vyre_stats stats;
};

// "div", or "div_nonzero" where that is promised.
static inline const char *inst_name(const inst *in) {
  return in->promised_by ? op_forms[in->op].name : op_table[in->op].name;
}

// Line and column, from 1, that an operation came from; 0 when that is not known.
uint32_t program_line(const vyre_program *program, uint32_t instruction, uint32_t *column);

static inline vyre_type ref_type(const vyre_program *p, ref r) {
  return (vyre_type)(ref_is_const(r) ? p->consts[ref_index(r)].type : p->code[r].type);
}

// The last step of the builder: links the blocks, derives what regions carry, verifies, counts
// statistics. On failure the program is still the caller's to release, and *fault (may be NULL) is
// the operation at fault, or the declaration (FAULT_TUNABLE, FAULT_BUFFER or FAULT_REGION with its
// number), 0 when there is none.
#define FAULT_TUNABLE 0x20000000u
#define FAULT_BUFFER  0x40000000u
#define FAULT_REGION  0x80000000u
vyre_status program_freeze(vyre_program *program, uint32_t *fault, vyre_error *error);
// The program's identity, HASH_BYTES. It is computed when it is first asked for, once, so that what
// passes make on the way to a result is never hashed. Any thread.
const uint8_t *program_fingerprint(const vyre_program *program);
// For the decoder, which has the canonical bytes at hand and hashes those; before others see it.
void program_set_fingerprint(vyre_program *program, const uint8_t fingerprint[HASH_BYTES]);
vyre_program *program_new(void); // empty, with one reference; NULL when out of memory

// Evaluates header and grid code on the host. `lengths` has one entry per buffer: the caller fills
// those taken from a binding, this call the others.
typedef struct program_extents {
  const vyre_scalar *params;
  uint64_t *lengths;
  uint64_t (*grids)[3];
} program_extents;
vyre_status program_eval_extents(const vyre_program *program, program_extents *extents,
                                 vyre_error *error);

#endif
