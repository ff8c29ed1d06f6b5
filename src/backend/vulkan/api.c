// SPDX-License-Identifier: MIT
#include "backend/vulkan/api.h"

#include "base/environment.h"
#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static vulkan_api api;
static vyre_error load_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool make_instance(PFN_vkGetInstanceProcAddr get) {
  PFN_vkEnumerateInstanceVersion ask =
      (PFN_vkEnumerateInstanceVersion)get(NULL, "vkEnumerateInstanceVersion");
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  uint32_t version = 0;
  if (!ask || !create || ask(&version) != VK_SUCCESS || version < VK_API_VERSION_1_1) {
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "libvulkan.so.1 is older than Vulkan 1.1. Fix: install a newer Vulkan loader");
    return false;
  }
  api.version = version < VK_API_VERSION_1_2 ? VK_API_VERSION_1_1 : VK_API_VERSION_1_2;
  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                   .pApplicationName = "vyre",
                                   .apiVersion = api.version};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pApplicationInfo = &application};
  VkResult code = create(&info, NULL, &api.instance);
  if (code == VK_SUCCESS) return true;
  if (code == VK_ERROR_INCOMPATIBLE_DRIVER)
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "Vulkan has no driver here. Fix: install one, such as mesa-vulkan-drivers");
  else
    vulkan_error(&load_error, code, "make an instance");
  return false;
}

static void find_functions(PFN_vkGetInstanceProcAddr get) {
  const char *missing = NULL;
#define FIND(name)                                                                                 \
  if (!(api.name = (PFN_vk##name)get(api.instance, "vk" #name))) missing = "vk" #name;
  VULKAN_INSTANCE_FUNCTIONS(FIND)
#undef FIND
  if (missing)
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "libvulkan.so.1 has no %s. Fix: install a loader for Vulkan 1.1 or later", missing);
}

static void load(void) {
  // The loader, layers and drivers let variables of their own choose what they load.
  if (environment_is_foreign()) {
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "Vulkan drivers are not loaded into a process that runs with other rights than those "
              "of whoever started it. Fix: use another backend there");
    return;
  }
  if (environment_is("VYRE_VULKAN", "off")) {
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "Vulkan is turned off by VYRE_VULKAN=off. Fix: unset it to use Vulkan devices");
    return;
  }
  void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!loader) {
    const char *why = dlerror();
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "the Vulkan loader cannot be opened (%s). Fix: install a Vulkan driver and "
              "libvulkan.so.1, such as libvulkan1",
              why ? why : "no reason given");
    return;
  }
  PFN_vkGetInstanceProcAddr get;
  *(void **)&get = dlsym(loader, "vkGetInstanceProcAddr");
  if (!get)
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "libvulkan.so.1 has no vkGetInstanceProcAddr. Fix: install a Vulkan loader");
  else if (make_instance(get))
    find_functions(get);
}

const vulkan_api *vulkan_api_get(vyre_error *error) {
  pthread_once(&once, load);
  if (load_error.status == VYRE_OK) return &api;
  if (error) *error = load_error;
  return NULL;
}

bool vulkan_find_calls(const vulkan_api *from, VkDevice device, vulkan_calls *out) {
  bool all = true;
#define FIND(name)                                                                                 \
  if (!(out->name = (PFN_vk##name)from->GetDeviceProcAddr(device, "vk" #name))) all = false;
  VULKAN_DEVICE_FUNCTIONS(FIND)
#undef FIND
  out->GetMemoryHostPointerPropertiesEXT =
      (PFN_vkGetMemoryHostPointerPropertiesEXT)from->GetDeviceProcAddr(
          device, "vkGetMemoryHostPointerPropertiesEXT");
  return all;
}

// ---- errors -------------------------------------------------------------------------------------

static const char *code_name(VkResult code) {
  static const struct {
    VkResult code;
    const char *name;
  } names[] = {
#define NAME(code) {code, #code}
      NAME(VK_NOT_READY),
      NAME(VK_TIMEOUT),
      NAME(VK_INCOMPLETE),
      NAME(VK_ERROR_OUT_OF_HOST_MEMORY),
      NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY),
      NAME(VK_ERROR_INITIALIZATION_FAILED),
      NAME(VK_ERROR_DEVICE_LOST),
      NAME(VK_ERROR_MEMORY_MAP_FAILED),
      NAME(VK_ERROR_EXTENSION_NOT_PRESENT),
      NAME(VK_ERROR_FEATURE_NOT_PRESENT),
      NAME(VK_ERROR_INCOMPATIBLE_DRIVER),
      NAME(VK_ERROR_TOO_MANY_OBJECTS),
      NAME(VK_ERROR_FRAGMENTED_POOL),
      NAME(VK_ERROR_OUT_OF_POOL_MEMORY),
      NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE),
      NAME(VK_ERROR_INVALID_SHADER_NV),
#undef NAME
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) return names[i].name;
  return "an unnamed error";
}

vyre_status vulkan_error(vyre_error *error, VkResult code, const char *what) {
  bool is_memory = code == VK_ERROR_OUT_OF_HOST_MEMORY || code == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                   code == VK_ERROR_MEMORY_MAP_FAILED;
  return error_set(error, is_memory ? VYRE_ERROR_MEMORY : VYRE_ERROR_BACKEND,
                   "Vulkan could not %s: %s (%d). Fix: %s", what, code_name(code), (int)code,
                   is_memory ? "use smaller buffers or another backend"
                             : "update the driver, or use another backend");
}
