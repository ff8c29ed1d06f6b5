// SPDX-License-Identifier: MIT
//
// The machine of analysis/word.h that emits code: words are i64, truths i1, built by a scalar
// emitter where it stands. One thread, as all that emits.
#ifndef VYRE_BACKEND_CPU_CODEGEN_GUARD_MACHINE_H
#define VYRE_BACKEND_CPU_CODEGEN_GUARD_MACHINE_H

#include "analysis/word.h"
#include "backend/cpu/codegen/emit.h"

machine machine_emitting(emitter *e);

// A value that is somewhere in least..most, as signed numbers; known where it is a constant.
word word_of(const machine *m, llval value, int64_t least, int64_t most);
llval word_value(const machine *m, word x);

#endif
