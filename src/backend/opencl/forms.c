// SPDX-License-Identifier: MIT
#include "backend/opencl/forms.h"

#include "backend/opencl/emit.h"

static vyre_status emit_source(vyre_program *program, const backend_form_options *o, char **text,
                               size_t *size, vyre_error *error) {
  opencl_source source;
  vyre_status status = opencl_emit(program, &opencl_full_target, o->is_polled, &source, error);
  if (status != VYRE_OK) return status;
  *text = source.text;
  *size = source.size;
  source.text = NULL;
  opencl_source_fini(&source);
  return VYRE_OK;
}

const backend_form opencl_forms[] = {
    {"opencl", ".cl", "the OpenCL C that a driver gets, for a device that has everything", false,
     emit_source},
    {0},
};
