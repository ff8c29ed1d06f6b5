// SPDX-License-Identifier: MIT
#include "backend/vulkan/device.h"

#include "backend/backend.h"
#include "backend/driver.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/limited.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = 16 };

#define NO_TYPE UINT32_MAX // no memory type, no queue family

static vulkan_device *devices;
static uint32_t device_count;
static vyre_error find_error;
static driver asked = {.name = "Vulkan", .once = PTHREAD_ONCE_INIT};

// ---- asking -------------------------------------------------------------------------------------

// What a device says of itself, in one chain.
typedef struct answers {
  VkPhysicalDeviceFeatures2 features;
  VkPhysicalDevice16BitStorageFeatures storage_16;
  VkPhysicalDevice8BitStorageFeatures storage_8;
  VkPhysicalDeviceShaderFloat16Int8Features small_ints;
  VkPhysicalDeviceShaderAtomicInt64Features atomics_64;
  VkPhysicalDeviceProperties2 properties;
  VkPhysicalDeviceDriverProperties driver;
  VkPhysicalDeviceFloatControlsProperties floats;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host;
  bool has_8_bit, has_int8, has_atomics, has_driver, has_floats, has_host;
} answers;

typedef struct extension_list {
  VkExtensionProperties *at;
  uint32_t count;
} extension_list;

static extension_list ask_extensions(const vulkan_device *d) {
  extension_list list = {0};
  if (d->api->EnumerateDeviceExtensionProperties(d->physical, NULL, &list.count, NULL))
    list.count = 0;
  list.at = calloc(list.count + 1u, sizeof *list.at);
  if (!list.at ||
      d->api->EnumerateDeviceExtensionProperties(d->physical, NULL, &list.count, list.at))
    list.count = 0;
  return list;
}

static bool has_extension(const extension_list *list, const char *name) {
  for (uint32_t i = 0; i < list->count; i++)
    if (!strcmp(list->at[i].extensionName, name)) return true;
  return false;
}

static void chain(void **tail, void *next) {
  ((VkBaseOutStructure *)*tail)->pNext = next;
  *tail = next;
}

static bool is_1_2(const vulkan_device *d) {
  return d->api->version >= VK_API_VERSION_1_2 && d->properties.apiVersion >= VK_API_VERSION_1_2;
}

static void ask(vulkan_device *d, const extension_list *extensions, answers *a) {
  bool is_new = is_1_2(d);
  *a = (answers){0};
  a->has_8_bit = is_new || has_extension(extensions, "VK_KHR_8bit_storage");
  a->has_int8 = is_new || has_extension(extensions, "VK_KHR_shader_float16_int8");
  a->has_atomics = is_new || has_extension(extensions, "VK_KHR_shader_atomic_int64");
  a->has_driver = is_new || has_extension(extensions, "VK_KHR_driver_properties");
  a->has_floats = is_new || has_extension(extensions, "VK_KHR_shader_float_controls");
  a->has_host = has_extension(extensions, "VK_EXT_external_memory_host");
  a->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  a->storage_16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
  a->storage_8.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES;
  a->small_ints.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES;
  a->atomics_64.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES;
  void *tail = &a->features;
  chain(&tail, &a->storage_16);
  if (a->has_8_bit) chain(&tail, &a->storage_8);
  if (a->has_int8) chain(&tail, &a->small_ints);
  if (a->has_atomics) chain(&tail, &a->atomics_64);
  d->api->GetPhysicalDeviceFeatures2(d->physical, &a->features);
  a->properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  a->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  a->floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  a->host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
  tail = &a->properties;
  if (a->has_driver) chain(&tail, &a->driver);
  if (a->has_floats) chain(&tail, &a->floats);
  if (a->has_host) chain(&tail, &a->host);
  d->api->GetPhysicalDeviceProperties2(d->physical, &a->properties);
}

// ---- what it can do -----------------------------------------------------------------------------

// Modes that can be asked for at 32 and 64 bits. Where widths depend on one another, all are asked
// for alike, or none is.
static uint8_t mode_widths(VkShaderFloatControlsIndependence independence, bool at_16, bool at_32,
                           bool at_64) {
  bool is_all = at_16 && at_32 && at_64;
  switch (independence) {
  case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL: return (uint8_t)(at_32 << 1 | at_64 << 2);
  case VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY:
    return (uint8_t)(at_32 << 1 | (at_16 && at_64 ? 5 : 0));
  default: return is_all ? 7 : 0;
  }
}

static void read_modes(vulkan_device *d, const answers *a) {
  const VkPhysicalDeviceFloatControlsProperties *f = &a->floats;
  vulkan_float_modes *m = &d->target.modes;
  *m = (vulkan_float_modes){0};
  if (!a->has_floats) return;
  m->keeps_subnormals = mode_widths(f->denormBehaviorIndependence, f->shaderDenormPreserveFloat16,
                                    f->shaderDenormPreserveFloat32, f->shaderDenormPreserveFloat64);
  m->rounds_to_even = mode_widths(f->roundingModeIndependence, f->shaderRoundingModeRTEFloat16,
                                  f->shaderRoundingModeRTEFloat32, f->shaderRoundingModeRTEFloat64);
  m->keeps_special = (uint8_t)(f->shaderSignedZeroInfNanPreserveFloat32 << 1 |
                               f->shaderSignedZeroInfNanPreserveFloat64 << 2);
}

// What it has; what of that is exact is found out by probing.
static void read_target(vulkan_device *d, const answers *a) {
  const VkPhysicalDeviceFeatures *f = &a->features.features;
  d->target = vulkan_full_target;
  lower_target *t = &d->target.lower;
  t->has_f64 = f->shaderFloat64;
  t->has_i64 = f->shaderInt64;
  t->has_small_storage = f->shaderInt16 && a->small_ints.shaderInt8 &&
                         a->storage_8.storageBuffer8BitAccess &&
                         a->storage_16.storageBuffer16BitAccess;
  t->has_i64_atomics = t->has_i64 && a->atomics_64.shaderBufferInt64Atomics &&
                       a->atomics_64.shaderSharedInt64Atomics;
  t->has_i64_extended_atomics = t->has_i64_atomics;
  t->largest_workgroup = d->properties.limits.maxComputeWorkGroupInvocations;
  t->largest_buffer_bytes = d->properties.limits.maxStorageBufferRange;
  uint32_t push = d->properties.limits.maxPushConstantsSize;
  d->target.push_bytes = push < 128 ? push : 128;
  read_modes(d, a);
  // A width that the device does not have cannot be asked for anything.
  if (!t->has_f64) {
    d->target.modes.keeps_special &= 3;
    if (d->target.modes.keeps_subnormals == 6) d->target.modes.keeps_subnormals = 2;
    if (d->target.modes.rounds_to_even == 6) d->target.modes.rounds_to_even = 2;
  }
}

// The first memory type with all of `wanted`, or NO_TYPE.
static uint32_t find_type(const vulkan_device *d, VkMemoryPropertyFlags wanted) {
  for (uint32_t i = 0; i < d->memory.memoryTypeCount; i++)
    if ((d->memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  return NO_TYPE;
}

static void choose_memory(vulkan_device *d, const answers *a) {
  const VkMemoryPropertyFlags seen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkPhysicalDeviceType type = d->properties.deviceType;
  bool is_host =
      type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU || type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  d->host_type = find_type(d, seen | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  if (d->host_type == NO_TYPE) d->host_type = find_type(d, seen);
  d->device_type = NO_TYPE;
  if (is_host) {
    d->device_type = find_type(d, seen | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                      VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    if (d->device_type == NO_TYPE) d->device_type = d->host_type;
  }
  d->shares_memory = d->device_type != NO_TYPE;
  if (d->device_type == NO_TYPE) d->device_type = find_type(d, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  if (d->device_type == NO_TYPE) d->device_type = d->host_type;
  // A CPU computes in the pages themselves; other devices may have mapped pages that went away.
  d->is_in_place = type == VK_PHYSICAL_DEVICE_TYPE_CPU && a->has_host;
  d->import_alignment = a->host.minImportedHostPointerAlignment;
}

static bool choose_queue(vulkan_device *d) {
  VkQueueFamilyProperties families[32];
  uint32_t count = 32, best = NO_TYPE;
  d->api->GetPhysicalDeviceQueueFamilyProperties(d->physical, &count, families);
  // One for compute alone is not kept busy by what is drawn.
  for (uint32_t i = 0; i < count; i++) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
    if (best == NO_TYPE || !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT)) best = i;
  }
  if (best == NO_TYPE) return false;
  uint32_t bits = families[best].timestampValidBits;
  d->queue_family = best;
  d->timestamp_mask = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  d->tick_ns = bits ? (double)d->properties.limits.timestampPeriod : 0;
  return true;
}

// ---- one device ---------------------------------------------------------------------------------

static void read_info(vulkan_device *d, const answers *a) {
  static const char *const kinds[] = {"device", "integrated GPU", "GPU", "virtual GPU", "CPU"};
  const VkPhysicalDeviceProperties *p = &d->properties;
  vyre_device *info = &d->info;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < d->memory.memoryHeapCount; i++)
    if (d->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT &&
        d->memory.memoryHeaps[i].size > bytes)
      bytes = d->memory.memoryHeaps[i].size;
  bool is_cpu = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; // others do not say
  *info = (vyre_device){.memory_bytes = bytes,
                        .compute_units = is_cpu ? (uint32_t)sysconf(_SC_NPROCESSORS_ONLN) : 0,
                        .max_workgroup = p->limits.maxComputeWorkGroupInvocations,
                        .has_f64 = d->target.lower.has_f64,
                        .has_i64 = d->target.lower.has_i64,
                        .has_i64_atomics = d->target.lower.has_i64_atomics};
  char version[80];
  snprintf(version, sizeof version, "%u.%u.%u", VK_VERSION_MAJOR(p->driverVersion),
           VK_VERSION_MINOR(p->driverVersion), VK_VERSION_PATCH(p->driverVersion));
  snprintf(d->driver, sizeof d->driver, "%.120s %.120s %s", a->driver.driverName,
           a->driver.driverInfo, version);
  snprintf(info->description, sizeof info->description, "%.90s (%s, Vulkan %u.%u, driver %.90s)",
           p->deviceName, p->deviceType < 5 ? kinds[p->deviceType] : kinds[0],
           VK_VERSION_MAJOR(p->apiVersion), VK_VERSION_MINOR(p->apiVersion),
           a->driver.driverInfo[0] ? a->driver.driverInfo : version);
  device_adapter_name(info->adapter, sizeof info->adapter, "vulkan", p->deviceName,
                      a->driver.driverInfo[0] ? a->driver.driverInfo : version);
}

// Extensions that are not part of the device's version.
static uint32_t wanted_extensions(const vulkan_device *d, const answers *a, const char **out) {
  uint32_t count = 0;
  bool is_new = is_1_2(d);
  if (!is_new && a->has_8_bit) out[count++] = "VK_KHR_8bit_storage";
  if (!is_new && a->has_int8) out[count++] = "VK_KHR_shader_float16_int8";
  if (!is_new && a->has_atomics) out[count++] = "VK_KHR_shader_atomic_int64";
  if (!is_new && a->has_floats) out[count++] = "VK_KHR_shader_float_controls";
  if (a->has_host) out[count++] = "VK_EXT_external_memory_host";
  return count;
}

static const char *open_device(vulkan_device *d, answers *a) {
  const char *extensions[8];
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                   .queueFamilyIndex = d->queue_family,
                                   .queueCount = 1,
                                   .pQueuePriorities = &priority};
  const VkPhysicalDeviceFeatures has = a->features.features;
  const lower_target *t = &d->target.lower;
  // Nothing else: some features make shaders slower.
  a->features.features =
      (VkPhysicalDeviceFeatures){.shaderFloat64 = has.shaderFloat64,
                                 .shaderInt64 = has.shaderInt64,
                                 .shaderInt16 = has.shaderInt16 && t->has_small_storage};
  VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = &a->features,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queue,
                             .enabledExtensionCount = wanted_extensions(d, a, extensions),
                             .ppEnabledExtensionNames = extensions};
  if (d->api->CreateDevice(d->physical, &info, NULL, &d->handle) != VK_SUCCESS)
    return "the driver does not open it";
  if (!vulkan_find_calls(d->api, d->handle, &d->vk)) return "the driver lacks functions";
  if (!d->vk.GetMemoryHostPointerPropertiesEXT) d->is_in_place = false;
  d->vk.GetDeviceQueue(d->handle, d->queue_family, 0, &d->queue);
  return NULL;
}

static void read_device(vulkan_device *d) {
  VkPhysicalDeviceProperties2 first = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  d->api->GetPhysicalDeviceProperties2(d->physical, &first);
  d->properties = first.properties;
  d->api->GetPhysicalDeviceMemoryProperties(d->physical, &d->memory);
  pthread_mutex_init(&d->queue_lock, NULL);
  pthread_mutex_init(&d->memory_lock, NULL);
  pthread_mutex_init(&d->probe_lock, NULL);
  extension_list extensions = ask_extensions(d);
  answers *a = malloc(sizeof *a);
  const char *why = NULL;
  if (!a) {
    why = "out of memory";
  } else {
    ask(d, &extensions, a);
    read_target(d, a);
    choose_memory(d, a);
    read_info(d, a);
    if (d->properties.apiVersion < VK_API_VERSION_1_1) why = "its Vulkan is older than 1.1";
    if (!why && !choose_queue(d)) why = "it does not compute";
    if (!why && d->host_type == NO_TYPE) why = "it has no memory that the host sees";
    if (!why) why = open_device(d, a);
  }
  snprintf(d->info.unusable, sizeof d->info.unusable, "%s", why ? why : "");
  free(extensions.at);
  free(a);
}

// ---- all ----------------------------------------------------------------------------------------

static int rank(const vulkan_api *api, VkPhysicalDevice physical) {
  VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  api->GetPhysicalDeviceProperties2(physical, &p);
  switch (p.properties.deviceType) {
  case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
  case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 1;
  case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 2;
  case VK_PHYSICAL_DEVICE_TYPE_CPU: return 3;
  default: return 4;
  }
}

// GPUs first, within a kind as the loader lists them.
static void sort_devices(const vulkan_api *api, VkPhysicalDevice *all, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    for (uint32_t k = i; k > 0 && rank(api, all[k]) < rank(api, all[k - 1]); k--) {
      VkPhysicalDevice swapped = all[k];
      all[k] = all[k - 1];
      all[k - 1] = swapped;
    }
}

// Two of the same kind get a number.
static void number_twins(void) {
  for (uint32_t i = 0; i < device_count; i++) {
    unsigned number = 1;
    const char *name = devices[i].info.adapter;
    for (uint32_t k = 0; k < i; k++) number += !strcmp(devices[k].info.adapter, name);
    driver_name_twin(&devices[i].info, number);
  }
}

static void find_all(void) {
  VkPhysicalDevice all[MAX_DEVICES];
  uint32_t count = MAX_DEVICES;
  asked.generation = fork_generation();
  const vulkan_api *api = vulkan_api_get(&find_error);
  if (!api) return;
  VkResult code = api->EnumeratePhysicalDevices(api->instance, &count, all);
  if (code != VK_SUCCESS && code != VK_INCOMPLETE) count = 0;
  sort_devices(api, all, count);
  devices = calloc(count + 1u, sizeof *devices);
  for (uint32_t i = 0; i < count && devices; i++) {
    devices[i].api = api;
    devices[i].physical = all[i];
    read_device(&devices[i]);
    device_count++;
  }
  limited_guard_exit(); // drivers load more when they are asked for devices
  number_twins();
  asked.count = device_count;
  if (!device_count)
    error_set(&find_error, VYRE_ERROR_UNSUPPORTED,
              "Vulkan has no device here. Fix: install a driver, such as mesa-vulkan-drivers, and "
              "look at the output of vulkaninfo");
}

vyre_status vulkan_check_process(vyre_error *error) {
  return driver_check_process(&asked, error);
}

vulkan_device *vulkan_devices(uint32_t *count, vyre_error *error) {
  *count = 0;
  if (driver_find(&asked, find_all, error) != VYRE_OK) return NULL;
  *count = device_count;
  if (device_count) return devices;
  if (error) *error = find_error;
  return NULL;
}

vulkan_device *vulkan_device_find(const char *adapter, vyre_error *error) {
  uint32_t count;
  vulkan_device *all = vulkan_devices(&count, error), *first = NULL;
  if (!all) return NULL;
  for (uint32_t i = 0; i < count && !first; i++) {
    vulkan_device *d = &all[i];
    bool is_asked = adapter ? !strcmp(d->info.adapter, adapter)
                            : !d->info.unusable[0] && !atomic_load(&d->is_lost);
    if (is_asked) first = d;
  }
  bool is_lost = first && atomic_load(&first->is_lost);
  bool is_allowed =
      driver_allow(&asked, adapter, first ? &first->info : NULL, is_lost, error) == VYRE_OK;
  return is_allowed ? first : NULL;
}

vyre_status vulkan_device_error(vulkan_device *d, vyre_error *error, VkResult code,
                                const char *what) {
  if (code == VK_ERROR_DEVICE_LOST) atomic_store(&d->is_lost, true);
  return vulkan_error(error, code, what);
}
