// SPDX-License-Identifier: MIT
#include "backend/limited_compile.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/limited.h"

#include <stdlib.h>
#include <string.h>

// Owns all that a compile needs, because it may go on when the caller has left.
typedef struct job {
  const backend *backend;
  vyre_program *program;
  vyre_compile_options options;
  char *device; // what options.device points to
  void *state;
  vyre_status status;
  vyre_error error;
} job;

static void job_free(job *j) {
  vyre_program_release(j->program);
  free(j->device);
  free(j);
}

static job *job_new(const backend *b, vyre_program *program, const vyre_compile_options *options) {
  job *j = calloc(1, sizeof *j);
  if (!j) return NULL;
  j->backend = b;
  j->program = vyre_program_retain(program);
  j->options = *options;
  if (options->device) j->options.device = j->device = strdup(options->device);
  if (!options->device || j->device) return j;
  job_free(j);
  return NULL;
}

static void run(void *context, const volatile uint32_t *stop) {
  job *j = context;
  j->status = j->backend->compile(j->backend, j->program, &j->options, stop, &j->state, &j->error);
}

static void discard(void *context) {
  job *j = context;
  if (j->status == VYRE_OK) j->backend->release(j->state);
  job_free(j);
}

static const limited_work compiling = {.run = run, .discard = discard};

vyre_status limited_compile(const backend *b, vyre_program *program,
                            const vyre_compile_options *options, void **state, vyre_error *error) {
  static const volatile uint32_t never = 0;
  uint64_t deadline_ns;
  if (!options->timeout_ns ||
      __builtin_add_overflow(clock_now_ns(), options->timeout_ns, &deadline_ns))
    return b->compile(b, program, options, &never, state, error);
  job *j = job_new(b, program, options);
  if (!j) return error_out_of_memory(error);
  limited_end end = limited_run(&compiling, j, deadline_ns);
  if (end == LIMITED_LATE) return launch_compiling_error(program, error);
  vyre_status status = end == LIMITED_DONE ? j->status : launch_thread_error(error);
  if (status == VYRE_OK) *state = j->state;
  if (end == LIMITED_DONE && status != VYRE_OK && error) *error = j->error;
  job_free(j);
  return status;
}
