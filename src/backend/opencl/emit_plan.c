// SPDX-License-Identifier: MIT
//
// Before a kernel is written: which arguments it has, and which values are written where they are
// used instead of getting a name. That is for reading only; a compiler does not mind. A value is
// written at its use when it has one use, no name, and nothing between the two can change it.
#include "backend/opencl/emit_state.h"

#include <stdio.h>
#include <string.h>

enum { INLINE_SIZE = 8 }; // operations in one expression

// ---- inlining -----------------------------------------------------------------------------------

typedef struct inlining {
  uint32_t *user;     // per operation of the body: the last one that mentions it
  uint32_t *position; // where it is evaluated in the end
  uint32_t *segment;  // number of the stretch between structure operations
  uint32_t *writes;   // stores, sets, atomics, barriers up to here
  uint8_t *size;      // operations in its expression
} inlining;

static bool is_value(const inst *in) {
  return in->type != VYRE_VOID && in->op != VYRE_OP_VAR && in->op != VYRE_OP_ARRAY &&
         in->op < VYRE_OP_IF;
}

// Operands that are written twice, or whose value must not move.
static bool must_have_name(const inst *user, uint32_t value) {
  bool is_memory = op_table[user->op].operands[0] == 'm';
  if (is_memory && user->arg[1] == value) return true; // the index stands in the check, too
  return user->op == VYRE_OP_CTZ || user->op == VYRE_OP_FOR;
}

static bool can_inline(const emitter *e, const inlining *n, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint32_t at = emit_offset(e, i), user = n->user[at];
  if (!is_value(in) || op_is_atomic(in->op) || e->use_count[at] != 1) return false;
  if (e->p->names && e->p->names[i]) return false;
  const inst *by = &e->p->code[user];
  if (must_have_name(by, i)) return false;
  uint32_t to = n->position[emit_offset(e, user)], to_at = emit_offset(e, to);
  if (n->segment[at] != n->segment[to_at]) return false;
  if (op_is((vyre_op)in->op, OPF_READS) && n->writes[at] != n->writes[to_at]) return false;
  return n->size[at] + n->size[emit_offset(e, user)] <= INLINE_SIZE;
}

static void count_uses(emitter *e, inlining *n) {
  uint32_t segment = 0, writes = 0;
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    const inst *in = &e->p->code[i];
    uint32_t at = emit_offset(e, i);
    const char *operands = op_table[in->op].operands;
    // A use belongs to the stretch before the structure operation: an `if` reads its condition
    // there, and a `while` its condition up to the `do`.
    bool is_structure = in->op >= VYRE_OP_IF;
    if (in->op == VYRE_OP_ELSE || in->op == VYRE_OP_WHILE || in->op == VYRE_OP_END) segment++;
    n->segment[at] = segment;
    n->writes[at] = writes;
    n->position[at] = i;
    n->size[at] = 1;
    if (is_structure) segment++;
    if (op_is((vyre_op)in->op, OPF_WRITES) || in->op == VYRE_OP_BARRIER) writes++;
    for (int k = 0; operands[k]; k++) {
      if (operands[k] != 'v' || ref_is_const(in->arg[k])) continue;
      e->use_count[emit_offset(e, in->arg[k])]++;
      n->user[emit_offset(e, in->arg[k])] = i;
    }
  }
}

static void choose_inlined(emitter *e, inlining *n) {
  for (uint32_t i = e->r->body.end; i-- > e->r->body.first;) {
    uint32_t at = emit_offset(e, i);
    if (!can_inline(e, n, i)) continue;
    uint32_t user = emit_offset(e, n->user[at]);
    e->is_inline[at] = 1;
    n->position[at] = n->position[user];
    n->size[at] = (uint8_t)(n->size[at] + n->size[user]); // so far from the statement
  }
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct usage {
  bool params[256], buffers[128], lengths[128], grid[3];
} usage;

static void find_usage(const emitter *e, usage *u) {
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    const inst *in = &e->p->code[i];
    if (in->op == VYRE_OP_PARAM) u->params[in->arg[0]] = true;
    if (in->op == VYRE_OP_LEN) u->lengths[in->arg[0]] = true;
    bool is_size = in->op == VYRE_OP_GLOBAL_SIZE || (in->op == VYRE_OP_GROUP_COUNT && e->is_polled);
    if (is_size && in->arg[0] < e->r->rank) u->grid[in->arg[0]] = true;
    if (op_table[in->op].operands[0] != 'm' || mem_space(in->arg[0]) != MEM_BUFFER) continue;
    u->buffers[mem_index(in->arg[0])] = u->lengths[mem_index(in->arg[0])] = true;
  }
  for (uint32_t k = 0; k < e->r->rank && e->r->is_elastic; k++) u->grid[k] = true; // the guard
}

static bool add_arg(emitter *e, opencl_arg_kind kind, uint32_t index) {
  return vec_push(&e->args, (opencl_arg){kind, index});
}

static bool name_args(emitter *e, const usage *u) {
  static const char *const axes[] = {"grid_x", "grid_y", "grid_z"};
  char name[300];
  bool ok = true;
  for (uint32_t i = 0; i < e->p->param_count; i++) {
    if (!u->params[i]) continue;
    e->param_names[i] = names_take(&e->names, e->p->params[i].name, "p");
    ok &= add_arg(e, ARG_PARAM, i);
  }
  for (uint32_t i = 0; i < e->p->buffer_count; i++) {
    if (u->buffers[i]) {
      e->buffer_names[i] = names_take(&e->names, e->p->buffers[i].name, "b");
      ok &= add_arg(e, ARG_BUFFER, i);
    }
    if (!u->lengths[i]) continue;
    snprintf(name, sizeof name, "%.250s_len", e->p->buffers[i].name);
    e->length_names[i] = names_take(&e->names, name, "len");
    ok &= add_arg(e, ARG_LENGTH, i);
  }
  for (uint32_t k = 0; k < e->r->rank; k++) {
    if (!u->grid[k]) continue;
    e->grid_names[k] = names_take(&e->names, axes[k], "grid");
    ok &= add_arg(e, ARG_GRID, k);
  }
  if (e->is_polled) {
    e->stop_name = names_take(&e->names, "stop", "stop");
    ok &= add_arg(e, ARG_STOP, 0);
  }
  return ok;
}

// ---- names of values ----------------------------------------------------------------------------

static bool name_values(emitter *e) {
  for (uint32_t i = e->r->shared.first; i < e->r->shared.end; i++)
    e->shared_names[i - e->r->shared.first] = names_take(&e->names, e->p->shared[i].name, "s");
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    const inst *in = &e->p->code[i];
    uint32_t at = emit_offset(e, i);
    bool has_name =
        is_value(in) || in->op == VYRE_OP_VAR || in->op == VYRE_OP_ARRAY || in->op == VYRE_OP_FOR;
    if (!has_name || e->is_inline[at]) continue;
    char fallback[16];
    snprintf(fallback, sizeof fallback, "%c%u", in->op == VYRE_OP_FOR ? 'k' : 't', at);
    e->value_names[at] = names_take(&e->names, e->p->names ? e->p->names[i] : NULL, fallback);
  }
  return !e->names.failed;
}

bool emit_plan(emitter *e) {
  size_t size = e->r->body.end - e->r->body.first + 1u;
  size_t shared = e->r->shared.end - e->r->shared.first + 1u;
  arena *a = &e->names.arena;
  inlining n = {calloc(size, 4), calloc(size, 4), calloc(size, 4), calloc(size, 4),
                calloc(size, 1)};
  usage u = {0};
  e->use_count = arena_alloc_array(a, size, sizeof *e->use_count);
  e->is_inline = arena_alloc_array(a, size, 1);
  e->value_names = arena_alloc_array(a, size, sizeof *e->value_names);
  e->shared_names = arena_alloc_array(a, shared, sizeof *e->shared_names);
  bool ok = n.user && n.position && n.segment && n.writes && n.size && e->use_count &&
            e->is_inline && e->value_names && e->shared_names &&
            ranges_compute(a, e->p, e->r, &e->ranges) &&
            uniformity_compute(e->p, e->r, &e->uniform);
  if (ok) {
    count_uses(e, &n);
    choose_inlined(e, &n);
    find_usage(e, &u);
    ok = name_args(e, &u) && name_values(e);
  }
  free(n.user);
  free(n.position);
  free(n.segment);
  free(n.writes);
  free(n.size);
  return ok;
}

void emit_plan_fini(emitter *e) {
  free(e->uniform.is_divergent);
  e->uniform.is_divergent = NULL;
  names_fini(&e->names);
  vec_free(&e->args);
}
