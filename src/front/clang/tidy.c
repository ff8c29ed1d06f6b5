// SPDX-License-Identifier: MIT
//
// The lowering builds what it might need: values of parts that nobody reads, variables of counters
// that became loops. Here what has no effect is left out, and what is used once is computed where
// it is used, so that the program reads as the source does. A read moves only over what cannot
// change what it reads.
#include "front/clang/lower.h"

#include "base/error.h"
#include "ir/needed.h"

#include <stdlib.h>

typedef struct tidying {
  const vyre_program *p;
  bool *is_live;
  uint32_t *owner;       // the opening operation of the block that holds it
  uint32_t *uses, *user; // how many, and the last one
  uint32_t *waits;       // the operation that it is computed right before; 0: where it stands
  uint32_t *block;       // memory of the arrays
  arena scratch;
} tidying;

static bool mark_region(tidying *s, const region *r) {
  uint32_t block = 0;
  const bool *is_needed = needed_find(&s->scratch, s->p, r);
  for (uint32_t i = r->body.first; is_needed && i < r->body.end; i++) {
    const inst *in = &s->p->code[i];
    s->is_live[i] = is_needed[i - r->body.first];
    if (in->op == VYRE_OP_END) block = s->owner[block];
    s->owner[i] = block;
    if (in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) block = i;
  }
  arena_reset(&s->scratch);
  return is_needed != NULL;
}

// ---- order --------------------------------------------------------------------------------------

// A read is not moved over more operations than this.
enum { MOST_MOVED = 64 };

static bool is_named(const tidying *s, uint32_t i) {
  return s->p->names && s->p->names[i];
}

// Costs nothing and has nothing to wait for: made again for each use.
static bool is_leaf(const tidying *s, uint32_t i) {
  unsigned rule = op_table[s->p->code[i].op].rule;
  return (rule == RULE_PARAM || rule == RULE_AXIS || rule == RULE_LEN) && !is_named(s, i);
}

// Whether `other` may change what `read` gets. Barriers and atomics let other invocations go on.
static bool changes(const vyre_program *p, const inst *read, const inst *other) {
  if (read->op == VYRE_OP_GET) return other->op == VYRE_OP_SET && other->arg[0] == read->arg[0];
  uint32_t mem = read->arg[0];
  if (mem_space(mem) == MEM_BUFFER && p->buffers[mem_index(mem)].access == VYRE_READ) return false;
  if (other->op == VYRE_OP_BARRIER || op_is_atomic(other->op)) return mem_space(mem) != MEM_PRIVATE;
  return other->op == VYRE_OP_STORE && other->arg[0] == mem;
}

// Whether operation `i` can be computed as late as `at`.
static bool can_wait(const tidying *s, uint32_t i, uint32_t at) {
  const inst *in = &s->p->code[i];
  if (op_is((vyre_op)in->op, OPF_PURE)) return true;
  if (in->op != VYRE_OP_GET && in->op != VYRE_OP_LOAD) return false;
  if (at - i > MOST_MOVED) return false;
  for (uint32_t k = i + 1; k < at; k++)
    if (s->is_live[k] && changes(s->p, in, &s->p->code[k])) return false;
  return true;
}

// For each value that waits: the operation that it is computed right before.
static void find_order(tidying *s, const region *r) {
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    if (!s->is_live[i]) continue;
    const inst *in = &s->p->code[i];
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++) {
      if (operands[k] != 'v' || ref_is_const(in->arg[k])) continue;
      s->uses[in->arg[k]]++;
      s->user[in->arg[k]] = i;
    }
  }
  for (uint32_t i = r->body.end; i-- > r->body.first;) {
    s->waits[i] = 0;
    uint32_t user = s->user[i];
    bool is_value = s->p->code[i].type != VYRE_VOID && s->p->code[i].op != VYRE_OP_FOR;
    if (!s->is_live[i] || !is_value || s->uses[i] != 1 || is_named(s, i)) continue;
    if (s->owner[i] != s->owner[user]) continue;
    uint32_t at = s->waits[user] ? s->waits[user] : user;
    if (can_wait(s, i, at)) s->waits[i] = at;
  }
}

// ---- the copy -----------------------------------------------------------------------------------

static bool has_live(const tidying *s, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++)
    if (s->is_live[i]) return true;
  return false;
}

typedef struct copying {
  vyre_builder *b;
  const tidying *s;
  ref *map;
} copying;

static void copy_op(copying *c, uint32_t i);

// What an operation needs and what waited for it.
static void copy_operands(copying *c, uint32_t i) {
  const inst *in = &c->s->p->code[i];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++) {
    uint32_t v = in->arg[k];
    if (operands[k] == 'v' && !ref_is_const(v) && (c->s->waits[v] || is_leaf(c->s, v)))
      copy_op(c, v);
  }
}

// All shared arrays are kept, and with them their numbers.
static void copy_op(copying *c, uint32_t i) {
  copy_operands(c, i);
  builder_copy_inst(c->b, c->s->p, i, c->map, 0);
}

// An if with nothing in its first block is turned around.
static void copy_if(copying *c, uint32_t i) {
  const inst *in = &c->s->p->code[i];
  uint32_t middle = in->arg[1] ? in->arg[1] : in->arg[2];
  if (has_live(c->s, i + 1, middle)) {
    copy_op(c, i);
    return;
  }
  copy_operands(c, i);
  ref condition = builder_map_ref(c->b, c->s->p, in->arg[0], c->map);
  vyre_build_if(c->b, vyre_build_unary(c->b, VYRE_OP_NOT, condition));
}

static void copy_body(copying *c, const region *r) {
  const tidying *s = c->s;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &s->p->code[i];
    if (in->op == VYRE_OP_ELSE) {
      bool has_first = has_live(s, in->arg[1] + 1, i), has_second = has_live(s, i + 1, in->arg[2]);
      if (has_first && has_second) vyre_build_else(c->b);
    } else if (in->op == VYRE_OP_END) {
      if (s->is_live[in->arg[1]]) vyre_build_end(c->b);
    } else if (!s->is_live[i] || s->waits[i] || is_leaf(s, i)) {
      continue;
    } else if (in->op == VYRE_OP_IF) {
      copy_if(c, i);
    } else {
      copy_op(c, i);
    }
  }
}

static void copy_region(copying *c, const region *r) {
  const vyre_program *p = c->s->p;
  vyre_build_region_begin(c->b, r->name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++)
    builder_copy_inst(c->b, p, i, c->map, 0);
  ref grid[3];
  for (int i = 0; i < 3; i++) grid[i] = builder_map_ref(c->b, p, r->grid[i], c->map);
  vyre_build_grid(c->b, r->rank, grid, r->workgroup);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    vyre_build_shared(c->b, p->shared[i].name, p->shared[i].type, p->shared[i].length);
  copy_body(c, r);
  vyre_build_region_end(c->b);
}

static bool tidying_init(tidying *s, const vyre_program *p) {
  *s = (tidying){.p = p};
  s->is_live = calloc(p->code_count, sizeof *s->is_live);
  uint32_t **arrays[] = {&s->owner, &s->uses, &s->user, &s->waits};
  s->block = calloc((size_t)p->code_count * (sizeof arrays / sizeof *arrays), sizeof *s->block);
  if (!s->is_live || !s->block) return false;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    *arrays[i] = s->block + i * p->code_count;
  return true;
}

vyre_status tidy(const vyre_program *p, vyre_program **out, vyre_error *error) {
  tidying s;
  bool ok = tidying_init(&s, p);
  copying c = {vyre_builder_new(p->name), &s, calloc(p->code_count, sizeof(ref))};
  vyre_status status = VYRE_ERROR_MEMORY;
  if (ok && c.map && c.b) {
    builder_copy_interface(c.b, p);
    for (uint32_t i = 0; i < p->region_count && ok; i++) {
      ok = mark_region(&s, &p->regions[i]);
      find_order(&s, &p->regions[i]);
      copy_region(&c, &p->regions[i]);
    }
    if (ok) status = vyre_builder_finish(c.b, out, error);
  }
  if (status == VYRE_ERROR_MEMORY) error_out_of_memory(error);
  vyre_builder_free(c.b);
  free(c.map);
  free(s.is_live);
  free(s.block);
  arena_free(&s.scratch);
  return status;
}
