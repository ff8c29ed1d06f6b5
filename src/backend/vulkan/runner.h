// SPDX-License-Identifier: MIT
//
// What one dispatch at a time needs of a compiled program: a command buffer with all regions, which
// is recorded again only when something in it changed, descriptors, and memory, all kept for the
// next dispatch. Two dispatches at once use two runners.
//
// Where the device computes in the host's memory, a bound buffer is that memory itself. Where
// device memory is mapped, buffers are copied to it; otherwise through memory for copies, all in
// the same command buffer.
#ifndef VYRE_BACKEND_VULKAN_RUNNER_H
#define VYRE_BACKEND_VULKAN_RUNNER_H

#include "backend/backend.h"
#include "backend/pieces.h"
#include "backend/vulkan/build.h"
#include "backend/vulkan/memory.h"
#include "backend/ways.h"

typedef struct runner_place {
  VkBuffer buffer; // what is bound
  VkDeviceSize offset, size;
  vulkan_memory own, staging; // kept
  vulkan_import import;       // of `host`, kept while that is bound
  void *host;
  size_t host_size;
  uint64_t serial; // of the buffer
  uint32_t slot;   // of a transient buffer
  uint32_t first;  // region that uses it, before which it is cleared
  bool is_copied;  // `own` gets the caller's data, and gives it back
  bool is_empty;   // the buffer has no elements
} runner_place;

// A part of a region's grid that is dispatched at once.
typedef struct runner_step {
  uint32_t region;
  bool begins;                 // it is the first of its region
  uint32_t base[3], groups[3]; // in workgroups
  uint32_t uniform;            // where its facts are, when they are not pushed
  uint64_t invocations;
} runner_step;

typedef struct runner_shape {
  uint32_t workgroup[3];
  VkPipeline pipeline;
} runner_shape;

// Where the next step comes from: grids may have more pieces than anybody wants to list.
typedef struct runner_walk {
  uint32_t region;
  bool is_inside; // pieces are of that region
  pieces pieces;
} runner_walk;

// Memory of transient buffers, one after the other.
typedef struct runner_slot {
  vulkan_memory memory;
  VkDeviceSize size; // that the launch needs
  uint32_t last;     // region that uses what is in it
} runner_slot;

typedef vec(uint32_t) runner_words;

typedef struct runner {
  ways_runner rest;
  vulkan_device *device;
  vulkan_build *build;
  const vyre_program *program;
  VkCommandPool commands;
  VkCommandBuffer recording;
  VkFence fence;
  VkQueryPool queries;
  VkDescriptorPool descriptors;
  VkDescriptorSet *sets; // per region
  runner_place *places;  // per buffer
  runner_shape *shapes;  // per region: of the last launch
  bool is_timed;         // by timestamps, in the present launch
  uint64_t *times_ns;    // per region
  vulkan_memory flags;   // the stop flag; what stands for an empty buffer
  vulkan_memory uniform; // facts that are not pushed
  vec(runner_slot) slots;
  runner_walk walk;
  vec(runner_step) steps;      // of the present batch
  vec(uint32_t) marks;         // regions whose end has a timestamp, in the order of recording
  runner_words plan, recorded; // all that the recording depends on
} runner;

vyre_status runner_new(vulkan_build *build, const vyre_program *program, runner **out,
                       vyre_error *error);
void runner_free(runner *i);

// Runs a launch to its end and reports device times. On VYRE_ERROR_TIMEOUT *is_stuck says that the
// device is still busy with it: the runner must then not be used or freed.
vyre_status runner_run(runner *i, const launch *l, vyre_report *report, bool *is_stuck,
                       vyre_error *error);

// Makes the driver finish its compilation for these shapes, before anything is timed: some compile
// when a shader first runs. Uses no memory of the caller; shaders that have no guard do not run.
vyre_status runner_warm(runner *i, const launch_region *regions, vyre_error *error);

#endif
