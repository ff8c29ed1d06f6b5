// SPDX-License-Identifier: MIT
#include "cli/report_page.h"

#include "base/format.h"
#include "cli/chart.h"
#include "cli/measure.h"
#include "cli/report_charts.h"
#include "cli/show.h"
#include "policy/trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The colours of backends are told apart by people who see few colours, in light and in dark.
static const char style[] =
    ":root{--paper:#fbfaf8;--card:#fff;--ink:#1d232b;--soft:#5d6773;--line:#e3e1dc;--track:#efede8;"
    "--b0:#2463a8;--b1:#c8581b;--b2:#12816a;--b3:#8a5bb5;--b4:#77808c;--b5:#b03a6b;--b6:#8c6d1f}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1c2026;--ink:#e8e6e1;"
    "--soft:#9aa4b0;--line:#323943;--track:#272d35;--b0:#6cb0f5;--b1:#f09a5d;--b2:#4fc8a8;"
    "--b3:#c39be8;--b4:#9aa4b0;--b5:#ee86b1;--b6:#d9b85c}}\n"
    "*{box-sizing:border-box}html{color-scheme:light dark}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",sans-serif}\n"
    "main{max-width:1240px;margin:0 auto;padding:28px 20px 60px}\n"
    "h1{font-size:26px;line-height:1.2;margin:0 0 4px;letter-spacing:-.01em}\n"
    "h2{font-size:20px;margin:0 0 2px;overflow-wrap:anywhere}h3{font-size:15px;margin:22px 0 6px}\n"
    ".about,.lead{color:var(--soft);margin:0 0 14px;overflow-wrap:anywhere}\n"
    ".totals{display:flex;flex-wrap:wrap;gap:10px;margin:18px 0 26px;padding:0;list-style:none}\n"
    ".totals li{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:10px 16px;flex:1 1 130px}\n"
    ".totals b{display:block;font-size:21px;font-variant-numeric:tabular-nums}\n"
    ".totals span{color:var(--soft);font-size:13px}\n"
    "section{background:var(--card);border:1px solid var(--line);border-radius:12px;"
    "padding:20px;margin:0 0 22px}\n"
    ".charts{columns:330px 3;column-gap:30px}\n"
    "figure{margin:0 0 "
    "22px;break-inside:avoid}figcaption{font-size:13px;color:var(--soft);margin-bottom:6px}\n"
    "figcaption b{color:var(--ink);font-size:14px}svg{display:block;width:100%;height:auto}\n"
    "text{font-size:11px;fill:var(--soft)}.name{fill:var(--ink);font-size:11.5px}"
    ".note{fill:var(--ink);font-weight:600}\n"
    ".fill.accent{fill:var(--b0)}.line.accent{stroke:var(--b0)}.sample.plain{fill:var(--soft)}\n"
    ".middle{text-anchor:middle}.right{text-anchor:end}\n"
    ".grid{stroke:var(--line);stroke-width:1}.cross{stroke:var(--soft);stroke-width:1.4;"
    "stroke-dasharray:4 4}.median{stroke:var(--ink);stroke-width:2}\n"
    ".track{fill:var(--track)}.line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".dashed{stroke-dasharray:5 4}.sample{opacity:.38}.dot{stroke:var(--card);stroke-width:1.2}\n"
    ".keys{display:flex;flex-wrap:wrap;gap:2px 14px;margin:6px 0 0;font-size:12.5px;"
    "color:var(--soft)}.keys span{white-space:nowrap}"
    ".key{display:inline-block;width:22px;height:10px;margin-right:5px}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13.5px}\n"
    "th{text-align:left;color:var(--soft);font-weight:500;border-bottom:1px solid var(--line);"
    "padding:4px 14px 4px 0;white-space:nowrap}\n"
    "td{padding:7px 14px 7px 0;border-bottom:1px solid var(--line);vertical-align:top}"
    "tr:last-child td{border-bottom:0}.n{white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    ".swatch{display:inline-block;width:9px;height:9px;border-radius:3px;margin-right:6px}\n"
    "@media(max-width:560px){main{padding:18px 10px 40px}section{padding:14px 12px}"
    "thead{display:none}tr{display:block;padding:8px 0;border-bottom:1px solid var(--line)}"
    "tr:last-child{border-bottom:0}td{display:block;border:0;padding:1px 0}}\n"
    "@media print{:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--track:#eee;"
    "--b0:#2463a8;--b1:#c8581b;--b2:#12816a;--b3:#8a5bb5;--b4:#77808c;--b5:#b03a6b;--b6:#8c6d1f}"
    "body{font-size:11px}main{max-width:none;padding:0}figure,tr{break-inside:avoid}"
    "h2,h3,thead{break-after:avoid}"
    "section{border:0;padding:0 0 12px}.charts{columns:2}}\n";

static void colors(strbuf *out) {
  for (int i = 0; i < REPORT_COLORS; i++)
    strbuf_printf(out,
                  ".line.b%d{stroke:var(--b%d)}.fill.b%d,.dot.b%d,.sample.b%d{fill:var(--b%d)}"
                  ".swatch.b%d{background:var(--b%d)}\n",
                  i, i, i, i, i, i, i, i);
}

static void total(strbuf *out, const char *value, const char *what) {
  strbuf_printf(out, "<li><b>%s</b><span>%s</span></li>\n", value, what);
}

static void head(strbuf *out, const report_data *d, int64_t now) {
  char when[64], text[SHOW_TEXT], count[SHOW_TEXT];
  time_t seconds = (time_t)now;
  struct tm utc;
  gmtime_r(&seconds, &utc);
  locale_t kept = format_enter();
  strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
  format_leave(kept);
  strbuf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                   "<title>vyre: what was learned</title>\n<style>\n");
  strbuf_puts(out, style);
  colors(out);
  strbuf_puts(out,
              "</style></head><body><main>\n<h1>What vyre has learned</h1>\n<p class=\"about\">");
  chart_escape(out, d->path ? d->path : "");
  strbuf_printf(out, ", %s</p>\n<ul class=\"totals\">\n", when);
  uint64_t dispatches = 0, spent = 0;
  for (size_t i = 0; i < d->programs.count; i++) {
    dispatches += d->programs.at[i].dispatches;
    spent += d->programs.at[i].total_ns;
  }
  total(out, show_count(d->programs.count, count), "programs");
  total(out, show_count(dispatches, count), "dispatches measured");
  total(out, show_time(spent, text), "spent in them");
  total(out, show_count(d->counts.decisions, count), "decisions kept");
  if (d->machine_bytes_per_ns > 0) {
    format_text(text, sizeof text, "%.1f GB/s", d->machine_bytes_per_ns);
    total(out, text, "memory of this machine");
  }
  if (d->machine_operations_per_ns > 0) {
    format_text(text, sizeof text, "%.0f G/s", d->machine_operations_per_ns);
    total(out, text, "operations on f32");
  }
  strbuf_puts(out, "</ul>\n");
}

// ---- what would change a decision ---------------------------------------------------------------

// The fastest of the others at the time: lines "variant: 12345 ns".
static uint64_t best_other(const char *others, const char *decided, char name[100]) {
  uint64_t best = 0;
  for (const char *line = others; *line;) {
    size_t size = strcspn(line, "\n");
    const char *colon = NULL;
    for (const char *at = line; at < line + size; at++)
      if (*at == ':') colon = at;
    char *end;
    unsigned long long ns = colon ? strtoull(colon + 1, &end, 10) : 0;
    size_t length = colon ? (size_t)(colon - line) : 0;
    bool is_time = colon && !strncmp(end, " ns", 3) && ns;
    bool is_same = length == strlen(decided) && !memcmp(line, decided, length);
    if (is_time && !is_same && (!best || ns < best)) {
      best = ns;
      format_text(name, 100, "%.*s", length < 99 ? (int)length : 99, line);
    }
    line += size + (line[size] == '\n');
  }
  return best;
}

static void change_cell(strbuf *out, const store_decision_row *d) {
  char name[100], now[SHOW_TEXT], other[SHOW_TEXT];
  uint64_t best = best_other(d->others, d->variant, name);
  if (!best || !d->mean_ns) {
    strbuf_puts(out, "a variant that turns out faster; none else was measured with it");
    return;
  }
  chart_escape(out, name);
  strbuf_printf(out, " below %s; it took %s, %.2f times as long%s", show_time(d->mean_ns, now),
                show_time(best, other), (double)best / (double)d->mean_ns,
                best < d->mean_ns ? ", but not in turn with this one" : "");
}

static void decision_row(strbuf *out, const store_decision_row *d) {
  char size[SHOW_TEXT], mean[SHOW_TEXT], spread[SHOW_TEXT], age[SHOW_TEXT];
  strbuf_printf(out, "<tr><td class=\"n\">%s", report_size(d->size_class, size));
  if (d->work[0]) strbuf_puts(out, ", "), chart_escape(out, d->work);
  strbuf_printf(out, "</td><td><i class=\"swatch b%d\"></i>", report_backend_color(d->variant));
  chart_escape(out, d->variant);
  strbuf_puts(out, "</td><td class=\"n\">");
  if (d->samples)
    strbuf_printf(out, "%s \xc2\xb1 %s", show_time(d->mean_ns, mean),
                  show_time(d->spread_ns, spread));
  strbuf_puts(out, "</td><td>");
  chart_escape(out, d->reason);
  strbuf_printf(out, ", %s</td><td>", measure_age(d->date, age));
  change_cell(out, d);
  strbuf_puts(out, "</td></tr>\n");
}

static void decision_table(strbuf *out, const report_program *p) {
  if (!p->decision_count) {
    strbuf_puts(out, "<p class=\"lead\">Nothing is decided yet: other variants are tried when it "
                     "has run more often.</p>\n");
    return;
  }
  strbuf_puts(out,
              "<h3>What runs, why, and what would change it</h3>\n<div class=\"scroll\"><table>"
              "<thead><tr><th>from</th><th>variant</th><th>takes</th><th>because</th>"
              "<th>would change it</th></tr></thead><tbody>\n");
  for (uint32_t i = 0; i < p->decision_count; i++) {
    const store_decision_row *d = &p->decisions[i], *last = i ? d - 1 : NULL;
    if (!last || last->size_class != d->size_class || strcmp(last->work, d->work))
      decision_row(out, d);
  }
  strbuf_puts(out, "</tbody></table></div>\n");
}

static void program_section(strbuf *out, const report_program *p, int64_t now) {
  char count[SHOW_TEXT], time[SHOW_TEXT];
  strbuf_printf(out,
                "<section data-program=\"%s\" data-total-ns=\"%" PRIu64 "\" data-count=\"%" PRIu64
                "\">\n<h2>",
                p->print, p->total_ns, p->dispatches);
  chart_escape(out, p->op);
  strbuf_printf(out, "</h2>\n<p class=\"lead\">%s dispatches, %s in all; fingerprint %.12s</p>\n",
                show_count(p->dispatches, count), show_time(p->total_ns, time), p->print);
  strbuf_puts(out, "<div class=\"charts\">\n");
  report_chart_sizes(out, p);
  report_chart_spread(out, p);
  report_chart_regions(out, p);
  report_chart_decisions(out, p, now);
  strbuf_puts(out, "</div>\n");
  decision_table(out, p);
  strbuf_puts(out, "</section>\n");
}

// ---- the figures --------------------------------------------------------------------------------

static json_t *program_json(const report_program *p) {
  json_t *latencies = json_array();
  for (uint32_t i = 0; i < p->latency_count; i++) {
    const store_latency_row *r = &p->latencies[i];
    uint64_t median = trial_median(r->samples.recent_ns, r->samples.recent_count);
    json_array_append_new(
        latencies, json_pack("{s:o, s:i, s:o, s:I, s:I}", "variant", cli_text(r->variant),
                             "size_class", (int)r->size_class, "work", cli_text(r->work), "samples",
                             (json_int_t)r->samples.count, "median_ns", (json_int_t)median));
  }
  json_t *efforts = json_array();
  for (uint32_t i = 0; i < p->region_count; i++) {
    const store_effort_row *e = &p->regions[i].effort;
    if (e->operations)
      json_array_append_new(
          efforts, json_pack("{s:o, s:I, s:I, s:I}", "region", cli_text(p->regions[i].name),
                             "operations", (json_int_t)e->operations, "total_ns",
                             (json_int_t)e->total_ns, "bytes", (json_int_t)e->bytes));
  }
  return json_pack("{s:o, s:s, s:I, s:I, s:i, s:o, s:o}", "op", cli_text(p->op), "fingerprint",
                   p->print, "dispatches", (json_int_t)p->dispatches, "total_ns",
                   (json_int_t)p->total_ns, "decisions", (int)p->decision_count, "latencies",
                   latencies, "efforts", efforts);
}

// Inside of a script element a `<` could end it.
static void figures(strbuf *out, const report_data *d) {
  json_t *programs = json_array();
  for (size_t i = 0; i < d->programs.count; i++)
    json_array_append_new(programs, program_json(&d->programs.at[i]));
  json_t *all = json_pack("{s:o, s:O}", "programs", programs, "lines", d->lines);
  char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
  strbuf_puts(out, "<script type=\"application/json\" id=\"figures\">");
  for (const char *at = text ? text : "{}"; *at; at++) {
    if (*at == '<')
      strbuf_puts(out, "\\u003c");
    else
      strbuf_putc(out, *at);
  }
  strbuf_puts(out, "</script>\n");
  free(text);
  json_decref(all);
}

void report_page(strbuf *out, const report_data *d, int64_t now) {
  head(out, d, now);
  if (!d->programs.count)
    strbuf_puts(out,
                "<section><h2>Nothing was measured yet</h2><p class=\"lead\">Run a program some "
                "times, as in <code>vyre run saxpy.vyre a=2 x=rand:1e6 y=ones:1e6 --repeat "
                "100</code>, and make the page again.</p></section>\n");
  for (size_t i = 0; i < d->programs.count; i++) program_section(out, &d->programs.at[i], now);
  if (d->programs.count || d->searches.count) {
    strbuf_puts(out, "<section><h2>This machine</h2>\n<div class=\"charts\">\n");
    report_chart_roofline(out, d);
    report_chart_bandwidth(out, d);
    for (size_t i = 0; i < d->searches.count; i++) report_chart_search(out, &d->searches.at[i]);
    strbuf_puts(out, "</div></section>\n");
  }
  figures(out, d);
  strbuf_puts(out, "</main></body></html>\n");
}
