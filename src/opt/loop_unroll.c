// SPDX-License-Identifier: MIT
//
// A counted loop with few constant iterations becomes its body, repeated with the counter as a
// constant. So does a `while` whose condition and whose one variable can be computed from
// constants, such as the halving step of a tree over a workgroup. Loops that are left by break or
// continue stay, and those with a barrier to which invocations could come in different iterations:
// they meet there, and would not meet at its copies. The size limits keep what is gained by
// constants from being lost to code size.
#include "opt/passes.h"

#include "analysis/uniformity.h"
#include "ir/eval.h"
#include "ir/eval_tree.h"
#include "ir/limits.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

// Between barriers, constants are worth more: phases whose rows are known need no checks, and what
// one stores the next one has in registers.
enum { MAX_TRIPS = 16, MAX_OPERATIONS = 128, MAX_BETWEEN_BARRIERS = 256 };

// Of a region's body; the arrays are indexed by operation minus `first`.
typedef struct places {
  uint32_t first;
  uint32_t *opening;   // of the innermost block around an operation; 0: none
  uint32_t *first_set; // of a variable: the first operation that sets it; 0: none does
  uniformity uniform;  // of a region with barriers
} places;

static bool has_barrier(const rewriter *rw, uint32_t loop) {
  range part = {loop, inst_end(&rw->from->code[loop])};
  return rw->region->has_barrier && effects_has(rw->from, part, VYRE_OP_BARRIER);
}

// Whether all that come to a barrier of the loop do so in the same iteration.
static bool is_in_step(const rewriter *rw, const places *at, uint32_t loop) {
  for (uint32_t i = loop; rw->region->has_barrier && i < inst_end(&rw->from->code[loop]); i++)
    if (rw->from->code[i].op == VYRE_OP_BARRIER && at->uniform.is_parted[i - at->first])
      return false;
  return true;
}

// ---- counted loops ------------------------------------------------------------------------------

typedef struct trips {
  uint64_t count, first, step;
} trips;

static bool can_unroll(const rewriter *rw, const places *at, uint32_t index, trips *t) {
  const vyre_program *p = rw->from;
  const inst *in = &p->code[index];
  uint64_t bits[3];
  for (int k = 0; k < 3; k++) {
    if (!ref_is_const(in->arg[k])) return false;
    bits[k] = p->consts[ref_index(in->arg[k])].bits;
  }
  *t = (trips){eval_trip_count((vyre_type)in->type, bits[0], bits[1], bits[2]), bits[0], bits[2]};
  uint64_t size = in->arg[3] - index - 1;
  return t->count <= MAX_TRIPS && t->count * size <= MAX_OPERATIONS &&
         !effects_has_jump_of(p, index) && is_in_step(rw, at, index);
}

static void unroll(rewriter *rw, uint32_t index, trips t) {
  const inst *in = &rw->from->code[index];
  for (uint64_t k = 0; k < t.count; k++) {
    rw->map[index] = vyre_build_const(rw->to, (vyre_type)in->type, t.first + k * t.step);
    for (uint32_t i = index + 1; i < in->arg[3]; i++) rewrite_keep(rw, i);
  }
  rw->changed = true;
}

// ---- loops of a variable ------------------------------------------------------------------------

static bool find_uniform(const rewriter *rw, places *out) {
  ranges known;
  return !rw->region->has_barrier ||
         (ranges_compute(rw->scratch, rw->from, rw->region, &known) &&
          uniformity_compute(rw->scratch, rw->from, rw->region, &known, &out->uniform));
}

static bool find_places(const rewriter *rw, places *out) {
  const region *r = rw->region;
  uint32_t count = r->body.end - r->body.first + 1, open[LIMIT_OPEN], depth = 0;
  *out = (places){.first = r->body.first};
  out->opening = arena_alloc_array(rw->scratch, count, sizeof *out->opening);
  out->first_set = arena_alloc_array(rw->scratch, count, sizeof *out->first_set);
  if (!out->opening || !out->first_set || !find_uniform(rw, out)) return false;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &rw->from->code[i];
    out->opening[i - out->first] = depth ? open[depth - 1] : 0;
    if (effects_is_opening(in->op)) open[depth++] = i;
    if (in->op == VYRE_OP_END) depth--;
    if (in->op != VYRE_OP_SET) continue;
    uint32_t *set = &out->first_set[in->arg[0] - out->first];
    if (!*set) *set = i;
  }
  return true;
}

// What an iteration computes from the one variable that its values depend on.
typedef struct step {
  const vyre_program *p;
  uint32_t variable; // 0: not met yet
  uint64_t value;    // of the variable
  uint32_t after;    // operations from here on are of this iteration
} step;

static bool find_variable(void *context, ref r, uint64_t *out) {
  step *s = context;
  const inst *in = &s->p->code[r];
  if (in->op != VYRE_OP_GET || r <= s->after) return false;
  if (!s->variable) s->variable = in->arg[0];
  *out = s->value;
  return s->variable == in->arg[0];
}

static bool evaluate_step(step *s, ref r, uint64_t *out) {
  eval_tree t = {.p = s->p, .leaf = find_variable, .context = s, .budget = 32};
  return eval_tree_value(&t, r, out);
}

// The operation that sets the variable once in each iteration, behind the condition and after all
// that the next value is computed from; 0 when there is none, or another one.
static uint32_t find_only_set(const vyre_program *p, const places *at, uint32_t loop,
                              uint32_t variable) {
  uint32_t set = at->first_set[variable - at->first];
  if (set <= p->code[loop].arg[1] || set >= inst_end(&p->code[loop])) return 0;
  for (uint32_t i = set + 1; i < inst_end(&p->code[loop]); i++)
    if (p->code[i].op == VYRE_OP_SET && p->code[i].arg[0] == variable) return 0;
  return at->opening[set - at->first] == loop ? set : 0;
}

// How often the loop at `index` runs: at most MAX_TRIPS, or it is not known.
static bool count_trips(const rewriter *rw, const places *at, uint32_t index, uint32_t *trips) {
  const vyre_program *p = rw->from;
  uint32_t to = p->code[index].arg[1];
  step s = {.p = p, .after = index};
  uint64_t goes_on;
  if (!evaluate_step(&s, p->code[to].arg[0], &goes_on) || !s.variable) return false;
  const inst *declared = &p->code[s.variable];
  uint32_t set = find_only_set(p, at, index, s.variable);
  bool is_new = at->opening[s.variable - at->first] == at->opening[index - at->first];
  if (!set || !is_new || !ref_is_const(declared->arg[0])) return false;
  s.value = p->consts[ref_index(declared->arg[0])].bits;
  for (*trips = 0; *trips <= MAX_TRIPS; ++*trips) {
    if (!evaluate_step(&s, p->code[to].arg[0], &goes_on)) return false;
    if (!goes_on) return true;
    if (!evaluate_step(&s, p->code[set].arg[1], &s.value)) return false;
  }
  return false;
}

static bool can_unroll_while(const rewriter *rw, const places *at, uint32_t index,
                             uint32_t *trips) {
  const vyre_program *p = rw->from;
  uint32_t end = inst_end(&p->code[index]), size = end - index - 1;
  uint32_t most = has_barrier(rw, index) ? MAX_BETWEEN_BARRIERS : MAX_OPERATIONS;
  return size <= most && !effects_has_jump_of(p, index) && count_trips(rw, at, index, trips) &&
         *trips * size <= most && is_in_step(rw, at, index);
}

// The condition is computed once more than the rest.
static void unroll_while(rewriter *rw, uint32_t index, uint32_t trips) {
  uint32_t to = rw->from->code[index].arg[1], end = inst_end(&rw->from->code[index]);
  for (uint32_t k = 0; k <= trips; k++) {
    for (uint32_t i = index + 1; i < to; i++) rewrite_keep(rw, i);
    for (uint32_t i = to + 1; i < end && k < trips; i++) rewrite_keep(rw, i);
  }
  rw->changed = true;
}

// ---- the pass -----------------------------------------------------------------------------------

static bool body(rewriter *rw) {
  places at;
  if (!find_places(rw, &at)) return false;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    trips t;
    uint32_t count;
    if (in->op == VYRE_OP_FOR && can_unroll(rw, &at, i, &t)) {
      unroll(rw, i, t);
      i = inst_end(in);
    } else if (in->op == VYRE_OP_WHILE && can_unroll_while(rw, &at, i, &count)) {
      unroll_while(rw, i, count);
      i = inst_end(in);
    } else {
      rewrite_keep(rw, i);
    }
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_loop_unroll = {
    .info = {.name = "loop_unroll",
             .requires = (const char *const[]){"const_fold", NULL},
             .invalidates =
                 (const char *const[]){"canonicalize", "const_fold", "algebraic_simplify",
                                       "promote_variables", "cse", "if_simplify", "dce",
                                       "load_forward", "loop_unroll", NULL},
             .family = PASS_FAMILY_LOOP},
    .summary = "repeat the body of loops with few constant iterations",
    .never =
        "repeat more than 16 times, make more than 128 operations (256 between barriers), copy a "
        "break, or copy a barrier to which invocations may come in different iterations",
    .run = run,
};
