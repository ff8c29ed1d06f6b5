// SPDX-License-Identifier: MIT
//
// A Vulkan driver that fails: calls are counted, and made to fail, in front of the real one;
// skipped where there is none. Whatever fails is an error, nothing is kept, and the process goes
// on: memory that runs out, a device that is lost, a pipeline cache that is damaged or somebody
// else's.
#include "backend/backend.h"
#include "backend/conformance.h"
#include "backend/vulkan/device.h"
#include "backend/vulkan/probe.h"
#include "backend/vulkan/trust.h"
#include "base/file.h"
#include "../scratch_dir.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../missing_device.h"

static vulkan_device *device;
static vulkan_calls driver;
static atomic_int objects;         // made less destroyed, all kinds
static atomic_int calls_left = -1; // until one fails, of those that can; negative: none does
static bool is_gone;               // the device

static bool must_fail(void) {
  return calls_left >= 0 && calls_left-- == 0;
}

// ---- calls in front of the driver ---------------------------------------------------------------

#define MAKER(name, info_type, handle_type)                                                        \
  static VkResult make_##name(VkDevice d, const info_type *info, const VkAllocationCallbacks *a,   \
                              handle_type *out) {                                                  \
    if (must_fail()) return VK_ERROR_OUT_OF_DEVICE_MEMORY;                                         \
    VkResult code = driver.Create##name(d, info, a, out);                                          \
    objects += code == VK_SUCCESS;                                                                 \
    return code;                                                                                   \
  }                                                                                                \
  static void destroy_##name(VkDevice d, handle_type handle, const VkAllocationCallbacks *a) {     \
    objects--;                                                                                     \
    driver.Destroy##name(d, handle, a);                                                            \
  }

#define EACH_KIND(F)                                                                               \
  F(Buffer, VkBufferCreateInfo, VkBuffer)                                                          \
  F(ShaderModule, VkShaderModuleCreateInfo, VkShaderModule)                                        \
  F(DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)                   \
  F(PipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)                                  \
  F(DescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool)                                  \
  F(CommandPool, VkCommandPoolCreateInfo, VkCommandPool)                                           \
  F(QueryPool, VkQueryPoolCreateInfo, VkQueryPool)                                                 \
  F(Fence, VkFenceCreateInfo, VkFence)

EACH_KIND(MAKER)

static VkResult make_pipelines(VkDevice d, VkPipelineCache cache, uint32_t count,
                               const VkComputePipelineCreateInfo *infos,
                               const VkAllocationCallbacks *a, VkPipeline *out) {
  if (must_fail()) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkResult code = driver.CreateComputePipelines(d, cache, count, infos, a, out);
  objects += code == VK_SUCCESS;
  return code;
}

static void destroy_pipeline(VkDevice d, VkPipeline p, const VkAllocationCallbacks *a) {
  objects--;
  driver.DestroyPipeline(d, p, a);
}

static VkResult allocate_memory(VkDevice d, const VkMemoryAllocateInfo *info,
                                const VkAllocationCallbacks *a, VkDeviceMemory *out) {
  if (must_fail()) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkResult code = driver.AllocateMemory(d, info, a, out);
  objects += code == VK_SUCCESS;
  return code;
}

static void free_memory(VkDevice d, VkDeviceMemory m, const VkAllocationCallbacks *a) {
  objects--;
  driver.FreeMemory(d, m, a);
}

static VkResult submit(VkQueue q, uint32_t count, const VkSubmitInfo *infos, VkFence fence) {
  if (is_gone) return VK_ERROR_DEVICE_LOST;
  return must_fail() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : driver.QueueSubmit(q, count, infos, fence);
}

// What was submitted is over in any case.
static VkResult wait_for(VkDevice d, uint32_t count, const VkFence *fences, VkBool32 all,
                         uint64_t timeout) {
  VkResult code = driver.WaitForFences(d, count, fences, all, timeout);
  return must_fail() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : code;
}

static VkResult begin_commands(VkCommandBuffer c, const VkCommandBufferBeginInfo *info) {
  return must_fail() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : driver.BeginCommandBuffer(c, info);
}

static VkResult end_commands(VkCommandBuffer c) {
  VkResult code = driver.EndCommandBuffer(c);
  return must_fail() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : code;
}

static void watch(void) {
  if (!device) skip_without_vulkan();
  if (!driver.CreateBuffer) driver = device->vk;
#define REPLACE(name, info_type, handle_type)                                                      \
  device->vk.Create##name = make_##name;                                                           \
  device->vk.Destroy##name = destroy_##name;
  EACH_KIND(REPLACE)
#undef REPLACE
  device->vk.CreateComputePipelines = make_pipelines;
  device->vk.DestroyPipeline = destroy_pipeline;
  device->vk.AllocateMemory = allocate_memory;
  device->vk.FreeMemory = free_memory;
  device->vk.QueueSubmit = submit;
  device->vk.WaitForFences = wait_for;
  device->vk.BeginCommandBuffer = begin_commands;
  device->vk.EndCommandBuffer = end_commands;
  calls_left = -1;
}

static void look_away(void) {
  device->vk = driver;
}

// ---- dispatches ---------------------------------------------------------------------------------

static const char text[] = "program twice()\n"
                           "buffer x: u32[] readwrite\n"
                           "transient t: u32[len(x)]\n"
                           "region a grid(len(x)) { t[global_id.x] = x[global_id.x] + 1 }\n"
                           "region b grid(len(x)) { x[global_id.x] = t[global_id.x] * 2 }\n";

static vyre_status compile(vyre_executable **e, vyre_error *error) {
  vyre_program *p = NULL;
  assert_int_equal(vyre_program_parse(text, strlen(text), "test", &p, error), VYRE_OK);
  vyre_status status = vyre_compile(p, "vulkan", NULL, e, error);
  vyre_program_release(p);
  return status;
}

static vyre_status dispatch(vyre_executable *e, uint32_t *data, uint64_t timeout_ns,
                            vyre_error *error) {
  vyre_span span = {data, 64 * sizeof *data};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1, .timeout_ns = timeout_ns};
  return vyre_dispatch(e, &args, NULL, error);
}

static void expect_right(vyre_executable *e) {
  uint32_t data[64] = {0};
  vyre_error error;
  if (dispatch(e, data, 0, &error) != VYRE_OK) fail_msg("%s", error.message);
  assert_int_equal(data[63], 2);
}

// Each call of a compile fails in turn.
static void test_compiles_that_fail(void **state) {
  (void)state;
  watch();
  int failed = 0;
  for (bool is_over = false; !is_over; failed++) {
    vyre_executable *e = NULL;
    vyre_error error = {0};
    int before = objects;
    calls_left = failed;
    vyre_status status = compile(&e, &error);
    is_over = calls_left >= 0;
    calls_left = -1;
    if (!is_over) {
      assert_int_equal(status, VYRE_ERROR_MEMORY);
      assert_non_null(strstr(error.message, "Fix:"));
      assert_in_range(objects - before + 2, 0, 4); // a block of memory may stay, or go
    } else {
      assert_int_equal(status, VYRE_OK);
      expect_right(e);
      vyre_executable_release(e);
    }
  }
  assert_true(failed > 10);
  look_away();
}

// Each call of a dispatch fails in turn: an error, and the next one is right.
static void sweep(bool is_in_place, bool shares_memory, uint64_t timeout_ns) {
  watch();
  bool was_in_place = device->is_in_place, was_sharing = device->shares_memory;
  device->is_in_place = was_in_place && is_in_place;
  device->shares_memory = shares_memory;
  vyre_executable *e;
  vyre_error error;
  int failed = 0;
  assert_int_equal(compile(&e, &error), VYRE_OK);
  for (bool is_over = false; !is_over; failed++) {
    // At another address each time, so that memory is placed anew.
    uint32_t *data = aligned_alloc(4096, 4096);
    memset(data, 0, 4096);
    calls_left = failed;
    vyre_status status = dispatch(e, data, timeout_ns, &error);
    is_over = calls_left >= 0;
    calls_left = -1;
    if (status != VYRE_OK) assert_int_equal(status, VYRE_ERROR_MEMORY);
    if (status == VYRE_OK) assert_int_equal(data[63], 2); // there was another way
    if (is_over) assert_int_equal(status, VYRE_OK);
    expect_right(e);
    free(data);
  }
  assert_true(failed > 2);
  vyre_executable_release(e);
  device->is_in_place = was_in_place;
  device->shares_memory = was_sharing;
  look_away();
}

static void test_dispatches_that_fail(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    sweep(kind > 1, kind > 0, 0);
    sweep(kind > 1, kind > 0, 60000000000u);
  }
}

// Executables give everything back but blocks of memory, of which a few are kept.
static void test_everything_is_given_back(void **state) {
  (void)state;
  watch();
  vyre_executable *e;
  vyre_error error;
  assert_int_equal(compile(&e, &error), VYRE_OK);
  vyre_executable_release(e);
  int before = objects;
  for (int i = 0; i < 5; i++) {
    assert_int_equal(compile(&e, &error), VYRE_OK);
    expect_right(e);
    vyre_executable_release(e);
  }
  assert_in_range(objects - before + 2, 0, 4);
  look_away();
}

// A lost device is an error that stays, and others can be asked meanwhile.
static void test_a_lost_device(void **state) {
  (void)state;
  watch();
  vyre_executable *e, *other;
  vyre_error error;
  vyre_device info;
  uint32_t count, data[64] = {0};
  assert_int_equal(compile(&e, &error), VYRE_OK);
  is_gone = true;
  assert_int_equal(dispatch(e, data, 0, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "DEVICE_LOST"));
  is_gone = false;
  assert_int_equal(dispatch(e, data, 0, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "lost"));
  assert_int_equal(compile(&other, &error), VYRE_ERROR_UNSUPPORTED);
  assert_int_equal(vyre_backend_devices("vulkan", &info, 1, &count, &error), VYRE_OK);
  assert_string_equal(info.unusable, "it was lost");
  vyre_executable_release(e);
  // Another backend goes on.
  vyre_program *p;
  assert_int_equal(vyre_program_parse(text, strlen(text), "test", &p, &error), VYRE_OK);
  assert_int_equal(vyre_compile(p, "ref", NULL, &e, &error), VYRE_OK);
  expect_right(e);
  vyre_executable_release(e);
  vyre_program_release(p);
  atomic_store(&device->is_lost, false);
  look_away();
}

// ---- first use ----------------------------------------------------------------------------------

static void dispatch_nothing(VkCommandBuffer c, uint32_t x, uint32_t y, uint32_t z) {
  (void)x, (void)y, (void)z;
  driver.CmdDispatch(c, 0, 0, 0);
}

// A device that gives wrong answers is found out before it is used, and gets no program that needs
// what it got wrong.
static void test_a_device_that_computes_nothing(void **state) {
  (void)state;
  watch();
  char *old = getenv("VYRE_HOME") ? strdup(getenv("VYRE_HOME")) : NULL;
  setenv("VYRE_HOME", scratch_path("trust"), 1);
  vyre_error error;
  vyre_program *p, *loop, *asked;
  uint32_t failed = 99;
  static const char loops[] = "program l()\nbuffer x: u32[] readwrite\nregion r grid(len(x)) {\n"
                              "  for k in 0..len(x) { x[0] = x[0] + k }\n}\n";
  static const char whiles[] = "program w()\nbuffer x: u32[] readwrite\nregion r grid(1) {\n"
                               "  while x[0] > 7 { x[0] = x[0] / 2 }\n}\n";
  assert_int_equal(vyre_program_parse(loops, strlen(loops), "l", &loop, &error), VYRE_OK);
  assert_int_equal(vyre_program_parse(whiles, strlen(whiles), "w", &asked, &error), VYRE_OK);
  static const char atomics[] = "program a()\nbuffer x: u32[] readwrite\n"
                                "region r grid(len(x)) { atomic_add(x[0], 1) }\n";
  assert_int_equal(vyre_program_parse(atomics, strlen(atomics), "a", &p, &error), VYRE_OK);
  assert_int_equal(trust_device(device, &failed, &error), VYRE_OK);
  assert_int_equal(failed, 0);
  assert_true(conformance_allows(device->info.adapter, p, &error));
  // Also where the driver ends long loops: launches that need them are refused.
  assert_true(conformance_allows(device->info.adapter, loop, &error));
  assert_true(conformance_allows(device->info.adapter, asked, &error));
  device->vk.CmdDispatch = dispatch_nothing;
  assert_int_equal(trust_device(device, &failed, &error), VYRE_OK);
  assert_int_equal(failed, 7);
  assert_false(conformance_allows(device->info.adapter, p, &error));
  assert_non_null(strstr(error.message, "first-use/atomics"));
  // Once more, beside what was known before: nothing twice, nothing forgotten.
  conformance_failure *known, before = {.row = "rounding/f64", .needs_all = false};
  uint32_t count;
  assert_true(features_parse("rint:f64", VYRE_VOID, &before.needs));
  assert_int_equal(conformance_record(device->info.adapter, &before, 1, &error), VYRE_OK);
  for (int i = 0; i < 2; i++) assert_int_equal(trust_device(device, &failed, &error), VYRE_OK);
  assert_int_equal(conformance_load(device->info.adapter, &known, &count, &error), VYRE_OK);
  assert_int_equal(count, 8);
  assert_string_equal(known[7].row, "rounding/f64");
  free(known);
  vyre_program_release(loop);
  vyre_program_release(asked);
  vyre_program_release(p);
  if (old) setenv("VYRE_HOME", old, 1);
  free(old);
  look_away();
}

// ---- the pipeline cache -------------------------------------------------------------------------

static struct {
  size_t got;         // bytes that a cache was made of
  bool breaks_header; // one that is not of this device
} pipeline_cache;

static VkResult make_cache(VkDevice d, const VkPipelineCacheCreateInfo *info,
                           const VkAllocationCallbacks *a, VkPipelineCache *out) {
  VkPipelineCacheCreateInfo empty = *info;
  pipeline_cache.got = info->initialDataSize;
  empty.initialDataSize = 0;
  empty.pInitialData = NULL;
  return driver.CreatePipelineCache(d, &empty, a, out);
}

// As a driver that remembers: a header, and 200 bytes.
static VkResult cache_data(VkDevice d, VkPipelineCache c, size_t *size, void *data) {
  enum { SIZE = 232 };
  (void)d, (void)c;
  if (data) {
    uint32_t head[4] = {32, VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
                        device->properties.vendorID + pipeline_cache.breaks_header,
                        device->properties.deviceID};
    memset(data, 7, SIZE);
    memcpy(data, head, sizeof head);
    memcpy((char *)data + 16, device->properties.pipelineCacheUUID, VK_UUID_SIZE);
  }
  *size = SIZE;
  return VK_SUCCESS;
}

static size_t bytes_for_next_compile(void) {
  vyre_executable *e;
  vyre_error error;
  pipeline_cache.got = 0;
  assert_int_equal(compile(&e, &error), VYRE_OK);
  expect_right(e);
  vyre_executable_release(e);
  return pipeline_cache.got;
}

// Flips a byte near the end of every file of the code cache.
static void damage_files(void) {
  char folder[600], path[1200];
  snprintf(folder, sizeof folder, "%s/cache/code", getenv("VYRE_HOME"));
  DIR *dir = opendir(folder);
  if (!dir) fail_msg("no folder %s", folder);
  for (struct dirent *f; (f = readdir(dir));) {
    if (f->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, -1, SEEK_END);
    int last = fgetc(file);
    fseek(file, -1, SEEK_END);
    fputc(last ^ 1, file);
    fclose(file);
  }
  closedir(dir);
}

static void test_pipeline_caches_are_checked(void **state) {
  (void)state;
  watch();
  char *old = getenv("VYRE_HOME") ? strdup(getenv("VYRE_HOME")) : NULL;
  setenv("VYRE_HOME", scratch_path("home"), 1);
  device->vk.CreatePipelineCache = make_cache;
  device->vk.GetPipelineCacheData = cache_data;
  assert_int_equal(bytes_for_next_compile(), 0);
  assert_int_equal(bytes_for_next_compile(), 232);
  damage_files();
  assert_int_equal(bytes_for_next_compile(), 0); // the driver never sees a damaged one
  assert_int_equal(bytes_for_next_compile(), 232);
  // The device became another one, or the driver was updated.
  device->properties.pipelineCacheUUID[3] ^= 1;
  assert_int_equal(bytes_for_next_compile(), 0);
  assert_int_equal(bytes_for_next_compile(), 232);
  device->properties.pipelineCacheUUID[3] ^= 1;
  // What a driver hands out under another's name is not kept.
  device->properties.driverVersion++;
  pipeline_cache.breaks_header = true;
  assert_int_equal(bytes_for_next_compile(), 0);
  assert_int_equal(bytes_for_next_compile(), 0);
  device->properties.driverVersion--;
  if (old) setenv("VYRE_HOME", old, 1);
  free(old);
  look_away();
}

int main(void) {
  device = vulkan_device_find(NULL, NULL);
  if (device && probe_device(device, NULL) != VYRE_OK) device = NULL;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_compiles_that_fail),
      cmocka_unit_test(test_dispatches_that_fail),
      cmocka_unit_test(test_everything_is_given_back),
      cmocka_unit_test(test_a_lost_device),
      cmocka_unit_test(test_a_device_that_computes_nothing),
      cmocka_unit_test(test_pipeline_caches_are_checked),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
