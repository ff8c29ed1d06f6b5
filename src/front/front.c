// SPDX-License-Identifier: MIT
#include "front/front.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "base/module.h"
#include "ir/limits.h"

#include <string.h>

// clang has locks of its own, which a child of fork() must not find taken: with VYRE_OK they are
// held, until fork_let_go.
static vyre_status open_front(const char *text, size_t size, const char *name, front_source *source,
                              const front_module **module, vyre_error *error) {
  if (!text && size)
    return error_set(error, VYRE_ERROR_ARGUMENT, "there is no text. Fix: pass the source");
  if (size > LIMIT_SOURCE_BYTES)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "the source has %zu bytes, at most %zu are read. Fix: split it", size,
                     LIMIT_SOURCE_BYTES);
  if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) text += 3, size -= 3; // the mark of UTF-8
  *source = (front_source){text, size, name && *name ? name : "<text>"};
  const void *table;
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

static bool are_locals_given(const vyre_opencl_options *o) {
  if (o->local_count && !o->locals) return false;
  for (uint32_t i = 0; i < o->local_count; i++)
    if (!o->locals[i].name) return false;
  return true;
}

vyre_status vyre_program_from_opencl(const char *text, size_t size, const char *name,
                                     const vyre_opencl_options *options, vyre_program **out,
                                     vyre_error *error) {
  FPENV_SCOPE;
  if (!out) return error_set(error, VYRE_ERROR_ARGUMENT, "`out` is NULL. Fix: pass a place");
  *out = NULL;
  if (options && !are_locals_given(options))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "a local array of the options is NULL. Fix: pass as many names and sizes as "
                     "local_count says");
  front_source source;
  const front_module *module = NULL;
  vyre_status status = open_front(text, size, name, &source, &module, error);
  if (status != VYRE_OK) return status;
  static const vyre_opencl_options none = {0};
  status = module->program(&source, options ? options : &none, out, error);
  fork_let_go();
  return status;
}

vyre_status vyre_opencl_kernels(const char *text, size_t size, const char *name,
                                const char *build_options, vyre_opencl_kernel **out,
                                uint32_t *count, vyre_error *error) {
  FPENV_SCOPE;
  if (!out || !count)
    return error_set(error, VYRE_ERROR_ARGUMENT, "`out` or `count` is NULL. Fix: pass places");
  *out = NULL;
  *count = 0;
  front_source source;
  const front_module *module = NULL;
  vyre_status status = open_front(text, size, name, &source, &module, error);
  if (status != VYRE_OK) return status;
  status = module->kernels(&source, build_options ? build_options : "", out, count, error);
  fork_let_go();
  return status;
}
