// SPDX-License-Identifier: MIT
#include "backend/opencl/build.h"

#include "backend/cache.h"
#include "backend/opencl/bugs.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- options ------------------------------------------------------------------------------------

static void choose_options(const opencl_device *d, const opencl_source *source, vyre_tier tier,
                           char *out, size_t size) {
  int used = snprintf(out, size, "-cl-std=CL1.2 -w");
  if (d->target.rounds_f32_division)
    used += snprintf(out + used, size - (size_t)used, " -cl-fp32-correctly-rounded-divide-sqrt");
  if (tier == VYRE_TIER_QUICK)
    used += snprintf(out + used, size - (size_t)used, " -cl-opt-disable");
  for (int bug = 0; bug < BUG_COUNT; bug++)
    if (opencl_bug_is_option((opencl_bug)bug) && opencl_has_bug(d, (opencl_bug)bug) &&
        opencl_meets_bug(source, (opencl_bug)bug))
      used += snprintf(out + used, size - (size_t)used, " %s", opencl_bugs[bug].workaround);
}

// ---- the cache ----------------------------------------------------------------------------------

static void make_key(const opencl_device *d, const opencl_source *source, const char *options,
                     cache_key *key) {
  cache_key_init(key, "opencl");
  cache_key_add_string(key, d->platform_name);
  cache_key_add_string(key, d->platform_version);
  cache_key_add_string(key, d->name);
  cache_key_add_string(key, d->version);
  cache_key_add_string(key, d->driver);
  cache_key_add_string(key, options);
  cache_key_add(key, source->text, source->size);
}

static cl_program load_binary(const opencl_device *d, const cache_key *key, const char *options) {
  void *data;
  size_t size;
  if (!cache_load(key, &data, &size)) return NULL;
  const unsigned char *bytes = data;
  cl_int status = CL_SUCCESS, code = CL_SUCCESS;
  cl_program program =
      d->cl->CreateProgramWithBinary(d->context, 1, &d->id, &size, &bytes, &status, &code);
  free(data);
  if (!program) return NULL;
  if (code == CL_SUCCESS && status == CL_SUCCESS &&
      d->cl->BuildProgram(program, 1, &d->id, options, NULL, NULL) == CL_SUCCESS)
    return program;
  d->cl->ReleaseProgram(program); // a driver may refuse its own binary after an update
  return NULL;
}

static void store_binary(const opencl_device *d, cl_program program, const cache_key *key) {
  size_t size = 0;
  if (!cache_is_on()) return; // asking for a binary makes some drivers compile once more
  if (d->cl->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) ||
      size == 0)
    return;
  unsigned char *bytes = malloc(size);
  if (bytes &&
      d->cl->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) == CL_SUCCESS)
    cache_store(key, bytes, size);
  free(bytes);
}

// ---- the compiler -------------------------------------------------------------------------------

static vyre_status build_error(opencl_device *d, cl_program program, cl_int code,
                               vyre_error *error) {
  size_t size = 0;
  d->cl->GetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char *log = calloc(1, size + 1);
  if (log) d->cl->GetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  vyre_status status = opencl_device_error(d, error, code, "compile a program", log);
  free(log);
  return status;
}

static vyre_status build_source(opencl_device *d, const opencl_source *source, const char *options,
                                cl_program *out, vyre_error *error) {
  cl_int code = CL_SUCCESS;
  const char *text = source->text;
  cl_program program = d->cl->CreateProgramWithSource(d->context, 1, &text, &source->size, &code);
  if (!program) return opencl_device_error(d, error, code, "take a program", NULL);
  code = d->cl->BuildProgram(program, 1, &d->id, options, NULL, NULL);
  if (code == CL_SUCCESS) {
    *out = program;
    return VYRE_OK;
  }
  vyre_status status = build_error(d, program, code, error);
  d->cl->ReleaseProgram(program);
  return status;
}

vyre_status opencl_build_init(opencl_build *b, opencl_device *d, const vyre_program *program,
                              const opencl_build_how *how, vyre_error *error) {
  *b = (opencl_build){.is_polled = how->is_polled};
  vyre_status status = opencl_emit(program, &d->target, how->is_polled, &b->source, error);
  if (status != VYRE_OK) return status;
  char options[256];
  cache_key key;
  choose_options(d, &b->source, how->tier, options, sizeof options);
  make_key(d, &b->source, options, &key);
  b->program = load_binary(d, &key, options);
  b->was_cached = b->program != NULL;
  if (b->was_cached) return VYRE_OK;
  status = how->only_cached
               ? error_set(error, VYRE_ERROR_UNSUPPORTED,
                           "the program was not compiled for this device. Fix: compile it")
               : build_source(d, &b->source, options, &b->program, error);
  if (status == VYRE_OK)
    store_binary(d, b->program, &key);
  else
    opencl_source_fini(&b->source);
  return status;
}

void opencl_build_fini(opencl_build *b, const opencl_device *d) {
  if (b->program) d->cl->ReleaseProgram(b->program);
  opencl_source_fini(&b->source);
  b->program = NULL;
}
