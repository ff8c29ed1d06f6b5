// SPDX-License-Identifier: MIT
//
// One walk over the program: each operation is copied, with its operands mapped, through the
// recipes that the target needs (lower_op), and recipes of places are asked where a region, a
// loop's body or what follows a block begins.
#include "lower/lower.h"

#include "analysis/axis.h"
#include "base/error.h"
#include "ir/math.h"
#include "lower/groups.h"
#include "lower/half.h"
#include "lower/recipe.h"
#include "lower/storage.h"
#include "lower/supported.h"

#include <stdlib.h>

const char *lower_recipe_name(uint32_t number) {
  return number < RECIPE_COUNT ? recipe_table[number]->name : "none";
}

// ---- operations ---------------------------------------------------------------------------------

static void lower_inst(lowering *l, uint32_t i) {
  const vyre_program *from = l->from;
  inst in = builder_map_inst(l->b, from, i, l->map, l->shared_shift);
  if (from->places && from->places[i].offset) builder_at(l->b, from->places[i].offset - 1);
  half_constants(l, &in);
  l->origin = i;
  ref made = lower_op(l, &in);
  if (from->names && from->names[i]) builder_name_if_unnamed(l->b, made, from->names[i]);
  l->map[i] = made;
}

// The code of extents.
static void lower_range(lowering *l, range part) {
  l->on_host = true;
  for (uint32_t i = part.first; i < part.end; i++) lower_inst(l, i);
  l->on_host = false;
}

// ---- places -------------------------------------------------------------------------------------

static const recipe *needed_recipe(const lowering *l, unsigned i) {
  return l->needed >> i & 1 ? recipe_table[i] : NULL;
}

static void enter_region(lowering *l) {
  for (unsigned i = 0; i < RECIPE_COUNT; i++) {
    const recipe *r = needed_recipe(l, i);
    l->recipe = (uint8_t)(i + 1);
    if (r && r->enter) r->enter(l);
  }
}

static void at_place(lowering *l, uint32_t at) {
  const inst *in = &l->from->code[at];
  bool is_loop = in->op == VYRE_OP_FOR || in->op == VYRE_OP_DO;
  if (!is_loop && in->op != VYRE_OP_END) return;
  for (unsigned i = 0; i < RECIPE_COUNT; i++) {
    const recipe *r = needed_recipe(l, i);
    l->recipe = (uint8_t)(i + 1);
    if (r && r->in_loop && is_loop) r->in_loop(l, in->op == VYRE_OP_FOR ? at : in->arg[1]);
    if (r && r->behind && !is_loop) r->behind(l, in->arg[1]);
  }
}

static void lower_body(lowering *l) {
  enter_region(l);
  for (uint32_t i = l->r->body.first; i < l->r->body.end; i++) {
    l->recipe = 0;
    lower_inst(l, i);
    at_place(l, i);
  }
}

// ---- programs -----------------------------------------------------------------------------------

static vyre_status analyse(lowering *l, vyre_error *error) {
  bool wants_uniform = l->r->has_barrier && !l->target->parts_at_barriers;
  l->lanes = 0;
  if (!ranges_compute(&l->scratch, l->from, l->r, &l->ranges) ||
      (l->target->runs_lanes_along_x &&
       !axis_for_lanes(&l->scratch, l->from, l->r, &l->ranges, &l->lanes)) ||
      (wants_uniform && !uniformity_compute(&l->scratch, l->from, l->r, &l->ranges, &l->uniform)))
    return error_out_of_memory(error);
  return supported_region(l->from, l->r, l->target, &l->uniform, error);
}

static void build_region(lowering *l) {
  const region *r = l->r;
  vyre_build_region_begin(l->b, r->name);
  lower_range(l, r->grid_code);
  ref grid[3];
  uint32_t workgroup[3];
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t axis = axis_turned(l->lanes, i);
    grid[i] = builder_map_ref(l->b, l->from, r->grid[axis], l->map);
    workgroup[i] = r->workgroup[axis];
  }
  vyre_build_grid(l->b, r->rank, grid, workgroup);
  builder_set_lanes(l->b, l->lanes);
  if (r->is_merged) builder_set_merged(l->b);
  l->shared_shift = builder_shared_count(l->b) - r->shared.first;
  for (uint32_t i = r->shared.first; i < r->shared.end; i++) {
    const shared_array *s = &l->from->shared[i];
    uint32_t words = storage_words(l->target, s->type);
    vyre_type type = words ? VYRE_U32 : half_storage(s->type);
    vyre_build_shared(l->b, s->name, type, s->length * (words ? words : 1));
  }
  lower_body(l);
  vyre_build_region_end(l->b);
}

static vyre_status lower_region(lowering *l, uint32_t index, vyre_error *error) {
  l->r = &l->from->regions[index];
  vyre_status status = analyse(l, error);
  if (status == VYRE_OK) build_region(l);
  l->uniform = (uniformity){0};
  arena_free(&l->scratch);
  return status;
}

static void lower_interface(lowering *l) {
  const vyre_program *from = l->from;
  builder_copy_head(l->b, from);
  for (uint32_t i = 0; i < from->param_count; i++)
    builder_set_param_type(l->b, i, half_storage(from->params[i].type));
  // A header may mention the length of a buffer that is declared later, so the code goes first.
  lower_range(l, from->header);
  for (uint32_t i = 0; i < from->buffer_count; i++) {
    const buffer *old = &from->buffers[i];
    ref length = old->length ? builder_map_ref(l->b, from, old->length, l->map) : 0;
    vyre_type type = half_storage(old->type);
    if (old->is_transient)
      vyre_build_transient(l->b, old->name, type, length);
    else
      vyre_build_buffer(l->b, old->name, type, old->access, length);
  }
}

static vyre_status lower_all(lowering *l, vyre_program **out, vyre_error *error) {
  vyre_status status = supported_buffers(l->from, l->target, error);
  if (status != VYRE_OK) return status;
  builder_lower_for(l->b, l->target, sizeof *l->target);
  lower_interface(l);
  for (uint32_t i = 0; i < l->from->region_count; i++) {
    status = lower_region(l, i, error);
    if (status != VYRE_OK) return status;
  }
  return vyre_builder_finish(l->b, out, error);
}

static vyre_status merge(vyre_program **program, vyre_error *error) {
  vyre_program *merged;
  vyre_status status = groups_to_lanes(*program, &merged, error);
  vyre_program_release(*program);
  *program = merged;
  return status;
}

vyre_status lower_program(const vyre_program *program, const lower_target *target,
                          vyre_program **out, vyre_error *error) {
  *out = NULL;
  vyre_program *expanded;
  vyre_status status = math_expand(program, &expanded, error);
  if (status == VYRE_OK && target->merges_groups) status = merge(&expanded, error);
  if (status != VYRE_OK) return status;
  lowering l = {.from = expanded, .target = target};
  for (unsigned i = 0; i < RECIPE_COUNT; i++)
    if (recipe_table[i]->is_needed(target)) l.needed |= 1u << i;
  l.b = vyre_builder_new(expanded->name);
  l.map = calloc(expanded->code_count, sizeof *l.map);
  status = l.b && l.map ? lower_all(&l, out, error) : error_out_of_memory(error);
  vyre_builder_free(l.b);
  vec_free(&l.wides);
  free(l.map);
  vyre_program_release(expanded);
  return status;
}
