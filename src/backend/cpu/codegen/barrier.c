// SPDX-License-Identifier: MIT
//
// A workgroup whose control flow around barriers is the same for all of it. Blocks with barriers
// become real blocks around loops over the group's rows, one set of loops per phase. A condition
// that a phase computed is taken from a variable into which every vector stored the same value.
//
// Invocations may have returned before a barrier: then some are missing there, which is an error,
// unless all returned, which ends the group.
#include "backend/cpu/codegen/lines.h"

#include "base/error.h"
#include "ir/op_groups.h"

typedef struct group_loop {
  uint32_t op;
  llblock next, exit;
} group_loop;

typedef struct group {
  kernel *k;
  LLVMBuilderRef b;
  versions *v;
  keeper keep;
  row *r;
  emitter *scalar; // for what the group computes as a whole
  group_loop loops[LIMIT_OPEN];
  uint32_t depth;
  llblock done, diverged;
} group;

static llblock new_block(const group *g, const char *name) {
  return LLVMAppendBasicBlockInContext(g->k->u->context, g->k->function, name);
}

static void at(const group *g, llblock block) {
  LLVMPositionBuilderAtEnd(g->b, block);
}

static void branch(const group *g, llval condition, llblock yes, llblock no) {
  LLVMBuildCondBr(g->b, condition, yes, no);
}

static llval load_flag(const group *g, llval flag) {
  return LLVMBuildLoad2(g->b, g->k->u->i1, flag, "");
}

// A value that the whole group has.
static void share(const group *g, uint32_t op, llval value) {
  value_set(g->v->fast, op, 0, value);
  value_set(g->v->part, op, 0, value);
  if (g->v->other) value_set(g->v->other, op, 0, value);
}

// ---- phases -------------------------------------------------------------------------------------

// Only ids of axes that the grid does not have are the same for a whole group: they are 0.
static void place_scalar(group *g) {
  emitter *e = g->scalar;
  llval zero = const_i64(g->k->u, 0);
  e->x = e->local_x = e->y[0] = e->z = zero;
  for (int axis = 0; axis < 3; axis++) {
    e->group[axis] = g->r->group[axis];
    e->local[axis] = zero;
  }
}

// Computes what is common, for all emitters. Returns whether anything else is left to do.
static bool emit_common(group *g, uint32_t first, uint32_t end) {
  const phases *ph = g->keep.phases;
  bool is_rest = false;
  place_scalar(g);
  for (uint32_t i = first; i < end; i++) {
    const inst *in = &g->k->p->code[i];
    uint32_t made = in->op == VYRE_OP_SET ? in->arg[0] : i;
    if (!ph->is_common[made - ph->first]) {
      is_rest |= !op_is((vyre_op)in->op, OPF_PURE) || !ph->is_cheap[made - ph->first];
      continue;
    }
    emit_value(g->scalar, i);
    if (in->op == VYRE_OP_SET || in->op == VYRE_OP_VAR) continue;
    share(g, i, value_scalar(g->scalar, i, 0));
  }
  return is_rest;
}

static void emit_phase(group *g, uint32_t first, uint32_t end) {
  if (!emit_common(g, first, end)) return;
  group_rows rows;
  bool has_return = g->keep.phases->has_return;
  if (has_return) LLVMBuildStore(g->b, LLVMConstInt(g->k->u->i1, 0, false), g->keep.left);
  group_rows_begin(g->k, g->b, &rows, g->r);
  g->r->code = (range){first, end};
  emit_row(g->k, g->v, g->r);
  group_rows_end(g->k, g->b, &rows);
  if (!has_return) return;
  llblock on = new_block(g, "somebody");
  branch(g, load_flag(g, g->keep.left), on, g->done);
  at(g, on);
}

static void emit_barrier(group *g) {
  if (!g->keep.phases->has_return) return;
  llblock on = new_block(g, "everybody");
  branch(g, load_flag(g, g->keep.gone), g->diverged, on);
  at(g, on);
}

// ---- values of the whole group ------------------------------------------------------------------

static llval group_value(group *g, ref r) {
  if (ref_is_const(r)) return value_scalar(g->scalar, r, 0);
  uint32_t slot = r - g->scalar->first;
  if (g->keep.phases->is_common[slot]) return value_scalar(g->scalar, r, 0);
  if (!g->keep.phases->is_cheap[slot])
    return LLVMBuildLoad2(g->b, g->k->u->scalars[g->k->p->code[r].type], g->keep.steering[slot],
                          "");
  place_scalar(g);
  g->scalar->round++;
  emit_tree(g->scalar, r, g->keep.phases->is_common);
  return value_scalar(g->scalar, r, 0);
}

// ---- blocks -------------------------------------------------------------------------------------

static void emit_block(group *g, uint32_t first, uint32_t end);

static uint32_t emit_group_if(group *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  if (g->k->voted && g->k->voted[i - g->scalar->first]) { // everybody said yes
    emit_block(g, i + 1, in->arg[1] ? in->arg[1] : in->arg[2]);
    return in->arg[2] + 1;
  }
  llblock then = new_block(g, "group_then"), after = new_block(g, "group_endif");
  llblock otherwise = in->arg[1] ? new_block(g, "group_else") : after;
  branch(g, group_value(g, in->arg[0]), then, otherwise);
  at(g, then);
  emit_block(g, i + 1, in->arg[1] ? in->arg[1] : in->arg[2]);
  LLVMBuildBr(g->b, after);
  if (in->arg[1]) {
    at(g, otherwise);
    emit_block(g, in->arg[1] + 1, in->arg[2]);
    LLVMBuildBr(g->b, after);
  }
  at(g, after);
  return in->arg[2] + 1;
}

static group_loop *open_loop(group *g, uint32_t i) {
  group_loop *l = &g->loops[g->depth++];
  *l = (group_loop){i, new_block(g, "group_next"), new_block(g, "group_leave")};
  return l;
}

static uint32_t emit_group_while(group *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  llblock head = new_block(g, "group_while"), body = new_block(g, "group_do");
  group_loop l = *open_loop(g, i);
  LLVMBuildBr(g->b, head);
  at(g, head);
  emit_block(g, i + 1, in->arg[1]);
  branch(g, group_value(g, g->k->p->code[in->arg[1]].arg[0]), body, l.exit);
  at(g, body);
  emit_block(g, in->arg[1] + 1, in->arg[2]);
  LLVMBuildBr(g->b, l.next);
  at(g, l.next);
  poll_stop(g->k, g->b);
  LLVMBuildBr(g->b, head);
  at(g, l.exit);
  g->depth--;
  return in->arg[2] + 1;
}

static uint32_t emit_group_for(group *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  vyre_type type = (vyre_type)in->type;
  LLVMIntPredicate less = type_is_signed(type) ? LLVMIntSLT : LLVMIntULT;
  llblock head = new_block(g, "group_for"), again = new_block(g, "group_step");
  group_loop l = *open_loop(g, i);
  llval lo = group_value(g, in->arg[0]), hi = group_value(g, in->arg[1]);
  llval step = group_value(g, in->arg[2]);
  llblock from = LLVMGetInsertBlock(g->b);
  branch(g, LLVMBuildICmp(g->b, less, lo, hi, ""), head, l.exit);
  at(g, head);
  llval k = LLVMBuildPhi(g->b, g->k->u->scalars[type], "");
  LLVMAddIncoming(k, &lo, &from, 1);
  value_set(g->scalar, i, 0, k);
  share(g, i, k);
  emit_block(g, i + 1, in->arg[3]);
  LLVMBuildBr(g->b, l.next);
  at(g, l.next);
  llval left = LLVMBuildSub(g->b, hi, k, "");
  branch(g, LLVMBuildICmp(g->b, LLVMIntUGT, left, step, ""), again, l.exit);
  at(g, again);
  poll_stop(g->k, g->b);
  llval next = LLVMBuildAdd(g->b, k, step, "");
  llblock latch = LLVMGetInsertBlock(g->b);
  LLVMBuildBr(g->b, head);
  LLVMAddIncoming(k, &next, &latch, 1);
  at(g, l.exit);
  g->depth--;
  return in->arg[3] + 1;
}

static void emit_group_leave(group *g, const inst *in) {
  const group_loop *l = &g->loops[g->depth - 1];
  while (l->op != in->arg[1]) l--;
  LLVMBuildBr(g->b, in->op == VYRE_OP_BREAK ? l->exit : l->next);
  at(g, new_block(g, "unreached"));
}

// The end of the run of operations that belong to one phase.
static uint32_t phase_end(const group *g, uint32_t i, uint32_t end) {
  const uint32_t *phase = g->keep.phases->phase;
  uint32_t first = g->keep.phases->first, now = phase[i - first];
  while (i < end && phase[i - first] == now) i++;
  return i;
}

static void emit_block(group *g, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end;) {
    const inst *in = &g->k->p->code[i];
    if (g->keep.phases->phase[i - g->keep.phases->first]) {
      uint32_t stop = phase_end(g, i, end);
      emit_phase(g, i, stop);
      i = stop;
      continue;
    }
    if (in->op != VYRE_OP_BARRIER) lines_leave(g->k, g->b); // ways part, or meet
    switch ((vyre_op)in->op) {
    case VYRE_OP_IF: i = emit_group_if(g, i); break;
    case VYRE_OP_FOR: i = emit_group_for(g, i); break;
    case VYRE_OP_WHILE: i = emit_group_while(g, i); break;
    case VYRE_OP_BREAK:
    case VYRE_OP_CONTINUE: emit_group_leave(g, in); return;
    case VYRE_OP_BARRIER: emit_barrier(g), i++; break;
    case OPS_COMPUTED:
    case OPS_LAUNCH:
    case OPS_MEMORY:
    case OPS_STATE:
    case VYRE_OP_ELSE:
    case VYRE_OP_DO:
    case VYRE_OP_END:
    case VYRE_OP_RETURN:
    case OPS_NONE: VYRE_BUG("cpu", "`%s` is in no phase", op_table[in->op].name);
    }
  }
  // Nobody reads what the last phase leaves.
  (end == g->k->region->body.end ? lines_forget : lines_leave)(g->k, g->b);
}

// ---- the group ----------------------------------------------------------------------------------

static void begin_group(group *g, uint64_t vectors) {
  unit *u = g->k->u;
  if (!g->keep.phases->has_return) return;
  llval offset = const_i64(u, g->keep.gone_at);
  llval masks = LLVMBuildGEP2(g->b, u->i8, g->k->scratch, &offset, 1, "");
  llval bytes = const_i64(u, vectors * 4 * g->v->fast->width);
  LLVMBuildMemSet(g->b, masks, LLVMConstInt(u->i8, 0, false), bytes, 64);
  LLVMBuildStore(g->b, LLVMConstInt(u->i1, 0, false), g->keep.gone);
}

void emit_phases(kernel *k, LLVMBuilderRef b, versions *v, const phases *phases, row *r) {
  const uint32_t *size = k->region->workgroup;
  unsigned width = v->fast->width;
  uint64_t vectors = (uint64_t)((size[0] + width - 1) / width) * size[1] * size[2];
  group *g = arena_alloc(&k->u->arena, sizeof *g);
  if (!g || !keeper_init(&g->keep, v->fast, phases, v->part->shapes, vectors)) return;
  g->k = k;
  g->b = b;
  g->v = v;
  g->r = r;
  g->scalar = v->scalar;
  emitter *all[3] = {v->fast, v->part, v->other};
  for (int i = 0; i < 3 && all[i]; i++) {
    all[i]->keep = &g->keep;
    if (phases->has_return && !all[i]->returned)
      all[i]->returned = build_variable(all[i], type_mask(all[i]), "returned");
  }
  g->done = new_block(g, "group_done");
  g->diverged = new_block(g, "diverged");
  begin_group(g, vectors);
  emit_block(g, k->region->body.first, k->region->body.end);
  LLVMBuildBr(b, g->done);
  at(g, g->diverged);
  kernel_return(k, b, CPU_DIVERGED);
  at(g, g->done);
}
