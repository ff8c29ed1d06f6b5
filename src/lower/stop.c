// SPDX-License-Identifier: MIT
//
// A launch that can be ended from outside: invocations ask when they begin and in their loops.
// Where a workgroup has barriers to meet at, nobody may leave alone: who is told to stop leaves the
// loops that have no barrier, and at the next place that the whole group reaches, all leave
// together. That takes barriers of its own, to which all must come in the same iteration. A target
// that sees whether all came to a barrier needs none, and has programs that could not have them:
// there, who is told to stop leaves, and the target asks as well before it takes who is missing for
// a mistake of the program.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return t->polls_stop;
}

// ---- looking ------------------------------------------------------------------------------------

static bool is_loop(vyre_op op) {
  return op == VYRE_OP_FOR || op == VYRE_OP_WHILE;
}

static bool is_barrier(vyre_op op) {
  return op == VYRE_OP_BARRIER;
}

static bool contains(const lowering *l, uint32_t first, uint32_t end, bool (*is)(vyre_op)) {
  for (uint32_t i = first; i < end; i++)
    if (is((vyre_op)l->from->code[i].op)) return true;
  return false;
}

static bool must_leave_together(const lowering *l) {
  return l->r->has_barrier && !l->target->parts_at_barriers;
}

// ---- asking -------------------------------------------------------------------------------------

static ref asked(lowering *l) {
  return builder_emit(l->b, &(inst){.op = OP_STOP_ASKED, .type = VYRE_BOOL});
}

static void return_if(lowering *l, ref condition) {
  lower_if(l, condition);
  vyre_build_return(l->b);
  lower_end(l);
}

// Asking reaches far: only every so many iterations do.
static ref is_time(lowering *l) {
  enum { EVERY = 256 };
  ref one = lower_const(l, VYRE_U32, 1), mask = lower_const(l, VYRE_U32, EVERY - 1);
  ref tick = lower_bin(l, VYRE_OP_ADD, lower_get(l, l->stop.tick), one);
  lower_set(l, l->stop.tick, tick);
  ref low = lower_bin(l, VYRE_OP_AND, tick, mask);
  return lower_bin(l, VYRE_OP_EQ, low, lower_const(l, VYRE_U32, 0));
}

static void set_seen(lowering *l, uint32_t value) {
  promise(l, (inst){.op = VYRE_OP_STORE,
                    .arg = {l->stop.seen.id, lower_const(l, VYRE_U32, 0),
                            lower_const(l, VYRE_U32, value)}});
}

// All leave when anybody was told to. Two barriers: nobody may write for the next check while
// somebody still reads for this one.
static void leave_together(lowering *l) {
  lower_if(l, lower_get(l, l->stop.stopped));
  set_seen(l, 1);
  lower_end(l);
  vyre_build_barrier(l->b);
  ref seen = promise(l, (inst){.op = VYRE_OP_LOAD,
                               .type = VYRE_U32,
                               .arg = {l->stop.seen.id, lower_const(l, VYRE_U32, 0)}});
  lower_set(l, l->stop.stopped, lower_bin(l, VYRE_OP_NE, seen, lower_const(l, VYRE_U32, 0)));
  vyre_build_barrier(l->b);
  return_if(l, lower_get(l, l->stop.stopped));
}

// ---- places -------------------------------------------------------------------------------------

static void enter(lowering *l) {
  const region *r = l->r;
  if (contains(l, r->body.first, r->body.end, is_loop))
    l->stop.tick = lower_var(l, lower_const(l, VYRE_U32, 0));
  if (!must_leave_together(l)) {
    return_if(l, asked(l));
    return;
  }
  l->stop.seen = vyre_build_shared(l->b, "stop_seen", VYRE_U32, 1);
  l->stop.stopped = lower_var(l, asked(l));
  set_seen(l, 0);
  vyre_build_barrier(l->b);
  leave_together(l);
}

static void in_loop(lowering *l, uint32_t opener) {
  if (!must_leave_together(l)) {
    lower_if(l, is_time(l));
    return_if(l, asked(l));
    lower_end(l);
  } else if (contains(l, opener, inst_end(&l->from->code[opener]), is_barrier)) {
    lower_set(l, l->stop.stopped, asked(l));
    leave_together(l);
  } else {
    lower_if(l, is_time(l));
    lower_if(l, asked(l));
    lower_set(l, l->stop.stopped, lower_const(l, VYRE_BOOL, 1));
    lower_end(l);
    lower_end(l);
    lower_if(l, lower_get(l, l->stop.stopped));
    vyre_build_break(l->b);
    lower_end(l);
  }
}

// Behind a block in which some may have been told to stop, where the whole group is again.
static void behind(lowering *l, uint32_t opener) {
  const inst *in = &l->from->code[opener];
  uint32_t end = inst_end(in), first = l->r->body.first;
  if (!must_leave_together(l) || end + 1 >= l->r->body.end) return;
  const bool *is_divergent = l->uniform.is_divergent;
  bool can_part = is_loop((vyre_op)in->op) || is_divergent[end - first];
  if (!can_part || is_divergent[end + 1 - first]) return;
  if (contains(l, opener, end, is_loop) && !contains(l, opener, end, is_barrier)) leave_together(l);
}

const recipe recipe_stop = {
    .name = "stop",
    .doc = "launches that are asked to end do so, workgroups with barriers together",
    .is_needed = is_needed,
    .enter = enter,
    .in_loop = in_loop,
    .behind = behind,
};
