// SPDX-License-Identifier: MIT
//
// A condition that holds a barrier or a return is evaluated for every invocation of one workgroup,
// which is at most 1,024 small evaluations. One that mentions anything but local ids, sizes and
// constants is unknown. The work for a whole program is bounded, because a hostile one could have
// millions of such conditions: those past the bound are unknown too.
#include "ir/verify_barrier.h"

#include "ir/eval_tree.h"
#include "ir/limits.h"
#include "ir/op_groups.h"

// A condition of more operations than this is unknown: nobody writes one over local ids alone.
enum { BUDGET = 64 };

typedef struct evaluation {
  const vyre_program *p;
  const region *region;
  uint32_t local[3];
  uint64_t *work_left; // of the program
} evaluation;

static bool find_local(void *context, ref r, uint64_t *out) {
  const evaluation *e = context;
  const inst *in = &e->p->code[r];
  if (in->op != VYRE_OP_LOCAL_ID && in->op != VYRE_OP_LOCAL_SIZE) return false;
  *out = in->op == VYRE_OP_LOCAL_ID ? e->local[in->arg[0]] : e->region->workgroup[in->arg[0]];
  return true;
}

static bool evaluate(evaluation *e, ref condition, uint64_t *out) {
  uint64_t most = *e->work_left < BUDGET ? *e->work_left : BUDGET;
  eval_tree t = {.p = e->p, .leaf = find_local, .context = e, .budget = most};
  bool ok = eval_tree_value(&t, condition, out);
  *e->work_left -= most - t.budget;
  return ok;
}

static bool is_divergent(evaluation *e, ref condition) {
  bool found[2] = {false, false};
  const uint32_t *size = e->region->workgroup;
  for (e->local[2] = 0; e->local[2] < size[2]; e->local[2]++)
    for (e->local[1] = 0; e->local[1] < size[1]; e->local[1]++)
      for (e->local[0] = 0; e->local[0] < size[0]; e->local[0]++) {
        uint64_t value;
        if (!evaluate(e, condition, &value)) return false;
        found[value != 0] = true;
        if (found[0] && found[1]) return true;
      }
  return false;
}

typedef struct blocks {
  uint32_t opening[LIMIT_OPEN]; // open ones, outermost first
  bool divergent[LIMIT_OPEN];   // of the first `known`
  uint32_t depth, known;
  uint32_t divergent_count;
} blocks;

// Whether only some invocations get here. Conditions are looked at when this is asked.
static bool is_in_divergent(blocks *b, evaluation *e) {
  for (; b->known < b->depth; b->known++) {
    const inst *opening = &e->p->code[b->opening[b->known]];
    b->divergent[b->known] = opening->op == VYRE_OP_IF && is_divergent(e, opening->arg[0]);
    b->divergent_count += b->divergent[b->known];
  }
  return b->divergent_count > 0;
}

static void close_block(blocks *b) {
  b->depth--;
  if (b->known <= b->depth) return;
  b->known = b->depth;
  b->divergent_count -= b->divergent[b->depth];
}

uint32_t verify_find_divergent_barrier(const vyre_program *p, const region *r,
                                       uint64_t *work_left) {
  blocks b = {.depth = 0};
  evaluation e = {.p = p, .region = r, .work_left = work_left};
  bool some_returned = false;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    switch ((vyre_op)p->code[i].op) {
    case VYRE_OP_IF:
    case VYRE_OP_FOR:
    case VYRE_OP_WHILE: b.opening[b.depth++] = i; break;
    case VYRE_OP_END: close_block(&b); break;
    case VYRE_OP_RETURN: some_returned = some_returned || is_in_divergent(&b, &e); break;
    case VYRE_OP_BARRIER:
      if (some_returned || is_in_divergent(&b, &e)) return i;
      break;
    case OPS_COMPUTED:
    case OPS_LAUNCH:
    case OPS_MEMORY:
    case OPS_STATE:
    case VYRE_OP_ELSE:
    case VYRE_OP_DO:
    case VYRE_OP_BREAK:
    case VYRE_OP_CONTINUE:
    case OPS_NONE: break;
    }
  }
  return 0;
}
