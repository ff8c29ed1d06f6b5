// SPDX-License-Identifier: MIT
//
// The Vulkan backend beside the same shaders written by hand (as SPIR-V text) and driven through
// the Vulkan API, in one process on one device: submit-and-wait of a small shader whose command
// buffer was recorded once, throughput of large ones, three regions in one dispatch over one, and
// the way from code to a first answer (each in a process of its own). Run in turn; the shortest
// times are compared. Ends with status 1 when a bar is missed. --quick runs fewer rounds; behind it
// may stand which parts to run: submit saxpy polynomial product regions first.
#include <vulkan/vulkan.h>

#include <spirv-tools/libspirv.h>

#include <vyre/vyre.h>

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROUNDS = 2001, WORKGROUP = 512, PLACES = 6 };

// ---- the shaders, twice -------------------------------------------------------------------------

// What all have: x and y, a and n pushed, the position.
#define HEAD                                                                                       \
  "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"                                           \
  "OpEntryPoint GLCompute %main \"main\" %gid\nOpExecutionMode %main LocalSize 512 1 1\n"          \
  "OpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %array ArrayStride 4\n"                  \
  "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"                                  \
  "OpDecorate %x DescriptorSet 0\nOpDecorate %x Binding 0\nOpDecorate %x NonWritable\n"            \
  "OpDecorate %y DescriptorSet 0\nOpDecorate %y Binding 1\n"                                       \
  "OpDecorate %z DescriptorSet 0\nOpDecorate %z Binding 2\nOpDecorate %z NonWritable\n"            \
  "OpDecorate %pushed Block\nOpMemberDecorate %pushed 0 Offset 0\n"                                \
  "OpMemberDecorate %pushed 1 Offset 4\nOpDecorate %t1 NoContraction\n"                            \
  "OpDecorate %t2 NoContraction\n"                                                                 \
  "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n"   \
  "%float = OpTypeFloat 32\n%v3 = OpTypeVector %uint 3\n%array = OpTypeRuntimeArray %float\n"      \
  "%block = OpTypeStruct %array\n%p_block = OpTypePointer StorageBuffer %block\n"                  \
  "%p_float = OpTypePointer StorageBuffer %float\n%p_v3 = OpTypePointer Input %v3\n"               \
  "%p_uint = OpTypePointer Input %uint\n%pushed = OpTypeStruct %float %uint\n"                     \
  "%p_pushed = OpTypePointer PushConstant %pushed\n%p_a = OpTypePointer PushConstant %float\n"     \
  "%p_n = OpTypePointer PushConstant %uint\n%gid = OpVariable %p_v3 Input\n"                       \
  "%x = OpVariable %p_block StorageBuffer\n%y = OpVariable %p_block StorageBuffer\n"               \
  "%z = OpVariable %p_block StorageBuffer\n%push = OpVariable %p_pushed PushConstant\n"            \
  "%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u9 = OpConstant %uint 9\n"                 \
  "%u64 = OpConstant %uint 64\n%u511 = OpConstant %uint 511\n%u512 = OpConstant %uint 512\n"       \
  "%f0 = OpConstant %float 0\n%half = OpConstant %float 0.5\n"                                     \
  "%main = OpFunction %void None %fn\n%l0 = OpLabel\n"                                             \
  "%pi = OpAccessChain %p_uint %gid %u0\n%i = OpLoad %uint %pi\n"                                  \
  "%pn = OpAccessChain %p_n %push %u1\n%n = OpLoad %uint %pn\n"                                    \
  "%pa = OpAccessChain %p_a %push %u0\n%a = OpLoad %float %pa\n"                                   \
  "%in = OpULessThan %bool %i %n\nOpSelectionMerge %end None\n"                                    \
  "OpBranchConditional %in %work %end\n%work = OpLabel\n"                                          \
  "%px = OpAccessChain %p_float %x %u0 %i\n%py = OpAccessChain %p_float %y %u0 %i\n"
#define TAIL "OpBranch %end\n%end = OpLabel\nOpReturn\nOpFunctionEnd\n"
#define LOOP(count, first, body)                                                                   \
  "OpBranch %head\n%head = OpLabel\n%k = OpPhi %uint %u0 %work %k1 %next\n"                        \
  "%s = OpPhi %float " first " %work %t2 %next\nOpLoopMerge %out %next None\nOpBranch %test\n"     \
  "%test = OpLabel\n%more = OpULessThan %bool %k " count "\n"                                      \
  "OpBranchConditional %more %body %out\n%body = OpLabel\n" body                                   \
  "OpBranch %next\n%next = OpLabel\n%k1 = OpIAdd %uint %k %u1\nOpBranch %head\n"                   \
  "%out = OpLabel\nOpStore %py %s\n"

typedef struct subject {
  const char *name, *vyre, *spirv;
} subject;

static const subject saxpy = {
    "saxpy",
    "program saxpy(a: f32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] readwrite\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  y[i] = a * x[i] + y[i]\n}\n",
    HEAD "%vx = OpLoad %float %px\n%vy = OpLoad %float %py\n%t1 = OpFMul %float %a %vx\n"
         "%t2 = OpFAdd %float %t1 %vy\nOpStore %py %t2\n" TAIL};

static const subject poly = {
    "polynomial",
    "program poly(a: f32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] readwrite\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  let v = x[i]\n  var s: f32 = a\n"
    "  for k in 0..64u32 { s = s * v + 0.5 }\n  y[i] = s\n}\n",
    HEAD "%vx = OpLoad %float %px\n" LOOP(
        "%u64", "%a", "%t1 = OpFMul %float %s %vx\n%t2 = OpFAdd %float %t1 %half\n") TAIL};

// Of 512 x 512: x is both factors.
static const subject matmul = {
    "matrix product",
    "program matmul(a: f32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] readwrite\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  let row = i >> 9\n"
    "  let column = i & 511\n  var s: f32 = a\n"
    "  for k in 0..512u32 { s = s + x[(row << 9) + k] * x[(k << 9) + column] }\n  y[i] = s\n}\n",
    HEAD "%row0 = OpShiftRightLogical %uint %i %u9\n%row = OpShiftLeftLogical %uint %row0 %u9\n"
         "%column = OpBitwiseAnd %uint %i %u511\n" LOOP(
             "%u512", "%a",
             "%i1 = OpIAdd %uint %row %k\n%p1 = OpAccessChain %p_float %x %u0 %i1\n"
             "%v1 = OpLoad %float %p1\n%k9 = OpShiftLeftLogical %uint %k %u9\n"
             "%i2 = OpIAdd %uint %k9 %column\n%p2 = OpAccessChain %p_float %x %u0 %i2\n"
             "%v2 = OpLoad %float %p2\n%t1 = OpFMul %float %v1 %v2\n"
             "%t2 = OpFAdd %float %s %t1\n") TAIL};

// ---- by hand ------------------------------------------------------------------------------------

typedef struct hand {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  VkDescriptorPool sets;
  VkCommandPool pool;
  VkFence fence;
  VkCommandBuffer commands;
  VkBuffer buffers[2];
  VkDeviceMemory memory[2];
  float *mapped[2];
} hand;

static void check(VkResult code, const char *what) {
  if (code == VK_SUCCESS) return;
  fprintf(stderr, "bench_vulkan: %s: %d\n", what, (int)code);
  exit(3);
}

static bool hand_open(hand *h) {
  uint32_t count = 1;
  float priority = 1;
  VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                           .apiVersion = VK_API_VERSION_1_1};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pApplicationInfo = &app};
  if (vkCreateInstance(&info, NULL, &h->instance) != VK_SUCCESS) return false;
  VkResult found = vkEnumeratePhysicalDevices(h->instance, &count, &h->physical);
  if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || !count) return false;
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                   .queueCount = 1,
                                   .pQueuePriorities = &priority};
  VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
  check(vkCreateDevice(h->physical, &device, NULL, &h->device), "device");
  vkGetDeviceQueue(h->device, 0, 0, &h->queue);
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 256};
  VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                     .maxSets = 64,
                                     .poolSizeCount = 1,
                                     .pPoolSizes = &size};
  VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  check(vkCreateDescriptorPool(h->device, &sets, NULL, &h->sets), "descriptor pool");
  check(vkCreateCommandPool(h->device, &pool, NULL, &h->pool), "command pool");
  check(vkCreateFence(h->device, &fence, NULL, &h->fence), "fence");
  return true;
}

static void hand_buffer(hand *h, int k, size_t bytes) {
  VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .size = bytes,
                             .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  VkPhysicalDeviceMemoryProperties types;
  VkMemoryRequirements needs;
  const VkMemoryPropertyFlags seen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  check(vkCreateBuffer(h->device, &info, NULL, &h->buffers[k]), "buffer");
  vkGetPhysicalDeviceMemoryProperties(h->physical, &types);
  vkGetBufferMemoryRequirements(h->device, h->buffers[k], &needs);
  uint32_t type = 0;
  while (!(needs.memoryTypeBits >> type & 1) ||
         (types.memoryTypes[type].propertyFlags & seen) != seen)
    type++;
  VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = needs.size,
                                 .memoryTypeIndex = type};
  check(vkAllocateMemory(h->device, &memory, NULL, &h->memory[k]), "memory");
  check(vkBindBufferMemory(h->device, h->buffers[k], h->memory[k], 0), "bind");
  check(vkMapMemory(h->device, h->memory[k], 0, VK_WHOLE_SIZE, 0, (void **)&h->mapped[k]), "map");
}

static spv_binary assemble(const char *text) {
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
  spv_binary code = NULL;
  spv_diagnostic said = NULL;
  if (spvTextToBinary(context, text, strlen(text), &code, &said) != SPV_SUCCESS) {
    fprintf(stderr, "bench_vulkan: %s\n", said ? said->error : "no SPIR-V");
    exit(3);
  }
  spvContextDestroy(context);
  return code;
}

typedef struct hand_shader {
  VkPipelineLayout layout;
  VkPipeline pipeline;
  VkDescriptorSet set;
} hand_shader;

static hand_shader hand_build(hand *h, const spv_binary code) {
  hand_shader s;
  VkShaderModule module;
  VkDescriptorSetLayout bindings;
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                   .codeSize = code->wordCount * 4,
                                   .pCode = code->code};
  check(vkCreateShaderModule(h->device, &info, NULL, &module), "module");
  VkDescriptorSetLayoutBinding each[3];
  for (uint32_t k = 0; k < 3; k++)
    each[k] = (VkDescriptorSetLayoutBinding){k, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                             VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  VkDescriptorSetLayoutCreateInfo set = {.sType =
                                             VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                         .bindingCount = 3,
                                         .pBindings = each};
  check(vkCreateDescriptorSetLayout(h->device, &set, NULL, &bindings), "set layout");
  VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
  VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &bindings,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &push};
  check(vkCreatePipelineLayout(h->device, &layout, NULL, &s.layout), "layout");
  VkComputePipelineCreateInfo pipeline = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main"},
      .layout = s.layout};
  check(vkCreateComputePipelines(h->device, NULL, 1, &pipeline, NULL, &s.pipeline), "pipeline");
  VkDescriptorSetAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                     .descriptorPool = h->sets,
                                     .descriptorSetCount = 1,
                                     .pSetLayouts = &bindings};
  check(vkAllocateDescriptorSets(h->device, &one, &s.set), "set");
  return s;
}

typedef enum between { BARRIERS, NOTHING } between;

// One dispatch after the other, with barriers between them or nothing.
static void hand_record(hand *h, const hand_shader *s, float a, uint32_t n, int times, between b) {
  for (uint32_t k = 0; k < 3; k++) {
    VkDescriptorBufferInfo buffer = {h->buffers[k % 2], 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = s->set,
                                  .dstBinding = k,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &buffer};
    vkUpdateDescriptorSets(h->device, 1, &write, 0, NULL);
  }
  struct {
    float a;
    uint32_t n;
  } pushed = {a, n};
  VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = h->pool,
                                     .commandBufferCount = 1};
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  check(vkAllocateCommandBuffers(h->device, &one, &h->commands), "commands");
  check(vkBeginCommandBuffer(h->commands, &begin), "begin");
  vkCmdBindPipeline(h->commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->pipeline);
  vkCmdBindDescriptorSets(h->commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->layout, 0, 1, &s->set, 0,
                          NULL);
  vkCmdPushConstants(h->commands, s->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, &pushed);
  for (int k = 1; k <= times; k++) {
    bool is_last = k == times;
    vkCmdDispatch(h->commands, (n + WORKGROUP - 1) / WORKGROUP, 1, 1);
    if (!is_last && b == NOTHING) continue;
    VkMemoryBarrier done = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                            .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                            .dstAccessMask =
                                is_last ? VK_ACCESS_HOST_READ_BIT
                                        : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    vkCmdPipelineBarrier(h->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         is_last ? VK_PIPELINE_STAGE_HOST_BIT
                                 : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         0, 1, &done, 0, NULL, 0, NULL);
  }
  check(vkEndCommandBuffer(h->commands), "end");
}

static void hand_run(void *context) {
  hand *h = context;
  VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .commandBufferCount = 1,
                       .pCommandBuffers = &h->commands};
  check(vkQueueSubmit(h->queue, 1, &info, h->fence), "submit");
  check(vkWaitForFences(h->device, 1, &h->fence, VK_TRUE, UINT64_MAX), "wait");
  check(vkResetFences(h->device, 1, &h->fence), "reset");
}

static void hand_release(hand *h) {
  for (int k = 0; k < 2; k++) {
    vkDestroyBuffer(h->device, h->buffers[k], NULL);
    vkFreeMemory(h->device, h->memory[k], NULL);
  }
}

// ---- vyre ---------------------------------------------------------------------------------------

typedef struct ours {
  vyre_program *program;
  vyre_executable *executable;
  vyre_scalar a;
  vyre_span spans[2];
  vyre_dispatch_args args;
} ours;

static void must(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "bench_vulkan: %s\n", error->message);
  exit(3);
}

static void ours_build(ours *o, const char *text, vyre_optimize optimize) {
  vyre_error error;
  vyre_compile_options options = {.optimize = optimize};
  must(vyre_program_parse(text, strlen(text), "bench", &o->program, &error), &error);
  must(vyre_compile(o->program, "vulkan", &options, &o->executable, &error), &error);
}

static void ours_bind(ours *o, float a, float *x, float *y, uint32_t n) {
  o->a = vyre_scalar_f32(a);
  o->spans[0] = (vyre_span){x, n * 4ul};
  o->spans[1] = (vyre_span){y, n * 4ul};
  o->args = (vyre_dispatch_args){.params = &o->a,
                                 .param_count = 1,
                                 .buffers = o->spans,
                                 .buffer_count = 2,
                                 .workgroup = {WORKGROUP, 1, 1}};
}

static void ours_run(void *context) {
  ours *o = context;
  vyre_error error;
  must(vyre_dispatch(o->executable, &o->args, NULL, &error), &error);
}

static void ours_release(ours *o) {
  vyre_executable_release(o->executable);
  vyre_program_release(o->program);
}

// ---- measuring ----------------------------------------------------------------------------------

static double seconds(void) {
  return (double)clock_now_ns() * 1e-9;
}

static double least(const double *times, int count) {
  double found = times[0];
  for (int i = 1; i < count; i++) found = times[i] < found ? times[i] : found;
  return found;
}

typedef struct runner {
  void (*run)(void *context);
  void *context;
} runner;

// Both in turn, in changing order; the shortest times, of these rounds and of earlier ones.
static void time_both(runner first, runner second, int rounds, double best[2]) {
  static double times[2][MAX_ROUNDS];
  const runner both[2] = {first, second};
  for (int k = 0; k < 2; k++) both[k].run(both[k].context);
  for (int i = 0; i < rounds; i++)
    for (int k = 0; k < 2; k++) {
      int who = (i + k) % 2;
      double start = seconds();
      both[who].run(both[who].context);
      times[who][i] = seconds() - start;
    }
  for (int k = 0; k < 2; k++) {
    double found = least(times[k], rounds);
    if (!best[k] || found < best[k]) best[k] = found;
  }
}

static double show_ratio(const double best[2], const char *label, bool is_small) {
  double scale = is_small ? 1e6 : 1e3;
  const char *unit = is_small ? "us" : "ms";
  printf("| %s | %.2f %s | %.2f %s | %.2f |\n", label, best[0] * scale, unit, best[1] * scale, unit,
         best[1] / best[0]);
  return best[1] / best[0];
}

static double compare(runner first, runner second, int rounds, const char *label, bool is_small) {
  double best[2] = {0};
  time_both(first, second, rounds, best);
  return show_ratio(best, label, is_small);
}

static void fill(float *const mine[2], float *const by_hand[2], uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    mine[0][i] = by_hand[0][i] = (float)(i % 1000) * 1e-3f;
    mine[1][i] = by_hand[1][i] = 1;
  }
}

// One pair of buffers for each, taken in one order or the other.
static void measure_there(hand *h, const subject *s, uint32_t n, int rounds, bool is_turned,
                          double best[2]) {
  float *mine[2] = {0};
  ours o = {0};
  for (int turn = 0; turn < 2; turn++)
    for (int k = 0; k < 2; k++) {
      if ((turn == 0) == is_turned)
        mine[k] = aligned_alloc(4096, n * 4ul + 4096);
      else
        hand_buffer(h, k, n * 4ul);
    }
  if (!mine[0] || !mine[1]) exit(3);
  fill(mine, h->mapped, n);
  spv_binary code = assemble(s->spirv);
  hand_shader shader = hand_build(h, code);
  spvBinaryDestroy(code);
  hand_record(h, &shader, 0.5f, n, 1, NOTHING);
  ours_build(&o, s->vyre, VYRE_OPTIMIZE_DEFAULT);
  ours_bind(&o, 0.5f, mine[0], mine[1], n);
  time_both((runner){hand_run, h}, (runner){ours_run, &o}, rounds, best);
  if (memcmp(mine[1], h->mapped[1], n * 4ul)) {
    fprintf(stderr, "bench_vulkan: %s gives different results\n", s->name);
    exit(1);
  }
  hand_release(h);
  ours_release(&o);
  free(mine[0]);
  free(mine[1]);
}

// Which pages memory consists of is luck, and worth a tenth of a large saxpy, either way: several
// pairs of buffers, the best of each side.
static double measure(hand *h, const subject *s, uint32_t n, int rounds, const char *label) {
  double best[2] = {0};
  int places = n < 100000 ? 1 : PLACES;
  for (int i = 0; i < places; i++)
    measure_there(h, s, n, (rounds + places - 1) / places, i % 2, best);
  return show_ratio(best, label, n < 100000);
}

#define REGION(name) "region " name " grid(len(x)) { y[global_id.x] = a * y[global_id.x] + 1.0 }\n"
#define REGIONS(rest)                                                                              \
  "program p(a: f32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] readwrite\n" rest

// Ratios over one region, of three as they are compiled and of three dispatches; and of these over
// three dispatches by hand.
static void measure_regions(hand *h, int rounds, double ratios[3]) {
  static float x[1000], y[1000];
  ours one = {0}, three = {0}, usual = {0};
  ours_build(&one, REGIONS(REGION("r")), VYRE_OPTIMIZE_NONE);
  ours_build(&three, REGIONS(REGION("r") REGION("s") REGION("t")), VYRE_OPTIMIZE_NONE);
  ours_build(&usual, REGIONS(REGION("r") REGION("s") REGION("t")), VYRE_OPTIMIZE_DEFAULT);
  ours_bind(&one, 0.5f, x, y, 1000);
  ours_bind(&three, 0.5f, x, y, 1000);
  ours_bind(&usual, 0.5f, x, y, 1000);
  ratios[2] = compare((runner){ours_run, &one}, (runner){ours_run, &usual}, rounds,
                      "one region, and three after the usual passes (both vyre)", true);
  ratios[0] = compare((runner){ours_run, &one}, (runner){ours_run, &three}, rounds,
                      "one region, and three that stay three dispatches (both vyre)", true);
  for (int k = 0; k < 2; k++) hand_buffer(h, k, sizeof x);
  spv_binary code = assemble(saxpy.spirv);
  hand_shader shader = hand_build(h, code), other = hand_build(h, code), last = hand_build(h, code);
  spvBinaryDestroy(code);
  hand one_by_hand = *h, at_once = *h;
  hand_record(&one_by_hand, &other, 0.5f, 1000, 1, NOTHING);
  hand_record(&at_once, &last, 0.5f, 1000, 3, NOTHING);
  hand_record(h, &shader, 0.5f, 1000, 3, BARRIERS);
  compare((runner){hand_run, &one_by_hand}, (runner){hand_run, h}, rounds,
          "one dispatch in a submit, and three (both by hand)", true);
  compare((runner){hand_run, &one_by_hand}, (runner){hand_run, &at_once}, rounds,
          "one dispatch in a submit, and three without barriers (both by hand)", true);
  ratios[1] = compare((runner){hand_run, h}, (runner){ours_run, &three}, rounds,
                      "three dispatches in one submit", true);
  hand_release(h);
  ours_release(&one);
  ours_release(&three);
  ours_release(&usual);
}

// ---- the first answer ---------------------------------------------------------------------------

// In a process of its own: seconds from code to its first answer, the driver being loaded and
// known.
static void first_answer(bool is_ours) {
  static float x[1000], y[1000];
  static const char other[] = "program p()\nbuffer y: u32[] write\n"
                              "region r grid(len(y)) { y[global_id.x] = 1 }\n";
  hand h = {0};
  ours o = {0};
  spv_binary code = assemble(saxpy.spirv);
  if (is_ours) { // opens the device, and reads what is known of it
    ours_build(&o, other, VYRE_OPTIMIZE_DEFAULT);
    ours_release(&o);
  } else {
    hand_open(&h);
  }
  double start = seconds();
  if (is_ours) {
    ours_build(&o, saxpy.vyre, VYRE_OPTIMIZE_DEFAULT);
    ours_bind(&o, 0.5f, x, y, 1000);
    memset(o.args.workgroup, 0, sizeof o.args.workgroup); // as it was compiled for
    ours_run(&o);
  } else {
    for (int k = 0; k < 2; k++) hand_buffer(&h, k, sizeof x);
    hand_shader shader = hand_build(&h, code);
    hand_record(&h, &shader, 0.5f, 1000, 1, NOTHING);
    hand_run(&h);
  }
  printf("%.6f\n", seconds() - start);
}

static double run_first(const char *self, const char *who, const char *folder) {
  char command[600], line[64] = "";
  snprintf(command, sizeof command,
           "VYRE_HOME=%s/vyre MESA_SHADER_CACHE_DISABLE=true '%s' --first %s", folder, self, who);
  FILE *p = popen(command, "r");
  if (!p || !fgets(line, sizeof line, p)) exit(3);
  pclose(p);
  return atof(line);
}

static double first_answers(const char *self, int rounds) {
  double times[2][16];
  char folder[] = "/tmp/vyre-bench-XXXXXX", command[100];
  if (!mkdtemp(folder)) exit(3);
  run_first(self, "vyre", folder); // asks the device what it does exactly
  for (int i = 0; i < rounds; i++)
    for (int k = 0; k < 2; k++) {
      int who = (i + k) % 2;
      times[who][i] = run_first(self, who ? "vyre" : "hand", folder);
    }
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command)) exit(3);
  double x = least(times[0], rounds), y = least(times[1], rounds);
  printf("| first answer | %.1f ms | %.1f ms | %.2f |\n", x * 1e3, y * 1e3, y / x);
  return y / x;
}

// Whether a part is to be run: all are where none is named.
static bool wants(int count, char **names, const char *part) {
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i], part)) return true;
  return !count;
}

// Of a part that was run.
static bool at_most(const char *what, double ratio, double bar) {
  return !ratio || bench_at_most(what, ratio, bar, "");
}

int main(int argc, char **argv) {
  setenv("VYRE_VULKAN", "on", 1);
  if (argc > 2 && !strcmp(argv[1], "--first")) {
    first_answer(!strcmp(argv[2], "vyre"));
    return 0;
  }
  bool is_quick = argc > 1 && !strcmp(argv[1], "--quick"), is_met = true;
  char **names = argv + 1 + is_quick;
  int count = argc - 1 - is_quick;
  hand h = {0};
  if (!hand_open(&h)) {
    printf("no Vulkan device: nothing to compare\n");
    return 0;
  }
  int many = is_quick ? 201 : 2001, few = is_quick ? 6 : 42;
  double small = 0, large[3] = {0}, regions[3] = {0}, first = 0;
  printf("| | by hand | vyre | ratio |\n| --- | ---: | ---: | ---: |\n");
  if (wants(count, names, "submit"))
    small = measure(&h, &saxpy, 1000, many, "saxpy, 1,000: submit and wait");
  if (wants(count, names, "saxpy")) large[0] = measure(&h, &saxpy, 1u << 24, few, "saxpy, 2^24");
  if (wants(count, names, "polynomial"))
    large[1] = measure(&h, &poly, 1u << 20, few, "polynomial of degree 64, 2^20");
  if (wants(count, names, "product"))
    large[2] = measure(&h, &matmul, 1u << 18, is_quick ? 2 : 6, "matrix product, 512 x 512");
  if (wants(count, names, "regions")) measure_regions(&h, many, regions);
  if (wants(count, names, "first")) first = first_answers(argv[0], is_quick ? 1 : 7);
  is_met &= at_most("submit and wait, over by hand", small, 1.1);
  is_met &= at_most("throughput of saxpy, over by hand", large[0], 1 / 0.95);
  is_met &= at_most("throughput of a polynomial, over by hand", large[1], 1 / 0.95);
  is_met &= at_most("throughput of a matrix product, over by hand", large[2], 1 / 0.95);
  is_met &= at_most("three regions after the usual passes, over one", regions[2], 1.3);
  is_met &= at_most("three dispatches, over one", regions[0], 1.3);
  is_met &= at_most("three dispatches, over by hand", regions[1], 1.1);
  is_met &= at_most("first answer, over by hand", first, 1.15);
  return is_met ? 0 : 1;
}
