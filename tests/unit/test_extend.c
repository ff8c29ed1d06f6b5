// SPDX-License-Identifier: MIT
//
// Passes and backends from outside: what is refused, and that nothing they do is believed unproven.
// What is registered stays, so each test uses names of its own.
#include <vyre/extend.h>

#include "backend/outside.h"
#include "opt/pass.h"
#include "../scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "program add(a: i32)\nbuffer x: i32[] readwrite\n"
                           "region main grid(len(x)) {\n  let i = global_id.x\n"
                           "  if i < 100 { x[i] = x[i] * a + 3 }\n}\n";

static vyre_program *parse(void) {
  vyre_program *p;
  assert_int_equal(vyre_program_from("text", text, strlen(text), NULL, NULL, &p, NULL), VYRE_OK);
  return p;
}

static void expect_words(const vyre_error *error, const char *words) {
  if (!strstr(error->message, words) || !strstr(error->message, "Fix:"))
    fail_msg("`%s` does not say `%s` with its fix", error->message, words);
}

// ---- reading ------------------------------------------------------------------------------------

static void a_program_can_be_read(void **state) {
  (void)state;
  vyre_program *p = parse();
  vyre_region_code code = vyre_program_region_code(p, 0);
  uint32_t loads = 0, depth = 0;
  for (uint32_t i = code.first; i < code.end; i++) {
    vyre_inst in = vyre_program_inst(p, i);
    if (in.op == VYRE_OP_IF) {
      assert_int_equal(vyre_program_inst(p, in.arg[2]).op, VYRE_OP_END);
      assert_int_equal(vyre_program_inst(p, in.arg[2]).arg[1], i);
      depth++;
    }
    if (in.op == VYRE_OP_LT) {
      assert_true(vyre_operand_is_const(in.arg[1]));
      assert_int_equal(vyre_program_const(p, in.arg[1]).bits, 100);
      assert_int_equal(vyre_program_type_of(p, in.arg[1]), VYRE_U32);
    }
    if (in.op != VYRE_OP_LOAD) continue;
    assert_int_equal(vyre_memory_kind(in.arg[0]), VYRE_MEMORY_BUFFER);
    assert_int_equal(vyre_memory_index(in.arg[0]), 0);
    assert_string_equal(vyre_program_value_name(p, in.arg[1]), "i");
    loads++;
  }
  assert_int_equal(loads, 1);
  assert_int_equal(depth, 1);
  // What is not there is zeros.
  assert_int_equal(vyre_program_inst(p, 0).op, VYRE_OP_NONE);
  assert_int_equal(vyre_program_inst(p, vyre_program_code_count(p)).op, VYRE_OP_NONE);
  assert_int_equal(vyre_program_const(p, UINT32_MAX).type, VYRE_VOID);
  assert_int_equal(vyre_program_const(p, 1).type, VYRE_VOID);
  assert_int_equal(vyre_program_region_code(p, 1).end, 0);
  assert_null(vyre_program_shared(p, 0).name);
  assert_null(vyre_program_value_name(p, UINT32_MAX));
  vyre_program_release(p);
}

// As everywhere, NULL is met with zeros or an error.
static void nothing_is_met_with_nothing(void **state) {
  (void)state;
  vyre_error error;
  vyre_program *out;
  assert_int_equal(vyre_program_code_count(NULL), 0);
  assert_int_equal(vyre_program_inst(NULL, 1).op, VYRE_OP_NONE);
  assert_int_equal(vyre_program_type_of(NULL, 1), VYRE_VOID);
  assert_int_equal(vyre_program_const(NULL, UINT32_MAX).type, VYRE_VOID);
  assert_int_equal(vyre_program_region_code(NULL, 0).end, 0);
  assert_null(vyre_program_shared(NULL, 0).name);
  assert_null(vyre_program_value_name(NULL, 1));
  assert_null(vyre_pass_program(NULL));
  assert_false(vyre_pass_may_change(NULL, 0));
  assert_int_equal(vyre_rewrite_program(NULL, NULL, NULL, &out, &error), VYRE_ERROR_ARGUMENT);
  expect_words(&error, "NULL");
  assert_null(vyre_rewrite_builder(NULL));
  assert_int_equal(vyre_rewrite_operand(NULL, 1), 0);
  vyre_rewrite_keep(NULL, 1);
  vyre_rewrite_replace(NULL, 1, 1);
  vyre_rewrite_drop(NULL, 1);
  vyre_report_region(NULL, NULL, 0, 0, 0);
  assert_int_equal(vyre_backend_examine(NULL, 0, NULL, &error), VYRE_ERROR_ARGUMENT);
}

// ---- passes -------------------------------------------------------------------------------------

static vyre_status keep_all(void *context, const vyre_pass_run *run, vyre_program **out,
                            vyre_error *error) {
  (void)run, (void)out, (void)error;
  ++*(int *)context;
  return VYRE_OK;
}

static int ran;
static const vyre_pass good = {.size = sizeof(vyre_pass),
                               .version = VYRE_EXTEND_VERSION,
                               .name = "watch",
                               .summary = "looks",
                               .never = "touch anything",
                               .run = keep_all,
                               .context = &ran};

static void wrong_passes_are_refused(void **state) {
  (void)state;
  vyre_error error;
  size_t before, after;
  pass_table(&before);
  static const char *const unknown[] = {"no_such_pass", NULL}, *const itself[] = {"watch", NULL};
  struct {
    vyre_pass pass;
    const char *words;
  } rows[10];
  for (int i = 0; i < 10; i++) rows[i].pass = good;
  rows[0].pass.size = 8, rows[0].words = "vyre/extend.h of this library";
  rows[1].pass.version = 99, rows[1].words = "version 99";
  rows[2].pass.run = NULL, rows[2].words = "lacks";
  rows[3].pass.name = NULL, rows[3].words = "lacks";
  rows[4].pass.never = NULL, rows[4].words = "lacks";
  rows[5].pass.name = "Not A Name", rows[5].words = "is no name";
  rows[6].pass.name = "dce", rows[6].words = "two passes are called `dce`";
  rows[7].pass.needs = unknown, rows[7].words = "no_such_pass";
  rows[8].pass.needs = itself, rows[8].words = "in a circle";
  rows[9].pass.family = (vyre_pass_family)77, rows[9].words = "family 77";
  for (int i = 0; i < 10; i++) {
    assert_int_equal(vyre_pass_register(&rows[i].pass, &error), VYRE_ERROR_ARGUMENT);
    expect_words(&error, rows[i].words);
  }
  assert_int_equal(vyre_pass_register(NULL, &error), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_pass_register(NULL, NULL), VYRE_ERROR_ARGUMENT);
  pass_table(&after);
  assert_int_equal(before, after);
}

static vyre_status optimize(vyre_error *error) {
  vyre_program *p = parse();
  vyre_executable *e = NULL;
  vyre_compile_options options = {.optimize = VYRE_OPTIMIZE_SELECTED};
  vyre_status status = vyre_compile(p, "ref", &options, &e, error);
  vyre_executable_release(e);
  vyre_program_release(p);
  return status;
}

static void a_registered_pass_runs(void **state) {
  (void)state;
  vyre_error error;
  ran = 0;
  assert_int_equal(vyre_pass_register(&good, &error), VYRE_OK);
  assert_int_equal(optimize(&error), VYRE_OK);
  assert_int_equal(ran, 1);
  assert_int_equal(vyre_pass_register(&good, &error), VYRE_ERROR_ARGUMENT);
  expect_words(&error, "two passes are called `watch`");
}

// One switch turns a registered pass into one that does something wrong.
static enum { QUIET, OTHER_INTERFACE, OTHER_REGIONS, BROKEN, WILD, SAME } mischief;

static void visit(void *context, vyre_rewrite *rw, uint32_t index) {
  const vyre_program *p = context;
  if (mischief == WILD) {
    vyre_rewrite_keep(rw, 4000000);
    vyre_rewrite_replace(rw, 0, vyre_rewrite_operand(rw, 77777));
  } else if (vyre_program_inst(p, index).op == VYRE_OP_END) {
    vyre_rewrite_drop(rw, index);
  } else {
    vyre_rewrite_keep(rw, index);
  }
}

static vyre_status misbehave(void *context, const vyre_pass_run *run, vyre_program **out,
                             vyre_error *error) {
  (void)context;
  const char *other = mischief == OTHER_INTERFACE
                          ? "program add(b: i32)\nbuffer x: i32[] readwrite\n"
                            "region main grid(len(x)) { x[0] = b }\n"
                          : "program add(a: i32)\nbuffer x: i32[] readwrite\n"
                            "region other grid(len(x)) { x[0] = a }\n";
  switch (mischief) {
  case QUIET: return VYRE_OK;
  case OTHER_INTERFACE:
  case OTHER_REGIONS:
    return vyre_program_from("text", other, strlen(other), NULL, NULL, out, error);
  case BROKEN:
  case WILD: return vyre_rewrite_program(run, visit, (void *)vyre_pass_program(run), out, error);
  case SAME: *out = vyre_program_retain((vyre_program *)vyre_pass_program(run)); return VYRE_OK;
  }
  return VYRE_OK;
}

static void a_pass_that_misbehaves_is_named(void **state) {
  (void)state;
  vyre_error error;
  vyre_pass bad = good;
  bad.name = "mischief";
  bad.run = misbehave;
  assert_int_equal(vyre_pass_register(&bad, &error), VYRE_OK);
  for (mischief = OTHER_INTERFACE; mischief <= WILD; mischief++) {
    assert_int_not_equal(optimize(&error), VYRE_OK);
    if (mischief != WILD) expect_words(&error, "pass `mischief`");
  }
  mischief = SAME; // no change, so nothing is done again
  assert_int_equal(optimize(&error), VYRE_OK);
  mischief = QUIET;
}

// ---- backends -----------------------------------------------------------------------------------

// The interpreter under other names, which may lie.
typedef struct double_state {
  vyre_executable *executable;
  const vyre_program *program;
} double_state;

static bool lies;

static vyre_status probe(void *context, vyre_device *devices, uint32_t capacity, uint32_t *count,
                         vyre_error *error) {
  vyre_status status = vyre_backend_devices("ref", devices, capacity, count, error);
  if (status == VYRE_OK && capacity) strcpy(devices[0].adapter, context);
  return status;
}

static vyre_status compile(void *context, const vyre_program *program,
                           const vyre_compile_options *options, void **state, vyre_error *error) {
  (void)context, (void)options;
  double_state *s = calloc(1, sizeof *s);
  s->program = program;
  *state = s;
  return vyre_compile((vyre_program *)program, "ref", NULL, &s->executable, error);
}

static vyre_status dispatch(void *state, const vyre_launch *launch, vyre_report *report,
                            vyre_error *error) {
  double_state *s = state;
  vyre_span *spans = calloc(vyre_program_buffer_count(s->program) + 1u, sizeof *spans);
  vyre_scalar *params = calloc(vyre_program_param_count(s->program) + 1u, sizeof *params);
  vyre_dispatch_args args = {.params = params, .buffers = spans, .fuel = launch->fuel};
  for (uint32_t i = 0; i < vyre_program_param_count(s->program); i++)
    params[args.param_count++] =
        (vyre_scalar){vyre_program_param(s->program, i).type, launch->params[i]};
  for (uint32_t i = 0; i < vyre_program_buffer_count(s->program); i++) {
    vyre_buffer_info info = vyre_program_buffer(s->program, i);
    if (info.is_transient) continue;
    spans[args.buffer_count++] =
        (vyre_span){launch->buffers[i].data, launch->buffers[i].length * vyre_type_size(info.type)};
  }
  if (launch->has_workgroup)
    memcpy(args.workgroup, launch->regions[0].workgroup, sizeof args.workgroup);
  vyre_status status = lies ? VYRE_OK : vyre_dispatch(s->executable, &args, report, error);
  free(spans);
  free(params);
  return status;
}

static void release(void *state) {
  double_state *s = state;
  vyre_executable_release(s->executable);
  free(s);
}

static vyre_backend double_of(const char *id) {
  return (vyre_backend){.size = sizeof(vyre_backend),
                        .version = VYRE_EXTEND_VERSION,
                        .id = id,
                        .summary = "the interpreter again",
                        .context = (void *)id,
                        .probe = probe,
                        .compile = compile,
                        .dispatch = dispatch,
                        .release = release};
}

static void wrong_backends_are_refused(void **state) {
  (void)state;
  vyre_error error;
  uint32_t before = vyre_backend_count();
  struct {
    vyre_backend backend;
    const char *words;
  } rows[8];
  for (int i = 0; i < 8; i++) rows[i].backend = double_of("double");
  rows[0].backend.size = 8, rows[0].words = "vyre/extend.h of this library";
  rows[1].backend.version = 0, rows[1].words = "version 0";
  rows[2].backend.dispatch = NULL, rows[2].words = "lacks";
  rows[3].backend.release = NULL, rows[3].words = "lacks";
  rows[4].backend.id = "cpu", rows[4].words = "there is a backend `cpu` already";
  rows[5].backend.id = "../../etc", rows[5].words = "is no id";
  rows[6].backend.id = "sixteen-letters-", rows[6].words = "is no id";
  rows[7].backend.id = "", rows[7].words = "is no id";
  for (int i = 0; i < 8; i++) {
    assert_int_equal(vyre_backend_register(&rows[i].backend, &error), VYRE_ERROR_ARGUMENT);
    expect_words(&error, rows[i].words);
  }
  assert_int_equal(vyre_backend_register(NULL, NULL), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_backend_count(), before);
}

// What the runtime says of itself after it had reason to learn.
static char *run_and_explain(void) {
  vyre_program *p = parse();
  vyre_runtime *rt;
  vyre_kernel *k;
  vyre_error error;
  int32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  vyre_span span = {x, sizeof x};
  vyre_scalar a = vyre_scalar_i32(1);
  vyre_dispatch_args args = {.params = &a, .param_count = 1, .buffers = &span, .buffer_count = 1};
  vyre_runtime_options options = {.learn_after = 2, .no_store = true};
  assert_int_equal(vyre_runtime_new(&options, &rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(rt, p, &k, &error), VYRE_OK);
  for (int i = 0; i < 10; i++)
    assert_int_equal(vyre_kernel_dispatch(k, &args, NULL, &error), VYRE_OK);
  vyre_runtime_settle(rt);
  char *out;
  assert_int_equal(vyre_kernel_explain(k, &out, &error), VYRE_OK);
  assert_int_equal(x[0], 31);
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
  return out;
}

static void a_backend_is_taken_only_after_it_was_examined(void **state) {
  (void)state;
  vyre_error error;
  vyre_backend twin = double_of("double");
  assert_int_equal(vyre_backend_register(&twin, &error), VYRE_OK);
  char *told = run_and_explain();
  if (!strstr(told, "was not compared with the reference")) fail_msg("%s", told);
  vyre_free(told);
  vyre_examination result;
  assert_int_equal(vyre_backend_examine("double", 10, &result, &error), VYRE_OK);
  assert_int_equal(result.failed, 0);
  assert_true(result.passed > 50);
  told = run_and_explain();
  assert_null(strstr(told, "was not compared"));
  assert_non_null(strstr(told, "double"));
  vyre_free(told);
  assert_int_equal(vyre_backend_examine("no-such", 1, &result, &error), VYRE_ERROR_ARGUMENT);
}

static void a_backend_that_lies_is_found_out(void **state) {
  (void)state;
  vyre_error error;
  vyre_examination result;
  vyre_backend liar = double_of("liar");
  lies = true;
  assert_int_equal(vyre_backend_register(&liar, &error), VYRE_OK);
  assert_int_equal(vyre_backend_examine("liar", 2, &result, &error), VYRE_OK);
  assert_true(result.failed > 0);
  assert_true(result.first_failure[0]);
  lies = false;
  // What it failed at is known: programs with such operations do not go there.
  char *told = run_and_explain();
  if (!strstr(told, "which program `add` needs")) fail_msg("%s", told);
  vyre_free(told);
}

static int begin(void **state) {
  if (scratch_dir_make(state)) return -1;
  return setenv("VYRE_HOME", scratch_dir, 1);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_can_be_read),
      cmocka_unit_test(nothing_is_met_with_nothing),
      cmocka_unit_test(wrong_passes_are_refused),
      cmocka_unit_test(a_registered_pass_runs),
      cmocka_unit_test(a_pass_that_misbehaves_is_named),
      cmocka_unit_test(wrong_backends_are_refused),
      cmocka_unit_test(a_backend_is_taken_only_after_it_was_examined),
      cmocka_unit_test(a_backend_that_lies_is_found_out),
  };
  return cmocka_run_group_tests(tests, begin, scratch_dir_remove);
}
