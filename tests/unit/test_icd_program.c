// SPDX-License-Identifier: MIT
//
// Programs of the OpenCL driver: options, logs, binaries, compiling and linking, what is asked
// about kernels, printf.
#include "../icd.h"

static const char source[] = "#ifndef N\n#define N 1\n#endif\n"
                             "kernel void k(global int *o) { o[get_global_id(0)] = N; }\n";

static int run_k(const icd *i, cl_program program) {
  cl_int code;
  int out[4];
  cl_kernel kernel = clCreateKernel(program, "k", &code);
  OK(code);
  cl_mem o = icd_buffer(i, sizeof out, NULL);
  OK(clSetKernelArg(kernel, 0, sizeof o, &o));
  icd_run(i, kernel, 4);
  icd_read(i, o, sizeof out, out);
  for (int k = 1; k < 4; k++) assert_int_equal(out[k], out[0]);
  OK(clReleaseMemObject(o));
  OK(clReleaseKernel(kernel));
  return out[0];
}

static void options_count(void **state) {
  (void)state;
  icd i = icd_begin(source, 0);
  assert_int_equal(run_k(&i, i.program), 1);
  OK(clBuildProgram(i.program, 1, &i.device, "-DN=5 -cl-std=CL1.2 -w", NULL, NULL));
  assert_int_equal(run_k(&i, i.program), 5);
  OK(clBuildProgram(i.program, 0, NULL, "-D \"N=(2 + 5)\" -cl-mad-enable", NULL, NULL));
  assert_int_equal(run_k(&i, i.program), 7);
  FAILS(CL_INVALID_BUILD_OPTIONS,
        clBuildProgram(i.program, 0, NULL, "-cl-no-such-thing", NULL, NULL));
  FAILS(CL_INVALID_VALUE, clBuildProgram(i.program, 1, NULL, NULL, NULL, NULL));
  char text[64];
  OK(clGetProgramBuildInfo(i.program, i.device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, NULL));
  assert_non_null(strstr(text, "-cl-mad-enable"));
  icd_end(&i);
}

static void logs_say_what_is_wrong(void **state) {
  (void)state;
  icd i = icd_begin(source, 0);
  const char *wrong = "kernel void k(global int *o) {\n  o[0] = nothing;\n}\n";
  cl_program program = clCreateProgramWithSource(i.context, 1, &wrong, NULL, NULL);
  FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  char log[1024] = "";
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
  assert_non_null(strstr(log, "program.cl:2:10"));
  assert_non_null(strstr(log, "nothing"));
  cl_build_status built;
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_STATUS, sizeof built, &built, NULL));
  assert_int_equal(built, CL_BUILD_ERROR);
  cl_int code;
  clCreateKernel(program, "k", &code);
  assert_int_equal(code, CL_INVALID_PROGRAM_EXECUTABLE);
  clCreateKernel(i.program, "other", &code);
  assert_int_equal(code, CL_INVALID_KERNEL_NAME);
  OK(clReleaseProgram(program));
  icd_end(&i);
}

// A kernel that nothing can be made of fails alone, and before it is enqueued.
static void refused_kernels_fail_early(void **state) {
  (void)state;
  static const char bad[] = "kernel void bad(global ulong *o) { *(global ulong *)o[0] = 1; }\n";
  static const char both[] = "kernel void bad(global ulong *o, local int *t) {\n"
                             "  t[0] = 1; *(global ulong *)o[0] = t[0];\n"
                             "}\n"
                             "kernel void good(global ulong *o, local int *t) { t[0] = o[0]; }\n";
  icd i = icd_begin(NULL, 0);
  const char *text = bad;
  cl_int code;
  char log[4096];
  cl_program program = clCreateProgramWithSource(i.context, 1, &text, NULL, &code);
  OK(code);
  FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
  assert_non_null(strstr(log, "program.cl:1:"));
  assert_non_null(strstr(log, "becomes a pointer"));
  OK(clReleaseProgram(program));
  program = icd_build(&i, both, NULL);
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
  assert_non_null(strstr(log, "program.cl:2:"));
  assert_null(clCreateKernel(program, "bad", &code));
  FAILS(CL_INVALID_KERNEL_DEFINITION, code);
  cl_kernel good = NULL;
  cl_uint count = 0;
  OK(clCreateKernelsInProgram(program, 1, &good, &count));
  assert_int_equal(count, 1);
  OK(clReleaseKernel(good));
  OK(clReleaseProgram(program));
  icd_end(&i);
}

// A long program's kernels are looked at when they are asked for; the log shows the right line,
// also behind macros and includes that moved it.
static void kernels_of_long_programs_are_refused_when_created(void **state) {
  (void)state;
  enum { LINES = 2500 };
  static char text[LINES * 32 + 400];
  size_t at = (size_t)sprintf(text, "#if 1\n#define STORE(p) *(global ulong *)(p)[0] = 1\n#endif\n"
                                    "kernel void good(global ulong *o) { o[0] = 1; }\n");
  for (int k = 0; k < LINES; k++) at += (size_t)sprintf(text + at, "int f%d(int x);\n", k);
  sprintf(text + at, "kernel void bad(global ulong *o) {\n  /* here */ STORE(o);\n}\n");
  icd i = icd_begin(NULL, 0);
  cl_program program = icd_build(&i, text, NULL);
  cl_int code;
  static char log[4096];
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
  assert_string_equal(log, "");
  assert_null(clCreateKernel(program, "bad", &code));
  FAILS(CL_INVALID_KERNEL_DEFINITION, code);
  assert_null(clCreateKernel(program, "bad", &code));
  FAILS(CL_INVALID_KERNEL_DEFINITION, code);
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
  char place[40];
  snprintf(place, sizeof place, "program.cl:%d:", LINES + 6);
  assert_non_null(strstr(log, place));
  assert_null(strstr(strstr(log, place) + 1, place)); // once
  assert_non_null(strstr(log, "*(global ulong *)(o)[0] = 1;"));
  cl_kernel good = NULL;
  cl_uint count = 0;
  OK(clCreateKernelsInProgram(program, 1, &good, &count));
  assert_int_equal(count, 1);
  OK(clReleaseKernel(good));
  OK(clReleaseProgram(program));
  icd_end(&i);
}

static void binaries_run_and_damaged_ones_do_not(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_program program = icd_build(&i, source, "-DN=9");
  size_t size;
  OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  unsigned char *bytes = malloc(size);
  OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
  OK(clReleaseProgram(program));
  cl_int code, status;
  const unsigned char *given = bytes;
  program = clCreateProgramWithBinary(i.context, 1, &i.device, &size, &given, &status, &code);
  OK(code);
  OK(status);
  OK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  assert_int_equal(run_k(&i, program), 9);
  OK(clReleaseProgram(program));
  for (size_t at = 0; at < size; at += size / 37 + 1) {
    bytes[at] ^= 1;
    assert_null(clCreateProgramWithBinary(i.context, 1, &i.device, &size, &given, &status, &code));
    assert_int_equal(code, CL_INVALID_BINARY);
    assert_int_equal(status, CL_INVALID_BINARY);
    bytes[at] ^= 1;
  }
  for (size_t cut = 1; cut < size; cut += size / 11 + 1) {
    assert_null(clCreateProgramWithBinary(i.context, 1, &i.device, &cut, &given, &status, &code));
    assert_int_equal(code, CL_INVALID_BINARY);
  }
  free(bytes);
  clCreateProgramWithIL(i.context, "spirv", 5, &code);
  assert_int_equal(code, CL_INVALID_OPERATION);
  icd_end(&i);
}

static cl_program source_of(const icd *i, const char *text) {
  cl_int code;
  cl_program made = clCreateProgramWithSource(i->context, 1, &text, NULL, &code);
  OK(code);
  return made;
}

static void sources_are_linked(void **state) {
  (void)state;
  icd i = icd_begin(source, 0);
  cl_program header = source_of(&i, "typedef struct { int a, b; } pair;\nint sum(pair p);\n");
  cl_program body =
      source_of(&i, "#include \"in/pair.h\"\nint sum(pair p) { return p.a + p.b; }\n");
  cl_program user = source_of(&i, "#include \"in/pair.h\"\n"
                                  "kernel void k(global int *o) {\n"
                                  "  pair p = {40, get_global_id(0) * 0 + N};\n"
                                  "  o[get_global_id(0)] = sum(p);\n"
                                  "}\n");
  const char *name = "in/pair.h";
  OK(clCompileProgram(body, 0, NULL, NULL, 1, &header, &name, NULL, NULL));
  OK(clCompileProgram(user, 0, NULL, "-DN=2", 1, &header, &name, NULL, NULL));
  cl_program parts[] = {body, user};
  cl_int code;
  cl_program linked = clLinkProgram(i.context, 0, NULL, NULL, 2, parts, NULL, NULL, &code);
  OK(code);
  assert_int_equal(run_k(&i, linked), 42);
  OK(clReleaseProgram(linked));
  cl_program library =
      clLinkProgram(i.context, 0, NULL, "-create-library -enable-link-options -cl-no-signed-zeroes",
                    1, parts, NULL, NULL, &code);
  OK(code);
  cl_program_binary_type type;
  OK(clGetProgramBuildInfo(library, i.device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_LIBRARY);
  parts[0] = library;
  linked = clLinkProgram(i.context, 0, NULL, NULL, 2, parts, NULL, NULL, &code);
  OK(code);
  assert_int_equal(run_k(&i, linked), 42);
  FAILS(CL_COMPILE_PROGRAM_FAILURE,
        clCompileProgram(user, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  assert_null(clLinkProgram(i.context, 0, NULL, NULL, 1, &i.program, NULL, NULL, &code));
  assert_int_equal(code, CL_INVALID_OPERATION);
  OK(clReleaseProgram(linked));
  OK(clReleaseProgram(library));
  OK(clReleaseProgram(user));
  OK(clReleaseProgram(body));
  OK(clReleaseProgram(header));
  icd_end(&i);
}

// Each source is a unit: what it declares for itself others may declare, too.
static void units_may_say_the_same(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"constant int v = 42;\n", "extern constant int v;\n"
                                 "kernel void k(global int *o) { o[get_global_id(0)] = v; }\n"},
      {"constant struct s { int a, b; } v = {40, 2};\n",
       "extern constant struct s{int a,\n  b;} v;\n"
       "kernel void k(global int *o) { o[get_global_id(0)] = v.a + v.b; }\n"},
      {"typedef struct { int a, b; } t;\nenum e { X, Y = 7 };\n"
       "static inline int twice(int x) { return 2 * x; }\n"
       "int f(t x) { return twice(x.a) + x.b; }\n",
       "typedef struct { int a,  b; }  t;\n\nenum e { X, Y = 7 };\n"
       "static inline int twice(int x)\n{\n  return 2 * x;\n}\nint f(t);\n"
       "kernel void k(global int *o) { t x = {14, Y}; o[get_global_id(0)] = f(x) + Y; }\n"},
      {"typedef struct s { char c['\\'']; } s;\nunion u { int i; float f; };\n"
       "int f(s *x, union u v) { return x->c[38] + v.i; }\n",
       "struct s { char c['\\'']; };\nunion u { int i; float f; };\nint f(struct s *, union u);\n"
       "kernel void k(global int *o) {\n"
       "  struct s x;\n  union u v;\n  x.c[38] = 40;\n  v.i = 2;\n"
       "  o[get_global_id(0)] = f(&x, v);\n}\n"},
  };
  icd i = icd_begin(NULL, 0);
  for (size_t r = 0; r < sizeof pairs / sizeof *pairs; r++)
    for (int is_turned = 0; is_turned < 2; is_turned++) {
      cl_program parts[2];
      for (int k = 0; k < 2; k++) {
        parts[k] = source_of(&i, pairs[r][k ^ is_turned]);
        OK(clCompileProgram(parts[k], 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
      }
      cl_int code;
      cl_program linked = clLinkProgram(i.context, 0, NULL, NULL, 2, parts, NULL, NULL, &code);
      if (code != CL_SUCCESS) fail_msg("pair %zu, turned %d: %d", r, is_turned, code);
      assert_int_equal(run_k(&i, linked), 42);
      OK(clReleaseProgram(linked));
      for (int k = 0; k < 2; k++) OK(clReleaseProgram(parts[k]));
    }
  // What differs is a mistake, and so is a function that both have for all.
  static const char *const others[][2] = {
      {"struct s { int a; };\n", "struct s { int b; };\n"},
      {"int f(void) { return 1; }\n", "int f(void) { return 1; }\n"}};
  for (size_t r = 0; r < 2; r++) {
    cl_program parts[2];
    for (int k = 0; k < 2; k++) {
      parts[k] = source_of(&i, others[r][k]);
      OK(clCompileProgram(parts[k], 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    }
    cl_int code;
    cl_program failed = clLinkProgram(i.context, 0, NULL, NULL, 2, parts, NULL, NULL, &code);
    assert_int_equal(code, CL_LINK_PROGRAM_FAILURE);
    if (failed) OK(clReleaseProgram(failed));
    for (int k = 0; k < 2; k++) OK(clReleaseProgram(parts[k]));
  }
  icd_end(&i);
}

// The attributes of a kernel, as the source writes them, in any order.
static void attributes_are_listed(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"", ""},
      {"vec_type_hint(uchar3)", "vec_type_hint(uchar3)"},
      {"vec_type_hint(half16)", "vec_type_hint(half16)"},
      {"reqd_work_group_size(4, 2, 1)", "reqd_work_group_size(4,2,1)"},
      {"vec_type_hint(float4), work_group_size_hint(1, 2, 3)",
       "work_group_size_hint(1,2,3) vec_type_hint(float4)"},
      {"work_group_size_hint(1, 1, 1), vec_type_hint(ulong2), reqd_work_group_size(1, 1, 1)",
       "reqd_work_group_size(1,1,1) work_group_size_hint(1,1,1) vec_type_hint(ulong2)"},
  };
  icd i = icd_begin(NULL, 0);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char source[256], text[256];
    snprintf(source, sizeof source, "__attribute__((%s)) kernel void k(void) {}\n", rows[r][0]);
    i.program = icd_build(&i, source, "-cl-std=CL3.0");
    cl_kernel kernel = icd_kernel(&i, "k");
    OK(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, NULL));
    assert_string_equal(text, rows[r][1]);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(i.program));
  }
  i.program = NULL;
  icd_end(&i);
}

static void kernels_tell_about_themselves(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  i.program = icd_build(&i,
                        "typedef float real;\n"
                        "kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
                        "void one(global const volatile real *restrict x, constant uint4 *c,\n"
                        "         local short *t, read_only image2d_t p, unsigned int n) {\n"
                        "  local int own[16]; own[n] = t[n]; }\n"
                        "kernel void two(void) {}\n",
                        "-cl-kernel-arg-info");
  cl_kernel kernels[2];
  cl_uint count;
  FAILS(CL_INVALID_VALUE, clCreateKernelsInProgram(i.program, 1, kernels, NULL));
  OK(clCreateKernelsInProgram(i.program, 2, kernels, &count));
  assert_int_equal(count, 2);
  char text[64];
  OK(clGetProgramInfo(i.program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
  assert_string_equal(text, "one;two");
  static const char *const names[] = {"x", "c", "t", "p", "n"};
  static const char *const types[] = {"real*", "uint4*", "short*", "image2d_t", "uint"};
  static const cl_uint spaces[] = {CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_CONSTANT,
                                   CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_GLOBAL,
                                   CL_KERNEL_ARG_ADDRESS_PRIVATE};
  for (cl_uint k = 0; k < 5; k++) {
    cl_uint space, access;
    OK(clGetKernelArgInfo(kernels[0], k, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    assert_string_equal(text, names[k]);
    OK(clGetKernelArgInfo(kernels[0], k, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    assert_string_equal(text, types[k]);
    OK(clGetKernelArgInfo(kernels[0], k, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                          NULL));
    assert_int_equal(space, spaces[k]);
    OK(clGetKernelArgInfo(kernels[0], k, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access,
                          NULL));
    assert_int_equal(access, k == 3 ? CL_KERNEL_ARG_ACCESS_READ_ONLY : CL_KERNEL_ARG_ACCESS_NONE);
  }
  cl_kernel_arg_type_qualifier qualifiers;
  OK(clGetKernelArgInfo(kernels[0], 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers,
                        NULL));
  assert_int_equal(qualifiers, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_VOLATILE |
                                   CL_KERNEL_ARG_TYPE_RESTRICT);
  size_t stated[3];
  OK(clGetKernelWorkGroupInfo(kernels[0], NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof stated,
                              stated, NULL));
  assert_true(stated[0] == 8 && stated[1] == 1 && stated[2] == 1);
  cl_ulong bytes;
  OK(clGetKernelWorkGroupInfo(kernels[0], i.device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes,
                              NULL));
  assert_int_equal(bytes, 64); // the argument is not set: nothing
  OK(clSetKernelArg(kernels[0], 2, 100, NULL));
  OK(clGetKernelWorkGroupInfo(kernels[0], i.device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes,
                              NULL));
  assert_int_equal(bytes, 164);
  OK(clReleaseKernel(kernels[0]));
  OK(clReleaseKernel(kernels[1]));
  icd_end(&i);
}

static void printf_prints(void **state) {
  (void)state;
  icd i = icd_begin(
      "kernel void say(int n) { printf(\"%d of %d\\n\", (int)get_global_id(0), n); }\n", 0);
  cl_kernel say = icd_kernel(&i, "say");
  int n = 3, ends[2];
  OK(clSetKernelArg(say, 0, sizeof n, &n));
  fflush(stdout);
  assert_int_equal(pipe(ends), 0);
  int kept = dup(1);
  dup2(ends[1], 1);
  icd_run(&i, say, 3);
  OK(clFinish(i.queue));
  fflush(stdout);
  dup2(kept, 1);
  close(ends[1]);
  char text[128];
  ssize_t size = read(ends[0], text, sizeof text - 1);
  assert_true(size > 0);
  text[size] = 0;
  assert_string_equal(text, "0 of 3\n1 of 3\n2 of 3\n");
  close(ends[0]);
  close(kept);
  OK(clReleaseKernel(say));
  icd_end(&i);
}

// ---- questions about programs -------------------------------------------------------------------

static cl_program_binary_type type_of(const icd *i, cl_program program) {
  cl_program_binary_type type = 99;
  size_t size = 0;
  OK(clGetProgramBuildInfo(program, i->device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, &size));
  assert_int_equal(size, sizeof type);
  return type;
}

static cl_uint number_of(cl_program program, cl_program_info what) {
  cl_uint number = 99;
  size_t size = 0;
  OK(clGetProgramInfo(program, what, sizeof number, &number, &size));
  assert_int_equal(size, sizeof number);
  FAILS(CL_INVALID_VALUE, clGetProgramInfo(program, what, sizeof number - 1, &number, NULL));
  return number;
}

static void programs_tell_about_themselves(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  const char *parts[] = {"kernel void one(void) {}\n// never read", "kernel void two(void) {}\n",
                         "kernel void three(void) {}\n"};
  const size_t sizes[] = {25, 0, 27};
  cl_int code;
  cl_program program = clCreateProgramWithSource(i.context, 3, parts, sizes, &code);
  OK(code);
  char text[128];
  size_t size = 0, count = 99;
  OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size));
  assert_string_equal(text, "kernel void one(void) {}\nkernel void two(void) {}\n"
                            "kernel void three(void) {}\n");
  assert_int_equal(size, strlen(text) + 1);
  FAILS(CL_INVALID_VALUE, clGetProgramInfo(program, CL_PROGRAM_SOURCE, size - 1, text, NULL));
  OK(clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text, NULL));
  assert_int_equal(number_of(program, CL_PROGRAM_REFERENCE_COUNT), 1);
  OK(clRetainProgram(program));
  assert_int_equal(number_of(program, CL_PROGRAM_REFERENCE_COUNT), 2);
  OK(clReleaseProgram(program));
  assert_int_equal(number_of(program, CL_PROGRAM_REFERENCE_COUNT), 1);
  assert_int_equal(number_of(program, CL_PROGRAM_NUM_DEVICES), 1);
  cl_context context = NULL;
  OK(clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, &size));
  assert_ptr_equal(context, i.context);
  cl_device_id devices[2] = {0};
  OK(clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, &size));
  assert_int_equal(size, sizeof *devices);
  assert_ptr_equal(devices[0], i.device);
  assert_int_equal(number_of(program, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT), CL_FALSE);
  assert_int_equal(number_of(program, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT), CL_FALSE);
  OK(clGetProgramInfo(program, CL_PROGRAM_IL, 0, NULL, &size));
  assert_int_equal(size, 0);
  // Before it is built there are no kernels.
  FAILS(CL_INVALID_PROGRAM_EXECUTABLE,
        clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
  assert_int_equal(type_of(&i, program), CL_PROGRAM_BINARY_TYPE_NONE);
  cl_build_status built;
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_STATUS, sizeof built, &built, NULL));
  assert_int_equal(built, CL_BUILD_NONE);
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, &size));
  assert_int_equal(size, 1);
  assert_string_equal(text, "");
  OK(clCompileProgram(program, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
  assert_int_equal(type_of(&i, program), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
  FAILS(CL_INVALID_PROGRAM_EXECUTABLE,
        clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
  OK(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  assert_int_equal(type_of(&i, program), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  OK(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, &size));
  assert_int_equal(count, 3);
  assert_int_equal(size, sizeof count);
  OK(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, &size));
  assert_string_equal(text, "one;two;three");
  assert_int_equal(size, sizeof "one;two;three");
  OK(clGetProgramBuildInfo(program, i.device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                           sizeof count, &count, NULL));
  assert_int_equal(count, 0);
  OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 0, NULL, &size));
  assert_int_equal(size, sizeof(size_t));
  FAILS(CL_INVALID_VALUE, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 4, &size, NULL));
  unsigned char *none = NULL;
  OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, 0, NULL, &size));
  assert_int_equal(size, sizeof(void *));
  FAILS(CL_INVALID_VALUE, clGetProgramInfo(program, CL_PROGRAM_BINARIES, 4, &none, NULL));
  OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof none, &none, NULL)); // nowhere to put it
  FAILS(CL_INVALID_VALUE, clGetProgramInfo(program, 0x4242, sizeof text, text, NULL));
  FAILS(CL_INVALID_VALUE, clGetProgramBuildInfo(program, i.device, 0x4242, 64, text, NULL));
  FAILS(CL_INVALID_DEVICE, clGetProgramBuildInfo(program, (cl_device_id)i.context,
                                                 CL_PROGRAM_BUILD_LOG, 64, text, NULL));
  FAILS(CL_INVALID_PROGRAM,
        clGetProgramInfo((cl_program)i.context, CL_PROGRAM_SOURCE, 64, text, NULL));
  FAILS(CL_INVALID_PROGRAM, clGetProgramBuildInfo((cl_program)i.context, i.device,
                                                  CL_PROGRAM_BUILD_LOG, 64, text, NULL));
  FAILS(CL_INVALID_OPERATION, clSetProgramSpecializationConstant(program, 0, 4, &code));
  FAILS(CL_INVALID_PROGRAM, clSetProgramSpecializationConstant((cl_program)i.context, 0, 4, &code));
  FAILS(CL_INVALID_PROGRAM, clRetainProgram((cl_program)i.context));
  FAILS(CL_INVALID_PROGRAM, clReleaseProgram((cl_program)i.context));
  OK(clReleaseProgram(program));
  icd_end(&i);
}

// Each argument of what makes programs, given wrongly.
static void programs_that_cannot_be_made(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  const char *text = source, *none[] = {source, NULL};
  const unsigned char *bytes = (const unsigned char *)source;
  const size_t size = 8, empty = 0;
  const cl_device_id wrong = (cl_device_id)i.context;
  const cl_context other = (cl_context)i.queue;
  cl_int code, status = 99;
#define REFUSES(expected, call)                                                                    \
  do {                                                                                             \
    code = 1;                                                                                      \
    assert_null(call);                                                                             \
    assert_int_equal(code, expected);                                                              \
  } while (0)
  REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithSource(other, 1, &text, NULL, &code));
  REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(i.context, 0, &text, NULL, &code));
  REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(i.context, 1, NULL, NULL, &code));
  REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(i.context, 2, none, NULL, &code));
#define BINARY(context, count, devices, sizes, given)                                              \
  clCreateProgramWithBinary(context, count, devices, sizes, given, &status, &code)
  REFUSES(CL_INVALID_CONTEXT, BINARY(other, 1, &i.device, &size, &bytes));
  REFUSES(CL_INVALID_VALUE, BINARY(i.context, 0, &i.device, &size, &bytes));
  REFUSES(CL_INVALID_VALUE, BINARY(i.context, 1, NULL, &size, &bytes));
  REFUSES(CL_INVALID_VALUE, BINARY(i.context, 1, &i.device, NULL, &bytes));
  REFUSES(CL_INVALID_VALUE, BINARY(i.context, 1, &i.device, &size, NULL));
  REFUSES(CL_INVALID_DEVICE, BINARY(i.context, 1, &wrong, &size, &bytes));
  assert_int_equal(status, 99);
  REFUSES(CL_INVALID_VALUE, BINARY(i.context, 1, &i.device, &empty, &bytes));
  assert_int_equal(status, CL_INVALID_VALUE);
  const unsigned char *nothing = NULL;
  REFUSES(CL_INVALID_VALUE, BINARY(i.context, 1, &i.device, &size, &nothing));
#define BUILT_IN(context, count, devices, names)                                                   \
  clCreateProgramWithBuiltInKernels(context, count, devices, names, &code)
  REFUSES(CL_INVALID_CONTEXT, BUILT_IN(other, 1, &i.device, "k"));
  REFUSES(CL_INVALID_VALUE, BUILT_IN(i.context, 0, &i.device, "k"));
  REFUSES(CL_INVALID_VALUE, BUILT_IN(i.context, 1, NULL, "k"));
  REFUSES(CL_INVALID_VALUE, BUILT_IN(i.context, 1, &i.device, NULL));
  REFUSES(CL_INVALID_DEVICE, BUILT_IN(i.context, 1, &wrong, "k"));
  REFUSES(CL_INVALID_VALUE, BUILT_IN(i.context, 1, &i.device, "k"));
  REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithIL(other, "spirv", 5, &code));
  REFUSES(CL_INVALID_VALUE, clCreateProgramWithIL(i.context, NULL, 5, &code));
  REFUSES(CL_INVALID_VALUE, clCreateProgramWithIL(i.context, "spirv", 0, &code));
  icd_end(&i);
}

// What a kernel leaves in a variable of its program the next one finds, whatever buffers it has.
static void variables_of_a_program_last(void **state) {
  (void)state;
  static const char text[] = "global int counter;\nglobal float table[70];\n"
                             "global int begun = 7;\n"
                             "kernel void add(int n) {\n  atomic_add(&counter, n);\n"
                             "  atomic_add(&begun, n);\n"
                             "  table[69] = table[69] + 0.5f;\n}\n"
                             "kernel void get(global int *o) {\n  o[0] = counter;\n"
                             "  o[1] = (int)(table[69] * 2);\n  o[2] = table[0] == 0;\n"
                             "  o[3] = begun;\n}\n";
  icd i = icd_begin(text, 0);
  cl_program again = icd_build(&i, text, NULL);
  int out[4], steps[] = {3, 40};
  cl_mem o = icd_buffer(&i, sizeof out, NULL);
  cl_kernel add = icd_kernel(&i, "add"), get = icd_kernel(&i, "get");
  for (int k = 0; k < 2; k++) {
    OK(clSetKernelArg(add, 0, sizeof(int), &steps[k]));
    icd_run(&i, add, 1);
  }
  OK(clSetKernelArg(get, 0, sizeof o, &o));
  icd_run(&i, get, 1);
  icd_read(&i, o, sizeof out, out);
  assert_true(out[0] == 43 && out[1] == 2 && out[2] == 1 && out[3] == 50);
  // Another program of the same text has variables of its own, which begin anew.
  cl_kernel fresh = clCreateKernel(again, "get", NULL);
  OK(clSetKernelArg(fresh, 0, sizeof o, &o));
  icd_run(&i, fresh, 1);
  icd_read(&i, o, sizeof out, out);
  assert_true(out[0] == 0 && out[1] == 0 && out[2] == 1 && out[3] == 7);
  OK(clReleaseKernel(fresh));
  OK(clReleaseKernel(add));
  OK(clReleaseKernel(get));
  OK(clReleaseMemObject(o));
  OK(clReleaseProgram(again));
  icd_end(&i);
}

static void kernels_tell_their_attributes(void **state) {
  (void)state;
  static const char *const attributes[] = {
      "", "reqd_work_group_size(8,2,1)", "work_group_size_hint(64,1,1)",
      "reqd_work_group_size(4,4,2) work_group_size_hint(4,4,2)"};
  icd i = icd_begin("kernel void k0(void) {}\n"
                    "kernel __attribute__((reqd_work_group_size(8, 2, 1))) void k1(void) {}\n"
                    "kernel __attribute__((work_group_size_hint(64, 1, 1))) void k2(void) {}\n"
                    "kernel __attribute__((reqd_work_group_size(4, 4, 2)))\n"
                    "__attribute__((work_group_size_hint(4, 4, 2))) void k3(void) {}\n",
                    0);
  for (int n = 0; n < 4; n++) {
    char name[] = {'k', (char)('0' + n), 0}, text[100];
    size_t size = 0;
    cl_kernel k = icd_kernel(&i, name);
    OK(clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, sizeof text, text, &size));
    assert_string_equal(text, attributes[n]);
    assert_int_equal(size, strlen(attributes[n]) + 1);
    FAILS(CL_INVALID_VALUE, clGetKernelInfo(k, CL_KERNEL_ATTRIBUTES, size - 1, text, NULL));
    OK(clReleaseKernel(k));
  }
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_count),
      cmocka_unit_test(logs_say_what_is_wrong),
      cmocka_unit_test(refused_kernels_fail_early),
      cmocka_unit_test(kernels_of_long_programs_are_refused_when_created),
      cmocka_unit_test(binaries_run_and_damaged_ones_do_not),
      cmocka_unit_test(sources_are_linked),
      cmocka_unit_test(units_may_say_the_same),
      cmocka_unit_test(attributes_are_listed),
      cmocka_unit_test(kernels_tell_about_themselves),
      cmocka_unit_test(programs_tell_about_themselves),
      cmocka_unit_test(programs_that_cannot_be_made),
      cmocka_unit_test(variables_of_a_program_last),
      cmocka_unit_test(kernels_tell_their_attributes),
      cmocka_unit_test(printf_prints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
