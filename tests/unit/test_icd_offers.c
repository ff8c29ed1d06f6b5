// SPDX-License-Identifier: MIT
//
// What the OpenCL driver offers beside 1.2, and that its queries, its compiler and its calls agree
// about it: extensions and features, subgroups, generic pointers, and what is refused.
#include "../icd.h"

#include <CL/cl_ext.h>

// ---- queries and macros -------------------------------------------------------------------------

typedef struct offer {
  const char *name;
  bool is_offered;
} offer;

static bool has_word(const char *text, const char *word) {
  size_t size = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += size)
    if ((at == text || at[-1] == ' ') && (at[size] == ' ' || !at[size])) return true;
  return false;
}

// A kernel that tells which of the names are defined.
static void read_macros(icd *i, const offer *list, size_t count, const char *options, int *out) {
  char source[8192] = "kernel void k(global int *o) {\n";
  for (size_t n = 0; n < count; n++)
    snprintf(source + strlen(source), sizeof source - strlen(source),
             "#ifdef %s\n  o[%zu] = 1;\n#endif\n", list[n].name, n);
  strcat(source, "}\n");
  i->program = icd_build(i, source, options);
  memset(out, 0, count * sizeof *out);
  cl_mem buffer = icd_buffer(i, count * sizeof *out, out);
  cl_kernel kernel = icd_kernel(i, "k");
  OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  icd_run(i, kernel, 1);
  icd_read(i, buffer, count * sizeof *out, out);
  OK(clReleaseKernel(kernel));
  OK(clReleaseMemObject(buffer));
  OK(clReleaseProgram(i->program));
  i->program = NULL;
}

static void macros_are_what_queries_say(void **state) {
  (void)state;
  static const char *const extensions[] = {"cl_khr_byte_addressable_store",
                                           "cl_khr_3d_image_writes",
                                           "cl_khr_fp64",
                                           "cl_khr_fp16",
                                           "cl_khr_global_int32_base_atomics",
                                           "cl_khr_int64_base_atomics",
                                           "cl_khr_depth_images",
                                           "cl_khr_srgb_image_writes",
                                           "cl_khr_subgroups",
                                           "cl_khr_subgroup_extended_types",
                                           "cl_khr_subgroup_shuffle",
                                           "cl_khr_subgroup_rotate",
                                           "cl_khr_extended_bit_ops",
                                           "cl_khr_integer_dot_product",
                                           "cl_khr_select_fprounding_mode",
                                           "cl_khr_gl_msaa_sharing",
                                           "cl_khr_mipmap_image",
                                           "cl_khr_kernel_clock",
                                           "cl_khr_subgroup_shuffle_relative",
                                           "cl_khr_extended_async_copies"};
  static const char *const features[] = {"__opencl_c_int64",
                                         "__opencl_c_fp64",
                                         "__opencl_c_images",
                                         "__opencl_c_3d_image_writes",
                                         "__opencl_c_read_write_images",
                                         "__opencl_c_atomic_order_acq_rel",
                                         "__opencl_c_atomic_order_seq_cst",
                                         "__opencl_c_atomic_scope_device",
                                         "__opencl_c_atomic_scope_all_devices",
                                         "__opencl_c_device_enqueue",
                                         "__opencl_c_generic_address_space",
                                         "__opencl_c_pipes",
                                         "__opencl_c_program_scope_global_variables",
                                         "__opencl_c_subgroups",
                                         "__opencl_c_work_group_collective_functions",
                                         "__opencl_c_integer_dot_product_input_4x8bit",
                                         "__opencl_c_integer_dot_product_input_4x8bit_packed"};
  enum { EXTENSIONS = sizeof extensions / sizeof *extensions };
  enum { FEATURES = sizeof features / sizeof *features, MOST = EXTENSIONS + FEATURES };
  icd i = icd_begin(NULL, 0);
  char text[4096];
  cl_name_version rows[64];
  size_t size;
  offer list[MOST];
  int seen[MOST];
  OK(clGetDeviceInfo(i.device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
  for (int n = 0; n < EXTENSIONS; n++)
    list[n] = (offer){extensions[n], has_word(text, extensions[n])};
  read_macros(&i, list, EXTENSIONS, NULL, seen);
  for (int n = 0; n < EXTENSIONS; n++)
    if (seen[n] != list[n].is_offered) fail_msg("%s", list[n].name);
  OK(clGetDeviceInfo(i.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof rows, rows, &size));
  for (size_t n = 0; n < size / sizeof *rows; n++) assert_true(has_word(text, rows[n].name));

  OK(clGetDeviceInfo(i.device, CL_DEVICE_OPENCL_C_FEATURES, sizeof rows, rows, &size));
  for (int n = 0; n < FEATURES; n++) {
    list[n] = (offer){features[n], false};
    for (size_t k = 0; k < size / sizeof *rows; k++)
      list[n].is_offered |= !strcmp(rows[k].name, features[n]);
  }
  read_macros(&i, list, FEATURES, "-cl-std=CL3.0", seen);
  for (int n = 0; n < FEATURES; n++)
    if (seen[n] != list[n].is_offered) fail_msg("%s", list[n].name);
  icd_end(&i);
}

// What is not offered answers as the specification says of devices without it.
static void what_is_absent_says_so(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_uint number = 1;
  cl_int code;
  FAILS(CL_INVALID_COMMAND_QUEUE,
        clGetCommandQueueInfo(i.queue, CL_QUEUE_SIZE, sizeof number, &number, NULL));
  FAILS(CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(i.context, i.device, NULL));
  clCreatePipe(i.context, CL_MEM_HOST_NO_ACCESS, 4, 4, NULL, &code);
  FAILS(CL_INVALID_OPERATION, code);
  cl_mem buffer = icd_buffer(&i, 16, NULL);
  FAILS(CL_INVALID_MEM_OBJECT,
        clGetPipeInfo(buffer, CL_PIPE_PACKET_SIZE, sizeof number, &number, NULL));
  cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
  cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 2, .buffer = buffer};
  clCreateImage(i.context, CL_MEM_READ_ONLY, &format, &desc, NULL, &code);
  FAILS(CL_INVALID_OPERATION, code);
  OK(clReleaseMemObject(buffer));
  icd_end(&i);
}

// ---- shared virtual memory ----------------------------------------------------------------------

// Kernels cannot follow the pointers that such memory is for, so none is offered: its calls refuse,
// and touch no address that they are given.
static void shared_memory_is_refused(void **state) {
  (void)state;
  icd i = icd_begin("kernel void k(global int *x) { x[0] = 1; }\n", 0);
  cl_kernel kernel = icd_kernel(&i, "k");
  void *wild = (void *)(uintptr_t)0xdeadbeef;
  const void *list[] = {wild};
  cl_device_svm_capabilities can = ~(cl_device_svm_capabilities)0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL));
  assert_int_equal(can, 0);
  assert_null(clSVMAlloc(i.context, CL_MEM_READ_WRITE, 16, 0));
  clSVMFree(i.context, wild);
  FAILS(CL_INVALID_OPERATION, clEnqueueSVMMemFill(i.queue, wild, "abcd", 4, 16, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION, clEnqueueSVMMemcpy(i.queue, CL_TRUE, wild, wild, 16, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION,
        clEnqueueSVMMap(i.queue, CL_TRUE, CL_MAP_READ, wild, 16, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION, clEnqueueSVMUnmap(i.queue, wild, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION, clEnqueueSVMMigrateMem(i.queue, 1, list, NULL, 0, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION, clEnqueueSVMFree(i.queue, 1, &wild, NULL, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMFree(NULL, 1, &wild, NULL, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION, clSetKernelArgSVMPointer(kernel, 0, NULL));
  FAILS(CL_INVALID_KERNEL, clSetKernelArgSVMPointer((cl_kernel)i.context, 0, NULL));
  FAILS(CL_INVALID_OPERATION, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
  FAILS(CL_INVALID_KERNEL, clSetKernelExecInfo(NULL, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
  OK(clReleaseKernel(kernel));
  icd_end(&i);
}

// ---- subgroups ----------------------------------------------------------------------------------

static const char groups[] = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
                             "kernel void count(global int *o) { o[0] = get_num_sub_groups(); }\n";

static void subgroups_are_counted(void **state) {
  (void)state;
  icd i = icd_begin(groups, 0);
  cl_kernel kernel = icd_kernel(&i, "count");
  cl_mem buffer = icd_buffer(&i, sizeof(int), NULL);
  OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  cl_uint most = 0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof most, &most, NULL));
  assert_true(most > 0);
  for (size_t count = 1; count <= most + 1; count += count < 3 ? 1 : most / 2) {
    size_t local[2] = {9, 9}, size = 0, found = 0;
    int seen = 0;
    OK(clGetKernelSubGroupInfo(kernel, i.device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT,
                               sizeof count, &count, sizeof local, local, &size));
    assert_int_equal(size, sizeof local);
    if (count > most) {
      assert_true(!local[0] && !local[1]);
      break;
    }
    OK(clEnqueueNDRangeKernel(i.queue, kernel, 2, NULL, local, local, 0, NULL, NULL));
    icd_read(&i, buffer, sizeof seen, &seen);
    assert_int_equal(seen, count);
    OK(clGetKernelSubGroupInfo(kernel, i.device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
                               sizeof local, local, sizeof found, &found, NULL));
    assert_int_equal(found, count);
  }
  size_t odd = 33, found = 0;
  OK(clGetKernelSubGroupInfo(kernel, i.device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof odd,
                             &odd, sizeof found, &found, NULL));
  assert_int_equal(found, 2);
  FAILS(CL_INVALID_VALUE,
        clGetKernelSubGroupInfo(kernel, i.device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 3, &odd,
                                sizeof found, &found, NULL));
  FAILS(CL_INVALID_VALUE,
        clGetKernelSubGroupInfo(kernel, i.device, 0, sizeof odd, &odd, sizeof found, &found, NULL));
  OK(clReleaseKernel(kernel));
  OK(clReleaseMemObject(buffer));
  icd_end(&i);
}

// ---- half ---------------------------------------------------------------------------------------

static void halves_are_computed_with(void **state) {
  (void)state;
  static const char source[] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                               "kernel void k(global half4 *o, half a, half3 b) { o[0] = "
                               "(half4)(sqrt(a) * b, a + 1.0h); }\n";
  icd i = icd_begin(source, 0);
  cl_kernel kernel = icd_kernel(&i, "k");
  // 4, and (1, -0.5, 65504); a vector of three has the size of four
  cl_half a = 0x4400, b[4] = {0x3c00, 0xb800, 0x7bff, 0}, out[4];
  const cl_half expected[4] = {0x4000, 0xbc00, 0x7c00, 0x4500};
  cl_mem buffer = icd_buffer(&i, sizeof out, NULL);
  OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  OK(clSetKernelArg(kernel, 1, sizeof a, &a));
  OK(clSetKernelArg(kernel, 2, sizeof b, b));
  icd_run(&i, kernel, 1);
  icd_read(&i, buffer, sizeof out, out);
  assert_memory_equal(out, expected, sizeof out);
  cl_device_fp_config config = 0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_HALF_FP_CONFIG, sizeof config, &config, NULL));
  assert_true(config & CL_FP_ROUND_TO_NEAREST && config & CL_FP_INF_NAN);
  OK(clReleaseKernel(kernel));
  OK(clReleaseMemObject(buffer));
  icd_end(&i);
}

// ---- what kernels say of their arguments --------------------------------------------------------

static void types_have_their_short_names(void **state) {
  (void)state;
  static const char source[] = "kernel void k(global signed char *a, char signed b, local unsigned "
                               "*c, unsigned long d, constant long unsigned *e, signed f) {}\n";
  static const char *const names[] = {"char*", "char", "uint*", "ulong", "ulong*", "int"};
  icd i = icd_begin(NULL, 0);
  i.program = icd_build(&i, source, "-cl-kernel-arg-info");
  cl_kernel kernel = icd_kernel(&i, "k");
  for (cl_uint n = 0; n < sizeof names / sizeof *names; n++) {
    char name[64];
    OK(clGetKernelArgInfo(kernel, n, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL));
    assert_string_equal(name, names[n]);
  }
  OK(clReleaseKernel(kernel));
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(macros_are_what_queries_say), cmocka_unit_test(what_is_absent_says_so),
      cmocka_unit_test(shared_memory_is_refused),    cmocka_unit_test(subgroups_are_counted),
      cmocka_unit_test(halves_are_computed_with),    cmocka_unit_test(types_have_their_short_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
