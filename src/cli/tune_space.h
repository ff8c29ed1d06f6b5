// SPDX-License-Identifier: MIT
//
// `vyre tune` over a space: configurations are compiled, compared with what a plain compile of the
// same configuration gives, and timed, in the order that a search asks for. One thread.
#ifndef VYRE_CLI_TUNE_SPACE_H
#define VYRE_CLI_TUNE_SPACE_H

#include "cli/measure.h"
#include "cli/tunables.h"
#include "cli/tune_replay.h"

typedef struct tune_space_request {
  measure *m;
  const tune_search *how;
  const tunables *tunables;
  const char *workgroup; // extents, maybe with braces; NULL: as the kernel says
  tunables_source source;
  bool again; // measure everything again
} tune_space_request;

vyre_status tune_space(const tune_space_request *r, vyre_error *error);

#endif
