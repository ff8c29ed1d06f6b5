// SPDX-License-Identifier: MIT
#include "backend/opencl/emit.h"

#include "backend/traits.h"
#include "backend/spell/spell.h"
#include "base/error.h"
#include "base/format.h"
#include "base/vec.h"
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

const lower_target opencl_full_target = {
    .name = "opencl",
    .has_f64 = true,
    .has_i64 = true,
    .has_small_storage = true,
    .keeps_f32_subnormals = true,
    .keeps_f64_subnormals = true,
    .rounds_f32_division = true,
    .rounds_f64_division = true,
    .has_f32_fma = true,
    .has_f64_fma = true,
    .has_f32_rounding = true,
    .has_f64_rounding = true,
    .has_rint = true,
    .has_bit_counts = true,
    .has_mulhi = true,
    .has_small_buffers = true, // room.c sees to it
    .has_i64_atomics = true,
    .has_i64_extended_atomics = true,
    .pads_grid = true,
};

// ---- the dialect --------------------------------------------------------------------------------

// OpenCL C has no compare-exchange of floats: their bits are exchanged, and a NaN is whichever is
// there.
static const char float_cas[] =
    "#define CAS(NAME, SPACE, T, U, INF, AS_T, AS_U, CMPXCHG) \\\n"
    "  static T NAME(volatile SPACE T *at, T x, T y) { \\\n"
    "    U want = AS_U(x), old; \\\n"
    "    do { \\\n"
    "      old = CMPXCHG((volatile SPACE U *)at, want, AS_U(y)); \\\n"
    "      if (old == want) break; \\\n"
    "      bool are_nan = old << 1 > INF && want << 1 > INF; \\\n"
    "      want = old; \\\n"
    "      if (!are_nan) break; \\\n"
    "    } while (true); \\\n"
    "    return AS_T(old); \\\n"
    "  }\n";
static const char f32_cas[] =
    "CAS(cas_f32_global, __global, float, uint, 0xff000000u, as_float, as_uint, atomic_cmpxchg)\n"
    "CAS(cas_f32_local, __local, float, uint, 0xff000000u, as_float, as_uint, atomic_cmpxchg)\n";
static const char f64_cas[] =
    "CAS(cas_f64_global, __global, double, ulong, 0xffe0000000000000UL, as_double, as_ulong, "
    "atom_cmpxchg)\n"
    "CAS(cas_f64_local, __local, double, ulong, 0xffe0000000000000UL, as_double, as_ulong, "
    "atom_cmpxchg)\n";

static const char *atomic_name(const inst *in, char name[40]) {
  static const char *const stems[] = {"add", "sub", "min",  "max",    "and",
                                      "or",  "xor", "xchg", "cmpxchg"};
  if (type_is_float(in->type)) {
    format_text(name, 40, "cas_%s_%s", vyre_type_name((vyre_type)in->type),
                mem_space(in->arg[0]) == MEM_SHARED ? "local" : "global");
    return name;
  }
  format_text(name, 40, "%s_%s", type_bits(in->type) == 64 ? "atom" : "atomic",
              stems[in->op - VYRE_OP_ATOMIC_ADD]);
  return name;
}

static void put_barrier(speller *s) {
  spell_line(s, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
}

static void put_leave(speller *s) {
  spell_line(s, "return;");
}

static const dialect opencl_dialect = {
    .types = {"void", "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
              "float", "double"},
    .memory_bool = "uchar",
    .wide_suffix = "UL",
    .f32_suffix = "",
    .bits_of = {"as_uint", "as_ulong"},
    .float_of = {"as_float", "as_double"},
    .launch_prefix = "",
    .shared_prefix = "",
    .stop = "*stop != 0u",
    .facts = {"(uint)get_global_id(%u)", "(uint)get_local_id(%u)", "(uint)get_group_id(%u)",
              "grid_%u", NULL, "(uint)get_num_groups(%u)"},
    .atomic = atomic_name,
    .barrier = put_barrier,
    .leave = put_leave,
};

// The grid of a polled kernel may be cut into pieces, whose workgroups are numbered from 0.
static dialect dialect_for(bool is_polled) {
  dialect d = opencl_dialect;
  if (!is_polled) return d;
  d.facts[VYRE_OP_GROUP_ID - VYRE_OP_GLOBAL_ID] = "((uint)get_global_id(%u) / %uu)";
  d.facts[VYRE_OP_GROUP_COUNT - VYRE_OP_GLOBAL_ID] = "grid_%u / %uu";
  return d;
}

// ---- kernels ------------------------------------------------------------------------------------

typedef vec(opencl_arg) arg_list;

static bool find_args(const speller *s, const spell_usage *u, arg_list *args) {
  const vyre_program *p = s->p;
  bool ok = true;
  for (uint32_t i = 0; i < p->param_count; i++)
    if (u->params[i]) ok &= vec_push(args, (opencl_arg){ARG_PARAM, i});
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (u->buffers[i]) ok &= vec_push(args, (opencl_arg){ARG_BUFFER, i});
    if (u->lengths[i]) ok &= vec_push(args, (opencl_arg){ARG_LENGTH, i});
  }
  for (uint32_t k = 0; k < s->r->rank; k++)
    if (u->grid[k]) ok &= vec_push(args, (opencl_arg){ARG_GRID, k});
  if (p->target->polls_stop) ok &= vec_push(args, (opencl_arg){ARG_STOP, 0});
  return ok;
}

static void put_arg(speller *s, const spell_usage *u, opencl_arg a, const char *end) {
  const vyre_program *p = s->p;
  switch (a.kind) {
  case ARG_PARAM:
    spell_line(s, "const %s %s%s", spell_memory_type(s, p->params[a.index].type),
               s->param_names[a.index], end);
    break;
  case ARG_BUFFER:
    spell_line(s, "__global %s%s *restrict %s%s", u->written[a.index] ? "" : "const ",
               spell_memory_type(s, p->buffers[a.index].type), s->buffer_names[a.index], end);
    break;
  case ARG_LENGTH: spell_line(s, "const uint %s%s", s->length_names[a.index], end); break;
  case ARG_GRID: spell_line(s, "const uint grid_%u%s", a.index, end); break;
  case ARG_STOP: spell_line(s, "volatile __global const uint *stop%s", end); break;
  }
}

static void put_kernel(speller *s, const char *name, const spell_usage *u, const arg_list *args) {
  const region *r = s->r;
  const uint32_t *w = r->workgroup;
  s->indent = 0;
  if (!r->is_elastic)
    spell_line(s, "__attribute__((reqd_work_group_size(%u, %u, %u)))", w[0], w[1], w[2]);
  spell_line(s, "__kernel void %s(%s", name, args->count ? "" : ") {");
  s->indent = 2;
  for (size_t i = 0; i < args->count; i++)
    put_arg(s, u, args->at[i], i + 1 < args->count ? "," : ") {");
  s->indent = 1;
  for (uint32_t i = r->shared.first; i < r->shared.end; i++)
    spell_line(s, "__local %s %s[%u];", spell_memory_type(s, s->p->shared[i].type),
               s->shared_names[i - r->shared.first], s->p->shared[i].length);
  spell_code(s);
  s->indent = 0;
  spell_line(s, "}");
}

static bool emit_region(speller *s, uint32_t index, const char *name, opencl_kernel *kernel) {
  const region *r = &s->p->regions[index];
  arg_list args = {0};
  spell_usage u;
  spell_name_interface(s);
  spell_plan(s, r, r->body);
  spell_find_usage(s, &u);
  bool ok = !s->failed && find_args(s, &u, &args);
  if (ok) put_kernel(s, name, &u, &args);
  kernel->name = strdup(name);
  kernel->args = args.at;
  kernel->arg_count = (uint32_t)args.count;
  return ok && kernel->name;
}

// ---- the whole ----------------------------------------------------------------------------------

static void put_head(const vyre_program *p, strbuf *out) {
  bool has_f64 = false, has_wide_atomics = false, has_f32_cas = false, has_f64_cas = false;
  for (uint32_t i = 1; i < p->code_count; i++) {
    has_f32_cas |= op_is_atomic(p->code[i].op) && p->code[i].type == VYRE_F32;
    has_f64_cas |= op_is_atomic(p->code[i].op) && p->code[i].type == VYRE_F64;
    has_f64 |= p->code[i].type == VYRE_F64;
    has_wide_atomics |= op_is_atomic(p->code[i].op) && type_bits(p->code[i].type) == 64;
  }
  for (uint32_t i = 0; i < p->const_count; i++) has_f64 |= p->consts[i].type == VYRE_F64;
  strbuf_printf(out, "// Made by vyre from program `%s`.\n", p->name);
  if (has_f64) strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
  if (has_wide_atomics)
    strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
  if (has_wide_atomics && p->target->has_i64_extended_atomics)
    strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n");
  strbuf_puts(out, "#pragma OPENCL FP_CONTRACT OFF\n\n");
  if (has_f32_cas || has_f64_cas) strbuf_puts(out, float_cas);
  if (has_f32_cas) strbuf_puts(out, f32_cas);
  if (has_f64_cas) strbuf_puts(out, f64_cas);
  if (has_f32_cas || has_f64_cas) strbuf_putc(out, '\n');
}

static bool emit_all(const vyre_program *program, const vyre_program *lowered, opencl_source *out) {
  speller *s = calloc(1, sizeof *s);
  name_set kernels = {0};
  out->kernels = calloc(program->region_count + 1u, sizeof *out->kernels);
  bool ok = s && out->kernels;
  bool is_polled = lowered->target->polls_stop;
  const dialect d = dialect_for(is_polled);
  if (s) *s = (speller){.d = &d, .p = lowered};
  if (ok) put_head(lowered, &s->text);
  for (uint32_t i = 0; i < program->region_count && ok; i++) {
    opencl_kernel *kernel = &out->kernels[out->kernel_count++];
    if (i) strbuf_putc(&s->text, '\n');
    ok = emit_region(s, i, names_take(&kernels, program->regions[i].name, "region"), kernel);
    kernel->has_loop = traits_is_long(program, &program->regions[i]);
    // Polling leaves between barriers, which asks of a driver what a barrier in a loop does.
    kernel->has_barrier_in_loop = (is_polled && program->regions[i].has_barrier) ||
                                  traits_has_barrier_in_loop(program, &program->regions[i]);
  }
  if (ok && !kernels.failed) out->text = strbuf_take(&s->text, &out->size);
  if (s) spell_fini(s);
  names_fini(&kernels);
  free(s);
  return out->text != NULL;
}

// Kernels of a device without 64-bit integers take none; what they compute with is lowered.
static vyre_status check_interface(const vyre_program *p, const lower_target *target,
                                   vyre_error *error) {
  const char *name = NULL;
  for (uint32_t i = 0; i < p->param_count; i++)
    if (type_is_int(p->params[i].type) && type_bits(p->params[i].type) == 64)
      name = p->params[i].name;
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (type_is_int(p->buffers[i].type) && type_bits(p->buffers[i].type) == 64)
      name = p->buffers[i].name;
  if (!name || target->has_i64) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the device has no 64-bit integers, which `%s` is made of. Fix: use 32-bit "
                   "ones, or run the program on another device or backend",
                   name);
}

vyre_status opencl_emit(const vyre_program *program, const lower_target *target, bool is_polled,
                        opencl_source *out, vyre_error *error) {
  *out = (opencl_source){0};
  vyre_program *lowered;
  lower_target wanted = *target;
  wanted.polls_stop = is_polled;
  vyre_status status = check_interface(program, target, error);
  if (status == VYRE_OK) status = lower_program(program, &wanted, &lowered, error);
  if (status != VYRE_OK) return status;
  if (!emit_all(program, lowered, out)) {
    opencl_source_fini(out);
    status = error_out_of_memory(error);
  }
  vyre_program_release(lowered);
  return status;
}

void opencl_source_fini(opencl_source *s) {
  for (uint32_t i = 0; i < s->kernel_count; i++) {
    free(s->kernels[i].name);
    free(s->kernels[i].args);
  }
  free(s->kernels);
  free(s->text);
  *s = (opencl_source){0};
}
