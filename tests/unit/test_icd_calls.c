// SPDX-License-Identifier: MIT
//
// Calls of the OpenCL driver at their edges: arguments of kernels, launches that just fit and that
// do not, ranges and boxes of buffers whatever the numbers, and what is asked about kernels and
// memory.
#include "../icd.h"

static const char source[] =
    "struct pair { int a, b; };\n"
    "kernel void all(global int *o, constant int *c, local int *l, int n, struct pair p) {\n"
    "  size_t i = get_global_id(0);\n"
    "  l[get_local_id(0)] = n;\n"
    "  o[i] = l[get_local_id(0)] + c[0] + p.a * 1000 + p.b * 100000;\n"
    "}\n"
    "kernel void where(global int *o) {\n"
    "  size_t i = get_global_linear_id();\n"
    "  o[i] = get_global_id(0) + 10 * get_global_id(1) + 100 * get_global_id(2);\n"
    "}\n"
    "__attribute__((reqd_work_group_size(4, 2, 1))) kernel void stated(global int *o) {\n"
    "  local int room[6];\n"
    "  room[0] = 1;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  o[get_global_id(0)] = get_local_size(0) + room[0];\n"
    "}\n"
    "kernel void groups(global int *o) { o[get_global_id(0)] = get_local_size(0); }\n";

static void test_arguments(void **state) {
  (void)state;
  icd i = icd_begin(source, 0);
  cl_kernel k = icd_kernel(&i, "all");
  const int one = 7, n = 5, pair[2] = {2, 3};
  cl_mem o = icd_buffer(&i, 16, NULL), c = icd_buffer(&i, 4, &one), wrong = (cl_mem)i.context;
  const size_t four = 4;
  cl_int code = 1;
  FAILS(CL_INVALID_ARG_INDEX, clSetKernelArg(k, 5, 4, &n));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 4, &o));
  FAILS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof o, &wrong));
  FAILS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 2, 16, &n));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2, 0, NULL));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 2, (1 << 18) + 1, NULL));
  FAILS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 3, 4, NULL));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 3, 8, pair));
  FAILS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 4, 4, pair));
  OK(clSetKernelArg(k, 0, sizeof o, &o));
  OK(clSetKernelArg(k, 1, sizeof c, &c));
  OK(clSetKernelArg(k, 2, 1 << 18, NULL));
  OK(clSetKernelArg(k, 2, 16, NULL));
  OK(clSetKernelArg(k, 3, 4, &n));
  OK(clSetKernelArg(k, 3, 4, &n)); // again is not another one
  FAILS(CL_INVALID_KERNEL_ARGS,
        clEnqueueNDRangeKernel(i.queue, k, 1, NULL, &four, NULL, 0, NULL, NULL));
  cl_kernel before = clCloneKernel(k, &code);
  OK(code);
  OK(clSetKernelArg(k, 4, sizeof pair, pair));
  icd_run(&i, k, 4);
  int out[4];
  icd_read(&i, o, sizeof out, out);
  for (int j = 0; j < 4; j++) assert_int_equal(out[j], 302012);
  // A copy has the arguments that were set, and its own from then on.
  FAILS(CL_INVALID_KERNEL_ARGS,
        clEnqueueNDRangeKernel(i.queue, before, 1, NULL, &four, NULL, 0, NULL, NULL));
  const int other[2] = {1, 1};
  OK(clSetKernelArg(before, 4, sizeof other, other));
  icd_run(&i, before, 4);
  icd_read(&i, o, sizeof out, out);
  for (int j = 0; j < 4; j++) assert_int_equal(out[j], 101012);
  icd_run(&i, k, 4);
  icd_read(&i, o, sizeof out, out);
  assert_int_equal(out[3], 302012);
  assert_null(clCloneKernel((cl_kernel)i.context, &code));
  FAILS(CL_INVALID_KERNEL, code);
  FAILS(CL_INVALID_KERNEL, clSetKernelArg((cl_kernel)i.context, 0, 4, &n));
  OK(clReleaseKernel(k));
  OK(clReleaseKernel(before));
  OK(clReleaseMemObject(o));
  OK(clReleaseMemObject(c));
  icd_end(&i);
}

static void test_launches(void **state) {
  (void)state;
  icd i = icd_begin(source, 0);
  static const struct {
    const char *kernel;
    cl_uint rank;
    size_t size[3], local[3];
    bool has_local;
    cl_int code;
  } rows[] = {
      {"groups", 0, {8, 1, 1}, {0}, false, CL_INVALID_WORK_DIMENSION},
      {"groups", 4, {8, 1, 1}, {0}, false, CL_INVALID_WORK_DIMENSION},
      {"groups", 1, {1u << 31}, {0}, false, CL_INVALID_GLOBAL_WORK_SIZE},
      {"groups", 2, {8, 1u << 31}, {0}, false, CL_INVALID_GLOBAL_WORK_SIZE},
      {"groups", 1, {8}, {3}, true, CL_INVALID_WORK_GROUP_SIZE},
      {"groups", 1, {8}, {0}, true, CL_INVALID_WORK_GROUP_SIZE},
      {"groups", 1, {8}, {4}, true, CL_SUCCESS},
      {"groups", 1, {1024}, {1024}, true, CL_SUCCESS},
      {"groups", 1, {2048}, {1025}, true, CL_INVALID_WORK_ITEM_SIZE},
      {"groups", 2, {1024, 2}, {1024, 2}, true, CL_INVALID_WORK_GROUP_SIZE},
      {"groups", 2, {512, 2}, {512, 2}, true, CL_SUCCESS},
      {"groups", 1, {0}, {0}, false, CL_SUCCESS}, // nothing to do
      {"stated", 2, {8, 2}, {4, 2}, true, CL_SUCCESS},
      {"stated", 2, {8, 2}, {0}, false, CL_SUCCESS},
      {"stated", 2, {8, 2}, {2, 2}, true, CL_INVALID_WORK_GROUP_SIZE},
      {"stated", 2, {6, 2}, {0}, false, CL_INVALID_WORK_GROUP_SIZE},
      {"stated", 1, {8}, {4}, true, CL_INVALID_WORK_GROUP_SIZE},
  };
  cl_mem o = icd_buffer(&i, 8192, NULL);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    cl_kernel k = icd_kernel(&i, rows[r].kernel);
    OK(clSetKernelArg(k, 0, sizeof o, &o));
    cl_int code = clEnqueueNDRangeKernel(i.queue, k, rows[r].rank, NULL, rows[r].size,
                                         rows[r].has_local ? rows[r].local : NULL, 0, NULL, NULL);
    if (code != rows[r].code) fail_msg("row %zu: %d", r, code);
    OK(clFinish(i.queue));
    OK(clReleaseKernel(k));
  }
  // The group is the largest of up to 64 that divides the grid.
  static const size_t sizes[][2] = {{1, 1}, {64, 64}, {65, 13}, {128, 64}, {67, 1}, {96, 48}};
  cl_kernel k = icd_kernel(&i, "groups");
  OK(clSetKernelArg(k, 0, sizeof o, &o));
  int out[128];
  for (size_t r = 0; r < sizeof sizes / sizeof *sizes; r++) {
    icd_run(&i, k, sizes[r][0]);
    icd_read(&i, o, sizes[r][0] * 4, out);
    for (size_t j = 0; j < sizes[r][0]; j++) assert_int_equal(out[j], sizes[r][1]);
  }
  OK(clReleaseKernel(k));
  // Offsets, on every axis, and too far.
  k = icd_kernel(&i, "where");
  OK(clSetKernelArg(k, 0, sizeof o, &o));
  const size_t offset[3] = {1, 2, 3}, size[3] = {2, 2, 2}, far[3] = {SIZE_MAX - 1, 0, 0};
  OK(clEnqueueNDRangeKernel(i.queue, k, 3, offset, size, NULL, 0, NULL, NULL));
  icd_read(&i, o, 32, out);
  for (int j = 0; j < 8; j++)
    assert_int_equal(out[j], 321 + j % 2 + 10 * (j / 2 % 2) + 100 * (j / 4));
  OK(clEnqueueTask(i.queue, k, 0, NULL, NULL));
  icd_read(&i, o, 4, out);
  assert_int_equal(out[0], 0);
  FAILS(CL_INVALID_GLOBAL_OFFSET,
        clEnqueueNDRangeKernel(i.queue, k, 1, far, size, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_KERNEL, clEnqueueTask(i.queue, (cl_kernel)i.context, 0, NULL, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueTask((cl_command_queue)i.context, k, 0, NULL, NULL));
  OK(clReleaseKernel(k));
  OK(clReleaseMemObject(o));
  icd_end(&i);
}

static void test_questions(void **state) {
  (void)state;
  icd i = icd_begin(source, 0);
  cl_kernel k = icd_kernel(&i, "stated"), all[5] = {0};
  size_t sizes[3] = {0}, size = 0;
  cl_ulong bytes = 99;
  cl_uint count = 0;
  char text[64];
  cl_context context = NULL;
  cl_program program = NULL;
  OK(clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof text, text, &size));
  assert_string_equal(text, "stated");
  assert_int_equal(size, 7);
  OK(clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
  assert_int_equal(count, 1);
  OK(clGetKernelInfo(k, CL_KERNEL_REFERENCE_COUNT, sizeof count, &count, NULL));
  assert_int_equal(count, 1);
  OK(clGetKernelInfo(k, CL_KERNEL_CONTEXT, sizeof context, &context, NULL));
  OK(clGetKernelInfo(k, CL_KERNEL_PROGRAM, sizeof program, &program, NULL));
  assert_ptr_equal(context, i.context);
  assert_ptr_equal(program, i.program);
  FAILS(CL_INVALID_VALUE, clGetKernelInfo(k, 0x4242, sizeof text, text, NULL));
  FAILS(CL_INVALID_KERNEL,
        clGetKernelInfo((cl_kernel)i.context, CL_KERNEL_NUM_ARGS, 0, NULL, NULL));
  OK(clGetKernelWorkGroupInfo(k, NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes, sizes,
                              &size));
  assert_int_equal(size, sizeof sizes);
  assert_true(sizes[0] == 4 && sizes[1] == 2 && sizes[2] == 1);
  OK(clGetKernelWorkGroupInfo(k, i.device, CL_KERNEL_WORK_GROUP_SIZE, 8, &size, NULL));
  assert_int_equal(size, 1024);
  OK(clGetKernelWorkGroupInfo(k, i.device, CL_KERNEL_LOCAL_MEM_SIZE, 8, &bytes, NULL));
  assert_int_equal(bytes, 24);
  OK(clGetKernelWorkGroupInfo(k, i.device, CL_KERNEL_PRIVATE_MEM_SIZE, 8, &bytes, NULL));
  assert_int_equal(bytes, 0);
  FAILS(CL_INVALID_VALUE,
        clGetKernelWorkGroupInfo(k, i.device, CL_KERNEL_GLOBAL_WORK_SIZE, 24, sizes, NULL));
  FAILS(CL_INVALID_DEVICE, clGetKernelWorkGroupInfo(k, (cl_device_id)i.context,
                                                    CL_KERNEL_WORK_GROUP_SIZE, 8, &size, NULL));
  FAILS(CL_INVALID_VALUE, clCreateKernelsInProgram(i.program, 3, all, &count));
  OK(clCreateKernelsInProgram(i.program, 5, all, &count));
  assert_int_equal(count, 4);
  assert_null(all[4]);
  for (cl_uint j = 0; j < count; j++) OK(clReleaseKernel(all[j]));
  OK(clCreateKernelsInProgram(i.program, 0, NULL, &count));
  assert_int_equal(count, 4);
  cl_int code = 1;
  assert_null(clCreateKernel(i.program, NULL, &code));
  FAILS(CL_INVALID_VALUE, code);
  assert_null(clCreateKernel((cl_program)i.context, "all", &code));
  FAILS(CL_INVALID_PROGRAM, code);
  // Memory.
  int host[8];
  cl_mem m = clCreateBuffer(i.context, CL_MEM_USE_HOST_PTR, sizeof host, host, &code);
  OK(code);
  cl_mem_object_type type = 0;
  void *at = NULL;
  cl_mem parent = m;
  OK(clRetainMemObject(m));
  OK(clGetMemObjectInfo(m, CL_MEM_TYPE, sizeof type, &type, NULL));
  OK(clGetMemObjectInfo(m, CL_MEM_HOST_PTR, sizeof at, &at, NULL));
  OK(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
  OK(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL));
  OK(clGetMemObjectInfo(m, CL_MEM_CONTEXT, sizeof context, &context, NULL));
  OK(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL));
  assert_int_equal(type, CL_MEM_OBJECT_BUFFER);
  assert_ptr_equal(at, host);
  assert_null(parent);
  assert_int_equal(count, 2);
  assert_ptr_equal(context, i.context);
  assert_int_equal(size, sizeof host);
  OK(clGetMemObjectInfo(m, CL_MEM_USES_SVM_POINTER, sizeof count, &count, NULL));
  assert_int_equal(count, CL_FALSE);
  FAILS(CL_INVALID_VALUE, clGetMemObjectInfo(m, 0x4242, sizeof size, &size, NULL));
  FAILS(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(m, NULL, NULL));
  OK(clReleaseMemObject(m));
  OK(clReleaseMemObject(m));
  OK(clReleaseKernel(k));
  icd_end(&i);
}

static void test_ranges(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static char room[4096];
  cl_mem a = icd_buffer(&i, 64, NULL), b = icd_buffer(&i, 64, NULL);
  static const struct {
    size_t offset, size;
    bool is_inside;
  } rows[] = {{0, 64, true},  {63, 1, true},  {64, 0, true},        {0, 65, false},
              {64, 1, false}, {65, 0, false}, {1, SIZE_MAX, false}, {SIZE_MAX, 1, false}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    cl_int code = rows[r].is_inside ? CL_SUCCESS : CL_INVALID_VALUE;
    size_t at = rows[r].offset, size = rows[r].size;
    FAILS(code, clEnqueueReadBuffer(i.queue, a, CL_TRUE, at, size, room, 0, NULL, NULL));
    FAILS(code, clEnqueueWriteBuffer(i.queue, a, CL_TRUE, at, size, room, 0, NULL, NULL));
    FAILS(code, clEnqueueCopyBuffer(i.queue, a, b, at, 0, size, 0, NULL, NULL) == CL_SUCCESS
                    ? CL_SUCCESS
                    : CL_INVALID_VALUE);
    FAILS(code, clEnqueueFillBuffer(i.queue, a, room, 1, at, size, 0, NULL, NULL));
  }
  FAILS(CL_INVALID_VALUE, clEnqueueReadBuffer(i.queue, a, CL_TRUE, 0, 1, NULL, 0, NULL, NULL));
  static const struct {
    size_t pattern, offset, size;
    cl_int code;
  } fills[] = {{128, 0, 64, CL_INVALID_VALUE}, {256, 0, 0, CL_INVALID_VALUE},
               {64, 0, 64, CL_SUCCESS},        {0, 0, 64, CL_INVALID_VALUE},
               {6, 0, 60, CL_INVALID_VALUE},   {8, 8, 56, CL_SUCCESS},
               {8, 4, 56, CL_INVALID_VALUE},   {8, 8, 52, CL_INVALID_VALUE}};
  for (size_t r = 0; r < sizeof fills / sizeof *fills; r++)
    FAILS(fills[r].code, clEnqueueFillBuffer(i.queue, a, room, fills[r].pattern, fills[r].offset,
                                             fills[r].size, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueFillBuffer(i.queue, a, NULL, 4, 0, 64, 0, NULL, NULL));
  // Neighbours do not overlap.
  OK(clEnqueueCopyBuffer(i.queue, a, a, 0, 32, 32, 0, NULL, NULL));
  FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(i.queue, a, a, 0, 31, 32, 0, NULL, NULL));
  FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(i.queue, a, a, 31, 0, 32, 0, NULL, NULL));
  OK(clEnqueueCopyBuffer(i.queue, a, a, 7, 7, 0, 0, NULL, NULL));
  // Nothing has to move, but what is asked is looked at.
  const cl_mem both[] = {a, b}, wrong[] = {a, (cl_mem)i.context};
  OK(clEnqueueMigrateMemObjects(i.queue, 2, both, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(i.queue, 0, both, 0, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(i.queue, 2, both, 1u << 5, 0, NULL, NULL));
  FAILS(CL_INVALID_MEM_OBJECT, clEnqueueMigrateMemObjects(i.queue, 2, wrong, 0, 0, NULL, NULL));
  OK(clFinish(i.queue));
  OK(clReleaseMemObject(a));
  OK(clReleaseMemObject(b));
  icd_end(&i);
}

// A box of a buffer of 4 x 3 x 2 bytes, with numbers that leave it, also by starting over.
static void test_boxes(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static char room[4096];
  const size_t half = (size_t)1 << 63;
  const struct {
    size_t origin[3], region[3], row, slice;
    bool is_inside;
  } rows[] = {
      {{0, 0, 0}, {4, 3, 2}, 4, 12, true},         {{0, 0, 0}, {4, 3, 2}, 0, 0, true},
      {{3, 2, 1}, {1, 1, 1}, 4, 12, true},         {{4, 2, 1}, {1, 1, 1}, 4, 12, false},
      {{0, 3, 1}, {1, 1, 1}, 4, 12, false},        {{0, 0, 2}, {1, 1, 1}, 4, 12, false},
      {{1, 0, 0}, {4, 3, 2}, 4, 12, false},        {{0, 0, 0}, {4, 3, 2}, 3, 12, false},
      {{0, 0, 0}, {4, 3, 2}, 4, 11, false},        {{0, 0, 0}, {4, 2, 2}, 4, 10, false},
      {{0, 0, 0}, {0, 1, 1}, 0, 0, false},         {{0, 0, 0}, {1, 0, 1}, 0, 0, false},
      {{0, 0, 0}, {1, 1, 0}, 0, 0, false},         {{0, 0, 0}, {1, half + 1, 1}, 2, 0, false},
      {{0, 0, 0}, {1, 3, 1}, half, 0, false},      {{0, half, 0}, {1, 1, 1}, 2, 0, false},
      {{0, 0, half}, {1, 1, 1}, 1, 2, false},      {{0, 0, 0}, {1, 1, half + 1}, 1, 2, false},
      {{SIZE_MAX, 0, 0}, {2, 1, 1}, 4, 12, false}, {{0, SIZE_MAX, 0}, {1, 2, 1}, 1, 2, false},
  };
  const size_t zero[3] = {0};
  cl_mem a = icd_buffer(&i, 24, NULL), b = icd_buffer(&i, 24, NULL);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    cl_int code = rows[r].is_inside ? CL_SUCCESS : CL_INVALID_VALUE;
    const size_t *at = rows[r].origin, *box = rows[r].region, row = rows[r].row,
                 slice = rows[r].slice;
    cl_int found = clEnqueueReadBufferRect(i.queue, a, CL_TRUE, at, zero, box, row, slice, 0, 0,
                                           room, 0, NULL, NULL);
    if (found != code) fail_msg("row %zu: %d", r, found);
    FAILS(code, clEnqueueWriteBufferRect(i.queue, a, CL_TRUE, at, zero, box, row, slice, 0, 0, room,
                                         0, NULL, NULL));
    FAILS(code, clEnqueueCopyBufferRect(i.queue, a, b, at, at, box, row, slice, row, slice, 0, NULL,
                                        NULL));
  }
  const size_t box[3] = {2, 1, 1}, next[3] = {2, 0, 0}, near[3] = {1, 0, 0};
  FAILS(CL_INVALID_VALUE, clEnqueueReadBufferRect(i.queue, a, CL_TRUE, NULL, zero, box, 4, 12, 0, 0,
                                                  room, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueReadBufferRect(i.queue, a, CL_TRUE, zero, NULL, box, 4, 12, 0, 0,
                                                  room, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueReadBufferRect(i.queue, a, CL_TRUE, zero, zero, NULL, 4, 12, 0,
                                                  0, room, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueReadBufferRect(i.queue, a, CL_TRUE, zero, zero, box, 4, 12, 1, 0,
                                                  room, 0, NULL, NULL));
  OK(clEnqueueCopyBufferRect(i.queue, a, a, zero, next, box, 4, 12, 4, 12, 0, NULL, NULL));
  FAILS(CL_MEM_COPY_OVERLAP,
        clEnqueueCopyBufferRect(i.queue, a, a, zero, near, box, 4, 12, 4, 12, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueCopyBufferRect(i.queue, a, a, zero, next, box, 4, 12, 6, 12, 0, NULL, NULL));
  OK(clFinish(i.queue));
  OK(clReleaseMemObject(a));
  OK(clReleaseMemObject(b));
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arguments), cmocka_unit_test(test_launches),
      cmocka_unit_test(test_questions), cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_boxes),
  };
  return cmocka_run_group_tests_name("icd_calls", tests, NULL, NULL);
}
