// SPDX-License-Identifier: MIT
//
// The charts of the report's page, each a figure with a caption; nothing is drawn where there is
// nothing to show. Marks carry their values as attributes (data-ns, ...), so that the page can be
// compared with the store. One thread.
#ifndef VYRE_CLI_REPORT_CHARTS_H
#define VYRE_CLI_REPORT_CHARTS_H

#include "base/strbuf.h"
#include "cli/report_data.h"

void report_chart_regions(strbuf *out, const report_program *p);
void report_chart_sizes(strbuf *out, const report_program *p);
void report_chart_spread(strbuf *out, const report_program *p);
void report_chart_decisions(strbuf *out, const report_program *p, int64_t now);
void report_chart_roofline(strbuf *out, const report_data *d);
void report_chart_bandwidth(strbuf *out, const report_data *d);
void report_chart_search(strbuf *out, const report_search *s);

// The colour of the backend that a variant's name begins with: of class "b0" and so on.
enum { REPORT_COLORS = 7 };
int report_backend_color(const char *variant);
// "64 KiB": what a size class begins with.
const char *report_size(uint32_t size_class, char *out); // `out` has SHOW_TEXT bytes

#endif
