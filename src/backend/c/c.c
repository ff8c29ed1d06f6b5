// SPDX-License-Identifier: MIT
#include "backend/c/c.h"

#include "backend/c/emit.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/process.h"
#include "base/watchdog.h"
#include "ir/limits.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*c_entry)(const uint64_t *params, void *const *buffers, const uint32_t *lengths,
                       const volatile uint32_t *stop, uint32_t *region);

typedef struct c_state {
  vyre_program *program;
  void *module;
  c_entry entry;
} c_state;

// ---- the compiler -------------------------------------------------------------------------------

static vyre_status open_module(c_state *s, const char *path, vyre_error *error) {
  s->module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *entry = s->module ? dlsym(s->module, C_ENTRY) : NULL;
  memcpy(&s->entry, &entry, sizeof entry); // a function pointer, by POSIX
  if (entry) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "a compiled module cannot be opened: %.300s. Fix: set TMPDIR to a folder that "
                   "may hold programs",
                   dlerror());
}

static vyre_status build(c_state *s, const char *text, size_t size, vyre_error *error) {
  const char *base = environment_get("TMPDIR");
  char folder[3000], source[3100], module[3100];
  format_text(folder, sizeof folder, "%.2900s/vyre-c-XXXXXX", base ? base : "/tmp");
  if (!mkdtemp(folder))
    return error_set(error, VYRE_ERROR_IO, "no folder `%.200s`: %s. Fix: set TMPDIR", folder,
                     format_errno(errno));
  format_text(source, sizeof source, "%s/program.c", folder);
  format_text(module, sizeof module, "%s/program.so", folder);
  const char *const argv[] = {"cc",    "-std=c11", "-O1", "-w",   "-ffp-contract=off",
                              "-fPIC", "-shared",  "-o",  module, source,
                              "-lm",   NULL};
  vyre_status status = file_replace(source, text, size, error);
  if (status == VYRE_OK && (!process_run(argv) || access(module, R_OK)))
    status = error_set(error, VYRE_ERROR_BACKEND,
                       "the C compiler made no module. Fix: compile what `vyre compile --emit=c` "
                       "writes with `cc`, and see what it says");
  if (status == VYRE_OK) status = open_module(s, module, error);
  unlink(source);
  unlink(module);
  rmdir(folder);
  return status;
}

// ---- the backend --------------------------------------------------------------------------------

// The PATH says which compiler runs, and compilers have variables of their own.
static vyre_status refuse_foreign(vyre_error *error) {
  if (!environment_is_foreign()) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "no C compiler is run by a process with other rights than those of whoever "
                   "started it. Fix: use another backend there");
}

static vyre_status c_probe(const backend *self, vyre_device *devices, uint32_t capacity,
                           uint32_t *count, vyre_error *error) {
  vyre_status status = refuse_foreign(error);
  *count = status == VYRE_OK && process_exists("cc");
  if (status != VYRE_OK) return status;
  if (!*count)
    return error_set(error, VYRE_ERROR_BACKEND,
                     "there is no `cc` on the PATH. Fix: install a C compiler");
  if (capacity)
    devices[0] = (vyre_device){.adapter = "c-cc",
                               .description = "the C compiler of this machine, one thread",
                               .compute_units = 1,
                               .max_workgroup = LIMIT_WORKGROUP,
                               .has_f64 = true,
                               .has_i64 = true,
                               .has_i64_atomics = true};
  (void)self;
  return VYRE_OK;
}

static void c_release(void *state) {
  c_state *s = state;
  if (s->module) dlclose(s->module);
  vyre_program_release(s->program);
  free(s);
}

static vyre_status c_compile(const backend *self, vyre_program *program,
                             const vyre_compile_options *options, const volatile uint32_t *stop,
                             void **state, vyre_error *error) {
  c_state *s = calloc(1, sizeof *s);
  char *text = NULL;
  size_t size = 0;
  (void)self, (void)options, (void)stop; // a C compiler takes a moment
  if (!s) return error_out_of_memory(error);
  s->program = vyre_program_retain(program);
  vyre_status status = refuse_foreign(error);
  if (status == VYRE_OK) status = c_emit(program, C_MODULE, true, &text, &size, error);
  if (status == VYRE_OK) status = build(s, text, size, error);
  free(text);
  if (status == VYRE_OK)
    *state = s;
  else
    c_release(s);
  return status;
}

static vyre_status result_error(int result, const launch *l, const char *region,
                                vyre_error *error) {
  switch ((c_result)result) {
  case C_RAN: return VYRE_OK;
  case C_NO_MEMORY: return error_out_of_memory(error);
  case C_DIVERGED: return launch_divergence_error(region, error);
  case C_STOPPED: return launch_stopped_error(l, region, error);
  case C_BAD_EXTENT: break; // a launch has been checked
  }
  VYRE_BUG("c", "the program returned %d", result);
}

static vyre_status c_dispatch(void *state, const launch *l, vyre_report *report,
                              vyre_error *error) {
  const c_state *s = state;
  const vyre_program *p = s->program;
  void *buffers[LIMIT_BUFFERS];
  uint32_t lengths[LIMIT_BUFFERS], region = 0;
  volatile uint32_t own = 0, *stop = l->stop ? l->stop : &own;
  watch w;
  bool is_watched = l->timeout_ns && l->deadline_ns != UINT64_MAX;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    buffers[i] = l->buffers[i].data;
    lengths[i] = (uint32_t)l->buffers[i].length;
  }
  if (is_watched && !watchdog_arm(&w, l->deadline_ns, stop)) return launch_thread_error(error);
  uint64_t start = clock_now_ns();
  int result = s->entry(l->params, buffers, lengths, stop, &region);
  uint64_t time_ns = clock_now_ns() - start;
  if (is_watched) watchdog_disarm(&w);
  // One call runs all regions: the time is told of the first.
  for (uint32_t i = 0; i < p->region_count && result == C_RAN; i++)
    report_region(report, p->regions[i].name, i ? 0 : time_ns, 0, l->regions[i].invocations);
  return result_error(result, l, p->regions[region - (region > 0)].name, error);
}

static vyre_status emit_file(vyre_program *program, const backend_form_options *o, char **text,
                             size_t *size, vyre_error *error) {
  return c_emit(program, C_FILE, o->is_polled, text, size, error);
}

static vyre_status emit_header(vyre_program *program, const backend_form_options *o, char **text,
                               size_t *size, vyre_error *error) {
  return c_emit(program, C_HEADER, o->is_polled, text, size, error);
}

static const backend_form forms[] = {
    {"c", ".c", "one C11 file that needs no vyre and gives the same bits", false, emit_file},
    {"h", ".h", "its header", false, emit_header},
    {0},
};

const backend c_backend = {
    .id = "c",
    .is_host = true,
    .summary = "emitted C and this machine's C compiler: an example and a second opinion",
    .forms = forms,
    .is_peer = true,
    .probe = c_probe,
    .compile = c_compile,
    .dispatch = c_dispatch,
    .release = c_release,
};
