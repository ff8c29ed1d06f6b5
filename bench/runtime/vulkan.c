// SPDX-License-Identifier: MIT
//
// Vulkan by hand, as a peer: the least that a submit costs there. The loader is opened at run time.
#include "parts.h"

#include <vulkan/vulkan.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// void main() {} with a workgroup of one.
static const uint32_t shader[] = {
    0x07230203, 0x00010000, 0,  6,          0,    // magic, version 1.0, generator, bound, schema
    0x00020011, 1,                                // capability Shader
    0x0003000e, 0,          1,                    // memory model logical GLSL450
    0x0005000f, 5,          3,  0x6e69616d, 0,    // entry point GLCompute %3 "main"
    0x00060010, 3,          17, 1,          1, 1, // execution mode LocalSize 1 1 1
    0x00020013, 1,                                // %1 = void
    0x00030021, 2,          1,                    // %2 = function type void()
    0x00050036, 1,          3,  0,          2,    // %3 = function
    0x000200f8, 4,                                // %4 = label
    0x000100fd,                                   // return
    0x00010038,                                   // function end
};

#define EACH_FUNCTION(F)                                                                           \
  F(EnumeratePhysicalDevices)                                                                      \
  F(CreateDevice)                                                                                  \
  F(GetDeviceQueue)                                                                                \
  F(CreateShaderModule)                                                                            \
  F(CreatePipelineLayout)                                                                          \
  F(CreateComputePipelines)                                                                        \
  F(CreateCommandPool)                                                                             \
  F(AllocateCommandBuffers)                                                                        \
  F(BeginCommandBuffer)                                                                            \
  F(CmdBindPipeline)                                                                               \
  F(CmdDispatch)                                                                                   \
  F(EndCommandBuffer)                                                                              \
  F(CreateFence)                                                                                   \
  F(QueueSubmit)                                                                                   \
  F(WaitForFences)                                                                                 \
  F(ResetFences)

static struct {
#define FIELD(name) PFN_vk##name name;
  EACH_FUNCTION(FIELD)
#undef FIELD
  VkDevice device;
  VkQueue queue;
  VkCommandBuffer commands;
  VkFence fence;
} vk;

static bool open_instance(VkInstance *instance) {
  void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  PFN_vkGetInstanceProcAddr get;
  *(void **)&get = dlsym(library, "vkGetInstanceProcAddr");
  if (!get) return false;
  PFN_vkCreateInstance create;
  create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  if (!create || create(&info, NULL, instance) != VK_SUCCESS) return false;
#define LOAD(name) vk.name = (PFN_vk##name)get(*instance, "vk" #name);
  EACH_FUNCTION(LOAD)
#undef LOAD
  return true;
}

static bool make_pipeline(VkPipeline *pipeline) {
  VkShaderModule module;
  VkPipelineLayout layout;
  VkShaderModuleCreateInfo m = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                .codeSize = sizeof shader,
                                .pCode = shader};
  VkPipelineLayoutCreateInfo l = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  if (vk.CreateShaderModule(vk.device, &m, NULL, &module) != VK_SUCCESS ||
      vk.CreatePipelineLayout(vk.device, &l, NULL, &layout) != VK_SUCCESS)
    return false;
  VkComputePipelineCreateInfo c = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main"},
      .layout = layout};
  return vk.CreateComputePipelines(vk.device, NULL, 1, &c, NULL, pipeline) == VK_SUCCESS;
}

static bool record(VkPipeline pipeline) {
  VkCommandPool pool;
  VkCommandPoolCreateInfo p = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkFenceCreateInfo f = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  if (vk.CreateCommandPool(vk.device, &p, NULL, &pool) != VK_SUCCESS ||
      vk.CreateFence(vk.device, &f, NULL, &vk.fence) != VK_SUCCESS)
    return false;
  VkCommandBufferAllocateInfo a = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                   .commandPool = pool,
                                   .commandBufferCount = 1};
  VkCommandBufferBeginInfo b = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  if (vk.AllocateCommandBuffers(vk.device, &a, &vk.commands) != VK_SUCCESS ||
      vk.BeginCommandBuffer(vk.commands, &b) != VK_SUCCESS)
    return false;
  vk.CmdBindPipeline(vk.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vk.CmdDispatch(vk.commands, 1, 1, 1);
  return vk.EndCommandBuffer(vk.commands) == VK_SUCCESS;
}

bool vulkan_open(void) {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkPipeline pipeline;
  uint32_t count = 1;
  float priority = 1;
  if (!open_instance(&instance)) return false;
  VkResult found = vk.EnumeratePhysicalDevices(instance, &count, &physical);
  if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || !count) return false;
  VkDeviceQueueCreateInfo q = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                               .queueCount = 1,
                               .pQueuePriorities = &priority};
  VkDeviceCreateInfo d = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                          .queueCreateInfoCount = 1,
                          .pQueueCreateInfos = &q};
  if (vk.CreateDevice(physical, &d, NULL, &vk.device) != VK_SUCCESS) return false;
  vk.GetDeviceQueue(vk.device, 0, 0, &vk.queue);
  return make_pipeline(&pipeline) && record(pipeline);
}

void vulkan_submit(void *unused, uint64_t count) {
  (void)unused;
  VkSubmitInfo s = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                    .commandBufferCount = 1,
                    .pCommandBuffers = &vk.commands};
  for (uint64_t i = 0; i < count; i++) {
    if (vk.QueueSubmit(vk.queue, 1, &s, vk.fence) != VK_SUCCESS ||
        vk.WaitForFences(vk.device, 1, &vk.fence, VK_TRUE, UINT64_MAX) != VK_SUCCESS ||
        vk.ResetFences(vk.device, 1, &vk.fence) != VK_SUCCESS) {
      fprintf(stderr, "bench_runtime: a Vulkan submit failed\n");
      exit(2);
    }
  }
}
