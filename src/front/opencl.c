// SPDX-License-Identifier: MIT
#include "front/opencl.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/module.h"
#include "ir/limits.h"

#include <string.h>

// Leaves out the mark of UTF-8, if there is one. clang has locks of its own, which a child of
// fork() must not find taken: with VYRE_OK they are held, until fork_let_go.
static vyre_status open_module(front_source *source, const front_module **module,
                               vyre_error *error) {
  if (source->size > LIMIT_SOURCE_BYTES)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "the source has %zu bytes, at most %zu are read. Fix: split it", source->size,
                     LIMIT_SOURCE_BYTES);
  if (source->size >= 3 && !memcmp(source->text, "\xef\xbb\xbf", 3)) {
    source->text += 3;
    source->size -= 3;
  }
  const void *table = NULL;
  vyre_status status = fork_hold(error);
  if (status != VYRE_OK) return status;
  status = module_find(FRONT_MODULE_FILE, FRONT_MODULE_SYMBOL, &table, error);
  if (status == VYRE_OK && (*module = table)->abi_version != FRONT_ABI_VERSION)
    status = error_set(error, VYRE_ERROR_BACKEND,
                       "%s is of another version. Fix: install the one that came with libvyre",
                       FRONT_MODULE_FILE);
  if (status != VYRE_OK) fork_let_go();
  return status;
}

static vyre_status make_program(const front_source *source, const vyre_source_options *options,
                                vyre_program **out, vyre_error *error) {
  front_source bare = *source;
  const front_module *module = NULL;
  vyre_status status = open_module(&bare, &module, error);
  if (status != VYRE_OK) return status;
  status = module->program(&bare, options, out, error);
  fork_let_go();
  return status;
}

static vyre_status visit_each(const front_source *source, const vyre_source_options *options,
                              front_visit *visit, void *data, vyre_error *error) {
  front_source bare = *source;
  const front_module *module = NULL;
  vyre_status status = open_module(&bare, &module, error);
  if (status != VYRE_OK) return status;
  status = module->each(&bare, options, visit, data, error);
  fork_let_go();
  return status;
}

static vyre_status list_entries(const front_source *source, const char *build_options,
                                vyre_source_entry **out, uint32_t *count, vyre_error *error) {
  front_source bare = *source;
  const front_module *module = NULL;
  vyre_status status = open_module(&bare, &module, error);
  if (status != VYRE_OK) return status;
  status = module->entries(&bare, build_options, out, count, error);
  fork_let_go();
  return status;
}

static vyre_status preprocess_source(const front_source *source, const char *build_options,
                                     char **out, size_t *size, vyre_error *error) {
  front_source bare = *source;
  const front_module *module = NULL;
  vyre_status status = open_module(&bare, &module, error);
  if (status != VYRE_OK) return status;
  status = module->preprocess(&bare, build_options, out, size, error);
  fork_let_go();
  return status;
}

const front_language opencl_language = {
    .info = {.name = "opencl", .title = "OpenCL C", .suffixes = ".cl", .has_launch = true},
    .first_byte = -1,
    .program = make_program,
    .each = visit_each,
    .entries = list_entries,
    .preprocess = preprocess_source,
};
