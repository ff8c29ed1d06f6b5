// SPDX-License-Identifier: MIT
#include "backend/watch/instrument.h"

#include "base/error.h"
#include "ir/builder.h"
#include "ir/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct instrumenting {
  const vyre_program *from;
  vyre_builder *b;
  ref *map;
  uint32_t shared_shift;
  const region *region;
  vyre_mem counted;
  instrumented *out;
} instrumenting;

static bool is_access(const inst *in) {
  return op_table[in->op].operands[0] == 'm';
}

static bool is_counted(const inst *in) {
  return is_access(in) ||
         ((in->op == VYRE_OP_DIV || in->op == VYRE_OP_REM) && type_is_int(in->type));
}

static uint32_t count_places(const vyre_program *p) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->region_count; i++)
    for (uint32_t k = p->regions[i].body.first; k < p->regions[i].body.end; k++)
      count += is_counted(&p->code[k]);
  return count;
}

static ref u32(instrumenting *s, uint64_t value) {
  return vyre_build_const(s->b, VYRE_U32, value);
}

static ref length_of(instrumenting *s, uint32_t memory) {
  uint32_t i = mem_index(memory);
  if (mem_space(memory) == MEM_SHARED) return u32(s, s->from->shared[i].length);
  if (mem_space(memory) == MEM_PRIVATE) return u32(s, s->from->code[i].arg[0]);
  return vyre_build_len(s->b, (vyre_mem){MEM_REF(MEM_BUFFER, i)});
}

// As its bits travel: a negative one is above every length.
static ref as_u64(instrumenting *s, ref value) {
  vyre_type type = vyre_build_type_of(s->b, value);
  vyre_type wide = type_is_signed(type) ? VYRE_I64 : VYRE_U64;
  ref made = type == wide ? value : vyre_build_convert(s->b, wide, value);
  return wide == VYRE_I64 ? vyre_build_bitcast(s->b, VYRE_U64, made) : made;
}

// What is counted when it is true; `value` is the index, or what is divided by. A comparison in the
// index's own type is one that passes know how to prove.
static ref find_fault(instrumenting *s, const inst *in, ref value) {
  vyre_type type = vyre_build_type_of(s->b, value);
  if (!is_access(in))
    return vyre_build_binary(s->b, VYRE_OP_EQ, value, vyre_build_const(s->b, type, 0));
  ref length = length_of(s, in->arg[0]);
  if (type == VYRE_U32) return vyre_build_binary(s->b, VYRE_OP_GE, value, length);
  return vyre_build_binary(s->b, VYRE_OP_GE, as_u64(s, value), as_u64(s, length));
}

static void store_word(instrumenting *s, uint32_t at, ref word) {
  vyre_build_store(s->b, s->counted, u32(s, at), word);
}

static void count_fault(instrumenting *s, uint32_t i) {
  uint32_t at = s->out->place_count * INSTRUMENT_WORDS;
  s->out->places[s->out->place_count++] = i;
  const inst *in = &s->from->code[i];
  ref value = builder_map_ref(s->b, s->from, in->arg[1], s->map);
  vyre_build_if(s->b, find_fault(s, in, value));
  ref old = vyre_build_atomic(s->b, VYRE_OP_ATOMIC_ADD, s->counted, u32(s, at), u32(s, 1));
  vyre_build_if(s->b, vyre_build_binary(s->b, VYRE_OP_EQ, old, u32(s, 0)));
  for (uint32_t axis = 0; axis < s->region->rank; axis++)
    store_word(s, at + 1 + axis, vyre_build_id(s->b, VYRE_OP_GLOBAL_ID, axis));
  ref shift = vyre_build_const(s->b, VYRE_U64, 32), shown = as_u64(s, value);
  ref high = vyre_build_binary(s->b, VYRE_OP_SHR, shown, shift);
  store_word(s, at + 4, vyre_build_convert(s->b, VYRE_U32, shown));
  store_word(s, at + 5, vyre_build_convert(s->b, VYRE_U32, high));
  vyre_build_end(s->b);
  vyre_build_end(s->b);
}

static void copy_region(instrumenting *s, uint32_t index) {
  const vyre_program *p = s->from;
  s->region = &p->regions[index];
  s->shared_shift = builder_begin_like(s->b, p, index, s->map);
  for (uint32_t i = s->region->body.first; i < s->region->body.end; i++) {
    if (is_counted(&p->code[i])) count_fault(s, i);
    builder_copy_inst(s->b, p, i, s->map, s->shared_shift);
  }
  vyre_build_region_end(s->b);
}

// A name that the program does not have.
static void name_buffer(const vyre_program *p, char name[LIMIT_NAME + 1]) {
  bool is_taken = true;
  for (uint32_t n = 0; is_taken; n++) {
    snprintf(name, LIMIT_NAME, n ? "counted_%u" : "counted", n);
    is_taken = false;
    for (uint32_t i = 0; i < p->buffer_count; i++) is_taken |= !strcmp(p->buffers[i].name, name);
    for (uint32_t i = 0; i < p->param_count; i++) is_taken |= !strcmp(p->params[i].name, name);
  }
}

static vyre_status rewrite(instrumenting *s, uint32_t count, vyre_error *error) {
  const vyre_program *p = s->from;
  char name[LIMIT_NAME + 1];
  name_buffer(p, name);
  builder_copy_interface(s->b, p);
  s->counted = vyre_build_buffer(s->b, name, VYRE_U32, VYRE_READWRITE,
                                 u32(s, (uint64_t)count * INSTRUMENT_WORDS));
  for (uint32_t i = 0; i < p->region_count; i++) copy_region(s, i);
  return vyre_builder_finish(s->b, &s->out->program, error);
}

vyre_status instrument(vyre_program *program, instrumented *out, vyre_error *error) {
  uint32_t count = count_places(program);
  *out = (instrumented){0};
  if (!count) return VYRE_OK;
  if (program->buffer_count == LIMIT_BUFFERS)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "program `%s` has %u buffers, and counting needs one more. Fix: check it on "
                     "the reference",
                     program->name, program->buffer_count);
  instrumenting s = {.from = program, .b = vyre_builder_new(""), .out = out};
  s.map = calloc(program->code_count, sizeof *s.map);
  out->places = calloc(count, sizeof *out->places);
  vyre_status status =
      s.b && s.map && out->places ? rewrite(&s, count, error) : error_out_of_memory(error);
  free(s.map);
  vyre_builder_free(s.b);
  if (status != VYRE_OK) instrument_fini(out);
  return status;
}

void instrument_fini(instrumented *made) {
  vyre_program_release(made->program);
  free(made->places);
  *made = (instrumented){0};
}

static uint64_t length_here(const findings *f, uint32_t memory) {
  uint32_t i = mem_index(memory);
  if (mem_space(memory) == MEM_BUFFER) return f->l->buffers[i].length;
  return mem_space(memory) == MEM_SHARED ? f->p->shared[i].length : f->p->code[i].arg[0];
}

void instrument_findings(const instrumented *made, const uint32_t *counted, findings *f) {
  for (uint32_t i = 0; i < made->place_count; i++, counted += INSTRUMENT_WORDS) {
    if (!counted[0]) continue;
    const inst *in = &f->p->code[made->places[i]];
    vyre_finding_kind kind = is_access(in) ? VYRE_FINDING_BOUNDS : VYRE_FINDING_DIVISION;
    vyre_finding *found = findings_add(f, kind, made->places[i], 0);
    if (!found) return;
    for (int k = 0; k < 3; k++) found->invocation[k] = counted[1 + k];
    found->count = counted[0];
    f->counts[kind] += counted[0] - 1u;
    if (!is_access(in)) continue;
    found->index = (int64_t)((uint64_t)counted[4] | (uint64_t)counted[5] << 32);
    found->length = length_here(f, in->arg[0]);
  }
}
