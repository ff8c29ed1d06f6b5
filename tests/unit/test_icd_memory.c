// SPDX-License-Identifier: MIT
//
// Memory of the OpenCL driver: copies, fills and maps of buffers and images, and kernels that read
// and write images of every kind.
#include "../icd.h"

static void buffers_are_copied_and_filled(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  unsigned char from[64], to[64], two[2] = {7, 9};
  for (int k = 0; k < 64; k++) from[k] = (unsigned char)k;
  cl_mem a = icd_buffer(&i, 64, from), b = icd_buffer(&i, 64, from);
  OK(clEnqueueCopyBuffer(i.queue, a, b, 0, 32, 16, 0, NULL, NULL));
  OK(clEnqueueFillBuffer(i.queue, b, two, 2, 4, 6, 0, NULL, NULL));
  icd_read(&i, b, 64, to);
  memcpy(from + 32, from, 16);
  memcpy(from + 4, (unsigned char[]){7, 9, 7, 9, 7, 9}, 6);
  assert_memory_equal(from, to, 64);
  FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(i.queue, a, a, 0, 8, 16, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBuffer(i.queue, a, b, 60, 0, 8, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueFillBuffer(i.queue, b, two, 2, 1, 6, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueFillBuffer(i.queue, b, from, 3, 0, 6, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueReadBuffer(i.queue, a, CL_TRUE, 1, 64, to, 0, NULL, NULL));
  OK(clReleaseMemObject(a));
  OK(clReleaseMemObject(b));
  cl_int code;
  clCreateBuffer(i.context, 0, 0, NULL, &code);
  assert_int_equal(code, CL_INVALID_BUFFER_SIZE);
  clCreateBuffer(i.context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 8, NULL, &code);
  assert_int_equal(code, CL_INVALID_VALUE);
  clCreateBuffer(i.context, CL_MEM_USE_HOST_PTR, 8, NULL, &code);
  assert_int_equal(code, CL_INVALID_HOST_PTR);
  cl_mem hidden = clCreateBuffer(i.context, CL_MEM_HOST_NO_ACCESS, 64, NULL, &code);
  OK(code);
  FAILS(CL_INVALID_OPERATION,
        clEnqueueReadBuffer(i.queue, hidden, CL_TRUE, 0, 64, to, 0, NULL, NULL));
  OK(clReleaseMemObject(hidden));
  icd_end(&i);
}

static void boxes_are_copied(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  enum { W = 8, H = 6, D = 4 };
  unsigned char from[D][H][W], to[D][H][W], out[2][3][4];
  for (int k = 0; k < D * H * W; k++) (&from[0][0][0])[k] = (unsigned char)k;
  memset(to, 0, sizeof to);
  cl_mem a = icd_buffer(&i, sizeof from, from), b = icd_buffer(&i, sizeof to, to);
  size_t here[] = {2, 1, 1}, there[] = {1, 3, 2}, zero[] = {0, 0, 0}, region[] = {4, 3, 2};
  OK(clEnqueueCopyBufferRect(i.queue, a, b, here, there, region, W, W * H, W, W * H, 0, NULL,
                             NULL));
  OK(clEnqueueReadBufferRect(i.queue, b, CL_TRUE, there, zero, region, W, W * H, 0, 0, out, 0, NULL,
                             NULL));
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 4; x++) assert_int_equal(out[z][y][x], from[z + 1][y + 1][x + 2]);
  OK(clEnqueueWriteBufferRect(i.queue, b, CL_TRUE, zero, zero, region, W, W * H, 0, 0, out, 0, NULL,
                              NULL));
  icd_read(&i, b, sizeof to, to);
  assert_int_equal(to[1][2][3], from[2][3][5]);
  assert_int_equal(to[0][0][4], 0);
  FAILS(CL_INVALID_VALUE, clEnqueueReadBufferRect(i.queue, b, CL_TRUE, there, zero, region, 3,
                                                  W * H, 0, 0, out, 0, NULL, NULL));
  FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(i.queue, a, a, zero, here, region, W, W * H, W,
                                                     W * H, 0, NULL, NULL));
  OK(clReleaseMemObject(a));
  OK(clReleaseMemObject(b));
  icd_end(&i);
}

static void maps_are_in_place(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  int own[32] = {0};
  cl_int code;
  cl_mem m = clCreateBuffer(i.context, CL_MEM_USE_HOST_PTR, sizeof own, own, &code);
  OK(code);
  cl_uint count;
  int *at = clEnqueueMapBuffer(i.queue, m, CL_TRUE, CL_MAP_WRITE, 16, 64, 0, NULL, NULL, &code);
  OK(code);
  assert_ptr_equal(at, own + 4);
  OK(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
  assert_int_equal(count, 1);
  at[0] = 77;
  FAILS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(i.queue, m, at + 1, 0, NULL, NULL));
  OK(clEnqueueUnmapMemObject(i.queue, m, at, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(i.queue, m, at, 0, NULL, NULL));
  int out[32];
  icd_read(&i, m, sizeof out, out);
  assert_int_equal(out[4], 77);
  clEnqueueMapBuffer(i.queue, m, CL_TRUE, CL_MAP_READ, 100, 64, 0, NULL, NULL, &code);
  assert_int_equal(code, CL_INVALID_VALUE);
  OK(clReleaseMemObject(m));
  icd_end(&i);
}

static int order[3], ended;

static void CL_CALLBACK note_end(cl_mem memory, void *data) {
  (void)memory;
  order[ended++] = *(int *)data;
}

static void destructors_are_called_last_first(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static int numbers[] = {1, 2, 3};
  cl_mem m = icd_buffer(&i, 64, NULL);
  for (int k = 0; k < 3; k++) OK(clSetMemObjectDestructorCallback(m, note_end, &numbers[k]));
  OK(clReleaseMemObject(m));
  assert_int_equal(ended, 3);
  assert_true(order[0] == 3 && order[1] == 2 && order[2] == 1);
  icd_end(&i);
}

// ---- images -------------------------------------------------------------------------------------

static const char pictures[] =
    "kernel void flip(read_only image2d_t in, write_only image2d_t out, sampler_t s) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imagef(out, (int2)(get_image_width(out) - 1 - at.x, at.y),\n"
    "               read_imagef(in, s, at).zyxw);\n"
    "}\n"
    "kernel void layers(read_only image2d_array_t in, global uint *o) {\n"
    "  int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
    "  const sampler_t s = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "  o[(at.z * get_image_height(in) + at.y) * get_image_width(in) + at.x] =\n"
    "      read_imageui(in, s, at).x + get_image_array_size(in);\n"
    "}\n"
    "kernel void line(read_only image1d_buffer_t in, global float4 *o) {\n"
    "  o[get_global_id(0)] = read_imagef(in, (int)get_global_id(0));\n"
    "}\n";

enum { W = 5, H = 3 };

static cl_mem picture(const icd *i, const void *from, size_t pitch, cl_mem_flags flags) {
  cl_int code;
  cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                        .image_width = W,
                        .image_height = H,
                        .image_row_pitch = pitch};
  cl_mem made = clCreateImage(i->context, flags, &format, &desc, (void *)(uintptr_t)from, &code);
  OK(code);
  return made;
}

static void kernels_read_and_write_images(void **state) {
  (void)state;
  icd i = icd_begin(pictures, 0);
  enum { PITCH = 32 }; // with gaps
  unsigned char own[H][PITCH], out[H][W][4];
  for (int k = 0; k < H * PITCH; k++) (&own[0][0])[k] = (unsigned char)(3 * k);
  cl_mem in = picture(&i, own, PITCH, CL_MEM_USE_HOST_PTR), to = picture(&i, NULL, 0, 0);
  cl_int code;
  cl_sampler sampler =
      clCreateSampler(i.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code);
  OK(code);
  cl_kernel flip = icd_kernel(&i, "flip");
  OK(clSetKernelArg(flip, 0, sizeof in, &in));
  OK(clSetKernelArg(flip, 1, sizeof to, &to));
  OK(clSetKernelArg(flip, 2, sizeof sampler, &sampler));
  FAILS(CL_INVALID_SAMPLER, clSetKernelArg(flip, 2, sizeof in, &in));
  size_t global[] = {W, H}, zero[] = {0, 0, 0}, region[] = {W, H, 1}, row, corner[] = {2, 1, 0};
  OK(clEnqueueNDRangeKernel(i.queue, flip, 2, NULL, global, NULL, 0, NULL, NULL));
  OK(clEnqueueReadImage(i.queue, to, CL_TRUE, zero, region, 0, 0, out, 0, NULL, NULL));
  static const int swapped[] = {2, 1, 0, 3};
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      for (int c = 0; c < 4; c++)
        assert_int_equal(out[y][W - 1 - x][c], own[y][4 * x + swapped[c]]);
  // A map of memory with gaps is at the client's own address, and what is written there counts.
  size_t one[] = {1, 1, 1};
  unsigned char *at = clEnqueueMapImage(i.queue, in, CL_TRUE, CL_MAP_WRITE, corner, one, &row, NULL,
                                        0, NULL, NULL, &code);
  OK(code);
  assert_int_equal(row, PITCH);
  assert_ptr_equal(at, &own[1][8]);
  memcpy(at, "\1\2\3\4", 4);
  OK(clEnqueueUnmapMemObject(i.queue, in, at, 0, NULL, NULL));
  OK(clEnqueueReadImage(i.queue, in, CL_TRUE, corner, one, 0, 0, out, 0, NULL, NULL));
  assert_memory_equal(out, "\1\2\3\4", 4);
  float color[] = {1, 0.5f, 0, 2};
  OK(clEnqueueFillImage(i.queue, to, color, corner, one, 0, NULL, NULL));
  OK(clEnqueueReadImage(i.queue, to, CL_TRUE, corner, one, 0, 0, out, 0, NULL, NULL));
  assert_memory_equal(out, "\377\200\0\377", 4);
  OK(clEnqueueCopyImage(i.queue, in, to, zero, zero, region, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueReadImage(i.queue, to, CL_TRUE, corner, region, 0, 0, out, 0, NULL, NULL));
  OK(clReleaseKernel(flip));
  OK(clReleaseSampler(sampler));
  OK(clReleaseMemObject(in));
  OK(clReleaseMemObject(to));
  icd_end(&i);
}

static void images_have_layers_and_buffers(void **state) {
  (void)state;
  icd i = icd_begin(pictures, 0);
  enum { LAYERS = 2 };
  cl_int code;
  cl_uint in[LAYERS][H][W], out[LAYERS][H][W];
  for (int k = 0; k < LAYERS * H * W; k++) (&in[0][0][0])[k] = (cl_uint)k;
  cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
                        .image_width = W,
                        .image_height = H,
                        .image_array_size = LAYERS};
  cl_mem layers = clCreateImage(i.context, CL_MEM_COPY_HOST_PTR, &format, &desc, in, &code);
  OK(code);
  cl_mem o = icd_buffer(&i, sizeof out, NULL);
  cl_kernel kernel = icd_kernel(&i, "layers");
  OK(clSetKernelArg(kernel, 0, sizeof layers, &layers));
  OK(clSetKernelArg(kernel, 1, sizeof o, &o));
  FAILS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof o, &o));
  size_t global[] = {W, H, LAYERS};
  OK(clEnqueueNDRangeKernel(i.queue, kernel, 3, NULL, global, NULL, 0, NULL, NULL));
  icd_read(&i, o, sizeof out, out);
  for (int k = 0; k < LAYERS * H * W; k++) assert_int_equal((&out[0][0][0])[k], k + LAYERS);
  OK(clReleaseKernel(kernel));
  float pixels[][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, read[2][4];
  cl_mem buffer = icd_buffer(&i, sizeof pixels, pixels);
  format = (cl_image_format){CL_RGBA, CL_FLOAT};
  desc = (cl_image_desc){
      .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 2, .buffer = buffer};
  cl_mem line = clCreateImage(i.context, 0, &format, &desc, NULL, &code);
  OK(code);
  kernel = icd_kernel(&i, "line");
  OK(clSetKernelArg(kernel, 0, sizeof line, &line));
  OK(clSetKernelArg(kernel, 1, sizeof o, &o));
  icd_run(&i, kernel, 2);
  icd_read(&i, o, sizeof read, read);
  assert_memory_equal(read, pixels, sizeof read);
  desc.image_width = 3; // more than the buffer has
  clCreateImage(i.context, 0, &format, &desc, NULL, &code);
  assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
  OK(clReleaseMemObject(buffer));
  OK(clReleaseMemObject(line));
  OK(clReleaseMemObject(layers));
  OK(clReleaseMemObject(o));
  OK(clReleaseKernel(kernel));
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffers_are_copied_and_filled),
      cmocka_unit_test(boxes_are_copied),
      cmocka_unit_test(maps_are_in_place),
      cmocka_unit_test(destructors_are_called_last_first),
      cmocka_unit_test(kernels_read_and_write_images),
      cmocka_unit_test(images_have_layers_and_buffers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
