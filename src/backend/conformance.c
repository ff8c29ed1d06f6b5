// SPDX-License-Identifier: MIT
#include "backend/conformance.h"

#include "backend/outside.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/paths.h"
#include "base/toml.h"
#include "base/warning.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILE = 1 << 22, FORMAT_VERSION = 1 };

static char *file_path(const char *adapter, vyre_error *error) {
  char name[300];
  snprintf(name, sizeof name, "conform/%s.toml", adapter);
  return path_state(name, error);
}

// ---- reading ------------------------------------------------------------------------------------

static vyre_status bad_file(const char *path, const toml_value *at, const char *what,
                            vyre_error *error) {
  error_set(error, VYRE_ERROR_IO, "%s:%u: %s. Fix: run `vyre conform` again, or remove the file",
            path, at ? at->line : 1, what);
  return VYRE_ERROR_IO;
}

static vyre_status read_failure(const char *path, const toml_value *v, conformance_failure *out,
                                vyre_error *error) {
  if (v->kind != TOML_TABLE) return bad_file(path, v, "a failure is no table", error);
  const char *row = toml_get_string(toml_find(v->table, "row"));
  const char *any = toml_get_string(toml_find(v->table, "any"));
  const char *all = toml_get_string(toml_find(v->table, "all"));
  const char *detail = toml_get_string(toml_find(v->table, "detail"));
  if (!row || !any == !all)
    return bad_file(path, v, "a failure needs `row` and one of `any`, `all`", error);
  *out = (conformance_failure){.needs_all = all != NULL};
  snprintf(out->row, sizeof out->row, "%s", row);
  snprintf(out->detail, sizeof out->detail, "%s", detail ? detail : "");
  if (features_parse(any ? any : all, VYRE_VOID, &out->needs)) return VYRE_OK;
  return bad_file(path, v, "a feature has an unknown name", error);
}

static vyre_status read_table(const char *path, const toml_table *root, conformance_failure **out,
                              uint32_t *count, vyre_error *error) {
  uint64_t version = 0;
  const toml_value *failed = toml_find(root, "failed");
  if (!toml_get_u64(toml_find(root, "version"), &version) || version != FORMAT_VERSION)
    return bad_file(path, NULL, "the version is not 1", error);
  if (!failed) return VYRE_OK;
  if (failed->kind != TOML_ARRAY) return bad_file(path, failed, "`failed` is no array", error);
  *out = calloc(failed->array.count + 1, sizeof **out);
  if (!*out) return error_out_of_memory(error);
  for (size_t i = 0; i < failed->array.count; i++) {
    vyre_status status = read_failure(path, failed->array.items[i], &(*out)[i], error);
    if (status != VYRE_OK) {
      free(*out);
      *out = NULL;
      return status;
    }
  }
  *count = (uint32_t)failed->array.count;
  return VYRE_OK;
}

vyre_status conformance_load(const char *adapter, conformance_failure **out, uint32_t *count,
                             vyre_error *error) {
  vyre_error why;
  char *path = file_path(adapter, &why), *text = NULL;
  size_t size;
  *out = NULL;
  *count = 0;
  if (!path) { // nothing can have been recorded
    warning_add(&why);
    return VYRE_OK;
  }
  if (access(path, F_OK)) {
    free(path);
    return VYRE_OK;
  }
  arena memory = ARENA_INIT;
  toml_table *root;
  vyre_status status = file_read_own(path, MAX_FILE, &text, &size, error);
  if (status == VYRE_OK) status = toml_parse(&memory, text, size, path, NULL, NULL, &root, error);
  if (status == VYRE_OK) status = read_table(path, root, out, count, error);
  arena_free(&memory);
  free(text);
  free(path);
  return status;
}

bool conformance_allows(const char *adapter, const vyre_program *program, vyre_error *error) {
  conformance_failure *failures;
  uint32_t count;
  features has;
  bool allows = true;
  // A damaged file costs nothing but what it knew: results are compared before they are believed.
  if (conformance_load(adapter, &failures, &count, NULL) != VYRE_OK) return true;
  if (count) features_of(program, &has);
  for (uint32_t i = 0; i < count && allows; i++) {
    const conformance_failure *f = &failures[i];
    allows = !(f->needs_all ? features_contain(&has, &f->needs) : features_meet(&has, &f->needs));
    if (!allows)
      error_set(error, VYRE_ERROR_UNSUPPORTED,
                "%s failed `%s` of `vyre conform`, which program `%s` needs: %s. Fix: update the "
                "driver and run `vyre conform` again",
                adapter, f->row, program->name, f->detail);
  }
  free(failures);
  return allows;
}

bool conformance_allows_backend(const char *id, const vyre_program *program, vyre_error *error) {
  enum { MAX_DEVICES = 16 };
  vyre_device devices[MAX_DEVICES];
  uint32_t count = 0;
  if (backend_is_oracle(id)) return true;
  const backend *b = backend_find(id);
  if (b && !outside_is_examined(b)) {
    error_set(error, VYRE_ERROR_UNSUPPORTED,
              "backend `%s` was not compared with the reference. Fix: call vyre_backend_examine",
              id);
    return false;
  }
  // A backend without devices says so itself, when it is asked to compile.
  if (vyre_backend_devices(id, devices, MAX_DEVICES, &count, NULL) != VYRE_OK) return true;
  for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++)
    if (!devices[i].unusable[0]) return conformance_allows(devices[i].adapter, program, error);
  return true;
}

// ---- writing ------------------------------------------------------------------------------------

static void print_failure(const conformance_failure *f, strbuf *out) {
  strbuf names = {0};
  features_print(&f->needs, &names);
  strbuf_putc(&names, 0);
  strbuf_puts(out, "\n[[failed]]\nrow = ");
  toml_write_string(out, f->row);
  strbuf_printf(out, "\n%s = ", f->needs_all ? "all" : "any");
  toml_write_string(out, names.at ? names.at : "");
  strbuf_puts(out, "\ndetail = ");
  toml_write_string(out, f->detail);
  strbuf_putc(out, '\n');
  out->failed |= names.failed;
  strbuf_fini(&names);
}

vyre_status conformance_record(const char *adapter, const conformance_failure *failures,
                               uint32_t count, vyre_error *error) {
  char *path = file_path(adapter, error);
  if (!path) return VYRE_ERROR_IO;
  vyre_status status = VYRE_OK;
  if (!count) {
    if (unlink(path) && errno != ENOENT)
      status = error_set(error, VYRE_ERROR_IO, "%s cannot be removed: %s. Fix: remove it", path,
                         format_errno(errno));
    free(path);
    return status;
  }
  strbuf out = {0};
  strbuf_puts(&out, "# What `vyre conform` found wrong with this device.\n");
  strbuf_printf(&out, "version = %d\n", FORMAT_VERSION);
  for (uint32_t i = 0; i < count; i++) print_failure(&failures[i], &out);
  if (out.failed) status = error_out_of_memory(error);
  if (status == VYRE_OK) status = file_make_parents(path, error);
  if (status == VYRE_OK) status = file_replace_own(path, out.at, out.size, error);
  strbuf_fini(&out);
  free(path);
  return status;
}
