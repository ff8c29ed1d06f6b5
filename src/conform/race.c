// SPDX-License-Identifier: MIT
//
// What commutes here is stricter than what a person is told about: the answer must not depend on
// the order. Loads do, and atomics of one commutative kind whose results nobody uses. Sums of
// floats commute when they are exact: what is added is converted from an integer of 8 bits.
#include "conform/race.h"

#include "backend/ref/ref.h"
#include "backend/watch/findings.h"
#include "backend/watch/shadow.h"
#include "ir/math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct recorder {
  const vyre_program *p;
  bool *uses_result; // per operation: somebody looks at the atomic's result
  uint16_t *kinds;   // per operation: accesses of one kind commute, unless it is 0
  shadow *shadow;
  race_report *out;
} recorder;

static const char *memory_name(const vyre_program *p, uint32_t memory) {
  return mem_space(memory) == MEM_BUFFER ? p->buffers[mem_index(memory)].name
                                         : p->shared[mem_index(memory)].name;
}

static void record(void *context, const ref_event *e) {
  recorder *r = context;
  const vyre_program *p = r->p;
  uint32_t memory = p->code[e->instruction].arg[0];
  uint32_t region = findings_region(p, e->instruction);
  shadow_access other;
  if (e->index >= e->length || mem_space(memory) == MEM_PRIVATE) return;
  if (!shadow_conflicts(r->shadow, region, e, &other) || r->out->verdict == RACE_FOUND) return;
  r->out->verdict = RACE_FOUND;
  r->out->instructions[0] = other.instruction;
  r->out->instructions[1] = e->instruction;
  snprintf(r->out->text, sizeof r->out->text,
           "in region `%.60s`, invocations %llu and %llu both use %.60s[%llu] (%s, %s)",
           p->regions[region].name, (unsigned long long)other.invocation,
           (unsigned long long)e->invocation, memory_name(p, memory), (unsigned long long)e->index,
           op_table[p->code[other.instruction].op].name, op_table[p->code[e->instruction].op].name);
}

static bool is_small_whole(const vyre_program *p, ref value) {
  if (ref_is_const(value) || p->code[value].op != VYRE_OP_CONVERT) return false;
  vyre_type from = ref_type(p, p->code[value].arg[0]);
  return type_is_int(from) && type_bits(from) == 8;
}

static uint16_t kind_of(const recorder *r, uint32_t instruction) {
  const inst *in = &r->p->code[instruction];
  uint8_t op = in->op;
  if (op == VYRE_OP_LOAD) return op;
  bool is_float_sum = op <= VYRE_OP_ATOMIC_SUB && op_is_atomic(op) && type_is_float(in->type);
  if (is_float_sum && !is_small_whole(r->p, in->arg[2])) return 0;
  if (!op_is_atomic(op) || op >= VYRE_OP_ATOMIC_EXCHANGE || r->uses_result[instruction]) return 0;
  return op == VYRE_OP_ATOMIC_SUB ? VYRE_OP_ATOMIC_ADD : op;
}

// An atomic's result is used when anything but `r ^ r` mentions it.
static bool find_kinds(recorder *r) {
  const vyre_program *p = r->p;
  r->uses_result = calloc(p->code_count + 1u, sizeof *r->uses_result);
  if (!r->uses_result) return false;
  for (uint32_t i = 1; i < p->code_count; i++) {
    const inst *in = &p->code[i];
    if (in->op == VYRE_OP_XOR && in->arg[0] == in->arg[1]) continue;
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && !ref_is_const(in->arg[k])) r->uses_result[in->arg[k]] = true;
  }
  r->kinds = calloc(p->code_count + 1u, sizeof *r->kinds);
  for (uint32_t i = 1; r->kinds && i < p->code_count; i++) r->kinds[i] = kind_of(r, i);
  return r->kinds != NULL;
}

static vyre_status run_observed(const trial *t, uint64_t fuel, recorder *r, vyre_error *error) {
  trial copy;
  if (!trial_copy(t, &copy)) return VYRE_ERROR_MEMORY;
  vyre_dispatch_args args = {.params = copy.params,
                             .param_count = copy.param_count,
                             .buffers = copy.buffers,
                             .buffer_count = copy.buffer_count,
                             .fuel = fuel};
  memcpy(args.workgroup, copy.workgroup, sizeof args.workgroup);
  launch l;
  vyre_status status = launch_init(&l, r->p, &args, error);
  if (status == VYRE_OK) {
    vyre_report report = {0};
    r->shadow = shadow_new(r->p, &l, r->kinds);
    ref_observer observer = {.access = record, .context = r};
    status = r->shadow ? ref_run(r->p, &l, &observer, &report, error) : VYRE_ERROR_MEMORY;
    if (status == VYRE_OK && shadow_failed(r->shadow)) status = VYRE_ERROR_MEMORY;
    shadow_free(r->shadow);
    launch_fini(&l);
  }
  trial_fini(&copy);
  return status;
}

bool race_check(const trial *t, uint64_t fuel, race_report *out) {
  *out = (race_report){.verdict = RACE_FREE};
  vyre_program *expanded;
  vyre_error error = {0};
  if (math_expand(t->program, &expanded, &error) != VYRE_OK) return false;
  recorder r = {.p = expanded, .out = out};
  bool ok = find_kinds(&r);
  if (ok) {
    vyre_status status = run_observed(t, fuel, &r, &error);
    ok = status != VYRE_ERROR_MEMORY;
    if (status != VYRE_OK) {
      *out = (race_report){.verdict = RACE_UNKNOWN};
      snprintf(out->text, sizeof out->text, "%.290s", error.message);
    }
  }
  free(r.kinds);
  free(r.uses_result);
  vyre_program_release(expanded);
  return ok;
}
