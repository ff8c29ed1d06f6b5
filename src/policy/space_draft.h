// SPDX-License-Identifier: MIT
//
// Where the parameters of a space come from: words such as NAME=V1,V2, declarations in a source
// (front/declared.h), or the tunables of a program. Constraints wait until all parameters are
// known. Whoever begins a draft ends it; the space is the caller's. One thread at a time.
#ifndef VYRE_POLICY_SPACE_DRAFT_H
#define VYRE_POLICY_SPACE_DRAFT_H

#include "base/vec.h"
#include "front/declared.h"
#include "policy/space.h"

typedef struct space_draft {
  space *space;
  vec(text_piece) wheres;      // borrowed
  const vyre_program *program; // whose own conditions hold, too; NULL: there is none
  vyre_error *error;
} space_draft;

vyre_status space_draft_given(space_draft *d, const char *given); // NAME=V1,V2
vyre_status space_draft_where(space_draft *d, text_piece where);
vyre_status space_draft_source(space_draft *d, const char *text, size_t size);
vyre_status space_draft_program(space_draft *d, const vyre_program *program);
bool space_draft_is_name(text_piece name);

// Enumerates the space, and ends the draft in any case.
vyre_status space_draft_finish(space_draft *d);
void space_draft_fini(space_draft *d);

// The space of what a program declares itself: its tunables, or those of the source that it was
// made from. An empty one, without an error, when it declares none.
vyre_status space_of_program(const vyre_program *program, space *out, vyre_error *error);

#endif
