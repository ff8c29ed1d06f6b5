// SPDX-License-Identifier: MIT
//
// The command buffer of a runner: copies, fills, dispatches, and barriers where one needs what
// another wrote. Private to this folder; one thread per runner.
#ifndef VYRE_BACKEND_VULKAN_RECORD_H
#define VYRE_BACKEND_VULKAN_RECORD_H

#include "backend/vulkan/runner.h"

// In a runner's flags: what stands for a buffer without elements.
enum { RECORD_NONE_OFFSET = 256, RECORD_NONE_BYTES = 256 };

// The runner's steps, and what is around them.
typedef struct record_batch {
  bool begins, ends; // with what comes before the first step, and behind the last
  bool is_dry;       // nothing is bound: all buffers are empty, all facts 0
} record_batch;

// Writes the facts of all steps that are not pushed; without a launch they are 0.
VkResult record_uniform(runner *i, const launch *l);

// Records the batch, unless the recording has it already.
VkResult record_commands(runner *i, const launch *l, const record_batch *batch);

#endif
