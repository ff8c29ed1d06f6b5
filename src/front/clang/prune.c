// SPDX-License-Identifier: MIT
//
// The lowering builds what it might need: values of parts that nobody reads, variables of counters
// that became loops. Here what has no effect is left out, so that the program is as short as what
// the source says. A mark phase starts from effects; variables and private arrays are kept when
// they are read, and then with all that writes them.
#include "front/clang/lower.h"

#include "base/error.h"

#include <stdlib.h>

typedef struct pruning {
  const vyre_program *p;
  bool *is_live;
  uint32_t *owner;      // the opening operation of the block that holds it
  uint32_t *next_write; // of the same variable or array
  uint32_t *first_write;
  uint32_t *work;
  uint32_t work_count;
} pruning;

static void mark(pruning *s, uint32_t i) {
  if (!i || s->is_live[i]) return;
  s->is_live[i] = true;
  s->work[s->work_count++] = i;
}

// The variable or private array that an operation writes; 0: none.
static uint32_t written_object(const inst *in) {
  if (in->op == VYRE_OP_SET) return in->arg[0];
  if (in->op == VYRE_OP_STORE && mem_space(in->arg[0]) == MEM_PRIVATE) return mem_index(in->arg[0]);
  return 0;
}

static bool is_root(const inst *in) {
  switch (in->op) {
  case VYRE_OP_STORE: return mem_space(in->arg[0]) != MEM_PRIVATE;
  case VYRE_OP_WHILE: // may not end
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
  case VYRE_OP_RETURN:
  case VYRE_OP_BARRIER: return true;
  default: return op_is_atomic(in->op);
  }
}

static void mark_operands(pruning *s, uint32_t i) {
  const inst *in = &s->p->code[i];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++) {
    uint32_t object = 0;
    if (operands[k] == 'v' && !ref_is_const(in->arg[k])) mark(s, in->arg[k]);
    if (operands[k] == 'x') object = in->arg[k];
    if (operands[k] == 'm' && mem_space(in->arg[k]) == MEM_PRIVATE) object = mem_index(in->arg[k]);
    if (!object) continue;
    mark(s, object);
    for (uint32_t w = s->first_write[object]; w; w = s->next_write[w]) mark(s, w);
  }
  mark(s, s->owner[i]);
  if (in->op == VYRE_OP_WHILE) mark(s, in->arg[1]);
}

static void mark_region(pruning *s, const region *r) {
  uint32_t block = 0;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &s->p->code[i];
    if (in->op == VYRE_OP_END) block = s->owner[block];
    s->owner[i] = block;
    if (in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) block = i;
    uint32_t object = written_object(in);
    if (object) {
      s->next_write[i] = s->first_write[object];
      s->first_write[object] = i;
    }
  }
  uint32_t end = r->body.end; // a return at the end of the body does nothing
  while (end > r->body.first && s->p->code[end - 1].op == VYRE_OP_RETURN) end--;
  for (uint32_t i = r->body.first; i < end; i++)
    if (is_root(&s->p->code[i])) mark(s, i);
  while (s->work_count) mark_operands(s, s->work[--s->work_count]);
}

static bool has_live(const pruning *s, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++)
    if (s->is_live[i]) return true;
  return false;
}

// An if with nothing in its first block is turned around.
static ref turned_condition(vyre_builder *b, const pruning *s, const inst *in, const ref *map) {
  ref c = builder_map_ref(b, s->p, in->arg[0], map);
  return vyre_build_unary(b, VYRE_OP_NOT, c);
}

static void copy_body(vyre_builder *b, const pruning *s, const region *r, ref *map,
                      uint32_t shift) {
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &s->p->code[i];
    if (in->op == VYRE_OP_IF && s->is_live[i]) {
      uint32_t middle = in->arg[1] ? in->arg[1] : in->arg[2];
      if (has_live(s, i + 1, middle))
        builder_copy_inst(b, s->p, i, map, shift);
      else
        vyre_build_if(b, turned_condition(b, s, in, map));
    } else if (in->op == VYRE_OP_ELSE) {
      bool has_first = has_live(s, in->arg[1] + 1, i), has_second = has_live(s, i + 1, in->arg[2]);
      if (has_first && has_second) vyre_build_else(b);
    } else if (in->op == VYRE_OP_END) {
      if (s->is_live[in->arg[1]]) vyre_build_end(b);
    } else if (s->is_live[i]) {
      builder_copy_inst(b, s->p, i, map, shift);
    }
  }
}

static void copy_region(vyre_builder *b, const pruning *s, const region *r, ref *map) {
  const vyre_program *p = s->p;
  vyre_build_region_begin(b, r->name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++)
    builder_copy_inst(b, p, i, map, 0);
  ref grid[3];
  for (int i = 0; i < 3; i++) grid[i] = builder_map_ref(b, p, r->grid[i], map);
  vyre_build_grid(b, r->rank, grid, r->workgroup);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    vyre_build_shared(b, p->shared[i].name, p->shared[i].type, p->shared[i].length);
  copy_body(b, s, r, map, 0); // all shared arrays are kept, so their numbers are too
  vyre_build_region_end(b);
}

static bool pruning_init(pruning *s, const vyre_program *p) {
  *s = (pruning){.p = p};
  s->is_live = calloc(p->code_count, sizeof *s->is_live);
  s->owner = calloc(p->code_count, sizeof *s->owner);
  s->next_write = calloc(p->code_count, sizeof *s->next_write);
  s->first_write = calloc(p->code_count, sizeof *s->first_write);
  s->work = calloc(p->code_count, sizeof *s->work);
  return s->is_live && s->owner && s->next_write && s->first_write && s->work;
}

vyre_status prune(const vyre_program *p, vyre_program **out, vyre_error *error) {
  pruning s;
  bool ok = pruning_init(&s, p);
  ref *map = calloc(p->code_count, sizeof *map);
  vyre_builder *b = vyre_builder_new(p->name);
  vyre_status status = VYRE_ERROR_MEMORY;
  if (ok && map && b) {
    builder_copy_interface(b, p);
    for (uint32_t i = 0; i < p->region_count; i++) {
      mark_region(&s, &p->regions[i]);
      copy_region(b, &s, &p->regions[i], map);
    }
    status = vyre_builder_finish(b, out, error);
  } else {
    error_out_of_memory(error);
  }
  vyre_builder_free(b);
  free(map);
  free(s.is_live), free(s.owner), free(s.next_write), free(s.first_write), free(s.work);
  return status;
}
