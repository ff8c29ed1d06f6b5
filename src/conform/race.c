// SPDX-License-Identifier: MIT
//
// Accesses are logged per region and sorted by element. The accesses of one element are fine when
// they all read, or are all atomics of one commutative kind whose results nobody uses; otherwise
// they must come from one workgroup, and in each of its phases from one invocation. Sums of floats
// commute when they are exact: what is added is converted from an integer of 8 bits.
#include "conform/race.h"

#include "backend/ref/ref.h"
#include "base/vec.h"
#include "ir/math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOG = 1 << 22 };

typedef struct entry {
  uint32_t region, memory, instruction;
  ref_access access;
} entry;

typedef struct recorder {
  const vyre_program *p;
  vec(entry) log;
  bool *uses_result; // per operation: somebody looks at the atomic's result
  bool is_full;
} recorder;

static uint32_t region_of(const vyre_program *p, uint32_t instruction) {
  uint32_t i = 0;
  while (instruction >= p->regions[i].body.end) i++;
  return i;
}

static void record(void *context, const ref_access *access) {
  recorder *r = context;
  if (r->is_full) return;
  entry e = {.region = region_of(r->p, access->instruction),
             .memory = r->p->code[access->instruction].arg[0],
             .instruction = access->instruction,
             .access = *access};
  r->is_full = r->log.count >= MAX_LOG || !vec_push(&r->log, e);
}

static int compare_numbers(uint64_t x, uint64_t y) {
  return x < y ? -1 : x > y;
}

static int by_element(const void *left, const void *right) {
  const entry *x = left, *y = right;
  int order = compare_numbers(x->region, y->region);
  if (!order) order = compare_numbers(x->memory, y->memory);
  // Each workgroup has shared arrays of its own.
  if (!order && mem_space(x->memory) == MEM_SHARED)
    order = compare_numbers(x->access.group, y->access.group);
  if (!order) order = compare_numbers(x->access.index, y->access.index);
  if (!order) order = compare_numbers(x->access.group, y->access.group);
  if (!order) order = compare_numbers(x->access.phase, y->access.phase);
  return order ? order : compare_numbers(x->access.invocation, y->access.invocation);
}

static bool is_same_element(const entry *x, const entry *y) {
  return x->region == y->region && x->memory == y->memory && x->access.index == y->access.index &&
         (mem_space(x->memory) == MEM_BUFFER || x->access.group == y->access.group);
}

static bool is_small_whole(const vyre_program *p, ref value) {
  if (ref_is_const(value) || p->code[value].op != VYRE_OP_CONVERT) return false;
  vyre_type from = ref_type(p, p->code[value].arg[0]);
  return type_is_int(from) && type_bits(from) == 8;
}

// The kind of an access: accesses of one kind commute, unless it is 0.
static uint32_t kind_of(const recorder *r, const entry *e) {
  const inst *in = &r->p->code[e->instruction];
  uint32_t op = in->op;
  if (op == VYRE_OP_LOAD) return op;
  bool is_float_sum = op <= VYRE_OP_ATOMIC_SUB && op_is_atomic(op) && type_is_float(in->type);
  if (is_float_sum && !is_small_whole(r->p, in->arg[2])) return 0;
  if (!op_is_atomic(op) || op >= VYRE_OP_ATOMIC_EXCHANGE || r->uses_result[e->instruction])
    return 0;
  return op == VYRE_OP_ATOMIC_SUB ? VYRE_OP_ATOMIC_ADD : op;
}

static bool do_conflict(const recorder *r, const entry *x, const entry *y) {
  if (x->access.invocation == y->access.invocation) return false;
  if (x->access.group == y->access.group && x->access.phase != y->access.phase) return false;
  uint32_t kind = kind_of(r, x);
  return kind == 0 || kind != kind_of(r, y);
}

// Entries of one element in one region. When they do not all commute, those of different groups
// conflict: with one that commutes with nothing, any other does; and of two kinds, one differs from
// whatever another group does. The same holds for the invocations of one phase.
static bool has_conflict(const recorder *r, const entry *first, const entry *end) {
  bool all_commute = kind_of(r, first) != 0, is_one_group = true;
  for (const entry *e = first; e < end; e++) {
    all_commute &= kind_of(r, e) == kind_of(r, first);
    is_one_group &= e->access.group == first->access.group;
  }
  if (all_commute || !is_one_group) return !all_commute;
  if (first->access.phase == end[-1].access.phase)
    return first->access.invocation != end[-1].access.invocation;
  for (const entry *from = first, *to; from < end; from = to) {
    for (to = from; to < end && to->access.phase == from->access.phase;) to++;
    if (has_conflict(r, from, to)) return true;
  }
  return false;
}

static void find_pair(const recorder *r, const entry *first, const entry *end,
                      const entry *found[2]) {
  for (found[0] = first; found[0] < end; found[0]++)
    for (found[1] = found[0] + 1; found[1] < end; found[1]++)
      if (do_conflict(r, found[0], found[1])) return;
}

static const char *memory_name(const vyre_program *p, uint32_t memory) {
  return mem_space(memory) == MEM_BUFFER ? p->buffers[mem_index(memory)].name
                                         : p->shared[mem_index(memory)].name;
}

static void search(recorder *r, race_report *out) {
  if (r->log.count) qsort(r->log.at, r->log.count, sizeof *r->log.at, by_element);
  for (size_t i = 0, end; i < r->log.count; i = end) {
    for (end = i + 1; end < r->log.count; end++)
      if (!is_same_element(&r->log.at[i], &r->log.at[end])) break;
    const entry *found[2] = {&r->log.at[i], &r->log.at[i]};
    if (!has_conflict(r, &r->log.at[i], r->log.at + end)) continue;
    find_pair(r, &r->log.at[i], r->log.at + end, found);
    out->verdict = RACE_FOUND;
    for (int k = 0; k < 2; k++) out->instructions[k] = found[k]->instruction;
    snprintf(out->text, sizeof out->text,
             "in region `%.60s`, invocations %llu and %llu both use %.60s[%llu] (%s, %s)",
             r->p->regions[found[0]->region].name, (unsigned long long)found[0]->access.invocation,
             (unsigned long long)found[1]->access.invocation, memory_name(r->p, found[0]->memory),
             (unsigned long long)found[0]->access.index,
             op_table[r->p->code[found[0]->instruction].op].name,
             op_table[r->p->code[found[1]->instruction].op].name);
    return;
  }
}

// An atomic's result is used when anything but `r ^ r` mentions it.
static bool find_uses(recorder *r) {
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
  return true;
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
    status = ref_run(r->p, &l, &(ref_observer){.access = record, .context = r}, &report, error);
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
  recorder r = {.p = expanded};
  bool ok = find_uses(&r);
  if (ok) {
    vyre_status status = run_observed(t, fuel, &r, &error);
    ok = status != VYRE_ERROR_MEMORY;
    if (status != VYRE_OK || r.is_full) {
      out->verdict = RACE_UNKNOWN;
      snprintf(out->text, sizeof out->text, "%.290s",
               status ? error.message : "too many accesses to look at");
    } else {
      search(&r, out);
    }
  }
  vec_free(&r.log);
  free(r.uses_result);
  vyre_program_release(expanded);
  return ok;
}
