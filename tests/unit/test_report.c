// SPDX-License-Identifier: MIT
//
// The drawings of `vyre report` from made-up figures, compared with a text that was kept:
// tests/golden/cli/inputs/report-charts.svg. VYRE_UPDATE=1 writes it anew. Axes are compared with
// numbers besides.
#include "base/file.h"
#include "cli/chart.h"
#include "cli/report_charts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char expected_path[] = VYRE_SOURCE_DIR "/tests/golden/cli/inputs/report-charts.svg";

// ---- axes ---------------------------------------------------------------------------------------

static void test_axes(void **state) {
  (void)state;
  static const struct {
    double low, high;
    bool is_log;
    double from, to;
  } rows[] = {
      {0, 10, false, 0, 10},       {0, 8, false, 0, 8},          {3, 3, false, 3, 4},
      {0, 0, false, 0, 0.5},       {1, 9, false, 0, 10},         {100, 900, false, 0, 1000},
      {1, 10, true, 1, 10},        {2, 9, true, 1, 10},          {4, 9, true, 3, 10},
      {2, 11, true, 1, 100 / 3.0}, {3, 34, true, 1, 100},        {5, 5, true, 3, 10},
      {1, 1, true, 1, 10 / 3.0},   {1000, 5000, true, 1e3, 1e4}, {31, 3000, true, 30, 1e4 / 3},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    chart_axis a = chart_axis_make(rows[k].low, rows[k].high, rows[k].is_log, 10, 110);
    if (fabs(a.low - rows[k].from) > 1e-6 * rows[k].to || fabs(a.high / rows[k].to - 1) > 1e-6)
      fail_msg("%g to %g is %g to %g", rows[k].low, rows[k].high, a.low, a.high);
    assert_true(fabs(chart_at(&a, a.low) - 10) < 1e-9 && fabs(chart_at(&a, a.high) - 110) < 1e-9);
  }
  chart_axis flat = {0, 8, false, 100, 20}, powers = {1, 100, true, 0, 60};
  assert_true(fabs(chart_at(&flat, 2) - 80) < 1e-9);
  assert_true(fabs(chart_at(&powers, 10) - 30) < 1e-9);
}

static const char *plain_label(double value, char *out) {
  snprintf(out, 32, "%g", value);
  return out;
}

// The numbers that an axis shows, of each axis between 30 and 130, and where they are.
static void test_ticks(void **state) {
  (void)state;
  static const struct {
    chart_axis axis;
    const char *shown;
  } rows[] = {
      {{0, 10, false, 30, 130}, "0@30.0 5@80.0 10@130.0 "},
      {{0, 8, false, 30, 130}, "0@30.0 2@55.0 4@80.0 6@105.0 8@130.0 "},
      {{0, 4, false, 30, 130}, "0@30.0 1@55.0 2@80.0 3@105.0 4@130.0 "},
      {{0, 4.1, false, 30, 130}, "0@30.0 2@78.8 4@127.6 "},
      {{3, 11, false, 30, 130}, "4@42.5 6@67.5 8@92.5 10@117.5 "},
      {{1, 100, true, 30, 130}, "1@30.0 10@80.0 100@130.0 "},
      {{3, 100, true, 30, 130}, "10@64.3 100@130.0 "},
      {{1, 1e6, true, 30, 130}, "1@30.0 100@63.3 10000@96.7 1e+06@130.0 "},
      {{1, 99999, true, 30, 130}, "1@30.0 10@50.0 100@70.0 1000@90.0 10000@110.0 "},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    strbuf out = {0}, shown = {0};
    double at, y;
    char text[32];
    chart_ticks_y(&out, &rows[k].axis, 40, 90, plain_label);
    char *drawn = strbuf_take(&out, NULL);
    for (const char *p = drawn; (p = strstr(p, "<line class=\"grid\" x1=\"40.0\" x2=\"90.0\""));
         p++) {
      assert_int_equal(sscanf(strstr(p, "y1="), "y1=\"%lf\"", &at), 1);
      assert_int_equal(sscanf(strstr(p, "<text"),
                              "<text class=\"tick right\" x=\"34.0\" y=\"%lf\">%31[^<]", &y, text),
                       2);
      assert_true(fabs(y - at - 4) < 0.11);
      strbuf_printf(&shown, "%s@%.1f ", text, at);
    }
    strbuf_putc(&shown, 0);
    assert_string_equal(shown.at, rows[k].shown);
    strbuf_fini(&shown);
    free(drawn);
  }
}

static void test_words(void **state) {
  (void)state;
  strbuf out = {0};
  char text[64];
  chart_escape(&out, "a<b>&\"c'");
  assert_memory_equal(out.at, "a&lt;b&gt;&amp;&quot;c'", out.size);
  assert_int_equal(out.size, strlen("a&lt;b&gt;&amp;&quot;c'"));
  strbuf_fini(&out);
  assert_string_equal(report_size(0, text), report_size(64, text));
  assert_string_equal(report_size(1, text), "1 B");
  assert_string_equal(report_size(11, text), "1.0 KiB");
  assert_int_equal(report_backend_color("ref full"), report_backend_color("ref"));
  assert_int_equal(report_backend_color("refx"), report_backend_color("nosuch"));
  assert_int_not_equal(report_backend_color("cpu"), report_backend_color("ref"));
  assert_int_equal(report_backend_color("cpu quick w8"), report_backend_color("cpu"));
}

// ---- drawings -----------------------------------------------------------------------------------

static store_latency_row latency(const char *variant, uint32_t size_class, uint64_t count,
                                 uint64_t first, uint64_t step) {
  store_latency_row r = {
      .device = "d", .work = "", .variant = variant, .build = "b", .size_class = size_class};
  r.samples.count = count;
  for (; r.samples.recent_count < 5; r.samples.recent_count++)
    r.samples.recent_ns[r.samples.recent_count] = first + step * r.samples.recent_count;
  return r;
}

// One region at half of what memory lets it compute, one at a quarter of what the machine computes,
// and one of which nothing is known.
static void test_roofline(void **state) {
  (void)state;
  report_region regions[] = {{.name = "moves", .effort = {"moves", 1000, 100, 1000}},
                             {.name = "computes", .effort = {"computes", 50000, 2000, 100}},
                             {.name = "searches"}};
  report_program p = {.op = "op", .regions = regions, .region_count = 3};
  report_data d = {.machine_bytes_per_ns = 20, .machine_operations_per_ns = 100};
  assert_true(vec_push(&d.programs, p));
  strbuf out = {0};
  report_chart_roofline(&out, &d);
  char *text = strbuf_take(&out, NULL);
  assert_non_null(strstr(text, "1 op / computes, 25 G/s, 25 %"));
  assert_non_null(strstr(text, "2 op / moves, 10 G/s, 50 %"));
  assert_non_null(strstr(text, "Not known of 1 region:"));
  assert_non_null(strstr(text, "the roof, 100 G/s"));
  free(text);
  d.machine_operations_per_ns = 0; // the machine was not measured: no roof, and no shares of it
  report_chart_roofline(&out, &d);
  text = strbuf_take(&out, NULL);
  assert_non_null(strstr(text, "2 op / moves, 10 G/s<"));
  assert_null(strstr(text, "the roof"));
  free(text);
  d.programs.at[0].regions += 2, d.programs.at[0].region_count = 1;
  report_chart_roofline(&out, &d);
  assert_int_equal(out.size, 0);
  vec_free(&d.programs);
}

static void draw_program(strbuf *out) {
  report_region regions[13];
  char names[13][24];
  for (int k = 0; k < 13; k++) { // more than are shown; two are equal
    snprintf(names[k], sizeof names[k], k == 2 ? "a<b>" : "region %d", k);
    uint64_t total = k < 2 ? 5000 : (uint64_t)(k + 1) * 1000;
    regions[k] = (report_region){
        .name = names[k],
        .record = {.dispatch_count = (uint64_t)k, .kernel_ns_total = total, .bytes_total = 800}};
  }
  store_latency_row rows[] = {
      latency("ref full", 8, 100, 900, 10),    latency("ref full", 12, 50, 20000, 100),
      latency("cpu full w8", 8, 70, 2000, 3),  latency("cpu full w8", 12, 90, 2500, 7),
      latency("cpu full w4", 12, 20, 2400, 7), latency("cpu quick w8", 12, 20, 4000, 900),
      latency("cpu full w8", 17, 20, 9000, 0), latency("opencl full", 17, 1, 0, 1),
      latency("opencl full", 17, 70, 5000, 1), latency("nosuch", 9, 70, 777, 0),
      latency("cpu full w8", 64, 3, 10, 0),    latency("cpu full w16", 17, 20, 8000, 0)};
  rows[9].samples.recent_count = 0;
  store_decision_row decisions[14];
  for (int k = 0; k < 14; k++)
    decisions[k] = (store_decision_row){.work = k < 12 ? "" : "n=64",
                                        .variant = k % 2 ? "ref full" : "cpu full w8",
                                        .reason = k % 3 ? "faster & better" : "\"first\"",
                                        .size_class = k < 3 ? 8 : (uint32_t)k,
                                        .date = 4000000000 - 100 * k * k};
  report_program p = {.op = "op",
                      .latencies = rows,
                      .latency_count = sizeof rows / sizeof *rows,
                      .decisions = decisions,
                      .decision_count = 14,
                      .regions = regions,
                      .region_count = 13};
  report_chart_regions(out, &p);
  report_chart_sizes(out, &p);
  report_chart_spread(out, &p);
  p.latency_count = 2;
  report_chart_spread(out, &p);
  p.latency_count = 1; // one size, of which there is no range
  report_chart_sizes(out, &p);
  report_chart_spread(out, &p);
  report_chart_decisions(out, &p, 4000000500);
  p.decision_count = 1;
  report_chart_decisions(out, &p, 4000000000);
  p.region_count = 2;
  report_chart_regions(out, &p);
  report_data d = {.machine_bytes_per_ns = 0};
  for (int k = 0; k < 13; k++) regions[k].record.bytes_total = (uint64_t)k * k * 3000;
  p.region_count = 13;
  assert_true(vec_push(&d.programs, p) && vec_push(&d.programs, p));
  report_chart_bandwidth(out, &d);
  d.machine_bytes_per_ns = 123.4;
  report_chart_bandwidth(out, &d);
  d.machine_bytes_per_ns = 1.5;
  d.programs.count = 1;
  d.programs.at[0].region_count = 2;
  report_chart_bandwidth(out, &d);
  vec_free(&d.programs);
}

static void draw_nothing(strbuf *out) {
  report_program p = {.op = "op"};
  report_data d = {0};
  double times[] = {NAN, 0};
  report_search s = {"op", "d", times, 2};
  size_t before = out->size;
  report_chart_regions(out, &p);
  report_chart_sizes(out, &p);
  report_chart_spread(out, &p);
  report_chart_decisions(out, &p, 5);
  report_chart_bandwidth(out, &d);
  report_chart_search(out, &s);
  assert_int_equal(out->size, before);
}

static void draw_searches(strbuf *out) {
  double times[] = {NAN, 900, 1200, 700, 0, 701, 650, 2000};
  report_search s = {"op", "device", times, 8};
  report_chart_search(out, &s);
  s.count = 7; // the last is the best
  report_chart_search(out, &s);
  s.times_ns = times + 1;
  s.count = 1;
  report_chart_search(out, &s);
}

// Colours are numbers by the order of the backends, which is nothing to look at here.
static char *name_colours(const char *text) {
  static const char *const names[] = {"ref", "cpu", "opencl"};
  strbuf out = {0};
  for (const char *p = text; *p; p++) {
    bool is_colour = p[0] == 'b' && p > text && p[-1] == ' ' && p[1] >= '0' && p[1] <= '9';
    if (!is_colour || (p[2] != '"' && p[2] != ' ')) {
      strbuf_putc(&out, *p);
      continue;
    }
    const char *name = "other";
    for (size_t k = 0; k < 3; k++)
      if (report_backend_color(names[k]) == p[1] - '0') name = names[k];
    strbuf_puts(&out, name);
    p++;
  }
  return strbuf_take(&out, NULL);
}

static void test_drawings(void **state) {
  (void)state;
  strbuf out = {0};
  vyre_error error;
  char *want = NULL;
  size_t size = 0;
  draw_nothing(&out);
  draw_program(&out);
  draw_searches(&out);
  char *drawn = strbuf_take(&out, NULL), *got = drawn ? name_colours(drawn) : NULL;
  assert_non_null(got);
  if (getenv("VYRE_UPDATE"))
    assert_int_equal(file_replace(expected_path, got, strlen(got), &error), VYRE_OK);
  assert_int_equal(file_read(expected_path, 1 << 24, &want, &size, &error), VYRE_OK);
  for (const char *a = want, *b = got; *a || *b;) { // the first line that differs
    size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
    if (n != m || memcmp(a, b, n)) fail_msg("want %.*s\ngot  %.*s", (int)n, a, (int)m, b);
    a += n + (a[n] != 0), b += m + (b[m] != 0);
  }
  free(want);
  free(drawn);
  free(got);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_roofline), cmocka_unit_test(test_axes),
      cmocka_unit_test(test_ticks),    cmocka_unit_test(test_words),
      cmocka_unit_test(test_drawings),
  };
  return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
