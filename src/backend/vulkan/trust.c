// SPDX-License-Identifier: MIT
#include "backend/vulkan/trust.h"

#include "backend/first_use.h"
#include "backend/vulkan/ask.h"

static vyre_status ask(void *device, vyre_program *program, const vyre_dispatch_args *args,
                       vyre_error *error) {
  return vulkan_ask_device(device, program, args, error);
}

static bool is_lost(void *device) {
  return atomic_load(&((vulkan_device *)device)->is_lost);
}

// Floats were asked for before (probe.c).
vyre_status trust_device(vulkan_device *d, uint32_t *failed, vyre_error *error) {
  const first_use how = {.device = d, .ask = ask, .is_lost = is_lost};
  conformance_failure failures[FIRST_USE_MOST];
  vyre_status status = first_use_run(&how, failures, failed, error);
  if (status == VYRE_OK && *failed)
    status = first_use_record(d->info.adapter, failures, *failed, error);
  return status;
}
