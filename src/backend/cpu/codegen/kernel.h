// SPDX-License-Identifier: MIT
//
// Between the parts that build a kernel's loops: over boxes, workgroups, rows and vectors.
#ifndef VYRE_BACKEND_CPU_CODEGEN_KERNEL_H
#define VYRE_BACKEND_CPU_CODEGEN_KERNEL_H

#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/pack.h"

// Operations of a region. LLVM's full pipeline takes time that grows with the square of a block:
// 0.2 s for 1,000 operations, 11 s for 10,000; the quick one takes 2 s for 40,000.
enum { MOST_OPERATIONS = 1 << 17 };

// for (at = from; at < end; at += step), in i64.
typedef struct count_loop {
  llval at, end;
  uint64_t step;
  llblock head, exit;
} count_loop;
void count_begin(kernel *k, LLVMBuilderRef b, count_loop *l, llval from, llval end, uint64_t step);
void count_end(kernel *k, LLVMBuilderRef b, const count_loop *l);

// Invocations along x, and where they are along the other axes. All i64.
typedef struct row {
  llval x0, x1;             // of the grid in elastic regions, of the workgroup in rigid ones
  llval y[MOST_ROWS], z;    // global ids; y of each jammed row
  llval group[3], local[3]; // rigid regions only
  llval origin;             // global x of local x 0; NULL in elastic regions
  range code;
} row;

// The emitters of a row: for whole vectors under assumptions, for any, and for what is computed
// once before the row.
typedef struct versions {
  emitter *fast, *part, *scalar;
  emitter *one;  // for one invocation of the few that a row has outside of its stretch, or NULL
  emitter *jam;  // for several rows at once, or NULL
  emitter *pack; // copies what they share, or NULL
  packing packing;
  llval is_packed; // i1, of the box
  bool repeats;    // invocations may run twice
  emitter *other;  // as `fast`, with conditions assumed the other way, or NULL
  guards guards, jam_guards, other_guards;
} versions;

// Why rows are not jammed.
typedef enum jam_reason {
  JAM_DONE,
  JAM_NOT_ASKED, // one row, one lane, a workgroup's rows, or the quick tier
  JAM_CONTROL,
  JAM_NO_LOADS,
  JAM_REGISTERS
} jam_reason;

typedef struct plan { // how a region is lowered
  unsigned width;
  unsigned vector; // local ids of vectors begin at multiples of it; 0: anywhere
  bool is_large;   // compiled for one lane, because vectors would be too much code
  jam_reason jam_reason;
  shapes shapes, fast_shapes; // as it stands, and under the assumptions
  shapes flat;                // for one invocation: nothing differs along x
  guards guards;
  unsigned rows; // jammed; 1: none
  packing packing;
  shapes jam_shapes, other_shapes;
  guards jam_guards, other_guards;
  bool has_other;       // in workgroups with barriers: `other_guards` is a second way to be fast
  const phases *phases; // NULL when there is no barrier
  // Where workgroups vote (vote.c): for those that do not agree. NULL: nobody votes.
  const struct phases *apart;
  shapes apart_shapes, apart_flat;
} plan;

bool is_written(const kernel *k, uint32_t mem); // by the region
// Whether an invocation may run twice: nothing counts, and nothing is read that is written.
bool may_repeat(const kernel *k);
// Whether a value can be computed apart from the body: from ids, arguments and a loop's counter
// (0: none).
bool is_apart(const kernel *k, uint32_t loop, ref r);
bool versions_new(kernel *k, LLVMBuilderRef b, const plan *plan, versions *out);
void emit_row(kernel *k, versions *v, const row *r);
void place_vector(emitter *e, const row *r, llval x); // where its invocations are
void emit_vector(emitter *e, const row *r, llval x, llval exec);
void poll_stop(kernel *k, LLVMBuilderRef b);
void emit_box(kernel *k, LLVMBuilderRef b, const plan *plan);    // elastic
void emit_groups(kernel *k, LLVMBuilderRef b, const plan *plan); // rigid

// groups.c: the rows of a workgroup, one inside the other loop.
typedef struct group_rows {
  count_loop y, z;
} group_rows;
void group_rows_begin(kernel *k, LLVMBuilderRef b, group_rows *g, row *r);
void group_rows_end(kernel *k, LLVMBuilderRef b, const group_rows *g);

// vote.c: whether workgroups are asked for conditions, and asking one (i1). `e` assumes nothing.
bool vote_plan(kernel *k, plan *plan);
llval vote_emit(kernel *k, emitter *e, row *r);

// barrier.c, resume.c: a workgroup with barriers.
void emit_phases(kernel *k, LLVMBuilderRef b, versions *v, const phases *phases, row *r);
void emit_resumed(kernel *k, emitter *e, const phases *phases, row *r);
bool keeper_init(keeper *k, emitter *e, const phases *phases, const shapes *shapes,
                 uint64_t vectors);
void keep_begin_vector(emitter *e, llblock skip);
void keep_end_vector(emitter *e, llval all);

void write_remarks(const kernel *k, const plan *plan); // remarks.c

emitter *emitter_new(kernel *k, LLVMBuilderRef b, unsigned width, unsigned rows,
                     const shapes *shapes, const uint8_t *assume);
void kernel_return(kernel *k, LLVMBuilderRef b, int code);
// width.c. False: out of memory.
bool choose_width(const kernel *k, const shapes *shapes, plan *plan);
// jam.c: rows that share what their loops load. Fills plan->rows and what belongs to it.
bool choose_rows(kernel *k, plan *plan);
void choose_tile(const kernel *k, const plan *plan, uint32_t tile[3]);
bool has_loop(const kernel *k);
void pack_rows(versions *v, const row *r, llval y0, llval y1); // copies what they share
typedef struct range_y {
  llval first, end;
} range_y;
// As many rows of a box as run at once, from y on, or one where there are fewer; *next is behind
// them.
void emit_jammed_rows(kernel *k, versions *v, row *r, range_y box, llval y, llval *next);
void find_stretch(versions *v, guards *g, const row *r, llval *first, llval *end);
void emit_stretch(kernel *k, emitter *e, const row *r, llval from, llval stop);
llval kernel_bound(kernel *k, llval array, uint32_t axis); // i64 from lo or hi

#endif
