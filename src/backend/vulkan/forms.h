// SPDX-License-Identifier: MIT
//
// What `vyre compile --emit` can ask the Vulkan backend for. Constant data: any thread.
#ifndef VYRE_BACKEND_VULKAN_FORMS_H
#define VYRE_BACKEND_VULKAN_FORMS_H

#include "backend/backend.h"

extern const backend_form vulkan_forms[];

#endif
