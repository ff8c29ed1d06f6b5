// SPDX-License-Identifier: MIT
//
// A pass from outside of vyre: x - x is 0 for integers. It is registered, selected and verified
// like those that come with the library, and a program is compiled and run with it.
//
//   cc pass.c $(pkg-config --cflags --libs vyre) -o pass && ./pass
#include <stdio.h>
#include <string.h>
#include <vyre/extend.h>

static uint32_t changes;

static bool is_integer(vyre_type type) {
  return type >= VYRE_I8 && type <= VYRE_U64;
}

static void visit(void *context, vyre_rewrite *rewrite, uint32_t index) {
  const vyre_program *program = context;
  vyre_inst in = vyre_program_inst(program, index);
  if (in.op != VYRE_OP_SUB || in.arg[0] != in.arg[1] || !is_integer(in.type)) {
    vyre_rewrite_keep(rewrite, index);
    return;
  }
  vyre_rewrite_replace(rewrite, index, vyre_build_const(vyre_rewrite_builder(rewrite), in.type, 0));
  changes++;
}

static vyre_status run(void *context, const vyre_pass_run *run, vyre_program **out,
                       vyre_error *error) {
  (void)context;
  return vyre_rewrite_program(run, visit, (void *)vyre_pass_program(run), out, error);
}

static const vyre_pass zero_differences = {
    .size = sizeof(vyre_pass),
    .version = VYRE_EXTEND_VERSION,
    .name = "zero_differences",
    .summary = "x - x is 0",
    .never = "touch floats: infinity minus infinity is NaN",
    .family = VYRE_PASS_SCALAR,
    .invalidates = (const char *const[]){"const_fold", "algebraic_simplify", "dce", NULL},
    .follows = (const char *const[]){"cse", NULL},
    .run = run,
};

// Only after cse are the two operands one and the same value: that is what `follows` is for.
static const char text[] = "program p()\n"
                           "buffer x: i32[] readwrite\n"
                           "region main grid(len(x)) {\n"
                           "  let i = global_id.x\n"
                           "  let v = x[i]\n"
                           "  x[i] = (v * 3 - v * 3) + 7\n"
                           "}\n";

static int fail(const vyre_error *error) {
  fprintf(stderr, "pass: %s\n", error->message);
  return 1;
}

int main(void) {
  vyre_error error;
  vyre_program *program;
  vyre_executable *executable;
  int32_t x[4] = {1, 2, 3, 4};
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};

  if (vyre_pass_register(&zero_differences, &error)) return fail(&error);
  if (vyre_program_from("text", text, strlen(text), "p.vyre", NULL, &program, &error))
    return fail(&error);
  if (vyre_compile(program, "cpu", NULL, &executable, &error)) return fail(&error);
  if (vyre_dispatch(executable, &args, NULL, &error)) return fail(&error);
  printf("%u change, x = %d %d %d %d\n", changes, x[0], x[1], x[2], x[3]);
  vyre_executable_release(executable);
  vyre_program_release(program);
  return changes == 1 && x[0] == 7 && x[3] == 7 ? 0 : 1;
}
