// SPDX-License-Identifier: MIT
//
// Common subexpressions: a pure operation with the same operands as an earlier one is that one,
// where the earlier value can still be seen. What was found inside a block is forgotten when the
// block is left, so that a value is never used outside of the block that holds it.
#include "opt/passes.h"

#include "base/vec.h"
#include "opt/blocks.h"
#include "opt/rewrite.h"

#include <string.h>

typedef struct known_value {
  inst key; // operands of commutative operations in ascending order
  ref value;
  size_t slot;
} known_value;

typedef struct value_table {
  uint32_t *slots; // open addressing: number of a known value plus 1, 0 is free
  size_t mask;
  vec(known_value) known;
  block_stack blocks;
} value_table;

// The slot that holds the operation, or the free one where it belongs.
static size_t find(const value_table *t, const inst *key) {
  size_t at = hash_fast(key, sizeof *key) & t->mask;
  while (t->slots[at] && memcmp(&t->known.at[t->slots[at] - 1].key, key, sizeof *key))
    at = (at + 1) & t->mask;
  return at;
}

// Newest first, so that probing never meets a hole before a slot that is still in use.
static void leave_block(value_table *t) {
  size_t mark = blocks_innermost(&t->blocks).mark;
  blocks_close(&t->blocks);
  while (t->known.count > mark) t->slots[t->known.at[--t->known.count].slot] = 0;
}

// A while's condition is seen by its body, so DO is no border.
static void follow_blocks(value_table *t, unsigned op, uint32_t index) {
  if (op == VYRE_OP_END || op == VYRE_OP_ELSE) leave_block(t);
  if (op_is((vyre_op)op, OPF_OPEN) && op != VYRE_OP_DO)
    blocks_open(&t->blocks, index, t->known.count);
}

static bool visit(rewriter *rw, value_table *t, uint32_t index) {
  inst key = rewrite_mapped(rw, index);
  follow_blocks(t, key.op, index);
  if (!op_is((vyre_op)key.op, OPF_PURE)) {
    rewrite_keep(rw, index);
    return true;
  }
  if (op_is((vyre_op)key.op, OPF_COMM) && key.arg[0] > key.arg[1]) {
    ref x = key.arg[0];
    key.arg[0] = key.arg[1];
    key.arg[1] = x;
  }
  size_t slot = find(t, &key);
  if (t->slots[slot]) {
    rewrite_replace(rw, index, t->known.at[t->slots[slot] - 1].value);
    return true;
  }
  ref kept = rewrite_keep(rw, index);
  if (!vec_push(&t->known, (known_value){key, kept, slot})) return false;
  t->slots[slot] = (uint32_t)t->known.count;
  return true;
}

static bool body(rewriter *rw) {
  uint32_t count = rw->region->body.end - rw->region->body.first;
  value_table t = {.mask = 15};
  while (t.mask < 2 * (size_t)count) t.mask = 2 * t.mask + 1;
  t.slots = arena_alloc_array(rw->scratch, t.mask + 1, sizeof *t.slots);
  bool ok = t.slots != NULL;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end && ok; i++)
    ok = visit(rw, &t, i);
  vec_free(&t.known);
  return ok;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_cse = {
    .info = {.name = "cse",
             .invalidates = (const char *const[]){"algebraic_simplify", "dce", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "compute equal expressions once",
    .never = "merge loads, or use a value outside of its block",
    .run = run,
};
