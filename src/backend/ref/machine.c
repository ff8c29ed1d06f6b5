// SPDX-License-Identifier: MIT
#include "backend/ref/machine.h"

#include "backend/ref/promise.h"
#include "base/clock.h"
#include "base/error.h"
#include "ir/eval.h"
#include "ir/op_groups.h"
#include "lower/target.h"

#include <string.h>

// ---- memory -------------------------------------------------------------------------------------

// An index travels as canonical bits: a negative one is above every length.
static uint64_t read_element(const memory *m, uint64_t index) {
  uint64_t bits = 0;
  if (index >= m->length) return 0;
  unsigned size = type_bytes(m->type);
  memcpy(&bits, m->data + index * size, size);
  return type_is_float(m->type) ? bits : type_canonical_bits(m->type, bits);
}

static void write_element(const memory *m, uint64_t index, uint64_t bits) {
  if (index >= m->length) return;
  unsigned size = type_bytes(m->type);
  memcpy(m->data + index * size, &bits, size);
}

static memory find_memory(const machine *m, const frame *f, uint32_t mem) {
  uint32_t i = mem_index(mem);
  if (mem_space(mem) == MEM_BUFFER) return m->buffers[i];
  if (mem_space(mem) == MEM_SHARED) return m->shared[i];
  const inst *array = &m->p->code[i];
  return (memory){f->private_memory + m->private_at[i - m->region->body.first], array->arg[0],
                  (vyre_type)array->type};
}

// Whether x is the new minimum or maximum of floats, so that the last one does not depend on the
// order: a number replaces NaN, and zeros have a sign.
static bool replaces(bool is_min, vyre_type t, uint64_t old, uint64_t x) {
  uint64_t is_equal = eval_op(VYRE_OP_EQ, VYRE_BOOL, t, (uint64_t[3]){x, old});
  bool is_negative = x >> (type_bits(t) - 1) & 1;
  vyre_op order = is_min ? VYRE_OP_LT : VYRE_OP_GT;
  return type_is_nan(t, old) || eval_op(order, VYRE_BOOL, t, (uint64_t[3]){x, old}) ||
         (is_equal && is_negative == is_min);
}

static uint64_t atomic_result(vyre_op op, vyre_type t, uint64_t old, const uint64_t args[2]) {
  static const uint8_t plain[VYRE_OP_COUNT] = {
      [VYRE_OP_ATOMIC_ADD] = VYRE_OP_ADD, [VYRE_OP_ATOMIC_SUB] = VYRE_OP_SUB,
      [VYRE_OP_ATOMIC_MIN] = VYRE_OP_MIN, [VYRE_OP_ATOMIC_MAX] = VYRE_OP_MAX,
      [VYRE_OP_ATOMIC_AND] = VYRE_OP_AND, [VYRE_OP_ATOMIC_OR] = VYRE_OP_OR,
      [VYRE_OP_ATOMIC_XOR] = VYRE_OP_XOR,
  };
  if (op == VYRE_OP_ATOMIC_EXCHANGE) return args[0];
  bool is_float = type_is_float(t);
  if (op == VYRE_OP_ATOMIC_CAS) {
    bool are_nan = is_float && type_is_nan(t, old) && type_is_nan(t, args[0]);
    return old == args[0] || are_nan ? args[1] : old;
  }
  if (is_float && (op == VYRE_OP_ATOMIC_MIN || op == VYRE_OP_ATOMIC_MAX))
    return replaces(op == VYRE_OP_ATOMIC_MIN, t, old, args[0]) ? args[0] : old;
  return eval_op((vyre_op)plain[op], t, t, (uint64_t[3]){old, args[0], 0});
}

// ---- values -------------------------------------------------------------------------------------

uint64_t machine_value(const machine *m, const frame *f, ref r) {
  return ref_is_const(r) ? m->p->consts[ref_index(r)].bits : f->values[r - m->region->body.first];
}

static uint64_t launch_fact(const machine *m, const frame *f, const inst *in) {
  uint32_t i = in->arg[0];
  switch ((vyre_op)in->op) {
  case VYRE_OP_PARAM: return m->l->params[i];
  case VYRE_OP_LEN: return m->buffers[i].length;
  case VYRE_OP_GLOBAL_ID: return f->global[i];
  case VYRE_OP_LOCAL_ID: return f->local[i];
  case VYRE_OP_GROUP_ID: return m->group[i];
  case VYRE_OP_GLOBAL_SIZE: return m->shape->grid[i];
  case VYRE_OP_LOCAL_SIZE: return m->shape->workgroup[i];
  case VYRE_OP_GROUP_COUNT: return m->shape->grid[i] / m->shape->workgroup[i];
  case OPS_COMPUTED:
  case OPS_MEMORY:
  case OPS_STATE:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  VYRE_BUG("ref", "`%s` is no fact of the launch", inst_name(in));
}

static uint64_t linear(const uint64_t at[3], const uint64_t size[3]) {
  return at[0] + size[0] * (at[1] + size[1] * at[2]);
}

static ref_event event_of(const machine *m, const frame *f, const inst *in) {
  const launch_region *s = m->shape;
  uint64_t counts[3];
  for (int k = 0; k < 3; k++) counts[k] = (s->grid[k] + s->workgroup[k] - 1) / s->workgroup[k];
  const uint64_t sizes[3] = {s->workgroup[0], s->workgroup[1], s->workgroup[2]};
  return (ref_event){.instruction = (uint32_t)(in - m->p->code),
                     .invocation = linear(f->global, s->grid),
                     .group = linear(m->group, counts),
                     .local = (uint32_t)linear(f->local, sizes),
                     .phase = m->phase};
}

static void observe_access(const machine *m, frame *f, const inst *in, uint64_t index,
                           uint64_t length) {
  if (!m->observer || !m->observer->access) return;
  ref_event e = event_of(m, f, in);
  e.index = index;
  e.length = length;
  deferral_event(m, f, e.instruction, m->observer->access, &e);
}

static void observe_declaration(const machine *m, const frame *f, const inst *in) {
  if (!m->observer || !m->observer->declare) return;
  ref_event e = event_of(m, f, in);
  m->observer->declare(m->observer->context, &e);
}

static void observe_division(const machine *m, frame *f, const inst *in, uint64_t divisor) {
  bool is_division = in->op == VYRE_OP_DIV || in->op == VYRE_OP_REM;
  if (!is_division || divisor || !type_is_int(in->type)) return;
  if (!m->observer || !m->observer->divide_by_zero) return;
  ref_event e = event_of(m, f, in);
  deferral_event(m, f, e.instruction, m->observer->divide_by_zero, &e);
}

static uint64_t pure_value(const machine *m, frame *f, const inst *in) {
  uint64_t args[3] = {0};
  for (int k = 0; k < op_table[in->op].operand_count; k++)
    args[k] = machine_value(m, f, in->arg[k]);
  observe_division(m, f, in, args[1]);
  vyre_type operand = ref_type(m->p, in->op == VYRE_OP_SELECT ? in->arg[1] : in->arg[0]);
  bool may_flush = promise_may_flush(m->p->target, in);
  for (int k = 0; k < 3 && may_flush; k++) args[k] = promise_flush(m->p->target, operand, args[k]);
  uint64_t made = eval_op((vyre_op)in->op, (vyre_type)in->type, operand, args);
  if (may_flush) made = promise_flush(m->p->target, (vyre_type)in->type, made);
  return in->promised_by ? promise_open_result(in, operand, args[0], made) : made;
}

static uint64_t access_memory(machine *m, frame *f, const inst *in) {
  memory at = find_memory(m, f, in->arg[0]);
  uint64_t index = machine_value(m, f, in->arg[1]), old = 0;
  observe_access(m, f, in, index, at.length);
  bool is_counted = mem_space(in->arg[0]) == MEM_BUFFER && index < at.length;
  if (is_counted) m->bytes += type_bytes(at.type);
  if (in->op != VYRE_OP_STORE) old = read_element(&at, index);
  if (in->op == VYRE_OP_LOAD) return old;
  uint64_t args[2] = {machine_value(m, f, in->arg[2]), 0}, made = args[0];
  if (in->op == VYRE_OP_ATOMIC_CAS) args[1] = machine_value(m, f, in->arg[3]);
  if (op_is_atomic(in->op)) {
    made = atomic_result((vyre_op)in->op, at.type, old, args);
    if (is_counted) m->bytes += type_bytes(at.type);
  }
  write_element(&at, index, made);
  return old;
}

// A word may stick out of the buffer: those bytes are zero, and stay.
static uint64_t access_word(machine *m, const frame *f, const inst *in) {
  memory at = find_memory(m, f, in->arg[0]);
  uint64_t begin = 4 * machine_value(m, f, in->arg[1]),
           size = at.length * type_bytes(at.type) - begin;
  uint32_t old = 0, word = 0;
  unsigned char *data = at.data + begin;
  if (size > 4) size = 4;
  m->bytes += size;
  memcpy(&old, data, size);
  if (in->op == OP_LOAD_WORD) return old;
  word = (uint32_t)machine_value(m, f, in->arg[in->op == OP_CAS_WORD ? 3 : 2]);
  if (in->op == OP_STORE_WORD || old == machine_value(m, f, in->arg[2])) memcpy(data, &word, size);
  return old;
}

static bool is_asked_to_stop(const machine *m) {
  const ref_observer *o = m->observer;
  return o && o->is_asked_to_stop && o->is_asked_to_stop(o->context);
}

// In elements, or in words that begin inside.
static uint64_t memory_length(const machine *m, const frame *f, const inst *in) {
  memory at = find_memory(m, f, in->arg[0]);
  return op_is_word_access(in->op) ? (at.length * type_bytes(at.type) + 3) / 4 : at.length;
}

static bool keeps_promise(const machine *m, const frame *f, const inst *in) {
  if (in->op == VYRE_OP_CONVERT && m->p->target->converts_any) return true; // the result is open
  const char *operands = op_table[in->op].operands;
  uint64_t args[4] = {0};
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v') args[k] = machine_value(m, f, in->arg[k]);
  bool is_memory = operands[0] == 'm';
  uint64_t length = is_memory ? memory_length(m, f, in) : 0;
  return promise_holds(in, ref_type(m->p, in->arg[is_memory]), args, length);
}

static void step_value(machine *m, frame *f, uint32_t i) {
  const inst *in = &m->p->code[i];
  uint32_t first = m->region->body.first;
  uint64_t *slot = &f->values[i - first];
  if (op_is_word_access(in->op)) *slot = access_word(m, f, in);
  if (in->op == OP_PARAM_WORD)
    *slot = (uint32_t)(m->l->params[in->arg[0]] >> 32 * machine_value(m, f, in->arg[1]));
  switch ((vyre_op)in->op) {
  case VYRE_OP_VAR: *slot = machine_value(m, f, in->arg[0]); break;
  case VYRE_OP_GET: *slot = f->values[in->arg[0] - first]; break;
  case VYRE_OP_SET: f->values[in->arg[0] - first] = machine_value(m, f, in->arg[1]); break;
  case VYRE_OP_ARRAY:
    observe_declaration(m, f, in);
    memset(f->private_memory + m->private_at[i - first], 0,
           (size_t)in->arg[0] * type_bytes(in->type));
    break;
  case OPS_MEMORY: *slot = access_memory(m, f, in); break;
  case OPS_LAUNCH: *slot = launch_fact(m, f, in); break;
  case OPS_COMPUTED: *slot = pure_value(m, f, in); break;
  case (vyre_op)OP_STOP_ASKED: *slot = is_asked_to_stop(m); break;
  case OPS_STRUCTURE:
  case VYRE_OP_NONE: break;
  }
}

// ---- structure ----------------------------------------------------------------------------------

static uint32_t begin_for(const machine *m, frame *f, uint32_t i) {
  const inst *in = &m->p->code[i];
  uint32_t slot = i - m->region->body.first;
  uint64_t lo = machine_value(m, f, in->arg[0]), hi = machine_value(m, f, in->arg[1]);
  f->values[slot] = lo;
  f->trips[slot] = eval_trip_count((vyre_type)in->type, lo, hi, machine_value(m, f, in->arg[2]));
  return f->trips[slot] ? i + 1 : in->arg[3] + 1;
}

// Where a loop goes on after an iteration: in its body with the next value, at its condition, or
// behind it.
static uint32_t next_iteration(const machine *m, frame *f, uint32_t loop) {
  const inst *in = &m->p->code[loop];
  if (in->op == VYRE_OP_WHILE) return loop + 1;
  uint32_t slot = loop - m->region->body.first;
  if (--f->trips[slot] == 0) return in->arg[3] + 1;
  uint64_t next = f->values[slot] + machine_value(m, f, in->arg[2]);
  f->values[slot] = type_canonical_bits((vyre_type)in->type, next);
  return loop + 1;
}

// Executes a structure operation and returns where to go on.
static uint32_t step_structure(const machine *m, frame *f, uint32_t i) {
  const inst *code = m->p->code, *in = &code[i];
  switch ((vyre_op)in->op) {
  case VYRE_OP_IF:
    if (machine_value(m, f, in->arg[0])) return i + 1;
    return (in->arg[1] ? in->arg[1] : in->arg[2]) + 1;
  case VYRE_OP_ELSE: return in->arg[2] + 1; // the first block ran to its end
  case VYRE_OP_FOR: return begin_for(m, f, i);
  case VYRE_OP_DO: return machine_value(m, f, in->arg[0]) ? i + 1 : in->arg[2] + 1;
  case VYRE_OP_END:
    return code[in->arg[1]].op == VYRE_OP_IF ? i + 1 : next_iteration(m, f, in->arg[1]);
  case VYRE_OP_BREAK: return inst_end(&code[in->arg[1]]) + 1;
  case VYRE_OP_CONTINUE: return next_iteration(m, f, in->arg[1]);
  case VYRE_OP_RETURN: f->stop = DONE; return i;
  case VYRE_OP_BARRIER: f->stop = AT_BARRIER; return i + 1;
  case VYRE_OP_WHILE:
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case OPS_STATE:
  case OPS_NONE: break;
  }
  return i + 1;
}

// Looking at the clock costs more than an operation.
static bool is_late(machine *m) {
  enum { CLOCK_EVERY = 4096 };
  if (m->ticks++ % CLOCK_EVERY) return false;
  if (m->l->stop && *m->l->stop) return true;
  return m->l->timeout_ns && clock_now_ns() > m->l->deadline_ns;
}

static void step(machine *m, frame *f) {
  if (f->deferred) deferral_before(m, f, f->pc);
  if (op_is_structure(m->p->code[f->pc].op)) {
    f->pc = step_structure(m, f, f->pc);
  } else {
    step_value(m, f, f->pc);
    f->pc++;
  }
}

void machine_run(machine *m, frame *f) {
  f->stop = is_late(m) ? OUT_OF_TIME : RUNNING; // a body may have no operation at all
  while (f->stop == RUNNING) {
    if (f->pc == m->region->body.end) {
      f->stop = DONE;
    } else if (m->l->fuel && m->operations >= m->l->fuel) {
      f->stop = OUT_OF_FUEL;
    } else if (m->operations++, is_late(m)) {
      f->stop = OUT_OF_TIME;
    } else if (m->p->code[f->pc].promised_by && !keeps_promise(m, f, &m->p->code[f->pc])) {
      f->stop = BROKEN_PROMISE;
      m->broken = f->pc;
    } else {
      step(m, f);
    }
  }
}
