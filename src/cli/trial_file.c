// SPDX-License-Identifier: MIT
#include "cli/trial_file.h"

#include "backend/backend.h"
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cli/load.h"
#include "cli/npy.h"
#include "cli/number.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 1024 };

static const char *in_folder(const char *folder, const char *name, const char *ending,
                             char out[PATH]) {
  snprintf(out, PATH, "%s/%s%s", folder, name, ending);
  return out;
}

// ---- saving -------------------------------------------------------------------------------------

static vyre_status save_program(const trial *t, const char *folder, vyre_error *error) {
  char *text, path[PATH];
  size_t size;
  vyre_status status = vyre_program_print(t->program, &text, &size, error);
  if (status != VYRE_OK) return status;
  status = file_make_parents(in_folder(folder, "program", ".vyre", path), error);
  if (status == VYRE_OK) status = file_replace(path, text, size, error);
  vyre_free(text);
  return status;
}

static vyre_status save_buffers(const trial *t, const char *folder, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0, bound = 0; i < vyre_program_buffer_count(t->program); i++) {
    vyre_buffer_info b = vyre_program_buffer(t->program, i);
    if (b.is_transient || status != VYRE_OK) continue;
    const vyre_span *span = &t->buffers[bound++];
    char path[PATH];
    uint64_t count = span->size_bytes / vyre_type_size(b.type);
    status =
        npy_write(in_folder(folder, b.name, ".npy", path), b.type, 1, &count, span->data, error);
  }
  return status;
}

static vyre_status save_text(const char *path, strbuf *text, vyre_error *error) {
  vyre_status status =
      text->failed ? error_out_of_memory(error) : file_replace(path, text->at, text->size, error);
  strbuf_fini(text);
  return status;
}

static vyre_status save_json(const trial *t, const char *folder, vyre_error *error) {
  strbuf out = {0};
  char path[PATH];
  strbuf_puts(&out, "{\n  \"params\": {");
  for (uint32_t i = 0; i < t->param_count; i++)
    strbuf_printf(&out, "%s\"%s\": \"0x%" PRIx64 "\"", i ? ", " : "",
                  vyre_program_param(t->program, i).name, t->params[i].bits);
  strbuf_printf(&out, "},\n  \"workgroup\": [%u, %u, %u]\n}\n", t->workgroup[0], t->workgroup[1],
                t->workgroup[2]);
  return save_text(in_folder(folder, "trial", ".json", path), &out, error);
}

static vyre_status save_command(const trial *t, const char *folder, const char *backend,
                                const char *note, vyre_error *error) {
  strbuf out = {0};
  char path[PATH];
  strbuf_printf(&out, "# %s\nvyre conform --backend %s --replay %s\n", note, backend, folder);
  strbuf_puts(&out, "# what it computes there, and what is right:\n");
  for (int which = 0; which < 2; which++) {
    strbuf_printf(&out, "vyre run %s/program.vyre --backend %s", folder,
                  which ? backend_oracle()->id : backend);
    for (uint32_t i = 0; i < t->param_count; i++) {
      char number[NUMBER_TEXT];
      number_show(t->params[i].type, t->params[i].bits, number);
      strbuf_printf(&out, " %s=%s", vyre_program_param(t->program, i).name, number);
    }
    for (uint32_t i = 0; i < vyre_program_buffer_count(t->program); i++) {
      vyre_buffer_info b = vyre_program_buffer(t->program, i);
      if (!b.is_transient) strbuf_printf(&out, " %s=@%s/%s.npy", b.name, folder, b.name);
      if (!b.is_transient && b.access != VYRE_READ) strbuf_printf(&out, " --print %s", b.name);
    }
    strbuf_putc(&out, '\n');
  }
  return save_text(in_folder(folder, "command", "", path), &out, error);
}

vyre_status trial_save(const trial *t, const char *folder, const char *backend, const char *note,
                       vyre_error *error) {
  vyre_status status = save_program(t, folder, error);
  if (status == VYRE_OK) status = save_buffers(t, folder, error);
  if (status == VYRE_OK) status = save_json(t, folder, error);
  if (status == VYRE_OK) status = save_command(t, folder, backend, note, error);
  return status;
}

// ---- loading ------------------------------------------------------------------------------------

static vyre_status bad_json(const char *path, const char *what, vyre_error *error) {
  return error_set(error, VYRE_ERROR_IO, "%s: %s. Fix: name a folder that `vyre conform` wrote",
                   path, what);
}

static vyre_status load_params(const char *path, const json_t *root, trial *t, vyre_error *error) {
  const json_t *params = json_object_get(root, "params");
  t->param_count = vyre_program_param_count(t->program);
  t->params = calloc(t->param_count + 1u, sizeof *t->params);
  if (!t->params) return error_out_of_memory(error);
  for (uint32_t i = 0; i < t->param_count; i++) {
    vyre_param_info p = vyre_program_param(t->program, i);
    const char *text = json_string_value(json_object_get(params, p.name)), *end;
    uint64_t bits;
    if (!text || !number_read_u64(text, &end, &bits) || *end)
      return bad_json(path, "a parameter is missing or is no number", error);
    t->params[i] = (vyre_scalar){p.type, bits};
  }
  const json_t *shape = json_object_get(root, "workgroup");
  for (size_t k = 0; k < 3; k++)
    t->workgroup[k] = (uint32_t)json_integer_value(json_array_get(shape, k));
  return VYRE_OK;
}

static vyre_status load_buffers(const char *folder, trial *t, vyre_error *error) {
  uint32_t count = vyre_program_buffer_count(t->program);
  t->buffers = calloc(count + 1u, sizeof *t->buffers);
  if (!t->buffers) return error_out_of_memory(error);
  for (uint32_t i = 0; i < count; i++) {
    vyre_buffer_info b = vyre_program_buffer(t->program, i);
    char path[PATH];
    npy_array array;
    if (b.is_transient) continue;
    vyre_status status = npy_read(in_folder(folder, b.name, ".npy", path), &array, error);
    if (status != VYRE_OK) return status;
    size_t size = array.count * vyre_type_size(b.type);
    void *data = array.type == b.type ? malloc(size + 1) : NULL;
    if (data) memcpy(data, array.data, size);
    npy_free(&array);
    if (!data) return bad_json(path, "it does not have the buffer's type", error);
    t->buffers[t->buffer_count++] = (vyre_span){data, size};
  }
  return VYRE_OK;
}

vyre_status trial_load(const char *folder, trial *out, vyre_error *error) {
  char path[PATH];
  loaded l;
  json_error_t why;
  *out = (trial){0};
  vyre_status status = load_program(in_folder(folder, "program", ".vyre", path), NULL, &l, error);
  if (status != VYRE_OK) return status;
  out->program = vyre_program_retain(l.program);
  load_free(&l);
  json_t *root = json_load_file(in_folder(folder, "trial", ".json", path), 0, &why);
  status = root ? load_params(path, root, out, error) : bad_json(path, why.text, error);
  json_decref(root);
  if (status == VYRE_OK) status = load_buffers(folder, out, error);
  if (status != VYRE_OK) trial_fini(out);
  return status;
}
