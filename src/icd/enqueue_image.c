// SPDX-License-Identifier: MIT
//
// Commands that move the pixels of images.
#include "icd/image.h"
#include "icd/pixel.h"
#include "icd/queue.h"
#include "icd/schedule.h"
#include "icd/transfer.h"

#include <string.h>

static bool is_inside(cl_mem m, const size_t *origin, const size_t *region) {
  size_t box[3];
  if (!origin || !region) return false;
  image_box(m, box);
  for (int k = 0; k < 3; k++)
    if (!region[k] || origin[k] >= box[k] || region[k] > box[k] - origin[k]) return false;
  return true;
}

static transfer_side side_of(cl_mem m, const size_t *origin) {
  return (transfer_side){m->data + origin[0] * m->pixel_bytes + origin[1] * m->row_bytes +
                             origin[2] * m->slice_bytes,
                         m->row_bytes, m->slice_bytes};
}

static transfer_box box_of(cl_mem m, const size_t *region) {
  return (transfer_box){region[0] * m->pixel_bytes, region[1], region[2]};
}

// The pitches of memory of the host, which may be left out; layers of a 1D array are rows.
static bool host_pitches(cl_mem m, const size_t *region, size_t *row, size_t *slice) {
  size_t packed = region[0] * m->pixel_bytes;
  if (!*row) *row = packed;
  if (*row < packed) return false;
  if (m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY) {
    if (*slice && *slice < *row) return false;
    if (*slice) *row = *slice;
    *slice = *row * region[1];
    return true;
  }
  if (!*slice) *slice = *row * region[1];
  return *slice >= *row * region[1] || region[2] == 1;
}

static cl_int move(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *origin,
                   const size_t *region, size_t row, size_t slice, void *host, bool is_read,
                   cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_image(m, queue->context);
  if (code != CL_SUCCESS) return code;
  if (!host || !is_inside(m, origin, region) || !host_pitches(m, region, &row, &slice))
    return CL_INVALID_VALUE;
  if (is_read ? !transfer_host_reads(m) : !transfer_host_writes(m)) return CL_INVALID_OPERATION;
  cl_event e;
  code = event_begin(queue, is_read ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE, wait_count,
                     wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_side own = side_of(m, origin), other = {host, row, slice};
  transfer_copy(e, is_read ? other : own, is_read ? own : other, box_of(m, region), m, NULL);
  return schedule_submit(e, wait_count, wait_list, blocking, out);
}

cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *origin,
                          const size_t *region, size_t row, size_t slice, void *host,
                          cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  return move(queue, m, blocking, origin, region, row, slice, host, true, wait_count, wait_list,
              out);
}

cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *origin,
                           const size_t *region, size_t row, size_t slice, const void *host,
                           cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  return move(queue, m, blocking, origin, region, row, slice, (void *)(uintptr_t)host, false,
              wait_count, wait_list, out);
}

static bool is_overlap(const size_t *a, const size_t *b, const size_t *region) {
  for (int k = 0; k < 3; k++)
    if (a[k] >= b[k] + region[k] || b[k] >= a[k] + region[k]) return false;
  return true;
}

cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                          const size_t *to_origin, const size_t *region, cl_uint wait_count,
                          const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_image(from, queue->context);
  if (code == CL_SUCCESS) code = memory_check_image(to, queue->context);
  if (code != CL_SUCCESS) return code;
  if (memcmp(&from->format, &to->format, sizeof from->format)) return CL_IMAGE_FORMAT_MISMATCH;
  if (!is_inside(from, from_origin, region) || !is_inside(to, to_origin, region))
    return CL_INVALID_VALUE;
  if (from == to && is_overlap(from_origin, to_origin, region)) return CL_MEM_COPY_OVERLAP;
  cl_event e;
  code = event_begin(queue, CL_COMMAND_COPY_IMAGE, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_copy(e, side_of(to, to_origin), side_of(from, from_origin), box_of(from, region), from,
                to);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

// Between an image and the packed pixels of a buffer.
static cl_int copy_packed(cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t *origin,
                          const size_t *region, size_t offset, bool to_buffer, cl_uint wait_count,
                          const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_image(image, queue->context);
  if (code == CL_SUCCESS) code = memory_check_buffer(buffer, queue->context);
  if (code != CL_SUCCESS) return code;
  if (!is_inside(image, origin, region)) return CL_INVALID_VALUE;
  size_t row = region[0] * image->pixel_bytes, slice = row * region[1];
  if (offset > buffer->size || slice * region[2] > buffer->size - offset) return CL_INVALID_VALUE;
  cl_event e;
  code = event_begin(queue,
                     to_buffer ? CL_COMMAND_COPY_IMAGE_TO_BUFFER : CL_COMMAND_COPY_BUFFER_TO_IMAGE,
                     wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_side pixels = side_of(image, origin), packed = {buffer->data + offset, row, slice};
  transfer_copy(e, to_buffer ? packed : pixels, to_buffer ? pixels : packed, box_of(image, region),
                image, buffer);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer,
                                  const size_t *origin, const size_t *region, size_t offset,
                                  cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  return copy_packed(queue, image, buffer, origin, region, offset, true, wait_count, wait_list,
                     out);
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image,
                                  size_t offset, const size_t *origin, const size_t *region,
                                  cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  return copy_packed(queue, image, buffer, origin, region, offset, false, wait_count, wait_list,
                     out);
}

cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem m, const void *color, const size_t *origin,
                          const size_t *region, cl_uint wait_count, const cl_event *wait_list,
                          cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_image(m, queue->context);
  if (code != CL_SUCCESS) return code;
  if (!color || !is_inside(m, origin, region)) return CL_INVALID_VALUE;
  char pixel[16] = {0};
  pixel_pack(&m->format, color, pixel);
  cl_event e;
  code = event_begin(queue, CL_COMMAND_FILL_IMAGE, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_fill(e, side_of(m, origin), box_of(m, region), pixel, m->pixel_bytes, m);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}
