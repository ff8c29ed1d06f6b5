// SPDX-License-Identifier: MIT
//
// What the drivers of devices have in common, whatever is spoken with them: they are asked once per
// process, have threads and locks of their own, and do not survive a fork. Any thread.
#ifndef VYRE_BACKEND_DRIVER_H
#define VYRE_BACKEND_DRIVER_H

#include <vyre/vyre.h>

#include <pthread.h>
#include <stdatomic.h>

typedef struct driver {
  const char *name; // for people: "OpenCL"
  pthread_once_t once;
  atomic_bool is_found;
  unsigned generation; // of processes, in which it was asked
  uint32_t count;      // of devices
} driver;

// Calls `find` once, which sets `generation` and `count`.
vyre_status driver_find(driver *d, void (*find)(void), vyre_error *error);
// Fails in a child of the process that has used devices.
vyre_status driver_check_process(const driver *d, vyre_error *error);
// Gives the second, third, ... device of a name one of its own.
void driver_name_twin(vyre_device *device, uint32_t number);
// Whether a device may be used: `found` is the one that was asked for by `adapter`, or the first
// when that is NULL; itself NULL when there is none.
vyre_status driver_allow(const driver *d, const char *adapter, const vyre_device *found,
                         bool is_lost, vyre_error *error);

#endif
