// SPDX-License-Identifier: MIT
//
// clGetKernelSubGroupInfo. A subgroup is DEVICE_SUBGROUP neighbours by the linear local id,
// whatever the kernel; the last one of a workgroup may be smaller.
#include "icd/info.h"
#include "icd/kernel.h"

static size_t groups_of(size_t items) {
  return (items + DEVICE_SUBGROUP - 1) / DEVICE_SUBGROUP;
}

// The number of work items of a workgroup of one to three extents.
static bool read_extents(size_t in_size, const size_t *in, size_t *items) {
  if (!in || !in_size || in_size % sizeof *in || in_size > 3 * sizeof *in) return false;
  *items = 1;
  for (size_t i = 0; i < in_size / sizeof *in; i++) {
    if (!in[i] || in[i] > DEVICE_MOST_WORKGROUP) return false;
    *items *= in[i];
  }
  return true;
}

// A workgroup with as many subgroups; zeros when there is none.
static bool find_workgroup(cl_kernel k, size_t in_size, const size_t *in, size_t room, info *i) {
  if (!in || in_size != sizeof *in) return false;
  size_t axes = room / sizeof(size_t);
  if (room % sizeof(size_t) || axes < 1 || axes > 3) return false;
  const uint32_t *stated = k->entry->about->workgroup;
  size_t all = stated[0] ? (size_t)stated[0] * stated[1] * stated[2]
               : *in && *in <= DEVICE_MOST_WORKGROUP / DEVICE_SUBGROUP ? *in * DEVICE_SUBGROUP
                                                                       : 0;
  bool is_found = all && groups_of(all) == *in;
  for (size_t axis = 0; axis < 3; axis++)
    i->own.sizes[axis] = !is_found ? 0 : stated[0] ? stated[axis] : axis ? 1 : all;
  info_bytes(i, i->own.sizes, room);
  return true;
}

cl_int clGetKernelSubGroupInfo(cl_kernel k, cl_device_id device, cl_kernel_sub_group_info what,
                               size_t in_size, const void *in, size_t room, void *value,
                               size_t *size) {
  info i = {0};
  size_t items = 0;
  cl_int code = kernel_check_device(k, &device);
  if (code != CL_SUCCESS) return code;
  switch (what) {
  case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
    if (!read_extents(in_size, in, &items)) return CL_INVALID_VALUE;
    info_size(&i, items < DEVICE_SUBGROUP ? items : DEVICE_SUBGROUP);
    break;
  case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
    if (!read_extents(in_size, in, &items)) return CL_INVALID_VALUE;
    info_size(&i, groups_of(items));
    break;
  case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
    if (!find_workgroup(k, in_size, in, value ? room : sizeof(size_t), &i)) return CL_INVALID_VALUE;
    break;
  case CL_KERNEL_MAX_NUM_SUB_GROUPS: info_size(&i, groups_of(DEVICE_MOST_WORKGROUP)); break;
  case CL_KERNEL_COMPILE_NUM_SUB_GROUPS: info_size(&i, 0); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}
