// SPDX-License-Identifier: MIT
//
// Before code is written: which values are written where they are used instead of getting a name.
// That is for reading only; compilers do not mind, but for one. A value is written at its use when
// it has one use, no name, and nothing between the two can change it.
#include "backend/spell/table.h"

#include "base/format.h"

#include <stdio.h>
#include <stdlib.h>

enum { INLINE_SIZE = 8 }; // operations in one expression

// ---- inlining -----------------------------------------------------------------------------------

typedef struct inlining {
  uint32_t *user;     // per operation of the part: the last one that mentions it
  uint32_t *position; // where it is evaluated in the end
  uint32_t *segment;  // number of the stretch between structure operations
  uint32_t *writes;   // stores, sets, atomics, barriers up to here
  uint8_t *size;      // operations in its expression
} inlining;

static bool is_zero(const vyre_program *p, ref r) {
  return ref_is_const(r) && !p->consts[ref_index(r)].bits;
}

// gcc 12 takes 0.0 - (double)i for -(double)i where it sees both at once, even without optimising:
// -0 for 0.
static bool is_misread(const vyre_program *p, const inst *user) {
  return (user->op == VYRE_OP_ADD || user->op == VYRE_OP_SUB) &&
         type_is_float((vyre_type)user->type) &&
         (is_zero(p, user->arg[0]) || is_zero(p, user->arg[1]));
}

static bool can_inline(const speller *s, const inlining *n, uint32_t i) {
  const inst *in = &s->p->code[i];
  uint32_t at = spell_offset(s, i), user = n->user[at];
  bool writes = op_is((vyre_op)in->op, OPF_WRITES);
  if (!spell_is_value(in) || writes || s->use_count[at] != 1) return false;
  if (s->p->names && s->p->names[i]) return false;
  if (s->p->code[user].op == VYRE_OP_FOR) return false; // evaluated once
  if (is_misread(s->p, &s->p->code[user])) return false;
  uint32_t to = n->position[spell_offset(s, user)], to_at = spell_offset(s, to);
  if (n->segment[at] != n->segment[to_at]) return false;
  if (op_is((vyre_op)in->op, OPF_READS) && n->writes[at] != n->writes[to_at]) return false;
  return n->size[at] + n->size[spell_offset(s, user)] <= INLINE_SIZE;
}

static void count_uses(speller *s, inlining *n) {
  uint32_t segment = 0, writes = 0;
  for (uint32_t i = s->part.first; i < s->part.end; i++) {
    const inst *in = &s->p->code[i];
    uint32_t at = spell_offset(s, i);
    const char *operands = op_table[in->op].operands;
    // A use belongs to the stretch before the structure operation: an `if` reads its condition
    // there, and a `while` its condition up to the `do`.
    if (in->op == VYRE_OP_ELSE || in->op == VYRE_OP_WHILE || in->op == VYRE_OP_END) segment++;
    n->segment[at] = segment;
    n->writes[at] = writes;
    n->position[at] = i;
    n->size[at] = 1;
    if (op_is_structure(in->op)) segment++;
    if (op_is((vyre_op)in->op, OPF_WRITES) || in->op == VYRE_OP_BARRIER) writes++;
    for (int k = 0; operands[k]; k++) {
      if (operands[k] != 'v' || ref_is_const(in->arg[k])) continue;
      s->use_count[spell_offset(s, in->arg[k])]++;
      n->user[spell_offset(s, in->arg[k])] = i;
    }
  }
}

static void choose_inlined(speller *s, inlining *n) {
  for (uint32_t i = s->part.end; i-- > s->part.first;) {
    uint32_t at = spell_offset(s, i);
    if (!can_inline(s, n, i)) continue;
    uint32_t user = spell_offset(s, n->user[at]);
    s->is_inline[at] = 1;
    n->position[at] = n->position[user];
    n->size[at] = (uint8_t)(n->size[at] + n->size[user]); // so far from the statement
  }
}

// Extents are used by whoever evaluates them.
static void keep_extents(speller *s) {
  const vyre_program *p = s->p;
  for (uint32_t i = 0; i < p->buffer_count && !s->r; i++)
    if (p->buffers[i].length && !ref_is_const(p->buffers[i].length))
      s->use_count[spell_offset(s, p->buffers[i].length)] += 2;
  bool is_grid =
      s->r && s->part.first == s->r->grid_code.first && s->part.end == s->r->grid_code.end;
  for (int k = 0; k < 3 && is_grid; k++)
    if (!ref_is_const(s->r->grid[k])) s->use_count[spell_offset(s, s->r->grid[k])] += 2;
}

// ---- names --------------------------------------------------------------------------------------

static void name_values(speller *s) {
  for (uint32_t i = s->part.first; i < s->part.end; i++) {
    const inst *in = &s->p->code[i];
    uint32_t at = spell_offset(s, i);
    bool has_name = spell_is_value(in) || in->op == VYRE_OP_VAR || in->op == VYRE_OP_ARRAY ||
                    in->op == VYRE_OP_FOR;
    if (!has_name || s->is_inline[at]) continue;
    char fallback[16];
    snprintf(fallback, sizeof fallback, "%c%u", in->op == VYRE_OP_FOR ? 'k' : 't', at);
    s->value_names[at] = names_take(&s->names, s->p->names ? s->p->names[i] : NULL, fallback);
  }
}

void spell_name_interface(speller *s) {
  const vyre_program *p = s->p;
  names_fini(&s->names);
  for (uint32_t i = 0; i < p->param_count; i++)
    s->param_names[i] = names_take(&s->names, p->params[i].name, "p");
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    char name[300];
    s->buffer_names[i] = names_take(&s->names, p->buffers[i].name, "b");
    format_text(name, sizeof name, "%.250s_len", p->buffers[i].name);
    s->length_names[i] = names_take(&s->names, name, "len");
  }
}

static bool allocate(speller *s, inlining *n) {
  size_t size = s->part.end - s->part.first + 1u;
  size_t shared = s->r ? s->r->shared.end - s->r->shared.first + 1u : 1;
  arena *a = &s->names.arena;
  s->use_count = arena_alloc_array(a, size, sizeof *s->use_count);
  s->is_inline = arena_alloc_array(a, size, 1);
  s->value_names = arena_alloc_array(a, size, sizeof *s->value_names);
  s->shared_names = arena_alloc_array(a, shared, sizeof *s->shared_names);
  *n = (inlining){calloc(size, 4), calloc(size, 4), calloc(size, 4), calloc(size, 4),
                  calloc(size, 1)};
  return n->user && n->position && n->segment && n->writes && n->size && s->use_count &&
         s->is_inline && s->value_names && s->shared_names;
}

void spell_plan(speller *s, const region *r, range part) {
  inlining n;
  s->r = r;
  s->part = part;
  if (allocate(s, &n)) {
    count_uses(s, &n);
    keep_extents(s);
    choose_inlined(s, &n);
    for (uint32_t i = r ? r->shared.first : 0; r && i < r->shared.end; i++)
      s->shared_names[i - r->shared.first] = names_take(&s->names, s->p->shared[i].name, "s");
    name_values(s);
  } else {
    s->failed = true;
  }
  s->failed |= s->names.failed;
  free(n.user);
  free(n.position);
  free(n.segment);
  free(n.writes);
  free(n.size);
}

void spell_fini(speller *s) {
  names_fini(&s->names);
  strbuf_fini(&s->text);
}

void spell_find_usage(const speller *s, spell_usage *u) {
  *u = (spell_usage){0};
  for (uint32_t i = s->part.first; i < s->part.end; i++) {
    const inst *in = &s->p->code[i];
    if (in->op == VYRE_OP_PARAM) u->params[in->arg[0]] = true;
    if (in->op == VYRE_OP_LEN) u->lengths[in->arg[0]] = true;
    if (in->op == VYRE_OP_GLOBAL_SIZE || in->op == VYRE_OP_GROUP_COUNT) u->grid[in->arg[0]] = true;
    if (op_table[in->op].operands[0] != 'm' || mem_space(in->arg[0]) != MEM_BUFFER) continue;
    u->buffers[mem_index(in->arg[0])] = true;
    if (op_is((vyre_op)in->op, OPF_WRITES)) u->written[mem_index(in->arg[0])] = true;
  }
}
