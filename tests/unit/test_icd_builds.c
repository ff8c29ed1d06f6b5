// SPDX-License-Identifier: MIT
//
// Building, compiling and linking with the OpenCL driver: every option, quoted in every way, and
// each argument given wrongly; who asked to be told is told once.
#include "../icd.h"

static const char source[] = "#ifndef VALUE\n"
                             "#define VALUE 5\n"
                             "#endif\n"
                             "kernel void k(global int *o) { o[0] = VALUE; }\n";

static cl_program source_of(const icd *i, const char *text) {
  cl_int code;
  cl_program made = clCreateProgramWithSource(i->context, 1, &text, NULL, &code);
  OK(code);
  return made;
}

static int value_of(icd *i, cl_program program) {
  cl_int code;
  const size_t one = 1;
  int value = 0;
  cl_kernel k = clCreateKernel(program, "k", &code);
  OK(code);
  cl_mem o = icd_buffer(i, sizeof value, NULL);
  OK(clSetKernelArg(k, 0, sizeof o, &o));
  OK(clEnqueueNDRangeKernel(i->queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
  icd_read(i, o, sizeof value, &value);
  OK(clReleaseMemObject(o));
  OK(clReleaseKernel(k));
  return value;
}

// ---- options ------------------------------------------------------------------------------------

static void options_are_read_as_a_shell_does(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static const struct {
    const char *options;
    int value; // 0: refused
  } rows[] = {
      {NULL, 5},
      {"", 5},
      {" \t\n\r ", 5},
      {"-D VALUE=7", 7},
      {"-DVALUE=7", 7},
      {"-D\tVALUE=7 -UVALUE", 5},
      {"-D VALUE=7 -U VALUE -DVALUE=8", 8},
      {"\"-DVALUE=3 + 4\"", 7},
      {"'-DVALUE=3 + 4'", 7},
      {"-DVALUE='3 + 4'", 7},
      {"-DVALUE=3\\ +\\ 4", 7},
      {"-DVALUE=sizeof(\\\"abc\\\")", 4},
      {"\"-DVALUE=sizeof(\\\"abcd\\\")\"", 5},
      {"'-DVALUE=sizeof(\"a\\\\b\")'", 4},
      {"-DVALUE=7 -w -Werror -g -Wall -O0 -O1 -O2 -O3 -cl-no-subgroup-ifp -cl-nv-verbose", 7},
      {"-x clc -DVALUE=7", 7},
      {"-cl-std=CL1.0 -cl-mad-enable -DVALUE=6", 6},
      {"-cl-std=CL3.0 -DVALUE=__OPENCL_C_VERSION__", 300},
      {"-cl-std=CL1.2 -DVALUE=__OPENCL_C_VERSION__", 120},
      {"-cl-fast-relaxed-math -DVALUE=__FAST_RELAXED_MATH__+1", 2},
      {"-D", 0},
      {"-DVALUE=7 -U", 0},
      {"-I", 0},
      {"-x", 0},
      {"-x spir -DVALUE=7", 0},
      {"-cl-std=CL9.9", 0},
      {"-cl-std", 0},
      {"-cl-unknown", 0},
      {"-create-library", 0},
      {"-Wnone", 0},
      {"-", 0},
      {"word", 0},
      {"-DVALUE=7 'not closed", 0},
      {"-DVALUE=7 \"", 0},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_program p = source_of(&i, source);
    const char *options = rows[k].options;
    if (rows[k].value) {
      cl_int code = clBuildProgram(p, 0, NULL, options, NULL, NULL);
      if (code != CL_SUCCESS) fail_msg("%s: %d", options, code);
      int value = value_of(&i, p);
      if (value != rows[k].value) fail_msg("%s: %d", options, value);
      OK(clCompileProgram(p, 0, NULL, options, 0, NULL, NULL, NULL, NULL));
    } else {
      cl_int code = clBuildProgram(p, 0, NULL, options, NULL, NULL);
      if (code != CL_INVALID_BUILD_OPTIONS) fail_msg("%s: %d", options, code);
      code = clCompileProgram(p, 0, NULL, options, 0, NULL, NULL, NULL, NULL);
      if (code != CL_INVALID_COMPILER_OPTIONS) fail_msg("%s: %d", options, code);
    }
    OK(clReleaseProgram(p));
  }
  icd_end(&i);
}

static void options_of_links(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static const struct {
    const char *options;
    bool is_right;
  } rows[] = {
      {NULL, true},
      {"", true},
      {"-create-library", true},
      {"-create-library -enable-link-options", true},
      {"-enable-link-options -create-library -cl-denorms-are-zero", true},
      {"-cl-denorms-are-zero -cl-no-signed-zeros -cl-unsafe-math-optimizations", true},
      {"-cl-finite-math-only -cl-fast-relaxed-math -cl-no-subgroup-ifp", true},
      {"-enable-link-options", false},
      {"-cl-mad-enable", false},
      {"-DVALUE=7", false},
      {"-create-library word", false},
      {"'-create-library", false},
  };
  cl_program p = source_of(&i, source);
  cl_int code;
  OK(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_program made = clLinkProgram(i.context, 0, NULL, rows[k].options, 1, &p, NULL, NULL, &code);
    if (code != (rows[k].is_right ? CL_SUCCESS : CL_INVALID_LINKER_OPTIONS) ||
        !made != !rows[k].is_right)
      fail_msg("%s: %d", rows[k].options, code);
    if (made) OK(clReleaseProgram(made));
  }
  OK(clReleaseProgram(p));
  icd_end(&i);
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct told {
  int count;
  cl_program program;
} told;

static void CL_CALLBACK tell(cl_program program, void *data) {
  told *t = data;
  t->count++;
  t->program = program;
}

static void builds_look_at_their_arguments(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_program p = source_of(&i, source), none = (cl_program)i.context;
  const cl_device_id wrong = (cl_device_id)i.context;
  told t = {0};
  cl_int code;
  FAILS(CL_INVALID_PROGRAM, clBuildProgram(none, 0, NULL, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clBuildProgram(p, 1, NULL, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clBuildProgram(p, 0, &i.device, NULL, NULL, NULL));
  FAILS(CL_INVALID_DEVICE, clBuildProgram(p, 1, &wrong, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clBuildProgram(p, 0, NULL, NULL, NULL, &t));
  FAILS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(p, 0, NULL, "-D", tell, &t));
  FAILS(CL_INVALID_PROGRAM, clCompileProgram(none, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  FAILS(CL_INVALID_DEVICE, clCompileProgram(p, 1, &wrong, NULL, 0, NULL, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, &t));
  assert_int_equal(t.count, 0);
  OK(clCompileProgram(p, 1, &i.device, NULL, 0, NULL, NULL, tell, &t));
  assert_int_equal(t.count, 1);
  assert_ptr_equal(t.program, p);
  // Of links, with this compiled program.
  const struct {
    cl_context context;
    cl_uint devices;
    const cl_device_id *device;
    cl_uint count;
    const cl_program *inputs;
    bool has_data;
    cl_int code;
  } links[] = {
      {(cl_context)i.queue, 0, NULL, 1, &p, false, CL_INVALID_CONTEXT},
      {i.context, 1, NULL, 1, &p, false, CL_INVALID_VALUE},
      {i.context, 0, &i.device, 1, &p, false, CL_INVALID_VALUE},
      {i.context, 1, &wrong, 1, &p, false, CL_INVALID_DEVICE},
      {i.context, 0, NULL, 0, &p, false, CL_INVALID_VALUE},
      {i.context, 0, NULL, 1, NULL, false, CL_INVALID_VALUE},
      {i.context, 0, NULL, 1, &none, false, CL_INVALID_PROGRAM},
      {i.context, 0, NULL, 1, &p, true, CL_INVALID_VALUE},
  };
  for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
    code = 1;
    assert_null(clLinkProgram(links[k].context, links[k].devices, links[k].device, NULL,
                              links[k].count, links[k].inputs, NULL, links[k].has_data ? &t : NULL,
                              &code));
    if (code != links[k].code) fail_msg("link %zu: %d", k, code);
  }
  icd other = icd_begin(NULL, 0);
  assert_null(clLinkProgram(other.context, 0, NULL, NULL, 1, &p, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_PROGRAM);
  cl_program linked = clLinkProgram(i.context, 1, &i.device, NULL, 1, &p, tell, &t, &code);
  OK(code);
  assert_int_equal(t.count, 2);
  assert_ptr_equal(t.program, linked);
  assert_int_equal(value_of(&i, linked), 5);
  // What was linked is no part of another, and is not built again while it has kernels.
  assert_null(clLinkProgram(i.context, 0, NULL, NULL, 1, &linked, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_OPERATION);
  OK(clReleaseProgram(linked));
  OK(clBuildProgram(p, 0, NULL, NULL, tell, &t));
  assert_int_equal(t.count, 3);
  cl_kernel k = clCreateKernel(p, "k", &code);
  OK(code);
  FAILS(CL_INVALID_OPERATION, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
  FAILS(CL_INVALID_OPERATION, clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  OK(clReleaseKernel(k));
  OK(clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
  OK(clReleaseProgram(p));
  // One that fails is told of as well.
  p = source_of(&i, "kernel void k(global int *o) { o[0] = nothing; }\n");
  FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, tell, &t));
  assert_int_equal(t.count, 4);
  cl_build_status status = 9;
  OK(clGetProgramBuildInfo(p, i.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
  assert_int_equal(status, CL_BUILD_ERROR);
  OK(clReleaseProgram(p));
  icd_end(&other);
  icd_end(&i);
}

static void headers_have_names_below_their_folder(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_program six = source_of(&i, "#define VALUE 6\n"), seven = source_of(&i, "#define VALUE 7\n");
  cl_program none = (cl_program)i.context;
  static const struct {
    const char *name, *include;
  } rows[] = {{"a.h", "a.h"}, {"in/a.h", "in/a.h"}, {"in/all/a.h", "in/all/a.h"}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[200];
    snprintf(text, sizeof text, "#include \"%s\"\n%s", rows[k].include, source);
    cl_program user = source_of(&i, text);
    cl_program both[] = {six, seven};
    const char *names[] = {rows[k].name, rows[k].name}; // the first of a name counts
    cl_int code;
    OK(clCompileProgram(user, 0, NULL, NULL, 2, both, names, NULL, NULL));
    cl_program linked = clLinkProgram(i.context, 0, NULL, NULL, 1, &user, NULL, NULL, &code);
    OK(code);
    assert_int_equal(value_of(&i, linked), 6);
    OK(clReleaseProgram(linked));
    OK(clReleaseProgram(user));
  }
  cl_program p = source_of(&i, source);
  const char *right = "a.h", *no_name = NULL;
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 1, NULL, &right, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 1, &six, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 0, &six, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 0, NULL, &right, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 1, &none, &right, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 1, &six, &no_name, NULL, NULL));
  static const char *outside[] = {"", "/tmp/vyre-header.h", "../vyre-header.h", "in/../../a.h"};
  for (size_t k = 0; k < sizeof outside / sizeof *outside; k++)
    FAILS(CL_OUT_OF_RESOURCES,
          clCompileProgram(p, 0, NULL, NULL, 1, &six, &outside[k], NULL, NULL));
  assert_int_equal(access("/tmp/vyre-header.h", F_OK), -1);
  OK(clCompileProgram(p, 0, NULL, NULL, 1, &six, &right, NULL, NULL));
  OK(clReleaseProgram(p));
  OK(clReleaseProgram(six));
  OK(clReleaseProgram(seven));
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_are_read_as_a_shell_does),
      cmocka_unit_test(options_of_links),
      cmocka_unit_test(builds_look_at_their_arguments),
      cmocka_unit_test(headers_have_names_below_their_folder),
  };
  return cmocka_run_group_tests_name("icd_builds", tests, NULL, NULL);
}
