// SPDX-License-Identifier: MIT
//
// A private array of which every index is a constant is variables: one for each element that is
// looked at. Backends keep variables in registers, and other passes follow what they hold; an array
// is memory to them, above all where it lives over a barrier. Unrolled loops leave many such
// arrays.
//
// An index out of bounds keeps its meaning: a load gives zero, a store does nothing.
#include "opt/passes.h"

#include "opt/effects.h"
#include "opt/rewrite.h"

// Elements that become variables: more would not stay in registers.
enum { MOST_ELEMENTS = 64 };

// Of one array.
typedef struct elements {
  bool is_kept;   // some index is not a constant, or there are too many
  uint32_t count; // elements that something looks at
  uint64_t index[MOST_ELEMENTS];
  ref var[MOST_ELEMENTS]; // in the new program
} elements;

static bool is_array_access(const inst *in, uint32_t *array) {
  uint32_t mem;
  if (!effects_memory(in, &mem) || mem_space(mem) != MEM_PRIVATE) return false;
  *array = mem_index(mem);
  return true;
}

static uint32_t find_element(const elements *e, uint64_t index) {
  uint32_t i = 0;
  while (i < e->count && e->index[i] != index) i++;
  return i;
}

// Negative ones are beyond every length: constants are kept with their sign extended.
static uint64_t constant_index(const vyre_program *p, ref index) {
  return p->consts[ref_index(index)].bits;
}

static bool is_inside(const vyre_program *p, uint32_t array, ref index) {
  return constant_index(p, index) < p->code[array].arg[0];
}

static void note_access(const vyre_program *p, const inst *in, uint32_t array, elements *e) {
  if (!ref_is_const(in->arg[1])) e->is_kept = true;
  if (e->is_kept || !is_inside(p, array, in->arg[1])) return;
  uint64_t index = constant_index(p, in->arg[1]);
  if (find_element(e, index) < e->count) return;
  if (e->count == MOST_ELEMENTS)
    e->is_kept = true;
  else
    e->index[e->count++] = index;
}

static bool find_arrays(const rewriter *rw, elements **all) {
  const vyre_program *p = rw->from;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    const inst *in = &p->code[i];
    uint32_t array, first = rw->region->body.first;
    if (in->op == VYRE_OP_ARRAY) {
      all[i - first] = arena_alloc(rw->scratch, sizeof(elements));
      if (!all[i - first]) return false;
      *all[i - first] = (elements){0};
    } else if (is_array_access(in, &array)) {
      note_access(p, in, array, all[array - first]);
    }
  }
  return true;
}

static void declare(rewriter *rw, uint32_t i, elements *e) {
  const inst *in = &rw->from->code[i];
  const char *name = rw->from->names ? rw->from->names[i] : NULL;
  ref zero = vyre_build_const(rw->to, (vyre_type)in->type, 0);
  for (uint32_t k = 0; k < e->count; k++) e->var[k] = vyre_build_var(rw->to, name, zero);
  rewrite_drop(rw, i);
}

static void replace_access(rewriter *rw, uint32_t i, uint32_t array, const elements *e) {
  const inst *in = &rw->from->code[i];
  bool is_load = in->op == VYRE_OP_LOAD;
  if (!is_inside(rw->from, array, in->arg[1])) {
    if (is_load)
      rewrite_replace(rw, i, vyre_build_const(rw->to, (vyre_type)in->type, 0));
    else
      rewrite_drop(rw, i);
    return;
  }
  ref var = e->var[find_element(e, constant_index(rw->from, in->arg[1]))];
  if (is_load) {
    rewrite_replace(rw, i, vyre_build_get(rw->to, var));
  } else {
    vyre_build_set(rw->to, var, rewrite_ref(rw, in->arg[2]));
    rewrite_drop(rw, i);
  }
}

static bool body(rewriter *rw) {
  range all = rw->region->body;
  elements **arrays = arena_alloc_array(rw->scratch, all.end - all.first + 1u, sizeof *arrays);
  if (!arrays || !find_arrays(rw, arrays)) return false;
  for (uint32_t i = all.first; i < all.end; i++) {
    uint32_t array = i;
    bool is_access = is_array_access(&rw->from->code[i], &array);
    elements *e = arrays[array - all.first];
    if (!e || e->is_kept)
      rewrite_keep(rw, i);
    else if (is_access)
      replace_access(rw, i, array, e);
    else
      declare(rw, i, e);
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_scalar_replace = {
    .info = {.name = "scalar_replace",
             .requires = (const char *const[]){"const_fold", NULL},
             .invalidates = (const char *const[]){"promote_variables", "cse", "dce", NULL},
             .follows = (const char *const[]){"const_fold", "loop_unroll", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "make variables of private arrays whose indices are constants",
    .never = "touch an array with an index that is not a constant, or with more than 64 elements",
    .run = run,
};
