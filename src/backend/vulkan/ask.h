// SPDX-License-Identifier: MIT
//
// The same program on the reference and on a device that is not trusted yet: what the probe and the
// first comparison are made of. Any thread.
#ifndef VYRE_BACKEND_VULKAN_ASK_H
#define VYRE_BACKEND_VULKAN_ASK_H

#include "backend/vulkan/device.h"

vyre_status vulkan_ask_reference(vyre_program *p, const vyre_dispatch_args *args,
                                 vyre_error *error);
vyre_status vulkan_ask_device(vulkan_device *d, vyre_program *p, const vyre_dispatch_args *args,
                              vyre_error *error);

#endif
