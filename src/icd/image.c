// SPDX-License-Identifier: MIT
#include "icd/image.h"

#include "icd/info.h"
#include "icd/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- formats ------------------------------------------------------------------------------------

typedef struct order_row {
  cl_channel_order order;
  const char *name;
  uint32_t channels;
} order_row;

typedef struct type_row {
  cl_channel_type type;
  const char *name;
  uint32_t bytes; // of a channel, or of a pixel where channels share a word
  bool is_packed;
} type_row;

// Without CL_Rx and CL_RGx: clients do not agree whether their padding takes room in memory.
static const order_row orders[] = {
    {CL_RGBA, "rgba", 4},
    {CL_BGRA, "bgra", 4},
    {CL_R, "r", 1},
    {CL_RG, "rg", 2},
    {CL_A, "a", 1},
    {CL_RA, "ra", 2},
    {CL_ARGB, "argb", 4},
    {CL_ABGR, "abgr", 4},
    {CL_INTENSITY, "intensity", 1},
    {CL_LUMINANCE, "luminance", 1},
    {CL_sRGBA, "srgba", 4},
    {CL_sBGRA, "sbgra", 4},
    {CL_DEPTH, "depth", 1},
    {CL_RGB, "rgb", 3},
    {CL_RGBx, "rgbx", 4},
};

static const type_row types[] = {
    {CL_UNORM_INT8, "unorm8", 1, false},
    {CL_UNORM_INT16, "unorm16", 2, false},
    {CL_SNORM_INT8, "snorm8", 1, false},
    {CL_SNORM_INT16, "snorm16", 2, false},
    {CL_SIGNED_INT8, "i8", 1, false},
    {CL_SIGNED_INT16, "i16", 2, false},
    {CL_SIGNED_INT32, "i32", 4, false},
    {CL_UNSIGNED_INT8, "u8", 1, false},
    {CL_UNSIGNED_INT16, "u16", 2, false},
    {CL_UNSIGNED_INT32, "u32", 4, false},
    {CL_HALF_FLOAT, "f16", 2, false},
    {CL_FLOAT, "f32", 4, false},
    {CL_UNORM_SHORT_565, "unorm565", 2, true},
    {CL_UNORM_SHORT_555, "unorm555", 2, true},
    {CL_UNORM_INT_101010, "unorm101010", 4, true},
};

enum { ORDERS = sizeof orders / sizeof *orders, TYPES = sizeof types / sizeof *types };

static bool is_number(const type_row *t) {
  return t->type == CL_HALF_FLOAT || t->type == CL_FLOAT || !strncmp(t->name, "unorm", 5) ||
         !strncmp(t->name, "snorm", 5);
}

// Which of the pairs the specification allows.
static bool is_pair(const order_row *o, const type_row *t) {
  switch (o->order) {
  case CL_RGB:
  case CL_RGBx: return t->is_packed;
  case CL_INTENSITY:
  case CL_LUMINANCE: return is_number(t) && !t->is_packed;
  case CL_ARGB:
  case CL_ABGR:
  case CL_BGRA: return !t->is_packed && t->bytes == 1;
  case CL_sRGBA:
  case CL_sBGRA: return t->type == CL_UNORM_INT8;
  case CL_DEPTH: return t->type == CL_UNORM_INT16 || t->type == CL_FLOAT;
  default: return !t->is_packed;
  }
}

// Pairs as texts, made once.
static const char *format_text(const cl_image_format *f, size_t *pixel_bytes) {
  static char texts[ORDERS][TYPES][32];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  for (size_t o = 0; o < ORDERS; o++)
    for (size_t t = 0; t < TYPES; t++) {
      if (orders[o].order != f->image_channel_order || types[t].type != f->image_channel_data_type)
        continue;
      if (!is_pair(&orders[o], &types[t])) return NULL;
      pthread_mutex_lock(&lock);
      snprintf(texts[o][t], sizeof texts[o][t], "%s_%s", orders[o].name, types[t].name);
      pthread_mutex_unlock(&lock);
      *pixel_bytes = types[t].is_packed ? types[t].bytes : types[t].bytes * orders[o].channels;
      return texts[o][t];
    }
  return NULL;
}

static bool is_format_word(const cl_image_format *f) { // known to the specification at least
  bool is_order = f->image_channel_order >= CL_R && f->image_channel_order <= CL_ABGR;
  return is_order && f->image_channel_data_type >= CL_SNORM_INT8 &&
         f->image_channel_data_type <= CL_UNORM_INT_101010_2;
}

const char *image_text(cl_mem image) {
  size_t bytes;
  return format_text(&image->format, &bytes);
}

static bool is_image_type(cl_mem_object_type type) {
  return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE3D ||
         type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE1D ||
         type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                  cl_uint room, cl_image_format *out, cl_uint *count) {
  if (!object_is(context, OBJECT_CONTEXT)) return CL_INVALID_CONTEXT;
  // Every format is read and written alike; a question may be about several uses at once.
  const cl_mem_flags uses = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  flags &= ~uses;
  cl_int code = memory_check_flags(&flags, NULL);
  if (code != CL_SUCCESS) return code;
  if (!is_image_type(type) || (out && !room)) return CL_INVALID_VALUE;
  cl_uint found = 0;
  bool has_depth = type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  for (size_t o = 0; o < ORDERS; o++)
    for (size_t t = 0; t < TYPES; t++) {
      if (!is_pair(&orders[o], &types[t])) continue;
      if (orders[o].order == CL_DEPTH && !has_depth) continue;
      if (out && found < room) out[found] = (cl_image_format){orders[o].order, types[t].type};
      found++;
    }
  if (count) *count = found;
  return CL_SUCCESS;
}

// ---- extents ------------------------------------------------------------------------------------

uint32_t image_extent(cl_mem m, uint32_t axis) {
  const cl_image_desc *d = &m->desc;
  switch (m->type) {
  case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    return (uint32_t)(axis == 0 ? d->image_width : d->image_array_size);
  case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    return (uint32_t)(axis == 0   ? d->image_width
                      : axis == 1 ? d->image_height
                                  : d->image_array_size);
  default:
    return (uint32_t)(axis == 0 ? d->image_width : axis == 1 ? d->image_height : d->image_depth);
  }
}

void image_box(cl_mem m, size_t box[3]) {
  const cl_image_desc *d = &m->desc;
  box[0] = d->image_width;
  box[1] = box[2] = 1;
  switch (m->type) {
  case CL_MEM_OBJECT_IMAGE1D_ARRAY: box[1] = d->image_array_size; break;
  case CL_MEM_OBJECT_IMAGE2D: box[1] = d->image_height; break;
  case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    box[1] = d->image_height;
    box[2] = d->image_array_size;
    break;
  case CL_MEM_OBJECT_IMAGE3D:
    box[1] = d->image_height;
    box[2] = d->image_depth;
    break;
  default: break;
  }
}

static cl_int check_extents(const cl_image_desc *d) {
  size_t w = d->image_width, h = d->image_height;
  const size_t flat = DEVICE_MOST_IMAGE_2D, deep = DEVICE_MOST_IMAGE_3D;
  switch (d->image_type) {
  case CL_MEM_OBJECT_IMAGE1D_BUFFER:
    return w && w <= DEVICE_MOST_IMAGE_PIXELS ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
  case CL_MEM_OBJECT_IMAGE1D: return w && w <= flat ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
  case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    return w && w <= flat && d->image_array_size && d->image_array_size <= DEVICE_MOST_LAYERS
               ? CL_SUCCESS
               : CL_INVALID_IMAGE_SIZE;
  case CL_MEM_OBJECT_IMAGE2D:
    return w && h && w <= flat && h <= flat ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
  case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    return w && h && w <= flat && h <= flat && d->image_array_size &&
                   d->image_array_size <= DEVICE_MOST_LAYERS
               ? CL_SUCCESS
               : CL_INVALID_IMAGE_SIZE;
  case CL_MEM_OBJECT_IMAGE3D:
    return w && h && d->image_depth && w <= deep && h <= deep && d->image_depth <= deep
               ? CL_SUCCESS
               : CL_INVALID_IMAGE_SIZE;
  default: return CL_INVALID_IMAGE_DESCRIPTOR;
  }
}

// ---- making -------------------------------------------------------------------------------------

// The pitches of the client's memory, which may be left out.
static cl_int check_pitches(const cl_image_desc *d, size_t pixel_bytes, bool has_host,
                            const size_t box[3], size_t *row, size_t *slice) {
  bool is_layers = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  size_t packed = box[0] * pixel_bytes;
  *row = d->image_row_pitch ? d->image_row_pitch : packed;
  if (!has_host && (d->image_row_pitch || d->image_slice_pitch)) return CL_INVALID_IMAGE_DESCRIPTOR;
  if (*row < packed || *row % pixel_bytes) return CL_INVALID_IMAGE_DESCRIPTOR;
  if (is_layers) { // a layer is a row
    if (d->image_slice_pitch && d->image_slice_pitch < *row) return CL_INVALID_IMAGE_DESCRIPTOR;
    if (d->image_slice_pitch) *row = d->image_slice_pitch;
    *slice = *row * box[1];
    return CL_SUCCESS;
  }
  *slice = d->image_slice_pitch && box[2] > 1 ? d->image_slice_pitch : *row * box[1];
  return *slice < *row * box[1] || *slice % *row ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
}

static cl_int give_data(cl_mem m, void *host, size_t row, size_t slice, const size_t box[3]) {
  bool has_gaps = host && (row != m->row_bytes || (box[2] > 1 && slice != m->slice_bytes));
  if (!has_gaps) return memory_allocate(m, host);
  cl_mem_flags asked = m->flags;
  m->flags &= ~(cl_mem_flags)(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  cl_int code = memory_allocate(m, NULL);
  m->flags = asked;
  if (code != CL_SUCCESS) return code;
  transfer_run((transfer_side){m->data, m->row_bytes, m->slice_bytes},
               (transfer_side){host, row, slice}, (transfer_box){m->row_bytes, box[1], box[2]});
  if (!(asked & CL_MEM_USE_HOST_PTR)) return CL_SUCCESS;
  m->host = host;
  m->host_row = row;
  m->host_slice = slice;
  return CL_SUCCESS;
}

static cl_int of_buffer(cl_mem m, cl_mem buffer) {
  if (m->size > buffer->size) return CL_INVALID_IMAGE_SIZE;
  m->parent = object_hold(buffer);
  m->data = buffer->data;
  m->host = buffer->host;
  return CL_SUCCESS;
}

static cl_int check_buffer(cl_context context, const cl_image_desc *d, void *host) {
  bool wants = d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  if (!d->buffer) return wants ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
  if (d->image_type == CL_MEM_OBJECT_IMAGE2D) return CL_INVALID_OPERATION; // their rows have gaps
  if (!wants) return CL_INVALID_IMAGE_DESCRIPTOR;
  if (memory_check_buffer(d->buffer, context) != CL_SUCCESS) return CL_INVALID_IMAGE_DESCRIPTOR;
  return host ? CL_INVALID_HOST_PTR : CL_SUCCESS;
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                   cl_mem_flags flags, const cl_image_format *format,
                                   const cl_image_desc *desc, void *host, cl_int *errcode) {
  size_t pixel_bytes = 0, box[3], row, slice;
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  if (!format || !is_format_word(format))
    return icd_fail(errcode, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  if (!desc || !is_image_type(desc->image_type) || desc->num_mip_levels || desc->num_samples)
    return icd_fail(errcode, CL_INVALID_IMAGE_DESCRIPTOR);
  cl_int code = memory_check_properties(properties);
  if (code == CL_SUCCESS) code = check_buffer(context, desc, host);
  if (code == CL_SUCCESS) code = memory_check_flags(&flags, desc->buffer);
  if (code == CL_SUCCESS) code = check_extents(desc);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  if (!desc->buffer && !host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
    return icd_fail(errcode, CL_INVALID_HOST_PTR);
  if (!format_text(format, &pixel_bytes)) return icd_fail(errcode, CL_IMAGE_FORMAT_NOT_SUPPORTED);
  cl_mem made = memory_new(context, desc->image_type, flags, 0);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  memory_keep_properties(made, properties);
  made->format = *format;
  made->desc = *desc;
  image_box(made, box);
  made->pixel_bytes = pixel_bytes;
  made->row_bytes = box[0] * pixel_bytes;
  made->slice_bytes = made->row_bytes * box[1];
  made->size = made->slice_bytes * box[2];
  code = made->size > context_most_bytes(context) ? CL_INVALID_IMAGE_SIZE : CL_SUCCESS;
  if (code == CL_SUCCESS && !desc->buffer)
    code = check_pitches(desc, pixel_bytes, host, box, &row, &slice);
  if (code == CL_SUCCESS)
    code = desc->buffer ? of_buffer(made, desc->buffer) : give_data(made, host, row, slice, box);
  icd_fail(errcode, code);
  if (code == CL_SUCCESS) return made;
  clReleaseMemObject(made);
  return NULL;
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                     const cl_image_desc *desc, void *host, cl_int *errcode) {
  return clCreateImageWithProperties(context, NULL, flags, format, desc, host, errcode);
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                       size_t width, size_t height, size_t row, void *host, cl_int *errcode) {
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                        .image_width = width,
                        .image_height = height,
                        .image_row_pitch = row};
  cl_int code = CL_SUCCESS;
  cl_mem made = clCreateImage(context, flags, format, &desc, host, &code);
  icd_fail(errcode, code == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : code);
  return made;
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                       size_t width, size_t height, size_t depth, size_t row, size_t slice,
                       void *host, cl_int *errcode) {
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                        .image_width = width,
                        .image_height = height,
                        .image_depth = depth,
                        .image_row_pitch = row,
                        .image_slice_pitch = slice};
  cl_int code = CL_SUCCESS;
  cl_mem made = clCreateImage(context, flags, format, &desc, host, &code);
  icd_fail(errcode, code == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : code);
  return made;
}

// ---- questions ----------------------------------------------------------------------------------

static size_t shown_slice(cl_mem m) {
  bool has_slices = m->type == CL_MEM_OBJECT_IMAGE3D || m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  if (m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return m->host_row ? m->host_row : m->row_bytes;
  return !has_slices ? 0 : m->host_slice ? m->host_slice : m->slice_bytes;
}

cl_int clGetImageInfo(cl_mem m, cl_image_info what, size_t room, void *value, size_t *size) {
  info i = {0};
  if (!object_is(m, OBJECT_MEMORY) || !memory_is_image(m)) return CL_INVALID_MEM_OBJECT;
  bool has_height = m->type == CL_MEM_OBJECT_IMAGE2D || m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
                    m->type == CL_MEM_OBJECT_IMAGE3D;
  bool has_layers =
      m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY || m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  switch (what) {
  case CL_IMAGE_FORMAT: info_bytes(&i, &m->format, sizeof m->format); break;
  case CL_IMAGE_ELEMENT_SIZE: info_size(&i, m->pixel_bytes); break;
  case CL_IMAGE_ROW_PITCH: info_size(&i, m->host_row ? m->host_row : m->row_bytes); break;
  case CL_IMAGE_SLICE_PITCH: info_size(&i, shown_slice(m)); break;
  case CL_IMAGE_WIDTH: info_size(&i, m->desc.image_width); break;
  case CL_IMAGE_HEIGHT: info_size(&i, has_height ? m->desc.image_height : 0); break;
  case CL_IMAGE_DEPTH:
    info_size(&i, m->type == CL_MEM_OBJECT_IMAGE3D ? m->desc.image_depth : 0);
    break;
  case CL_IMAGE_ARRAY_SIZE: info_size(&i, has_layers ? m->desc.image_array_size : 0); break;
  case CL_IMAGE_BUFFER: info_pointer(&i, m->desc.buffer); break;
  case CL_IMAGE_NUM_MIP_LEVELS:
  case CL_IMAGE_NUM_SAMPLES: info_u32(&i, 0); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
