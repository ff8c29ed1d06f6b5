// SPDX-License-Identifier: MIT
//
// The rules of tunables. What stands in the code is judged by the rules of the code; here it is
// judged whether a program that is printed and read again with the same values would have the same
// numbers in the same places.
#include "ir/verify.h"

#include "base/error.h"
#include "ir/limits.h"
#include "ir/tunable.h"

static vyre_status refuse(vyre_error *error, verify_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

static vyre_status refuse(vyre_error *error, verify_code code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  verify_refuse(error, code, format, args);
  va_end(args);
  return VYRE_ERROR_VERIFY;
}

static vyre_status check_values(const tunable *t, vyre_error *error) {
  if (t->type <= VYRE_VOID || t->type >= VYRE_TYPE_COUNT || !t->count ||
      t->count > LIMIT_TUNABLE_VALUES || t->chosen >= t->count)
    return refuse(error, VERIFY_V100,
                  "tunable `%.200s` has no type, not 1 to %d values, or none that is chosen. "
                  "Fix: declare it as in tunable TILE: u32 in (4, 8, 16)",
                  t->name, LIMIT_TUNABLE_VALUES);
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->values[i] != type_canonical_bits(t->type, t->values[i]))
      return refuse(error, VERIFY_V100,
                    "value %u of tunable `%.200s` is not in its canonical form. Fix: make "
                    "the file again",
                    i + 1, t->name);
    for (uint32_t k = 0; k < i; k++)
      if (t->values[k] == t->values[i])
        return refuse(error, VERIFY_V100,
                      "values %u and %u of tunable `%.200s` are equal. Fix: remove one", k + 1,
                      i + 1, t->name);
  }
  return VYRE_OK;
}

// The formula's value when the tunables before `end` can be used; false when it is none.
static bool value_of(const vyre_program *p, range terms, uint32_t end, const uint64_t *values,
                     vyre_scalar *out) {
  bool has_tunable = false;
  if (terms.first >= terms.end || terms.end > p->term_count) return false;
  for (uint32_t i = terms.first; i < terms.end; i++) has_tunable |= p->terms[i].op == TERM_TUNABLE;
  return has_tunable && formula_value(p->terms + terms.first, terms.end - terms.first, p->tunables,
                                      end, values, out);
}

static vyre_status check_conditions(const vyre_program *p, const uint64_t *values, uint32_t *fault,
                                    vyre_error *error) {
  for (uint32_t i = 0; i < p->tunable_count; i++) {
    const tunable *t = &p->tunables[i];
    vyre_scalar holds;
    *fault = FAULT_TUNABLE | i;
    if (t->where.first == t->where.end) continue;
    if (!value_of(p, t->where, i + 1, values, &holds) || holds.type != VYRE_BOOL)
      return refuse(error, VERIFY_V102,
                    "the condition of tunable `%.200s` is no bool of numbers and of tunables "
                    "declared up to it. Fix: write one, as in where TILE * TILE <= 1024",
                    t->name);
  }
  const tunable *broken = tunable_broken(p, values);
  if (!broken) return VYRE_OK;
  *fault = FAULT_TUNABLE | (uint32_t)(broken - p->tunables);
  return refuse(error, VERIFY_V101,
                "the condition of tunable `%.200s` does not hold for the values that are "
                "chosen. Fix: choose others, or put values that fit first",
                broken->name);
}

// What stands at a place; false when there is no such place.
static bool find_place(const vyre_program *p, const tunable_use *u, vyre_scalar *out) {
  ref r = 0;
  switch ((use_kind)u->kind) {
  case USE_OPERAND:
    if (!u->at || u->at >= p->code_count || u->slot >= op_table[p->code[u->at].op].operand_count ||
        op_table[p->code[u->at].op].operands[u->slot] != 'v')
      return false;
    r = p->code[u->at].arg[u->slot];
    break;
  case USE_ARRAY:
    if (!u->at || u->at >= p->code_count || p->code[u->at].op != VYRE_OP_ARRAY || u->slot)
      return false;
    *out = (vyre_scalar){VYRE_U32, p->code[u->at].arg[0]};
    return true;
  case USE_LENGTH:
    if (u->at >= p->buffer_count || u->slot) return false;
    r = p->buffers[u->at].length;
    break;
  case USE_GRID:
    if (u->at >= p->region_count || u->slot >= p->regions[u->at].rank) return false;
    r = p->regions[u->at].grid[u->slot];
    break;
  case USE_WORKGROUP:
    if (u->at >= p->region_count || u->slot >= 3) return false;
    *out = (vyre_scalar){VYRE_U32, p->regions[u->at].workgroup[u->slot]};
    return true;
  case USE_SHARED:
    if (u->at >= p->shared_count || u->slot) return false;
    *out = (vyre_scalar){VYRE_U32, p->shared[u->at].length};
    return true;
  case USE_KINDS: return false;
  }
  if (!ref_is_const(r)) return false;
  const constant *c = &p->consts[ref_index(r)];
  *out = (vyre_scalar){(vyre_type)c->type, c->bits};
  return true;
}

static vyre_status check_use(const vyre_program *p, const tunable_use *u, const uint64_t *values,
                             vyre_error *error) {
  vyre_scalar there, said;
  if (!value_of(p, u->terms, p->tunable_count, values, &said))
    return refuse(error, VERIFY_V102,
                  "a workgroup's size, a length or an operand is no formula of tunables. "
                  "Fix: write numbers, tunables and arithmetic on one type");
  bool is_value = u->kind == USE_OPERAND || u->kind == USE_LENGTH || u->kind == USE_GRID;
  if ((is_value && u->terms.end - u->terms.first != 1) || !find_place(p, u, &there) ||
      there.type != said.type || there.bits != said.bits)
    return refuse(error, VERIFY_V103,
                  "a tunable is said to stand where something else stands. Fix: make the "
                  "file again");
  return VYRE_OK;
}

vyre_status verify_tunables(const vyre_program *p, uint32_t *fault, vyre_error *error) {
  uint64_t values[LIMIT_TUNABLES];
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < p->tunable_count && status == VYRE_OK; i++) {
    *fault = FAULT_TUNABLE | i;
    status = check_values(&p->tunables[i], error);
  }
  if (status != VYRE_OK) return status;
  tunable_chosen(p, values);
  status = check_conditions(p, values, fault, error);
  if (status == VYRE_OK) *fault = 0;
  for (uint32_t i = 0; i < p->use_count && status == VYRE_OK; i++) {
    status = check_use(p, &p->uses[i], values, error);
    if (status == VYRE_OK && i && tunable_compare_uses(&p->uses[i - 1], &p->uses[i]) >= 0)
      status = refuse(error, VERIFY_V103,
                      "two tunables stand at one place, or not in the order of places. Fix: "
                      "make the file again");
  }
  return status;
}
