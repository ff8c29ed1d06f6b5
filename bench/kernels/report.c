// SPDX-License-Identifier: MIT
#include "kernels/report.h"

#include "bench.h"

#include <math.h>
#include <string.h>

static double seen(const result *r, peer p) {
  return r->is_wrong[p] ? 0 : r->ns[p];
}

// The fastest of a class; PEERS: none was measured.
static peer best_of(const result *r, peer_class class) {
  peer best = PEERS;
  for (peer p = 0; p < PEERS; p++)
    if (bench_peers[p].class == class && seen(r, p) > 0 &&
        (best == PEERS || r->ns[p] < r->ns[best]))
      best = p;
  return best;
}

// How many times faster vyre is; NAN where one of them is missing.
static double over(const result *r, peer other, peer mine) {
  if (other == PEERS || !(seen(r, other) > 0) || !(r->ns[mine] > 0)) return NAN;
  return r->ns[other] / r->ns[mine];
}

// Streaming kernels: the time that the memory would take at best over vyre's.
static double over_roof(const result *r) {
  return over(r, best_of(r, CLASS_ROOF), VYRE);
}

// ---- tables -------------------------------------------------------------------------------------

void report_head(const report_phase *p, phase at) {
  const roof_memory *m = &p->memory;
  printf("\n%s; times faster than the peer (more is better), medians of runs in turn\n",
         at == PHASE_ONE ? "One thread, pinned" : "All cores, gcc with OpenMP");
  printf("at best %.1f Gflop/s; GB/s of 64 MiB: read %.1f, copy %.1f, streaming %.1f, update %.1f, "
         "streaming %.1f\n",
         p->gflops, m->read, m->copy, m->copy_streaming, m->update, m->update_streaming);
  printf("%-13s %9s %6s %7s %5s %6s %6s  %6s %-17s  %9s %6s %-17s\n", "kernel", "vyre us", "GB/s",
         "Gflop/s", at == PHASE_ONE ? "roof" : "x one", "gcc", "PoCL", "best", "exact peer",
         "fast us", "best", "fast peer");
  fflush(stdout);
}

static void print_ratio(int width, double ratio) {
  if (isnan(ratio))
    printf(" %*s", width, "");
  else
    printf(" %*.2f", width, ratio);
}

void report_row(const kernel *k, const result *r, const report_phase *p, phase at) {
  peer exact = best_of(r, CLASS_EXACT), fast = best_of(r, CLASS_FAST);
  double ns = r->ns[VYRE], gflops = k->flops / ns;
  printf("%-13s %9.1f %6.1f", k->label, ns / 1000, kernel_bytes(k) / ns);
  print_ratio(7, k->flops > 0 ? gflops : NAN);
  double roof = over_roof(r);
  if (isnan(roof) && k->is_compute_bound && k->flops > 0) roof = gflops / p->gflops;
  print_ratio(5, at == PHASE_ONE ? roof : over(r, VYRE_SINGLE, VYRE));
  print_ratio(6, over(r, C_PLAIN, VYRE));
  print_ratio(6, over(r, POCL, VYRE));
  putchar(' ');
  print_ratio(6, over(r, exact, VYRE));
  printf(" %-17s ", exact == PEERS ? "" : bench_peers[exact].name);
  if (r->ns[VYRE_FAST] > 0) {
    printf(" %9.1f", r->ns[VYRE_FAST] / 1000);
    print_ratio(6, over(r, fast, VYRE_FAST));
    printf(" %-17s", fast == PEERS ? "" : bench_peers[fast].name);
  }
  if (r->is_wrong[VYRE] || r->is_wrong[VYRE_FAST]) printf(" WRONG");
  putchar('\n');
  fflush(stdout);
}

// ---- bars ---------------------------------------------------------------------------------------

typedef struct bars {
  bool ok, is_json, has_one;
} bars;

// A figure that was not measured reaches every bar.
static void bar(bars *b, const char *what, double value, double at_least) {
  if (isnan(value)) return;
  bool reached = value >= at_least;
  b->ok &= reached;
  if (b->is_json)
    printf("%s{\"bar\":\"%s\",\"value\":%.4f,\"at_least\":%g,\"ok\":%s}", b->has_one ? "," : "",
           what, value, at_least, reached ? "true" : "false");
  else
    (void)bench_at_least(what, value, at_least, "x");
  b->has_one = true;
}

typedef struct summary {
  double log_sum, worst;
  uint32_t count;
  const char *name;
} summary;

static void add(summary *s, double ratio, const char *name) {
  if (isnan(ratio)) return;
  s->log_sum += log(ratio);
  if (!s->count++ || ratio < s->worst) s->worst = ratio, s->name = name;
}

static void bar_mean(bars *b, const char *what, const summary *s, double at_least) {
  if (s->count) bar(b, what, exp(s->log_sum / s->count), at_least);
}

static void bar_worst(bars *b, const char *what, const summary *s, double at_least) {
  char text[120];
  if (!s->count) return;
  snprintf(text, sizeof text, "%s (%s)", what, s->name);
  bar(b, text, s->worst, at_least);
}

static void bars_of(bars *b, const report_phase *p) {
  summary exact = {0}, fast = {0}, suites = {0}, streams = {0}, threads = {0}, paused = {0};
  char text[120];
  for (uint32_t i = 0; i < bench_kernel_count; i++) {
    const kernel *k = &bench_kernels[i];
    const result *r = &p->results[i];
    if (!r->is_measured) continue;
    add(&exact, over(r, best_of(r, CLASS_EXACT), VYRE), k->label);
    add(&fast, over(r, best_of(r, CLASS_FAST), VYRE_FAST), k->label);
    if (k->is_of_suites) add(&suites, over(r, POCL, VYRE), k->label);
    add(&streams, over_roof(r), k->label);
    if (k->is_compute_bound && r->ns[VYRE_SINGLE] >= 100e3) {
      add(&threads, over(r, VYRE_SINGLE, VYRE), k->label);
      add(&paused, over(r, VYRE_SINGLE, VYRE_PAUSED), k->label);
    }
    if (k->native == NATIVE_matmul && k->sizes[0] >= 1024) {
      snprintf(text, sizeof text, "%s over OpenBLAS", k->label);
      bar(b, text, over(r, OPENBLAS, VYRE), 0.9);
    }
  }
  bar_mean(b, "geometric mean over the best exact peer", &exact, 1.0);
  bar_worst(b, "worst over the best exact peer", &exact, 0.9);
  bar_mean(b, "fast: geometric mean over the best fast peer", &fast, 1.0);
  bar_worst(b, "fast: worst over the best fast peer", &fast, 0.9);
  bar_worst(b, "kinds of public suites over PoCL", &suites, 1.0);
  bar_worst(b, "streaming over what the memory gives", &streams, 0.95);
  bar_worst(b, "all cores over one thread, compute-bound", &threads, 1.8);
  bar_worst(b, "the same with pauses between calls", &paused, 1.8);
  if (p->is_latency_missed) b->ok = false;
}

// Over each peer by itself, with how many kernels it has.
static void print_means(const report_phase *p) {
  printf("geometric means over");
  for (peer other = C_PLAIN; other < STREAM; other++) {
    summary s = {0};
    peer mine = bench_peers[other].class == CLASS_FAST ? VYRE_FAST : VYRE;
    for (uint32_t i = 0; i < bench_kernel_count; i++)
      if (p->results[i].is_measured)
        add(&s, over(&p->results[i], other, mine), bench_kernels[i].label);
    if (s.count)
      printf(" %s %.2f (%u)", bench_peers[other].name, exp(s.log_sum / s.count), s.count);
  }
  putchar('\n');
}

static bool has_wrong(const report *all) {
  bool wrong = false;
  for (phase at = 0; at < PHASES; at++)
    for (uint32_t i = 0; i < bench_kernel_count; i++) {
      const result *r = &all->phases[at].results[i];
      for (peer p = 0; p < PEERS; p++)
        wrong |= bench_peers[p].class == CLASS_VYRE && r->is_wrong[p];
    }
  return wrong;
}

bool report_bars(const report *all) {
  bars b = {.ok = !has_wrong(all), .is_json = all->is_json};
  for (phase at = 0; at < PHASES; at++) {
    if (!(all->phases[at].gflops > 0)) continue;
    if (!b.is_json) printf("\n%s\n", at == PHASE_ONE ? "one thread" : "all cores");
    if (!b.is_json) print_means(&all->phases[at]);
    bars_of(&b, &all->phases[at]);
  }
  if (b.is_json) puts("]}");
  return b.ok;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_result(const kernel *k, const result *r, bool is_first) {
  printf("%s\n{\"kernel\":\"%s\",\"bytes\":%.0f,\"flops\":%.0f,\"ns\":{", is_first ? "" : ",",
         k->label, kernel_bytes(k), k->flops);
  const char *comma = "";
  for (peer p = 0; p < PEERS; p++) {
    if (!(r->ns[p] > 0)) continue;
    printf("%s\"%s\":%.1f", comma, bench_peers[p].name, r->ns[p]);
    comma = ",";
  }
  printf("},\"wrong\":[");
  comma = "";
  for (peer p = 0; p < PEERS; p++) {
    if (!r->is_wrong[p]) continue;
    printf("%s\"%s\"", comma, bench_peers[p].name);
    comma = ",";
  }
  printf("]}");
}

void report_json(const report *all) {
  static const char *const names[] = {"one", "all"};
  putchar('{');
  for (phase at = 0; at < PHASES; at++) {
    const report_phase *p = &all->phases[at];
    bool is_first = true;
    const roof_memory *m = &p->memory;
    printf("\"%s\":{\"gflops\":%.1f,\"gb_s\":{\"read\":%.2f,\"copy\":%.2f,"
           "\"copy_streaming\":%.2f,\"update\":%.2f,\"update_streaming\":%.2f},\"kernels\":[",
           names[at], p->gflops, m->read, m->copy, m->copy_streaming, m->update,
           m->update_streaming);
    for (uint32_t i = 0; i < bench_kernel_count; i++) {
      if (!p->results[i].is_measured) continue;
      json_result(&bench_kernels[i], &p->results[i], is_first);
      is_first = false;
    }
    printf("]},");
  }
  printf("\"bars\":["); // which report_bars prints
}
