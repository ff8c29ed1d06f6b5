// SPDX-License-Identifier: MIT
#include "backend/fit.h"

#include "base/error.h"

static uint64_t shared_bytes(const vyre_program *p, const region *r, uint64_t alignment) {
  uint64_t all = 0;
  for (uint32_t k = r->shared.first; k < r->shared.end; k++) {
    uint64_t bytes = (uint64_t)p->shared[k].length * type_bytes(p->shared[k].type);
    all += (bytes + alignment - 1) / alignment * alignment;
  }
  return all;
}

static vyre_status check_region(const vyre_program *p, const region *r, const device_room *room,
                                vyre_error *error) {
  const uint32_t *size = r->workgroup;
  bool fits = (uint64_t)size[0] * size[1] * size[2] <= room->invocations;
  for (int k = 0; k < 3; k++) fits &= size[k] <= room->workgroup[k];
  if (!r->is_elastic && !fits)
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "region `%s` needs a workgroup of %u x %u x %u, the device takes %u x %u x %u "
                     "and %u in all. Fix: use smaller workgroups, or another backend",
                     r->name, size[0], size[1], size[2], room->workgroup[0], room->workgroup[1],
                     room->workgroup[2], room->invocations);
  uint64_t shared = shared_bytes(p, r, room->shared_alignment);
  if (shared > room->shared_bytes)
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "region `%s` needs %llu bytes of shared memory, the device has %llu. Fix: use "
                     "smaller shared arrays, or another backend",
                     r->name, (unsigned long long)shared, (unsigned long long)room->shared_bytes);
  return VYRE_OK;
}

vyre_status fit_check(const vyre_program *p, const device_room *room, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < p->region_count && status == VYRE_OK; i++)
    status = check_region(p, &p->regions[i], room, error);
  return status;
}
