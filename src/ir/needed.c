// SPDX-License-Identifier: MIT
//
// Marks spread from effects along a list of work: each operation is looked at once.
#include "ir/needed.h"

#include "ir/op_groups.h"

typedef struct marking {
  const vyre_program *p;
  range body;
  bool *is_needed;       // per operation of the body, as all of these
  uint32_t *owner;       // the opening operation of the block that holds it; 0: none
  uint32_t *first_write; // of a variable or private array
  uint32_t *next_write;  // of the same one
  uint32_t *work;
  uint32_t work_count;
} marking;

static void need(marking *m, uint32_t i) {
  if (!i || m->is_needed[i - m->body.first]) return;
  m->is_needed[i - m->body.first] = true;
  m->work[m->work_count++] = i;
}

// The variable or private array that an operation writes; 0: none.
static uint32_t written_object(const inst *in) {
  if (in->op == VYRE_OP_SET) return in->arg[0];
  if (in->op == VYRE_OP_STORE && mem_space(in->arg[0]) == MEM_PRIVATE) return mem_index(in->arg[0]);
  return 0;
}

// Needed whatever its value is used for.
static bool has_effect(const inst *in) {
  switch ((vyre_op)in->op) {
  case VYRE_OP_STORE: return mem_space(in->arg[0]) != MEM_PRIVATE;
  case VYRE_OP_WHILE:
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
  case VYRE_OP_RETURN:
  case VYRE_OP_BARRIER:
  case OPS_ATOMIC: return true;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case OPS_STATE:
  case VYRE_OP_IF:
  case VYRE_OP_ELSE:
  case VYRE_OP_FOR:
  case VYRE_OP_DO:
  case VYRE_OP_END:
  case OPS_NONE: return false;
  }
  return false;
}

static bool opens_block(const inst *in) {
  return in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE;
}

static void need_object(marking *m, uint32_t object) {
  need(m, object);
  for (uint32_t w = m->first_write[object - m->body.first]; w; w = m->next_write[w - m->body.first])
    need(m, w);
}

// Its operands, the block around it, and the rest of the block that it opens.
static void spread(marking *m, uint32_t i) {
  const inst *in = &m->p->code[i];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++) {
    if (operands[k] == 'v' && !ref_is_const(in->arg[k])) need(m, in->arg[k]);
    if (operands[k] == 'x') need_object(m, in->arg[k]);
    if (operands[k] == 'm' && mem_space(in->arg[k]) == MEM_PRIVATE)
      need_object(m, mem_index(in->arg[k]));
  }
  need(m, m->owner[i - m->body.first]);
  if (!opens_block(in)) return;
  if (in->op != VYRE_OP_FOR) need(m, in->arg[1]); // ELSE or DO
  need(m, inst_end(in));
}

static void read_body(marking *m) {
  uint32_t block = 0, first = m->body.first;
  for (uint32_t i = first; i < m->body.end; i++) {
    const inst *in = &m->p->code[i];
    if (in->op == VYRE_OP_END) block = m->owner[block - first];
    m->owner[i - first] = block;
    if (opens_block(in)) block = i;
    uint32_t object = written_object(in);
    if (!object) continue;
    m->next_write[i - first] = m->first_write[object - first];
    m->first_write[object - first] = i;
  }
}

bool *needed_find(arena *scratch, const vyre_program *p, const region *r) {
  size_t count = r->body.end - r->body.first + 1u;
  marking m = {.p = p, .body = r->body};
  m.is_needed = arena_alloc_array(scratch, count, sizeof *m.is_needed);
  m.owner = arena_alloc_array(scratch, count, sizeof *m.owner);
  m.first_write = arena_alloc_array(scratch, count, sizeof *m.first_write);
  m.next_write = arena_alloc_array(scratch, count, sizeof *m.next_write);
  m.work = arena_alloc_array(scratch, count, sizeof *m.work);
  if (!m.is_needed || !m.owner || !m.first_write || !m.next_write || !m.work) return NULL;
  read_body(&m);
  uint32_t end = r->body.end; // a return at the end of the body does nothing
  while (end > r->body.first && p->code[end - 1].op == VYRE_OP_RETURN) end--;
  for (uint32_t i = r->body.first; i < end; i++)
    if (has_effect(&p->code[i])) need(&m, i);
  while (m.work_count) spread(&m, m.work[--m.work_count]);
  return m.is_needed;
}
