// SPDX-License-Identifier: MIT
//
// A registered record becomes a backend of the table whose functions are adapters: they hand over
// the context, expand mathematical functions, and give transient buffers memory of the host.
#include "backend/outside.h"

#include "base/error.h"
#include "base/filename.h"
#include "base/fpenv.h"
#include "ir/limits.h"
#include "ir/math.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct outside_backend {
  backend backend; // first: the table has a pointer to it
  vyre_backend given;
  atomic_bool is_examined;
} outside_backend;

typedef struct outside_state {
  const vyre_backend *given;
  vyre_program *program; // without mathematical functions
  void *state;
} outside_state;

// ---- adapters -----------------------------------------------------------------------------------

static vyre_status probe(const backend *self, vyre_device *devices, uint32_t capacity,
                         uint32_t *count, vyre_error *error) {
  const vyre_backend *given = &((const outside_backend *)self)->given;
  return given->probe(given->context, devices, capacity, count, error);
}

static void release(void *state) {
  outside_state *s = state;
  if (s->state) s->given->release(s->state);
  vyre_program_release(s->program);
  free(s);
}

static vyre_status compile(const backend *self, vyre_program *program,
                           const vyre_compile_options *options, const volatile uint32_t *stop,
                           void **state, vyre_error *error) {
  (void)stop; // nobody waits for one that is late
  const vyre_backend *given = &((const outside_backend *)self)->given;
  outside_state *s = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory(error);
  s->given = given;
  vyre_status status = math_expand(program, &s->program, error);
  if (status == VYRE_OK)
    status = given->compile(given->context, s->program, options, &s->state, error);
  if (status == VYRE_OK)
    *state = s;
  else {
    s->state = NULL; // of a compile that failed there is none
    release(s);
  }
  return status;
}

// Zeroed memory for the transient buffers; *block holds it. False: out of memory.
static bool place_transients(const launch *l, vyre_bound_buffer *buffers, void **block) {
  const vyre_program *p = l->program;
  enum { ALIGN = 64 };
  size_t total = 0, at = 0;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    buffers[i] = l->buffers[i];
    if (!p->buffers[i].is_transient) continue;
    size_t bytes = l->buffers[i].length * type_bytes(p->buffers[i].type);
    total += (bytes + ALIGN - 1) / ALIGN * ALIGN;
  }
  *block = total ? aligned_alloc(ALIGN, total) : NULL;
  if (!*block) return !total;
  memset(*block, 0, total);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (!p->buffers[i].is_transient || !l->buffers[i].length) continue;
    buffers[i].data = (char *)*block + at;
    at += (l->buffers[i].length * type_bytes(p->buffers[i].type) + ALIGN - 1) / ALIGN * ALIGN;
  }
  return true;
}

static vyre_status dispatch(void *state, const launch *l, vyre_report *report, vyre_error *error) {
  const outside_state *s = state;
  vyre_bound_buffer buffers[LIMIT_BUFFERS];
  void *block;
  if (!place_transients(l, buffers, &block)) return error_out_of_memory(error);
  vyre_launch given = {.params = l->params,
                       .buffers = buffers,
                       .regions = l->regions,
                       .has_workgroup = l->has_workgroup,
                       .timeout_ns = l->timeout_ns,
                       .fuel = l->fuel};
  vyre_status status = s->given->dispatch(s->state, &given, report, error);
  free(block);
  return status;
}

void vyre_report_region(vyre_report *report, const char *name, uint64_t time_ns, uint64_t bytes,
                        uint64_t invocations) {
  if (report && name) report_region(report, name, time_ns, bytes, invocations);
}

// ---- registering --------------------------------------------------------------------------------

static vyre_status check_given(const vyre_backend *given, vyre_error *error) {
  if (!given)
    return error_set(error, VYRE_ERROR_ARGUMENT, "there is no backend. Fix: pass a vyre_backend");
  if (given->size != sizeof *given || given->version != VYRE_EXTEND_VERSION)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "the backend is of version %u and %u bytes, not %d and %zu. Fix: compile it "
                     "with the vyre/extend.h of this library",
                     given->version, given->size, VYRE_EXTEND_VERSION, sizeof *given);
  if (!given->id || !given->summary || !given->probe || !given->compile || !given->dispatch ||
      !given->release)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a backend lacks its id, its summary or a function. Fix: fill all of them");
  if (filename_is_plain(given->id, BACKEND_ID - 1)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "`%.40s` is no id for a backend. Fix: use up to %d lower-case letters, digits, "
                   "`-` and `_`",
                   given->id, BACKEND_ID - 1);
}

vyre_status vyre_backend_register(const vyre_backend *given, vyre_error *error) {
  FPENV_SCOPE;
  vyre_status status = check_given(given, error);
  if (status != VYRE_OK) return status;
  outside_backend *o = calloc(1, sizeof *o);
  if (!o) return error_out_of_memory(error);
  o->given = *given;
  o->backend = (backend){.id = given->id,
                         .summary = given->summary,
                         .probe = probe,
                         .compile = compile,
                         .dispatch = dispatch,
                         .release = release};
  status = backend_add(&o->backend, error);
  if (status != VYRE_OK) free(o);
  return status;
}

bool outside_is_examined(const backend *b) {
  return b->compile != compile || atomic_load(&((outside_backend *)b)->is_examined);
}

void outside_set_examined(const backend *b) {
  if (b->compile == compile) atomic_store(&((outside_backend *)b)->is_examined, true);
}
