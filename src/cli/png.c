// SPDX-License-Identifier: MIT
#include "cli/png.h"

#include "base/error.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 1 << 16 };

static vyre_status fail(const char *name, const char *why, vyre_error *error) {
  return error_set(error, VYRE_ERROR_BINDING,
                   "`%s` cannot be read as an image: %s. Fix: write it again as a PNG of 8 bits a "
                   "channel",
                   name, why);
}

static double unit_of(unsigned char c) {
  return c / 255.0;
}

// Bytes to elements of `type`, which are at least as large; from the end, in place.
static void widen(npy_array *a, vyre_type type) {
  unsigned char *bytes = a->data;
  a->type = type;
  for (uint64_t i = a->count; i-- > 0;) {
    if (type == VYRE_F32) ((float *)a->data)[i] = (float)unit_of(bytes[i]);
    if (type == VYRE_F64) ((double *)a->data)[i] = unit_of(bytes[i]);
  }
}

vyre_status png_decode(const void *bytes, size_t size, const char *name, vyre_type type,
                       npy_array *out, vyre_error *error) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  *out = (npy_array){.type = VYRE_U8};
  if (!png_image_begin_read_from_memory(&image, bytes, size))
    return fail(name, image.message, error);
  const char *why = NULL;
  if (image.format & PNG_FORMAT_FLAG_LINEAR) why = "it has 16 bits a channel";
  if (image.width > MAX_SIDE || image.height > MAX_SIDE)
    why = "it has more than 65536 rows or columns";
  if (why) {
    png_image_free(&image);
    return fail(name, why, error);
  }
  image.format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA; // palettes are looked up
  uint32_t channels = PNG_IMAGE_SAMPLE_CHANNELS(image.format);
  size_t width = type == VYRE_F32 || type == VYRE_F64 ? vyre_type_size(type) : 1;
  out->rank = channels > 1 ? 3 : 2;
  out->shape[0] = image.height;
  out->shape[1] = image.width;
  out->shape[2] = channels;
  out->count = (uint64_t)image.height * image.width * channels;
  out->storage = out->data = calloc(out->count + 1, width);
  if (!out->data || !png_image_finish_read(&image, NULL, out->data, 0, NULL)) {
    bool has_memory = out->data != NULL;
    png_image_free(&image);
    npy_free(out);
    return has_memory ? fail(name, image.message, error) : error_out_of_memory(error);
  }
  if (width > 1) widen(out, type);
  return VYRE_OK;
}

static unsigned char byte_of(vyre_type type, const void *data, uint64_t i) {
  if (type == VYRE_U8) return ((const unsigned char *)data)[i];
  if (type == VYRE_BOOL) return ((const unsigned char *)data)[i] ? 255 : 0;
  double x = type == VYRE_F32 ? ((const float *)data)[i] : ((const double *)data)[i];
  return !(x > 0) ? 0 : x >= 1 ? 255 : (unsigned char)(x * 255 + 0.5);
}

static bool has_image_shape(uint32_t rank, const uint64_t *shape) {
  if (rank < 2 || rank > 3 || (rank == 3 && (shape[2] < 1 || shape[2] > 4))) return false;
  return shape[0] && shape[1] && shape[0] <= MAX_SIDE && shape[1] <= MAX_SIDE;
}

static bool has_image_type(vyre_type type) {
  return type == VYRE_U8 || type == VYRE_BOOL || type == VYRE_F32 || type == VYRE_F64;
}

static vyre_status write_bytes(const char *name, png_image *image, const unsigned char *pixels,
                               char **out, size_t *size, vyre_error *error) {
  png_alloc_size_t needed = PNG_IMAGE_PNG_SIZE_MAX(*image);
  char *made = malloc(needed);
  if (!made) return error_out_of_memory(error);
  if (!png_image_write_to_memory(image, made, &needed, 0, pixels, 0, NULL)) {
    free(made);
    return error_set(error, VYRE_ERROR_BINDING, "`%s` cannot be written: %s. Fix: write .npy", name,
                     image->message);
  }
  *out = made;
  *size = needed;
  return VYRE_OK;
}

vyre_status png_encode(const char *name, vyre_type type, uint32_t rank, const uint64_t *shape,
                       const void *data, char **out, size_t *size, vyre_error *error) {
  static const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                        PNG_FORMAT_RGBA};
  if (!has_image_shape(rank, shape))
    return error_set(error, VYRE_ERROR_BINDING,
                     "`%s`: an image has rows, columns and at most four channels, and this buffer "
                     "has not. Fix: give its shape, as in `y=zeros:480x640x3`, or write .npy",
                     name);
  if (!has_image_type(type))
    return error_set(error, VYRE_ERROR_BINDING,
                     "`%s`: an image has elements of u8, f32 or f64, and this buffer of %s. Fix: "
                     "convert them in the program, or write .npy",
                     name, vyre_type_name(type));
  uint32_t channels = rank == 3 ? (uint32_t)shape[2] : 1;
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)shape[1],
                     .height = (png_uint_32)shape[0],
                     .format = formats[channels - 1]};
  uint64_t count = shape[0] * shape[1] * channels;
  unsigned char *pixels = malloc(count);
  if (!pixels) return error_out_of_memory(error);
  for (uint64_t i = 0; i < count; i++) pixels[i] = byte_of(type, data, i);
  vyre_status status = write_bytes(name, &image, pixels, out, size, error);
  free(pixels);
  return status;
}
