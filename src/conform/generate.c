// SPDX-License-Identifier: MIT
//
// The program around the bodies: parameters, buffers, regions with their grids, and the inputs. An
// extent is made backwards: first the number that it shall come out as, then an expression over
// parameters, lengths and constants that gives it.
#include "conform/generate.h"

#include "conform/generate_state.h"
#include "backend/launch.h"
#include "base/error.h"
#include "ir/eval.h"
#include "ir/limits.h"

#include <stdio.h>
#include <string.h>

// ---- inputs -------------------------------------------------------------------------------------

uint32_t generate_specials(vyre_type type, uint64_t *out, uint32_t capacity) {
  static const uint32_t f32[] = {0,           0x80000000u, 0x3f800000,  0xbf800000u, 1,
                                 0x80000001u, 0x007fffff,  0x00800000,  0x80800000u, 0x7f7fffff,
                                 0xff7fffffu, 0x7f800000,  0xff800000u, 0x7fc00000,  0x3f000000,
                                 0x3fc00000,  0x4b800001,  0x4f000000,  0xcf000000u, 0x4f800000,
                                 0x5f000000,  0x5f800000,  0xdf000000u, 0xbf000000u};
  static const uint64_t f64[] = {0,
                                 1ull << 63,
                                 0x3ff0000000000000,
                                 0xbff0000000000000,
                                 1,
                                 0x8000000000000001,
                                 0x000fffffffffffff,
                                 0x0010000000000000,
                                 0x7fefffffffffffff,
                                 0x7ff0000000000000,
                                 0xfff0000000000000,
                                 0x7ff8000000000000,
                                 0x3fe0000000000000,
                                 0x41e0000000000000,
                                 0xc1e0000000000000,
                                 0x41f0000000000000,
                                 0x43e0000000000000,
                                 0xc3e0000000000000,
                                 0x43f0000000000000,
                                 0x36a0000000000000,
                                 0x47efffffe0000000,
                                 0x47effffff0000000};
  static const uint16_t f16[] = {0,      0x8000, 0x3c00, 0xbc00, 1,      0x8001, 0x03ff, 0x0400,
                                 0x8400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3800, 0x3e00,
                                 0x6400, 0x6801, 0x7800, 0xf800, 0x5bf8, 0x3555, 0x1400, 0xb800};
  uint32_t count = 0;
  if (type == VYRE_F16)
    for (size_t i = 0; i < sizeof f16 / sizeof *f16 && count < capacity; i++) out[count++] = f16[i];
  if (type == VYRE_F32)
    for (size_t i = 0; i < sizeof f32 / sizeof *f32 && count < capacity; i++) out[count++] = f32[i];
  if (type == VYRE_F64)
    for (size_t i = 0; i < sizeof f64 / sizeof *f64 && count < capacity; i++) out[count++] = f64[i];
  if (type_is_float(type)) return count;
  unsigned bits = type_bits(type);
  uint64_t top = 1ull << (bits - 1);
  uint64_t ints[] = {0, 1, 2, ~0ull, top, top - 1, top + 1, ~0ull - 1, bits, bits - 1, bits + 1};
  for (size_t i = 0; i < sizeof ints / sizeof *ints && count < capacity; i++)
    out[count++] = type_canonical_bits(type, ints[i]);
  return count;
}

static uint64_t special_bits(random_state *r, vyre_type type) {
  uint64_t all[64];
  uint32_t count = generate_specials(type, all, 64);
  return all[random_below(r, count)];
}

uint64_t generate_float(vyre_type type, double value) {
  uint64_t args[3] = {0};
  memcpy(args, &value, sizeof value);
  return eval_op(VYRE_OP_CONVERT, type, VYRE_F64, args);
}

// A float of ordinary size.
static uint64_t moderate_bits(random_state *r, vyre_type type) {
  int32_t mantissa = (int32_t)(uint32_t)random_bits(r);
  double d = (double)mantissa / (double)(1u << random_range(r, 8, 30));
  return generate_float(type, d);
}

uint64_t generate_bits(random_state *r, vyre_type type) {
  uint32_t way = random_below(r, 100);
  if (type == VYRE_BOOL) {
    static const uint8_t bytes[] = {0, 0, 0, 1, 1, 1, 2, 255};
    return bytes[random_below(r, sizeof bytes)];
  }
  uint64_t bits;
  if (way < 35)
    bits = special_bits(r, type);
  else if (type_is_float(type) && way < 80)
    bits = moderate_bits(r, type);
  else if (way < 70)
    bits = random_below(r, 40) - 8ull;
  else
    bits = random_bits(r);
  return type_canonical_bits(type, bits);
}

void generate_fill(random_state *r, vyre_type type, const vyre_span *span) {
  size_t size = type_bytes(type);
  for (size_t i = 0; i + size <= span->size_bytes; i += size) {
    uint64_t bits = generate_bits(r, type);
    memcpy((char *)span->data + i, &bits, size);
  }
}

static void fill_whole(random_state *r, vyre_type type, const vyre_span *span) {
  size_t size = type_bytes(type);
  for (size_t i = 0; i + size <= span->size_bytes; i += size) {
    uint64_t bits = generate_float(type, (double)random_below(r, 200) - 100);
    memcpy((char *)span->data + i, &bits, size);
  }
}

// ---- extents ------------------------------------------------------------------------------------

static vyre_value new_param(generator *g, vyre_type type, uint64_t bits) {
  char name[16];
  snprintf(name, sizeof name, "p%u", (unsigned)g->params.count);
  uint32_t index = vyre_build_param(g->b, name, type);
  generator_keep(g, &g->params, (vyre_scalar){type, type_canonical_bits(type, bits)});
  return vyre_build_param_value(g->b, index);
}

// An expression that comes out as `target`.
static vyre_value extent(generator *g, uint64_t target) {
  vyre_type type = generator_index_type(g);
  uint32_t way = random_below(&g->random, 100);
  vyre_builder *b = g->b;
  if (way < 30) return vyre_build_const(b, type, target);
  if (way < 60) return new_param(g, type, target);
  if (way < 75) {
    uint64_t more = random_below(&g->random, 100);
    vyre_value p = new_param(g, type, target + more);
    return vyre_build_binary(b, VYRE_OP_SUB, p, vyre_build_const(b, type, more));
  }
  uint32_t count = (uint32_t)g->buffers.count, from = random_below(&g->random, count);
  for (uint32_t i = 0; i < count; i++) {
    const memory_state *m = &g->buffers.at[(from + i) % count];
    if (m->is_sized || m->length < target) continue;
    vyre_value length = vyre_build_len(b, m->mem);
    uint64_t less = m->length - target;
    return vyre_build_binary(b, VYRE_OP_SUB, length, vyre_build_u32(b, (uint32_t)less));
  }
  uint64_t factor = target % 2 ? 1 : 2;
  vyre_value p = new_param(g, type, target / factor);
  return vyre_build_binary(b, VYRE_OP_MUL, p, vyre_build_const(b, type, factor));
}

// ---- buffers ------------------------------------------------------------------------------------

static uint64_t buffer_length(generator *g) {
  uint32_t way = random_below(&g->random, 100);
  if (way < 4) return 0;
  if (way < 12) return 1;
  if (way < 40) return random_range(&g->random, 2, 40);
  return random_range(&g->random, 40, 200);
}

static bool may_be_whole(generator *g, const memory_state *m) {
  return type_is_float(m->type) && generator_has_atomics(g, m) && random_chance(&g->random, 30);
}

static void declare_buffer(generator *g, uint32_t index, bool is_transient) {
  memory_state m = {.type = generator_type(g), .access = VYRE_READWRITE};
  m.length = buffer_length(g);
  uint32_t way = random_below(&g->random, 100);
  if (!is_transient && index != 0)
    m.access = way < 40 ? VYRE_READ : way < 60 ? VYRE_WRITE : m.access;
  m.is_whole = m.access == VYRE_READWRITE && may_be_whole(g, &m);
  m.is_sized = is_transient || random_chance(&g->random, 35);
  vyre_value length = m.is_sized ? extent(g, m.length) : 0;
  char name[16];
  snprintf(name, sizeof name, "%c%u", is_transient ? 't' : 'b', index);
  m.mem = is_transient ? vyre_build_transient(g->b, name, m.type, length)
                       : vyre_build_buffer(g->b, name, m.type, m.access, length);
  generator_keep(g, &g->buffers, m);
}

static bool can_count(const generator *g, const memory_state *m) {
  return m->access == VYRE_READWRITE && generator_has_atomics(g, m);
}

static void choose_roles(generator *g) {
  for (size_t i = 0; i < g->buffers.count; i++) {
    memory_state *m = &g->buffers.at[i];
    uint32_t way = random_below(&g->random, 100);
    m->role = m->access == VYRE_READ                ? ROLE_READ
              : m->access == VYRE_WRITE || way < 55 ? ROLE_OWN
              : way < 75 || !can_count(g, m)        ? ROLE_READ
                                                    : ROLE_ATOMIC;
    if (m->is_whole && m->role == ROLE_OWN) m->role = ROLE_ATOMIC; // it stays whole
    m->atomic = generator_atomic(g, m);
    m->slots = random_chance(&g->random, 60) ? 1 : random_range(&g->random, 2, 3);
    m->form = random_below(&g->random, 3);
    m->is_tile = false;
    if (m->access != VYRE_READWRITE || !g->has_barriers || g->rank != 1) continue;
    if (!random_chance(&g->random, 25)) continue;
    m->is_tile = true;
    m->role = ROLE_FREE;
    m->slots = 1;
    m->form = 0;
  }
}

// ---- regions ------------------------------------------------------------------------------------

static uint32_t axis_extent(generator *g) {
  static const uint32_t most[] = {0, 110, 11, 5};
  uint32_t way = random_below(&g->random, 100);
  if (way < 2) return 0;
  if (way < 10) return 1;
  return random_range(&g->random, 1, most[g->rank]);
}

static void choose_shape(generator *g) {
  static const uint32_t most[] = {0, 40, 6, 3};
  uint32_t way = random_below(&g->random, 100);
  g->rank = way < 60 ? 1 : way < 82 ? 2 : 3;
  for (uint32_t k = 0; k < 3; k++) {
    g->grid[k] = g->workgroup[k] = 1;
    if (k >= g->rank) continue;
    g->workgroup[k] = random_range(&g->random, 1, most[g->rank]);
    if (random_chance(&g->random, 40) && g->rank == 1)
      g->workgroup[k] = 1u << random_below(&g->random, 6);
    if (g->is_rigid)
      g->grid[k] = (uint64_t)g->workgroup[k] *
                   (random_chance(&g->random, 3) ? 0 : random_range(&g->random, 1, 3));
    else
      g->grid[k] = axis_extent(g);
  }
}

static vyre_value product(generator *g, vyre_value x, vyre_value y) {
  return vyre_build_binary(g->b, VYRE_OP_MUL, x, y);
}

// x + size_x * (y + size_y * z), as far as the rank goes.
static vyre_value linear_id(generator *g, vyre_op id, vyre_op size) {
  vyre_value at = vyre_build_id(g->b, id, g->rank - 1);
  for (uint32_t k = g->rank - 1; k-- > 0;) {
    vyre_value extent = vyre_build_id(g->b, size, k);
    at = product(g, at, extent);
    vyre_value inner = vyre_build_id(g->b, id, k);
    at = vyre_build_binary(g->b, VYRE_OP_ADD, at, inner);
  }
  return at;
}

static void declare_ids(generator *g) {
  vyre_builder *b = g->b;
  g->linear = linear_id(g, VYRE_OP_GLOBAL_ID, VYRE_OP_GLOBAL_SIZE);
  g->total = vyre_build_id(b, VYRE_OP_GLOBAL_SIZE, 0);
  for (uint32_t k = 1; k < g->rank; k++) {
    vyre_value size = vyre_build_id(b, VYRE_OP_GLOBAL_SIZE, k);
    g->total = product(g, g->total, size);
  }
  generator_know(g, g->linear, VYRE_U32, false);
  generator_know(g, g->total, VYRE_U32, true);
  if (!g->has_barriers) return;
  g->local_linear = linear_id(g, VYRE_OP_LOCAL_ID, VYRE_OP_LOCAL_SIZE);
  vyre_value group = vyre_build_id(b, VYRE_OP_GROUP_ID, 0);
  g->group_first = product(g, group, vyre_build_u32(b, g->workgroup[0]));
  generator_know(g, g->local_linear, VYRE_U32, false);
  generator_know(g, g->group_first, VYRE_U32, true);
}

static void declare_shared(generator *g) {
  uint32_t size = g->workgroup[0] * g->workgroup[1] * g->workgroup[2];
  for (uint32_t i = random_range(&g->random, 1, 3); i > 0; i--) {
    memory_state m = {.type = generator_type(g), .access = VYRE_READWRITE, .is_shared = true};
    m.is_whole = may_be_whole(g, &m);
    m.slots = random_chance(&g->random, 70) ? 1 : 2;
    m.length = size * m.slots;
    if (random_chance(&g->random, 20)) m.length = random_range(&g->random, 1, size + 3);
    char name[16];
    snprintf(name, sizeof name, "s%u", g->name_count++);
    m.mem = vyre_build_shared(g->b, name, m.type, (uint32_t)m.length);
    generator_keep(g, &g->shared, m);
  }
}

static void make_region(generator *g, uint32_t index) {
  const generate_options *o = g->options;
  g->is_rigid = !o->without_rigid && random_chance(&g->random, 45);
  g->has_barriers = g->is_rigid && !o->without_barriers && random_chance(&g->random, 65);
  g->values.count = g->vars.count = g->arrays.count = g->shared.count = 0;
  g->is_uniform = true;
  g->weight = 1;
  g->loop_count = g->depth = g->private_bytes = 0;
  choose_shape(g);
  char name[16];
  snprintf(name, sizeof name, "r%u", index);
  vyre_build_region_begin(g->b, name);
  vyre_value extents[3] = {0};
  for (uint32_t k = 0; k < g->rank; k++) extents[k] = extent(g, g->grid[k]);
  vyre_build_grid(g->b, g->rank, extents, g->workgroup);
  choose_roles(g);
  if (g->has_barriers) declare_shared(g);
  declare_ids(g);
  generator_body(g);
  vyre_build_region_end(g->b);
}

// ---- the trial ----------------------------------------------------------------------------------

static void make_program(generator *g) {
  for (uint32_t i = random_range(&g->random, 0, 3); i > 0; i--) {
    vyre_type type = generator_type(g);
    char name[16];
    snprintf(name, sizeof name, "p%u", (unsigned)g->params.count);
    vyre_build_param(g->b, name, type);
    uint64_t bits = type_canonical_bits(type, generate_bits(&g->random, type));
    generator_keep(g, &g->params, (vyre_scalar){type, bits});
  }
  uint32_t bound = random_range(&g->random, 2, 5);
  for (uint32_t i = 0; i < bound; i++) declare_buffer(g, i, false);
  uint32_t regions = random_chance(&g->random, 55) ? 1 : random_range(&g->random, 2, 3);
  uint32_t transient = regions > 1 ? random_range(&g->random, 0, 2) : random_chance(&g->random, 10);
  for (uint32_t i = 0; i < transient; i++) declare_buffer(g, i, true);
  for (uint32_t i = 0; i < regions; i++) make_region(g, i);
}

static bool make_inputs(generator *g, trial *t) {
  const vyre_program *p = t->program;
  t->params = calloc(g->params.count + 1, sizeof *t->params);
  t->buffers = calloc(g->buffers.count + 1, sizeof *t->buffers);
  if (!t->params || !t->buffers) return false;
  t->param_count = (uint32_t)g->params.count;
  for (uint32_t i = 0; i < t->param_count; i++) t->params[i] = g->params.at[i];
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    const memory_state *m = &g->buffers.at[i];
    size_t size = m->length * type_bytes(m->type);
    vyre_span *span = &t->buffers[t->buffer_count];
    *span = (vyre_span){malloc(size + 1), size};
    if (!span->data) return false;
    t->buffer_count++;
    if (m->is_whole)
      fill_whole(&g->random, m->type, span);
    else
      generate_fill(&g->random, m->type, span);
  }
  return true;
}

static void choose_launch(generator *g, trial *t) {
  static const uint32_t shapes[][3] = {{1, 1, 1}, {8, 1, 1}, {3, 2, 1}, {64, 1, 1},
                                       {2, 2, 2}, {7, 1, 3}, {16, 4, 1}};
  bool has_elastic = false;
  for (uint32_t i = 0; i < t->program->region_count; i++)
    has_elastic |= t->program->regions[i].is_elastic;
  if (!has_elastic || !random_chance(&g->random, 30)) return;
  uint32_t pick = random_below(&g->random, sizeof shapes / sizeof *shapes);
  memcpy(t->workgroup, shapes[pick], sizeof t->workgroup);
}

// ---- inputs for a given program -----------------------------------------------------------------

static bool bind(vyre_program *p, random_state *r, uint32_t number, uint64_t length, trial *t,
                 vyre_error *error) {
  uint64_t lengths[LIMIT_BUFFERS] = {0};
  *t = (trial){.program = vyre_program_retain(p)};
  t->params = calloc(p->param_count + 1u, sizeof *t->params);
  t->buffers = calloc(p->buffer_count + 1u, sizeof *t->buffers);
  if (!t->params || !t->buffers) return false;
  for (; t->param_count < p->param_count; t->param_count++) {
    vyre_type type = p->params[t->param_count].type;
    uint64_t bits = type_is_int(type)     ? number
                    : type_is_float(type) ? moderate_bits(r, type)
                                          : generate_bits(r, type) != 0;
    t->params[t->param_count] = (vyre_scalar){type, type_canonical_bits(type, bits)};
  }
  for (uint32_t i = 0; i < p->buffer_count; i++) lengths[i] = p->buffers[i].length ? 0 : length;
  if (vyre_program_extents(p, t->params, lengths, NULL, error) != VYRE_OK) return false;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    size_t size = lengths[i] * type_bytes(p->buffers[i].type);
    vyre_span *span = &t->buffers[t->buffer_count];
    *span = (vyre_span){malloc(size + 1), size};
    if (!span->data) return false;
    t->buffer_count++;
    generate_fill(r, p->buffers[i].type, span);
  }
  return true;
}

vyre_status generate_inputs(vyre_program *program, uint64_t seed, uint64_t length, trial *out,
                            vyre_error *error) {
  static const uint32_t numbers[] = {32, 16, 64, 8, 256, 4, 2, 1, 0};
  vyre_status status = VYRE_ERROR_MEMORY;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    random_state r = {seed};
    launch l;
    if (bind(program, &r, numbers[i], length, out, error)) {
      vyre_dispatch_args args = {.params = out->params,
                                 .param_count = out->param_count,
                                 .buffers = out->buffers,
                                 .buffer_count = out->buffer_count};
      status = launch_init(&l, program, &args, error);
      if (status == VYRE_OK) launch_fini(&l);
      if (status == VYRE_OK) return VYRE_OK;
    }
    trial_fini(out);
  }
  return status;
}

// ---- the whole ----------------------------------------------------------------------------------

vyre_status generate_trial(const generate_options *options, trial *out, vyre_error *error) {
  generator *g = calloc(1, sizeof *g);
  *out = (trial){0};
  if (!g) return error_out_of_memory(error);
  g->options = options;
  g->random.at = options->seed * 0x9e3779b97f4a7c15u + 0x6a09e667f3bcc908u;
  char name[32];
  snprintf(name, sizeof name, "random_%llu", (unsigned long long)options->seed);
  g->b = vyre_builder_new(name);
  vyre_status status = VYRE_ERROR_MEMORY;
  if (g->b) {
    generator_fill_tables(g);
    vyre_build_fast(g->b, g->options->fast_ulp);
    make_program(g);
    status = vyre_builder_finish(g->b, &out->program, error);
    vyre_builder_free(g->b);
    if (status == VYRE_OK && !make_inputs(g, out)) status = error_out_of_memory(error);
    if (status == VYRE_OK) choose_launch(g, out);
  } else {
    error_out_of_memory(error);
  }
  if (status != VYRE_OK) trial_fini(out);
  vec_free(&g->params);
  vec_free(&g->buffers);
  vec_free(&g->shared);
  vec_free(&g->values);
  vec_free(&g->vars);
  vec_free(&g->arrays);
  free(g);
  return status;
}
