// SPDX-License-Identifier: MIT
#include "opt/specialise.h"

#include "opt/rewrite.h"

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
  known_arguments known = {params, lengths};
  return rewrite_whole(program, body, &known, out, error);
}
