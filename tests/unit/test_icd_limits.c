// SPDX-License-Identifier: MIT
//
// A kernel may have as many arguments of a kind as the OpenCL driver says, and as large ones.
#include "../icd.h"

enum { MOST_SOURCE = 1 << 16, MOST_ARGS = 256 };

typedef struct source {
  char text[MOST_SOURCE];
  size_t size;
} source;

static void add(source *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(source *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  s->size += (size_t)vsnprintf(s->text + s->size, sizeof s->text - s->size, format, args);
  va_end(args);
  assert_true(s->size < sizeof s->text);
}

static cl_uint limit(const icd *i, cl_device_info what) {
  cl_uint value = 0;
  OK(clGetDeviceInfo(i->device, what, sizeof value, &value, NULL));
  return value;
}

// One pixel of which every channel is the number.
static cl_mem make_pixel(const icd *i, cl_uchar number) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 1, .image_height = 1};
  cl_uchar pixel[] = {number, number, number, number};
  cl_int code;
  cl_mem made = clCreateImage(i->context, CL_MEM_COPY_HOST_PTR, &format, &desc, pixel, &code);
  OK(code);
  return made;
}

static void images_that_are_read(void **state) {
  (void)state;
  static source s;
  icd i = icd_begin(NULL, 0);
  cl_uint count = limit(&i, CL_DEVICE_MAX_READ_IMAGE_ARGS), want = 0, got = 0;
  assert_in_range(count, 128, MOST_ARGS - 2);
  add(&s, "kernel void k(");
  for (cl_uint n = 0; n < count; n++) add(&s, "read_only image2d_t i%u, ", n);
  add(&s, "global uint *o, sampler_t s) {\n  uint r = 0;\n");
  for (cl_uint n = 0; n < count; n++)
    add(&s, "  r += %uu * read_imageui(i%u, s, (int2)(0, 0)).x;\n", n + 1, n);
  add(&s, "  o[0] = r;\n}\n");
  i.program = icd_build(&i, s.text, NULL);
  cl_kernel k = icd_kernel(&i, "k");
  cl_mem images[MOST_ARGS], o = icd_buffer(&i, sizeof got, &got);
  for (cl_uint n = 0; n < count; n++) {
    images[n] = make_pixel(&i, (cl_uchar)(n + 1));
    want += (n + 1) * (cl_uchar)(n + 1);
    OK(clSetKernelArg(k, n, sizeof *images, &images[n]));
  }
  cl_int code;
  cl_sampler sampler =
      clCreateSampler(i.context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
  OK(code);
  OK(clSetKernelArg(k, count, sizeof o, &o));
  FAILS(CL_INVALID_SAMPLER, clSetKernelArg(k, count + 1, sizeof sampler, NULL));
  OK(clSetKernelArg(k, count + 1, sizeof sampler, &sampler));
  icd_run(&i, k, 1);
  icd_read(&i, o, sizeof got, &got);
  assert_int_equal(got, want);
  for (cl_uint n = 0; n < count; n++) OK(clReleaseMemObject(images[n]));
  OK(clReleaseMemObject(o));
  OK(clReleaseSampler(sampler));
  OK(clReleaseKernel(k));
  icd_end(&i);
}

static void images_that_are_written(void **state) {
  (void)state;
  static source s;
  icd i = icd_begin(NULL, 0);
  cl_uint count = limit(&i, CL_DEVICE_MAX_WRITE_IMAGE_ARGS);
  assert_in_range(count, 64, MOST_ARGS);
  add(&s, "kernel void k(");
  for (cl_uint n = 0; n < count; n++) add(&s, "%swrite_only image2d_t i%u", n ? ", " : "", n);
  add(&s, ") {\n");
  for (cl_uint n = 0; n < count; n++)
    add(&s, "  write_imageui(i%u, (int2)(0, 0), (uint4)(%u));\n", n, n + 3);
  add(&s, "}\n");
  i.program = icd_build(&i, s.text, NULL);
  cl_kernel k = icd_kernel(&i, "k");
  cl_mem images[MOST_ARGS];
  for (cl_uint n = 0; n < count; n++) {
    images[n] = make_pixel(&i, 0);
    OK(clSetKernelArg(k, n, sizeof *images, &images[n]));
  }
  icd_run(&i, k, 1);
  for (cl_uint n = 0; n < count; n++) {
    cl_uchar pixel[4];
    const size_t from[3] = {0}, region[] = {1, 1, 1};
    OK(clEnqueueReadImage(i.queue, images[n], CL_TRUE, from, region, 0, 0, pixel, 0, NULL, NULL));
    assert_int_equal(pixel[3], n + 3);
    OK(clReleaseMemObject(images[n]));
  }
  OK(clReleaseKernel(k));
  icd_end(&i);
}

static void constants(void **state) {
  (void)state;
  static source s;
  icd i = icd_begin(NULL, 0);
  cl_uint count = limit(&i, CL_DEVICE_MAX_CONSTANT_ARGS), want = 0, got = 0;
  assert_in_range(count, 8, MOST_ARGS - 1);
  add(&s, "kernel void k(");
  for (cl_uint n = 0; n < count; n++) add(&s, "constant uint *c%u, ", n);
  add(&s, "global uint *o) {\n  o[0] = 0");
  for (cl_uint n = 0; n < count; n++) add(&s, " + c%u[0]", n);
  add(&s, ";\n}\n");
  i.program = icd_build(&i, s.text, NULL);
  cl_kernel k = icd_kernel(&i, "k");
  cl_mem buffers[MOST_ARGS];
  for (cl_uint n = 0; n <= count; n++) {
    cl_uint number = 7 * n;
    want += n < count ? number : 0;
    buffers[n] = icd_buffer(&i, sizeof number, &number);
    OK(clSetKernelArg(k, n, sizeof *buffers, &buffers[n]));
  }
  icd_run(&i, k, 1);
  icd_read(&i, buffers[count], sizeof got, &got);
  assert_int_equal(got, want);
  for (cl_uint n = 0; n <= count; n++) OK(clReleaseMemObject(buffers[n]));
  OK(clReleaseKernel(k));
  icd_end(&i);
}

// All bytes that arguments may have, as longs.
static void values(void **state) {
  (void)state;
  static source s;
  icd i = icd_begin(NULL, 0);
  size_t bytes = 0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof bytes, &bytes, NULL));
  cl_uint count = (cl_uint)(bytes / sizeof(cl_long)) - 1;
  assert_in_range(count, 127, MOST_ARGS - 1);
  cl_long want = 0, got = 0;
  add(&s, "kernel void k(");
  for (cl_uint n = 0; n < count; n++) add(&s, "long v%u, ", n);
  add(&s, "global long *o) {\n  o[0] = 0");
  for (cl_uint n = 0; n < count; n++) add(&s, " + v%u", n);
  add(&s, ";\n}\n");
  i.program = icd_build(&i, s.text, NULL);
  cl_kernel k = icd_kernel(&i, "k");
  cl_mem o = icd_buffer(&i, sizeof got, &got);
  for (cl_uint n = 0; n < count; n++) {
    cl_long number = ((cl_long)n << 33) - n;
    want += number;
    OK(clSetKernelArg(k, n, sizeof number, &number));
  }
  OK(clSetKernelArg(k, count, sizeof o, &o));
  icd_run(&i, k, 1);
  icd_read(&i, o, sizeof got, &got);
  assert_true(got == want);
  OK(clReleaseMemObject(o));
  OK(clReleaseKernel(k));
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(images_that_are_read),
      cmocka_unit_test(images_that_are_written),
      cmocka_unit_test(constants),
      cmocka_unit_test(values),
  };
  return cmocka_run_group_tests_name("icd_limits", tests, NULL, NULL);
}
