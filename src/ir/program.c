// SPDX-License-Identifier: MIT
#include "ir/program.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "ir/eval.h"
#include "ir/limits.h"
#include "ir/stats.h"
#include "ir/verify.h"
#include "ir/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

const char *vyre_version(void) {
  return STRING(VYRE_VERSION_MAJOR) "." STRING(VYRE_VERSION_MINOR) "." STRING(VYRE_VERSION_PATCH);
}

void vyre_free(void *memory) {
  free(memory);
}

// ---- life ---------------------------------------------------------------------------------------

vyre_program *program_new(void) {
  vyre_program *p = calloc(1, sizeof *p);
  if (p) atomic_init(&p->references, 1);
  return p;
}

vyre_program *vyre_program_retain(vyre_program *program) {
  if (program) atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
  return program;
}

void vyre_program_release(vyre_program *program) {
  if (!program) return;
  if (atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) != 1) return;
  arena_free(&program->arena);
  free(program);
}

vyre_status program_freeze(vyre_program *program, uint32_t *fault, vyre_error *error) {
  uint32_t unused;
  if (!fault) fault = &unused;
  *fault = 0;
  vyre_status status = verify_link(program, fault, error);
  if (status == VYRE_OK) status = verify_program(program, fault, error);
  if (status == VYRE_OK) status = stats_compute(program, &program->stats, error);
  return status;
}

// ---- identity -----------------------------------------------------------------------------------

// Of all programs: each is hashed once, and seldom by two threads at a time.
static pthread_mutex_t fingerprint_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&fingerprint_lock, NULL);
}

void program_set_fingerprint(vyre_program *p, const uint8_t fingerprint[HASH_BYTES]) {
  memcpy(p->lazy_fingerprint, fingerprint, HASH_BYTES);
  atomic_store_explicit(&p->has_fingerprint, true, memory_order_release);
}

const uint8_t *program_fingerprint(const vyre_program *program) {
  vyre_program *p = (vyre_program *)program; // what is kept does not change what it is
  if (atomic_load_explicit(&p->has_fingerprint, memory_order_acquire)) return p->lazy_fingerprint;
  uint8_t made[HASH_BYTES];
  wire_fingerprint(p, made);
  pthread_mutex_lock(&fingerprint_lock);
  if (!atomic_load_explicit(&p->has_fingerprint, memory_order_relaxed))
    program_set_fingerprint(p, made);
  pthread_mutex_unlock(&fingerprint_lock);
  return p->lazy_fingerprint;
}

// ---- inspection ---------------------------------------------------------------------------------

// Nothing can be said of no program: its counts are zero and its name is empty.
const char *vyre_program_name(const vyre_program *p) {
  return p ? p->name : "";
}

void vyre_program_fingerprint(const vyre_program *p, uint8_t out[32]) {
  if (!out) return;
  memset(out, 0, HASH_BYTES);
  if (p) memcpy(out, program_fingerprint(p), HASH_BYTES);
}

uint32_t vyre_program_fast_ulp(const vyre_program *p) {
  return p ? p->fast_ulp : 0;
}

uint32_t vyre_program_param_count(const vyre_program *p) {
  return p ? p->param_count : 0;
}

vyre_param_info vyre_program_param(const vyre_program *p, uint32_t index) {
  if (index >= vyre_program_param_count(p)) return (vyre_param_info){0};
  return (vyre_param_info){p->params[index].name, p->params[index].type};
}

uint32_t vyre_program_buffer_count(const vyre_program *p) {
  return p ? p->buffer_count : 0;
}

vyre_buffer_info vyre_program_buffer(const vyre_program *p, uint32_t index) {
  if (index >= vyre_program_buffer_count(p)) return (vyre_buffer_info){0};
  const buffer *b = &p->buffers[index];
  bool fixed = ref_is_const(b->length);
  return (vyre_buffer_info){.name = b->name,
                            .type = b->type,
                            .access = b->access,
                            .is_transient = b->is_transient,
                            .has_length = b->length != 0,
                            .has_fixed_length = fixed,
                            .fixed_length = fixed ? p->consts[ref_index(b->length)].bits : 0};
}

uint32_t vyre_program_region_count(const vyre_program *p) {
  return p ? p->region_count : 0;
}

static const char *rigid_because(const vyre_program *p, const region *r) {
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (op_is((vyre_op)p->code[i].op, OPF_GROUP)) return op_table[p->code[i].op].name;
  return "shared";
}

vyre_region_info vyre_program_region(const vyre_program *p, uint32_t index) {
  if (index >= vyre_program_region_count(p)) return (vyre_region_info){0};
  const region *r = &p->regions[index];
  vyre_region_info info = {.name = r->name, .rank = r->rank, .is_elastic = r->is_elastic};
  if (!r->is_elastic) info.rigid_because = rigid_because(p, r);
  memcpy(info.workgroup, r->workgroup, sizeof info.workgroup);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    info.shared_bytes += p->shared[i].length * type_bytes(p->shared[i].type);
  return info;
}

uint32_t program_line(const vyre_program *p, uint32_t instruction, uint32_t *column) {
  uint32_t place = p->lines && p->places ? p->places[instruction].offset : 0;
  if (column) *column = 0;
  if (!place) return 0;
  uint32_t low = 0, high = p->line_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (p->lines[middle] <= place - 1)
      low = middle;
    else
      high = middle;
  }
  if (column) *column = place - p->lines[low];
  return low + 1;
}

vyre_stats vyre_program_stats(const vyre_program *p) {
  return p ? p->stats : (vyre_stats){0};
}

uint64_t vyre_program_peak_memory(const vyre_program *p, const uint64_t *lengths) {
  return p ? stats_peak_memory(p, lengths) : 0;
}

// ---- extents ------------------------------------------------------------------------------------

typedef struct extent_eval {
  const vyre_program *program;
  const program_extents *extents;
  uint64_t *values; // per operation of header and grid code
} extent_eval;

static uint64_t value_of(const extent_eval *e, ref r) {
  return ref_is_const(r) ? e->program->consts[ref_index(r)].bits : e->values[r];
}

static void eval_range(extent_eval *e, range part) {
  const vyre_program *p = e->program;
  for (uint32_t i = part.first; i < part.end; i++) {
    const inst *in = &p->code[i];
    if (in->op == VYRE_OP_PARAM) {
      const vyre_scalar *s = &e->extents->params[in->arg[0]];
      e->values[i] = type_canonical_bits((vyre_type)in->type, s->bits);
      continue;
    }
    if (in->op == VYRE_OP_LEN) {
      e->values[i] = e->extents->lengths[in->arg[0]];
      continue;
    }
    uint64_t args[3] = {0};
    for (int k = 0; k < op_table[in->op].operand_count; k++) args[k] = value_of(e, in->arg[k]);
    ref first = in->op == VYRE_OP_SELECT ? in->arg[1] : in->arg[0];
    e->values[i] = eval_op((vyre_op)in->op, (vyre_type)in->type, ref_type(p, first), args);
  }
}

// An extent as an unsigned number, or an error that names what it belongs to.
static vyre_status take_extent(const extent_eval *e, ref r, uint64_t limit, const char *what,
                               const char *name, uint64_t *out, vyre_error *error) {
  uint64_t value = value_of(e, r);
  *out = value;
  if (value <= limit) return VYRE_OK; // negative ones have their highest bit set
  if (type_is_signed(ref_type(e->program, r)) && (int64_t)value < 0)
    return error_set(error, VYRE_ERROR_BINDING,
                     "%s `%s` comes out as %lld. Fix: pass parameters and buffers that make it "
                     "zero or more",
                     what, name, (long long)value);
  return error_set(error, VYRE_ERROR_LIMIT,
                   "%s `%s` comes out as %llu, above the limit of %llu. Fix: split the work into "
                   "smaller dispatches or use more axes",
                   what, name, (unsigned long long)value, (unsigned long long)limit);
}

static vyre_status take_all(extent_eval *e, vyre_error *error) {
  const vyre_program *p = e->program;
  eval_range(e, p->header);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    const buffer *b = &p->buffers[i];
    if (!b->length) continue;
    vyre_status status = take_extent(e, b->length, LIMIT_LENGTH, "the length of buffer", b->name,
                                     &e->extents->lengths[i], error);
    if (status != VYRE_OK) return status;
  }
  for (uint32_t i = 0; i < p->region_count; i++) {
    const region *r = &p->regions[i];
    eval_range(e, r->grid_code);
    for (int k = 0; k < 3; k++) {
      vyre_status status = take_extent(e, r->grid[k], LIMIT_EXTENT, "the grid of region", r->name,
                                       &e->extents->grids[i][k], error);
      if (status != VYRE_OK) return status;
    }
  }
  return VYRE_OK;
}

vyre_status program_eval_extents(const vyre_program *p, program_extents *extents,
                                 vyre_error *error) {
  // Extents are a handful of operations; the values of most programs fit here, so that a repeated
  // dispatch allocates nothing. Only large grids' code, which starts late in the array, does not.
  enum { ON_STACK = 256 };
  uint64_t stack[ON_STACK], *values = stack;
  uint32_t last = p->region_count ? p->regions[p->region_count - 1].grid_code.end : 0;
  if (last < p->header.end) last = p->header.end;
  if (last > ON_STACK && !(values = malloc(last * sizeof *values)))
    return error_out_of_memory(error);
  vyre_status status = take_all(&(extent_eval){p, extents, values}, error);
  if (values != stack) free(values);
  return status;
}

vyre_status vyre_program_extents(const vyre_program *p, const vyre_scalar *params,
                                 uint64_t *lengths, uint64_t (*grids)[3], vyre_error *error) {
  FPENV_SCOPE;
  if (!p || (p->param_count && !params) || (p->buffer_count && !lengths))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_program_extents wants a program, its parameters and room for the "
                     "lengths. Fix: pass arrays of the program's counts");
  uint64_t(*own)[3] = grids ? NULL : malloc((p->region_count + 1) * sizeof *own);
  if (!grids && !own) return error_out_of_memory(error);
  program_extents extents = {params, lengths, grids ? grids : own};
  vyre_status status = program_eval_extents(p, &extents, error);
  free(own);
  return status;
}
