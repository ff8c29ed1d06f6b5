// SPDX-License-Identifier: MIT
#include "backend/ref/deferral.h"

#include "backend/ref/machine.h"
#include "ir/op_groups.h"

#include <stdlib.h>

// Whether the value of one operand need not be looked at.
static bool is_choice(const inst *in) {
  bool is_logic = (in->op == VYRE_OP_AND || in->op == VYRE_OP_OR) && in->type == VYRE_BOOL;
  return in->op == VYRE_OP_SELECT || is_logic;
}

static bool can_wait(const inst *in) {
  bool is_division = (in->op == VYRE_OP_DIV || in->op == VYRE_OP_REM) && type_is_int(in->type);
  return in->op == VYRE_OP_LOAD || is_division;
}

// Whether an operation only makes a value of values.
static bool is_plain(const inst *in) {
  switch ((vyre_op)in->op) {
  case OPS_COMPUTED: return true;
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case OPS_STATE:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  return false;
}

bool deferral_init(deferral *d, const vyre_program *p, const region *r) {
  uint32_t first = r->body.first, count = r->body.end - first;
  *d = (deferral){.numbers = calloc(count + 1u, 1)};
  bool *is_choosable = calloc(count + 1u, sizeof *is_choosable);
  bool ok = d->numbers && is_choosable;
  for (uint32_t i = r->body.end; ok && i-- > first;) {
    const inst *in = &p->code[i];
    if (is_choosable[i - first] && can_wait(in) && d->count < DEFERRAL_MOST)
      d->numbers[i - first] = (uint8_t)++d->count;
    if (!is_plain(in) || (!is_choice(in) && !is_choosable[i - first])) continue;
    for (int k = in->op == VYRE_OP_SELECT; k < op_table[in->op].operand_count; k++)
      if (!ref_is_const(in->arg[k])) is_choosable[in->arg[k] - first] = true;
  }
  free(is_choosable);
  if (!ok) deferral_fini(d);
  return ok;
}

void deferral_fini(deferral *d) {
  free(d->numbers);
  *d = (deferral){0};
}

static uint64_t marks_of(const machine *m, const frame *f, ref r) {
  return ref_is_const(r) ? 0 : f->deferred->marks[r - m->region->body.first];
}

static void tell(const machine *m, frame *f, uint64_t marks) {
  deferral_state *s = f->deferred;
  for (uint32_t k = 0; marks >> k; k++) {
    if (!(marks >> k & 1) || !s->tell[k]) continue;
    s->tell[k](m->observer->context, &s->events[k]);
    s->tell[k] = NULL;
    if (k + 1 == DEFERRAL_MOST) break;
  }
}

// An operand that decides alone leaves the other one out.
static uint64_t marks_of_choice(const machine *m, const frame *f, const inst *in) {
  if (in->op == VYRE_OP_SELECT)
    return marks_of(m, f, in->arg[0]) |
           marks_of(m, f, in->arg[machine_value(m, f, in->arg[0]) ? 1 : 2]);
  uint64_t both[2] = {marks_of(m, f, in->arg[0]), marks_of(m, f, in->arg[1])};
  for (int k = 0; k < 2; k++) {
    bool decides = (machine_value(m, f, in->arg[k]) != 0) == (in->op == VYRE_OP_OR);
    if (!both[k] && decides) return 0;
  }
  return both[0] | both[1];
}

static uint64_t marks_of_all(const machine *m, const frame *f, const inst *in) {
  const char *operands = op_table[in->op].operands;
  uint64_t all = 0;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v') all |= marks_of(m, f, in->arg[k]);
  return all;
}

void deferral_before(const machine *m, frame *f, uint32_t i) {
  const inst *in = &m->p->code[i];
  uint32_t first = m->region->body.first;
  uint64_t *marks = f->deferred->marks;
  switch ((vyre_op)in->op) {
  case VYRE_OP_VAR: marks[i - first] = marks_of(m, f, in->arg[0]); break;
  case VYRE_OP_GET: marks[i - first] = marks[in->arg[0] - first]; break;
  case VYRE_OP_SET: marks[in->arg[0] - first] = marks_of(m, f, in->arg[1]); break;
  case OPS_COMPUTED:
    marks[i - first] = is_choice(in) ? marks_of_choice(m, f, in) : marks_of_all(m, f, in);
    break;
  case OPS_MEMORY:
  case OPS_STRUCTURE:
    tell(m, f, marks_of_all(m, f, in));
    marks[i - first] = 0;
    break;
  case VYRE_OP_ARRAY:
  case OPS_LAUNCH:
  case OPS_NONE: break;
  }
}

void deferral_event(const machine *m, frame *f, uint32_t i, deferral_tell *told,
                    const ref_event *event) {
  uint32_t slot = i - m->region->body.first;
  uint32_t number = f->deferred ? m->deferral.numbers[slot] : 0;
  if (!number) {
    told(m->observer->context, event);
    return;
  }
  f->deferred->marks[slot] |= (uint64_t)1 << (number - 1);
  f->deferred->events[number - 1] = *event;
  f->deferred->tell[number - 1] = told;
}
