// SPDX-License-Identifier: MIT
//
// Mapping. Memory is the process's, so that a map gives an address and copies nothing; only an
// image whose host memory has gaps is copied there and back.
#include "icd/image.h"
#include "icd/queue.h"
#include "icd/schedule.h"
#include "icd/transfer.h"

#include <stdlib.h>
#include <string.h>

static cl_int check_flags(cl_mem m, cl_map_flags flags) {
  const cl_map_flags plain = CL_MAP_READ | CL_MAP_WRITE;
  if (flags & ~(plain | CL_MAP_WRITE_INVALIDATE_REGION)) return CL_INVALID_VALUE;
  if ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & plain)) return CL_INVALID_VALUE;
  if ((flags & CL_MAP_READ) && !transfer_host_reads(m)) return CL_INVALID_OPERATION;
  if ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) && !transfer_host_writes(m))
    return CL_INVALID_OPERATION;
  return CL_SUCCESS;
}

static bool remember(cl_mem m, memory_map map) {
  memory_map *made = malloc(sizeof *made);
  if (!made) return false;
  pthread_mutex_lock(&m->lock);
  *made = map;
  made->next = m->maps;
  m->maps = made;
  m->map_count++;
  pthread_mutex_unlock(&m->lock);
  return true;
}

// Takes the record of a map; false when there is none at the address.
static bool forget(cl_mem m, void *at, memory_map *out) {
  pthread_mutex_lock(&m->lock);
  memory_map **link = &m->maps;
  while (*link && (*link)->at != at) link = &(*link)->next;
  memory_map *found = *link;
  if (found) {
    *link = found->next;
    m->map_count--;
    *out = *found;
    free(found);
  }
  pthread_mutex_unlock(&m->lock);
  return found != NULL;
}

static size_t host_offset(cl_mem m, const size_t *origin) {
  return origin[0] * m->pixel_bytes + origin[1] * m->host_row + origin[2] * m->host_slice;
}

// Between the pixels and the host's memory, which has gaps.
static void sync_gaps(cl_event e, cl_mem m, const size_t *origin, const size_t *region,
                      bool to_host) {
  transfer_side own = {m->data + origin[0] * m->pixel_bytes + origin[1] * m->row_bytes +
                           origin[2] * m->slice_bytes,
                       m->row_bytes, m->slice_bytes};
  transfer_side host = {(char *)m->host + host_offset(m, origin), m->host_row, m->host_slice};
  transfer_box box = {region[0] * m->pixel_bytes, region[1], region[2]};
  transfer_copy(e, to_host ? host : own, to_host ? own : host, box, m, NULL);
}

static void *submit_map(cl_event e, cl_mem m, memory_map map, cl_bool blocking, cl_uint wait_count,
                        const cl_event *wait_list, cl_event *out, cl_int *errcode) {
  memory_map gone;
  if (!remember(m, map)) {
    event_abandon(e);
    return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  }
  cl_int code = schedule_submit(e, wait_count, wait_list, blocking, out);
  if (code != CL_SUCCESS) forget(m, map.at, &gone);
  icd_fail(errcode, code);
  return code == CL_SUCCESS ? map.at : NULL;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem m, cl_bool blocking, cl_map_flags flags,
                         size_t offset, size_t size, cl_uint wait_count, const cl_event *wait_list,
                         cl_event *out, cl_int *errcode) {
  if (!queue_is(queue)) return icd_fail(errcode, CL_INVALID_COMMAND_QUEUE);
  cl_int code = memory_check_buffer(m, queue->context);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  if (!size || offset > m->size || size > m->size - offset)
    return icd_fail(errcode, CL_INVALID_VALUE);
  code = check_flags(m, flags);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  cl_event e;
  code = event_begin(queue, CL_COMMAND_MAP_BUFFER, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  memory_map map = {.at = m->data + offset, .flags = flags};
  return submit_map(e, m, map, blocking, wait_count, wait_list, out, errcode);
}

void *clEnqueueMapImage(cl_command_queue queue, cl_mem m, cl_bool blocking, cl_map_flags flags,
                        const size_t *origin, const size_t *region, size_t *row, size_t *slice,
                        cl_uint wait_count, const cl_event *wait_list, cl_event *out,
                        cl_int *errcode) {
  size_t box[3];
  if (!queue_is(queue)) return icd_fail(errcode, CL_INVALID_COMMAND_QUEUE);
  cl_int code = memory_check_image(m, queue->context);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  bool has_slices = m->type == CL_MEM_OBJECT_IMAGE3D || m->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
                    m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (!origin || !region || !row || (has_slices && !slice))
    return icd_fail(errcode, CL_INVALID_VALUE);
  image_box(m, box);
  for (int k = 0; k < 3; k++)
    if (!region[k] || origin[k] >= box[k] || region[k] > box[k] - origin[k])
      return icd_fail(errcode, CL_INVALID_VALUE);
  code = check_flags(m, flags);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  cl_event e;
  code = event_begin(queue, CL_COMMAND_MAP_IMAGE, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  bool has_gaps = m->host_row != 0;
  *row = has_gaps ? m->host_row : m->row_bytes;
  bool is_layers = m->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (slice)
    *slice = !has_slices ? 0 : is_layers ? *row : has_gaps ? m->host_slice : m->slice_bytes;
  char *at = has_gaps ? (char *)m->host + host_offset(m, origin)
                      : m->data + origin[0] * m->pixel_bytes + origin[1] * m->row_bytes +
                            origin[2] * m->slice_bytes;
  if (has_gaps) sync_gaps(e, m, origin, region, true);
  memory_map map = {.at = at, .flags = flags};
  memcpy(map.origin, origin, sizeof map.origin);
  memcpy(map.region, region, sizeof map.region);
  return submit_map(e, m, map, blocking, wait_count, wait_list, out, errcode);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem m, void *at, cl_uint wait_count,
                               const cl_event *wait_list, cl_event *out) {
  memory_map map;
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  cl_int code = memory_check(m, queue->context);
  if (code != CL_SUCCESS) return code;
  cl_event e;
  code = event_begin(queue, CL_COMMAND_UNMAP_MEM_OBJECT, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  if (!at || !forget(m, at, &map)) {
    event_abandon(e);
    return CL_INVALID_VALUE;
  }
  if (m->host_row && map.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
    sync_gaps(e, m, map.origin, map.region, false);
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}
