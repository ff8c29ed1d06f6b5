// SPDX-License-Identifier: MIT
//
// What the optimizer decided and did, as tables and as JSON. Reads only. One thread.
#ifndef VYRE_CLI_OPT_REPORT_H
#define VYRE_CLI_OPT_REPORT_H

#include "policy/optimize.h"

#include <jansson.h>

// `before` is the program that came in; `everything` says that selection was overruled.
void opt_report_show(const vyre_program *before, const optimize_result *result, bool everything);
json_t *opt_report_json(const vyre_program *before, const optimize_result *result);

// The pass table.
void opt_list_show(void);
json_t *opt_list_json(void);

#endif
