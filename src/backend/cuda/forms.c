// SPDX-License-Identifier: MIT
#include "backend/cuda/forms.h"

#include "backend/cuda/codegen.h"
#include "backend/cuda/remarks.h"

static vyre_status emit_ptx(vyre_program *program, const backend_form_options *o, char **text,
                            size_t *size, vyre_error *error) {
  cuda_options options = {.is_polled = o->is_polled, .is_quick = o->tier == VYRE_TIER_QUICK};
  cuda_code code;
  vyre_status status = cuda_generate(program, &options, &code, error);
  if (status != VYRE_OK) return status;
  *text = code.ptx;
  *size = code.ptx_size;
  code.ptx = NULL;
  cuda_code_free(&code);
  return VYRE_OK;
}

const backend_form cuda_forms[] = {
    {"ptx", ".ptx", "the PTX that the cuda backend gives to every device", false, emit_ptx},
    {"ptx-remarks", ".txt",
     "registers, spills and occupancy of the same, where ptxas is on the PATH", true, cuda_remarks},
    {0},
};
