// SPDX-License-Identifier: MIT
#include "icd/kernel.h"

#include "icd/info.h"
#include "icd/variant.h"

#include <stdlib.h>
#include <string.h>

void kernel_fini(void *handle) {
  cl_kernel k = handle;
  free(k->args);
  free(k->values);
  free(k->shape);
  if (k->entry) atomic_fetch_sub(&k->program->kernel_count, 1);
  object_drop(k->program);
}

// ---- making -------------------------------------------------------------------------------------

static uint32_t value_bytes(const vyre_source_arg *about) {
  return about->space == VYRE_SPACE_VALUE ? (uint32_t)((about->size_bytes + 15) / 16 * 16) : 0;
}

static cl_kernel make(cl_program program, program_entry *entry) {
  cl_kernel made = object_new(OBJECT_KERNEL);
  if (!made) return NULL;
  made->program = object_hold(program);
  made->entry = entry;
  atomic_fetch_add(&program->kernel_count, 1);
  made->arg_count = made->unset = entry->about->arg_count;
  made->is_shape_old = true;
  uint32_t bytes = 0;
  made->args = calloc(made->arg_count + 1, sizeof *made->args);
  for (uint32_t i = 0; i < made->arg_count && made->args; i++) {
    made->args[i].value_at = bytes;
    bytes += value_bytes(&entry->about->args[i]);
  }
  made->values = calloc(bytes + 1, 1);
  if (made->args && made->values) return made;
  clReleaseKernel(made);
  return NULL;
}

static bool is_built(cl_program p) {
  return p->status == CL_BUILD_SUCCESS && p->form == PROGRAM_EXECUTABLE;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *errcode) {
  if (!object_is(program, OBJECT_PROGRAM)) return icd_fail(errcode, CL_INVALID_PROGRAM);
  if (!is_built(program)) return icd_fail(errcode, CL_INVALID_PROGRAM_EXECUTABLE);
  if (!name) return icd_fail(errcode, CL_INVALID_VALUE);
  for (uint32_t i = 0; i < program->entry_count; i++) {
    if (strcmp(program->entries[i].about->name, name)) continue;
    if (program_refuses(program, &program->entries[i]))
      return icd_fail(errcode, CL_INVALID_KERNEL_DEFINITION);
    cl_kernel made = make(program, &program->entries[i]);
    icd_fail(errcode, made ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
    return made;
  }
  return icd_fail(errcode, CL_INVALID_KERNEL_NAME);
}

// Kernels that no program can be made of are left out.
cl_int clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *out, cl_uint *count) {
  if (!object_is(program, OBJECT_PROGRAM)) return CL_INVALID_PROGRAM;
  if (!is_built(program)) return CL_INVALID_PROGRAM_EXECUTABLE;
  cl_uint found = 0, made = 0;
  for (uint32_t i = 0; i < program->entry_count; i++)
    found += !program_refuses(program, &program->entries[i]);
  if (out && room < found) return CL_INVALID_VALUE;
  for (uint32_t i = 0; out && i < program->entry_count; i++) {
    if (program->entries[i].is_refused) continue;
    out[made] = make(program, &program->entries[i]);
    if (out[made++]) continue;
    for (made--; made > 0; made--) clReleaseKernel(out[made - 1]);
    return CL_OUT_OF_HOST_MEMORY;
  }
  if (count) *count = found;
  return CL_SUCCESS;
}

cl_kernel clCloneKernel(cl_kernel k, cl_int *errcode) {
  if (!object_is(k, OBJECT_KERNEL)) return icd_fail(errcode, CL_INVALID_KERNEL);
  cl_kernel made = make(k->program, k->entry);
  if (!made) return icd_fail(errcode, CL_OUT_OF_HOST_MEMORY);
  memcpy(made->args, k->args, k->arg_count * sizeof *k->args);
  for (uint32_t i = 0; i < k->arg_count; i++)
    memcpy(made->values + k->args[i].value_at, k->values + k->args[i].value_at,
           value_bytes(&k->entry->about->args[i]));
  made->unset = k->unset;
  icd_fail(errcode, CL_SUCCESS);
  return made;
}

cl_int clRetainKernel(cl_kernel k) {
  return object_retain(k, OBJECT_KERNEL, CL_INVALID_KERNEL);
}

cl_int clReleaseKernel(cl_kernel k) {
  return object_release(k, OBJECT_KERNEL, CL_INVALID_KERNEL);
}

// ---- arguments ----------------------------------------------------------------------------------

static bool may_be_used(cl_mem image, const vyre_source_arg *about) {
  cl_uint access = kernel_arg_access(about);
  if (access == CL_KERNEL_ARG_ACCESS_READ_ONLY) return !(image->flags & CL_MEM_WRITE_ONLY);
  return access != CL_KERNEL_ARG_ACCESS_WRITE_ONLY || !(image->flags & CL_MEM_READ_ONLY);
}

static cl_int set_memory(cl_kernel k, kernel_arg *a, const vyre_source_arg *about, size_t size,
                         const void *value) {
  bool is_image = about->space == VYRE_SPACE_IMAGE;
  if (size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  cl_mem m = value ? *(const cl_mem *)value : NULL;
  if (is_image && !m) return value ? CL_INVALID_MEM_OBJECT : CL_INVALID_ARG_VALUE;
  if (m && memory_check(m, k->program->context) != CL_SUCCESS) return CL_INVALID_MEM_OBJECT;
  if (m && memory_is_image(m) != is_image) return CL_INVALID_MEM_OBJECT;
  if (is_image && !may_be_used(m, about)) return CL_INVALID_ARG_VALUE;
  k->is_shape_old |= is_image || !m != !a->memory || !a->is_set;
  a->memory = m;
  return CL_SUCCESS;
}

static cl_int set_sampler(cl_kernel k, kernel_arg *a, size_t size, const void *value) {
  if (size != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  if (!value) return CL_INVALID_SAMPLER;
  cl_sampler s = *(const cl_sampler *)value;
  if (!object_is(s, OBJECT_SAMPLER) || s->context != k->program->context) return CL_INVALID_SAMPLER;
  memcpy(a->sampler, s->text, sizeof a->sampler);
  k->is_shape_old = true;
  return CL_SUCCESS;
}

static cl_int set_local(cl_kernel k, kernel_arg *a, size_t size, const void *value) {
  if (value) return CL_INVALID_ARG_VALUE;
  if (!size) return CL_INVALID_ARG_SIZE;
  if (size > DEVICE_LOCAL_BYTES) return CL_INVALID_ARG_SIZE;
  k->is_shape_old |= size != a->local_bytes;
  a->local_bytes = size;
  return CL_SUCCESS;
}

static cl_int set_value(cl_kernel k, kernel_arg *a, const vyre_source_arg *about, size_t size,
                        const void *value) {
  if (!value) return CL_INVALID_ARG_VALUE;
  if (size != about->size_bytes) return CL_INVALID_ARG_SIZE;
  memcpy(k->values + a->value_at, value, size);
  return CL_SUCCESS;
}

cl_int clSetKernelArg(cl_kernel k, cl_uint index, size_t size, const void *value) {
  if (!object_is(k, OBJECT_KERNEL)) return CL_INVALID_KERNEL;
  if (index >= k->arg_count) return CL_INVALID_ARG_INDEX;
  const vyre_source_arg *about = &k->entry->about->args[index];
  kernel_arg *a = &k->args[index];
  cl_int code = CL_INVALID_ARG_VALUE;
  switch (about->space) {
  case VYRE_SPACE_VALUE: code = set_value(k, a, about, size, value); break;
  case VYRE_SPACE_GLOBAL:
  case VYRE_SPACE_CONSTANT:
  case VYRE_SPACE_IMAGE: code = set_memory(k, a, about, size, value); break;
  case VYRE_SPACE_LOCAL: code = set_local(k, a, size, value); break;
  case VYRE_SPACE_SAMPLER: code = set_sampler(k, a, size, value); break;
  case VYRE_SPACE_OTHER: break; // no program is made from such a kernel
  }
  if (code != CL_SUCCESS) return code;
  k->unset -= !a->is_set;
  a->is_set = true;
  return CL_SUCCESS;
}

// ---- questions ----------------------------------------------------------------------------------

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t room, void *value, size_t *size) {
  info i = {0};
  if (!object_is(k, OBJECT_KERNEL)) return CL_INVALID_KERNEL;
  switch (what) {
  case CL_KERNEL_FUNCTION_NAME: info_text(&i, k->entry->about->name); break;
  case CL_KERNEL_NUM_ARGS: info_u32(&i, k->arg_count); break;
  case CL_KERNEL_REFERENCE_COUNT: info_u32(&i, object_count(k)); break;
  case CL_KERNEL_CONTEXT: info_pointer(&i, k->program->context); break;
  case CL_KERNEL_PROGRAM: info_pointer(&i, k->program); break;
  case CL_KERNEL_ATTRIBUTES: return variant_attributes(k, room, value, size);
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}

cl_int kernel_check_device(cl_kernel k, cl_device_id *device) {
  if (!object_is(k, OBJECT_KERNEL)) return CL_INVALID_KERNEL;
  cl_context context = k->program->context;
  if (!*device && context->device_count == 1) *device = context->devices[0];
  return object_is(*device, OBJECT_DEVICE) && context_has(context, *device) ? CL_SUCCESS
                                                                            : CL_INVALID_DEVICE;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id device, cl_kernel_work_group_info what,
                                size_t room, void *value, size_t *size) {
  info i = {0};
  cl_int code = kernel_check_device(k, &device);
  if (code != CL_SUCCESS) return code;
  const uint32_t *stated = k->entry->about->workgroup;
  switch (what) {
  case CL_KERNEL_WORK_GROUP_SIZE: info_size(&i, DEVICE_MOST_WORKGROUP); break;
  case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
    for (int axis = 0; axis < 3; axis++) i.own.sizes[axis] = stated[axis];
    info_bytes(&i, i.own.sizes, sizeof i.own.sizes);
    break;
  case CL_KERNEL_LOCAL_MEM_SIZE: info_u64(&i, variant_local_bytes(k)); break;
  case CL_KERNEL_PRIVATE_MEM_SIZE: info_u64(&i, 0); break;
  case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: info_size(&i, 16); break;
  case CL_KERNEL_GLOBAL_WORK_SIZE: return CL_INVALID_VALUE; // of custom devices
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
