// SPDX-License-Identifier: MIT
//
// What the parts of the code generator share while they lower one region. A kernel is the function
// being made; an emitter lowers (part of) the body once, for a vector of `width` invocations along
// x and, when rows are jammed, for several rows at a time. All of it lives on one thread, and ends
// with the compile call that made it.
//
// Values. A value that is the same along x, or linear, is kept as the scalar of the first
// invocation; any other as a vector. With jammed rows a value that differs along y is kept once per
// row. A width of 1 makes "vectors" scalars: the same emitter gives scalar code.
//
// Masks. Who is active is `exec`: NULL when all are, else a vector of integers, all ones or all
// zeros, of the width that suits the target's registers (bits where it has predicates).
#ifndef VYRE_BACKEND_CPU_CODEGEN_EMIT_H
#define VYRE_BACKEND_CPU_CODEGEN_EMIT_H

#include "analysis/phases.h"
#include "analysis/shape.h"
#include "backend/cpu/codegen/target.h"
#include "backend/llvm/lanewise.h"
#include "base/strbuf.h"
#include "ir/limits.h"

#include <llvm-c/DebugInfo.h>

// One module: the whole program.
typedef struct unit {
  const vyre_program *p;
  uint32_t first, end; // regions of it that are compiled here
  const cpu_options *options;
  const target *target;
  arena arena;
  LLVMContextRef context;
  LLVMModuleRef module;
  lltype scalars[VYRE_TYPE_COUNT]; // bool is i1
  lltype i1, i8, i16, i32, i64, i128, ptr, nothing;
  unsigned scope_kind, noalias_kind; // of metadata
  llval zeros;                       // constant memory: what an empty buffer points to
  LLVMDIBuilderRef debug;            // debug information, or NULL
  LLVMMetadataRef file;
  strbuf remarks;
} unit;

// How the accesses of the main version of the body were lowered; see remarks.c.
typedef enum access_class {
  ACCESS_UNIFORM,
  ACCESS_CONTIGUOUS,
  ACCESS_REVERSED,
  ACCESS_RECORD,
  ACCESS_STEPS, // at equal distances
  ACCESS_LANES,
  ACCESS_PRIVATE,
  ACCESS_ATOMIC,
  ACCESS_CLASSES
} access_class;

typedef struct kernel {
  unit *u;
  const vyre_program *p;
  const region *region;
  uint32_t index;
  ranges known;
  llval function, args, lo, hi, scratch;
  LLVMBuilderRef entry;    // appends to the entry block: allocas, what a dispatch brings
  llblock stopped;         // returns CPU_STOPPED
  llval stop;              // the flag's address
  llval *params;           // per parameter, once asked for
  llval *data, *length;    // per buffer, once asked for; length is i64
  llval *shared;           // per shared array of the region
  LLVMMetadataRef *scopes; // per buffer, then per shared array: for LLVM\'s alias analysis
  llval grid[3];           // i64, once asked for
  llval is_alone;          // i1, once asked for
  llval stays;             // i64, once asked for: 0 when stores stream, else 1
  llval aside;             // address, once asked for: where is written what nobody reads
  bool *is_only_written;   // per buffer: nothing reads it
  bool *is_own;            // per buffer: an element is written by the invocation of its number only
  bool *is_used;           // per operation of the body: something uses its value
  uint32_t *update;        // per operation: the store that it is part of; see private.c
  bool is_large;           // so much code that LLVM has to be spared
  const uint8_t *voted;    // per operation: an `if` that holds for all of a workgroup, or NULL
  struct lines *lines;     // shared arrays that may be in registers, or NULL; see lines.h
  struct tally **tallies;  // per buffer: copies that are counted into, or NULL
  uint32_t tally_count;
  uint64_t scratch_bytes;
  uint32_t accesses[ACCESS_CLASSES], checked, ahead, across, asides; // of the main version
  LLVMMetadataRef subprogram;
} kernel;

// What is kept per invocation between the phases of a workgroup, in the scratch memory.
typedef struct keeper {
  const phases *phases;
  const shapes *shapes; // without assumptions: slots look the same to every version of the code
  unsigned width;
  uint64_t *offset; // per operation: 1 + where its slots are; 0: none
  llval *steering;  // per operation: variable with the value for the whole workgroup, or NULL
  uint64_t gone_at; // slots of masks: who returned
  llval left, gone; // variables, i1: whether somebody is left, and whether somebody returned
} keeper;

// A loop or an if that is being lowered.
typedef struct open_block {
  uint32_t op;
  bool is_divergent; // along x: some are not active in it, and come back
  // Loops only.
  llblock next, exit;
  uint64_t short_trips; // iterations with those of the loops around it; 0: polls the flag
  llval live;           // variable: mask of those still in the loop; NULL when all leave together
  llval skipped;        // variable: those that continued early; NULL when none do
} open_block;

typedef struct emitter {
  kernel *k;
  unit *u;
  const vyre_program *p;
  LLVMBuilderRef b;
  unsigned width, rows;
  const shapes *shapes;
  const uint8_t *assume;       // NULL: nothing
  const struct guards *guards; // what the assumptions come from
  const uint8_t *proven;       // as `assume`: accesses that a loop around asked about; NULL: none
  uint32_t first;              // of the body
  llval *values;               // [operation - first][row]
  llval *wide;                 // per FOR: its counter as i64, or NULL
  llval *storage;              // [operation - first][row]: variables and private arrays
  uint32_t *declared;          // per variable and array: depth of its declaration
  range *used;                 // per variable and array: first and last operation that reads it
  llval x;                     // i64: global id of the first invocation
  llval local_x;               // i64, in rigid regions
  llval *y;                    // i64, per row: global id
  llval z;                     // i64
  llval group[3], local[3];    // i64, in rigid regions; local x is local_x
  llval exec;                  // mask, or NULL
  llval returned;              // variable: mask of those that returned; NULL when none can
  llval aside;                 // i1: what is written counts only where it holds; NULL: it does
  llblock done;                // the end of this vector of invocations
  open_block open[LIMIT_OPEN];
  uint32_t depth;
  // In regions with barriers.
  const keeper *keep;
  llval vector;   // i64: number of this vector of invocations in the workgroup
  uint32_t *made; // per operation: the round in which its value was made
  uint32_t round;
  uint32_t *early; // per access: made with another one of its run (run.c), or 0
  bool is_main;    // counts what it does
  bool is_resumed; // code may be entered behind any barrier: values that cross are in memory
  struct resumption *resumption;
  struct ahead *ahead;           // the loop around whose loads run ahead of it, or NULL
  const struct packing *packing; // what is read from copies, or NULL
} emitter;

// ---- build.c: small things ----------------------------------------------------------------------

static inline lanewise lanes_of(const emitter *e) {
  return (lanewise){e->u->context, e->u->module, e->b, e->u->scalars, e->width};
}
lltype type_vector_of(const emitter *e, lltype scalar);
lltype type_value(const emitter *e, vyre_type type, bool is_vector);
lltype type_memory(const unit *u, vyre_type type); // bool is a byte
llval const_value(const emitter *e, vyre_type type, uint64_t bits, bool is_vector);
llval const_i64(const unit *u, uint64_t value);
llval build_splat(const emitter *e, llval scalar);
llval build_lane_numbers(const emitter *e, lltype scalar, uint64_t stride); // constant
llval build_intrinsic(const emitter *e, const char *name, const lltype *types, unsigned type_count,
                      const llval *args, unsigned count);
llval build_variable(const emitter *e, lltype type, const char *name); // in the entry block
llblock build_block(const emitter *e, const char *name);
void build_go(const emitter *e, llblock to);
void build_at(const emitter *e, llblock at);
void build_likely(const emitter *e, llval branch); // it is nearly always taken
llval build_extract(const emitter *e, llval vector, unsigned lane);
llval build_insert(const emitter *e, llval vector, llval value, unsigned lane);
llval build_extend(const emitter *e, vyre_type type, llval index); // of an integer, to i64
void build_poll(const emitter *e);                                 // leave when asked to stop

// Masks.
lltype type_mask(const emitter *e);
llval mask_pack(const emitter *e, llval bits);          // from a vector of i1
llval mask_test(const emitter *e, llval mask);          // to a vector of i1
llval mask_full(const emitter *e);                      // all active
llval mask_and(const emitter *e, llval a, llval b);     // either may be NULL
llval mask_without(const emitter *e, llval a, llval b); // a may be NULL
llval bits_any(const emitter *e, llval bits);           // i1
llval bits_number(const emitter *e, llval bits);        // an integer of `width` bits, lane 0 lowest
llval bits_and(const emitter *e, llval a, llval b);     // either may be NULL
llval mask_any(const emitter *e, llval mask);           // i1: somebody is active

// ---- values -------------------------------------------------------------------------------------

const shape *shape_of(const emitter *e, uint32_t op);
bool is_uniform(const emitter *e, ref r);           // along x
bool is_scalar(const emitter *e, uint32_t op);      // uniform or linear: kept as a scalar
bool is_kept_scalar(const emitter *e, uint32_t op); // in its slot between phases
llval value_spread(const emitter *e, uint32_t op, llval scalar); // to a vector
unsigned row_count(const emitter *e, uint32_t op);
void value_set(emitter *e, uint32_t op, unsigned row, llval value);
llval value_scalar(const emitter *e, ref r, unsigned row); // uniform and linear values only
llval value_vector(const emitter *e, ref r, unsigned row);

// ---- the rest -----------------------------------------------------------------------------------

// load.c, store.c, atomic.c, private.c
void emit_load(emitter *e, uint32_t i);
void emit_store(emitter *e, uint32_t i);
void emit_atomic(emitter *e, uint32_t i);
void emit_array(emitter *e, uint32_t i);
// Updates of elements of private arrays, a[i] = a[i] + 1: finds them in a region (false: out of
// memory), and whether the store at the end of one does all of its work.
bool updates_find(kernel *k);
bool is_in_update(const emitter *e, uint32_t i);

// control.c, body.c
uint32_t emit_if(emitter *e, uint32_t i);
uint32_t emit_for(emitter *e, uint32_t i);
uint32_t emit_while(emitter *e, uint32_t i);
void emit_leave(emitter *e, uint32_t i); // break, continue, return
// Lowers a block. Goes to `after` when everybody has left before its end.
void emit_range(emitter *e, uint32_t first, uint32_t end, llblock after);
// Some invocations are away and come back to see this variable or array.
bool parted_since(const emitter *e, uint32_t variable);

void emit_value(emitter *e, uint32_t i);
// A value and what it is made of, unless this round has it. `is_there` says of what else that it is
// there, per operation of the body; NULL: of nothing.
void emit_tree(emitter *e, uint32_t i, const bool *is_there);
llval variable_new(emitter *e, uint32_t i, unsigned row); // its slot on the stack, made once
llval variable_load(const emitter *e, uint32_t variable, unsigned row);
void variable_store(const emitter *e, uint32_t variable, unsigned row, llval value);

// keep.c
void keep_value(const emitter *e, uint32_t i);       // after it was made
llval keep_load(const emitter *e, uint32_t i);       // what was kept
llval keep_address(const emitter *e, uint32_t i);    // of this vector's slot
void keep_enter(emitter *e, range code);             // at the beginning of a vector's phase
void keep_leave(emitter *e, range code);             // at its end
void emit_resumable_barrier(emitter *e, uint32_t i); // resume.c
uint32_t emit_resumable_for(emitter *e, uint32_t i);

// Counts an access, in the main version; `is_checked` when every lane is compared with the bounds.
void note_access(const emitter *e, access_class class, bool is_checked);

// debug.c: lines of the source, when they are asked for and known.
void debug_open(unit *u);
void debug_close(unit *u);
void debug_function(kernel *k, const char *symbol);
void debug_at(const emitter *e, uint32_t i); // what is built from now on belongs to operation i

// kernel.c
bool kernel_emit(unit *u, uint32_t index, cpu_region_code *out);
llval kernel_param(kernel *k, uint32_t index);
llval kernel_data(kernel *k, uint32_t index);
llval kernel_length(kernel *k, uint32_t index); // i64
llval kernel_grid(kernel *k, uint32_t axis);    // i64
llval kernel_shared(kernel *k, uint32_t index);
llval kernel_is_alone(kernel *k); // i1: no other thread runs the region
llval kernel_stays(kernel *k);    // i64: 0 when what is written goes by the caches, else 1
llval kernel_mark(kernel *k, llval access, uint32_t mem); // tells LLVM what else it is not
uint64_t kernel_scratch(kernel *k, uint64_t bytes);       // reserves; the offset, aligned to 64
llval kernel_aside(kernel *k);                            // for an element that nobody reads

#endif
