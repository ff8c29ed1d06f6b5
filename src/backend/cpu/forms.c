// SPDX-License-Identifier: MIT
#include "backend/cpu/forms.h"

#include "backend/cpu/compile.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// The options that ask the generator for a text, and where the text is then.
typedef enum cpu_form { FORM_LLVM, FORM_ASSEMBLY, FORM_REMARKS } cpu_form;

static char **text_of(cpu_code *code, cpu_form form) {
  switch (form) {
  case FORM_LLVM: return &code->llvm;
  case FORM_ASSEMBLY: return &code->assembly;
  case FORM_REMARKS: return &code->remarks;
  }
  VYRE_BUG("backend/cpu/forms", "form %d", (int)form);
}

static vyre_status generate(vyre_program *program, cpu_form form, const backend_form_options *o,
                            char **text, size_t *size, vyre_error *error) {
  cpu_options options = {.width = o->vector_width,
                         .tier = o->tier,
                         .want_llvm = form == FORM_LLVM,
                         .want_asm = form == FORM_ASSEMBLY,
                         .debug_lines = o->has_lines,
                         .source_name = o->source_name};
  cpu_code code = {0};
  vyre_status status = cpu_options_here(&options, error);
  if (status == VYRE_OK) status = cpu_generate(program, &options, &code, error);
  if (status == VYRE_OK) {
    char **made = text_of(&code, form);
    *text = *made ? *made : strdup("");
    *made = NULL;
    if (!*text) status = error_out_of_memory(error);
  }
  if (status == VYRE_OK) *size = strlen(*text);
  cpu_code_free(&code);
  return status;
}

static vyre_status emit_llvm(vyre_program *program, const backend_form_options *o, char **text,
                             size_t *size, vyre_error *error) {
  return generate(program, FORM_LLVM, o, text, size, error);
}

static vyre_status emit_assembly(vyre_program *program, const backend_form_options *o, char **text,
                                 size_t *size, vyre_error *error) {
  return generate(program, FORM_ASSEMBLY, o, text, size, error);
}

static vyre_status emit_remarks(vyre_program *program, const backend_form_options *o, char **text,
                                size_t *size, vyre_error *error) {
  return generate(program, FORM_REMARKS, o, text, size, error);
}

const backend_form cpu_forms[] = {
    {"llvm", ".ll", "the LLVM IR that the cpu backend makes for this machine", false, emit_llvm},
    {"asm", ".s", "this machine's assembly of the same", false, emit_assembly},
    {"remarks", ".txt", "what the cpu backend did with each region, and declined, and why", true,
     emit_remarks},
    {0},
};
