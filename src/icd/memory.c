// SPDX-License-Identifier: MIT
#include "icd/memory.h"

#include "icd/info.h"

#include <stdlib.h>
#include <string.h>

static const cl_mem_flags device_access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
static const cl_mem_flags host_access =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
static const cl_mem_flags host_pointer =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

static bool is_one_at_most(cl_mem_flags bits) {
  return (bits & (bits - 1)) == 0;
}

cl_int memory_check_flags(cl_mem_flags *flags, cl_mem parent) {
  cl_mem_flags f = *flags, of = parent ? parent->flags : 0;
  if (f & ~(device_access | host_access | host_pointer | CL_MEM_KERNEL_READ_AND_WRITE))
    return CL_INVALID_VALUE;
  if (!is_one_at_most(f & device_access) || !is_one_at_most(f & host_access))
    return CL_INVALID_VALUE;
  if ((f & CL_MEM_USE_HOST_PTR) && (f & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
    return CL_INVALID_VALUE;
  if (parent && (f & host_pointer)) return CL_INVALID_VALUE;
  if ((of & CL_MEM_WRITE_ONLY) && (f & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)))
    return CL_INVALID_VALUE;
  if ((of & CL_MEM_READ_ONLY) && (f & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)))
    return CL_INVALID_VALUE;
  if ((of & CL_MEM_HOST_WRITE_ONLY) && (f & CL_MEM_HOST_READ_ONLY)) return CL_INVALID_VALUE;
  if ((of & CL_MEM_HOST_READ_ONLY) && (f & CL_MEM_HOST_WRITE_ONLY)) return CL_INVALID_VALUE;
  if ((of & CL_MEM_HOST_NO_ACCESS) && (f & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY)))
    return CL_INVALID_VALUE;
  if (!(f & device_access)) f |= parent ? of & device_access : CL_MEM_READ_WRITE;
  if (!(f & host_access)) f |= of & host_access;
  f |= of & host_pointer;
  *flags = f;
  return CL_SUCCESS;
}

cl_int memory_check_properties(const cl_mem_properties *properties) {
  return properties && properties[0] ? CL_INVALID_PROPERTY : CL_SUCCESS;
}

void memory_keep_properties(cl_mem m, const cl_mem_properties *properties) {
  if (!properties) return;
  m->list[0] = 0;
  m->list_count = 1;
}

cl_mem memory_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags, size_t size) {
  cl_mem made = object_new(OBJECT_MEMORY);
  if (!made) return NULL;
  made->context = object_hold(context);
  made->type = type;
  made->flags = flags;
  made->size = size;
  pthread_mutex_init(&made->lock, NULL);
  return made;
}

cl_int memory_allocate(cl_mem m, const void *host) {
  if (m->flags & CL_MEM_USE_HOST_PTR) {
    m->data = m->host = (void *)(uintptr_t)host;
    return CL_SUCCESS;
  }
  size_t padded = (m->size + DEVICE_ALIGN_BYTES - 1) / DEVICE_ALIGN_BYTES * DEVICE_ALIGN_BYTES;
  m->own = aligned_alloc(DEVICE_ALIGN_BYTES, padded);
  m->data = m->own;
  if (!m->own) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  if (m->flags & CL_MEM_COPY_HOST_PTR) memcpy(m->data, host, m->size);
  return CL_SUCCESS;
}

void memory_fini(void *handle) {
  cl_mem m = handle;
  for (memory_ending *e = m->endings, *next; e; e = next) {
    next = e->next;
    e->call(m, e->data);
    free(e);
  }
  for (memory_map *map = m->maps, *next; map; map = next) {
    next = map->next;
    free(map);
  }
  pthread_mutex_destroy(&m->lock);
  free(m->own);
  object_drop(m->parent);
  object_drop(m->context);
}

cl_int memory_check(cl_mem m, cl_context context) {
  if (!object_is(m, OBJECT_MEMORY)) return CL_INVALID_MEM_OBJECT;
  return m->context == context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int memory_check_buffer(cl_mem m, cl_context context) {
  cl_int code = memory_check(m, context);
  return code == CL_SUCCESS && memory_is_image(m) ? CL_INVALID_MEM_OBJECT : code;
}

cl_int memory_check_image(cl_mem m, cl_context context) {
  cl_int code = memory_check(m, context);
  return code == CL_SUCCESS && !memory_is_image(m) ? CL_INVALID_MEM_OBJECT : code;
}

// ---- buffers ------------------------------------------------------------------------------------

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                    cl_mem_flags flags, size_t size, void *host, cl_int *errcode) {
  if (!object_is(context, OBJECT_CONTEXT)) return icd_fail(errcode, CL_INVALID_CONTEXT);
  cl_int code = memory_check_properties(properties);
  if (code == CL_SUCCESS) code = memory_check_flags(&flags, NULL);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  if (!size || size > context_most_bytes(context)) return icd_fail(errcode, CL_INVALID_BUFFER_SIZE);
  if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
    return icd_fail(errcode, CL_INVALID_HOST_PTR);
  cl_mem made = memory_new(context, CL_MEM_OBJECT_BUFFER, flags, size);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  memory_keep_properties(made, properties);
  code = memory_allocate(made, host);
  icd_fail(errcode, code);
  if (code == CL_SUCCESS) return made;
  clReleaseMemObject(made);
  return NULL;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                      cl_int *errcode) {
  return clCreateBufferWithProperties(context, NULL, flags, size, host, errcode);
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                         const void *create_info, cl_int *errcode) {
  if (!object_is(buffer, OBJECT_MEMORY) || memory_is_image(buffer) || buffer->parent)
    return icd_fail(errcode, CL_INVALID_MEM_OBJECT);
  cl_int code = memory_check_flags(&flags, buffer);
  if (code != CL_SUCCESS) return icd_fail(errcode, code);
  const cl_buffer_region *region = create_info;
  if (type != CL_BUFFER_CREATE_TYPE_REGION || !region) return icd_fail(errcode, CL_INVALID_VALUE);
  if (!region->size) return icd_fail(errcode, CL_INVALID_BUFFER_SIZE);
  if (region->origin > buffer->size || region->size > buffer->size - region->origin)
    return icd_fail(errcode, CL_INVALID_VALUE);
  if (region->origin % DEVICE_ALIGN_BYTES)
    return icd_fail(errcode, CL_MISALIGNED_SUB_BUFFER_OFFSET);
  cl_mem made = memory_new(buffer->context, CL_MEM_OBJECT_BUFFER, flags, region->size);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  made->parent = object_hold(buffer);
  made->origin = region->origin;
  made->data = buffer->data + region->origin;
  if (buffer->host) made->host = (char *)buffer->host + region->origin;
  icd_fail(errcode, CL_SUCCESS);
  return made;
}

// ---- the client's calls -------------------------------------------------------------------------

cl_int clRetainMemObject(cl_mem m) {
  return object_retain(m, OBJECT_MEMORY, CL_INVALID_MEM_OBJECT);
}

cl_int clReleaseMemObject(cl_mem m) {
  return object_release(m, OBJECT_MEMORY, CL_INVALID_MEM_OBJECT);
}

cl_int clSetMemObjectDestructorCallback(cl_mem m,
                                        void(CL_CALLBACK *call)(cl_mem memory, void *data),
                                        void *data) {
  if (!object_is(m, OBJECT_MEMORY)) return CL_INVALID_MEM_OBJECT;
  if (!call) return CL_INVALID_VALUE;
  memory_ending *made = malloc(sizeof *made);
  if (!made) return CL_OUT_OF_HOST_MEMORY;
  pthread_mutex_lock(&m->lock);
  *made = (memory_ending){m->endings, call, data};
  m->endings = made;
  pthread_mutex_unlock(&m->lock);
  return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem m, cl_mem_info what, size_t room, void *value, size_t *size) {
  info i = {0};
  if (!object_is(m, OBJECT_MEMORY)) return CL_INVALID_MEM_OBJECT;
  switch (what) {
  case CL_MEM_TYPE: info_u32(&i, m->type); break;
  case CL_MEM_FLAGS: info_u64(&i, m->flags); break;
  case CL_MEM_SIZE: info_size(&i, m->size); break;
  case CL_MEM_HOST_PTR: info_pointer(&i, m->host); break;
  case CL_MEM_MAP_COUNT: info_u32(&i, m->map_count); break;
  case CL_MEM_REFERENCE_COUNT: info_u32(&i, object_count(m)); break;
  case CL_MEM_CONTEXT: info_pointer(&i, m->context); break;
  case CL_MEM_ASSOCIATED_MEMOBJECT: info_pointer(&i, m->parent); break;
  case CL_MEM_OFFSET: info_size(&i, m->origin); break;
  case CL_MEM_USES_SVM_POINTER: info_u32(&i, CL_FALSE); break;
  case CL_MEM_PROPERTIES: info_bytes(&i, m->list, m->list_count * sizeof *m->list); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
