// SPDX-License-Identifier: MIT
//
// The page of `vyre report`: one HTML text with everything in it, style sheet, drawings and the
// figures as JSON; no script. One thread.
#ifndef VYRE_CLI_REPORT_PAGE_H
#define VYRE_CLI_REPORT_PAGE_H

#include "base/strbuf.h"
#include "cli/report_data.h"

void report_page(strbuf *out, const report_data *d, int64_t now);

#endif
