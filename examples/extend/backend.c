// SPDX-License-Identifier: MIT
//
// A backend from outside of vyre: an interpreter of straight-line kernels over u32. What it cannot
// run it declines, and another backend is taken. It is registered, compared with the reference, and
// then the runtime may choose it.
//
//   cc backend.c $(pkg-config --cflags --libs vyre) -o backend && ./backend
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vyre/extend.h>

// ---- what it can run ----------------------------------------------------------------------------

// The value of an operation on u32; false when this backend has none for it.
static bool compute(vyre_op op, const uint32_t x[3], uint32_t *out) {
  switch (op) {
  case VYRE_OP_ADD: *out = x[0] + x[1]; return true;
  case VYRE_OP_SUB: *out = x[0] - x[1]; return true;
  case VYRE_OP_MUL: *out = x[0] * x[1]; return true;
  case VYRE_OP_AND: *out = x[0] & x[1]; return true;
  case VYRE_OP_OR: *out = x[0] | x[1]; return true;
  case VYRE_OP_XOR: *out = x[0] ^ x[1]; return true;
  case VYRE_OP_MIN: *out = x[0] < x[1] ? x[0] : x[1]; return true;
  case VYRE_OP_MAX: *out = x[0] > x[1] ? x[0] : x[1]; return true;
  default: return false; // there are many more; this example declines them
  }
}

static bool is_buffer_access(const vyre_inst *in) {
  return (in->op == VYRE_OP_LOAD || in->op == VYRE_OP_STORE) &&
         vyre_memory_kind(in->arg[0]) == VYRE_MEMORY_BUFFER;
}

static bool can_run(const vyre_program *p, const vyre_inst *in) {
  uint32_t unused, zeros[3] = {0};
  if (in->op == VYRE_OP_GLOBAL_ID) return true;
  if (is_buffer_access(in)) {
    uint32_t index = in->arg[1];
    bool is_u32 = vyre_program_buffer(p, vyre_memory_index(in->arg[0])).type == VYRE_U32;
    return is_u32 && vyre_program_type_of(p, index) == VYRE_U32;
  }
  return in->type == VYRE_U32 && compute(in->op, zeros, &unused);
}

// ---- the backend --------------------------------------------------------------------------------

static vyre_status probe(void *context, vyre_device *devices, uint32_t capacity, uint32_t *count,
                         vyre_error *error) {
  (void)context, (void)error;
  *count = 1;
  if (capacity)
    devices[0] = (vyre_device){.adapter = "lines-1",
                               .description = "straight lines of u32",
                               .compute_units = 1,
                               .max_workgroup = 1024};
  return VYRE_OK;
}

static vyre_status compile(void *context, const vyre_program *program,
                           const vyre_compile_options *options, void **state, vyre_error *error) {
  (void)context, (void)options;
  for (uint32_t r = 0; r < vyre_program_region_count(program); r++) {
    vyre_region_code code = vyre_program_region_code(program, r);
    for (uint32_t i = code.first; i < code.end; i++) {
      vyre_inst in = vyre_program_inst(program, i);
      if (can_run(program, &in)) continue;
      if (error) {
        *error = (vyre_error){.status = VYRE_ERROR_UNSUPPORTED};
        snprintf(error->message, sizeof error->message,
                 "`lines` has no operation %d. Fix: use another backend", (int)in.op);
      }
      return VYRE_ERROR_UNSUPPORTED;
    }
  }
  *state = (void *)program; // it stays alive until release: nothing more is needed
  return VYRE_OK;
}

typedef struct lane {
  const vyre_program *program;
  const vyre_launch *launch;
  uint64_t id[3];
  uint32_t *values; // per operation
} lane;

static uint32_t value_of(const lane *l, uint32_t operand) {
  return vyre_operand_is_const(operand) ? (uint32_t)vyre_program_const(l->program, operand).bits
                                        : l->values[operand];
}

static void run_inst(lane *l, uint32_t index) {
  vyre_inst in = vyre_program_inst(l->program, index);
  if (in.op == VYRE_OP_GLOBAL_ID) {
    l->values[index] = (uint32_t)l->id[in.arg[0]];
    return;
  }
  if (is_buffer_access(&in)) {
    const vyre_bound_buffer *b = &l->launch->buffers[vyre_memory_index(in.arg[0])];
    uint32_t at = value_of(l, in.arg[1]), *data = b->data;
    // Outside of a buffer a load is 0 and a store is dropped.
    if (in.op == VYRE_OP_LOAD)
      l->values[index] = at < b->length ? data[at] : 0;
    else if (at < b->length)
      data[at] = value_of(l, in.arg[2]);
    return;
  }
  uint32_t x[3] = {value_of(l, in.arg[0]), value_of(l, in.arg[1]), 0};
  compute(in.op, x, &l->values[index]);
}

static void run_region(lane *l, uint32_t region) {
  const vyre_launch_region *shape = &l->launch->regions[region];
  vyre_region_code code = vyre_program_region_code(l->program, region);
  for (l->id[2] = 0; l->id[2] < shape->grid[2]; l->id[2]++)
    for (l->id[1] = 0; l->id[1] < shape->grid[1]; l->id[1]++)
      for (l->id[0] = 0; l->id[0] < shape->grid[0]; l->id[0]++)
        for (uint32_t i = code.first; i < code.end; i++) run_inst(l, i);
}

static vyre_status dispatch(void *state, const vyre_launch *launch, vyre_report *report,
                            vyre_error *error) {
  const vyre_program *p = state;
  lane l = {.program = p, .launch = launch};
  l.values = calloc(vyre_program_code_count(p), sizeof *l.values);
  if (!l.values) {
    if (error) *error = (vyre_error){.status = VYRE_ERROR_MEMORY, .message = "no memory"};
    return VYRE_ERROR_MEMORY;
  }
  for (uint32_t r = 0; r < vyre_program_region_count(p); r++) {
    run_region(&l, r);
    vyre_report_region(report, vyre_program_region(p, r).name, 0, 0,
                       launch->regions[r].invocations);
  }
  free(l.values);
  return VYRE_OK;
}

static void release(void *state) {
  (void)state;
}

static const vyre_backend lines = {
    .size = sizeof(vyre_backend),
    .version = VYRE_EXTEND_VERSION,
    .id = "lines",
    .summary = "straight lines of u32, for show",
    .probe = probe,
    .compile = compile,
    .dispatch = dispatch,
    .release = release,
};

// ---- using it -----------------------------------------------------------------------------------

static const char text[] = "program p()\n"
                           "buffer x: u32[] readwrite\n"
                           "region main grid(len(x)) {\n"
                           "  let i = global_id.x\n"
                           "  x[i] = x[i] * 3 + i\n"
                           "}\n";

static int fail(const vyre_error *error) {
  fprintf(stderr, "backend: %s\n", error->message);
  return 1;
}

int main(void) {
  vyre_error error;
  vyre_examination result;
  vyre_program *program;
  vyre_executable *executable;
  uint32_t x[4] = {1, 2, 3, 4};
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};

  if (vyre_backend_register(&lines, &error)) return fail(&error);
  if (vyre_backend_examine("lines", 20, &result, &error)) return fail(&error);
  printf("examined: %s\n", result.failed ? result.first_failure : "same bits as the reference");
  if (vyre_program_from("text", text, strlen(text), "p.vyre", NULL, &program, &error))
    return fail(&error);
  if (vyre_compile(program, "lines", NULL, &executable, &error)) return fail(&error);
  if (vyre_dispatch(executable, &args, NULL, &error)) return fail(&error);
  printf("x = %u %u %u %u\n", x[0], x[1], x[2], x[3]);
  vyre_executable_release(executable);
  vyre_program_release(program);
  return !result.failed && result.passed && x[0] == 3 && x[3] == 15 ? 0 : 1;
}
