// SPDX-License-Identifier: MIT
#include "opt/specialise.h"

#include "base/error.h"
#include "opt/rewrite.h"

#include <string.h>

typedef struct known_arguments {
  const uint64_t *params, *lengths;
} known_arguments;

static void visit(rewriter *rw, uint32_t index) {
  const known_arguments *known = rw->context;
  const inst *in = &rw->from->code[index];
  if (in->op == VYRE_OP_PARAM)
    rewrite_replace(rw, index,
                    vyre_build_const(rw->to, (vyre_type)in->type, known->params[in->arg[0]]));
  else if (in->op == VYRE_OP_LEN)
    rewrite_replace(rw, index, vyre_build_const(rw->to, VYRE_U32, known->lengths[in->arg[0]]));
  else
    rewrite_keep(rw, index);
}

static bool body(rewriter *rw) {
  return rewrite_each(rw, visit);
}

vyre_status specialise_program(vyre_program *program, const uint64_t *params,
                               const uint64_t *lengths, vyre_program **out, vyre_error *error) {
  arena scratch = ARENA_INIT;
  known_arguments known = {params, lengths};
  *out = NULL;
  bool *all = arena_alloc_array(&scratch, program->region_count, sizeof *all);
  vyre_status status = all ? VYRE_OK : error_out_of_memory(error);
  if (all) {
    memset(all, 1, program->region_count * sizeof *all);
    pass_run run = {.program = program, .selected = all, .scratch = &scratch};
    status = rewrite_program(&run, body, &known, out, error);
  }
  if (status == VYRE_OK && !*out) *out = vyre_program_retain(program);
  arena_free(&scratch);
  return status;
}
