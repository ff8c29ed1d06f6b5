// SPDX-License-Identifier: MIT
#include "lower/supported.h"

#include "base/error.h"
#include "ir/limits.h"
#include "lower/storage.h"

static vyre_status lacks(const region *r, const char *what, vyre_error *error) {
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the device has no %s, which region `%s` needs. Fix: run the program on another "
                   "device or backend",
                   what, r->name);
}

static const char *lacking_type(const lower_target *target, vyre_type t) {
  return t == VYRE_F64 && !target->has_f64 ? "64-bit floats" : NULL;
}

// What the recipe `subnormal` makes of f64, and atomics, which are made by way of it.
static bool is_f64_computed(const vyre_program *p, const inst *in) {
  unsigned rule = op_table[in->op].rule;
  if (in->op == VYRE_OP_CONVERT)
    return (in->type == VYRE_F64 && ref_type(p, in->arg[0]) == VYRE_F32) ||
           (in->type == VYRE_F32 && ref_type(p, in->arg[0]) == VYRE_F64);
  bool is_compared = rule == RULE_EQUALITY || rule == RULE_ORDER;
  if (is_compared) return ref_type(p, in->arg[0]) == VYRE_F64;
  return in->type == VYRE_F64 && (rule == RULE_ARITH || rule == RULE_FLOAT || op_is_atomic(in->op));
}

// Whether the bits of a f64 are asked for, by the program or by a recipe.
static bool takes_f64_apart(const vyre_program *p, const lower_target *t, const inst *in) {
  if (in->op == VYRE_OP_BITCAST) return in->type == VYRE_F64 || ref_type(p, in->arg[0]) == VYRE_F64;
  if (!t->keeps_f64_subnormals && is_f64_computed(p, in)) return true;
  if (in->type != VYRE_F64) return false;
  bool is_rounding = in->op >= VYRE_OP_FLOOR && in->op <= VYRE_OP_RINT;
  bool is_quotient = in->op == VYRE_OP_DIV || in->op == VYRE_OP_SQRT;
  return (is_quotient && !t->rounds_f64_division) || (in->op == VYRE_OP_FMA && !t->has_f64_fma) ||
         (is_rounding && !(in->op == VYRE_OP_RINT ? t->has_rint : t->has_f64_rounding));
}

static const char *lacking(const vyre_program *p, const lower_target *t, const inst *in) {
  const char *what = lacking_type(t, (vyre_type)in->type), *operands = op_table[in->op].operands;
  for (int k = 0; operands[k] && !what; k++)
    if (operands[k] == 'v') what = lacking_type(t, ref_type(p, in->arg[k]));
  if (what) return what;
  bool has_atomics = t->has_i64_atomics && t->has_i64;
  if (op_is_atomic(in->op) && type_bits(in->type) == 64 && !has_atomics) return "64-bit atomics";
  if (takes_f64_apart(p, t, in) && !t->has_i64) return "integers of the width of f64";
  return NULL;
}

static vyre_status check_workgroup(const region *r, const lower_target *target, vyre_error *error) {
  const uint32_t *size = r->workgroup;
  uint32_t most = target->largest_workgroup;
  // That of an elastic region is only a shape, which a launch chooses.
  if (r->is_elastic || !most || size[0] * size[1] * size[2] <= most) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "region `%s` needs a workgroup of %u x %u x %u, the device takes %u "
                   "invocations. Fix: use smaller workgroups, or another backend",
                   r->name, size[0], size[1], size[2], most);
}

// Elements in other words may need more room than they had.
static vyre_status check_arrays(const vyre_program *p, const region *r, const lower_target *target,
                                vyre_error *error) {
  uint64_t shared = 0, private = 0;
  for (uint32_t i = r->shared.first; i < r->shared.end; i++) {
    uint32_t words = storage_words(target, p->shared[i].type);
    shared += (uint64_t)p->shared[i].length * (words ? 4 * words : type_bytes(p->shared[i].type));
  }
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    if (in->op != VYRE_OP_ARRAY) continue;
    uint32_t words = storage_words(target, (vyre_type)in->type);
    private += (uint64_t)in->arg[0] * (words ? 4 * words : type_bytes(in->type));
  }
  uint32_t of_device = target->largest_private_bytes;
  uint64_t most_shared = LIMIT_SHARED_BYTES;
  uint64_t most_private = of_device ? of_device : LIMIT_PRIVATE_BYTES;
  if (shared <= most_shared && private <= most_private) return VYRE_OK;
  bool is_shared = shared > most_shared;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the device has room for %llu bytes of %s arrays, region `%s` needs %llu. Fix: "
                   "use smaller arrays, or run the program on another device or backend",
                   (unsigned long long)(is_shared ? most_shared : most_private),
                   is_shared ? "shared" : "private", r->name,
                   (unsigned long long)(is_shared ? shared : private));
}

vyre_status supported_buffers(const vyre_program *p, const lower_target *target,
                              vyre_error *error) {
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    const buffer *b = &p->buffers[i];
    if (!target->largest_buffer_bytes || !b->length || !ref_is_const(b->length)) continue;
    uint64_t bytes = p->consts[ref_index(b->length)].bits * type_bytes(b->type);
    if (bytes > target->largest_buffer_bytes)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "buffer `%s` has %llu bytes, the device takes %llu. Fix: split it, or use "
                       "another backend",
                       b->name, (unsigned long long)bytes,
                       (unsigned long long)target->largest_buffer_bytes);
  }
  return VYRE_OK;
}

vyre_status supported_region(const vyre_program *p, const region *r, const lower_target *target,
                             const uniformity *uniform, vyre_error *error) {
  vyre_status status = check_workgroup(r, target, error);
  if (status == VYRE_OK) status = check_arrays(p, r, target, error);
  if (status != VYRE_OK) return status;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const char *what = lacking(p, target, &p->code[i]);
    if (what) return lacks(r, what, error);
  }
  bool is_proven =
      target->parts_at_barriers || !r->has_barrier || !uniformity_find_barrier(p, r, uniform);
  if (is_proven) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "region `%s` has a barrier that is not provably reached by the whole workgroup, "
                   "which could hang the device. Fix: make the conditions around it depend on "
                   "constants, parameters, group ids or read-only buffers, or run it on ref or cpu",
                   r->name);
}
