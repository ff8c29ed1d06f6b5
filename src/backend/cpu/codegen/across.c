// SPDX-License-Identifier: MIT
//
// A loop that adds up sixteen elements side by side in each turn, each into a sum of its own, as
// fast programs have for a row of a matrix for each invocation (opt/relax_sums.h). With lanes along
// invocations those would be strided loads; here a vector is sixteen sums of one invocation, and
// what it adds is loaded as it lies in memory. Squares of sums are turned before the loop and
// behind it. Every element sees the operations that it has in the program, hence the same bits.
//
// The body is such a loop when what its sixteen variables are set to are equal trees, but for loads
// of neighbours and for each sum itself. All of these loads are assumed inside.
#include "backend/cpu/codegen/across.h"

#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/square.h"

enum { DEPTH = 8 };

// ---- whether ------------------------------------------------------------------------------------

static bool is_summed(const emitter *e, ref r) {
  const guards *g = e->guards;
  return !ref_is_const(r) && r >= e->first && e->p->code[r].op == VYRE_OP_ADD &&
         !guards_is_fixed(g, r) && g->state[r - e->first] == HAS_FORM;
}

// Whether guards_index gives `more` more for x than for y.
static bool is_more(const emitter *e, ref x, ref y, int64_t more, unsigned depth) {
  if (x == y) return more == 0;
  if (!depth || !is_summed(e, x)) return false;
  const ref *a = e->p->code[x].arg;
  if (a[0] == y && ref_is_const(a[1])) return guards_constant(e->guards, a[1]) == more;
  if (!is_summed(e, y)) return false;
  const ref *b = e->p->code[y].arg;
  if (ref_is_const(a[1]) && ref_is_const(b[1]) && a[0] == b[0])
    return guards_constant(e->guards, a[1]) - guards_constant(e->guards, b[1]) == more;
  return (a[0] == b[0] && is_more(e, a[1], b[1], more, depth - 1)) ||
         (a[1] == b[1] && is_more(e, a[0], b[0], more, depth - 1));
}

// Neighbours, along which the elements go: one line for all lanes, or one of its own for each.
static bool is_line_of_loads(const emitter *e, const across *x, const ref *loads) {
  const inst *first = &e->p->code[loads[0]];
  if (mem_space(first->arg[0]) != MEM_BUFFER || ref_is_const(first->arg[1])) return false;
  bool is_one = is_uniform(e, first->arg[1]);
  for (unsigned j = 0; j < ACROSS_SUMS; j++) {
    const inst *in = &e->p->code[loads[j]];
    if (in->arg[0] != first->arg[0] || ref_is_const(in->arg[1]) || !is_assumed(e, loads[j]) ||
        is_uniform(e, in->arg[1]) != is_one || in->type != x->type ||
        !is_more(e, in->arg[1], first->arg[1], j, DEPTH))
      return false;
    if (!is_one && access_class_of(e, loads[j]) != ACCESS_STEPS) return false;
  }
  return true;
}

static bool is_plain(unsigned op) {
  return op == VYRE_OP_ADD || op == VYRE_OP_SUB || op == VYRE_OP_MUL || op == VYRE_OP_FMA ||
         op == VYRE_OP_NEG || op == VYRE_OP_ABS || op == VYRE_OP_MIN || op == VYRE_OP_MAX;
}

static bool plan_node(const emitter *e, across *x, const ref *refs, unsigned depth, unsigned *out);

static bool plan_operands(const emitter *e, across *x, const ref *refs, unsigned depth,
                          across_node *node) {
  for (int k = 0; k < op_table[e->p->code[refs[0]].op].operand_count; k++) {
    ref operands[ACROSS_SUMS];
    for (unsigned j = 0; j < ACROSS_SUMS; j++) operands[j] = e->p->code[refs[j]].arg[k];
    if (!plan_node(e, x, operands, depth - 1, &node->operands[k])) return false;
  }
  return true;
}

static bool is_same_for_all(const across *x, const ref *refs) {
  for (unsigned j = 1; j < ACROSS_SUMS; j++)
    if (refs[j] != refs[0]) return false;
  return ref_is_const(refs[0]) || refs[0] < x->loop;
}

static bool are_sums(const emitter *e, const across *x, const ref *refs) {
  for (unsigned j = 0; j < ACROSS_SUMS; j++)
    if (e->p->code[refs[j]].arg[0] != x->variable[j]) return false;
  return true;
}

static bool plan_node(const emitter *e, across *x, const ref *refs, unsigned depth, unsigned *out) {
  across_node node = {.first = refs[0]};
  if (!depth) return false;
  if (is_same_for_all(x, refs)) {
    node.kind = ACROSS_SAME;
    if (ref_type(e->p, refs[0]) != x->type) return false;
  } else {
    for (unsigned j = 0; j < ACROSS_SUMS; j++) {
      if (ref_is_const(refs[j]) || refs[j] <= x->loop) return false;
      if (e->p->code[refs[j]].op != e->p->code[refs[0]].op) return false;
      if (e->p->code[refs[j]].type != x->type) return false;
      x->is_taken[refs[j] - x->loop] = true;
    }
    unsigned op = e->p->code[refs[0]].op;
    node.kind = op == VYRE_OP_GET ? ACROSS_SUM : op == VYRE_OP_LOAD ? ACROSS_LOAD : ACROSS_VALUE;
    if (node.kind == ACROSS_SUM && !are_sums(e, x, refs)) return false;
    if (node.kind == ACROSS_LOAD && !is_line_of_loads(e, x, refs)) return false;
    if (node.kind == ACROSS_VALUE && (!is_plain(op) || !plan_operands(e, x, refs, depth, &node)))
      return false;
  }
  if (x->count == ACROSS_NODES) return false;
  *out = x->count;
  x->nodes[x->count++] = node;
  return true;
}

// The sixteen variables that are set, and what to.
static bool find_sets(const emitter *e, across *x, ref *values) {
  const inst *code = e->p->code;
  unsigned count = 0;
  for (uint32_t i = x->loop + 1; i < code[x->loop].arg[3]; i++) {
    bool is_read = op_is((vyre_op)code[i].op, OPF_PURE) || code[i].op == VYRE_OP_LOAD ||
                   code[i].op == VYRE_OP_GET;
    if (code[i].op == VYRE_OP_SET) {
      if (count == ACROSS_SUMS || is_scalar(e, code[i].arg[0])) return false;
      for (unsigned j = 0; j < count; j++)
        if (x->variable[j] == code[i].arg[0]) return false;
      x->variable[count] = code[i].arg[0];
      values[count++] = code[i].arg[1];
      x->is_taken[i - x->loop] = true;
    } else if (!is_read) {
      return false;
    }
  }
  x->type = count ? (vyre_type)code[x->variable[0]].type : VYRE_VOID;
  return count == ACROSS_SUMS && (x->type == VYRE_F32 || x->type == VYRE_F64);
}

// What no node stands for computes indices, from nothing that is in a node.
static bool is_rest_apart(const emitter *e, const across *x) {
  const inst *code = e->p->code;
  for (uint32_t i = x->loop + 1; i < code[x->loop].arg[3]; i++) {
    if (x->is_taken[i - x->loop]) continue;
    if (code[i].op == VYRE_OP_LOAD) return false;
    const char *operands = op_table[code[i].op].operands;
    for (int k = 0; operands[k]; k++) {
      ref r = code[i].arg[k];
      if (operands[k] == 'v' && !ref_is_const(r) && r > x->loop && x->is_taken[r - x->loop])
        return false;
    }
    for (unsigned j = 0; j < ACROSS_SUMS; j++)
      if (code[i].op == VYRE_OP_GET && code[i].arg[0] == x->variable[j]) return false;
  }
  return true;
}

bool across_plan(const emitter *e, uint32_t loop, across *out) {
  const target *t = e->u->target;
  *out = (across){.loop = loop};
  ref values[ACROSS_SUMS];
  if (e->width < 4 || e->rows > 1 || e->packing || e->exec || e->keep || !e->guards ||
      e->u->options->tier == VYRE_TIER_QUICK || e->p->code[loop].arg[3] - loop >= ACROSS_BODY)
    return false;
  if (!find_sets(e, out, values) || !plan_node(e, out, values, DEPTH, &out->root) ||
      !is_rest_apart(e, out))
    return false;
  unsigned each = ACROSS_SUMS * type_bits(out->type) / t->vector_bits;
  unsigned fit = (t->has_predicates ? 24 : 12) / (each ? each : 1);
  for (out->lanes = e->width; out->lanes > fit && out->lanes > 1;) out->lanes /= 2;
  return true;
}

// ---- between variables and sums -----------------------------------------------------------------

static llval slice(const emitter *e, llval x, unsigned size, unsigned first, unsigned count) {
  llval lanes[MOST_SQUARE];
  if (size == count) return x;
  for (unsigned i = 0; i < count; i++) lanes[i] = LLVMConstInt(e->u->i32, first + i, false);
  return LLVMBuildShuffleVector(e->b, x, LLVMGetPoison(LLVMTypeOf(x)),
                                LLVMConstVector(lanes, count), "");
}

// `from` are vectors of `size` elements; `to` as many of the number of those as there were
// elements.
static void turn_all(const emitter *e, const across *x, const llval *from, unsigned count,
                     unsigned size, llval *to) {
  llval rows[MOST_SQUARE];
  unsigned side = e->width < MOST_SQUARE ? e->width : MOST_SQUARE;
  square s = {.e = e, .rows = rows, .count = side, .block = 16 / type_bytes(x->type)};
  if (s.block > side) s.block = side;
  for (unsigned i = 0; i < size; i++) to[i] = NULL;
  for (unsigned top = 0; top < count; top += side)
    for (unsigned left = 0; left < size; left += side) {
      for (unsigned i = 0; i < side; i++) rows[i] = slice(e, from[top + i], size, left, side);
      square_turn(&s);
      for (unsigned i = 0; i < side; i++)
        to[left + i] = square_joined(e, to[left + i], rows[square_column(&s, i)], top, side);
    }
}

static lltype sums_type(const emitter *e, const across *x) {
  return LLVMVectorType(e->u->scalars[x->type], ACROSS_SUMS);
}

void across_begin(emitter *e, across *x) {
  llval sums[LANEWISE_MOST], variables[ACROSS_SUMS];
  for (unsigned j = 0; j < ACROSS_SUMS; j++) variables[j] = variable_load(e, x->variable[j], 0);
  turn_all(e, x, variables, ACROSS_SUMS, e->width, sums);
  for (unsigned lane = 0; lane < e->width; lane++) {
    x->sums[lane] = build_variable(e, sums_type(e, x), "sums");
    LLVMBuildStore(e->b, sums[lane], x->sums[lane]);
  }
}

void across_end(emitter *e, across *x) {
  llval sums[LANEWISE_MOST], variables[ACROSS_SUMS];
  for (unsigned lane = 0; lane < e->width; lane++)
    sums[lane] = LLVMBuildLoad2(e->b, sums_type(e, x), x->sums[lane], "");
  turn_all(e, x, sums, e->width, ACROSS_SUMS, variables);
  for (unsigned j = 0; j < ACROSS_SUMS; j++) variable_store(e, x->variable[j], 0, variables[j]);
}

// ---- a turn -------------------------------------------------------------------------------------

static llval load_line(const emitter *e, const across *x, const across_node *n, unsigned lane) {
  const inst *in = &e->p->code[n->first];
  place p = place_of(e, in->arg[0]);
  llval at = place_at(e, &p, guards_index(e->guards, e, in->arg[1], 0, lane));
  llval v = LLVMBuildLoad2(e->b, sums_type(e, x), at, "");
  LLVMSetAlignment(v, type_bytes(p.type));
  return kernel_mark(e->k, v, p.mem);
}

static llval node_value(const emitter *e, across *x, unsigned number, unsigned lane) {
  across_node *n = &x->nodes[number];
  lanewise l = lanes_of(e);
  l.width = ACROSS_SUMS;
  if (n->common) return n->common;
  if (n->kind == ACROSS_SUM) return LLVMBuildLoad2(e->b, sums_type(e, x), x->sums[lane], "");
  if (n->kind == ACROSS_LOAD) {
    bool is_one = is_uniform(e, e->p->code[n->first].arg[1]);
    llval v = load_line(e, x, n, is_one ? 0 : lane);
    if (is_one) n->common = v;
    return v;
  }
  if (n->kind == ACROSS_SAME && ref_is_const(n->first))
    return lanewise_const(&l, x->type, e->p->consts[ref_index(n->first)].bits, true);
  if (n->kind == ACROSS_SAME)
    return lanewise_splat(&l, is_uniform(e, n->first)
                                  ? value_scalar(e, n->first, 0)
                                  : build_extract(e, value_vector(e, n->first, 0), lane));
  const inst *in = &e->p->code[n->first];
  llval args[3] = {NULL};
  for (int k = 0; k < op_table[in->op].operand_count; k++)
    args[k] = node_value(e, x, n->operands[k], lane);
  return lanewise_pure(&l, in, x->type, args, true);
}

void across_turn(emitter *e, across *x, unsigned lane) {
  for (uint32_t i = x->loop + 1; i < e->p->code[x->loop].arg[3]; i++)
    if (!x->is_taken[i - x->loop]) emit_value(e, i);
  for (unsigned i = 0; i < x->count; i++) {
    x->nodes[i].common = NULL;
    if (x->nodes[i].kind != ACROSS_LOAD || lane) continue;
    bool is_one = is_uniform(e, e->p->code[x->nodes[i].first].arg[1]);
    for (unsigned j = 0; j < ACROSS_SUMS; j++)
      note_access(e, is_one ? ACCESS_UNIFORM : ACCESS_STEPS, false);
    if (e->is_main) e->k->across += ACROSS_SUMS;
  }
  llval made[LANEWISE_MOST];
  for (unsigned i = 0; i < x->lanes; i++) made[i] = node_value(e, x, x->root, lane + i);
  for (unsigned i = 0; i < x->lanes; i++) LLVMBuildStore(e->b, made[i], x->sums[lane + i]);
}
