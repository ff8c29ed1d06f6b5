// SPDX-License-Identifier: MIT
#include "analysis/phases.h"

#include "ir/limits.h"
#include "ir/op_groups.h"

typedef struct splitter {
  const vyre_program *p;
  const region *region;
  const shapes *shapes;
  phases *out;
  bool *is_group; // IF, FOR, WHILE: run by the whole workgroup at once
  uint32_t *cost; // of computing a cheap value from scratch
} splitter;

static bool is_opening(unsigned op) {
  return op == VYRE_OP_IF || op == VYRE_OP_FOR || op == VYRE_OP_WHILE;
}

// ---- group operations ---------------------------------------------------------------------------

typedef struct open_list {
  uint32_t at[LIMIT_OPEN];
  uint32_t count;
} open_list;

static void follow(open_list *open, const inst *in, uint32_t i) {
  if (is_opening(in->op)) open->at[open->count++] = i;
  if (in->op == VYRE_OP_END) open->count--;
}

static void mark_blocks(splitter *s) {
  const inst *code = s->p->code;
  uint32_t first = s->out->first;
  open_list open = {.count = 0};
  for (uint32_t i = first; i < s->region->body.end; i++) {
    follow(&open, &code[i], i);
    s->out->has_return |= code[i].op == VYRE_OP_RETURN;
    if (code[i].op != VYRE_OP_BARRIER) continue;
    for (uint32_t k = 0; k < open.count; k++) s->is_group[open.at[k] - first] = true;
  }
  // An if that leaves such a loop steers the whole workgroup too.
  open.count = 0;
  for (uint32_t i = first; i < s->region->body.end; i++) {
    follow(&open, &code[i], i);
    bool leaves = code[i].op == VYRE_OP_BREAK || code[i].op == VYRE_OP_CONTINUE;
    if (!leaves || !s->is_group[code[i].arg[1] - first]) continue;
    for (uint32_t k = open.count; open.at[k - 1] != code[i].arg[1]; k--)
      s->is_group[open.at[k - 1] - first] = true;
  }
}

static bool is_together(const splitter *s) {
  for (uint32_t i = s->out->first; i < s->region->body.end; i++) {
    if (!is_opening(s->p->code[i].op) || !s->is_group[i - s->out->first]) continue;
    const block_shape *b = block_at(s->shapes, i);
    if (b->parts || b->continues) return false;
  }
  return true;
}

// ---- numbering ----------------------------------------------------------------------------------

// Whether an operation stands between phases.
static bool is_border(const splitter *s, uint32_t i) {
  const inst *in = &s->p->code[i];
  uint32_t partner = in->arg[1];
  switch ((vyre_op)in->op) {
  case VYRE_OP_BARRIER: return true;
  case VYRE_OP_IF:
  case VYRE_OP_FOR:
  case VYRE_OP_WHILE: return !s->out->is_together || s->is_group[i - s->out->first];
  case VYRE_OP_ELSE:
  case VYRE_OP_DO:
  case VYRE_OP_END:
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE: return !s->out->is_together || s->is_group[partner - s->out->first];
  case VYRE_OP_RETURN: return !s->out->is_together;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case VYRE_OP_STORE:
  case OPS_ATOMIC:
  case OPS_STATE:
  case OPS_NONE: return false;
  }
  return false;
}

static void number_phases(splitter *s) {
  uint32_t now = 1;
  bool is_used = false;
  for (uint32_t i = s->out->first; i < s->region->body.end; i++) {
    bool border = is_border(s, i);
    if (border && is_used) now++;
    is_used = !border;
    s->out->phase[i - s->out->first] = border ? 0 : now;
  }
}

// ---- values of the whole workgroup --------------------------------------------------------------

// Operations that stand directly in a phase, in no block of it, run exactly once for everybody.
static void find_direct(const splitter *s, bool *is_direct) {
  uint32_t depth = 0; // of blocks inside a phase
  for (uint32_t i = s->out->first; i < s->region->body.end; i++) {
    unsigned op = s->p->code[i].op;
    bool is_inner = s->out->phase[i - s->out->first] != 0;
    if (is_inner && op == VYRE_OP_END) depth--;
    is_direct[i - s->out->first] = is_inner && !depth;
    if (is_inner && is_opening(op)) depth++;
  }
}

static bool is_common_ref(const splitter *s, ref r) {
  return ref_is_const(r) || s->out->is_common[r - s->out->first];
}

static bool can_be_common(const splitter *s, uint32_t i) {
  const inst *in = &s->p->code[i];
  switch ((vyre_op)in->op) {
  case VYRE_OP_VAR: return is_common_ref(s, in->arg[0]);
  case VYRE_OP_GET: return s->out->is_common[in->arg[0] - s->out->first];
  case VYRE_OP_FOR: return s->out->phase[i - s->out->first] == 0;
  case OPS_LAUNCH: return true;
  case OPS_COMPUTED: break;
  case OPS_MEMORY:
  case VYRE_OP_SET:
  case VYRE_OP_ARRAY:
  case OPS_FLOW:
  case OPS_NONE: return false;
  }
  for (int k = 0; k < op_table[in->op].operand_count; k++)
    if (!is_common_ref(s, in->arg[k])) return false;
  return true;
}

// Everything without axes to begin with; then what rests on something else is taken out, until
// nothing changes.
static void find_common(splitter *s, const bool *is_direct) {
  phases *o = s->out;
  for (uint32_t i = o->first; i < s->region->body.end; i++) {
    const inst *in = &s->p->code[i];
    bool is_counter = in->op == VYRE_OP_FOR && !o->phase[i - o->first];
    // What a block reads was set before it: in a phase, common variables are set outside of blocks.
    bool is_outside = is_direct[i - o->first] || is_counter || in->op == VYRE_OP_GET;
    o->is_common[i - o->first] =
        in->type != VYRE_VOID && !shape_at(s->shapes, i)->axes && is_outside;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = o->first; i < s->region->body.end; i++) {
      const inst *in = &s->p->code[i];
      uint32_t slot = i - o->first;
      bool stays = can_be_common(s, i);
      if (in->op == VYRE_OP_SET) {
        slot = in->arg[0] - o->first;
        stays = is_direct[i - o->first] && is_common_ref(s, in->arg[1]);
      }
      if (!o->is_common[slot] || stays) continue;
      o->is_common[slot] = false;
      changed = true;
    }
  }
}

// ---- values between phases ----------------------------------------------------------------------

// A few operations on facts of the launch cost less than a trip through memory.
enum { CHEAP = 8 };

static void find_cheap(splitter *s) {
  for (uint32_t i = s->out->first; i < s->region->body.end; i++) {
    const inst *in = &s->p->code[i];
    uint32_t slot = i - s->out->first, cost = 1;
    bool is_fact = in->op >= VYRE_OP_PARAM && in->op <= VYRE_OP_GROUP_COUNT;
    bool is_slow = in->op == VYRE_OP_DIV || in->op == VYRE_OP_REM || in->op == VYRE_OP_SQRT;
    if (!op_is((vyre_op)in->op, OPF_PURE) || is_slow) continue;
    for (int k = 0; !is_fact && k < op_table[in->op].operand_count; k++) {
      if (ref_is_const(in->arg[k])) continue;
      uint32_t operand = in->arg[k] - s->out->first;
      cost += s->out->is_cheap[operand] ? s->cost[operand] : CHEAP;
    }
    s->cost[slot] = cost;
    s->out->is_cheap[slot] = cost <= CHEAP;
  }
}

static void use(splitter *s, uint32_t made, uint32_t user) {
  phases *o = s->out;
  uint32_t slot = made - o->first, phase = o->phase[user - o->first];
  if (o->phase[slot] == phase && phase) return;
  if (o->is_together && (o->is_cheap[slot] || o->is_common[slot])) return;
  o->is_crossing[slot] = true;
}

static void steer(splitter *s, ref r) {
  if (!ref_is_const(r)) s->out->is_steering[r - s->out->first] = true;
}

// Taken by all though its condition may differ between them: by the caller's assumption.
static bool is_assumed(const splitter *s, uint32_t i) {
  const inst *in = &s->p->code[i];
  return s->out->is_together && in->op == VYRE_OP_IF && s->is_group[i - s->out->first] &&
         shape_axes(s->shapes, in->arg[0]);
}

static void find_crossings(splitter *s) {
  for (uint32_t i = s->out->first; i < s->region->body.end; i++) {
    const inst *in = &s->p->code[i];
    const char *operands = op_table[in->op].operands;
    if (is_assumed(s, i)) continue; // nobody asks
    for (int k = 0; operands[k]; k++) {
      if (operands[k] == 'v' && !ref_is_const(in->arg[k])) use(s, in->arg[k], i);
      if (operands[k] == 'x') use(s, in->arg[k], i);
      if (operands[k] == 'm' && mem_space(in->arg[k]) == MEM_PRIVATE)
        use(s, mem_index(in->arg[k]), i);
    }
    if (s->out->phase[i - s->out->first]) continue;
    if (in->op == VYRE_OP_FOR && !s->out->is_together)
      s->out->is_crossing[i - s->out->first] = true;
    if (in->op == VYRE_OP_IF || in->op == VYRE_OP_DO) steer(s, in->arg[0]);
    if (in->op == VYRE_OP_FOR) {
      steer(s, in->arg[0]);
      steer(s, in->arg[1]);
    }
  }
}

bool phases_compute(arena *a, const vyre_program *p, const region *r, const shapes *shapes,
                    phases *out) {
  uint32_t count = r->body.end - r->body.first + 1;
  *out = (phases){.first = r->body.first};
  splitter s = {.p = p, .region = r, .shapes = shapes, .out = out};
  out->phase = arena_alloc_array(a, count, sizeof *out->phase);
  out->is_crossing = arena_alloc_array(a, count, sizeof(bool));
  out->is_cheap = arena_alloc_array(a, count, sizeof(bool));
  out->is_steering = arena_alloc_array(a, count, sizeof(bool));
  s.is_group = arena_alloc_array(a, count, sizeof(bool));
  s.cost = arena_alloc_array(a, count, sizeof *s.cost);
  out->is_common = arena_alloc_array(a, count, sizeof(bool));
  bool *is_direct = arena_alloc_array(a, count, sizeof(bool));
  if (!out->phase || !out->is_crossing || !out->is_cheap || !out->is_steering || !s.is_group ||
      !s.cost || !out->is_common || !is_direct)
    return false;
  mark_blocks(&s);
  out->is_together = is_together(&s);
  number_phases(&s);
  if (out->is_together) {
    find_direct(&s, is_direct);
    find_common(&s, is_direct);
  }
  find_cheap(&s);
  find_crossings(&s);
  return true;
}
