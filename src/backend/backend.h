// SPDX-License-Identifier: MIT
//
// The backend contract: one const struct per backend, listed once in backend.c. Callers go through
// vyre_compile and vyre_dispatch (executable.c), which check arguments once for all backends, so a
// backend may rely on what `launch` promises.
#ifndef VYRE_BACKEND_BACKEND_H
#define VYRE_BACKEND_BACKEND_H

#include "backend/launch.h"
#include "backend/resident.h"
#include "base/strbuf.h"

// A form in which a backend can show what it makes of a program, for `vyre compile --emit`.
typedef struct backend_form_options {
  vyre_tier tier;
  uint32_t vector_width;   // lanes, for backends that vectorise; 0: as the backend chooses
  bool has_lines;          // with the lines of the program's text
  bool is_polled;          // with what time limits need
  const char *source_name; // of the program's text
} backend_form_options;

typedef struct backend_form {
  const char *name;    // "llvm"; no two backends offer the same
  const char *suffix;  // of files that hold it: ".ll"
  const char *summary; // one line for people
  bool is_remarks;     // lines "region: remark", which --json shows as a list
  // Sets *text to malloc'ed memory; the size does not count a NUL at its end. Any thread.
  vyre_status (*emit)(vyre_program *program, const backend_form_options *options, char **text,
                      size_t *size, vyre_error *error);
} backend_form;

typedef struct backend {
  const char *id;             // "ref"; stable, used in files and on the command line
  const char *summary;        // one line for people
  const backend_form *forms;  // ended by one without a name; NULL: none
  bool is_peer;               // only to compare with: runs a program when it is named
  bool is_host;               // a dispatch is work of the calling thread, and of the pool's
  bool is_compared_first;     // its device is, before it is used without being named: acquaint.h
  bool has_devices;           // of a driver, and there may be several: numbered.h
  const struct backend *base; // of one that stands for a further device; NULL for all others

  // Lists the devices: sets *count to how many there are and fills up to `capacity`. An error says
  // why the backend cannot be used on this machine. Any thread.
  vyre_status (*probe)(const struct backend *self, vyre_device *devices, uint32_t capacity,
                       uint32_t *count, vyre_error *error);

  // Whether one of these devices may be chosen without being named; NULL: every one may. Any thread.
  bool (*is_offered)(const vyre_device *device);

  // Whether the backend's compiler can be loaded, by loading it; NULL where the probe knows. For
  // those who have the time, such as `vyre devices`. Any thread.
  vyre_status (*check)(vyre_error *error);

  // Adds what a device does exactly by itself, and what by recipes, a line each, for people; NULL
  // where there is nothing to say. It may take compiling. Any thread.
  vyre_status (*describe)(const char *adapter, strbuf *lines, vyre_error *error);

  // Makes *state from a frozen program, which the caller keeps alive until release. Options are
  // never NULL; their time limit is the caller's to keep (limited_compile.h).
  // VYRE_ERROR_UNSUPPORTED when the device lacks something. When *stop becomes other than 0 nobody
  // waits for the result: VYRE_ERROR_TIMEOUT soon, or a result that is thrown away. Any thread,
  // also at once.
  vyre_status (*compile)(const struct backend *self, vyre_program *program,
                         const vyre_compile_options *options, const volatile uint32_t *stop,
                         void **state, vyre_error *error);

  // The same from code that was compiled before and is at hand, in a few milliseconds at most;
  // VYRE_ERROR_UNSUPPORTED when there is none. NULL where compiled code is not kept. Any thread.
  vyre_status (*compile_cached)(const struct backend *self, vyre_program *program,
                                const vyre_compile_options *options, void **state,
                                vyre_error *error);

  // Runs all regions in order and returns when their effects are visible in the host's spans.
  // Fills report->device_ns, operations and the region rows; wall time is the caller's to take.
  // Any thread, also at once on one state.
  vyre_status (*dispatch)(void *state, const launch *l, vyre_report *report, vyre_error *error);

  void (*release)(void *state);

  // May be NULL. What a dispatch is expected to take, from an earlier process: for what a backend
  // would otherwise find out in its first runs. Any thread.
  void (*expect)(void *state, uint64_t ns);

  // For backends with devices that have memory of their own; NULL for the others. A dispatch may
  // then keep a buffer that has a handle (launch_handle) on the device, in handle->device, instead
  // of copying it back; it uses the device's copy when that is current, and says what it wrote.
  // keeps_memory: whether its device does so. fetch copies the device's content to the host;
  // drop frees it. The caller holds the handle's lock, or is alone with it. Any thread.
  bool (*keeps_memory)(const struct backend *self);
  vyre_status (*fetch)(vyre_buffer *handle, vyre_error *error);
  void (*drop)(vyre_buffer *handle);
} backend;

// NULL when unknown. `vulkan:2` and `vulkan:ADAPTER` are devices of `vulkan` (numbered.h).
const backend *backend_find(const char *id);
// Where a program runs before anything is known of it: this CPU.
const backend *backend_usual(void);
// The interpreter: what others are compared with, never a contender, and the last resort.
const backend *backend_oracle(void);
bool backend_is_oracle(const char *id);
// Whether it may be chosen without being named.
bool backend_is_contender(const char *id);
// Whether an id is `driver`, or one of that driver's devices; none is where `driver` is empty.
bool backend_is_of(const char *id, const char *driver);
// The device that a program for this backend runs on: the first that can be used, or the first of
// all where none can. False where there is no device.
bool backend_device(const char *id, vyre_device *out);
// The ids of the backend's devices that can be used, its own for the first: as many as there are,
// up to `capacity`; those that are offered only, or also those that have to be named. They live as
// long as the process. Where there are none, the error says why.
uint32_t backend_device_ids(const char *id, bool only_offered, const char **out, uint32_t capacity,
                            vyre_error *error);
// The error for an id that no backend has.
vyre_status backend_unknown(const char *id, vyre_error *error);

// All forms of all backends, in the order of the table; NULL past the end.
const backend_form *backend_form_at(uint32_t index);

enum {
  BACKEND_ID = 16,    // bytes that an id may take
  BACKEND_LIMIT = 16, // backends from outside that there may be
};

// Adds one behind those that there are; it stays until the process ends. A duplicate id is an
// error. Any thread.
vyre_status backend_add(const backend *added, vyre_error *error);

// One more backend, behind those of the table; NULL removes it. For tests of what happens when a
// backend misbehaves; not while anything else runs.
void backend_set_extra(const backend *extra);

// A device's stable name: "backend-device-driver", in characters that are safe in a file name.
void device_adapter_name(char *out, size_t size, const char *backend, const char *device,
                         const char *driver);

// Adds a row to the report when it has room.
void report_region(vyre_report *report, const char *name, uint64_t time_ns, uint64_t bytes,
                   uint64_t invocations);

#endif
