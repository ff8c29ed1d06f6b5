// SPDX-License-Identifier: MIT
#include "cli/chart.h"

#include "base/format.h"
#include "cli/show.h"

#include <math.h>
#include <string.h>

void chart_escape(strbuf *out, const char *text) {
  for (; *text; text++) switch (*text) {
    case '<': strbuf_puts(out, "&lt;"); break;
    case '>': strbuf_puts(out, "&gt;"); break;
    case '&': strbuf_puts(out, "&amp;"); break;
    case '"': strbuf_puts(out, "&quot;"); break;
    default: strbuf_putc(out, *text);
    }
}

// 1, 2 or 5 times a power of ten.
static double round_step(double step) {
  double ten = pow(10, floor(log10(step)));
  double part = step / ten;
  return ten * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

chart_axis chart_axis_make(double low, double high, bool is_log, double begin, double end) {
  chart_axis a = {low, high, is_log, begin, end};
  if (is_log) {
    a.low = pow(10, floor(log10(low) + 1e-9));
    a.high = pow(10, ceil(log10(high) - 1e-9));
    if (a.high <= a.low) a.high = a.low * 10;
    // Half of a power of ten that nothing is in is left out.
    if (low > a.low * 3) a.low *= 3;
    if (high < a.high / 3) a.high /= 3;
  } else {
    double step = round_step((high > low ? high - low : high > 0 ? high : 1) / 4);
    a.low = floor(low / step) * step;
    a.high = ceil(high / step) * step;
    if (a.high <= a.low) a.high = a.low + step;
  }
  return a;
}

double chart_at(const chart_axis *a, double value) {
  double part = a->is_log ? (log(value) - log(a->low)) / (log(a->high) - log(a->low))
                          : (value - a->low) / (a->high - a->low);
  return a->begin + part * (a->end - a->begin);
}

void chart_begin(strbuf *out, double height, const char *title) {
  strbuf_printf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", CHART_WIDTH,
                height);
  chart_escape(out, title);
  strbuf_puts(out, "\">\n");
}

void chart_end(strbuf *out) {
  strbuf_puts(out, "</svg>\n");
}

void chart_text(strbuf *out, double x, double y, const char *class_name, const char *text) {
  strbuf_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class_name, x, y);
  chart_escape(out, text);
  strbuf_puts(out, "</text>\n");
}

// The next place for a number; INFINITY behind the last.
static double next_tick(const chart_axis *a, double tick) {
  if (!a->is_log) {
    double step = round_step((a->high - a->low) / 4);
    double next = isnan(tick) ? ceil(a->low / step - 1e-9) * step + 0.0 : tick + step;
    return next <= a->high + step * 1e-6 ? next : INFINITY;
  }
  int skip = (int)(log10(a->high / a->low) / 6) + 1;
  double next = isnan(tick) ? pow(10, ceil(log10(a->low) - 1e-9)) : tick * pow(10, skip);
  return next <= a->high * 1.000001 ? next : INFINITY;
}

void chart_ticks_x(strbuf *out, const chart_axis *a, double from, double to, chart_label *label) {
  char text[SHOW_TEXT];
  for (double t = next_tick(a, NAN); t < INFINITY; t = next_tick(a, t)) {
    double x = chart_at(a, t);
    strbuf_printf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                  x, x, from, to);
    bool is_first = x<22, is_last = x> CHART_WIDTH - 34;
    chart_text(out, x, to + 14,
               is_first  ? "tick"
               : is_last ? "tick right"
                         : "tick middle",
               label(t, text));
  }
}

void chart_ticks_y(strbuf *out, const chart_axis *a, double from, double to, chart_label *label) {
  char text[SHOW_TEXT];
  for (double t = next_tick(a, NAN); t < INFINITY; t = next_tick(a, t)) {
    double y = chart_at(a, t);
    strbuf_printf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                  from, to, y, y);
    chart_text(out, from - 6, y + 4, "tick right", label(t, text));
  }
}
