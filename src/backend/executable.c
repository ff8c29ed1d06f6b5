// SPDX-License-Identifier: MIT
#include "backend/executable.h"

#include "backend/limited_compile.h"
#include "backend/watch/watch.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "base/half.h"

#include <stdlib.h>
#include <string.h>

struct vyre_executable {
  const backend *backend;
  vyre_program *program;
  void *state;
  watcher *watcher; // that runs its dispatches when VYRE_CHECK asks for it; NULL: none
};

const vyre_program *executable_program(const vyre_executable *e) {
  return e->program;
}

const backend *executable_backend(const vyre_executable *e) {
  return e->backend;
}

const char *vyre_executable_backend(const vyre_executable *e) {
  return e ? e->backend->id : NULL;
}

void executable_expect(vyre_executable *e, uint64_t ns) {
  if (e->backend->expect) e->backend->expect(e->state, ns);
}

// ---- compile ------------------------------------------------------------------------------------

// The oracle runs what it was given, so that a mistake of a pass is seen as one; the quick tier is
// for the first answer.
static optimize_mode mode_of(const backend *b, const vyre_compile_options *options) {
  switch (options->optimize) {
  case VYRE_OPTIMIZE_NONE: return OPTIMIZE_NOTHING;
  case VYRE_OPTIMIZE_SELECTED: return OPTIMIZE_SELECTED;
  case VYRE_OPTIMIZE_DEFAULT: break;
  }
  bool is_plain = options->tier == VYRE_TIER_QUICK || b == backend_oracle();
  return is_plain ? OPTIMIZE_NOTHING : OPTIMIZE_SELECTED;
}

vyre_status executable_optimize(vyre_program *program, const backend *b,
                                const vyre_compile_options *options, vyre_program **out,
                                vyre_error *error) {
  optimize_result made;
  optimize_options how = {.mode = mode_of(b, options)};
  vyre_status status = optimize_program(program, &how, &made, error);
  *out = status == VYRE_OK ? vyre_program_retain(made.program) : NULL;
  optimize_result_fini(&made);
  return status;
}

// limited_compile, or a backend's compile_cached.
typedef vyre_status (*compile_function)(const backend *self, vyre_program *program,
                                        const vyre_compile_options *options, void **state,
                                        vyre_error *error);

static vyre_status make(vyre_program *program, const backend *b, compile_function compile,
                        const vyre_compile_options *options, vyre_executable **out,
                        vyre_error *error) {
  vyre_executable *made = calloc(1, sizeof *made);
  if (!made) return error_out_of_memory(error);
  vyre_compile_options defaults = {0};
  vyre_status status = compile(b, program, options ? options : &defaults, &made->state, error);
  if (status != VYRE_OK) {
    free(made);
    return status;
  }
  made->backend = b;
  made->program = vyre_program_retain(program);
  *out = made;
  return VYRE_OK;
}

vyre_status executable_from_cache(vyre_program *program, const char *id,
                                  const vyre_compile_options *options, vyre_executable **out,
                                  vyre_error *error) {
  const backend *b = backend_find(id);
  if (b && b->compile_cached) return make(program, b, b->compile_cached, options, out, error);
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "backend `%s` keeps no compiled code. Fix: compile the program", id);
}

// Of a limit when some of it was spent; 0 would be none.
static uint64_t time_left(uint64_t limit_ns, uint64_t spent_ns) {
  return spent_ns < limit_ns ? limit_ns - spent_ns : 1;
}

vyre_status executable_compile(vyre_program *program, const char *id,
                               const vyre_compile_options *options, vyre_executable **out,
                               vyre_error *error) {
  const backend *b = backend_find(id);
  return b ? make(program, b, limited_compile, options, out, error) : backend_unknown(id, error);
}

vyre_status vyre_compile(vyre_program *program, const char *id, const vyre_compile_options *options,
                         vyre_executable **out, vyre_error *error) {
  FPENV_SCOPE;
  if (!program || !id || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_compile was called with NULL. Fix: pass a program, a backend's id and "
                     "where the executable goes");
  *out = NULL;
  const backend *b = backend_find(id);
  if (!b) return backend_unknown(id, error);
  vyre_compile_options rest = options ? *options : (vyre_compile_options){0};
  if (rest.vector_width > 64 || (rest.vector_width & (rest.vector_width - 1)))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vector_width is %u. Fix: pass a power of two up to 64, or 0",
                     rest.vector_width);
  uint64_t start = clock_now_ns();
  vyre_program *optimized;
  vyre_status status = executable_optimize(program, b, &rest, &optimized, error);
  if (status != VYRE_OK) return status;
  if (rest.timeout_ns) rest.timeout_ns = time_left(rest.timeout_ns, clock_now_ns() - start);
  status = executable_compile(optimized, id, &rest, out, error);
  vyre_program_release(optimized);
  const char *watched_on;
  if (status == VYRE_OK && watch_is_wanted(&watched_on)) {
    // The program as it was written: passes may leave out what nobody needs.
    status = watcher_new(program, watched_on, &(*out)->watcher, error);
    if (status != VYRE_OK) {
      vyre_executable_release(*out);
      *out = NULL;
    }
  }
  return status;
}

void vyre_executable_release(vyre_executable *e) {
  FPENV_SCOPE;
  if (!e) return;
  watcher_free(e->watcher);
  e->backend->release(e->state);
  vyre_program_release(e->program);
  free(e);
}

// ---- dispatch -----------------------------------------------------------------------------------

// What another backend's device has, and this one does not, comes to the host first.
static vyre_status bring_here(const vyre_program *p, const backend *b, const launch *l,
                              vyre_error *error) {
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    vyre_buffer *handle = launch_handle(l, i);
    if (!handle) continue;
    vyre_status status = fork_check(handle->generation, "a buffer", error);
    if (status == VYRE_OK && handle->backend != b) status = resident_to_host(handle, error);
    if (status != VYRE_OK) return status;
  }
  return VYRE_OK;
}

// A backend that keeps a buffer has said itself what it wrote; the others wrote the host's memory,
// also when they failed in the middle.
static void note_writes(const vyre_program *p, const backend *b, const launch *l) {
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    vyre_buffer *handle = launch_handle(l, i);
    bool is_written = handle && (p->buffers[i].access & VYRE_WRITE);
    if (is_written && handle->backend != b) resident_host_written(handle);
  }
}

vyre_status executable_launch(const vyre_program *p, const backend *b, executable_run *run,
                              void *context, const vyre_dispatch_args *args, vyre_report *report,
                              vyre_error *error) {
  uint64_t start = clock_stamp(), end = 0;
  vyre_report unused = {0};
  if (!report) report = &unused;
  report->wall_ns = report->device_ns = report->operations = 0;
  report->region_count = 0;
  launch l;
  vyre_status status = launch_init(&l, p, args, error);
  if (status != VYRE_OK) return status;
  l.owner = b;
  if (l.stop && *l.stop) status = launch_stopped_error(&l, p->regions[0].name, error);
  if (status == VYRE_OK && l.handles) status = bring_here(p, b, &l, error);
  l.start_stamp = l.handles ? clock_stamp() : start; // what was brought took its own time
  l.end_stamp = &end;
  if (status == VYRE_OK) {
    status = run(context, &l, report, error);
    if (l.handles) note_writes(p, b, &l);
  }
  launch_fini(&l);
  if (!end || l.handles) end = clock_stamp();
  report->wall_ns = clock_between_ns(start, end);
  return status;
}

vyre_status executable_dispatch(vyre_executable *e, const vyre_dispatch_args *args,
                                vyre_report *report, vyre_error *error) {
  return executable_launch(e->program, e->backend, e->backend->dispatch, e->state, args, report,
                           error);
}

typedef struct part_run {
  vyre_executable *executable;
  const launch_part *part;
} part_run;

static vyre_status run_part(void *context, const launch *l, vyre_report *report,
                            vyre_error *error) {
  const part_run *r = context;
  launch of_part = *l; // the arrays stay where they are
  of_part.part = r->part;
  return r->executable->backend->dispatch(r->executable->state, &of_part, report, error);
}

vyre_status executable_dispatch_part(vyre_executable *e, const vyre_dispatch_args *args,
                                     const launch_part *part, vyre_report *report,
                                     vyre_error *error) {
  part_run run = {e, part};
  return executable_launch(e->program, e->backend, run_part, &run, args, report, error);
}

vyre_status vyre_dispatch(vyre_executable *e, const vyre_dispatch_args *args, vyre_report *report,
                          vyre_error *error) {
  FPENV_SCOPE;
  if (e && args && e->watcher) return watch_dispatch(e->watcher, args, NULL, NULL, report, error);
  if (e && args) return executable_dispatch(e, args, report, error);
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "vyre_dispatch was called with NULL. Fix: pass an executable and arguments");
}

void report_region(vyre_report *report, const char *name, uint64_t time_ns, uint64_t bytes,
                   uint64_t invocations) {
  report->device_ns += time_ns;
  if (!report->regions || report->region_count >= report->region_capacity) return;
  report->regions[report->region_count++] = (vyre_region_report){name, time_ns, bytes, invocations};
}

// ---- scalars ------------------------------------------------------------------------------------

vyre_scalar vyre_scalar_bool(bool value) {
  return (vyre_scalar){VYRE_BOOL, value};
}

vyre_scalar vyre_scalar_i8(int8_t value) {
  return (vyre_scalar){VYRE_I8, (uint64_t)(int64_t)value};
}

vyre_scalar vyre_scalar_u8(uint8_t value) {
  return (vyre_scalar){VYRE_U8, value};
}

vyre_scalar vyre_scalar_i16(int16_t value) {
  return (vyre_scalar){VYRE_I16, (uint64_t)(int64_t)value};
}

vyre_scalar vyre_scalar_u16(uint16_t value) {
  return (vyre_scalar){VYRE_U16, value};
}

vyre_scalar vyre_scalar_i64(int64_t value) {
  return (vyre_scalar){VYRE_I64, (uint64_t)value};
}

vyre_scalar vyre_scalar_u64(uint64_t value) {
  return (vyre_scalar){VYRE_U64, value};
}

vyre_scalar vyre_scalar_i32(int32_t value) {
  return (vyre_scalar){VYRE_I32, (uint64_t)(int64_t)value};
}

vyre_scalar vyre_scalar_u32(uint32_t value) {
  return (vyre_scalar){VYRE_U32, value};
}

vyre_scalar vyre_scalar_f16(float value) {
  return (vyre_scalar){VYRE_F16, half_round((double)value)};
}

vyre_scalar vyre_scalar_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (vyre_scalar){VYRE_F32, bits};
}

vyre_scalar vyre_scalar_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (vyre_scalar){VYRE_F64, bits};
}
