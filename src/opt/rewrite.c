// SPDX-License-Identifier: MIT
#include "opt/rewrite.h"

#include "base/error.h"

#include <string.h>

ref rewrite_ref(rewriter *rw, ref old) {
  return builder_map_ref(rw->to, rw->from, old, rw->map);
}

bool rewrite_const(const rewriter *rw, ref value, uint64_t *bits) {
  return builder_const_bits(rw->to, value, bits);
}

const inst *rewrite_inst(const rewriter *rw, ref value) {
  return ref_is_const(value) || !value ? NULL : builder_inst(rw->to, value);
}

ref rewrite_keep(rewriter *rw, uint32_t index) {
  return builder_copy_inst(rw->to, rw->from, index, rw->map, rw->shared_shift);
}

void rewrite_replace(rewriter *rw, uint32_t index, ref value) {
  rw->map[index] = value;
  rw->changed = true;
  // A name that a person gave is worth keeping when its new bearer has none.
  const char *name = rw->from->names ? rw->from->names[index] : NULL;
  if (name) builder_name_if_unnamed(rw->to, value, name);
}

void rewrite_choose(rewriter *rw, uint32_t index, ref better) {
  if (better)
    rewrite_replace(rw, index, better);
  else
    rewrite_keep(rw, index);
}

void rewrite_drop(rewriter *rw, uint32_t index) {
  rw->map[index] = 0;
  rw->changed = true;
}

inst rewrite_mapped(rewriter *rw, uint32_t index) {
  return builder_map_inst(rw->to, rw->from, index, rw->map, rw->shared_shift);
}

bool rewrite_each(rewriter *rw, rewrite_visit visit) {
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) visit(rw, i);
  return true;
}

static bool rewrite_region(rewriter *rw, uint32_t index, rewrite_body body) {
  rw->region = &rw->from->regions[index];
  rw->region_index = index;
  rw->shared_shift = builder_begin_like(rw->to, rw->from, index, rw->map);
  bool ok = body(rw);
  vyre_build_region_end(rw->to);
  return ok;
}

vyre_status rewrite_program(const pass_run *run, rewrite_body body, void *context,
                            vyre_program **out, vyre_error *error) {
  const vyre_program *from = run->program;
  rewriter rw = {.from = from, .scratch = run->scratch, .context = context};
  rw.map = arena_alloc_array(run->scratch, from->code_count, sizeof *rw.map);
  rw.to = vyre_builder_new("");
  bool ok = rw.map && rw.to;
  if (ok) builder_copy_interface(rw.to, from);
  for (uint32_t i = 0; i < from->region_count && ok; i++) {
    if (run->selected[i])
      ok = rewrite_region(&rw, i, body);
    else
      builder_copy_region(rw.to, from, i, rw.map);
  }
  vyre_status status = VYRE_OK;
  if (!ok)
    status = error_out_of_memory(error);
  else if (rw.changed)
    status = vyre_builder_finish(rw.to, out, error);
  else
    status = builder_status(rw.to) == VYRE_OK ? VYRE_OK : vyre_builder_finish(rw.to, out, error);
  vyre_builder_free(rw.to);
  return status;
}

vyre_status rewrite_whole(vyre_program *program, rewrite_body body, void *context,
                          vyre_program **out, vyre_error *error) {
  arena scratch = ARENA_INIT;
  *out = NULL;
  bool *all = arena_alloc_array(&scratch, program->region_count, sizeof *all);
  vyre_status status = all ? VYRE_OK : error_out_of_memory(error);
  if (all) {
    memset(all, 1, program->region_count * sizeof *all);
    pass_run run = {.program = program, .selected = all, .scratch = &scratch};
    status = rewrite_program(&run, body, context, out, error);
  }
  if (status == VYRE_OK && !*out) *out = vyre_program_retain(program);
  arena_free(&scratch);
  return status;
}
