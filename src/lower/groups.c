// SPDX-License-Identifier: MIT
//
// Two steps. First barriers are added: behind every store that the whole workgroup comes to, so
// that a loop over the workgroup goes along one row of memory and not through many. Then what is
// between two barriers (analysis/phases.h) becomes a loop over local ids. Nothing is kept from one
// such loop to the next but shared arrays: what is used again must be the same for the workgroup,
// or cheap enough to be computed again. Where the added barriers are in the way of that they are
// left out, and where it is not so without them the region stays as it is.
#include "lower/groups.h"

#include "analysis/phases.h"
#include "base/error.h"
#include "ir/builder.h"
#include "ir/limits.h"
#include "ir/op_groups.h"

#include <stdlib.h>

// Invocations of a workgroup, and bytes of shared arrays: times the lanes of a vector they should
// not be much more than a first-level cache.
enum { MOST_INVOCATIONS = 64, MOST_BYTES = 4096 };

typedef struct merging {
  const vyre_program *from;
  const region *r;
  vyre_builder *b;
  arena *scratch;
  phases ph;
  shapes shapes;
  ref *map;
  uint32_t *made; // per operation of the body: the loop over local ids in which it was made
  uint32_t round; // of the present one
  ref local;      // the local id along x
  ref *arrays;    // per shared array: the private one
} merging;

// ---- whether ------------------------------------------------------------------------------------

static bool analyse(merging *m) {
  ranges known;
  return ranges_compute(m->scratch, m->from, m->r, &known) &&
         shapes_compute(m->scratch, m->from, m->r, &known, NULL, &m->shapes) &&
         phases_compute(m->scratch, m->from, m->r, &m->shapes, &m->ph);
}

static bool is_small(const merging *m) {
  const uint32_t *size = m->r->workgroup;
  uint64_t bytes = 0;
  for (uint32_t i = m->r->shared.first; i < m->r->shared.end; i++)
    bytes += (uint64_t)m->from->shared[i].length * type_bytes(m->from->shared[i].type);
  return bytes && bytes <= MOST_BYTES && size[0] >= 2 && size[0] <= MOST_INVOCATIONS &&
         size[1] == 1 && size[2] == 1;
}

// Whoever comes first at an atomic sees it, and private arrays are for one lane only.
static bool is_plain(const merging *m) {
  for (uint32_t i = m->r->body.first; i < m->r->body.end; i++)
    if (op_is_atomic(m->from->code[i].op) || m->from->code[i].op == VYRE_OP_ARRAY) return false;
  return true;
}

static bool is_for_all(const merging *m, ref r) {
  return ref_is_const(r) || m->ph.is_common[r - m->ph.first];
}

static bool can_merge(const merging *m) {
  if (!m->ph.is_together || m->ph.has_return) return false;
  for (uint32_t i = m->r->body.first; i < m->r->body.end; i++) {
    uint32_t slot = i - m->ph.first;
    const inst *in = &m->from->code[i];
    if (in->op == VYRE_OP_FOR && !m->ph.phase[slot] && !is_for_all(m, in->arg[2])) return false;
    if (m->ph.is_crossing[slot] || (m->ph.is_steering[slot] && !is_for_all(m, i))) return false;
  }
  return true;
}

// Values that differ between workgroups in another way than by what their loops count: along lanes
// that are workgroups they are no lines.
static bool *find_apart(const merging *m) {
  uint32_t first = m->r->body.first;
  bool *apart = arena_alloc_array(m->scratch, m->r->body.end - first + 1, sizeof *apart);
  for (uint32_t i = first; apart && i < m->r->body.end; i++) {
    const inst *in = &m->from->code[i];
    bool is_id = (in->op == VYRE_OP_GROUP_ID || in->op == VYRE_OP_GLOBAL_ID) && in->arg[0] == 0;
    apart[i - first] = is_id || in->op == VYRE_OP_LOAD || in->op == VYRE_OP_GET;
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && !ref_is_const(in->arg[k]) && in->arg[k] >= first)
        apart[i - first] |= apart[in->arg[k] - first];
  }
  return apart;
}

// What the accesses of one invocation cost, with lanes in a workgroup and with workgroups as lanes:
// one that lanes make together costs its part of a vector.
static bool gains(const merging *m) {
  enum { LANES = 16, REPEATED = 8, CLEARLY = 2 };
  const bool *apart = find_apart(m);
  double inside = 0, across = 0, weight = 1;
  for (uint32_t i = m->r->body.first; apart && i < m->r->body.end; i++) {
    const inst *in = &m->from->code[i];
    bool closes = in->op == VYRE_OP_END && m->from->code[in->arg[1]].op != VYRE_OP_IF;
    if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) weight *= REPEATED;
    if (closes) weight /= REPEATED;
    if (in->op != VYRE_OP_LOAD && in->op != VYRE_OP_STORE) continue;
    shape s = ref_is_const(in->arg[1]) ? (shape){0} : *shape_at(&m->shapes, in->arg[1]);
    bool is_line = !(s.axes & AXIS_X) || (s.is_linear && (s.stride == 1 || s.stride == -1));
    bool is_apart = !ref_is_const(in->arg[1]) && apart[in->arg[1] - m->r->body.first];
    inside += is_line ? weight / LANES : weight;
    across += is_apart ? weight : weight / LANES;
  }
  return apart && across * CLEARLY <= inside;
}

// ---- more barriers ------------------------------------------------------------------------------

// Whether all of a workgroup goes through a block in step.
static bool is_in_step(const merging *m, uint32_t i) {
  const block_shape *b = block_at(&m->shapes, i);
  return m->from->code[i].op == VYRE_OP_FOR && !b->parts && !b->continues && !b->returns;
}

static void copy_with_barriers(merging *m, uint32_t index) {
  uint32_t shift = builder_begin_like(m->b, m->from, index, m->map), parted = 0;
  for (uint32_t i = m->r->body.first; i < m->r->body.end; i++) {
    const inst *in = &m->from->code[i];
    bool opens = in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE;
    if (opens && (parted || !is_in_step(m, i))) parted++;
    if (in->op == VYRE_OP_END && parted) parted--;
    builder_copy_inst(m->b, m->from, i, m->map, shift);
    if (in->op == VYRE_OP_STORE && !parted) vyre_build_barrier(m->b);
  }
  vyre_build_region_end(m->b);
}

// ---- operations ---------------------------------------------------------------------------------

static ref number(const merging *m, uint32_t value) {
  return vyre_build_u32(m->b, value);
}

// Ids and sizes of the launch that the program was written for.
static ref build_launch(const merging *m, const inst *in) {
  uint32_t axis = in->arg[0], size = axis ? 1 : m->r->workgroup[0];
  ref groups;
  switch ((vyre_op)in->op) {
  case VYRE_OP_LOCAL_SIZE: return number(m, size);
  case VYRE_OP_LOCAL_ID: return axis ? number(m, 0) : m->local;
  case VYRE_OP_GROUP_ID: return vyre_build_id(m->b, VYRE_OP_GLOBAL_ID, axis);
  case VYRE_OP_GROUP_COUNT: return vyre_build_id(m->b, VYRE_OP_GLOBAL_SIZE, axis);
  case VYRE_OP_GLOBAL_SIZE:
    groups = vyre_build_id(m->b, VYRE_OP_GLOBAL_SIZE, axis);
    return axis ? groups : vyre_build_binary(m->b, VYRE_OP_MUL, groups, number(m, size));
  case VYRE_OP_GLOBAL_ID:
    groups = vyre_build_id(m->b, VYRE_OP_GLOBAL_ID, axis);
    if (axis) return groups;
    groups = vyre_build_binary(m->b, VYRE_OP_MUL, groups, number(m, size));
    return vyre_build_binary(m->b, VYRE_OP_ADD, groups, m->local);
  case OPS_COMPUTED:
  case VYRE_OP_PARAM:
  case VYRE_OP_LEN:
  case OPS_MEMORY:
  case OPS_STATE:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  return 0;
}

static void build(merging *m, uint32_t i) {
  inst in = builder_map_inst(m->b, m->from, i, m->map, 0);
  if (m->from->places && m->from->places[i].offset) builder_at(m->b, m->from->places[i].offset - 1);
  if (op_table[in.op].operands[0] == 'm' && mem_space(in.arg[0]) == MEM_SHARED)
    in.arg[0] = m->arrays[mem_index(in.arg[0]) - m->r->shared.first];
  ref launched = op_table[in.op].rule == RULE_AXIS ? build_launch(m, &in) : 0;
  m->map[i] = launched ? launched : builder_emit(m->b, &in);
  m->made[i - m->ph.first] = m->round;
}

// Values of other phases: there for the whole workgroup, or made again from what is.
static void need(merging *m, ref r) {
  if (ref_is_const(r) || is_for_all(m, r) || m->made[r - m->ph.first] == m->round) return;
  const inst *in = &m->from->code[r];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v') need(m, in->arg[k]);
  build(m, r);
}

// ---- phases -------------------------------------------------------------------------------------

// What the workgroup computes as a whole. Returns whether anything else is left to do.
static bool build_common(merging *m, range code) {
  bool is_rest = false;
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &m->from->code[i];
    uint32_t made = in->op == VYRE_OP_SET ? in->arg[0] : i;
    if (m->ph.is_common[made - m->ph.first])
      build(m, i);
    else
      is_rest |= !op_is((vyre_op)in->op, OPF_PURE) || !m->ph.is_cheap[made - m->ph.first];
  }
  return is_rest;
}

// All that a phase uses of others, before it begins: blocks of it would hide what is made in them.
static void need_all(merging *m, range code) {
  uint32_t phase = m->ph.phase[code.first - m->ph.first];
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &m->from->code[i];
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && !ref_is_const(in->arg[k]) &&
          m->ph.phase[in->arg[k] - m->ph.first] != phase)
        need(m, in->arg[k]);
  }
}

static void build_phase(merging *m, range code) {
  m->local = number(m, 0); // only axes that the workgroup does not have are the same for all of it
  if (!build_common(m, code)) return;
  m->round++;
  m->local = vyre_build_for(m->b, number(m, 0), number(m, m->r->workgroup[0]), number(m, 1));
  need_all(m, code);
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &m->from->code[i];
    uint32_t made = in->op == VYRE_OP_SET ? in->arg[0] : i;
    if (!m->ph.is_common[made - m->ph.first]) build(m, i);
  }
  vyre_build_end(m->b);
}

static range phase_at(const merging *m, uint32_t i) {
  range code = {i, i};
  const uint32_t *phase = m->ph.phase;
  while (code.end < m->r->body.end && phase[code.end - m->ph.first] == phase[i - m->ph.first])
    code.end++;
  return code;
}

static void build_body(merging *m) {
  for (uint32_t i = m->r->body.first; i < m->r->body.end;) {
    if (m->ph.phase[i - m->ph.first]) {
      range code = phase_at(m, i);
      build_phase(m, code);
      i = code.end;
      continue;
    }
    if (m->from->code[i].op != VYRE_OP_BARRIER) build(m, i); // a block of the whole workgroup
    i++;
  }
}

static void build_region(merging *m, uint32_t index) {
  (void)index;
  const region *r = m->r;
  const uint32_t one[3] = {1, 1, 1};
  vyre_build_region_begin(m->b, r->name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++)
    builder_copy_inst(m->b, m->from, i, m->map, 0);
  ref grid[3];
  for (int i = 0; i < 3; i++) grid[i] = builder_map_ref(m->b, m->from, r->grid[i], m->map);
  grid[0] = vyre_build_binary(
      m->b, VYRE_OP_DIV, grid[0],
      vyre_build_const(m->b, vyre_build_type_of(m->b, grid[0]), m->r->workgroup[0]));
  vyre_build_grid(m->b, r->rank, grid, one);
  builder_set_merged(m->b);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++) {
    const shared_array *s = &m->from->shared[i];
    m->arrays[i - r->shared.first] = vyre_build_array(m->b, s->name, s->type, s->length).id;
  }
  build_body(m);
  vyre_build_region_end(m->b);
}

// ---- programs -----------------------------------------------------------------------------------

typedef void build_one(merging *m, uint32_t index);

// A program with one region built anew and the others as they are.
static vyre_status rebuild(merging *m, uint32_t index, build_one *one, vyre_program **out,
                           vyre_error *error) {
  const vyre_program *from = m->from;
  uint32_t count = m->r->body.end - m->r->body.first + 1;
  m->b = vyre_builder_new(from->name);
  m->map = calloc(from->code_count, sizeof *m->map);
  m->made = arena_alloc_array(m->scratch, count, sizeof *m->made);
  m->arrays = arena_alloc_array(m->scratch, from->shared_count + 1u, sizeof *m->arrays);
  vyre_status status = VYRE_ERROR_MEMORY;
  if (m->b && m->map && m->made && m->arrays) {
    builder_copy_interface(m->b, from);
    for (uint32_t i = 0; i < from->region_count; i++)
      if (i == index)
        one(m, i);
      else
        builder_copy_region(m->b, from, i, m->map);
    status = vyre_builder_finish(m->b, out, error);
  } else {
    error_out_of_memory(error);
  }
  vyre_builder_free(m->b);
  free(m->map);
  return status;
}

// The region with more barriers, where those leave nothing to keep; else as it is.
static vyre_status with_barriers(merging *m, uint32_t index, vyre_program **out,
                                 vyre_error *error) {
  vyre_status status = rebuild(m, index, copy_with_barriers, out, error);
  if (status != VYRE_OK) return status;
  merging more = {.from = *out, .r = &(*out)->regions[index], .scratch = m->scratch};
  if (!analyse(&more)) return error_out_of_memory(error);
  if (can_merge(&more)) {
    *m = more;
    return VYRE_OK;
  }
  vyre_program_release(*out);
  *out = NULL;
  return VYRE_OK;
}

static vyre_status merge_region(vyre_program **program, uint32_t index, arena *scratch,
                                vyre_error *error) {
  merging m = {.from = *program, .r = &(*program)->regions[index], .scratch = scratch};
  if (!m.r->has_barrier || !is_small(&m) || !is_plain(&m)) return VYRE_OK;
  if (!analyse(&m)) return error_out_of_memory(error);
  if (!can_merge(&m) || !gains(&m)) return VYRE_OK;
  vyre_program *parted = NULL, *merged = NULL;
  vyre_status status = with_barriers(&m, index, &parted, error);
  if (status == VYRE_OK) status = rebuild(&m, index, build_region, &merged, error);
  if (parted) vyre_program_release(parted);
  if (status != VYRE_OK) return status;
  vyre_program_release(*program);
  *program = merged;
  return VYRE_OK;
}

vyre_status groups_to_lanes(vyre_program *program, vyre_program **out, vyre_error *error) {
  vyre_status status = VYRE_OK;
  *out = vyre_program_retain(program);
  for (uint32_t i = 0; i < program->region_count && status == VYRE_OK; i++) {
    arena scratch = {0};
    status = merge_region(out, i, &scratch, error);
    arena_free(&scratch);
  }
  if (status == VYRE_OK) return VYRE_OK;
  vyre_program_release(*out);
  *out = NULL;
  return status;
}
