// SPDX-License-Identifier: MIT
//
// Those who work together, and how they see each other's values: builtin_group.c has workgroups,
// builtin_subgroup.c subgroups, builtin_ballot.c their votes.
#ifndef VYRE_FRONT_CLANG_BUILTIN_TEAM_H
#define VYRE_FRONT_CLANG_BUILTIN_TEAM_H

#include "front/clang/builtin.h"

// The linear local ids of those who work together: from `first` until `end`.
typedef struct team {
  ref first, end;
} team;

uint32_t team_size(const lowering *l); // of a subgroup that is whole
team team_subgroup(lowering *l);
ref team_local_id(lowering *l, team t); // of the invocation among them

// Puts the value where the others find it, behind a barrier; another one ends the reading.
pointer team_share(lowering *l, ref v, const ctype *type, uint32_t offset);
ref team_read(lowering *l, pointer p, ref i, const ctype *type, uint32_t offset);

#endif
