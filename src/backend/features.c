// SPDX-License-Identifier: MIT
#include "backend/features.h"

#include <string.h>

static const char *const fact_names[FACT_COUNT] = {"shared", "transient", "region",
                                                   "barrier-in-loop"};

static uint32_t feature_id(unsigned op, unsigned type) {
  return op * VYRE_TYPE_COUNT + type;
}

// The type that an operation works on: that of its first value, or else its own.
static vyre_type subject(const vyre_program *p, const inst *in) {
  const char *operands = op_table[in->op].operands;
  if (operands[0] == 'm' || in->op == VYRE_OP_SELECT) {
    if (in->op == VYRE_OP_STORE) return ref_type(p, in->arg[2]);
    return (vyre_type)in->type;
  }
  if (in->op >= VYRE_OP_IF && in->op != VYRE_OP_FOR) return VYRE_VOID;
  return operands[0] == 'v' ? ref_type(p, in->arg[0]) : (vyre_type)in->type;
}

void features_of(const vyre_program *p, features *out) {
  uint32_t loops = 0;
  *out = (features){0};
  for (uint32_t i = 1; i < p->code_count; i++) {
    const inst *in = &p->code[i];
    features_add(out, feature_id(in->op, subject(p, in)));
    if (op_table[in->op].operands[0] == 'm')
      features_add(out, FEATURE_INDEX + ref_type(p, in->arg[1]));
    if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) loops++;
    if (in->op == VYRE_OP_END && p->code[in->arg[1]].op != VYRE_OP_IF) loops--;
    if (in->op == VYRE_OP_BARRIER && loops) features_add(out, FEATURE_FACT + FACT_BARRIER_IN_LOOP);
  }
  if (p->shared_count) features_add(out, FEATURE_FACT + FACT_SHARED);
  if (p->region_count > 1) features_add(out, FEATURE_FACT + FACT_REGIONS);
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (p->buffers[i].is_transient) features_add(out, FEATURE_FACT + FACT_TRANSIENT);
}

bool features_meet(const features *x, const features *y) {
  for (size_t i = 0; i < sizeof x->bits / sizeof *x->bits; i++)
    if (x->bits[i] & y->bits[i]) return true;
  return false;
}

bool features_contain(const features *all, const features *part) {
  for (size_t i = 0; i < sizeof all->bits / sizeof *all->bits; i++)
    if (part->bits[i] & ~all->bits[i]) return false;
  return true;
}

// ---- names --------------------------------------------------------------------------------------

static bool add_name(const char *name, size_t size, vyre_type type, features *out) {
  const char *colon = memchr(name, ':', size);
  size_t stem = colon ? (size_t)(colon - name) : size;
  for (int i = 0; i < FACT_COUNT; i++)
    if (strlen(fact_names[i]) == size && !memcmp(fact_names[i], name, size)) {
      features_add(out, FEATURE_FACT + (uint32_t)i);
      return true;
    }
  if (colon && !(type = type_from_name(colon + 1, size - stem - 1))) return false;
  if (stem == 5 && !memcmp(name, "index", 5)) {
    features_add(out, FEATURE_INDEX + type);
    return true;
  }
  if (stem == 6 && !memcmp(name, "atomic", 6)) {
    for (unsigned op = VYRE_OP_ATOMIC_ADD; op <= VYRE_OP_ATOMIC_CAS; op++)
      features_add(out, feature_id(op, type));
    return true;
  }
  vyre_op op = op_from_name(name, stem);
  bool has_type = op < VYRE_OP_IF || op == VYRE_OP_FOR;
  bool is_u32 = op >= VYRE_OP_LEN && op <= VYRE_OP_GROUP_COUNT;
  features_add(out, feature_id(op, is_u32 ? VYRE_U32 : has_type ? type : VYRE_VOID));
  return op != VYRE_OP_NONE;
}

bool features_parse(const char *names, vyre_type type, features *out) {
  *out = (features){0};
  for (names += strspn(names, " "); *names; names += strspn(names, " ")) {
    size_t size = strcspn(names, " ");
    if (!add_name(names, size, type, out)) return false;
    names += size;
  }
  return true;
}

void features_print(const features *f, strbuf *out) {
  const char *between = "";
  for (uint32_t i = 0; i < FEATURE_COUNT; i++) {
    if (!features_has(f, i)) continue;
    strbuf_puts(out, between);
    between = " ";
    if (i >= FEATURE_FACT) {
      strbuf_puts(out, fact_names[i - FEATURE_FACT]);
      continue;
    }
    uint32_t type = i % VYRE_TYPE_COUNT;
    strbuf_puts(out, i >= FEATURE_INDEX ? "index" : op_table[i / VYRE_TYPE_COUNT].name);
    if (type) strbuf_printf(out, ":%s", type_table[type].name);
  }
}
