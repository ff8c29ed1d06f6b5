// SPDX-License-Identifier: MIT
#include "backend/watch/findings.h"

#include "base/format.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_MOST = 10 };

const char *vyre_finding_name(vyre_finding_kind kind) {
  switch (kind) {
  case VYRE_FINDING_BOUNDS: return "bounds";
  case VYRE_FINDING_RACE: return "race";
  case VYRE_FINDING_UNSET: return "unset";
  case VYRE_FINDING_BARRIER: return "barrier";
  case VYRE_FINDING_DIVISION: return "division";
  case VYRE_FINDING_KINDS: break;
  }
  return "unknown";
}

bool findings_init(findings *f, const vyre_program *p, const launch *l) {
  *f = (findings){.p = p, .l = l};
  f->numbers = calloc((size_t)VYRE_FINDING_KINDS * p->code_count, sizeof *f->numbers);
  return f->numbers != NULL;
}

void findings_fini(findings *f) {
  vec_free(&f->list);
  free(f->numbers);
  *f = (findings){0};
}

uint32_t findings_region(const vyre_program *p, uint32_t instruction) {
  uint32_t i = 0;
  while (instruction >= p->regions[i].body.end) i++;
  return i;
}

void findings_place(const findings *f, uint32_t region, uint64_t invocation, uint64_t out[3]) {
  const uint64_t *grid = f->l->regions[region].grid;
  out[0] = invocation % grid[0];
  out[1] = invocation / grid[0] % grid[1];
  out[2] = invocation / grid[0] / grid[1];
}

static const char *memory_name(const vyre_program *p, uint32_t instruction) {
  const inst *in = &p->code[instruction];
  if (op_table[in->op].operands[0] != 'm') return NULL;
  uint32_t i = mem_index(in->arg[0]);
  if (mem_space(in->arg[0]) == MEM_BUFFER) return p->buffers[i].name;
  if (mem_space(in->arg[0]) == MEM_SHARED) return p->shared[i].name;
  return p->names && p->names[i] ? p->names[i] : "an array";
}

vyre_finding *findings_add(findings *f, vyre_finding_kind kind, uint32_t instruction,
                           uint64_t invocation) {
  f->counts[kind]++;
  uint32_t *number = &f->numbers[(size_t)kind * f->p->code_count + instruction];
  if (*number) {
    f->list.at[*number - 1].count++;
    return NULL;
  }
  uint32_t region = findings_region(f->p, instruction);
  vyre_finding made = {.kind = kind,
                       .count = 1,
                       .program = f->p->name,
                       .region = f->p->regions[region].name,
                       .file = f->p->source_name,
                       .operation = op_table[f->p->code[instruction].op].name,
                       .memory = memory_name(f->p, instruction)};
  made.line = program_line(f->p, instruction, &made.column);
  findings_place(f, region, invocation, made.invocation);
  f->failed |= !vec_push(&f->list, made);
  if (f->failed) return NULL;
  *number = (uint32_t)f->list.count;
  return &f->list.at[*number - 1];
}

// ---- texts --------------------------------------------------------------------------------------

// (3), (3, 4) or (3, 4, 5): as many axes as the region has.
static void add_invocation(strbuf *s, const findings *f, const char *region, const uint64_t at[3]) {
  uint32_t i = 0;
  while (i + 1 < f->p->region_count && strcmp(f->p->regions[i].name, region)) i++;
  for (uint32_t k = 0; k < f->p->regions[i].rank; k++)
    strbuf_printf(s, "%s%" PRIu64, k ? ", " : "(", at[k]);
  strbuf_puts(s, ")");
}

static void add_element(strbuf *s, const vyre_finding *v) {
  strbuf_printf(s, "%.60s[%" PRId64 "]", v->memory, v->index);
}

static void add_times(strbuf *s, const vyre_finding *v, const char *what) {
  if (v->count > 1) strbuf_printf(s, ", %" PRIu64 " %s in all", v->count, what);
}

static void describe(strbuf *s, const findings *f, const vyre_finding *v) {
  switch (v->kind) {
  case VYRE_FINDING_BOUNDS:
    strbuf_printf(s, "%s outside: ", v->operation);
    add_element(s, v);
    strbuf_printf(s, ", which has %" PRIu64 " element%s, by invocation ", v->length,
                  v->length == 1 ? "" : "s");
    add_invocation(s, f, v->region, v->invocation);
    add_times(s, v, "times");
    strbuf_puts(s, ". Fix: make it longer, or guard the access with a condition");
    return;
  case VYRE_FINDING_RACE:
    strbuf_puts(s, "data race: invocations ");
    add_invocation(s, f, v->region, v->other_invocation);
    strbuf_puts(s, " and ");
    add_invocation(s, f, v->region, v->invocation);
    strbuf_puts(s, " both use ");
    add_element(s, v);
    strbuf_printf(s, " (%s", v->other);
    if (v->other_line) strbuf_printf(s, " in line %u", v->other_line);
    strbuf_printf(s, ", %s)", v->operation);
    add_times(s, v, "elements");
    strbuf_puts(s, ". Fix: put a barrier between, use an atomic, or give each its own element");
    return;
  case VYRE_FINDING_UNSET:
    strbuf_puts(s, "nobody wrote ");
    add_element(s, v);
    strbuf_puts(s, " before invocation ");
    add_invocation(s, f, v->region, v->invocation);
    strbuf_puts(s, " reads it");
    add_times(s, v, "times");
    strbuf_puts(s, ". Fix: write it first; it is zero here, and anything elsewhere");
    return;
  case VYRE_FINDING_BARRIER:
    strbuf_puts(s, "invocation ");
    add_invocation(s, f, v->region, v->invocation);
    strbuf_puts(s, " waits at this barrier, and invocation ");
    add_invocation(s, f, v->region, v->other_invocation);
    if (v->other_line)
      strbuf_printf(s, " of its workgroup at the one in line %u", v->other_line);
    else
      strbuf_puts(s, " of its workgroup has ended");
    strbuf_puts(s, ". Fix: move the barrier out of the condition, or let no invocation leave "
                   "before it");
    return;
  case VYRE_FINDING_DIVISION:
    strbuf_printf(s, "%s by zero, by invocation ",
                  !strcmp(v->operation, "rem") ? "remainder of a division" : "division");
    add_invocation(s, f, v->region, v->invocation);
    add_times(s, v, "times");
    strbuf_puts(s, ". Fix: guard it; here the quotient is 0 and the remainder the dividend");
    return;
  case VYRE_FINDING_KINDS: return;
  }
}

static void write_text(const findings *f, vyre_finding *v) {
  strbuf s = {0};
  describe(&s, f, v);
  char *text = strbuf_take(&s, NULL);
  format_text(v->text, sizeof v->text, "%s", text ? text : "");
  free(text);
}

void findings_tell(findings *f, uint32_t most, void (*found)(void *, const vyre_finding *),
                   void *data) {
  for (int kind = 0; found && kind < VYRE_FINDING_KINDS; kind++) {
    uint32_t left = most ? most : USUAL_MOST;
    for (size_t i = 0; i < f->list.count && left; i++) {
      if ((int)f->list.at[i].kind != kind) continue;
      write_text(f, &f->list.at[i]);
      found(data, &f->list.at[i]);
      left--;
    }
  }
}
