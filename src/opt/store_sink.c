// SPDX-License-Identifier: MIT
//
// Both branches of an if that end with a store to the same element leave the value in a variable,
// and one store behind the if writes it. Vectors then write whole, where they wrote twice what the
// condition chose.
#include "opt/passes.h"

#include "opt/rewrite.h"

typedef struct sink {
  uint32_t store; // one of the two
  vyre_var value;
} sink;

// The operation of a branch's end, which must be no part of a block in the branch.
static bool is_store(const inst *code, uint32_t from, uint32_t last) {
  return last >= from && code[last].op == VYRE_OP_STORE;
}

// The same index in both branches was made before them.
static bool can_sink(const vyre_program *p, uint32_t i) {
  const inst *code = p->code, *in = &code[i];
  uint32_t other = in->arg[1], end = in->arg[2];
  if (!other || !is_store(code, i + 1, other - 1) || !is_store(code, other + 1, end - 1))
    return false;
  const inst *x = &code[other - 1], *y = &code[end - 1];
  return x->arg[0] == y->arg[0] && x->arg[1] == y->arg[1];
}

static void begin(rewriter *rw, uint32_t i, sink *s) {
  const inst *in = &rw->from->code[i];
  vyre_type type = ref_type(rw->from, rw->from->code[in->arg[2] - 1].arg[2]);
  *s = (sink){.store = in->arg[2] - 1};
  s->value = vyre_build_var(rw->to, NULL, vyre_build_const(rw->to, type, 0));
  rw->changed = true;
}

static void finish(rewriter *rw, const sink *s) {
  inst store = rewrite_mapped(rw, s->store);
  store.arg[2] = vyre_build_get(rw->to, s->value);
  builder_emit(rw->to, &store);
}

static bool body(rewriter *rw) {
  range b = rw->region->body;
  const inst *code = rw->from->code;
  // Per operation: which sink it belongs to, as a store or as the end.
  uint32_t *of = arena_alloc_array(rw->scratch, b.end - b.first, sizeof *of);
  sink *sinks = arena_alloc_array(rw->scratch, b.end - b.first + 1, sizeof *sinks);
  uint32_t count = 0;
  if (!of || !sinks) return false;
  for (uint32_t i = b.first; i < b.end; i++) {
    uint32_t mine = of[i - b.first];
    if (code[i].op == VYRE_OP_IF && can_sink(rw->from, i)) {
      begin(rw, i, &sinks[++count]);
      of[code[i].arg[1] - 1 - b.first] = of[code[i].arg[2] - 1 - b.first] = count;
      of[code[i].arg[2] - b.first] = count;
    }
    if (mine && code[i].op == VYRE_OP_STORE)
      vyre_build_set(rw->to, sinks[mine].value, rewrite_ref(rw, code[i].arg[2]));
    else
      rewrite_keep(rw, i);
    if (mine && code[i].op == VYRE_OP_END) finish(rw, &sinks[mine]);
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_store_sink = {
    .info = {.name = "store_sink",
             .requires = (const char *const[]){"cse", NULL},
             .invalidates = (const char *const[]){"promote_variables", "dead_store", "dce",
                                                  "store_sink", NULL},
             .family = PASS_FAMILY_MEMORY},
    .summary = "write once behind an if what both of its branches end with writing",
    .never = "move a store over anything but the end of its branch, or to another element",
    .run = run,
};
