// SPDX-License-Identifier: MIT
//
// Images of the OpenCL driver at their edges: which formats and sizes there are, pitches, what is
// asked of an image of each kind, the bytes of a colour in every format, and regions that just fit.
// Flags of memory, and of memory made from other memory.
#include "../icd.h"

static const cl_image_format rgba8 = {CL_RGBA, CL_UNSIGNED_INT8};

// ---- formats ------------------------------------------------------------------------------------

static cl_uint formats_of(const icd *i, cl_mem_object_type type, cl_image_format *out) {
  cl_uint count = 0;
  OK(clGetSupportedImageFormats(i->context, CL_MEM_READ_WRITE, type, 300, out, &count));
  return count;
}

static bool has_format(const cl_image_format *list, cl_uint count, cl_uint order, cl_uint type) {
  for (cl_uint k = 0; k < count; k++)
    if (list[k].image_channel_order == order && list[k].image_channel_data_type == type)
      return true;
  return false;
}

static void test_formats(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_image_format list[300], few[3] = {{1, 1}, {1, 1}, {1, 1}};
  // Five orders of 12 types, two of 8, three of 4, two packed of 3, sRGB of 1; and depth of 2.
  cl_uint flat = formats_of(&i, CL_MEM_OBJECT_IMAGE2D, list);
  static const struct {
    cl_uint order, type;
    bool is_there;
  } rows[] = {{CL_RGBA, CL_FLOAT, true},
              {CL_R, CL_HALF_FLOAT, true},
              {CL_RGB, CL_UNORM_SHORT_565, true},
              {CL_RGB, CL_UNORM_INT8, false},
              {CL_RGBA, CL_UNORM_SHORT_565, false},
              {CL_INTENSITY, CL_SNORM_INT16, true},
              {CL_INTENSITY, CL_SIGNED_INT8, false},
              {CL_LUMINANCE, CL_FLOAT, true},
              {CL_LUMINANCE, CL_UNORM_SHORT_555, false},
              {CL_BGRA, CL_UNSIGNED_INT8, true},
              {CL_BGRA, CL_UNORM_INT16, false},
              {CL_ARGB, CL_SNORM_INT8, true},
              {CL_ABGR, CL_FLOAT, false},
              {CL_sRGBA, CL_UNORM_INT8, true},
              {CL_sBGRA, CL_SNORM_INT8, false},
              {CL_DEPTH, CL_UNORM_INT16, true},
              {CL_DEPTH, CL_FLOAT, true},
              {CL_DEPTH, CL_HALF_FLOAT, false},
              {CL_RGBx, CL_UNORM_INT_101010, true},
              {CL_RGx, CL_SIGNED_INT32, false},
              {CL_Rx, CL_UNORM_INT8, false}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (has_format(list, flat, rows[k].order, rows[k].type) != rows[k].is_there)
      fail_msg("%#x %#x", rows[k].order, rows[k].type);
  assert_int_equal(formats_of(&i, CL_MEM_OBJECT_IMAGE2D_ARRAY, list), flat);
  assert_int_equal(formats_of(&i, CL_MEM_OBJECT_IMAGE3D, list), flat - 2); // no depth
  assert_int_equal(formats_of(&i, CL_MEM_OBJECT_IMAGE1D_BUFFER, list), flat - 2);
  // What has no room is counted and not written.
  cl_uint count = 0;
  OK(clGetSupportedImageFormats(i.context, 0, CL_MEM_OBJECT_IMAGE2D, 2, few, &count));
  assert_int_equal(count, flat);
  assert_true(few[1].image_channel_order != 1 && few[2].image_channel_order == 1);
  const cl_mem_flags all = CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE | CL_MEM_KERNEL_READ_AND_WRITE;
  OK(clGetSupportedImageFormats(i.context, all, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &count));
  assert_int_equal(count, flat);
  FAILS(CL_INVALID_VALUE,
        clGetSupportedImageFormats(i.context, 0, CL_MEM_OBJECT_IMAGE2D, 0, few, NULL));
  FAILS(CL_INVALID_VALUE,
        clGetSupportedImageFormats(i.context, 0, CL_MEM_OBJECT_BUFFER, 2, few, NULL));
  FAILS(CL_INVALID_VALUE,
        clGetSupportedImageFormats(i.context, 1u << 20, CL_MEM_OBJECT_IMAGE2D, 2, few, NULL));
  icd_end(&i);
}

// The bytes of a colour. Numbers between two of a type go to the even one, those outside to the
// end.
static void test_colours(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static const float numbers[4] = {0.5f, -2, 2, 0.25f}, light[4] = {0.0031f, 0.5f, 2, 0.5f};
  static const int32_t ints[4] = {-40000, 300, -1, 70000};
  static const struct {
    cl_image_format format;
    const void *color;
    size_t size;
    unsigned char bytes[16];
  } rows[] = {
      {{CL_RGBA, CL_UNORM_INT8}, numbers, 4, {128, 0, 255, 64}},
      {{CL_BGRA, CL_UNORM_INT8}, numbers, 4, {255, 0, 128, 64}},
      {{CL_ARGB, CL_UNORM_INT8}, numbers, 4, {64, 128, 0, 255}},
      {{CL_ABGR, CL_UNORM_INT8}, numbers, 4, {64, 255, 0, 128}},
      {{CL_R, CL_UNORM_INT8}, numbers, 1, {128}},
      {{CL_A, CL_UNORM_INT8}, numbers, 1, {64}},
      {{CL_RA, CL_UNORM_INT8}, numbers, 2, {128, 64}},
      {{CL_RG, CL_UNORM_INT8}, numbers, 2, {128, 0}},
      {{CL_INTENSITY, CL_UNORM_INT8}, numbers, 1, {128}},
      {{CL_RGBA, CL_SNORM_INT8}, numbers, 4, {64, 0x80, 127, 32}},
      {{CL_RG, CL_UNORM_INT16}, numbers, 4, {0x00, 0x80, 0, 0}},
      {{CL_RG, CL_SNORM_INT16}, numbers, 4, {0x00, 0x40, 0x00, 0x80}},
      {{CL_DEPTH, CL_UNORM_INT16}, numbers, 2, {0x00, 0x80}},
      {{CL_RGBA, CL_HALF_FLOAT}, numbers, 8, {0, 0x38, 0, 0xc0, 0, 0x40, 0, 0x34}},
      {{CL_R, CL_FLOAT}, numbers, 4, {0, 0, 0, 0x3f}},
      {{CL_RGB, CL_UNORM_SHORT_565}, numbers, 2, {0x1f, 0x80}},
      {{CL_RGB, CL_UNORM_SHORT_555}, numbers, 2, {0x1f, 0x40}},
      {{CL_RGBx, CL_UNORM_INT_101010}, numbers, 4, {0xff, 0x03, 0x00, 0x20}},
      {{CL_sRGBA, CL_UNORM_INT8}, light, 4, {10, 188, 255, 128}},
      {{CL_sBGRA, CL_UNORM_INT8}, light, 4, {255, 188, 10, 128}},
      {{CL_RGBA, CL_SIGNED_INT8}, ints, 4, {0x80, 0x7f, 0xff, 0x7f}},
      {{CL_RGBA, CL_SIGNED_INT16}, ints, 8, {0, 0x80, 0x2c, 1, 0xff, 0xff, 0xff, 0x7f}},
      {{CL_RGBA, CL_UNSIGNED_INT8}, ints, 4, {255, 255, 255, 255}},
      {{CL_RGBA, CL_UNSIGNED_INT16}, ints, 8, {0xff, 0xff, 0x2c, 1, 0xff, 0xff, 0xff, 0xff}},
      {{CL_RG, CL_SIGNED_INT32}, ints, 8, {0xc0, 0x63, 0xff, 0xff, 0x2c, 1, 0, 0}},
  };
  const size_t zero[3] = {0}, one[3] = {1, 1, 1};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 1};
    cl_int code;
    unsigned char found[16] = {0};
    cl_mem m = clCreateImage(i.context, 0, &rows[k].format, &desc, NULL, &code);
    OK(code);
    size_t size = 0;
    OK(clGetImageInfo(m, CL_IMAGE_ELEMENT_SIZE, sizeof size, &size, NULL));
    assert_int_equal(size, rows[k].size);
    OK(clEnqueueFillImage(i.queue, m, rows[k].color, zero, one, 0, NULL, NULL));
    OK(clEnqueueReadImage(i.queue, m, CL_TRUE, zero, one, 0, 0, found, 0, NULL, NULL));
    if (memcmp(found, rows[k].bytes, size))
      fail_msg("row %zu: %02x %02x %02x %02x %02x %02x %02x %02x", k, found[0], found[1], found[2],
               found[3], found[4], found[5], found[6], found[7]);
    OK(clReleaseMemObject(m));
  }
  icd_end(&i);
}

// ---- sizes --------------------------------------------------------------------------------------

typedef struct size_row {
  cl_mem_object_type type;
  size_t width, height, depth, layers;
  cl_int code;
} size_row;

static const size_row size_rows[] = {
    {CL_MEM_OBJECT_IMAGE1D, 16384, 0, 0, 0, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE1D, 16385, 0, 0, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE1D, 0, 1, 1, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D, 16384, 1, 0, 0, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE2D, 1, 16384, 0, 0, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE2D, 16385, 1, 0, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D, 1, 16385, 0, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D, 1, 0, 1, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D, 0, 1, 1, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE3D, 2048, 1, 1, 0, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE3D, 1, 2048, 1, 0, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE3D, 1, 1, 2048, 0, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE3D, 2049, 1, 1, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE3D, 1, 2049, 1, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE3D, 1, 1, 2049, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE3D, 1, 1, 0, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE3D, 1, 0, 1, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 0, 0, 2048, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 0, 0, 2049, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 1, 1, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, 16385, 1, 1, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, 1, 1, 0, 2048, CL_SUCCESS},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, 1, 1, 0, 2049, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, 1, 1, 1, 0, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, 1, 16385, 1, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, 16385, 1, 1, 1, CL_INVALID_IMAGE_SIZE},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, 4, 0, 0, 0, CL_INVALID_IMAGE_DESCRIPTOR}, // of no buffer
    {CL_MEM_OBJECT_BUFFER, 4, 1, 1, 1, CL_INVALID_IMAGE_DESCRIPTOR},
    {CL_MEM_OBJECT_PIPE, 4, 1, 1, 1, CL_INVALID_IMAGE_DESCRIPTOR},
};

static size_t asked(cl_mem m, cl_image_info what) {
  size_t value = 99, size = 0;
  OK(clGetImageInfo(m, what, sizeof value, &value, &size));
  assert_int_equal(size, sizeof value);
  return value;
}

static void check_answers(cl_mem m, const size_row *r) {
  bool is_flat = r->type == CL_MEM_OBJECT_IMAGE1D || r->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  bool has_layers =
      r->type == CL_MEM_OBJECT_IMAGE1D_ARRAY || r->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  bool is_deep = r->type == CL_MEM_OBJECT_IMAGE3D;
  assert_int_equal(asked(m, CL_IMAGE_WIDTH), r->width);
  assert_int_equal(asked(m, CL_IMAGE_HEIGHT), is_flat ? 0 : r->height);
  assert_int_equal(asked(m, CL_IMAGE_DEPTH), is_deep ? r->depth : 0);
  assert_int_equal(asked(m, CL_IMAGE_ARRAY_SIZE), has_layers ? r->layers : 0);
  assert_int_equal(asked(m, CL_IMAGE_ELEMENT_SIZE), 4);
  assert_int_equal(asked(m, CL_IMAGE_ROW_PITCH), 4 * r->width);
  size_t slice = is_flat ? 4 * r->width : 4 * r->width * r->height;
  assert_int_equal(asked(m, CL_IMAGE_SLICE_PITCH), is_deep || has_layers ? slice : 0);
  size_t all = 4 * r->width * (is_flat ? 1 : r->height) * (is_deep ? r->depth : 1) *
               (has_layers ? r->layers : 1),
         size = 0;
  OK(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL));
  assert_int_equal(size, all);
  cl_mem buffer = m;
  OK(clGetImageInfo(m, CL_IMAGE_BUFFER, sizeof buffer, &buffer, NULL));
  assert_null(buffer);
  cl_uint none = 9;
  OK(clGetImageInfo(m, CL_IMAGE_NUM_MIP_LEVELS, sizeof none, &none, NULL));
  assert_int_equal(none, 0);
  cl_image_format format;
  OK(clGetImageInfo(m, CL_IMAGE_FORMAT, sizeof format, &format, NULL));
  assert_memory_equal(&format, &rgba8, sizeof format);
  FAILS(CL_INVALID_VALUE, clGetImageInfo(m, 0x4242, 0, NULL, NULL));
}

static void test_sizes(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  for (size_t k = 0; k < sizeof size_rows / sizeof *size_rows; k++) {
    const size_row *r = &size_rows[k];
    cl_image_desc desc = {r->type, r->width, r->height, r->depth, r->layers, 0, 0, 0, 0, {NULL}};
    cl_int code = 1;
    cl_mem m = clCreateImage(i.context, 0, &rgba8, &desc, NULL, &code);
    if (code != r->code || (m != NULL) != (code == CL_SUCCESS)) fail_msg("row %zu: %d", k, code);
    if (!m) continue;
    check_answers(m, r);
    OK(clReleaseMemObject(m));
  }
  icd_end(&i);
}

static void expect_image(const icd *i, cl_int expected, const cl_image_format *format,
                         const cl_image_desc *desc, cl_mem_flags flags, void *host) {
  cl_int code = 1;
  cl_mem m = clCreateImage(i->context, flags, format, desc, host, &code);
  assert_int_equal(code, expected);
  assert_true((m != NULL) == (code == CL_SUCCESS));
  if (m) OK(clReleaseMemObject(m));
}

static void test_descriptors(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static unsigned char host[4096];
  cl_mem_flags use = CL_MEM_USE_HOST_PTR;
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 3};
  expect_image(&i, CL_SUCCESS, &rgba8, &desc, 0, NULL);
  expect_image(&i, CL_SUCCESS, &rgba8, &desc, use, host);
  expect_image(&i, CL_INVALID_HOST_PTR, &rgba8, &desc, 0, host);
  expect_image(&i, CL_INVALID_HOST_PTR, &rgba8, &desc, use, NULL);
  expect_image(&i, CL_INVALID_VALUE, &rgba8, &desc, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, NULL);
  expect_image(&i, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, NULL, &desc, 0, NULL);
  expect_image(&i, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, &(cl_image_format){CL_R - 1, CL_FLOAT},
               &desc, 0, NULL);
  expect_image(&i, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
               &(cl_image_format){CL_RGBA, CL_SNORM_INT8 - 1}, &desc, 0, NULL);
  expect_image(&i, CL_IMAGE_FORMAT_NOT_SUPPORTED, &(cl_image_format){CL_RGB, CL_FLOAT}, &desc, 0,
               NULL);
  expect_image(&i, CL_INVALID_IMAGE_DESCRIPTOR, &rgba8, NULL, 0, NULL);
  // Pitches are of the host's memory: multiples of a pixel, not shorter than a row.
  static const struct {
    size_t row, slice;
    bool has_host;
    cl_int code;
  } pitches[] = {{16, 0, true, CL_SUCCESS},
                 {20, 0, true, CL_SUCCESS},
                 {15, 0, true, CL_INVALID_IMAGE_DESCRIPTOR},
                 {12, 0, true, CL_INVALID_IMAGE_DESCRIPTOR},
                 {18, 0, true, CL_INVALID_IMAGE_DESCRIPTOR},
                 {16, 0, false, CL_INVALID_IMAGE_DESCRIPTOR},
                 {0, 48, false, CL_INVALID_IMAGE_DESCRIPTOR}};
  for (size_t k = 0; k < sizeof pitches / sizeof *pitches; k++) {
    desc.image_row_pitch = pitches[k].row;
    desc.image_slice_pitch = pitches[k].slice;
    expect_image(&i, pitches[k].code, &rgba8, &desc, pitches[k].has_host ? use : 0,
                 pitches[k].has_host ? host : NULL);
  }
  desc = (cl_image_desc){
      .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 3, .image_depth = 2};
  static const struct {
    size_t row, slice;
    cl_int code;
  } slices[] = {{16, 48, CL_SUCCESS},
                {20, 80, CL_SUCCESS},
                {16, 47, CL_INVALID_IMAGE_DESCRIPTOR},
                {16, 32, CL_INVALID_IMAGE_DESCRIPTOR},
                {16, 56, CL_INVALID_IMAGE_DESCRIPTOR}};
  for (size_t k = 0; k < sizeof slices / sizeof *slices; k++) {
    desc.image_row_pitch = slices[k].row;
    desc.image_slice_pitch = slices[k].slice;
    expect_image(&i, slices[k].code, &rgba8, &desc, use, host);
  }
  desc.num_mip_levels = 1;
  expect_image(&i, CL_INVALID_IMAGE_DESCRIPTOR, &rgba8, &desc, use, host);
  desc.num_mip_levels = 0, desc.num_samples = 1;
  expect_image(&i, CL_INVALID_IMAGE_DESCRIPTOR, &rgba8, &desc, use, host);
  icd_end(&i);
}

// An image in memory of the host with gaps between its rows and slices.
static void test_gaps(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static unsigned char host[2][4][20], out[2][3][16];
  for (size_t k = 0; k < sizeof host; k++) (&host[0][0][0])[k] = (unsigned char)k;
  cl_int code;
  cl_mem m = clCreateImage3D(i.context, CL_MEM_COPY_HOST_PTR, &rgba8, 4, 3, 2, 20, 80, host, &code);
  OK(code);
  const size_t zero[3] = {0}, all[3] = {4, 3, 2};
  OK(clEnqueueReadImage(i.queue, m, CL_TRUE, zero, all, 0, 0, out, 0, NULL, NULL));
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 3; y++) assert_memory_equal(out[z][y], host[z][y], 16);
  OK(clReleaseMemObject(m));
  m = clCreateImage3D(i.context, CL_MEM_USE_HOST_PTR, &rgba8, 4, 3, 2, 20, 80, host, &code);
  OK(code);
  assert_int_equal(asked(m, CL_IMAGE_ROW_PITCH), 20);
  assert_int_equal(asked(m, CL_IMAGE_SLICE_PITCH), 80);
  size_t row = 0, slice = 0;
  const size_t at[3] = {1, 2, 1}, region[3] = {3, 1, 1};
  unsigned char *mapped = clEnqueueMapImage(i.queue, m, CL_TRUE, CL_MAP_WRITE, at, region, &row,
                                            &slice, 0, NULL, NULL, &code);
  OK(code);
  assert_ptr_equal(mapped, &host[1][2][4]);
  assert_int_equal(row, 20);
  assert_int_equal(slice, 80);
  mapped[0] = 200;
  OK(clEnqueueUnmapMemObject(i.queue, m, mapped, 0, NULL, NULL));
  OK(clEnqueueReadImage(i.queue, m, CL_TRUE, zero, all, 0, 0, out, 0, NULL, NULL));
  assert_int_equal(out[1][2][4], 200);
  assert_int_equal(out[1][2][5], host[1][2][5]);
  OK(clReleaseMemObject(m));
  assert_null(clCreateImage2D(i.context, 0, &rgba8, 4, 3, 20, NULL, &code));
  FAILS(CL_INVALID_IMAGE_SIZE, code); // as OpenCL 1.1 calls it
  assert_null(clCreateImage3D(i.context, 0, &rgba8, 4, 3, 2, 20, 80, NULL, &code));
  FAILS(CL_INVALID_IMAGE_SIZE, code);
  m = clCreateImage2D(i.context, 0, &rgba8, 4, 3, 0, NULL, &code);
  OK(code);
  OK(clReleaseMemObject(m));
  icd_end(&i);
}

static void test_image_of_a_buffer(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  int bytes[4] = {1, 2, 3, 4};
  cl_mem buffer = icd_buffer(&i, sizeof bytes, bytes), found = NULL;
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4};
  desc.buffer = buffer;
  cl_int code;
  cl_mem m = clCreateImage(i.context, 0, &rgba8, &desc, NULL, &code);
  OK(code);
  OK(clGetImageInfo(m, CL_IMAGE_BUFFER, sizeof found, &found, NULL));
  assert_ptr_equal(found, buffer);
  const size_t at[3] = {2, 0, 0}, one[3] = {1, 1, 1};
  OK(clEnqueueFillImage(i.queue, m, (const cl_uint[]){9, 8, 7, 6}, at, one, 0, NULL, NULL));
  icd_read(&i, buffer, sizeof bytes, bytes);
  assert_int_equal(bytes[2], 0x06070809);
  assert_int_equal(bytes[1], 2);
  OK(clReleaseMemObject(m));
  desc.image_width = 5;
  expect_image(&i, CL_INVALID_IMAGE_SIZE, &rgba8, &desc, 0, NULL);
  desc.image_width = 4;
  expect_image(&i, CL_INVALID_HOST_PTR, &rgba8, &desc, CL_MEM_USE_HOST_PTR, bytes);
  desc.image_type = CL_MEM_OBJECT_IMAGE2D, desc.image_height = 1;
  expect_image(&i, CL_INVALID_OPERATION, &rgba8, &desc, 0, NULL);
  desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, desc.buffer = (cl_mem)i.context;
  expect_image(&i, CL_INVALID_IMAGE_DESCRIPTOR, &rgba8, &desc, 0, NULL);
  OK(clReleaseMemObject(buffer));
  icd_end(&i);
}

// ---- regions ------------------------------------------------------------------------------------

static void test_regions(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 3, .image_depth = 2};
  cl_int code;
  static unsigned char room[2][3][4][4];
  cl_mem a = clCreateImage(i.context, 0, &rgba8, &desc, NULL, &code), b;
  OK(code);
  b = clCreateImage(i.context, 0, &rgba8, &desc, NULL, &code);
  OK(code);
  cl_mem buffer = icd_buffer(&i, 4 * 24, NULL);
  static const struct {
    size_t origin[3], region[3];
    bool is_inside;
  } rows[] = {{{0, 0, 0}, {4, 3, 2}, true},  {{3, 2, 1}, {1, 1, 1}, true},
              {{4, 0, 0}, {1, 1, 1}, false}, {{0, 3, 0}, {1, 1, 1}, false},
              {{0, 0, 2}, {1, 1, 1}, false}, {{1, 0, 0}, {4, 3, 2}, false},
              {{0, 1, 0}, {4, 3, 2}, false}, {{0, 0, 1}, {4, 3, 2}, false},
              {{0, 0, 0}, {0, 3, 2}, false}, {{0, 0, 0}, {4, 0, 2}, false},
              {{0, 0, 0}, {4, 3, 0}, false}, {{1, 0, 0}, {SIZE_MAX, 1, 1}, false}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_int expected = rows[k].is_inside ? CL_SUCCESS : CL_INVALID_VALUE;
    const size_t *origin = rows[k].origin, *region = rows[k].region;
    const cl_uint color[4] = {1, 2, 3, 4};
    FAILS(expected,
          clEnqueueReadImage(i.queue, a, CL_TRUE, origin, region, 0, 0, room, 0, NULL, NULL));
    FAILS(expected,
          clEnqueueWriteImage(i.queue, a, CL_TRUE, origin, region, 0, 0, room, 0, NULL, NULL));
    FAILS(expected, clEnqueueFillImage(i.queue, a, color, origin, region, 0, NULL, NULL));
    FAILS(expected, clEnqueueCopyImage(i.queue, a, b, origin, origin, region, 0, NULL, NULL));
    FAILS(expected,
          clEnqueueCopyImageToBuffer(i.queue, a, buffer, origin, region, 0, 0, NULL, NULL));
    FAILS(expected,
          clEnqueueCopyBufferToImage(i.queue, buffer, a, 0, origin, region, 0, NULL, NULL));
    size_t row, slice;
    void *at = clEnqueueMapImage(i.queue, a, CL_TRUE, CL_MAP_READ, origin, region, &row, &slice, 0,
                                 NULL, NULL, &code);
    FAILS(expected, code);
    if (at) OK(clEnqueueUnmapMemObject(i.queue, a, at, 0, NULL, NULL));
  }
  const size_t zero[3] = {0}, one[3] = {1, 1, 1}, next[3] = {1, 0, 0}, two[3] = {2, 1, 1},
               all[3] = {4, 3, 2};
  // Buffers of just the size, and one byte further.
  OK(clEnqueueCopyImageToBuffer(i.queue, a, buffer, zero, all, 0, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueCopyImageToBuffer(i.queue, a, buffer, zero, all, 1, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueCopyImageToBuffer(i.queue, a, buffer, zero, one, 97, 0, NULL, NULL));
  OK(clEnqueueCopyImageToBuffer(i.queue, a, buffer, zero, one, 92, 0, NULL, NULL));
  // Overlap within an image.
  FAILS(CL_MEM_COPY_OVERLAP, clEnqueueCopyImage(i.queue, a, a, zero, next, two, 0, NULL, NULL));
  OK(clEnqueueCopyImage(i.queue, a, a, zero, next, one, 0, NULL, NULL));
  // Pitches of the host: shorter than a row or a slice.
  FAILS(CL_INVALID_VALUE,
        clEnqueueReadImage(i.queue, a, CL_TRUE, zero, all, 15, 0, room, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueReadImage(i.queue, a, CL_TRUE, zero, all, 16, 47, room, 0, NULL, NULL));
  OK(clEnqueueReadImage(i.queue, a, CL_TRUE, zero, all, 16, 48, room, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueReadImage(i.queue, a, CL_TRUE, zero, all, 0, 0, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueReadImage(i.queue, a, CL_TRUE, NULL, all, 0, 0, room, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueFillImage(i.queue, a, NULL, zero, all, 0, NULL, NULL));
  FAILS(CL_INVALID_MEM_OBJECT,
        clEnqueueReadImage(i.queue, buffer, CL_TRUE, zero, one, 0, 0, room, 0, NULL, NULL));
  FAILS(CL_INVALID_MEM_OBJECT,
        clEnqueueCopyImageToBuffer(i.queue, a, b, zero, one, 0, 0, NULL, NULL));
  cl_mem other = clCreateImage(i.context, CL_MEM_HOST_NO_ACCESS,
                               &(cl_image_format){CL_RGBA, CL_SIGNED_INT8}, &desc, NULL, &code);
  OK(code);
  FAILS(CL_IMAGE_FORMAT_MISMATCH,
        clEnqueueCopyImage(i.queue, a, other, zero, zero, one, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION,
        clEnqueueReadImage(i.queue, other, CL_TRUE, zero, one, 0, 0, room, 0, NULL, NULL));
  FAILS(CL_INVALID_OPERATION,
        clEnqueueWriteImage(i.queue, other, CL_TRUE, zero, one, 0, 0, room, 0, NULL, NULL));
  OK(clReleaseMemObject(other));
  OK(clReleaseMemObject(a));
  OK(clReleaseMemObject(b));
  OK(clReleaseMemObject(buffer));
  icd_end(&i);
}

// Rows of a 1D array are its layers: the slice pitch is theirs.
static void test_layers(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 2, .image_array_size = 3};
  unsigned char bytes[3][8], wide[3][12];
  for (int k = 0; k < 24; k++) (&bytes[0][0])[k] = (unsigned char)(k + 1);
  memset(wide, 0, sizeof wide);
  cl_int code;
  cl_mem m = clCreateImage(i.context, CL_MEM_COPY_HOST_PTR, &rgba8, &desc, bytes, &code);
  OK(code);
  const size_t zero[3] = {0}, all[3] = {2, 3, 1};
  OK(clEnqueueReadImage(i.queue, m, CL_TRUE, zero, all, 0, 12, wide, 0, NULL, NULL));
  for (int y = 0; y < 3; y++) {
    assert_memory_equal(wide[y], bytes[y], 8);
    assert_int_equal(wide[y][8], 0);
  }
  FAILS(CL_INVALID_VALUE,
        clEnqueueReadImage(i.queue, m, CL_TRUE, zero, all, 8, 7, wide, 0, NULL, NULL));
  assert_int_equal(asked(m, CL_IMAGE_SLICE_PITCH), 8);
  OK(clReleaseMemObject(m));
  desc.image_slice_pitch = 12;
  m = clCreateImage(i.context, CL_MEM_COPY_HOST_PTR, &rgba8, &desc, wide, &code);
  OK(code);
  unsigned char back[3][8];
  OK(clEnqueueReadImage(i.queue, m, CL_TRUE, zero, all, 0, 0, back, 0, NULL, NULL));
  assert_memory_equal(back, bytes, sizeof bytes);
  OK(clReleaseMemObject(m));
  desc.image_slice_pitch = 7;
  expect_image(&i, CL_INVALID_IMAGE_DESCRIPTOR, &rgba8, &desc, CL_MEM_COPY_HOST_PTR, wide);
  icd_end(&i);
}

// ---- flags --------------------------------------------------------------------------------------

static void test_flags(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static const struct {
    cl_mem_flags of, asked;
    cl_int code;
    cl_mem_flags made;
  } rows[] = {
      {CL_MEM_READ_ONLY, 0, CL_SUCCESS, CL_MEM_READ_ONLY},
      {CL_MEM_READ_ONLY, CL_MEM_READ_ONLY, CL_SUCCESS, CL_MEM_READ_ONLY},
      {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_INVALID_VALUE, 0},
      {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_INVALID_VALUE, 0},
      {CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY, CL_INVALID_VALUE, 0},
      {CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, CL_INVALID_VALUE, 0},
      {CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_SUCCESS, CL_MEM_WRITE_ONLY},
      {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, CL_INVALID_VALUE, 0},
      {CL_MEM_READ_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_INVALID_VALUE, 0},
      {CL_MEM_READ_WRITE, 1u << 20, CL_INVALID_VALUE, 0},
      {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_INVALID_VALUE, 0},
      {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_INVALID_VALUE, 0},
      {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_INVALID_VALUE, 0},
      {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY, CL_INVALID_VALUE, 0},
      {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS, CL_SUCCESS,
       CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS},
      {CL_MEM_HOST_READ_ONLY, 0, CL_SUCCESS, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY},
      {CL_MEM_ALLOC_HOST_PTR, 0, CL_SUCCESS, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_int code = 1;
    cl_mem of = clCreateBuffer(i.context, rows[k].of, 256, NULL, &code);
    OK(code);
    const cl_buffer_region region = {128, 128};
    cl_mem m = clCreateSubBuffer(of, rows[k].asked, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != rows[k].code) fail_msg("row %zu: %d", k, code);
    if (m) {
      cl_mem_flags flags = 0;
      size_t offset = 0;
      cl_mem whole = NULL;
      OK(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
      OK(clGetMemObjectInfo(m, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
      OK(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL));
      if (flags != rows[k].made) fail_msg("row %zu: %#llx", k, (unsigned long long)flags);
      assert_int_equal(offset, 128);
      assert_ptr_equal(whole, of);
      OK(clReleaseMemObject(m));
    }
    OK(clReleaseMemObject(of));
  }
  static const cl_mem_flags bad[] = {CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
                                     CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
                                     CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
                                     CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 1u << 20};
  char host[16];
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    cl_int code = 1;
    assert_null(clCreateBuffer(i.context, bad[k], 16, host, &code));
    FAILS(CL_INVALID_VALUE, code);
  }
  icd_end(&i);
}

// An image that kernels may not read is no argument that is read, nor the other way round.
static void test_access(void **state) {
  (void)state;
  icd i = icd_begin("kernel void reads(read_only image2d_t x, global uint4 *o) {\n"
                    "  o[0] = read_imageui(x, (int2)(0, 0));\n"
                    "}\n"
                    "kernel void writes(write_only image2d_t x, global uint4 *o) {\n"
                    "  write_imageui(x, (int2)(0, 0), o[0]);\n"
                    "}\n",
                    0);
  static const struct {
    const char *kernel;
    cl_mem_flags flags;
    cl_int code;
  } rows[] = {
      {"reads", 0, CL_SUCCESS},
      {"reads", CL_MEM_READ_WRITE, CL_SUCCESS},
      {"reads", CL_MEM_READ_ONLY, CL_SUCCESS},
      {"reads", CL_MEM_WRITE_ONLY, CL_INVALID_ARG_VALUE},
      {"writes", 0, CL_SUCCESS},
      {"writes", CL_MEM_READ_WRITE, CL_SUCCESS},
      {"writes", CL_MEM_READ_ONLY, CL_INVALID_ARG_VALUE},
      {"writes", CL_MEM_WRITE_ONLY, CL_SUCCESS},
  };
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 2};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    cl_int code;
    cl_kernel k = icd_kernel(&i, rows[r].kernel);
    cl_mem image = clCreateImage(i.context, rows[r].flags, &format, &desc, NULL, &code);
    OK(code);
    code = clSetKernelArg(k, 0, sizeof image, &image);
    if (code != rows[r].code) fail_msg("row %zu: %d", r, code);
    OK(clReleaseMemObject(image));
    OK(clReleaseKernel(k));
  }
  icd_end(&i);
}

static void test_parts_of_buffers(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  static const struct {
    size_t origin, size;
    cl_int code;
  } rows[] = {{0, 256, CL_SUCCESS},           {128, 128, CL_SUCCESS},
              {128, 129, CL_INVALID_VALUE},   {0, 257, CL_INVALID_VALUE},
              {384, 1, CL_INVALID_VALUE},     {SIZE_MAX - 127, 256, CL_INVALID_VALUE},
              {0, 0, CL_INVALID_BUFFER_SIZE}, {64, 64, CL_MISALIGNED_SUB_BUFFER_OFFSET}};
  cl_mem of = icd_buffer(&i, 256, NULL);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const cl_buffer_region region = {rows[k].origin, rows[k].size};
    cl_int code = 1;
    cl_mem m = clCreateSubBuffer(of, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != rows[k].code) fail_msg("row %zu: %d", k, code);
    if (!m) continue;
    cl_int again = 1; // a part of a part
    assert_null(clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &again));
    FAILS(CL_INVALID_MEM_OBJECT, again);
    OK(clReleaseMemObject(m));
  }
  cl_int code = 1;
  assert_null(clCreateSubBuffer(of, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &code));
  FAILS(CL_INVALID_VALUE, code);
  const cl_buffer_region region = {0, 1};
  assert_null(clCreateSubBuffer(of, 0, 0x4242, &region, &code));
  FAILS(CL_INVALID_VALUE, code);
  const cl_mem_properties none[] = {0}, some[] = {0x4242, 1, 0};
  assert_null(clCreateBufferWithProperties(i.context, some, 0, 16, NULL, &code));
  FAILS(CL_INVALID_PROPERTY, code);
  cl_mem m = clCreateBufferWithProperties(i.context, none, 0, 16, NULL, &code);
  OK(code);
  cl_mem_properties back[4] = {9};
  size_t size = 0;
  OK(clGetMemObjectInfo(m, CL_MEM_PROPERTIES, sizeof back, back, &size));
  assert_int_equal(size, sizeof none);
  assert_int_equal(back[0], 0);
  OK(clGetMemObjectInfo(of, CL_MEM_PROPERTIES, sizeof back, back, &size));
  assert_int_equal(size, 0);
  OK(clReleaseMemObject(m));
  OK(clReleaseMemObject(of));
  cl_ulong most = 0;
  OK(clGetDeviceInfo(i.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
  assert_null(clCreateBuffer(i.context, 0, most + 1, NULL, &code));
  FAILS(CL_INVALID_BUFFER_SIZE, code);
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_colours),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_descriptors),
      cmocka_unit_test(test_gaps),
      cmocka_unit_test(test_image_of_a_buffer),
      cmocka_unit_test(test_regions),
      cmocka_unit_test(test_layers),
      cmocka_unit_test(test_flags),
      cmocka_unit_test(test_access),
      cmocka_unit_test(test_parts_of_buffers),
  };
  return cmocka_run_group_tests_name("icd_images", tests, NULL, NULL);
}
