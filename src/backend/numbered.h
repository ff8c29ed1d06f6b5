// SPDX-License-Identifier: MIT
//
// Further devices of a driver, each as a backend of its own, so that whatever chooses between
// backends chooses between devices: `vulkan:2` is the second device that `vyre devices vulkan`
// lists, and `vulkan` the first that can be used. Records are made when they are first asked for
// and live as long as the process. Any thread.
#ifndef VYRE_BACKEND_NUMBERED_H
#define VYRE_BACKEND_NUMBERED_H

#include "backend/backend.h"

enum { NUMBERED_MOST = 16 }; // devices of a driver that are told apart

// The backend for the device with this number, from 1, which is `base` itself; NULL when there can
// be none, or no memory is left. No driver is asked.
const backend *numbered_find(const backend *base, uint32_t number);

// By what stands behind the colon of an id: a number, or an adapter name, for which the driver is
// asked. NULL when it is neither.
const backend *numbered_parse(const backend *base, const char *text);

// What a driver's find function looks for: the adapter of the one device that the backend stands
// for, or NULL. It lives as long as the process.
const char *numbered_adapter(const backend *b);

#endif
