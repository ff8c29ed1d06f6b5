// SPDX-License-Identifier: MIT
//
// The roofline: a region can be no faster than what the machine computes, and no faster than what
// memory gives times the operations that it makes with each byte.
#include "base/format.h"
#include "cli/chart.h"
#include "cli/report_charts.h"
#include "cli/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LEFT = 64, RIGHT = CHART_WIDTH - 12, TOP = 10, BOTTOM = 220, MOST_POINTS = 16 };

typedef struct point {
  const char *op;
  const report_region *region;
  double per_byte, per_ns;
} point;

static const char *label_rate(double per_ns, char *out) {
  format_text(out, SHOW_TEXT, per_ns < 1 ? "%.2g G/s" : "%.0f G/s", per_ns);
  return out;
}

static const char *label_ratio(double per_byte, char *out) {
  format_text(out, SHOW_TEXT, "%.3g", per_byte);
  return out;
}

// What takes most time comes first.
static int by_time(const void *x, const void *y) {
  uint64_t a = ((const point *)x)->region->effort.total_ns;
  uint64_t b = ((const point *)y)->region->effort.total_ns;
  return a < b ? 1 : a > b ? -1 : 0;
}

// Regions with operations, bytes and time; *unknown counts the others that ran.
static uint32_t find_points(const report_data *d, point **out, uint32_t *unknown) {
  uint32_t count = 0, most = 0;
  for (size_t i = 0; i < d->programs.count; i++) most += d->programs.at[i].region_count;
  *out = calloc(most + 1u, sizeof **out);
  for (size_t i = 0; *out && i < d->programs.count; i++)
    for (uint32_t k = 0; k < d->programs.at[i].region_count; k++) {
      const report_region *r = &d->programs.at[i].regions[k];
      const store_effort_row *e = &r->effort;
      bool is_known = e->operations && e->bytes && e->total_ns;
      *unknown += !is_known;
      if (is_known)
        (*out)[count++] = (point){d->programs.at[i].op, r, (double)e->operations / (double)e->bytes,
                                  (double)e->operations / (double)e->total_ns};
    }
  if (count) qsort(*out, count, sizeof **out, by_time);
  return count;
}

static double roof_at(const report_data *d, double per_byte) {
  return fmin(d->machine_operations_per_ns, d->machine_bytes_per_ns * per_byte);
}

static void draw_roof(strbuf *out, const report_data *d, const chart_axis *x, const chart_axis *y,
                      double low, double high) {
  double ridge = d->machine_operations_per_ns / d->machine_bytes_per_ns;
  strbuf_printf(out, "<path class=\"cross\" fill=\"none\" d=\"M%.1f %.1f ", chart_at(x, low),
                chart_at(y, roof_at(d, low)));
  if (ridge > low && ridge < high)
    strbuf_printf(out, "L%.1f %.1f ", chart_at(x, ridge),
                  chart_at(y, d->machine_operations_per_ns));
  strbuf_printf(out, "L%.1f %.1f\"/>\n", chart_at(x, high), chart_at(y, roof_at(d, high)));
}

static void draw_point(strbuf *out, const report_data *d, const point *p, uint32_t number,
                       const chart_axis *x, const chart_axis *y) {
  const store_effort_row *e = &p->region->effort;
  double at_x = chart_at(x, p->per_byte), at_y = chart_at(y, p->per_ns);
  char rate[SHOW_TEXT], text[16];
  strbuf_printf(out,
                "<circle class=\"dot accent fill\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\" "
                "data-operations=\"%" PRIu64 "\" data-bytes=\"%" PRIu64
                "\" data-effort-ns=\"%" PRIu64 "\" data-effort-region=\"",
                at_x, at_y, e->operations, e->bytes, e->total_ns);
  chart_escape(out, p->region->name);
  strbuf_puts(out, "\"><title>");
  chart_escape(out, p->op);
  strbuf_printf(out, ": %s, %.3g operations per byte", label_rate(p->per_ns, rate), p->per_byte);
  if (d->machine_operations_per_ns > 0 && d->machine_bytes_per_ns > 0)
    strbuf_printf(out, ", %.0f %% of the roof there", 100 * p->per_ns / roof_at(d, p->per_byte));
  strbuf_puts(out, "</title></circle>\n");
  format_text(text, sizeof text, "%u", number);
  chart_text(out, at_x, at_y - 8, "note middle", text);
}

static void list_points(strbuf *out, const report_data *d, const point *all, uint32_t shown,
                        uint32_t unknown) {
  char rate[SHOW_TEXT];
  bool has_roof = d->machine_operations_per_ns > 0 && d->machine_bytes_per_ns > 0;
  strbuf_puts(out, "<p class=\"keys\">");
  for (uint32_t i = 0; i < shown; i++) {
    strbuf_printf(out, "<span>%u ", i + 1);
    chart_escape(out, all[i].op);
    strbuf_puts(out, " / ");
    chart_escape(out, all[i].region->name);
    strbuf_printf(out, ", %s", label_rate(all[i].per_ns, rate));
    if (has_roof)
      strbuf_printf(out, ", %.0f %%", 100 * all[i].per_ns / roof_at(d, all[i].per_byte));
    strbuf_puts(out, "</span>\n");
  }
  if (has_roof)
    strbuf_printf(out, "<span>dashed: the roof, %s on f32 and memory</span>\n",
                  label_rate(d->machine_operations_per_ns, rate));
  strbuf_puts(out, "</p>\n");
  if (unknown) // longer than a narrow window
    strbuf_printf(out,
                  "<p class=\"about\">Not known of %u region%s: loops that end by what they "
                  "compute, or nothing is computed.</p>\n",
                  unknown, unknown == 1 ? "" : "s");
}

static void draw(strbuf *out, const report_data *d, const point *all, uint32_t shown,
                 uint32_t unknown) {
  bool has_roof = d->machine_operations_per_ns > 0 && d->machine_bytes_per_ns > 0;
  double low_x = INFINITY, high_x = 0, low_y = INFINITY, high_y = 0;
  for (uint32_t i = 0; i < shown; i++) {
    low_x = fmin(low_x, all[i].per_byte), high_x = fmax(high_x, all[i].per_byte);
    low_y = fmin(low_y, all[i].per_ns), high_y = fmax(high_y, all[i].per_ns);
  }
  low_x /= 2, high_x *= 2, low_y /= 2;
  if (has_roof) {
    double ridge = d->machine_operations_per_ns / d->machine_bytes_per_ns;
    high_x = fmax(high_x, 4 * ridge);
    high_y = fmax(high_y, d->machine_operations_per_ns);
    low_y = fmin(low_y, roof_at(d, low_x));
  }
  chart_axis x = chart_axis_make(low_x, high_x, true, LEFT, RIGHT);
  chart_axis y = chart_axis_make(low_y, high_y * 1.5, true, BOTTOM, TOP);
  chart_begin(out, BOTTOM + 22, "roofline");
  chart_ticks_y(out, &y, LEFT, RIGHT, label_rate);
  chart_ticks_x(out, &x, BOTTOM, BOTTOM, label_ratio);
  if (has_roof) draw_roof(out, d, &x, &y, low_x, high_x);
  for (uint32_t i = 0; i < shown; i++) draw_point(out, d, &all[i], i + 1, &x, &y);
  chart_end(out);
  list_points(out, d, all, shown, unknown);
}

void report_chart_roofline(strbuf *out, const report_data *d) {
  point *all;
  uint32_t unknown = 0, count = find_points(d, &all, &unknown);
  if (count) {
    strbuf_puts(out, "<figure><figcaption><b>Operations against bytes</b> across: operations for "
                     "each byte that is moved; up: operations in a second. Conditions count as "
                     "taken</figcaption>\n");
    draw(out, d, all, count < MOST_POINTS ? count : MOST_POINTS, unknown);
    strbuf_puts(out, "</figure>\n");
  }
  free(all);
}
