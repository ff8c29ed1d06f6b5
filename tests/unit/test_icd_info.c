// SPDX-License-Identifier: MIT
//
// What the driver answers to questions about devices, contexts, queues and samplers, number for
// number, and what it says to handles and values that are none; markers, barriers, native kernels,
// and what the devices do not have.
#include "../icd.h"

// ---- devices ------------------------------------------------------------------------------------

typedef struct number_row {
  cl_device_info what;
  size_t size;
  uint64_t value;
} number_row;

static const number_row numbers[] = {
    {CL_DEVICE_TYPE, 8, CL_DEVICE_TYPE_CPU},
    {CL_DEVICE_VENDOR_ID, 4, 0x76797265},
    {CL_DEVICE_NUMERIC_VERSION, 4, 3u << 22},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4, 3},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4, 1},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 0},
    {CL_DEVICE_ADDRESS_BITS, 4, 64},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, 4, 128},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4, 64},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 4, 64},
    {CL_DEVICE_MAX_SAMPLERS, 4, 16},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4, 1024},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 4, 128},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4, CL_READ_WRITE_CACHE},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4, 64},
    {CL_DEVICE_MAX_CONSTANT_ARGS, 4, 64},
    {CL_DEVICE_LOCAL_MEM_TYPE, 4, CL_GLOBAL},
    {CL_DEVICE_IMAGE_SUPPORT, 4, CL_TRUE},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, 4, CL_TRUE},
    {CL_DEVICE_ENDIAN_LITTLE, 4, CL_TRUE},
    {CL_DEVICE_AVAILABLE, 4, CL_TRUE},
    {CL_DEVICE_COMPILER_AVAILABLE, 4, CL_TRUE},
    {CL_DEVICE_LINKER_AVAILABLE, 4, CL_TRUE},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 4, CL_TRUE},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4, CL_FALSE},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, 4, CL_FALSE},
    {CL_DEVICE_PIPE_SUPPORT, 4, CL_FALSE},
    {CL_DEVICE_REFERENCE_COUNT, 4, 1},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4, 0},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES, 4, 0},
    {CL_DEVICE_MAX_PIPE_ARGS, 4, 0},
    {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 4, 0},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, 1024},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, 8, 16384},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8, 16384},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, 8, 2048},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, 8, 2048},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, 8, 2048},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8, 1 << 27},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 8, 2048},
    {CL_DEVICE_MAX_PARAMETER_SIZE, 8, 1024},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8, 1},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, 8, 1 << 20},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 1 << 20},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8, 1 << 26},
    {CL_DEVICE_LOCAL_MEM_SIZE, 8, 1 << 18},
    {CL_DEVICE_SINGLE_FP_CONFIG, 8, 0xbf}, // all but software
    {CL_DEVICE_DOUBLE_FP_CONFIG, 8, 0x3f},
    {CL_DEVICE_EXECUTION_CAPABILITIES, 8, 3},
    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, 8, 3},
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8, 0},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 8, 0},
    {CL_DEVICE_SVM_CAPABILITIES, 8, 0},
    {CL_DEVICE_PARENT_DEVICE, 8, 0},
};

static void test_numbers_of_a_device(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    const number_row *row = &numbers[k];
    uint64_t value = 0;
    size_t size = 0;
    OK(clGetDeviceInfo(i.device, row->what, sizeof value, &value, &size));
    if (size != row->size || value != row->value)
      fail_msg("%#x is %#llx in %zu bytes", row->what, (unsigned long long)value, size);
    // Room for one byte less is none, and no room asks for the size alone.
    FAILS(CL_INVALID_VALUE, clGetDeviceInfo(i.device, row->what, row->size - 1, &value, NULL));
    size = 0;
    OK(clGetDeviceInfo(i.device, row->what, 0, NULL, &size));
    assert_int_equal(size, row->size);
  }
  FAILS(CL_INVALID_VALUE, clGetDeviceInfo(i.device, 0x4242, 0, NULL, NULL));
  icd_end(&i);
}

static void device_text(const icd *i, cl_device_info what, char *to, size_t room) {
  size_t size = 0;
  OK(clGetDeviceInfo(i->device, what, room, to, &size));
  assert_int_equal(size, strlen(to) + 1);
}

static bool has_word(const char *text, const char *word) {
  size_t size = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += size)
    if ((at == text || at[-1] == ' ') && (!at[size] || at[size] == ' ')) return true;
  return false;
}

static void test_texts_of_a_device(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  char text[2048], version[100];
  device_text(&i, CL_DRIVER_VERSION, version, sizeof version);
  assert_true(version[0] >= '0' && version[0] <= '9');
  device_text(&i, CL_DEVICE_VERSION, text, sizeof text);
  assert_memory_equal(text, "OpenCL 3.0 vyre ", 16);
  assert_string_equal(text + 16, version);
  device_text(&i, CL_DEVICE_OPENCL_C_VERSION, text, sizeof text);
  assert_memory_equal(text, "OpenCL C 1.2 vyre ", 18);
  assert_string_equal(text + 18, version);
  device_text(&i, CL_DEVICE_VENDOR, text, sizeof text);
  assert_string_equal(text, "The vyre project");
  device_text(&i, CL_DEVICE_PROFILE, text, sizeof text);
  assert_string_equal(text, "FULL_PROFILE");
  device_text(&i, CL_DEVICE_NAME, text, sizeof text);
  assert_true(strlen(text) > 2);
  device_text(&i, CL_DEVICE_BUILT_IN_KERNELS, text, sizeof text);
  assert_string_equal(text, "");
  // The list of extensions and the table have the same names, and no blank at the end.
  cl_name_version rows[64];
  size_t size = 0, names = 1;
  device_text(&i, CL_DEVICE_EXTENSIONS, text, sizeof text);
  for (const char *p = text; *p; p++) names += *p == ' ';
  assert_true(strlen(text) > 0 && text[strlen(text) - 1] != ' ');
  OK(clGetDeviceInfo(i.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof rows, rows, &size));
  assert_int_equal(size, names * sizeof *rows);
  for (size_t k = 0; k < names; k++) assert_true(has_word(text, rows[k].name));
  assert_true(has_word(text, "cl_khr_fp64") && has_word(text, "cl_khr_icd"));
  OK(clGetDeviceInfo(i.device, CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof rows, rows, &size));
  assert_int_equal(size, 4 * sizeof *rows);
  static const cl_version versions[] = {1u << 22, 1u << 22 | 1u << 12, 1u << 22 | 2u << 12,
                                        3u << 22};
  for (size_t k = 0; k < 4; k++) {
    assert_string_equal(rows[k].name, "OpenCL C");
    assert_int_equal(rows[k].version, versions[k]);
  }
  OK(clGetDeviceInfo(i.device, CL_DEVICE_ILS_WITH_VERSION, sizeof rows, rows, &size));
  assert_int_equal(size % sizeof *rows, 0);
  icd_end(&i);
}

static void test_more_of_a_device(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  size_t sizes[3] = {0}, size = 0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, &size));
  assert_int_equal(size, sizeof sizes);
  for (int k = 0; k < 3; k++) assert_int_equal(sizes[k], 1024);
  cl_platform_id platform = NULL;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
  assert_ptr_equal(platform, i.platform);
  intptr_t partition = 1;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_PARTITION_PROPERTIES, sizeof partition, &partition,
                     &size));
  assert_int_equal(partition, 0);
  cl_uint units = 0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
  assert_true(units >= 1 && units < 100000);
  cl_ulong all = 0, most = 0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL));
  OK(clGetDeviceInfo(i.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
  assert_true(most > 0 && most <= all);
  assert_true(most >= all / 4 || most >= 1u << 30);
  cl_ulong before = 0, now = 0, host = 0;
  OK(clGetHostTimer(i.device, &before));
  OK(clGetDeviceAndHostTimer(i.device, &now, &host));
  assert_true(before > 0 && now >= before && now == host);
  FAILS(CL_INVALID_VALUE, clGetHostTimer(i.device, NULL));
  FAILS(CL_INVALID_VALUE, clGetDeviceAndHostTimer(i.device, NULL, &host));
  FAILS(CL_INVALID_VALUE, clGetDeviceAndHostTimer(i.device, &now, NULL));
  OK(clRetainDevice(i.device));
  OK(clReleaseDevice(i.device));
  cl_device_id part = NULL;
  cl_uint count = 0;
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  assert_true(clCreateSubDevices(i.device, equally, 1, &part, &count) != CL_SUCCESS);
  icd_end(&i);
}

// ---- contexts -----------------------------------------------------------------------------------

static void CL_CALLBACK count_first(cl_context context, void *data) {
  (void)context;
  int *ends = data;
  *ends = *ends * 10 + 1;
}

static void CL_CALLBACK count_second(cl_context context, void *data) {
  (void)context;
  int *ends = data;
  *ends = *ends * 10 + 2;
}

static void CL_CALLBACK hear(const char *text, const void *more, size_t size, void *data) {
  (void)text, (void)more, (void)size, (void)data;
}

static void expect_context(cl_int expected, const cl_context_properties *list, cl_uint count,
                           const cl_device_id *devices, bool has_data) {
  cl_int code = 1;
  int unused;
  cl_context made =
      clCreateContext(list, count, devices, NULL, has_data ? (void *)&unused : NULL, &code);
  assert_int_equal(code, expected);
  assert_true((made != NULL) == (expected == CL_SUCCESS));
  if (made) OK(clReleaseContext(made));
}

static void test_contexts(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  const cl_context_properties good[] = {CL_CONTEXT_PLATFORM, (intptr_t)i.platform,
                                        CL_CONTEXT_INTEROP_USER_SYNC, CL_FALSE, 0};
  const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (intptr_t)i.platform,
                                         CL_CONTEXT_PLATFORM, (intptr_t)i.platform, 0};
  const cl_context_properties unknown[] = {CL_CONTEXT_INTEROP_USER_SYNC, CL_FALSE, 0x4242, 0, 0};
  const cl_context_properties odd[] = {CL_CONTEXT_INTEROP_USER_SYNC, -1, 0};
  const cl_device_id two[] = {i.device, i.device};
  expect_context(CL_SUCCESS, good, 1, &i.device, false);
  expect_context(CL_INVALID_PROPERTY, twice, 1, &i.device, false);
  expect_context(CL_INVALID_PROPERTY, unknown, 1, &i.device, false);
  expect_context(CL_INVALID_PROPERTY, odd, 1, &i.device, false);
  expect_context(CL_INVALID_VALUE, NULL, 0, &i.device, false);
  expect_context(CL_INVALID_VALUE, NULL, 1, &i.device, true);
  // A device that was given twice is there once; properties come back as they were.
  cl_int code, ends = 0;
  cl_context c = clCreateContext(good, 2, two, hear, &ends, &code);
  OK(code);
  cl_uint count = 0;
  size_t size = 0;
  cl_device_id found[4] = {0};
  cl_context_properties back[8] = {0};
  OK(clGetContextInfo(c, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, &size));
  assert_int_equal(count, 1);
  OK(clGetContextInfo(c, CL_CONTEXT_DEVICES, sizeof found, found, &size));
  assert_int_equal(size, sizeof *found);
  assert_ptr_equal(found[0], i.device);
  OK(clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof back, back, &size));
  assert_int_equal(size, sizeof good);
  assert_memory_equal(back, good, sizeof good);
  OK(clRetainContext(c));
  OK(clGetContextInfo(c, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL));
  assert_int_equal(count, 2);
  FAILS(CL_INVALID_VALUE, clGetContextInfo(c, 0x4242, sizeof count, &count, NULL));
  OK(clGetContextInfo(i.context, CL_CONTEXT_PROPERTIES, 0, NULL, &size));
  assert_int_equal(size, 0);
  // Destructors run once, at the end, the last one first.
  FAILS(CL_INVALID_VALUE, clSetContextDestructorCallback(c, NULL, NULL));
  OK(clSetContextDestructorCallback(c, count_first, &ends));
  OK(clSetContextDestructorCallback(c, count_second, &ends));
  OK(clReleaseContext(c));
  assert_int_equal(ends, 0);
  OK(clReleaseContext(c));
  assert_int_equal(ends, 21);
  // By type.
  c = clCreateContextFromType(good, CL_DEVICE_TYPE_CPU, NULL, NULL, &code);
  OK(code);
  OK(clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof back, back, &size));
  assert_int_equal(size, sizeof good);
  OK(clGetContextInfo(c, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL));
  assert_true(count >= 1);
  OK(clReleaseContext(c));
  assert_null(clCreateContextFromType(twice, CL_DEVICE_TYPE_CPU, NULL, NULL, &code));
  FAILS(CL_INVALID_PROPERTY, code);
  assert_null(clCreateContextFromType(good, CL_DEVICE_TYPE_CPU, NULL, &ends, &code));
  FAILS(CL_INVALID_VALUE, code);
  assert_null(clCreateContextFromType(good, CL_DEVICE_TYPE_CUSTOM, NULL, NULL, &code));
  FAILS(CL_DEVICE_NOT_FOUND, code);
  icd_end(&i);
}

// ---- queues -------------------------------------------------------------------------------------

static void expect_queue(const icd *i, cl_int expected, const cl_queue_properties *list) {
  cl_int code = 1;
  cl_command_queue made = clCreateCommandQueueWithProperties(i->context, i->device, list, &code);
  assert_int_equal(code, expected);
  assert_true((made != NULL) == (expected == CL_SUCCESS));
  if (made) OK(clReleaseCommandQueue(made));
}

static void test_queues(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  const cl_queue_properties good[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  const cl_queue_properties sized[] = {CL_QUEUE_SIZE, 64, 0}, unknown[] = {0x4242, 1, 0};
  const cl_queue_properties bits[] = {CL_QUEUE_PROPERTIES, 1u << 9, 0};
  const cl_queue_properties there[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0};
  const cl_queue_properties three[] = {
      CL_QUEUE_PROPERTIES, 1, CL_QUEUE_PROPERTIES, 2, CL_QUEUE_PROPERTIES, 3, 0};
  const cl_queue_properties four[] = {CL_QUEUE_PROPERTIES,
                                      1,
                                      CL_QUEUE_PROPERTIES,
                                      2,
                                      CL_QUEUE_PROPERTIES,
                                      3,
                                      CL_QUEUE_PROPERTIES,
                                      1,
                                      0};
  expect_queue(&i, CL_SUCCESS, NULL);
  expect_queue(&i, CL_SUCCESS, good);
  expect_queue(&i, CL_SUCCESS, three);
  expect_queue(&i, CL_INVALID_VALUE, four);
  expect_queue(&i, CL_INVALID_QUEUE_PROPERTIES, sized);
  expect_queue(&i, CL_INVALID_VALUE, unknown);
  expect_queue(&i, CL_INVALID_VALUE, bits);
  expect_queue(&i, CL_INVALID_QUEUE_PROPERTIES, there);
  cl_int code = 1;
  assert_null(clCreateCommandQueue(i.context, i.device, 1u << 9, &code));
  FAILS(CL_INVALID_VALUE, code);
  assert_null(clCreateCommandQueue(i.context, i.device, CL_QUEUE_ON_DEVICE, &code));
  FAILS(CL_INVALID_QUEUE_PROPERTIES, code);
  assert_null(clCreateCommandQueue(i.context, NULL, 0, &code));
  FAILS(CL_INVALID_DEVICE, code);

  cl_command_queue q = clCreateCommandQueueWithProperties(i.context, i.device, good, &code);
  OK(code);
  cl_queue_properties back[8] = {0};
  size_t size = 0;
  cl_context context = NULL;
  cl_device_id device = NULL;
  cl_command_queue none = q;
  cl_command_queue_properties properties = 0;
  cl_uint count = 0;
  OK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof back, back, &size));
  assert_int_equal(size, sizeof good);
  assert_memory_equal(back, good, sizeof good);
  OK(clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof context, &context, NULL));
  OK(clGetCommandQueueInfo(q, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
  OK(clGetCommandQueueInfo(q, CL_QUEUE_DEVICE_DEFAULT, sizeof none, &none, NULL));
  OK(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
  OK(clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL));
  assert_ptr_equal(context, i.context);
  assert_ptr_equal(device, i.device);
  assert_null(none);
  assert_int_equal(properties, CL_QUEUE_PROFILING_ENABLE);
  assert_int_equal(count, 1);
  FAILS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(q, CL_QUEUE_SIZE, 4, &count, NULL));
  FAILS(CL_INVALID_VALUE, clGetCommandQueueInfo(q, 0x4242, 4, &count, NULL));
  OK(clGetCommandQueueInfo(i.queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof back, back, &size));
  assert_int_equal(size, 0);
  properties = 99;
  FAILS(CL_INVALID_OPERATION, clSetCommandQueueProperty(q, 1, CL_TRUE, &properties));
  assert_int_equal(properties, CL_QUEUE_PROFILING_ENABLE);
  FAILS(CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(i.context, i.device, q));
  OK(clFlush(q));
  OK(clFinish(q));
  OK(clReleaseCommandQueue(q));
  icd_end(&i);
}

// ---- samplers -----------------------------------------------------------------------------------

static void expect_sampler(const icd *i, cl_int expected, const cl_sampler_properties *list) {
  cl_int code = 1;
  cl_sampler made = clCreateSamplerWithProperties(i->context, list, &code);
  assert_int_equal(code, expected);
  assert_true((made != NULL) == (expected == CL_SUCCESS));
  if (made) OK(clReleaseSampler(made));
}

static void expect_words(cl_sampler s, cl_bool normalized, cl_uint addressing, cl_uint filter) {
  cl_uint word = 99;
  OK(clGetSamplerInfo(s, CL_SAMPLER_NORMALIZED_COORDS, sizeof word, &word, NULL));
  assert_int_equal(word, normalized);
  OK(clGetSamplerInfo(s, CL_SAMPLER_ADDRESSING_MODE, sizeof word, &word, NULL));
  assert_int_equal(word, addressing);
  OK(clGetSamplerInfo(s, CL_SAMPLER_FILTER_MODE, sizeof word, &word, NULL));
  assert_int_equal(word, filter);
}

static void test_samplers(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  const cl_sampler_properties all[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                       CL_FALSE,
                                       CL_SAMPLER_ADDRESSING_MODE,
                                       CL_ADDRESS_CLAMP_TO_EDGE,
                                       CL_SAMPLER_FILTER_MODE,
                                       CL_FILTER_LINEAR,
                                       0};
  const cl_sampler_properties twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR,
                                         CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
  const cl_sampler_properties unknown[] = {0x4242, 1, 0};
  const cl_sampler_properties filter[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR + 1, 0};
  const cl_sampler_properties repeat[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE,
                                          CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_REPEAT, 0};
  expect_sampler(&i, CL_SUCCESS, all);
  expect_sampler(&i, CL_INVALID_VALUE, twice);
  expect_sampler(&i, CL_INVALID_VALUE, unknown);
  expect_sampler(&i, CL_INVALID_VALUE, filter);
  expect_sampler(&i, CL_INVALID_VALUE, repeat);
  static const struct {
    cl_bool normalized;
    cl_uint addressing, filter;
    cl_int code;
  } rows[] = {{CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, CL_SUCCESS},
              {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, CL_SUCCESS},
              {CL_FALSE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, CL_INVALID_VALUE},
              {CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, CL_SUCCESS},
              {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, CL_SUCCESS},
              {2, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, CL_INVALID_VALUE},
              {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT + 1, CL_FILTER_LINEAR, CL_INVALID_VALUE},
              {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST - 1, CL_INVALID_VALUE}};
  cl_int code;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_sampler s =
        clCreateSampler(i.context, rows[k].normalized, rows[k].addressing, rows[k].filter, &code);
    FAILS(rows[k].code, code);
    if (!s) continue;
    expect_words(s, rows[k].normalized, rows[k].addressing, rows[k].filter);
    OK(clReleaseSampler(s));
  }
  cl_sampler s = clCreateSamplerWithProperties(i.context, NULL, &code);
  OK(code);
  expect_words(s, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
  cl_sampler_properties back[8];
  size_t size = 99;
  OK(clGetSamplerInfo(s, CL_SAMPLER_PROPERTIES, sizeof back, back, &size));
  assert_int_equal(size, 0);
  OK(clReleaseSampler(s));
  s = clCreateSamplerWithProperties(i.context, all, &code);
  OK(code);
  expect_words(s, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR);
  OK(clGetSamplerInfo(s, CL_SAMPLER_PROPERTIES, sizeof back, back, &size));
  assert_int_equal(size, sizeof all);
  assert_memory_equal(back, all, sizeof all);
  cl_uint count = 0;
  cl_context context = NULL;
  OK(clRetainSampler(s));
  OK(clGetSamplerInfo(s, CL_SAMPLER_REFERENCE_COUNT, sizeof count, &count, NULL));
  OK(clGetSamplerInfo(s, CL_SAMPLER_CONTEXT, sizeof context, &context, NULL));
  assert_int_equal(count, 2);
  assert_ptr_equal(context, i.context);
  FAILS(CL_INVALID_VALUE, clGetSamplerInfo(s, 0x4242, sizeof count, &count, NULL));
  OK(clReleaseSampler(s));
  OK(clReleaseSampler(s));
  icd_end(&i);
}

// ---- the order of commands ----------------------------------------------------------------------

typedef struct native_args {
  int *at;
  const char *memory; // the driver puts an address here
  int add;
} native_args;

static void CL_CALLBACK run_native(void *given) {
  const native_args *a = given;
  *a->at = *a->at * 10 + a->add + (a->memory ? a->memory[3] : 0);
}

static cl_int enqueue_native(cl_command_queue queue, native_args *a, size_t size, cl_uint count,
                             const cl_mem *list, const void **places, cl_event *out) {
  return clEnqueueNativeKernel(queue, run_native, a, size, count, list, places, 0, NULL, out);
}

static void test_native_kernels(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  int result = 0;
  native_args a = {&result, NULL, 1};
  const char bytes[] = {0, 0, 0, 5};
  cl_mem memory = icd_buffer(&i, sizeof bytes, bytes);
  const void *places[] = {&a.memory}, *far[] = {(char *)&a + sizeof a - 7};
  cl_event event = NULL;
  OK(enqueue_native(i.queue, &a, sizeof a, 0, NULL, NULL, NULL));
  OK(enqueue_native(i.queue, &a, sizeof a, 1, &memory, places, &event));
  a.add = 9; // the arguments were copied
  OK(clWaitForEvents(1, &event));
  assert_int_equal(result, 16);
  cl_command_type type = 0;
  OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_COMMAND_NATIVE_KERNEL);
  OK(clReleaseEvent(event));
  FAILS(CL_INVALID_VALUE, enqueue_native(i.queue, &a, sizeof a, 1, &memory, far, NULL));
  FAILS(CL_INVALID_VALUE, enqueue_native(i.queue, &a, 0, 0, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, enqueue_native(i.queue, NULL, sizeof a, 0, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, enqueue_native(i.queue, &a, sizeof a, 1, NULL, places, NULL));
  FAILS(CL_INVALID_VALUE, enqueue_native(i.queue, &a, sizeof a, 1, &memory, NULL, NULL));
  FAILS(CL_INVALID_VALUE, enqueue_native(i.queue, &a, sizeof a, 0, &memory, NULL, NULL));
  FAILS(CL_INVALID_VALUE, enqueue_native(i.queue, &a, sizeof a, 0, NULL, places, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueNativeKernel(i.queue, NULL, &a, sizeof a, 0, NULL, NULL, 0, NULL, NULL));
  cl_mem wrong = (cl_mem)i.context;
  FAILS(CL_INVALID_MEM_OBJECT, enqueue_native(i.queue, &a, sizeof a, 1, &wrong, places, NULL));
  OK(clFinish(i.queue));
  assert_int_equal(result, 16);
  OK(clReleaseMemObject(memory));
  icd_end(&i);
}

static void test_markers_and_barriers(void **state) {
  (void)state;
  icd i = icd_begin(NULL, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int code, status = 0;
  int result = 0;
  native_args one = {&result, NULL, 1}, two = {&result, NULL, 2};
  cl_event gate = clCreateUserEvent(i.context, &code), marker = NULL, barrier = NULL, done = NULL;
  OK(code);
  OK(clEnqueueNativeKernel(i.queue, run_native, &one, sizeof one, 0, NULL, NULL, 1, &gate, NULL));
  OK(clEnqueueMarkerWithWaitList(i.queue, 0, NULL, &marker));
  OK(clEnqueueBarrierWithWaitList(i.queue, 0, NULL, &barrier));
  OK(enqueue_native(i.queue, &two, sizeof two, 0, NULL, NULL, &done));
  OK(clFlush(i.queue));
  OK(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  assert_true(status > CL_COMPLETE); // all before it has not ended
  OK(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  assert_true(status > CL_COMPLETE); // it is behind the barrier
  OK(clSetUserEventStatus(gate, CL_COMPLETE));
  OK(clWaitForEvents(1, &done));
  assert_int_equal(result, 12);
  cl_command_type type = 0;
  OK(clGetEventInfo(marker, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_COMMAND_MARKER);
  OK(clGetEventInfo(barrier, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_COMMAND_BARRIER);
  OK(clReleaseEvent(marker));
  OK(clReleaseEvent(barrier));
  OK(clReleaseEvent(done));

  // Those of OpenCL 1.0, and a marker that waits for one event and not for all.
  cl_event late = clCreateUserEvent(i.context, &code);
  OK(code);
  OK(clEnqueueNativeKernel(i.queue, run_native, &one, sizeof one, 0, NULL, NULL, 1, &late, NULL));
  OK(clEnqueueMarkerWithWaitList(i.queue, 1, &gate, &marker));
  OK(clWaitForEvents(1, &marker));
  assert_int_equal(result, 12);
  OK(clReleaseEvent(marker));
  FAILS(CL_INVALID_VALUE, clEnqueueMarker(i.queue, NULL));
  OK(clEnqueueMarker(i.queue, &marker));
  OK(clEnqueueWaitForEvents(i.queue, 1, &late));
  OK(clEnqueueBarrier(i.queue));
  OK(enqueue_native(i.queue, &two, sizeof two, 0, NULL, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueWaitForEvents(i.queue, 0, &late));
  FAILS(CL_INVALID_VALUE, clEnqueueWaitForEvents(i.queue, 1, NULL));
  cl_event wrong = (cl_event)i.context;
  FAILS(CL_INVALID_EVENT, clEnqueueWaitForEvents(i.queue, 1, &wrong));
  FAILS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(i.queue, 1, &wrong, NULL));
  FAILS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueBarrierWithWaitList(i.queue, 1, NULL, NULL));
  FAILS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueBarrierWithWaitList(i.queue, 0, &late, NULL));
  OK(clSetUserEventStatus(late, CL_COMPLETE));
  OK(clFinish(i.queue));
  assert_int_equal(result, 1212);
  OK(clReleaseEvent(marker));
  OK(clReleaseEvent(late));
  OK(clReleaseEvent(gate));
  icd_end(&i);
}

// ---- what there is not --------------------------------------------------------------------------

static void test_what_there_is_not(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  char room[16];
  cl_int code = 1;
  assert_null(clCreatePipe(i.context, 0, 4, 4, NULL, &code));
  FAILS(CL_INVALID_OPERATION, code);
  cl_mem memory = icd_buffer(&i, 16, NULL);
  FAILS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(memory, CL_PIPE_MAX_PACKETS, 4, room, NULL));
  OK(clReleaseMemObject(memory));
  icd_end(&i);
}

// Handles of another kind, where the loader lets them through: it looks at the first word only.
static void test_handles_of_another_kind(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_int code = 1;
  cl_context no_context = (cl_context)i.queue;
  cl_command_queue no_queue = (cl_command_queue)i.context;
  cl_device_id no_device = (cl_device_id)i.context;
  cl_sampler no_sampler = (cl_sampler)i.context;
  cl_mem no_memory = (cl_mem)i.context;
  cl_ulong now;
  FAILS(CL_INVALID_DEVICE, clGetDeviceInfo(no_device, CL_DEVICE_NAME, 0, NULL, NULL));
  FAILS(CL_INVALID_DEVICE, clGetHostTimer(no_device, &now));
  FAILS(CL_INVALID_DEVICE, clGetDeviceAndHostTimer(no_device, &now, &now));
  FAILS(CL_INVALID_CONTEXT, clGetContextInfo(no_context, CL_CONTEXT_DEVICES, 0, NULL, NULL));
  FAILS(CL_INVALID_CONTEXT, clRetainContext(no_context));
  FAILS(CL_INVALID_CONTEXT, clReleaseContext(no_context));
  FAILS(CL_INVALID_CONTEXT, clSetContextDestructorCallback(no_context, count_first, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(no_queue, CL_QUEUE_CONTEXT, 0, NULL, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clRetainCommandQueue(no_queue));
  FAILS(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue(no_queue));
  FAILS(CL_INVALID_COMMAND_QUEUE, clFlush(no_queue));
  FAILS(CL_INVALID_COMMAND_QUEUE, clFinish(no_queue));
  FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarker(no_queue, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueBarrier(no_queue));
  FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueWaitForEvents(no_queue, 0, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clSetCommandQueueProperty(no_queue, 1, CL_TRUE, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMUnmap(no_queue, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clSetDefaultDeviceCommandQueue(i.context, i.device, no_queue));
  FAILS(CL_INVALID_COMMAND_QUEUE,
        clEnqueueNativeKernel(no_queue, run_native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_SAMPLER, clGetSamplerInfo(no_sampler, CL_SAMPLER_CONTEXT, 0, NULL, NULL));
  FAILS(CL_INVALID_SAMPLER, clRetainSampler(no_sampler));
  FAILS(CL_INVALID_SAMPLER, clReleaseSampler(no_sampler));
  FAILS(CL_INVALID_MEM_OBJECT, clGetMemObjectInfo(no_memory, CL_MEM_SIZE, 0, NULL, NULL));
  FAILS(CL_INVALID_MEM_OBJECT, clGetImageInfo(no_memory, CL_IMAGE_WIDTH, 0, NULL, NULL));
  FAILS(CL_INVALID_MEM_OBJECT, clRetainMemObject(no_memory));
  assert_null(clCreateCommandQueue(no_context, i.device, 0, &code));
  FAILS(CL_INVALID_CONTEXT, code);
  assert_null(clCreateCommandQueue(i.context, no_device, 0, &code));
  FAILS(CL_INVALID_DEVICE, code);
  assert_null(clCreateSampler(no_context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, &code));
  FAILS(CL_INVALID_CONTEXT, code);
  assert_null(clCreateSamplerWithProperties(no_context, NULL, &code));
  FAILS(CL_INVALID_CONTEXT, code);
  assert_null(clCreatePipe(no_context, 0, 4, 4, NULL, &code));
  FAILS(CL_INVALID_CONTEXT, code);
  assert_null(clCreateContext(NULL, 1, &no_device, NULL, NULL, &code));
  FAILS(CL_INVALID_DEVICE, code);
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_of_a_device),
      cmocka_unit_test(test_texts_of_a_device),
      cmocka_unit_test(test_more_of_a_device),
      cmocka_unit_test(test_contexts),
      cmocka_unit_test(test_queues),
      cmocka_unit_test(test_samplers),
      cmocka_unit_test(test_native_kernels),
      cmocka_unit_test(test_markers_and_barriers),
      cmocka_unit_test(test_what_there_is_not),
      cmocka_unit_test(test_handles_of_another_kind),
  };
  return cmocka_run_group_tests_name("icd_info", tests, NULL, NULL);
}
