// SPDX-License-Identifier: MIT
#include "backend/vulkan/ask.h"

#include "backend/launch.h"
#include "backend/vulkan/vulkan.h"

vyre_status vulkan_ask_reference(vyre_program *p, const vyre_dispatch_args *args,
                                 vyre_error *error) {
  vyre_executable *e;
  vyre_status status = vyre_compile(p, backend_oracle()->id, NULL, &e, error);
  if (status != VYRE_OK) return status;
  status = vyre_dispatch(e, args, NULL, error);
  vyre_executable_release(e);
  return status;
}

vyre_status vulkan_ask_device(vulkan_device *d, vyre_program *p, const vyre_dispatch_args *args,
                              vyre_error *error) {
  static const volatile uint32_t never = 0;
  vyre_report report = {0};
  void *state;
  launch l;
  vyre_status status = launch_init(&l, p, args, error);
  if (status != VYRE_OK) return status;
  status = vulkan_compile_for(d, &d->target, p, &never, &state, error);
  if (status == VYRE_OK) {
    status = vulkan_backend.dispatch(state, &l, &report, error);
    vulkan_backend.release(state);
  }
  launch_fini(&l);
  return status;
}
