// SPDX-License-Identifier: MIT
#include "backend/vulkan/forms.h"

#include "backend/vulkan/emit.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/process.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static vyre_status emit_code(vyre_program *program, const backend_form_options *o, char **text,
                             size_t *size, vyre_error *error) {
  uint32_t *code;
  size_t words = 0;
  vyre_status status =
      vulkan_emit_module(program, &vulkan_full_target, o->is_polled, &code, &words, error);
  if (status != VYRE_OK) return status;
  *text = (char *)code;
  *size = words * sizeof *code;
  return VYRE_OK;
}

static vyre_status disassemble(const char *from, const char *to, char **text, size_t *size,
                               vyre_error *error) {
  const char *const argv[] = {"spirv-dis", "--no-header", "-o", to, from, NULL};
  if (process_run(argv)) return file_read(to, (size_t)1 << 30, text, size, error);
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "spirv-dis wrote no text. Fix: install spirv-tools, or use --emit=spirv");
}

// As spirv-dis of SPIRV-Tools prints it: what others read and write.
static vyre_status emit_text(vyre_program *program, const backend_form_options *o, char **text,
                             size_t *size, vyre_error *error) {
  const char *base = environment_get("TMPDIR");
  char folder[3000], from[3100], to[3100], *code = NULL;
  size_t bytes = 0;
  if (!process_exists("spirv-dis"))
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "there is no spirv-dis on the PATH, which writes SPIR-V as text. Fix: install "
                     "spirv-tools, or use --emit=spirv");
  vyre_status status = emit_code(program, o, &code, &bytes, error);
  if (status != VYRE_OK) return status;
  format_text(folder, sizeof folder, "%.2900s/vyre-spirv-XXXXXX", base ? base : "/tmp");
  if (mkdtemp(folder)) {
    format_text(from, sizeof from, "%s/module.spv", folder);
    format_text(to, sizeof to, "%s/module.txt", folder);
    status = file_replace(from, code, bytes, error);
    if (status == VYRE_OK) status = disassemble(from, to, text, size, error);
    unlink(from);
    unlink(to);
    rmdir(folder);
  } else {
    status = error_set(error, VYRE_ERROR_IO, "no folder `%.200s`: %s. Fix: set TMPDIR", folder,
                       format_errno(errno));
  }
  free(code);
  return status;
}

const backend_form vulkan_forms[] = {
    {"spirv", ".spv", "the SPIR-V that a driver gets, for a device that has everything", false,
     emit_code},
    {"spirv-text", ".spvasm", "the same as text, by spirv-dis", false, emit_text},
    {0},
};
