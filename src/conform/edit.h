// SPDX-License-Identifier: MIT
//
// Makes a smaller trial from a trial: operations dropped or replaced by one of their operands,
// blocks dropped or unwrapped, regions, parameters and buffers removed, extents made constant.
// Whatever the edit leaves without a meaning becomes zero, and what nobody uses then goes away. The
// result may mean something else: that is for the caller to judge. One thread for each object.
#ifndef VYRE_CONFORM_EDIT_H
#define VYRE_CONFORM_EDIT_H

#include "conform/trial.h"

typedef enum edit_action {
  EDIT_KEEP = 0,
  EDIT_DROP,     // a statement, a block with all in it, an else; a value becomes zero
  EDIT_ONE,      // a value becomes one
  EDIT_OPERAND0, // a value becomes its first, second, third operand
  EDIT_OPERAND1,
  EDIT_OPERAND2,
  EDIT_UNWRAP,      // a block's content stays, once; of an if the first part
  EDIT_UNWRAP_ELSE, // the second part of an if stays
  EDIT_ACTION_COUNT
} edit_action;

typedef struct edit {
  uint8_t *actions;   // per operation of the program
  bool *drops_region; // per region
  bool *drops_param;  // per parameter: its value becomes a constant
  bool *drops_buffer; // per buffer: loads give zero, stores are dropped
  bool has_shapes;    // grids and workgroups are these, lengths are constants or as bound
  uint64_t (*grids)[3];
  uint32_t (*workgroups)[3];
} edit;

// An edit that changes nothing; false when out of memory. With has_shapes set later, the shapes are
// those of the trial.
bool edit_init(edit *e, const trial *t);
void edit_fini(edit *e);

// False when no valid program results, or memory ran out.
bool edit_apply(const edit *e, const trial *from, trial *to);

// One trial that does what the first `*merged` of these do, one after the other, with names of
// their own: as many as fit into a program. Compiling one large program is cheaper than compiling
// many small ones. Bound buffers follow one another in order. Launch shapes are as declared. False
// when memory ran out.
bool edit_merge(const trial *trials, uint32_t count, trial *out, uint32_t *merged);

#endif
