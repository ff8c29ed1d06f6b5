// SPDX-License-Identifier: MIT
//
// The Vulkan functions that the backend calls, found at run time in the loader, so that a machine
// without Vulkan runs vyre. The loader is opened once and never closed, and there is one VkInstance
// for the process. Any thread.
#ifndef VYRE_BACKEND_VULKAN_API_H
#define VYRE_BACKEND_VULKAN_API_H

#include <vyre/vyre.h>

#define VK_NO_PROTOTYPES 1
#include <vulkan/vulkan_core.h>

#define VULKAN_INSTANCE_FUNCTIONS(F)                                                               \
  F(EnumeratePhysicalDevices)                                                                      \
  F(EnumerateDeviceExtensionProperties)                                                            \
  F(GetPhysicalDeviceProperties2)                                                                  \
  F(GetPhysicalDeviceFeatures2)                                                                    \
  F(GetPhysicalDeviceMemoryProperties)                                                             \
  F(GetPhysicalDeviceQueueFamilyProperties)                                                        \
  F(CreateDevice)                                                                                  \
  F(GetDeviceProcAddr)

#define VULKAN_DEVICE_FUNCTIONS(F)                                                                 \
  F(DestroyDevice)                                                                                 \
  F(GetDeviceQueue)                                                                                \
  F(AllocateMemory)                                                                                \
  F(FreeMemory)                                                                                    \
  F(MapMemory)                                                                                     \
  F(CreateBuffer)                                                                                  \
  F(DestroyBuffer)                                                                                 \
  F(GetBufferMemoryRequirements)                                                                   \
  F(BindBufferMemory)                                                                              \
  F(CreateShaderModule)                                                                            \
  F(DestroyShaderModule)                                                                           \
  F(CreatePipelineCache)                                                                           \
  F(DestroyPipelineCache)                                                                          \
  F(GetPipelineCacheData)                                                                          \
  F(CreateDescriptorSetLayout)                                                                     \
  F(DestroyDescriptorSetLayout)                                                                    \
  F(CreatePipelineLayout)                                                                          \
  F(DestroyPipelineLayout)                                                                         \
  F(CreateComputePipelines)                                                                        \
  F(DestroyPipeline)                                                                               \
  F(CreateDescriptorPool)                                                                          \
  F(DestroyDescriptorPool)                                                                         \
  F(AllocateDescriptorSets)                                                                        \
  F(UpdateDescriptorSets)                                                                          \
  F(CreateCommandPool)                                                                             \
  F(DestroyCommandPool)                                                                            \
  F(AllocateCommandBuffers)                                                                        \
  F(BeginCommandBuffer)                                                                            \
  F(EndCommandBuffer)                                                                              \
  F(CmdBindPipeline)                                                                               \
  F(CmdBindDescriptorSets)                                                                         \
  F(CmdPushConstants)                                                                              \
  F(CmdDispatch)                                                                                   \
  F(CmdPipelineBarrier)                                                                            \
  F(CmdCopyBuffer)                                                                                 \
  F(CmdFillBuffer)                                                                                 \
  F(CmdResetQueryPool)                                                                             \
  F(CmdWriteTimestamp)                                                                             \
  F(CreateQueryPool)                                                                               \
  F(DestroyQueryPool)                                                                              \
  F(GetQueryPoolResults)                                                                           \
  F(CreateFence)                                                                                   \
  F(DestroyFence)                                                                                  \
  F(ResetFences)                                                                                   \
  F(WaitForFences)                                                                                 \
  F(QueueSubmit)

typedef struct vulkan_api {
  VkInstance instance;
  uint32_t version; // of Vulkan, that the instance was made for
#define MEMBER(name) PFN_vk##name name;
  VULKAN_INSTANCE_FUNCTIONS(MEMBER)
#undef MEMBER
} vulkan_api;

// Of one device: the driver's own, without the loader in between.
typedef struct vulkan_calls {
#define MEMBER(name) PFN_vk##name name;
  VULKAN_DEVICE_FUNCTIONS(MEMBER)
#undef MEMBER
  PFN_vkGetMemoryHostPointerPropertiesEXT GetMemoryHostPointerPropertiesEXT; // may be NULL
} vulkan_calls;

// NULL with an error when there is no loader, or none for Vulkan 1.1, or no driver; and where
// VYRE_VULKAN=off turns it off.
const vulkan_api *vulkan_api_get(vyre_error *error);
// False when the driver lacks one; the optional ones are NULL then.
bool vulkan_find_calls(const vulkan_api *api, VkDevice device, vulkan_calls *out);

// Fills an error for a call that failed: what was done, and the code's name.
vyre_status vulkan_error(vyre_error *error, VkResult code, const char *what);

#endif
