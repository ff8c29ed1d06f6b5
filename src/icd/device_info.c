// SPDX-License-Identifier: MIT
//
// What clGetDeviceInfo answers: limits that hold for every program of vyre, and what it can do.
#include "icd/device.h"

#include "icd/info.h"
#include "icd/platform.h"

#include <stdio.h>

#define VERSION(major, minor) CL_MAKE_VERSION(major, minor, 0)

// One list of extensions, for the text and the table.
#define EXTENSIONS(X)                                                                              \
  X("cl_khr_byte_addressable_store", 1)                                                            \
  X("cl_khr_global_int32_base_atomics", 1)                                                         \
  X("cl_khr_global_int32_extended_atomics", 1)                                                     \
  X("cl_khr_local_int32_base_atomics", 1)                                                          \
  X("cl_khr_local_int32_extended_atomics", 1)                                                      \
  X("cl_khr_int64_base_atomics", 1)                                                                \
  X("cl_khr_int64_extended_atomics", 1)                                                            \
  X("cl_khr_fp64", 1)                                                                              \
  X("cl_khr_fp16", 1)                                                                              \
  X("cl_khr_3d_image_writes", 1)                                                                   \
  X("cl_khr_depth_images", 1)                                                                      \
  X("cl_khr_srgb_image_writes", 1)                                                                 \
  X("cl_khr_subgroups", 1)                                                                         \
  X("cl_khr_subgroup_extended_types", 1)                                                           \
  X("cl_khr_subgroup_shuffle", 1)                                                                  \
  X("cl_khr_subgroup_shuffle_relative", 1)                                                         \
  X("cl_khr_subgroup_rotate", 1)                                                                   \
  X("cl_khr_extended_bit_ops", 1)                                                                  \
  X("cl_khr_integer_dot_product", 2)                                                               \
  X("cl_khr_icd", 1)                                                                               \
  X("cl_khr_extended_versioning", 1)

#define AS_TEXT(name, major) name " "
#define AS_ROW(name, major)  {VERSION(major, 0), name},
static const char extension_text[] = EXTENSIONS(AS_TEXT);
static const cl_name_version extension_rows[] = {EXTENSIONS(AS_ROW)};

enum { MOST_TEXT = 1024 };
_Static_assert(sizeof extension_text <= MOST_TEXT, "room for the list");

static const cl_name_version c_versions[] = {{VERSION(1, 0), "OpenCL C"},
                                             {VERSION(1, 1), "OpenCL C"},
                                             {VERSION(1, 2), "OpenCL C"},
                                             {VERSION(3, 0), "OpenCL C"}};
static const cl_name_version c_features[] = {
    {VERSION(3, 0), "__opencl_c_int64"},
    {VERSION(3, 0), "__opencl_c_fp64"},
    {VERSION(3, 0), "__opencl_c_images"},
    {VERSION(3, 0), "__opencl_c_3d_image_writes"},
    {VERSION(3, 0), "__opencl_c_read_write_images"},
    {VERSION(3, 0), "__opencl_c_atomic_order_acq_rel"},
    {VERSION(3, 0), "__opencl_c_atomic_order_seq_cst"},
    {VERSION(3, 0), "__opencl_c_atomic_scope_device"},
    {VERSION(3, 0), "__opencl_c_generic_address_space"},
    {VERSION(3, 0), "__opencl_c_work_group_collective_functions"},
    {VERSION(3, 0), "__opencl_c_subgroups"},
    {VERSION(3, 0), "__opencl_c_integer_dot_product_input_4x8bit"},
    {VERSION(3, 0), "__opencl_c_integer_dot_product_input_4x8bit_packed"},
};

static void version_text(info *i, char *room, size_t size, const char *prefix) {
  snprintf(room, size, "%s vyre %s", prefix, vyre_version());
  info_text(i, room);
}

static bool ask_text(cl_device_id d, cl_device_info what, info *i, char *room, size_t size) {
  switch (what) {
  case CL_DEVICE_NAME: info_text(i, d->name); return true;
  case CL_DEVICE_VENDOR: info_text(i, "The vyre project"); return true;
  case CL_DRIVER_VERSION: info_text(i, vyre_version()); return true;
  case CL_DEVICE_PROFILE: info_text(i, "FULL_PROFILE"); return true;
  case CL_DEVICE_VERSION: version_text(i, room, size, "OpenCL 3.0"); return true;
  case CL_DEVICE_OPENCL_C_VERSION: version_text(i, room, size, "OpenCL C 1.2"); return true;
  case CL_DEVICE_EXTENSIONS: // without the last space
    snprintf(room, size, "%.*s", (int)sizeof extension_text - 2, extension_text);
    info_text(i, room);
    return true;
  case CL_DEVICE_BUILT_IN_KERNELS:
  case CL_DEVICE_IL_VERSION:
  case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED: info_text(i, ""); return true;
  case CL_DEVICE_EXTENSIONS_WITH_VERSION:
    info_bytes(i, extension_rows, sizeof extension_rows);
    return true;
  case CL_DEVICE_OPENCL_C_ALL_VERSIONS: info_bytes(i, c_versions, sizeof c_versions); return true;
  case CL_DEVICE_OPENCL_C_FEATURES: info_bytes(i, c_features, sizeof c_features); return true;
  case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
  case CL_DEVICE_ILS_WITH_VERSION: info_bytes(i, NULL, 0); return true;
  default: return false;
  }
}

static bool ask_u32(cl_device_id d, cl_device_info what, info *i) {
  switch (what) {
  case CL_DEVICE_VENDOR_ID: info_u32(i, 0x76797265); return true;
  case CL_DEVICE_NUMERIC_VERSION: info_u32(i, VERSION(3, 0)); return true;
  case CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR: info_u32(i, VERSION(1, 2)); return true;
  case CL_DEVICE_MAX_COMPUTE_UNITS:
    info_u32(i, d->about.compute_units ? d->about.compute_units : 1);
    return true;
  case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: info_u32(i, 3); return true;
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE: // vectors are made across work items
    info_u32(i, 1);
    return true;
  case CL_DEVICE_MAX_CLOCK_FREQUENCY: info_u32(i, 0); return true;
  case CL_DEVICE_ADDRESS_BITS: info_u32(i, 64); return true;
  case CL_DEVICE_MAX_READ_IMAGE_ARGS: info_u32(i, 128); return true;
  case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
  case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS: info_u32(i, 64); return true;
  case CL_DEVICE_MAX_SAMPLERS: info_u32(i, 16); return true;
  case CL_DEVICE_IMAGE_PITCH_ALIGNMENT:
  case CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT: info_u32(i, 0); return true;
  case CL_DEVICE_MEM_BASE_ADDR_ALIGN: info_u32(i, 8 * DEVICE_ALIGN_BYTES); return true;
  case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE: info_u32(i, DEVICE_ALIGN_BYTES); return true;
  case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE: info_u32(i, CL_READ_WRITE_CACHE); return true;
  case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE: info_u32(i, 64); return true;
  case CL_DEVICE_MAX_CONSTANT_ARGS: info_u32(i, 64); return true;
  case CL_DEVICE_LOCAL_MEM_TYPE: info_u32(i, CL_GLOBAL); return true;
  case CL_DEVICE_IMAGE_SUPPORT:
  case CL_DEVICE_HOST_UNIFIED_MEMORY:
  case CL_DEVICE_ENDIAN_LITTLE:
  case CL_DEVICE_AVAILABLE:
  case CL_DEVICE_COMPILER_AVAILABLE:
  case CL_DEVICE_LINKER_AVAILABLE: info_u32(i, CL_TRUE); return true;
  case CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT:
  case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
  case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC: info_u32(i, CL_TRUE); return true;
  case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
  case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
  case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT:
  case CL_DEVICE_PIPE_SUPPORT: info_u32(i, CL_FALSE); return true;
  case CL_DEVICE_REFERENCE_COUNT: info_u32(i, 1); return true;
  case CL_DEVICE_MAX_NUM_SUB_GROUPS:
    info_u32(i, DEVICE_MOST_WORKGROUP / DEVICE_SUBGROUP);
    return true;
  case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
  case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
  case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
  case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
  case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
  case CL_DEVICE_MAX_PIPE_ARGS:
  case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
  case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
  case CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT:
  case CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT:
  case CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT: info_u32(i, 0); return true;
  default: return false;
  }
}

static bool ask_size(cl_device_info what, info *i) {
  switch (what) {
  case CL_DEVICE_MAX_WORK_GROUP_SIZE: info_size(i, DEVICE_MOST_WORKGROUP); return true;
  case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: info_size(i, 16); return true;
  case CL_DEVICE_IMAGE2D_MAX_WIDTH:
  case CL_DEVICE_IMAGE2D_MAX_HEIGHT: info_size(i, DEVICE_MOST_IMAGE_2D); return true;
  case CL_DEVICE_IMAGE3D_MAX_WIDTH:
  case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
  case CL_DEVICE_IMAGE3D_MAX_DEPTH: info_size(i, DEVICE_MOST_IMAGE_3D); return true;
  case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE: info_size(i, DEVICE_MOST_IMAGE_PIXELS); return true;
  case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE: info_size(i, DEVICE_MOST_LAYERS); return true;
  case CL_DEVICE_MAX_PARAMETER_SIZE: info_size(i, 1024); return true;
  case CL_DEVICE_PROFILING_TIMER_RESOLUTION: info_size(i, 1); return true;
  case CL_DEVICE_PRINTF_BUFFER_SIZE: info_size(i, DEVICE_PRINTF_BYTES); return true;
  case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
  case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE: info_size(i, 0); return true;
  case CL_DEVICE_MAX_WORK_ITEM_SIZES:
    for (int k = 0; k < 3; k++) i->own.sizes[k] = DEVICE_MOST_WORKGROUP;
    info_bytes(i, i->own.sizes, sizeof i->own.sizes);
    return true;
  default: return false;
  }
}

static bool ask_u64(cl_device_id d, cl_device_info what, info *i) {
  const cl_device_fp_config exact = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                                    CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
  switch (what) {
  case CL_DEVICE_TYPE: info_u64(i, d->type); return true;
  case CL_DEVICE_MAX_MEM_ALLOC_SIZE: info_u64(i, d->most_bytes); return true;
  case CL_DEVICE_GLOBAL_MEM_SIZE: info_u64(i, d->memory_bytes); return true;
  case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE: info_u64(i, 1 << 20); return true;
  case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: info_u64(i, DEVICE_CONSTANT_BYTES); return true;
  case CL_DEVICE_LOCAL_MEM_SIZE: info_u64(i, DEVICE_LOCAL_BYTES); return true;
  case CL_DEVICE_SINGLE_FP_CONFIG:
    info_u64(i, exact | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
    return true;
  case CL_DEVICE_HALF_FP_CONFIG:
  case CL_DEVICE_DOUBLE_FP_CONFIG: info_u64(i, exact); return true;
  case CL_DEVICE_EXECUTION_CAPABILITIES:
    info_u64(i, CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL);
    return true;
  case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES: // the same number as CL_DEVICE_QUEUE_PROPERTIES
    info_u64(i, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
    return true;
  case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
  case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
  case CL_DEVICE_SVM_CAPABILITIES:
  case CL_DEVICE_PARTITION_AFFINITY_DOMAIN: info_u64(i, 0); return true;
  case CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR:
    info_u64(i, CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR |
                    CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR);
    return true;
  case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
  case CL_DEVICE_ATOMIC_FENCE_CAPABILITIES:
    info_u64(i, CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
                    CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM |
                    CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE);
    return true;
  default: return false;
  }
}

static bool ask_handle(cl_device_info what, info *i) {
  static const cl_device_integer_dot_product_acceleration_properties_khr not_faster;
  static const cl_device_partition_property no_partition[] = {0};
  switch (what) {
  case CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR:
  case CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR:
    info_bytes(i, &not_faster, sizeof not_faster);
    return true;
  case CL_DEVICE_PLATFORM: info_pointer(i, platform_get()); return true;
  case CL_DEVICE_PARENT_DEVICE: info_pointer(i, NULL); return true;
  case CL_DEVICE_PARTITION_PROPERTIES:
    info_bytes(i, no_partition, sizeof no_partition);
    return true;
  case CL_DEVICE_PARTITION_TYPE: info_bytes(i, no_partition, sizeof no_partition); return true;
  default: return false;
  }
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *value,
                       size_t *size) {
  info i = {0};
  char text[MOST_TEXT];
  if (!object_is(device, OBJECT_DEVICE)) return CL_INVALID_DEVICE;
  if (!ask_text(device, what, &i, text, sizeof text) && !ask_u32(device, what, &i) &&
      !ask_size(what, &i) && !ask_u64(device, what, &i) && !ask_handle(what, &i))
    return CL_INVALID_VALUE;
  return info_answer(&i, room, value, size);
}

cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_ns, cl_ulong *host_ns) {
  if (!object_is(device, OBJECT_DEVICE)) return CL_INVALID_DEVICE;
  if (!device_ns || !host_ns) return CL_INVALID_VALUE;
  *device_ns = *host_ns = device_now_ns();
  return CL_SUCCESS;
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong *host_ns) {
  if (!object_is(device, OBJECT_DEVICE)) return CL_INVALID_DEVICE;
  if (!host_ns) return CL_INVALID_VALUE;
  *host_ns = device_now_ns();
  return CL_SUCCESS;
}
