// SPDX-License-Identifier: MIT
//
// What most passes are made of: the program is copied operation by operation through the builder,
// and a pass says for each what becomes of it. Regions that are not selected are copied as they
// are. The rewriter lives on the pass's stack; when nothing changed, the copy is thrown away.
#ifndef VYRE_OPT_REWRITE_H
#define VYRE_OPT_REWRITE_H

#include "ir/builder.h"
#include "opt/pass.h"

typedef struct vyre_rewrite {
  const vyre_program *from;
  vyre_builder *to;
  ref *map;             // per old operation: the new value; 0 when dropped or not yet reached
  const region *region; // the old one that is being rewritten
  uint32_t region_index;
  uint32_t shared_shift; // what is added to shared array numbers
  arena *scratch;
  void *context; // the pass's own
  bool changed;  // set by the pass
} rewriter;

// Called for each selected region in turn; copies or rewrites its body (rw->region->body) into
// rw->to. False when out of memory.
typedef bool (*rewrite_body)(rewriter *rw);

// Rewrites the selected regions with `body` and finishes the program; *out stays NULL when nothing
// changed. The usual way to write a pass.
vyre_status rewrite_program(const pass_run *run, rewrite_body body, void *context,
                            vyre_program **out, vyre_error *error);

// The same for all regions, outside of the scheduler. *out is a new reference, to the same program
// when nothing changed.
vyre_status rewrite_whole(vyre_program *program, rewrite_body body, void *context,
                          vyre_program **out, vyre_error *error);

// Called for each operation of a body in order. It either keeps it (rewrite_keep), replaces it
// (rewrite_replace, or rewrite_choose where nothing better may be found), drops it (rewrite_drop),
// or emits what it likes and sets rw->map.
typedef void (*rewrite_visit)(rewriter *rw, uint32_t index);
// A rewrite_body's loop over all operations.
bool rewrite_each(rewriter *rw, rewrite_visit visit);

ref rewrite_keep(rewriter *rw, uint32_t index);
void rewrite_replace(rewriter *rw, uint32_t index, ref value); // by a value of the new program
void rewrite_choose(rewriter *rw, uint32_t index, ref better); // replaces it, or keeps it for 0
void rewrite_drop(rewriter *rw, uint32_t index);

// The new value of an old operand.
ref rewrite_ref(rewriter *rw, ref old);
// The constant that a new value is, when it is one.
bool rewrite_const(const rewriter *rw, ref value, uint64_t *bits);
// The new operation that made a value; NULL for constants.
const inst *rewrite_inst(const rewriter *rw, ref value);
// Copies an old operation with its operands mapped, without emitting it.
inst rewrite_mapped(rewriter *rw, uint32_t index);

#endif
