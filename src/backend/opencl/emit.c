// SPDX-License-Identifier: MIT
//
// Statements and kernels. A polled kernel can be ended from outside: it looks at the stop flag when
// it begins and in its loops. Where a workgroup has barriers to meet at, nobody may leave alone:
// who sees the flag leaves the loops that have no barrier, and at the next place that the whole
// group reaches, all leave together.
#include "backend/opencl/emit_state.h"

#include "base/error.h"
#include "ir/eval.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const opencl_target opencl_full_target = {true, true, true, true, true, true, true, true};

// Loops of constant length that run this often at most are short enough to wait for.
enum { SHORT_TRIPS = 1 << 16 };

// ---- lines --------------------------------------------------------------------------------------

static void begin(emitter *e) {
  for (uint32_t i = 0; i < e->indent; i++) strbuf_puts(&e->body, "  ");
}

static void line(emitter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(emitter *e, const char *format, ...) {
  va_list args;
  va_start(args, format);
  begin(e);
  strbuf_vprintf(&e->body, format, args);
  strbuf_putc(&e->body, '\n');
  va_end(args);
}

static void finish(emitter *e, const char *end) {
  strbuf_printf(&e->body, "%s\n", end);
}

static void barrier_line(emitter *e) {
  line(e, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
}

// ---- polling ------------------------------------------------------------------------------------

static bool contains(const emitter *e, uint32_t first, uint32_t end, bool (*is)(vyre_op)) {
  for (uint32_t i = first; i < end; i++)
    if (is((vyre_op)e->p->code[i].op)) return true;
  return false;
}

static bool is_barrier(vyre_op op) {
  return op == VYRE_OP_BARRIER;
}

static bool is_loop(vyre_op op) {
  return op == VYRE_OP_FOR || op == VYRE_OP_WHILE;
}

// All leave when anybody was told to. Two barriers: nobody may write for the next check while
// somebody still reads for this one.
static void check_together(emitter *e) {
  line(e, "if (vyre_stopped) vyre_stop_seen = 1u;");
  barrier_line(e);
  line(e, "vyre_stopped = vyre_stop_seen != 0u;");
  barrier_line(e);
  line(e, "if (vyre_stopped) return;");
}

static void poll_at_start(emitter *e) {
  if (!e->is_polled) return;
  if (!e->r->has_barrier) {
    line(e, "if (*%s != 0u) return;", e->stop_name);
    if (contains(e, e->r->body.first, e->r->body.end, is_loop)) line(e, "uint vyre_tick = 0u;");
    return;
  }
  line(e, "bool vyre_stopped = *%s != 0u;", e->stop_name);
  line(e, "uint vyre_tick = 0u;");
  line(e, "vyre_stop_seen = 0u;");
  barrier_line(e);
  check_together(e);
}

static void poll_in_loop(emitter *e, uint32_t opener) {
  const inst *in = &e->p->code[opener];
  if (!e->is_polled) return;
  if (!e->r->has_barrier) {
    line(e, "if ((++vyre_tick & 255u) == 0u && *%s != 0u) return;", e->stop_name);
  } else if (contains(e, opener, inst_end(in), is_barrier)) {
    line(e, "vyre_stopped = *%s != 0u;", e->stop_name);
    check_together(e);
  } else {
    line(e, "if ((++vyre_tick & 255u) == 0u && *%s != 0u) vyre_stopped = true;", e->stop_name);
    line(e, "if (vyre_stopped) break;");
  }
}

// After a block in which some may have been told to stop.
static void poll_after(emitter *e, uint32_t opener) {
  const inst *in = &e->p->code[opener];
  uint32_t end = inst_end(in);
  if (!e->is_polled || !e->r->has_barrier || end + 1 >= e->r->body.end) return;
  const bool *divergent = e->uniform.is_divergent;
  bool can_part = is_loop((vyre_op)in->op) || divergent[emit_offset(e, end)];
  if (!can_part || divergent[emit_offset(e, end + 1)]) return;
  if (contains(e, opener, end, is_loop) && !contains(e, opener, end, is_barrier)) check_together(e);
}

// ---- loops --------------------------------------------------------------------------------------

static void open_for(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  vyre_type t = (vyre_type)in->type;
  const char *k = e->value_names[emit_offset(e, i)], *name = emit_type(t);
  uint64_t step = e->p->consts[ref_index(in->arg[2])].bits;
  unsigned bits = type_bits(t);
  uint64_t top = ~0ull >> (64 - bits) >> type_is_signed(t);
  bool is_plain = step == 1;
  if (!is_plain && ref_is_const(in->arg[1])) { // the last step does not wrap
    uint64_t hi = e->p->consts[ref_index(in->arg[1])].bits;
    bool is_negative = type_is_signed(t) && (int64_t)hi < 0;
    is_plain = is_negative ? step <= top : hi <= top && step - 1 <= top - hi;
  }
  if (is_plain) {
    begin(e);
    strbuf_printf(&e->body, "for (%s %s = ", name, k);
    emit_operand(e, in->arg[0]);
    strbuf_printf(&e->body, "; %s < ", k);
    emit_operand(e, in->arg[1]);
    strbuf_printf(&e->body, "; %s += %" PRIu64 ") {\n", k, step);
  } else {
    const char *wide = bits == 64 ? "ulong" : "uint", *suffix = bits == 64 ? "UL" : "u";
    const char *left = names_take(&e->names, "left", "left");
    begin(e);
    strbuf_printf(&e->body, "%s %s = ", name, k);
    emit_operand(e, in->arg[0]);
    finish(e, ";");
    begin(e);
    strbuf_printf(&e->body, "%s %s = %s < ", wide, left, k);
    emit_operand(e, in->arg[1]);
    strbuf_printf(&e->body, " ? ((%s)", wide);
    emit_operand(e, in->arg[1]);
    strbuf_printf(&e->body, " - (%s)%s - 1) / %" PRIu64 "%s + 1 : 0;\n", wide, k, step, suffix);
    line(e, "for (; %s != 0; %s--, %s = (%s)((%s)%s + %" PRIu64 "%s)) {", left, left, k, name, wide,
         k, step, suffix);
  }
  e->indent++;
  poll_in_loop(e, i);
}

// Whether the condition has operations that need statements of their own.
static bool has_plain_condition(const emitter *e, uint32_t opener) {
  for (uint32_t i = opener + 1; i < e->p->code[opener].arg[1]; i++)
    if (!e->is_inline[emit_offset(e, i)]) return false;
  return true;
}

static void open_while(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (has_plain_condition(e, i)) {
    begin(e);
    strbuf_puts(&e->body, "while (");
    emit_whole(e, e->p->code[in->arg[1]].arg[0]);
    finish(e, ") {");
  } else {
    line(e, "while (true) {");
  }
  e->indent++;
}

static void emit_do(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (!has_plain_condition(e, in->arg[1])) {
    begin(e);
    strbuf_puts(&e->body, "if (!");
    emit_operand(e, in->arg[0]);
    finish(e, ") break;");
  }
  poll_in_loop(e, in->arg[1]);
}

static bool is_long(const emitter *e) {
  uint64_t trips = 1, open[128];
  uint32_t depth = 0;
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    const inst *in = &e->p->code[i];
    if (in->op == VYRE_OP_WHILE) return true;
    if (in->op == VYRE_OP_IF) open[depth++] = 1;
    if (in->op == VYRE_OP_END) trips /= open[--depth];
    if (in->op != VYRE_OP_FOR) continue;
    if (!ref_is_const(in->arg[0]) || !ref_is_const(in->arg[1])) return true;
    uint64_t count = eval_trip_count((vyre_type)in->type, e->p->consts[ref_index(in->arg[0])].bits,
                                     e->p->consts[ref_index(in->arg[1])].bits,
                                     e->p->consts[ref_index(in->arg[2])].bits);
    if (count > SHORT_TRIPS || trips * count > SHORT_TRIPS) return true;
    open[depth++] = count ? count : 1;
    trips *= count ? count : 1;
  }
  return false;
}

// ---- statements ---------------------------------------------------------------------------------

static void emit_store(emitter *e, const inst *in) {
  begin(e);
  size_t start = e->body.size;
  strbuf_puts(&e->body, "if (");
  if (emit_check(e, in))
    strbuf_puts(&e->body, ") ");
  else
    e->body.size = start;
  emit_element(e, in);
  strbuf_puts(&e->body, " = ");
  emit_whole(e, in->arg[2]);
  finish(e, ";");
}

static void emit_atomic(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint32_t at = emit_offset(e, i);
  vyre_type t = (vyre_type)in->type;
  begin(e);
  size_t start = e->body.size;
  if (!e->use_count[at]) {
    strbuf_puts(&e->body, "if (");
    if (emit_check(e, in))
      strbuf_puts(&e->body, ") ");
    else
      e->body.size = start;
    emit_atomic_call(e, in);
  } else {
    strbuf_printf(&e->body, "const %s %s = ", emit_type(t), e->value_names[at]);
    bool is_checked = emit_check(e, in);
    if (is_checked) strbuf_puts(&e->body, " ? ");
    emit_atomic_call(e, in);
    if (is_checked) {
      strbuf_puts(&e->body, " : ");
      emit_zero(e, t);
    }
  }
  finish(e, ";");
}

static void emit_value(emitter *e, uint32_t i) {
  uint32_t at = emit_offset(e, i);
  if (e->is_inline[at] || !e->use_count[at]) return;
  begin(e);
  strbuf_printf(&e->body, "const %s %s = ", emit_type((vyre_type)e->p->code[i].type),
                e->value_names[at]);
  emit_expression(e, i);
  finish(e, ";");
}

static void emit_assignment(emitter *e, const char *type, const char *name, ref value) {
  begin(e);
  strbuf_printf(&e->body, "%s%s = ", type, name);
  emit_whole(e, value);
  finish(e, ";");
}

static void close_block(emitter *e, uint32_t opener) {
  e->indent--;
  line(e, "}");
  poll_after(e, opener);
}

static void emit_statement(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint32_t at = emit_offset(e, i);
  char type[16];
  switch (in->op) {
  case VYRE_OP_STORE: emit_store(e, in); break;
  case VYRE_OP_VAR:
    snprintf(type, sizeof type, "%s ", emit_type((vyre_type)in->type));
    emit_assignment(e, type, e->value_names[at], in->arg[0]);
    break;
  case VYRE_OP_SET:
    emit_assignment(e, "", e->value_names[emit_offset(e, in->arg[0])], in->arg[1]);
    break;
  case VYRE_OP_ARRAY:
    line(e, "%s %s[%u] = {0};", emit_memory_type((vyre_type)in->type), e->value_names[at],
         in->arg[0]);
    break;
  case VYRE_OP_IF:
    begin(e);
    strbuf_puts(&e->body, "if (");
    emit_whole(e, in->arg[0]);
    finish(e, ") {");
    e->indent++;
    break;
  case VYRE_OP_ELSE:
    e->indent--;
    line(e, "} else {");
    e->indent++;
    break;
  case VYRE_OP_FOR: open_for(e, i); break;
  case VYRE_OP_WHILE: open_while(e, i); break;
  case VYRE_OP_DO: emit_do(e, i); break;
  case VYRE_OP_END: close_block(e, in->arg[1]); break;
  case VYRE_OP_BREAK: line(e, "break;"); break;
  case VYRE_OP_CONTINUE: line(e, "continue;"); break;
  case VYRE_OP_RETURN: line(e, "return;"); break;
  case VYRE_OP_BARRIER: barrier_line(e); break;
  default:
    if (op_is_atomic(in->op))
      emit_atomic(e, i);
    else
      emit_value(e, i);
  }
}

// ---- kernels ------------------------------------------------------------------------------------

static bool is_written(const emitter *e, uint32_t buffer) {
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    const inst *in = &e->p->code[i];
    if ((in->op == VYRE_OP_STORE || op_is_atomic(in->op)) &&
        in->arg[0] == MEM_REF(MEM_BUFFER, buffer))
      return true;
  }
  return false;
}

static void emit_args(emitter *e) {
  e->indent += 2;
  for (size_t i = 0; i < e->args.count; i++) {
    opencl_arg a = e->args.at[i];
    const char *end = i + 1 < e->args.count ? "," : ") {";
    if (a.kind == ARG_PARAM)
      line(e, "const %s %s%s", emit_memory_type(e->p->params[a.index].type),
           e->param_names[a.index], end);
    else if (a.kind == ARG_BUFFER)
      line(e, "__global %s%s *restrict %s%s", is_written(e, a.index) ? "" : "const ",
           emit_memory_type(e->p->buffers[a.index].type), e->buffer_names[a.index], end);
    else if (a.kind == ARG_LENGTH)
      line(e, "const uint %s%s", e->length_names[a.index], end);
    else if (a.kind == ARG_GRID)
      line(e, "const uint %s%s", e->grid_names[a.index], end);
    else
      line(e, "volatile __global const uint *%s%s", e->stop_name, end);
  }
  e->indent -= 2;
}

// Elastic regions are launched in whole workgroups that may stick out of the grid.
static void emit_guard(emitter *e) {
  if (!e->r->is_elastic) return;
  begin(e);
  strbuf_puts(&e->body, "if (");
  for (uint32_t k = 0; k < e->r->rank; k++)
    strbuf_printf(&e->body, "%sget_global_id(%u) >= %s", k ? " || " : "", k, e->grid_names[k]);
  finish(e, ") return;");
}

static void emit_shared(emitter *e) {
  const uint32_t *w = e->r->workgroup;
  for (uint32_t i = e->r->shared.first; i < e->r->shared.end; i++)
    line(e, "__local %s %s[%u];", emit_memory_type(e->p->shared[i].type),
         e->shared_names[i - e->r->shared.first], e->p->shared[i].length);
  if (e->is_polled && e->r->has_barrier) line(e, "__local uint vyre_stop_seen;");
  if (e->r->shared.first == e->r->shared.end) return;
  // Zero when a workgroup starts.
  line(e,
       "const uint vyre_local = (uint)get_local_id(0) + %uu * ((uint)get_local_id(1) + "
       "%uu * (uint)get_local_id(2));",
       w[0], w[1]);
  for (uint32_t i = e->r->shared.first; i < e->r->shared.end; i++)
    line(e, "for (uint k = vyre_local; k < %uu; k += %uu) %s[k] = 0;", e->p->shared[i].length,
         w[0] * w[1] * w[2], e->shared_names[i - e->r->shared.first]);
  barrier_line(e);
}

// Polling leaves between barriers, which asks of a driver what a barrier in a loop does.
static bool has_barrier_in_loop(const emitter *e) {
  if (e->is_polled && e->r->has_barrier) return true;
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++)
    if (is_loop((vyre_op)e->p->code[i].op) && contains(e, i, inst_end(&e->p->code[i]), is_barrier))
      return true;
  return false;
}

static void emit_kernel(emitter *e) {
  const uint32_t *w = e->r->workgroup;
  if (!e->r->is_elastic)
    line(e, "__attribute__((reqd_work_group_size(%u, %u, %u)))", w[0], w[1], w[2]);
  line(e, "__kernel void %s(%s", e->kernel->name, e->args.count ? "" : ") {");
  emit_args(e);
  e->indent++;
  emit_shared(e);
  emit_guard(e);
  poll_at_start(e);
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) emit_statement(e, i);
  e->indent--;
  line(e, "}");
  e->kernel->has_loop = is_long(e);
  e->kernel->has_barrier_in_loop = has_barrier_in_loop(e);
}

// ---- what a target lacks ------------------------------------------------------------------------

static vyre_status lacks(emitter *e, const char *what) {
  return error_set(e->error, VYRE_ERROR_UNSUPPORTED,
                   "the device has no %s, which region `%s` needs. Fix: run the program on another "
                   "device or backend",
                   what, e->r->name);
}

static vyre_status check_type(emitter *e, vyre_type t) {
  if (t == VYRE_F64 && !e->target->has_f64) return lacks(e, "64-bit floats");
  if ((t == VYRE_I64 || t == VYRE_U64) && !e->target->has_i64) return lacks(e, "64-bit integers");
  return VYRE_OK;
}

static bool is_float_arithmetic(const inst *in, vyre_type of) {
  unsigned rule = op_table[in->op].rule;
  return in->type == of && in->op != VYRE_OP_NEG && in->op != VYRE_OP_ABS &&
         (rule == RULE_ARITH || rule == RULE_FLOAT || rule == RULE_CONVERT);
}

static vyre_status check_operation(emitter *e, const inst *in) {
  const opencl_target *t = e->target;
  vyre_status status = check_type(e, (vyre_type)in->type);
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k] && status == VYRE_OK; k++)
    if (operands[k] == 'v') status = check_type(e, ref_type(e->p, in->arg[k]));
  if (status != VYRE_OK) return status;
  if (op_is_atomic(in->op) && type_bits(in->type) == 64 && !t->has_i64_atomics)
    return lacks(e, "64-bit atomics");
  if (in->type == VYRE_F32 && !t->has_rounded_f32 && !t->has_f64 &&
      (in->op == VYRE_OP_DIV || in->op == VYRE_OP_SQRT))
    return lacks(e, "correctly rounded f32 division and square root");
  if (is_float_arithmetic(in, VYRE_F32) && !t->has_f32_subnormals)
    return lacks(e, "subnormal f32 numbers");
  if (is_float_arithmetic(in, VYRE_F64) && !t->has_f64_subnormals)
    return lacks(e, "subnormal f64 numbers");
  return VYRE_OK;
}

static vyre_status check_region(emitter *e) {
  for (uint32_t i = e->r->body.first; i < e->r->body.end; i++) {
    vyre_status status = check_operation(e, &e->p->code[i]);
    if (status != VYRE_OK) return status;
  }
  if (!uniformity_find_barrier(e->p, e->r, &e->uniform)) return VYRE_OK;
  return error_set(e->error, VYRE_ERROR_UNSUPPORTED,
                   "region `%s` has a barrier that is not provably reached by the whole workgroup, "
                   "which could hang the device. Fix: make the conditions around it depend on "
                   "constants, parameters, group ids or read-only buffers, or run it on ref or cpu",
                   e->r->name);
}

// ---- the whole ----------------------------------------------------------------------------------

static vyre_status emit_region(emitter *e, uint32_t index) {
  e->r = &e->p->regions[index];
  e->names = (name_set){0};
  memset(&e->args, 0, sizeof e->args);
  vyre_status status = emit_plan(e) ? check_region(e) : error_out_of_memory(e->error);
  if (status == VYRE_OK) {
    const char *name = names_take(&e->kernel_names, e->r->name, "region");
    e->kernel->name = strdup(name);
    emit_kernel(e);
    e->kernel->arg_count = (uint32_t)e->args.count;
    e->kernel->args = malloc((e->args.count + 1) * sizeof *e->kernel->args);
    if (e->kernel->args && e->args.count)
      memcpy(e->kernel->args, e->args.at, e->args.count * sizeof *e->kernel->args);
    if (!e->kernel->args || !e->kernel->name || e->names.failed)
      status = error_out_of_memory(e->error);
  }
  emit_plan_fini(e);
  return status;
}

static void put_extensions(const emitter *e, strbuf *out) {
  bool has_f64 = false, has_wide_atomics = false;
  for (uint32_t i = 1; i < e->p->code_count; i++) {
    has_f64 |= e->p->code[i].type == VYRE_F64;
    has_wide_atomics |= op_is_atomic(e->p->code[i].op) && type_bits(e->p->code[i].type) == 64;
  }
  for (uint32_t i = 0; i < e->p->const_count; i++) has_f64 |= e->p->consts[i].type == VYRE_F64;
  has_f64 |= e->uses[HELPER_SQRT][VYRE_F32] || e->uses[HELPER_DIV][VYRE_F32];
  if (has_f64) strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
  if (!has_wide_atomics) return;
  strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
  if (e->target->has_i64_extended_atomics)
    strbuf_puts(out, "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n");
}

static vyre_status assemble(emitter *e, opencl_source *out) {
  strbuf text = {0};
  strbuf_printf(&text, "// Made by vyre from program `%s`.\n", e->p->name);
  put_extensions(e, &text);
  strbuf_puts(&text, "#pragma OPENCL FP_CONTRACT OFF\n\n");
  emit_prelude(e, &text);
  strbuf_add(&text, e->body.at ? e->body.at : "", e->body.size);
  text.failed |= e->body.failed;
  out->text = strbuf_take(&text, &out->size);
  return out->text ? VYRE_OK : error_out_of_memory(e->error);
}

vyre_status opencl_emit(const vyre_program *p, const opencl_target *target, bool is_polled,
                        opencl_source *out, vyre_error *error) {
  emitter *e = calloc(1, sizeof *e);
  *out = (opencl_source){.kernels = calloc(p->region_count + 1u, sizeof *out->kernels)};
  if (!e || !out->kernels) {
    free(e);
    opencl_source_fini(out);
    return error_out_of_memory(error);
  }
  *e = (emitter){.p = p, .target = target, .is_polled = is_polled, .error = error};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < p->region_count && status == VYRE_OK; i++) {
    e->kernel = &out->kernels[i];
    out->kernel_count++;
    if (i) strbuf_putc(&e->body, '\n');
    status = emit_region(e, i);
  }
  if (status == VYRE_OK) status = assemble(e, out);
  strbuf_fini(&e->body);
  names_fini(&e->kernel_names);
  free(e);
  if (status != VYRE_OK) opencl_source_fini(out);
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
