// SPDX-License-Identifier: MIT
//
// A transient buffer that nobody loads has no use: what is stored to it goes, then the buffer
// itself, then a region whose body is left empty. Buffers that the caller binds stay, whatever
// happens to them.
#include "opt/passes.h"

#include "base/error.h"
#include "ir/limits.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

typedef struct transients {
  bool is_read[LIMIT_BUFFERS];  // loaded, or an atomic, whose result may be used
  bool is_named[LIMIT_BUFFERS]; // its length is asked for
  bool is_written[LIMIT_BUFFERS];
  bool dropped[LIMIT_BUFFERS];
  uint32_t number[LIMIT_BUFFERS]; // new numbers
} transients;

static void look(const vyre_program *p, const pass_run *run, transients *t) {
  for (uint32_t r = 0; r < p->region_count; r++) {
    range code = {p->regions[r].grid_code.first, p->regions[r].body.end};
    for (uint32_t i = code.first; i < code.end; i++) {
      const inst *in = &p->code[i];
      uint32_t mem;
      if (in->op == VYRE_OP_LEN) t->is_named[in->arg[0]] = true;
      if (!effects_memory(in, &mem) || mem_space(mem) != MEM_BUFFER) continue;
      uint32_t b = mem_index(mem);
      t->is_written[b] |= in->op == VYRE_OP_STORE;
      // A store in a region that this pass may not change keeps the buffer as a load does.
      t->is_read[b] |= in->op != VYRE_OP_STORE || !run->selected[r];
    }
  }
}

static bool is_dead_store(const vyre_program *p, const transients *t, const inst *in) {
  if (in->op != VYRE_OP_STORE || mem_space(in->arg[0]) != MEM_BUFFER) return false;
  uint32_t b = mem_index(in->arg[0]);
  return p->buffers[b].is_transient && !t->is_read[b];
}

// Only the code that the kept buffers' lengths are made of.
static void copy_header(rewriter *rw, const transients *t) {
  const vyre_program *p = rw->from;
  bool *needed = arena_alloc_array(rw->scratch, p->header.end + 1u, sizeof *needed);
  if (!needed) {
    builder_fail(rw->to, VYRE_ERROR_MEMORY, "out of memory. Fix: free some");
    return;
  }
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    ref length = p->buffers[i].length;
    if (!t->dropped[i] && length && !ref_is_const(length)) needed[length] = true;
  }
  for (uint32_t i = p->header.end; i-- > p->header.first;) {
    const char *operands = op_table[p->code[i].op].operands;
    for (int k = 0; needed[i] && operands[k]; k++)
      if (operands[k] == 'v' && !ref_is_const(p->code[i].arg[k])) needed[p->code[i].arg[k]] = true;
  }
  for (uint32_t i = p->header.first; i < p->header.end; i++) {
    if (!needed[i]) continue;
    inst in = rewrite_mapped(rw, i);
    if (in.op == VYRE_OP_LEN) in.arg[0] = t->number[in.arg[0]];
    rw->map[i] = builder_emit(rw->to, &in);
  }
}

static void copy_interface(rewriter *rw, const transients *t) {
  const vyre_program *p = rw->from;
  builder_copy_head(rw->to, p);
  copy_header(rw, t);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    const buffer *b = &p->buffers[i];
    if (t->dropped[i]) continue;
    ref length = b->length ? rewrite_ref(rw, b->length) : 0;
    if (b->is_transient)
      vyre_build_transient(rw->to, b->name, b->type, length);
    else
      vyre_build_buffer(rw->to, b->name, b->type, b->access, length);
  }
}

static void copy_one(rewriter *rw, const transients *t, uint32_t i) {
  inst in = rewrite_mapped(rw, i);
  if (in.op == VYRE_OP_LEN) in.arg[0] = t->number[in.arg[0]];
  uint32_t mem;
  if (effects_memory(&in, &mem) && mem_space(mem) == MEM_BUFFER)
    in.arg[0] = MEM_REF(MEM_BUFFER, t->number[mem_index(mem)]);
  rw->map[i] = builder_emit(rw->to, &in);
  if (rw->from->names && rw->from->names[i])
    vyre_build_name(rw->to, rw->map[i], rw->from->names[i]);
}

static void copy_region(rewriter *rw, const transients *t, uint32_t index) {
  const region *r = &rw->from->regions[index];
  vyre_build_region_begin(rw->to, r->name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++) copy_one(rw, t, i);
  ref grid[3];
  for (int k = 0; k < 3; k++) grid[k] = rewrite_ref(rw, r->grid[k]);
  vyre_build_grid(rw->to, r->rank, grid, r->workgroup);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++) {
    const shared_array *s = &rw->from->shared[i];
    vyre_mem made = vyre_build_shared(rw->to, s->name, s->type, s->length);
    rw->shared_shift = mem_index(made.id) - i;
  }
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (!is_dead_store(rw->from, t, &rw->from->code[i])) copy_one(rw, t, i);
  vyre_build_region_end(rw->to);
}

// Counts what would go; the last region stays, because a program has one.
static bool decide(const pass_run *run, transients *t, bool *empty) {
  const vyre_program *p = run->program;
  bool changed = false;
  uint32_t next = 0, left = p->region_count;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    bool is_idle = p->buffers[i].is_transient && !t->is_read[i];
    t->dropped[i] = is_idle && !t->is_named[i];
    changed |= t->dropped[i] || (is_idle && t->is_written[i]);
    t->number[i] = next;
    next += !t->dropped[i];
  }
  for (uint32_t r = 0; r < p->region_count; r++) {
    empty[r] = run->selected[r] && left > 1 && p->regions[r].body.first == p->regions[r].body.end;
    left -= empty[r];
    changed |= empty[r];
  }
  return changed;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  transients t = {0};
  bool *empty = arena_alloc_array(r->scratch, r->program->region_count, sizeof *empty);
  rewriter rw = {.from = r->program, .scratch = r->scratch};
  rw.map = arena_alloc_array(r->scratch, r->program->code_count, sizeof *rw.map);
  if (!empty || !rw.map) return error_out_of_memory(error);
  look(r->program, r, &t);
  if (!decide(r, &t, empty)) return VYRE_OK;
  rw.to = vyre_builder_new("");
  if (!rw.to) return error_out_of_memory(error);
  copy_interface(&rw, &t);
  for (uint32_t i = 0; i < r->program->region_count; i++)
    if (!empty[i]) copy_region(&rw, &t, i);
  vyre_status status = vyre_builder_finish(rw.to, out, error);
  vyre_builder_free(rw.to);
  return status;
}

const pass pass_transient_eliminate = {
    .info = {.name = "transient_eliminate",
             .requires = (const char *const[]){"load_forward", NULL},
             .invalidates = (const char *const[]){"dce", "transient_eliminate", NULL},
             .boundary = PASS_BOUNDARY_REGION_CHANGING,
             .family = PASS_FAMILY_MEMORY},
    .summary = "remove transient buffers that nobody loads",
    .never = "remove a buffer that the caller binds",
    .run = run,
};
