// SPDX-License-Identifier: MIT
//
// Charts as SVG in a text: a frame with axes whose numbers are round, and marks placed by value.
// Colours and fonts are classes that the page's style sheet gives a meaning, so that one drawing is
// right in light, in dark and on paper. Numbers are written whatever the locale. One thread.
#ifndef VYRE_CLI_CHART_H
#define VYRE_CLI_CHART_H

#include "base/strbuf.h"

#include <stdint.h>

// For people, in text and attributes of HTML.
void chart_escape(strbuf *out, const char *text);

typedef struct chart_axis {
  double low, high; // of the values; both above 0 when is_log
  bool is_log;
  double begin, end; // where they are drawn
} chart_axis;

// Wide enough for values from low to high, at ends that are easy to read.
chart_axis chart_axis_make(double low, double high, bool is_log, double begin, double end);
double chart_at(const chart_axis *a, double value);

typedef const char *chart_label(double value, char *out); // `out` has SHOW_TEXT bytes

enum { CHART_WIDTH = 360 };
void chart_begin(strbuf *out, double height, const char *title);
void chart_end(strbuf *out);
// Lines and numbers along an axis, at the left and below; `from` and `to` are the ends of the
// lines.
void chart_ticks_x(strbuf *out, const chart_axis *a, double from, double to, chart_label *label);
void chart_ticks_y(strbuf *out, const chart_axis *a, double from, double to, chart_label *label);
void chart_text(strbuf *out, double x, double y, const char *class_name, const char *text);

#endif
