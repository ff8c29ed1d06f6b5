// SPDX-License-Identifier: MIT
//
// The OpenCL driver as a client sees it: kernels with every kind of argument, offsets, workgroups,
// memory that is passed twice, handles that are wrong.
#include "../icd.h"

static const char saxpy[] = "kernel void saxpy(float a, global const float *x, global float *y) {\n"
                            "  size_t i = get_global_id(0);\n"
                            "  y[i] = a * x[i] + y[i];\n"
                            "}\n";

enum { COUNT = 1000 };

static void run_saxpy(cl_device_type type) {
  icd i = icd_begin_device(saxpy, 0, type);
  float a = 2, x[COUNT], y[COUNT], out[COUNT];
  for (int k = 0; k < COUNT; k++) x[k] = (float)k, y[k] = 1;
  cl_mem bx = icd_buffer(&i, sizeof x, x), by = icd_buffer(&i, sizeof y, y);
  cl_kernel kernel = icd_kernel(&i, "saxpy");
  OK(clSetKernelArg(kernel, 0, sizeof a, &a));
  OK(clSetKernelArg(kernel, 1, sizeof bx, &bx));
  OK(clSetKernelArg(kernel, 2, sizeof by, &by));
  for (int round = 1; round <= 3; round++) {
    icd_run(&i, kernel, COUNT);
    icd_read(&i, by, sizeof out, out);
    for (int k = 0; k < COUNT; k++) assert_true(out[k] == (float)(2 * k * round + 1));
  }
  OK(clReleaseKernel(kernel));
  OK(clReleaseMemObject(bx));
  OK(clReleaseMemObject(by));
  icd_end(&i);
}

static void a_kernel_runs(void **state) {
  (void)state;
  run_saxpy(CL_DEVICE_TYPE_CPU);
}

static void a_kernel_is_routed(void **state) {
  (void)state;
  run_saxpy(CL_DEVICE_TYPE_ACCELERATOR);
}

// ---- arguments ----------------------------------------------------------------------------------

static const char arguments[] =
    "typedef struct { char c; double d; short s[3]; float4 v; } mixed;\n"
    "kernel void all(char c, ushort2 u, float3 f, mixed m, long l, global double *o,\n"
    "                local int *t) {\n"
    "  int i = get_local_id(0);\n"
    "  t[i] = i;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (i) return;\n"
    "  int sum = 0;\n"
    "  for (int k = 0; k < get_local_size(0); k++) sum += t[k];\n"
    "  o[0] = c; o[1] = u.x; o[2] = u.y; o[3] = f.x; o[4] = f.y; o[5] = f.z;\n"
    "  o[6] = m.c; o[7] = m.d; o[8] = m.s[0]; o[9] = m.s[1]; o[10] = m.s[2];\n"
    "  o[11] = m.v.x; o[12] = m.v.w; o[13] = l; o[14] = sum;\n"
    "}\n";

typedef struct mixed {
  cl_char c;
  cl_double d;
  cl_short s[3];
  cl_float4 v;
} mixed;

static void arguments_have_the_layout_of_c(void **state) {
  (void)state;
  icd i = icd_begin(arguments, 0);
  cl_kernel kernel = icd_kernel(&i, "all");
  cl_char c = -5;
  cl_ushort2 u = {{65535, 7}};
  cl_float3 f = {{1.5f, 2.5f, -3.5f}};
  mixed m = {.c = 9, .d = 0.1, .s = {-1, 2, -3}, .v = {{4, 0, 0, 8}}};
  cl_long l = -123456789012;
  double out[15];
  cl_mem o = icd_buffer(&i, sizeof out, NULL);
  OK(clSetKernelArg(kernel, 0, sizeof c, &c));
  OK(clSetKernelArg(kernel, 1, sizeof u, &u));
  OK(clSetKernelArg(kernel, 2, sizeof f, &f));
  OK(clSetKernelArg(kernel, 3, sizeof m, &m));
  OK(clSetKernelArg(kernel, 4, sizeof l, &l));
  OK(clSetKernelArg(kernel, 5, sizeof o, &o));
  size_t local[] = {8, 32, 8};
  for (int round = 0; round < 3; round++) { // another size of local memory is another program
    OK(clSetKernelArg(kernel, 6, local[round] * sizeof(int), NULL));
    OK(clEnqueueNDRangeKernel(i.queue, kernel, 1, NULL, &local[round], &local[round], 0, NULL,
                              NULL));
    icd_read(&i, o, sizeof out, out);
    double sum = (double)(local[round] * (local[round] - 1)) / 2;
    const double wanted[15] = {-5, 65535,           7,  1.5, 2.5, -3.5, 9, 0.1, -1, 2, -3, 4,
                               8,  -123456789012.0, sum};
    for (int k = 0; k < 15; k++) assert_true(out[k] == wanted[k]);
  }
  OK(clReleaseMemObject(o));
  OK(clReleaseKernel(kernel));
  icd_end(&i);
}

static void arguments_are_checked(void **state) {
  (void)state;
  icd i = icd_begin(arguments, 0);
  cl_kernel kernel = icd_kernel(&i, "all");
  cl_mem o = icd_buffer(&i, 64, NULL);
  char bytes[64] = {0};
  size_t one = 1;
  FAILS(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 7, 1, bytes));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 0, 4, bytes));
  FAILS(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 0, 1, NULL));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 5, 4, &o));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 6, 0, NULL));
  FAILS(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 6, 8, bytes));
  cl_mem wrong = (cl_mem)(void *)i.context;
  FAILS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 5, sizeof wrong, &wrong));
  FAILS(CL_INVALID_KERNEL_ARGS,
        clEnqueueNDRangeKernel(i.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
  OK(clReleaseMemObject(o));
  OK(clReleaseKernel(kernel));
  icd_end(&i);
}

// ---- launches -----------------------------------------------------------------------------------

static const char ids[] =
    "kernel void ids(global uint *o) {\n"
    "  size_t x = get_global_id(0) - get_global_offset(0);\n"
    "  size_t y = get_global_id(1) - get_global_offset(1);\n"
    "  size_t at = 4 * (y * get_global_size(0) + x);\n"
    "  o[at] = get_global_id(0); o[at + 1] = get_global_id(1);\n"
    "  o[at + 2] = get_group_id(0) * 100 + get_local_id(0); o[at + 3] = get_local_size(1);\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void stated(global uint *o) {\n"
    "  o[get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1);\n"
    "}\n";

static void launches_have_offsets_and_workgroups(void **state) {
  (void)state;
  icd i = icd_begin(ids, 0);
  cl_kernel kernel = icd_kernel(&i, "ids");
  enum { W = 12, H = 6 };
  cl_uint out[H][W][4];
  cl_mem o = icd_buffer(&i, sizeof out, NULL);
  OK(clSetKernelArg(kernel, 0, sizeof o, &o));
  size_t global[] = {W, H};
  const size_t locals[][2] = {{4, 3}, {6, 2}, {1, 1}};
  for (size_t round = 0; round < 6; round++) {
    const size_t *local = locals[round % 3], offset[] = {1000 * round, 7 * round};
    OK(clEnqueueNDRangeKernel(i.queue, kernel, 2, offset, global, local, 0, NULL, NULL));
    icd_read(&i, o, sizeof out, out);
    for (size_t y = 0; y < H; y++)
      for (size_t x = 0; x < W; x++) {
        assert_int_equal(out[y][x][0], x + offset[0]);
        assert_int_equal(out[y][x][1], y + offset[1]);
        assert_int_equal(out[y][x][2], x / local[0] * 100 + x % local[0]);
        assert_int_equal(out[y][x][3], local[1]);
      }
  }
  OK(clReleaseMemObject(o));
  OK(clReleaseKernel(kernel));
  icd_end(&i);
}

static void launches_are_checked(void **state) {
  (void)state;
  icd i = icd_begin(ids, 0);
  cl_kernel kernel = icd_kernel(&i, "ids"), stated = icd_kernel(&i, "stated");
  cl_mem o = icd_buffer(&i, 4096, NULL);
  OK(clSetKernelArg(kernel, 0, sizeof o, &o));
  OK(clSetKernelArg(stated, 0, sizeof o, &o));
  size_t global[] = {8, 4, 1}, odd[] = {3, 1, 1}, large[] = {1024, 2, 1}, none[] = {0, 4, 1};
  size_t fits[] = {4, 2, 1}, wide[] = {2048, 2, 1};
#define ENQUEUE(k, rank, offset, size, local)                                                      \
  clEnqueueNDRangeKernel(i.queue, k, rank, offset, size, local, 0, NULL, NULL)
  FAILS(CL_INVALID_WORK_DIMENSION, ENQUEUE(kernel, 0, NULL, global, NULL));
  FAILS(CL_INVALID_WORK_DIMENSION, ENQUEUE(kernel, 4, NULL, global, NULL));
  FAILS(CL_INVALID_WORK_GROUP_SIZE, ENQUEUE(kernel, 2, NULL, global, odd));
  FAILS(CL_INVALID_WORK_GROUP_SIZE, ENQUEUE(kernel, 2, NULL, wide, large));
  FAILS(CL_INVALID_WORK_ITEM_SIZE, ENQUEUE(kernel, 2, NULL, wide, wide));
  FAILS(CL_INVALID_WORK_GROUP_SIZE, ENQUEUE(stated, 2, NULL, global, global));
  OK(ENQUEUE(kernel, 2, NULL, none, NULL)); // nothing runs
  OK(ENQUEUE(stated, 2, NULL, global, fits));
  OK(ENQUEUE(stated, 2, NULL, global, NULL));
  cl_uint out[1];
  icd_read(&i, o, sizeof out, out);
  assert_int_equal(out[0], 42);
  cl_event wrong[] = {(cl_event)(void *)kernel};
  FAILS(CL_INVALID_EVENT_WAIT_LIST,
        clEnqueueNDRangeKernel(i.queue, kernel, 2, NULL, global, NULL, 1, wrong, NULL));
  FAILS(CL_INVALID_EVENT_WAIT_LIST,
        clEnqueueNDRangeKernel(i.queue, kernel, 2, NULL, global, NULL, 1, NULL, NULL));
  OK(clReleaseKernel(stated));
  OK(clReleaseKernel(kernel));
  OK(clReleaseMemObject(o));
  icd_end(&i);
}

// ---- memory that arguments share ----------------------------------------------------------------

static const char shared[] =
    "kernel void prefix(global int *to, global const int *from, global const int *more, int n) {\n"
    "  for (int k = 0; k < n; k++) to[k] = from[k] + (more ? more[k] : 1000);\n"
    "}\n";

static void arguments_may_share_memory(void **state) {
  (void)state;
  icd i = icd_begin(shared, 0);
  cl_kernel kernel = icd_kernel(&i, "prefix");
  enum { N = 96 };
  int data[N], out[N], n = 32;
  for (int k = 0; k < N; k++) data[k] = k;
  cl_mem whole = icd_buffer(&i, sizeof data, data), none = NULL;
  cl_int code;
  cl_buffer_region parts[] = {{0, 64 * sizeof(int)}, {32 * sizeof(int), 64 * sizeof(int)}};
  cl_mem a = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &parts[0], &code);
  OK(code);
  cl_mem b = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &parts[1], &code);
  OK(code);
  OK(clSetKernelArg(kernel, 0, sizeof a, &b)); // element 32 of the whole and on
  OK(clSetKernelArg(kernel, 1, sizeof a, &a));
  OK(clSetKernelArg(kernel, 2, sizeof none, &whole));
  n = 64;
  OK(clSetKernelArg(kernel, 3, sizeof n, &n));
  OK(clEnqueueTask(i.queue, kernel, 0, NULL, NULL));
  icd_read(&i, whole, sizeof out, out);
  for (int k = 0; k < 64; k++) data[32 + k] = data[k] + data[k];
  assert_memory_equal(out, data, sizeof data);
  OK(clSetKernelArg(kernel, 0, sizeof a, &whole)); // in place, and a null pointer
  OK(clSetKernelArg(kernel, 1, sizeof a, &whole));
  OK(clSetKernelArg(kernel, 2, sizeof none, &none));
  OK(clEnqueueTask(i.queue, kernel, 0, NULL, NULL));
  icd_read(&i, whole, sizeof out, out);
  for (int k = 0; k < 64; k++) data[k] += 1000;
  assert_memory_equal(out, data, sizeof data);
  OK(clReleaseMemObject(whole)); // its parts keep it
  OK(clReleaseMemObject(a));
  OK(clReleaseMemObject(b));
  OK(clReleaseKernel(kernel));
  icd_end(&i);
}

// ---- handles ------------------------------------------------------------------------------------

static void wrong_handles_are_refused(void **state) {
  (void)state;
  icd i = icd_begin(saxpy, 0);
  cl_mem m = icd_buffer(&i, 64, NULL);
  cl_uint count;
  OK(clRetainMemObject(m));
  OK(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL));
  assert_int_equal(count, 2);
  OK(clReleaseMemObject(m));
  OK(clReleaseMemObject(m));
  FAILS(CL_INVALID_MEM_OBJECT, clReleaseMemObject(m));
  FAILS(CL_INVALID_MEM_OBJECT, clRetainMemObject(m));
  FAILS(CL_INVALID_MEM_OBJECT, clReleaseMemObject((cl_mem)(void *)i.queue));
  FAILS(CL_INVALID_COMMAND_QUEUE, clFinish((cl_command_queue)(void *)i.context));
  FAILS(CL_INVALID_CONTEXT, clRetainContext((cl_context)(void *)i.program));
  FAILS(CL_INVALID_PROGRAM, clReleaseProgram((cl_program)(void *)i.context));
  FAILS(CL_INVALID_DEVICE,
        clGetDeviceInfo((cl_device_id)(void *)i.context, CL_DEVICE_TYPE, 0, NULL, NULL));
  cl_kernel kernel = icd_kernel(&i, "saxpy");
  cl_program program = i.program;
  FAILS(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
  OK(clReleaseProgram(program)); // the kernel keeps it
  FAILS(CL_INVALID_PROGRAM, clReleaseProgram(program));
  cl_program of_kernel;
  OK(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof of_kernel, &of_kernel, NULL));
  assert_ptr_equal(of_kernel, program);
  OK(clRetainProgram(program));
  OK(clReleaseKernel(kernel));
  FAILS(CL_INVALID_KERNEL, clReleaseKernel(kernel));
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_kernel_runs),
      cmocka_unit_test(a_kernel_is_routed),
      cmocka_unit_test(arguments_have_the_layout_of_c),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(launches_have_offsets_and_workgroups),
      cmocka_unit_test(launches_are_checked),
      cmocka_unit_test(arguments_may_share_memory),
      cmocka_unit_test(wrong_handles_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
