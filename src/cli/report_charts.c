// SPDX-License-Identifier: MIT
#include "cli/report_charts.h"

#include "base/clock.h"
#include "base/format.h"
#include "cli/chart.h"
#include "cli/measure.h"
#include "cli/show.h"
#include "policy/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 52, RIGHT = CHART_WIDTH - 12, TOP = 10, MOST_ROWS = 10, MOST_SERIES = 8 };

// ---- words and colours --------------------------------------------------------------------------

int report_backend_color(const char *variant) {
  size_t size = strcspn(variant, " :"); // all devices of a driver have one
  uint32_t i = 0;
  for (const char *id; (id = vyre_backend_name(i)) && i < REPORT_COLORS - 1; i++)
    if (size == strlen(id) && !memcmp(variant, id, size)) break;
  return (int)i;
}

const char *report_size(uint32_t size_class, char *out) {
  return show_bytes(size_class && size_class < 64 ? (uint64_t)1 << (size_class - 1) : 0, out);
}

static const char *label_time(double ns, char *out) {
  if (ns < 1) format_text(out, SHOW_TEXT, "%.1f ns", ns);
  return ns < 1 ? out : show_time((uint64_t)(ns + 0.5), out);
}

// A whole power of two as bytes: the axis has logarithms.
static const char *label_size(double size_class, char *out) {
  return report_size((uint32_t)(size_class + 0.5), out);
}

static const char *label_count(double count, char *out) {
  format_text(out, SHOW_TEXT, "%.0f", count);
  return out;
}

static void begin_figure(strbuf *out, const char *caption, const char *about) {
  strbuf_puts(out, "<figure><figcaption><b>");
  chart_escape(out, caption);
  strbuf_puts(out, "</b> ");
  chart_escape(out, about);
  strbuf_puts(out, "</figcaption>\n");
}

static void end_figure(strbuf *out) {
  strbuf_puts(out, "</figure>\n");
}

static void key_entry(strbuf *out, int color, bool is_dashed, const char *name) {
  strbuf_printf(out,
                "<span><svg class=\"key\" viewBox=\"0 0 22 10\"><line class=\"line b%d%s\" "
                "x1=\"1\" x2=\"21\" y1=\"5\" y2=\"5\"/></svg>",
                color, is_dashed ? " dashed" : "");
  chart_escape(out, name);
  strbuf_puts(out, "</span>\n");
}

// ---- where the time goes ------------------------------------------------------------------------

static int by_total(const void *x, const void *y) {
  const report_region *a = x, *b = y;
  if (a->record.kernel_ns_total != b->record.kernel_ns_total)
    return a->record.kernel_ns_total < b->record.kernel_ns_total ? 1 : -1;
  return strcmp(a->name, b->name);
}

void report_chart_regions(strbuf *out, const report_program *p) {
  uint64_t all = 0;
  char time[SHOW_TEXT], mean[SHOW_TEXT], text[200];
  if (!p->region_count) return;
  qsort(p->regions, p->region_count, sizeof *p->regions, by_total);
  for (uint32_t i = 0; i < p->region_count; i++) all += p->regions[i].record.kernel_ns_total;
  uint32_t rows = p->region_count < MOST_ROWS ? p->region_count : MOST_ROWS;
  begin_figure(out, "Where its time goes", "regions, on all devices");
  chart_begin(out, TOP + 34.0 * rows, "time of each region");
  for (uint32_t i = 0; i < rows; i++) {
    const report_region *r = &p->regions[i];
    double share = all ? (double)r->record.kernel_ns_total / (double)all : 0, y = TOP + 34.0 * i;
    double mean_ns = r->record.dispatch_count
                         ? (double)r->record.kernel_ns_total / (double)r->record.dispatch_count
                         : 0;
    format_text(text, sizeof text, "%.60s", r->name);
    chart_text(out, 4, y + 10, "name", text);
    format_text(text, sizeof text, "%.0f %%, %s in all, %s each", share * 100,
                show_time(r->record.kernel_ns_total, time), label_time(mean_ns, mean));
    chart_text(out, RIGHT, y + 10, "tick right", text);
    strbuf_printf(out,
                  "<rect class=\"track\" x=\"4\" y=\"%.1f\" width=\"%d\" height=\"10\" rx=\"3\"/>"
                  "<rect class=\"fill accent\" x=\"4\" y=\"%.1f\" width=\"%.1f\" height=\"10\" "
                  "rx=\"3\" data-region=\"",
                  y + 15, RIGHT - 4, y + 15, 1 + share * (RIGHT - 5));
    chart_escape(out, r->name);
    strbuf_printf(out, "\" data-total-ns=\"%" PRIu64 "\" data-count=\"%" PRIu64 "\"/>\n",
                  r->record.kernel_ns_total, r->record.dispatch_count);
  }
  chart_end(out);
  end_figure(out);
}

// ---- sizes against backends ---------------------------------------------------------------------

// The best variant of a backend and tier at each size.
typedef struct series {
  char name[40];
  uint64_t best_ns[64]; // by size class; 0: there is none
} series;

typedef struct size_table {
  series all[MOST_SERIES];
  uint32_t count;
  uint32_t low_class, high_class;
  double low_ns, high_ns;
} size_table;

static uint64_t median_of(const store_latency_row *r) {
  return trial_median(r->samples.recent_ns, r->samples.recent_count);
}

static series *find_series(size_table *t, const char *variant) {
  const char *space = strchr(variant, ' ');
  size_t size = space ? (size_t)(space - variant) + 1 + strcspn(space + 1, " ") : strlen(variant);
  if (size >= sizeof t->all->name) size = sizeof t->all->name - 1;
  for (uint32_t i = 0; i < t->count; i++)
    if (strlen(t->all[i].name) == size && !memcmp(t->all[i].name, variant, size)) return &t->all[i];
  if (t->count == MOST_SERIES) return NULL;
  memcpy(t->all[t->count].name, variant, size);
  return &t->all[t->count++];
}

static void add_to_table(size_table *t, const store_latency_row *r) {
  uint64_t ns = median_of(r);
  series *s = ns && r->size_class < 64 ? find_series(t, r->variant) : NULL;
  if (!s) return;
  uint64_t *best = &s->best_ns[r->size_class];
  if (!*best || ns < *best) *best = ns;
  if (r->size_class < t->low_class) t->low_class = r->size_class;
  if (r->size_class > t->high_class) t->high_class = r->size_class;
  t->low_ns = fmin(t->low_ns, (double)ns);
  t->high_ns = fmax(t->high_ns, (double)ns);
}

static void draw_series(strbuf *out, const size_table *t, const series *s, const chart_axis *x,
                        const chart_axis *y) {
  int color = report_backend_color(s->name);
  bool is_quick = strstr(s->name, " quick") != NULL, is_open = false;
  strbuf_printf(out, "<path class=\"line b%d%s\" d=\"", color, is_quick ? " dashed" : "");
  for (uint32_t c = t->low_class; c <= t->high_class; c++) {
    if (!s->best_ns[c]) continue;
    strbuf_printf(out, "%s%.1f %.1f ", is_open ? "L" : "M", chart_at(x, c),
                  chart_at(y, (double)s->best_ns[c]));
    is_open = true;
  }
  strbuf_puts(out, "\"/>\n");
  for (uint32_t c = t->low_class; c <= t->high_class; c++) {
    char size[SHOW_TEXT], time[SHOW_TEXT];
    if (!s->best_ns[c]) continue;
    strbuf_printf(out,
                  "<circle class=\"dot b%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\" data-series=\"%s\" "
                  "data-size-class=\"%u\" data-ns=\"%" PRIu64 "\"><title>%s, %s: %s</title>"
                  "</circle>\n",
                  color, chart_at(x, c), chart_at(y, (double)s->best_ns[c]), s->name, c,
                  s->best_ns[c], s->name, report_size(c, size), show_time(s->best_ns[c], time));
  }
}

// The backend that is fastest at a size; NULL when nothing was measured.
static const series *fastest(const size_table *t, uint32_t size_class) {
  const series *best = NULL;
  for (uint32_t i = 0; i < t->count; i++) {
    uint64_t ns = t->all[i].best_ns[size_class];
    if (ns && (!best || ns < best->best_ns[size_class])) best = &t->all[i];
  }
  return best;
}

// Notes of neighbours stand below one another.
static void draw_crossovers(strbuf *out, const size_table *t, const chart_axis *x, double bottom) {
  const series *last = NULL;
  uint32_t last_class = 0, count = 0;
  char text[100];
  for (uint32_t c = t->low_class; c <= t->high_class; c++) {
    const series *now = fastest(t, c);
    if (!now) continue;
    if (last && strncmp(last->name, now->name, strcspn(now->name, " ") + 1)) {
      double at = chart_at(x, (last_class + c) / 2.0);
      bool is_right = at > CHART_WIDTH / 2.0;
      format_text(text, sizeof text, "%.*s \xe2\x86\x92 %.*s", (int)strcspn(last->name, " "),
                  last->name, (int)strcspn(now->name, " "), now->name);
      strbuf_printf(out, "<line class=\"cross\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>\n",
                    at, at, TOP, bottom);
      chart_text(out, at + (is_right ? -5 : 5), TOP + 10 + 13 * (count++ % 2),
                 is_right ? "note right" : "note", text);
    }
    last = now;
    last_class = c;
  }
}

void report_chart_sizes(strbuf *out, const report_program *p) {
  size_table *t = calloc(1, sizeof *t);
  if (!t) return;
  t->low_class = 64;
  t->low_ns = INFINITY;
  for (uint32_t i = 0; i < p->latency_count; i++) add_to_table(t, &p->latencies[i]);
  if (t->count && t->low_class <= t->high_class) {
    const double bottom = 200;
    double margin = t->low_class == t->high_class ? 1 : 0.3;
    chart_axis x = {t->low_class - margin, t->high_class + margin, false, LEFT, RIGHT};
    chart_axis y = chart_axis_make(t->low_ns, t->high_ns, true, bottom, TOP);
    begin_figure(out, "Time by size", "best median of each backend and tier");
    chart_begin(out, bottom + 22, "time by size and backend");
    chart_ticks_y(out, &y, LEFT, RIGHT, label_time);
    uint32_t step = (t->high_class - t->low_class) / 5 + 1;
    for (uint32_t c = t->low_class; c <= t->high_class; c += step) {
      char text[SHOW_TEXT];
      chart_text(out, chart_at(&x, c), bottom + 16, "tick middle", label_size(c, text));
    }
    draw_crossovers(out, t, &x, bottom);
    for (uint32_t i = 0; i < t->count; i++) draw_series(out, t, &t->all[i], &x, &y);
    chart_end(out);
    strbuf_puts(out, "<p class=\"keys\">");
    for (uint32_t i = 0; i < t->count; i++)
      key_entry(out, report_backend_color(t->all[i].name), strstr(t->all[i].name, " quick") != NULL,
                t->all[i].name);
    strbuf_puts(out, "</p>\n");
    end_figure(out);
  }
  free(t);
}

// ---- how samples lie apart ----------------------------------------------------------------------

static int by_count(const void *x, const void *y) {
  const store_latency_row *a = *(const store_latency_row *const *)x,
                          *b = *(const store_latency_row *const *)y;
  if (a->samples.count != b->samples.count) return a->samples.count < b->samples.count ? 1 : -1;
  return strcmp(a->variant, b->variant);
}

static void draw_row(strbuf *out, const store_latency_row *r, const chart_axis *x, double y) {
  const store_samples *s = &r->samples;
  char size[SHOW_TEXT], time[SHOW_TEXT], text[160];
  int color = report_backend_color(r->variant);
  uint64_t median = median_of(r);
  format_text(text, sizeof text, "%.70s, %s", r->variant, report_size(r->size_class, size));
  chart_text(out, 4, y + 9, "name", text);
  chart_text(out, RIGHT, y + 9, "tick right", show_time(median, time));
  strbuf_printf(out, "<line class=\"grid\" x1=\"4\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", RIGHT,
                y + 20, y + 20);
  for (uint32_t i = 0; i < s->recent_count; i++)
    strbuf_printf(out, "<circle class=\"sample b%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"/>\n", color,
                  chart_at(x, (double)(s->recent_ns[i] ? s->recent_ns[i] : 1)), y + 20);
  strbuf_printf(out,
                "<line class=\"median\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
                "data-variant=\"",
                chart_at(x, (double)(median ? median : 1)),
                chart_at(x, (double)(median ? median : 1)), y + 14, y + 26);
  chart_escape(out, r->variant);
  strbuf_printf(out,
                "\" data-size-class=\"%u\" data-median-ns=\"%" PRIu64 "\" data-count=\"%" PRIu64
                "\"/>\n",
                r->size_class, median, s->count);
}

void report_chart_spread(strbuf *out, const report_program *p) {
  const store_latency_row **rows = calloc(p->latency_count + 1u, sizeof(*rows));
  double low = INFINITY, high = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; rows && i < p->latency_count; i++)
    if (p->latencies[i].samples.recent_count) rows[count++] = &p->latencies[i];
  if (count) qsort(rows, count, sizeof *rows, by_count);
  uint32_t shown = count < MOST_ROWS ? count : MOST_ROWS;
  for (uint32_t i = 0; i < shown; i++)
    for (uint32_t k = 0; k < rows[i]->samples.recent_count; k++) {
      double ns = (double)(rows[i]->samples.recent_ns[k] ? rows[i]->samples.recent_ns[k] : 1);
      low = fmin(low, ns);
      high = fmax(high, ns);
    }
  if (shown) {
    char about[100];
    double bottom = TOP + 34.0 * shown;
    format_text(about, sizeof about,
                shown < count ? "latest samples; %u of %u variants and sizes"
                              : "latest samples and their median",
                shown, count);
    chart_axis x = chart_axis_make(low, high, high / low > 8, 10, RIGHT - 6);
    begin_figure(out, "How long each takes", about);
    chart_begin(out, bottom + 20, "distribution of latencies");
    chart_ticks_x(out, &x, TOP, bottom, label_time);
    for (uint32_t i = 0; i < shown; i++) draw_row(out, rows[i], &x, TOP + 34.0 * i);
    chart_end(out);
    end_figure(out);
  }
  free(rows);
}

// ---- decisions over time ------------------------------------------------------------------------

// Decisions of a bucket stand together, the latest first.
static bool is_same_bucket(const store_decision_row *a, const store_decision_row *b) {
  return a->size_class == b->size_class && !strcmp(a->work, b->work);
}

static void draw_lane(strbuf *out, const store_decision_row *d, uint32_t count, const chart_axis *x,
                      double y, int64_t now) {
  char size[SHOW_TEXT], text[160], age[SHOW_TEXT];
  format_text(text, sizeof text, "%s%s%.40s: %.70s", report_size(d->size_class, size),
              d->work[0] ? ", " : "", d->work, d->variant);
  chart_text(out, 4, y + 9, "name", text);
  for (uint32_t i = count; i-- > 0;) {
    double from = chart_at(x, (double)d[i].date);
    double to = chart_at(x, (double)(i ? d[i - 1].date : now));
    strbuf_printf(out,
                  "<rect class=\"fill b%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"6\"/>\n",
                  report_backend_color(d[i].variant), from, y + 17, to > from + 1 ? to - from : 1);
  }
  for (uint32_t i = 0; i < count; i++) {
    strbuf_printf(out,
                  "<circle class=\"dot b%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\" data-date=\"%" PRId64
                  "\"><title>",
                  report_backend_color(d[i].variant), chart_at(x, (double)d[i].date), y + 20,
                  d[i].date);
    chart_escape(out, d[i].variant);
    strbuf_printf(out, ", %s: ", measure_age(d[i].date, age));
    chart_escape(out, d[i].reason);
    strbuf_puts(out, "</title></circle>\n");
  }
}

void report_chart_decisions(strbuf *out, const report_program *p, int64_t now) {
  if (!p->decision_count) return;
  int64_t first = now;
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < p->decision_count; i++) {
    if (p->decisions[i].date < first) first = p->decisions[i].date;
    lanes += !i || !is_same_bucket(&p->decisions[i - 1], &p->decisions[i]);
  }
  if (lanes > MOST_ROWS) lanes = MOST_ROWS;
  double bottom = TOP + 34.0 * lanes;
  chart_axis x = {(double)first, (double)(now > first ? now : first + 1), false, 10, RIGHT - 6};
  char age[SHOW_TEXT];
  begin_figure(out, "Decisions over time", "each dot is one, coloured by backend");
  chart_begin(out, bottom + 20, "decisions over time");
  uint32_t lane = 0;
  for (uint32_t i = 0, end; i < p->decision_count && lane < lanes; i = end, lane++) {
    for (end = i + 1; end < p->decision_count;) {
      if (!is_same_bucket(&p->decisions[i], &p->decisions[end])) break;
      end++;
    }
    draw_lane(out, &p->decisions[i], end - i, &x, TOP + 34.0 * lane, now);
  }
  chart_text(out, 4, bottom + 14, "tick", measure_age(first, age));
  chart_text(out, RIGHT, bottom + 14, "tick right", "now");
  chart_end(out);
  end_figure(out);
}

// ---- the machine --------------------------------------------------------------------------------

typedef struct moved {
  const char *op, *region;
  double bytes_per_ns;
} moved;

static int by_speed(const void *x, const void *y) {
  const moved *a = x, *b = y;
  return a->bytes_per_ns < b->bytes_per_ns ? 1 : a->bytes_per_ns > b->bytes_per_ns ? -1 : 0;
}

static const char *label_speed(double bytes_per_ns, char *out) {
  const char *form = bytes_per_ns < 0.1  ? "%.2g GB/s"
                     : bytes_per_ns < 10 ? "%.1f GB/s"
                                         : "%.0f GB/s";
  format_text(out, SHOW_TEXT, form, bytes_per_ns);
  return out;
}

static uint32_t find_moved(const report_data *d, moved **out) {
  uint32_t count = 0, most = 0;
  for (size_t i = 0; i < d->programs.count; i++) most += d->programs.at[i].region_count;
  *out = calloc(most + 1u, sizeof **out);
  for (size_t i = 0; *out && i < d->programs.count; i++)
    for (uint32_t k = 0; k < d->programs.at[i].region_count; k++) {
      const report_region *r = &d->programs.at[i].regions[k];
      if (!r->record.kernel_ns_total || !r->record.bytes_total) continue;
      (*out)[count++] = (moved){d->programs.at[i].op, r->name,
                                (double)r->record.bytes_total / (double)r->record.kernel_ns_total};
    }
  if (count) qsort(*out, count, sizeof **out, by_speed);
  return count;
}

void report_chart_bandwidth(strbuf *out, const report_data *d) {
  moved *all;
  uint32_t count = find_moved(d, &all), shown = count < 2 * MOST_ROWS ? count : 2 * MOST_ROWS;
  double peak = d->machine_bytes_per_ns;
  if (shown) {
    double high = fmax(all[0].bytes_per_ns, peak), low = all[shown - 1].bytes_per_ns;
    enum { FOR_NUMBERS = 64 }; // at the right, which the line of memory must not cross
    chart_axis x = chart_axis_make(fmin(low, high / 8), high, true, 10, RIGHT - FOR_NUMBERS);
    double bottom = TOP + 30.0 * shown;
    char text[200], speed[SHOW_TEXT];
    begin_figure(out, "Bytes that regions move",
                 peak > 0 ? "against what memory gives; above it, caches help"
                          : "what memory gives was not measured");
    chart_begin(out, bottom + 22, "bytes per second of each region");
    chart_ticks_x(out, &x, TOP, bottom, label_speed);
    for (uint32_t i = 0; i < shown; i++) {
      double y = TOP + 30.0 * i, at = chart_at(&x, all[i].bytes_per_ns);
      format_text(text, sizeof text, "%.40s / %.40s", all[i].op, all[i].region);
      chart_text(out, 10, y + 9, "name", text);
      chart_text(out, RIGHT, y + 9, "tick right", label_speed(all[i].bytes_per_ns, speed));
      strbuf_printf(out,
                    "<rect class=\"fill accent\" x=\"10\" y=\"%.1f\" width=\"%.1f\" height=\"7\" "
                    "rx=\"3\" data-bytes-per-ns=\"%.6g\"/>\n",
                    y + 15, at > 11 ? at - 10 : 1, all[i].bytes_per_ns);
    }
    if (peak > 0) {
      double at = chart_at(&x, peak);
      strbuf_printf(out, "<line class=\"cross\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>\n",
                    at, at, TOP - 6, bottom);
    }
    chart_end(out);
    if (peak > 0)
      strbuf_printf(out, "<p class=\"keys\"><span>dashed: memory copies %s here</span></p>\n",
                    label_speed(peak, speed));
    end_figure(out);
  }
  free(all);
}

// ---- searches -----------------------------------------------------------------------------------

void report_chart_search(strbuf *out, const report_search *s) {
  double low = INFINITY, high = 0, best = INFINITY;
  uint32_t failed = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    if (!(s->times_ns[i] > 0)) {
      failed++;
      continue;
    }
    low = fmin(low, s->times_ns[i]);
    high = fmax(high, s->times_ns[i]);
  }
  if (!(high > 0)) return;
  const double bottom = 180;
  char about[200];
  format_text(about, sizeof about,
              "%.60s, %u configurations, %u failed; the line is the best so far", s->op, s->count,
              failed);
  chart_axis x = chart_axis_make(0, s->count < 4 ? 4 : s->count, false, LEFT, RIGHT);
  chart_axis y = chart_axis_make(low, high, true, bottom, TOP);
  begin_figure(out, "Tuning", about);
  chart_begin(out, bottom + 22, "course of the search");
  chart_ticks_y(out, &y, LEFT, RIGHT, label_time);
  chart_ticks_x(out, &x, bottom, bottom, label_count);
  for (uint32_t i = 0; i < s->count; i++)
    if (s->times_ns[i] > 0)
      strbuf_printf(out, "<circle class=\"sample plain\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"/>\n",
                    chart_at(&x, i + 1), chart_at(&y, s->times_ns[i]));
  strbuf_puts(out, "<path class=\"line accent\" d=\"");
  for (uint32_t i = 0; i < s->count; i++) {
    double ns = s->times_ns[i] > 0 ? s->times_ns[i] : INFINITY;
    if (!(ns < best) && i + 1 < s->count) continue;
    bool is_first = isinf(best);
    if (!is_first) strbuf_printf(out, "H%.1f ", chart_at(&x, i + 1));
    best = fmin(best, ns);
    if (is_first && !isinf(best))
      strbuf_printf(out, "M%.1f %.1f ", chart_at(&x, i + 1), chart_at(&y, best));
    else if (!is_first)
      strbuf_printf(out, "V%.1f ", chart_at(&y, best));
  }
  strbuf_printf(out, "\" data-best-ns=\"%.0f\"/>\n", best);
  chart_end(out);
  end_figure(out);
}
