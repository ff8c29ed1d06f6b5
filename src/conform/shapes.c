// SPDX-License-Identifier: MIT
#include "conform/shapes.h"

#include "conform/generate.h"
#include "conform/shapes_state.h"
#include "analysis/axis.h"
#include "base/error.h"
#include "ir/program.h"

#include <stdio.h>
#include <string.h>

uint32_t shapes_count(void) {
  return body_kind_count;
}

const char *shapes_name(uint32_t kind) {
  return kind < body_kind_count ? body_kinds[kind].name : NULL;
}

// ---- what is launched ---------------------------------------------------------------------------

enum { MAX_REGIONS = 2, MAX_BODIES = 2, MOST_WITH_LOOPS = 8000 };

typedef struct region_plan {
  uint32_t bodies[MAX_BODIES], body_count;
  int needs; // of body_need
  uint32_t rank, workgroup[3];
  uint64_t grid[3], total;
  bool is_rigid;
} region_plan;

static uint32_t choose_kind(maker *m, uint32_t kinds) {
  uint32_t from = maker_below(m, body_kind_count);
  while (!(kinds >> from & 1)) from = (from + 1) % body_kind_count;
  return from;
}

// How many invocations, about. Above 4096 the CPU backend shares even a first dispatch out.
static uint32_t choose_total(maker *m, int needs) {
  uint32_t way = maker_below(m, 100);
  bool has_loops = needs & NEEDS_LOOPS;
  if (needs & NEEDS_MANY && !has_loops && way < 30) return 65600 + maker_below(m, 60000);
  if (needs & NEEDS_MANY) return (way < 60 ? 400 : 4200) + maker_below(m, 3000);
  if (way < 12) return 1 + maker_below(m, 40);
  if (has_loops) return (way < 95 ? 40 : 4100) + maker_below(m, 600);
  if (way < 80) return 60 + maker_below(m, 1500);
  return (way < 88 ? 1500 : 4100) + maker_below(m, 2500);
}

static void choose_grid(maker *m, region_plan *p, uint32_t total) {
  // Rows that are jammed are several, and what has loops has few invocations.
  uint32_t left = total, most = p->rank == 3 ? 40 : p->needs & NEEDS_LOOPS ? 60 : 250;
  for (uint32_t k = 0; k < 3; k++) {
    p->grid[k] = p->workgroup[k] = 1;
    if (k >= p->rank) continue;
    uint32_t extent = k + 1 == p->rank ? left : 1 + maker_below(m, most);
    if (extent > left) extent = left;
    p->grid[k] = extent;
    left = left / extent ? left / extent : 1;
  }
}

// Workgroups of odd sizes, and a whole number of them.
static void choose_workgroup(maker *m, region_plan *p) {
  uint32_t most = p->rank == 1 ? 70 : p->rank == 2 ? 24 : 9;
  p->total = 1;
  for (uint32_t k = 0; k < p->rank; k++) {
    p->workgroup[k] = 1 + maker_below(m, most);
    if (maker_chance(m, 35)) p->workgroup[k] = 1u << maker_below(m, p->rank == 1 ? 7 : 4);
    if (p->rank == 3 && p->workgroup[k] > 8) p->workgroup[k] = 8;
    uint64_t groups = (p->grid[k] + p->workgroup[k] - 1) / p->workgroup[k];
    if (p->is_rigid) p->grid[k] = groups * p->workgroup[k];
  }
  for (int k = 0; k < 3; k++) p->total *= p->grid[k];
  // Whole workgroups of a short axis are many more invocations: what has loops would not end.
  uint32_t last = p->rank - 1, size = p->workgroup[last];
  if (!(p->needs & NEEDS_LOOPS) || p->total <= MOST_WITH_LOOPS) return;
  uint64_t others = p->total / p->grid[last], groups = MOST_WITH_LOOPS / others / size;
  p->grid[last] = (groups ? groups : 1) * size;
  p->total = others * p->grid[last];
}

static void plan_region(maker *m, uint32_t kinds, region_plan *p) {
  uint32_t wanted = maker_chance(m, 80) ? 1 : MAX_BODIES;
  *p = (region_plan){.body_count = 0};
  while (p->body_count < wanted) {
    uint32_t kind = choose_kind(m, kinds);
    // Barriers are passed by whole workgroups: nobody has left before.
    if (p->body_count && body_kinds[kind].needs & NEEDS_BARRIERS) break;
    p->bodies[p->body_count++] = kind;
    p->needs |= body_kinds[kind].needs;
  }
  uint32_t way = maker_below(m, 100);
  p->rank = p->needs & NEEDS_PLANE ? (way < 80 ? 2 : 3) : way < 65 ? 1 : way < 88 ? 2 : 3;
  if (p->needs & NEEDS_ROW) p->rank = p->needs & NEEDS_PLANE ? 2 : 1;
  p->is_rigid = p->needs & NEEDS_BARRIERS || maker_chance(m, 30);
  choose_grid(m, p, choose_total(m, p->needs));
  choose_workgroup(m, p);
}

// ---- buffers ------------------------------------------------------------------------------------

static vyre_type type_for(maker *m, purpose use) {
  static const vyre_type wide[] = {VYRE_U32, VYRE_I32, VYRE_U64, VYRE_I64};
  static const vyre_type narrow[] = {VYRE_U8, VYRE_I8, VYRE_U16, VYRE_I16, VYRE_U8};
  static const vyre_type any[] = {VYRE_U32, VYRE_U32, VYRE_I32, VYRE_F32, VYRE_U8,
                                  VYRE_I16, VYRE_I64, VYRE_F64, VYRE_I8,  VYRE_U16};
  switch (use) {
  case FOR_COUNTS: return wide[maker_below(m, 4)];
  case FOR_NARROW: return narrow[maker_below(m, 5)];
  case FOR_NUMBERS: return maker_chance(m, 50) ? VYRE_I64 : VYRE_U64;
  case FOR_WHOSE: return VYRE_U16;
  case FOR_OUTPUT:
  case FOR_TURNS:
  case FOR_VALUES:
  case PURPOSES: break;
  }
  return any[maker_below(m, 10)];
}

// Of a buffer that is so much longer than its pages, those at its end begin inside of a vector.
enum { ODD_PLACES = 3, SMALLEST_PAGE = 4096 };

static uint64_t length_for(maker *m, purpose use, uint64_t total) {
  if (use == FOR_NUMBERS) return 6;
  if (use == FOR_TURNS) return m->places + (m->frozen_place ? ODD_PLACES : 0);
  if (use == FOR_WHOSE) return m->places;
  uint32_t way = maker_below(m, 100);
  if (way < 3) return 0;
  if (way < 6) return 1;
  if (way < 45) return total;
  if (way < 60) return total + maker_below(m, 9) - (total > 4 ? 4 : total);
  if (way < 80) return total * (2 + maker_below(m, 3)) + maker_below(m, 3);
  return 1 + maker_below(m, (uint32_t)total);
}

static uint16_t whose_turn(maker *m, uint64_t place, uint64_t rounds) {
  uint32_t turn = maker_below(m, (uint32_t)rounds);
  return m->frozen_place && place >= (uint64_t)m->frozen_place ? UINT16_MAX : (uint16_t)turn;
}

static void fill(maker *m, purpose use, const memory *x, uint64_t rounds) {
  vyre_span span = {x->data, x->length * type_bytes(x->type)};
  uint32_t way = maker_below(m, 100), low = maker_below(m, 250);
  if (use == FOR_NUMBERS) {
    memset(span.data, 0, span.size_bytes);
  } else if (use == FOR_WHOSE) {
    for (uint64_t i = 0; i < x->length; i++) ((uint16_t *)span.data)[i] = whose_turn(m, i, rounds);
  } else if (use == FOR_NARROW && way < 40) {
    memset(span.data, (int)low, span.size_bytes);
  } else {
    generate_fill(&m->random, x->type, &span);
  }
}

// From some page on nobody has a turn. A thread that writes back what it finds there, next to
// places that were its own, would undo what another has written, if only now and then.
static void freeze_places(maker *m, const memory *turns) {
  uint32_t pages = 1 + maker_below(m, 8), size = type_bytes(turns->type);
  if (m->places <= 256 || !maker_chance(m, 60)) return;
  m->frozen_place = pages * SMALLEST_PAGE / size + ODD_PLACES;
}

static bool declare(maker *m, purpose use, uint64_t total) {
  static const char *const names[] = {"y", "z", "n", "x", "b", "u", "w"};
  static const vyre_access access[] = {VYRE_READWRITE, VYRE_READWRITE, VYRE_READWRITE, VYRE_READ,
                                       VYRE_READ,      VYRE_READ,      VYRE_READ};
  memory *x = &m->memories[use];
  x->type = type_for(m, use);
  if (use == FOR_TURNS) freeze_places(m, x);
  x->length = length_for(m, use, total);
  x->mem = vyre_build_buffer(m->b, names[use], x->type, access[use], 0);
  x->data = malloc(x->length * type_bytes(x->type) + 1);
  if (!x->data) return false;
  fill(m, use, x, m->places ? (total + m->places - 1) / m->places : 1);
  return true;
}

static bool declare_all(maker *m, const region_plan *plans, uint32_t count) {
  uint64_t total = plans[0].total, many = 0;
  for (uint32_t i = 0; i < count; i++)
    if (plans[i].needs & NEEDS_MANY && plans[i].total > many) many = plans[i].total;
  if (many) m->places = many > 65536 && maker_chance(m, 85) ? 65536 : 256;
  for (int use = 0; use < PURPOSES; use++) {
    bool is_for_turns = use == FOR_TURNS || use == FOR_WHOSE;
    if (!declare(m, (purpose)use, is_for_turns ? many : total)) return false;
  }
  return true;
}

// ---- regions ------------------------------------------------------------------------------------

static node extent(maker *m, uint64_t target) {
  const memory *out = &m->memories[FOR_OUTPUT];
  if (out->length == target && maker_chance(m, 60))
    return (node){vyre_build_len(m->b, out->mem), VYRE_U32, target};
  vyre_type type = maker_index_type(m);
  return maker_chance(m, 50) ? maker_const(m, type, target) : maker_param(m, type, target);
}

static void choose_sample(maker *m) {
  for (int k = 0; k < 3; k++) {
    uint32_t way = maker_below(m, 100), extent = (uint32_t)m->grid[k];
    m->sample[k] = way < 10 ? 0 : way < 20 ? extent - 1 : maker_below(m, extent);
    m->ids[k] = (node){0};
  }
}

static node row_length(maker *m, uint32_t axis) {
  uint32_t way = maker_below(m, 100);
  if (way < 20) return maker_const(m, VYRE_U32, m->grid[axis]);
  if (way < 40) return maker_param(m, VYRE_U32, m->grid[axis]);
  return maker_fact(m, VYRE_OP_GLOBAL_SIZE, axis, m->grid[axis]);
}

// group_id * local_size + local_id, as kernels have it.
static node id_from_group(maker *m, uint32_t axis) {
  uint32_t size = m->workgroup[axis], at = m->sample[axis];
  node first = maker_fact(m, VYRE_OP_GROUP_ID, axis, at / size);
  node length = maker_chance(m, 50) ? maker_const(m, VYRE_U32, size)
                                    : maker_fact(m, VYRE_OP_LOCAL_SIZE, axis, size);
  first = maker_binary(m, VYRE_OP_MUL, first, length);
  return maker_binary(m, VYRE_OP_ADD, first, maker_fact(m, VYRE_OP_LOCAL_ID, axis, at % size));
}

static void declare_ids(maker *m) {
  bool is_from_group = m->is_rigid && maker_chance(m, 40);
  for (uint32_t k = 0; k < m->rank; k++)
    m->ids[k] =
        is_from_group ? id_from_group(m, k) : maker_fact(m, VYRE_OP_GLOBAL_ID, k, m->sample[k]);
  m->linear = m->ids[m->rank - 1];
  for (uint32_t k = m->rank - 1; k-- > 0;) {
    node outer = maker_binary(m, VYRE_OP_MUL, m->linear, row_length(m, k));
    m->linear = maker_binary(m, VYRE_OP_ADD, outer, m->ids[k]);
  }
}

static void make_region(maker *m, const region_plan *p, uint32_t index) {
  char name[16];
  snprintf(name, sizeof name, "r%u", index);
  m->rank = p->rank;
  m->total = p->total;
  m->is_rigid = p->is_rigid;
  memcpy(m->grid, p->grid, sizeof m->grid);
  memcpy(m->workgroup, p->workgroup, sizeof m->workgroup);
  vyre_build_region_begin(m->b, name);
  m->turn = maker_chance(m, 30) ? maker_below(m, m->rank) : 0;
  vyre_value extents[3] = {0};
  uint32_t workgroup[3];
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t axis = axis_turned(m->turn, k);
    if (k < p->rank) extents[k] = extent(m, p->grid[axis]).value;
    workgroup[k] = p->workgroup[axis];
  }
  vyre_build_grid(m->b, p->rank, extents, workgroup);
  choose_sample(m);
  declare_ids(m);
  maker_choose_own(m, &m->memories[FOR_OUTPUT]);
  m->memories[FOR_COUNTS].atomic = (vyre_op)(VYRE_OP_ATOMIC_ADD + maker_below(m, 7));
  for (uint32_t i = 0; i < p->body_count; i++) body_kinds[p->bodies[i]].make(m);
  vyre_build_region_end(m->b);
}

// ---- the trial ----------------------------------------------------------------------------------

static bool make_inputs(maker *m, trial *t) {
  t->params = calloc(m->params.count + 1, sizeof *t->params);
  t->buffers = calloc(PURPOSES, sizeof *t->buffers);
  if (!t->params || !t->buffers) return false;
  t->param_count = (uint32_t)m->params.count;
  for (uint32_t i = 0; i < t->param_count; i++) t->params[i] = m->params.at[i];
  for (; t->buffer_count < PURPOSES; t->buffer_count++) {
    memory *x = &m->memories[t->buffer_count];
    t->buffers[t->buffer_count] = (vyre_span){x->data, x->length * type_bytes(x->type)};
    x->data = NULL;
  }
  t->frozen_buffer = FOR_TURNS;
  t->frozen_byte = m->frozen_place * (int64_t)type_bytes(m->memories[FOR_TURNS].type);
  return true;
}

// Many are narrower than a vector, or leave a part of one at the end of the row.
static void choose_launch(maker *m, trial *t) {
  bool has_elastic = false;
  for (uint32_t i = 0; i < t->program->region_count; i++)
    has_elastic |= t->program->regions[i].is_elastic;
  if (!has_elastic || !maker_chance(m, 30)) return;
  t->workgroup[0] = 1 + maker_below(m, maker_chance(m, 60) ? 20 : 200);
  t->workgroup[1] = 1 + (maker_chance(m, 50) ? maker_below(m, 5) : 0);
  t->workgroup[2] = 1;
}

static vyre_status make_trial(maker *m, const shapes_options *o, trial *out, uint32_t *kind,
                              vyre_error *error) {
  region_plan plans[MAX_REGIONS];
  uint32_t count = maker_chance(m, 85) ? 1 : MAX_REGIONS;
  uint32_t all = (1u << body_kind_count) - 1, kinds = o->kinds & all ? o->kinds & all : all;
  for (uint32_t i = 0; i < count; i++) plan_region(m, kinds, &plans[i]);
  if (kind) *kind = plans[0].bodies[0];
  char name[48];
  snprintf(name, sizeof name, "%s_%llu", body_kinds[plans[0].bodies[0]].name,
           (unsigned long long)o->seed);
  m->b = vyre_builder_new(name);
  if (!m->b || !declare_all(m, plans, count)) return error_out_of_memory(error);
  for (uint32_t i = 0; i < count; i++) make_region(m, &plans[i], i);
  vyre_status status = vyre_builder_finish(m->b, &out->program, error);
  if (status != VYRE_OK) return status;
  if (!make_inputs(m, out)) return error_out_of_memory(error);
  choose_launch(m, out);
  return VYRE_OK;
}

vyre_status shapes_trial(const shapes_options *options, trial *out, uint32_t *kind,
                         vyre_error *error) {
  maker *m = calloc(1, sizeof *m);
  *out = (trial){0};
  if (!m) return error_out_of_memory(error);
  m->random.at = options->seed * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du;
  vyre_status status = make_trial(m, options, out, kind, error);
  if (status != VYRE_OK) trial_fini(out);
  for (int i = 0; i < PURPOSES; i++) free(m->memories[i].data);
  vyre_builder_free(m->b);
  vec_free(&m->params);
  free(m);
  return status;
}
