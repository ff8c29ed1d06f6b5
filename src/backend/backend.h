// SPDX-License-Identifier: MIT
//
// The backend contract: one const struct per backend, listed once in backend.c. Callers go through
// vyre_compile and vyre_dispatch (executable.c), which check arguments once for all backends, so a
// backend may rely on what `launch` promises.
#ifndef VYRE_BACKEND_BACKEND_H
#define VYRE_BACKEND_BACKEND_H

#include "backend/launch.h"
#include "backend/resident.h"

typedef struct backend {
  const char *id;      // "ref"; stable, used in files and on the command line
  const char *summary; // one line for people

  // Lists the devices: sets *count to how many there are and fills up to `capacity`. An error says
  // why the backend cannot be used on this machine. Any thread.
  vyre_status (*probe)(vyre_device *devices, uint32_t capacity, uint32_t *count, vyre_error *error);

  // Makes *state from a frozen program, which the caller keeps alive until release. Options are
  // never NULL. VYRE_ERROR_UNSUPPORTED when the device lacks something. Any thread, also at once.
  vyre_status (*compile)(vyre_program *program, const vyre_compile_options *options, void **state,
                         vyre_error *error);

  // Runs all regions in order and returns when their effects are visible in the host's spans.
  // Fills report->device_ns, operations and the region rows; wall time is the caller's to take.
  // Any thread, also at once on one state.
  vyre_status (*dispatch)(void *state, const launch *l, vyre_report *report, vyre_error *error);

  void (*release)(void *state);

  // For backends with devices that have memory of their own; NULL for the others. A dispatch may
  // then keep a buffer that has a handle (launch_handle) on the device, in handle->device, instead
  // of copying it back; it uses the device's copy when that is current, and says what it wrote.
  // keeps_memory: whether the first device does so. fetch copies the device's content to the host;
  // drop frees it. The caller holds the handle's lock, or is alone with it. Any thread.
  bool (*keeps_memory)(void);
  vyre_status (*fetch)(vyre_buffer *handle, vyre_error *error);
  void (*drop)(vyre_buffer *handle);
} backend;

const backend *backend_find(const char *id); // NULL when unknown
const backend *backend_at(uint32_t index);   // NULL past the end

// One more backend, behind those of the table; NULL removes it. For tests of what happens when a
// backend misbehaves; not while anything else runs.
void backend_set_extra(const backend *extra);

// What a compiled program is made of, for the runtime and the tools.
const vyre_program *executable_program(const vyre_executable *executable);
const backend *executable_backend(const vyre_executable *executable);
void *executable_state(const vyre_executable *executable);

// A device's stable name: "backend-device-driver", in characters that are safe in a file name.
void device_adapter_name(char *out, size_t size, const char *backend, const char *device,
                         const char *driver);

// Adds a row to the report when it has room.
void report_region(vyre_report *report, const char *name, uint64_t time_ns, uint64_t bytes,
                   uint64_t invocations);

#endif
