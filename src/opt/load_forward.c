// SPDX-License-Identifier: MIT
//
// A load that gives what is known already: the same element was loaded before and nothing can have
// changed it since, or this invocation stored to it. Each memory object has an epoch that advances
// whenever it may have changed: at stores and atomics, at barriers when somebody writes to it, when
// a loop that writes to it begins, and when a block that wrote to it ends. A load is found again by
// object, index and epoch.
//
// A value is taken from a store only where the index is certain to be in bounds: a store out of
// bounds is dropped, and the load gives zero.
#include "opt/passes.h"

#include "base/vec.h"
#include "analysis/bounds.h"
#include "opt/blocks.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

typedef struct object {
  uint32_t mem; // old reference
  uint32_t epoch;
  bool is_written; // somewhere in the region
} object;

typedef struct known_element {
  uint32_t object;
  uint32_t epoch;
  ref index, value; // new
} known_element;

typedef struct forwarding {
  rewriter *rw;
  vec(object) objects;
  vec(known_element) known; // a stack: a block forgets what it learned
  block_stack blocks;
  uint32_t next_epoch;
  bool failed;
} forwarding;

static uint32_t find_object(forwarding *f, uint32_t mem) {
  for (uint32_t i = 0; i < f->objects.count; i++)
    if (f->objects.at[i].mem == mem) return i;
  bool is_written = effects_writes_memory(f->rw->from, f->rw->region->body, mem);
  if (!vec_push(&f->objects, (object){mem, 0, is_written})) f->failed = true;
  return (uint32_t)f->objects.count - 1;
}

static void advance(forwarding *f, uint32_t o) {
  if (o < f->objects.count) f->objects.at[o].epoch = ++f->next_epoch;
}

static void advance_written_in(forwarding *f, range part) {
  for (uint32_t i = part.first; i < part.end; i++) {
    uint32_t mem;
    if (effects_writes(&f->rw->from->code[i]) && effects_memory(&f->rw->from->code[i], &mem))
      advance(f, find_object(f, mem));
  }
}

// Others' writes become visible.
static void pass_barrier(forwarding *f) {
  for (uint32_t i = 0; i < f->objects.count; i++)
    if (f->objects.at[i].is_written && mem_space(f->objects.at[i].mem) != MEM_PRIVATE)
      advance(f, i);
}

// Only so many elements are looked at, newest first: programs that reuse loads do so soon.
enum { LOOK_BACK = 64 };

static ref find_known(const forwarding *f, uint32_t o, ref index) {
  size_t end = f->known.count, first = end > LOOK_BACK ? end - LOOK_BACK : 0;
  for (size_t i = end; i-- > first;) {
    const known_element *k = &f->known.at[i];
    if (k->object == o && k->index == index && k->epoch == f->objects.at[o].epoch) return k->value;
  }
  return 0;
}

static void know(forwarding *f, uint32_t o, ref index, ref value) {
  known_element k = {o, f->objects.at[o].epoch, index, value};
  if (!vec_push(&f->known, k)) f->failed = true;
}

static void visit_load(forwarding *f, uint32_t i) {
  inst in = rewrite_mapped(f->rw, i);
  uint32_t o = find_object(f, f->rw->from->code[i].arg[0]);
  if (f->failed) return;
  ref known = find_known(f, o, in.arg[1]);
  if (known)
    rewrite_replace(f->rw, i, known);
  else
    know(f, o, in.arg[1], rewrite_keep(f->rw, i));
}

static void visit_write(forwarding *f, uint32_t i) {
  const inst *old = &f->rw->from->code[i];
  inst in = rewrite_mapped(f->rw, i);
  uint32_t o = find_object(f, old->arg[0]);
  if (f->failed) return;
  rewrite_keep(f->rw, i);
  advance(f, o);
  if (old->op == VYRE_OP_STORE &&
      bounds_is_inside(f->rw->from, f->rw->region, old->arg[0], old->arg[1]))
    know(f, o, in.arg[1], in.arg[2]);
}

static void begin_block(forwarding *f, uint32_t i) {
  range part = {i, effects_block_end(f->rw->from, i)};
  if (f->rw->from->code[i].op != VYRE_OP_IF) {
    advance_written_in(f, part);
    if (effects_has(f->rw->from, part, VYRE_OP_BARRIER)) pass_barrier(f);
  }
  blocks_open(&f->blocks, i, f->known.count);
}

// What a first branch did, the second one does not see; both count behind the if.
static void close_block(forwarding *f, uint32_t i) {
  unsigned op = f->rw->from->code[i].op;
  open_block block = blocks_innermost(&f->blocks);
  range part = {block.opening, i};
  f->known.count = block.mark;
  advance_written_in(f, part);
  if (effects_has(f->rw->from, part, VYRE_OP_BARRIER)) pass_barrier(f);
  if (op == VYRE_OP_END) blocks_close(&f->blocks);
}

static void visit(forwarding *f, uint32_t i) {
  unsigned op = f->rw->from->code[i].op;
  if (op == VYRE_OP_LOAD) {
    visit_load(f, i);
    return;
  }
  if (effects_writes(&f->rw->from->code[i])) {
    visit_write(f, i);
    return;
  }
  rewrite_keep(f->rw, i);
  if (op == VYRE_OP_BARRIER) pass_barrier(f);
  // A private array is zero again at its declaration.
  if (op == VYRE_OP_ARRAY) advance(f, find_object(f, MEM_REF(MEM_PRIVATE, i)));
  if (effects_is_opening(op))
    begin_block(f, i);
  else if (op == VYRE_OP_ELSE || op == VYRE_OP_END)
    close_block(f, i);
}

static bool body(rewriter *rw) {
  forwarding f = {.rw = rw};
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end && !f.failed; i++)
    visit(&f, i);
  vec_free(&f.objects);
  vec_free(&f.known);
  return !f.failed;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_load_forward = {
    .info = {.name = "load_forward",
             .requires = (const char *const[]){"cse", NULL},
             .invalidates = (const char *const[]){"cse", "dce", "dead_store", "algebraic_simplify",
                                                  "transient_eliminate", NULL},
             .family = PASS_FAMILY_MEMORY},
    .summary = "reuse elements that were loaded or stored before",
    .never = "take a value over a barrier, or from a store that may be out of bounds",
    .run = run,
};
