// SPDX-License-Identifier: MIT
//
// Loops whose turns have a sum for each of several elements side by side; across.c says why.
// Private to the code generator.
#ifndef VYRE_BACKEND_CPU_CODEGEN_ACROSS_H
#define VYRE_BACKEND_CPU_CODEGEN_ACROSS_H

#include "backend/cpu/codegen/emit.h"

enum { ACROSS_SUMS = 16, ACROSS_NODES = 32, ACROSS_BODY = 512 };

typedef enum across_kind { ACROSS_SAME, ACROSS_SUM, ACROSS_LOAD, ACROSS_VALUE } across_kind;

// What sixteen operations of the body have in common.
typedef struct across_node {
  across_kind kind;
  ref first; // of the first of the elements
  unsigned operands[3];
  llval common; // in this turn, where it is the same for all lanes
} across_node;

typedef struct across {
  uint32_t loop;
  vyre_type type;
  uint32_t variable[ACROSS_SUMS];
  across_node nodes[ACROSS_NODES];
  unsigned count, root;
  bool is_taken[ACROSS_BODY]; // per operation of the body: a node stands for it
  unsigned lanes;             // whose sums fit into registers together
  llval sums[LANEWISE_MOST];  // variables, per lane: vectors along the elements
} across;

// Whether a FOR, which all lanes are in, is such a loop.
bool across_plan(const emitter *e, uint32_t loop, across *out);
void across_begin(emitter *e, across *x); // before the loop: the sums as they are
void across_turn(emitter *e, across *x,
                 unsigned lane);        // the body, for x->lanes lanes from this one
void across_end(emitter *e, across *x); // behind it: as variables of the program

#endif
