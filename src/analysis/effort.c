// SPDX-License-Identifier: MIT
#include "analysis/effort.h"

#include "base/vec.h"
#include "ir/eval.h"
#include "ir/eval_tree.h"
#include "ir/limits.h"
#include "ir/math.h"

#include <stdlib.h>

enum { BUDGET = 64 }; // operations that a bound may be computed by

// A loop of a region, or the body itself: what it has beside the loops inside of it.
typedef struct stretch {
  uint32_t loop;   // the operation; 0: the body
  uint32_t parent; // among the region's stretches; its own number for the body
  uint64_t floats, integers;
} stretch;

typedef struct region_effort {
  uint32_t first, count; // stretches
  bool is_known, has_floats;
  bool is_fixed; // whatever the arguments are it is:
  uint64_t operations;
} region_effort;

struct effort {
  vyre_program *program; // without mathematical functions
  vec(stretch) stretches;
  region_effort *regions;
};

// ---- counting -----------------------------------------------------------------------------------

static bool is_arithmetic(const inst *in) {
  unsigned rule = op_table[in->op].rule;
  bool is_bits = (rule == RULE_INT || rule == RULE_BITS) && type_is_int(in->type);
  return rule == RULE_FLOAT || rule == RULE_ARITH || is_bits;
}

static void count_operation(stretch *s, const inst *in) {
  if (!is_arithmetic(in)) return;
  if (type_is_float(in->type))
    s->floats += in->op == VYRE_OP_FMA ? 2 : 1;
  else
    s->integers++;
}

static bool open_loop(effort *w, uint32_t at, uint32_t parent) {
  return vec_push(&w->stretches, (stretch){.loop = at, .parent = parent});
}

// False when out of memory.
static bool count_region(effort *w, const region *r, region_effort *out) {
  const inst *code = w->program->code;
  uint32_t current = 0;
  *out = (region_effort){.first = (uint32_t)w->stretches.count, .is_known = true};
  if (!open_loop(w, 0, 0)) return false;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    stretch *here = &w->stretches.at[out->first + current];
    const inst *in = &code[i];
    if (in->op == VYRE_OP_FOR) {
      if (!open_loop(w, i, current)) return false;
      current = (uint32_t)w->stretches.count - 1 - out->first;
    } else if (current && i == inst_end(&code[here->loop])) {
      current = here->parent;
    } else {
      bool leaves = in->op == VYRE_OP_BREAK || (in->op == VYRE_OP_RETURN && current);
      if (in->op == VYRE_OP_WHILE || leaves) out->is_known = false;
      count_operation(here, in);
    }
  }
  out->count = (uint32_t)w->stretches.count - out->first;
  for (uint32_t k = 0; k < out->count; k++)
    out->has_floats |= w->stretches.at[out->first + k].floats > 0;
  return true;
}

effort *effort_new(const vyre_program *program) {
  effort *w = calloc(1, sizeof *w);
  if (!w || math_expand(program, &w->program, NULL) != VYRE_OK) {
    free(w);
    return NULL;
  }
  w->regions = calloc(w->program->region_count + 1u, sizeof *w->regions);
  bool ok = w->regions != NULL;
  for (uint32_t i = 0; ok && i < w->program->region_count; i++) {
    region_effort *r = &w->regions[i];
    ok = count_region(w, &w->program->regions[i], r);
    if (ok) r->is_fixed = effort_of_invocation(w, i, &(vyre_dispatch_args){0}, &r->operations);
  }
  if (ok) return w;
  effort_free(w);
  return NULL;
}

void effort_free(effort *w) {
  if (!w) return;
  vyre_program_release(w->program);
  vec_free(&w->stretches);
  free(w->regions);
  free(w);
}

// ---- a launch -----------------------------------------------------------------------------------

typedef struct facts {
  const vyre_program *p;
  const vyre_dispatch_args *args;
} facts;

static bool leaf(void *context, ref r, uint64_t *out) {
  const facts *f = context;
  const inst *in = &f->p->code[r];
  if (in->op == VYRE_OP_PARAM && in->arg[0] < f->args->param_count) {
    const vyre_scalar *s = &f->args->params[in->arg[0]];
    *out = type_canonical_bits(s->type, s->bits);
    return true;
  }
  if (in->op != VYRE_OP_LEN || f->p->buffers[in->arg[0]].is_transient) return false;
  uint32_t bound = 0; // transient ones are left out of what is bound
  for (uint32_t b = 0; b < in->arg[0]; b++) bound += !f->p->buffers[b].is_transient;
  if (bound >= f->args->buffer_count) return false;
  *out = f->args->buffers[bound].size_bytes / type_bytes(f->p->buffers[in->arg[0]].type);
  return true;
}

static bool trips_of(const effort *w, uint32_t loop, const vyre_dispatch_args *args,
                     uint64_t *out) {
  const inst *in = &w->program->code[loop];
  facts f = {w->program, args};
  eval_tree t = {.p = w->program, .leaf = leaf, .context = &f, .budget = BUDGET};
  uint64_t bounds[3];
  for (int k = 0; k < 3; k++)
    if (!eval_tree_value(&t, in->arg[k], &bounds[k])) return false;
  *out = eval_trip_count((vyre_type)in->type, bounds[0], bounds[1], bounds[2]);
  return true;
}

bool effort_of_invocation(const effort *w, uint32_t region, const vyre_dispatch_args *args,
                          uint64_t *operations) {
  const region_effort *r = &w->regions[region];
  *operations = r->is_fixed ? r->operations : 0;
  if (!r->is_known || r->is_fixed) return r->is_known;
  for (uint32_t k = 0; k < r->count; k++) {
    const stretch *s = &w->stretches.at[r->first + k];
    uint64_t made = r->has_floats ? s->floats : s->integers, trips;
    for (const stretch *at = s; at->loop && made; at = &w->stretches.at[r->first + at->parent])
      if (!trips_of(w, at->loop, args, &trips) || __builtin_mul_overflow(made, trips, &made))
        return false;
    if (__builtin_add_overflow(*operations, made, operations)) return false;
  }
  return true;
}
