// SPDX-License-Identifier: MIT
#include "backend/driver.h"

#include "base/error.h"
#include "base/fork.h"

#include <stdio.h>
#include <string.h>

vyre_status driver_check_process(const driver *d, vyre_error *error) {
  if (d->generation == fork_generation() || !d->count) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "%s was used before this process was forked, and its drivers do not survive "
                   "that. Fix: use another backend here, or %s only after the fork",
                   d->name, d->name);
}

vyre_status driver_find(driver *d, void (*find)(void), vyre_error *error) {
  if (atomic_load_explicit(&d->is_found, memory_order_acquire))
    return driver_check_process(d, error);
  vyre_status status = fork_hold(error);
  if (status != VYRE_OK) return status;
  pthread_once(&d->once, find);
  atomic_store_explicit(&d->is_found, true, memory_order_release);
  fork_let_go();
  return driver_check_process(d, error);
}

void driver_name_twin(vyre_device *device, uint32_t number) {
  char *name = device->adapter;
  const size_t room = sizeof device->adapter - sizeof "-n999";
  size_t used = strlen(name);
  if (used > room) used = room; // a long name gives way
  if (number > 1) snprintf(name + used, sizeof device->adapter - used, "-n%u", number % 1000);
}

vyre_status driver_allow(const driver *d, const char *adapter, const vyre_device *found,
                         bool is_lost, vyre_error *error) {
  const char *why = !found               ? "there is none"
                    : found->unusable[0] ? found->unusable
                    : is_lost            ? "it was lost"
                                         : NULL;
  if (!why) return VYRE_OK;
  return error_set(error, found || !adapter ? VYRE_ERROR_UNSUPPORTED : VYRE_ERROR_ARGUMENT,
                   "the %s device %s cannot be used: %s. Fix: choose one that `vyre devices` lists",
                   d->name, adapter ? adapter : "(any)", why);
}
