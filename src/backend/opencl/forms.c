// SPDX-License-Identifier: MIT
#include "backend/opencl/forms.h"

#include "backend/opencl/emit.h"
#include "ir/math.h"

static vyre_status emit_source(vyre_program *program, const backend_form_options *o, char **text,
                               size_t *size, vyre_error *error) {
  vyre_program *expanded = NULL;
  opencl_source source = {0};
  vyre_status status = math_expand(program, &expanded, error);
  if (status == VYRE_OK)
    status = opencl_emit(expanded, &opencl_full_target, o->is_polled, &source, error);
  if (status == VYRE_OK) {
    *text = source.text;
    *size = source.size;
    source.text = NULL;
    opencl_source_fini(&source);
  }
  vyre_program_release(expanded);
  return status;
}

const backend_form opencl_forms[] = {
    {"opencl", ".cl", "the OpenCL C that a driver gets, for a device that has everything", false,
     emit_source},
    {0},
};
