// SPDX-License-Identifier: MIT
//
// Removes what nobody looks at: values that are not used, variables that are not read together with
// what sets them, private arrays that are not loaded together with what stores to them, and blocks
// that are left empty. Stores to memory that others see, atomics, barriers and jumps are needed for
// what they do; a while is kept, because removing it could make a program end that does not.
//
// One walk backwards marks what is needed. Variables make it go round: a set is needed when some
// get of its variable is, which may stand earlier in a loop, so the walk repeats until nothing is
// added.
#include "opt/passes.h"

#include "ir/limits.h"
#include "ir/op_groups.h"
#include "opt/rewrite.h"

typedef struct marks {
  const vyre_program *p;
  range body;
  bool *needed; // per operation of the body
  bool added;
} marks;

static bool is_needed(const marks *m, uint32_t i) {
  return m->needed[i - m->body.first];
}

static void need(marks *m, uint32_t i) {
  bool *needed = &m->needed[i - m->body.first];
  m->added |= !*needed;
  *needed = true;
}

static bool is_private(const inst *in) {
  return op_table[in->op].operands[0] == 'm' && mem_space(in->arg[0]) == MEM_PRIVATE;
}

// Needed whatever its value is used for.
static bool has_effect(const inst *in) {
  switch ((vyre_op)in->op) {
  case VYRE_OP_STORE: return !is_private(in);
  case VYRE_OP_BARRIER:
  case VYRE_OP_RETURN:
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
  case VYRE_OP_WHILE:
  case VYRE_OP_DO: return true;
  case OPS_ATOMIC: return true;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case OPS_STATE:
  case VYRE_OP_IF:
  case VYRE_OP_ELSE:
  case VYRE_OP_FOR:
  case VYRE_OP_END:
  case OPS_NONE: return false;
  }
  return false;
}

static void need_operands(marks *m, uint32_t i) {
  const inst *in = &m->p->code[i];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++) {
    if (operands[k] == 'v' && !ref_is_const(in->arg[k])) need(m, in->arg[k]);
    if (operands[k] == 'x') need(m, in->arg[k]);
    if (operands[k] == 'm' && mem_space(in->arg[k]) == MEM_PRIVATE) need(m, mem_index(in->arg[k]));
  }
}

static void need_block(marks *m, uint32_t opening) {
  const inst *in = &m->p->code[opening];
  need(m, opening);
  if (in->op == VYRE_OP_FOR) {
    need(m, in->arg[3]);
    return;
  }
  if (in->arg[1]) need(m, in->arg[1]);
  need(m, in->arg[2]);
}

// Whatever is needed inside a block needs the block, which the walk reaches later and which then
// needs the one around it. `open` is the stack of blocks.
static void walk(marks *m, uint32_t *open) {
  size_t depth = 0;
  for (uint32_t i = m->body.end; i-- > m->body.first;) {
    const inst *in = &m->p->code[i];
    if (in->op == VYRE_OP_END)
      open[depth++] = in->arg[1];
    else if (in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE)
      depth--;
    bool sets_needed =
        (in->op == VYRE_OP_SET && is_needed(m, in->arg[0])) ||
        (in->op == VYRE_OP_STORE && is_private(in) && is_needed(m, mem_index(in->arg[0])));
    if (has_effect(in) || sets_needed) need(m, i);
    if (!is_needed(m, i)) continue;
    if (in->op == VYRE_OP_WHILE) need_block(m, i);
    need_operands(m, i);
    if (depth) need_block(m, open[depth - 1]);
  }
}

static bool body(rewriter *rw) {
  range body_range = rw->region->body;
  size_t count = body_range.end - body_range.first;
  marks m = {.p = rw->from, .body = body_range};
  m.needed = arena_alloc_array(rw->scratch, count, sizeof *m.needed);
  uint32_t *open = arena_alloc_array(rw->scratch, LIMIT_DEPTH, sizeof *open);
  if (!m.needed || !open) return false;
  do {
    m.added = false;
    walk(&m, open);
  } while (m.added);
  for (uint32_t i = body_range.first; i < body_range.end; i++) {
    if (is_needed(&m, i))
      rewrite_keep(rw, i);
    else
      rewrite_drop(rw, i);
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_dce = {
    .info = {.name = "dce",
             .invalidates = (const char *const[]){"promote_variables", "if_simplify", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "remove values, variables, arrays and blocks that nobody looks at",
    .never = "remove stores that others see, atomics, barriers, jumps, or a while",
    .run = run,
};
