// SPDX-License-Identifier: MIT
//
// Commands that move the bytes of buffers.
#include "icd/queue.h"
#include "icd/schedule.h"
#include "icd/transfer.h"

static bool is_inside(cl_mem m, size_t offset, size_t size) {
  return offset <= m->size && size <= m->size - offset;
}

static transfer_side plain(void *at) {
  return (transfer_side){at, 0, 0};
}

static transfer_box line(size_t size) {
  return (transfer_box){size, 1, 1};
}

// ---- read, write, copy, fill --------------------------------------------------------------------

static cl_int move(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t offset, size_t size,
                   void *host, bool is_read, cl_uint wait_count, const cl_event *wait_list,
                   cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_buffer(m, queue->context);
  if (code != CL_SUCCESS) return code;
  if (!host || !is_inside(m, offset, size)) return CL_INVALID_VALUE;
  if (is_read ? !transfer_host_reads(m) : !transfer_host_writes(m)) return CL_INVALID_OPERATION;
  cl_event e;
  code = event_begin(queue, is_read ? CL_COMMAND_READ_BUFFER : CL_COMMAND_WRITE_BUFFER, wait_count,
                     wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_side own = plain(m->data + offset), other = plain(host);
  transfer_copy(e, is_read ? other : own, is_read ? own : other, line(size), m, NULL);
  return schedule_submit(e, wait_count, wait_list, blocking, out);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t offset,
                           size_t size, void *host, cl_uint wait_count, const cl_event *wait_list,
                           cl_event *out) {
  return move(queue, m, blocking, offset, size, host, true, wait_count, wait_list, out);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t offset,
                            size_t size, const void *host, cl_uint wait_count,
                            const cl_event *wait_list, cl_event *out) {
  return move(queue, m, blocking, offset, size, (void *)(uintptr_t)host, false, wait_count,
              wait_list, out);
}

static bool is_overlapping(cl_mem a, size_t at, cl_mem b, size_t to, size_t size) {
  const char *x = a->data + at, *y = b->data + to;
  return x < y + size && y < x + size;
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint wait_count,
                           const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_buffer(from, queue->context);
  if (code == CL_SUCCESS) code = memory_check_buffer(to, queue->context);
  if (code != CL_SUCCESS) return code;
  if (!is_inside(from, from_offset, size) || !is_inside(to, to_offset, size))
    return CL_INVALID_VALUE;
  if (size && is_overlapping(from, from_offset, to, to_offset, size)) return CL_MEM_COPY_OVERLAP;
  cl_event e;
  code = event_begin(queue, CL_COMMAND_COPY_BUFFER, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_copy(e, plain(to->data + to_offset), plain(from->data + from_offset), line(size), from,
                to);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem m, const void *pattern,
                           size_t pattern_bytes, size_t offset, size_t size, cl_uint wait_count,
                           const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_buffer(m, queue->context);
  if (code != CL_SUCCESS) return code;
  bool is_size = pattern_bytes && pattern_bytes <= TRANSFER_MOST_PATTERN &&
                 !(pattern_bytes & (pattern_bytes - 1));
  if (!pattern || !is_size || !is_inside(m, offset, size) || offset % pattern_bytes ||
      size % pattern_bytes)
    return CL_INVALID_VALUE;
  cl_event e;
  code = event_begin(queue, CL_COMMAND_FILL_BUFFER, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_fill(e, plain(m->data + offset), line(size), pattern, pattern_bytes, m);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

// ---- rectangles ---------------------------------------------------------------------------------

// Fills in the pitches that were left out; false when they are too small, or too large for a
// number.
static bool complete_pitches(const size_t *region, size_t *row, size_t *slice) {
  size_t packed;
  if (!*row) *row = region[0];
  if (*row < region[0] || __builtin_mul_overflow(*row, region[1], &packed)) return false;
  if (!*slice) *slice = packed;
  return *slice >= packed && *slice % *row == 0;
}

// Whether the box ends within so many bytes, whatever the numbers.
static bool is_rect_inside(size_t size, const size_t *origin, const size_t *region, size_t row,
                           size_t slice) {
  const size_t pitches[] = {1, row, slice};
  size_t end = 1;
  for (int k = 0; k < 3; k++) {
    size_t last, far;
    if (__builtin_add_overflow(origin[k], region[k] - 1, &last) ||
        __builtin_mul_overflow(last, pitches[k], &far) || __builtin_add_overflow(end, far, &end))
      return false;
  }
  return end <= size;
}

static size_t rect_start(const size_t *origin, size_t row, size_t slice) {
  return origin[0] + origin[1] * row + origin[2] * slice;
}

static size_t rect_bytes(const size_t *region, size_t row, size_t slice) {
  return (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
}

static bool is_region(const size_t *region) {
  return region && region[0] && region[1] && region[2];
}

static transfer_box box_of(const size_t *region) {
  return (transfer_box){region[0], region[1], region[2]};
}

static cl_int move_rect(cl_command_queue queue, cl_mem m, cl_bool blocking,
                        const size_t *buffer_origin, const size_t *host_origin,
                        const size_t *region, size_t row, size_t slice, size_t host_row,
                        size_t host_slice, void *host, bool is_read, cl_uint wait_count,
                        const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_buffer(m, queue->context);
  if (code != CL_SUCCESS) return code;
  if (!host || !buffer_origin || !host_origin || !is_region(region)) return CL_INVALID_VALUE;
  if (!complete_pitches(region, &row, &slice) || !complete_pitches(region, &host_row, &host_slice))
    return CL_INVALID_VALUE;
  if (!is_rect_inside(m->size, buffer_origin, region, row, slice)) return CL_INVALID_VALUE;
  size_t start = rect_start(buffer_origin, row, slice);
  if (is_read ? !transfer_host_reads(m) : !transfer_host_writes(m)) return CL_INVALID_OPERATION;
  cl_event e;
  code = event_begin(queue, is_read ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT,
                     wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_side own = {m->data + start, row, slice};
  transfer_side other = {(char *)host + rect_start(host_origin, host_row, host_slice), host_row,
                         host_slice};
  transfer_copy(e, is_read ? other : own, is_read ? own : other, box_of(region), m, NULL);
  return schedule_submit(e, wait_count, wait_list, blocking, out);
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem m, cl_bool blocking,
                               const size_t *buffer_origin, const size_t *host_origin,
                               const size_t *region, size_t row, size_t slice, size_t host_row,
                               size_t host_slice, void *host, cl_uint wait_count,
                               const cl_event *wait_list, cl_event *out) {
  return move_rect(queue, m, blocking, buffer_origin, host_origin, region, row, slice, host_row,
                   host_slice, host, true, wait_count, wait_list, out);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem m, cl_bool blocking,
                                const size_t *buffer_origin, const size_t *host_origin,
                                const size_t *region, size_t row, size_t slice, size_t host_row,
                                size_t host_slice, const void *host, cl_uint wait_count,
                                const cl_event *wait_list, cl_event *out) {
  return move_rect(queue, m, blocking, buffer_origin, host_origin, region, row, slice, host_row,
                   host_slice, (void *)(uintptr_t)host, false, wait_count, wait_list, out);
}

// As appendix "CL_MEM_COPY_OVERLAP" of the specification: boxes in one buffer with one layout.
static bool is_rect_overlap(const size_t *a, const size_t *b, const size_t *region, size_t row,
                            size_t slice) {
  size_t from = rect_start(a, row, slice), to = rect_start(b, row, slice);
  size_t end = rect_bytes(region, row, slice);
  bool apart_in_memory = from + end <= to || to + end <= from;
  if (apart_in_memory) return false;
  bool is_box[3];
  for (int k = 0; k < 3; k++) is_box[k] = a[k] < b[k] + region[k] && b[k] < a[k] + region[k];
  if (is_box[0] && is_box[1] && is_box[2]) return true;
  size_t x = a[0] % row, y = b[0] % row; // boxes that wrap around a row are taken as overlapping
  return x + region[0] > row || y + region[0] > row;
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                               const size_t *from_origin, const size_t *to_origin,
                               const size_t *region, size_t from_row, size_t from_slice,
                               size_t to_row, size_t to_slice, cl_uint wait_count,
                               const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check_buffer(from, queue->context);
  if (code == CL_SUCCESS) code = memory_check_buffer(to, queue->context);
  if (code != CL_SUCCESS) return code;
  if (!from_origin || !to_origin || !is_region(region)) return CL_INVALID_VALUE;
  if (!complete_pitches(region, &from_row, &from_slice) ||
      !complete_pitches(region, &to_row, &to_slice))
    return CL_INVALID_VALUE;
  if (!is_rect_inside(from->size, from_origin, region, from_row, from_slice) ||
      !is_rect_inside(to->size, to_origin, region, to_row, to_slice))
    return CL_INVALID_VALUE;
  size_t start = rect_start(from_origin, from_row, from_slice);
  size_t end = rect_start(to_origin, to_row, to_slice);
  if (from == to && (from_row != to_row || from_slice != to_slice)) return CL_INVALID_VALUE;
  if (from == to && is_rect_overlap(from_origin, to_origin, region, from_row, from_slice))
    return CL_MEM_COPY_OVERLAP;
  cl_event e;
  code = event_begin(queue, CL_COMMAND_COPY_BUFFER_RECT, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  transfer_copy(e, (transfer_side){to->data + end, to_row, to_slice},
                (transfer_side){from->data + start, from_row, from_slice}, box_of(region), from,
                to);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

// ---- migrate ------------------------------------------------------------------------------------

cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *list,
                                  cl_mem_migration_flags flags, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *out) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!count || !list) return CL_INVALID_VALUE;
  if (flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST |
                                        CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED))
    return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; i++) {
    cl_int code = memory_check(list[i], queue->context);
    if (code != CL_SUCCESS) return code;
  }
  cl_event e; // all memory is the process's: nothing has to move
  cl_int code = event_begin(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, wait_count, wait_list, &e);
  return code == CL_SUCCESS ? schedule_submit(e, wait_count, wait_list, CL_FALSE, out) : code;
}
