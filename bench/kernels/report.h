// SPDX-License-Identifier: MIT
//
// What was measured, as tables, as JSON, and against the bars. Prints to stdout.
#ifndef VYRE_BENCH_REPORT_H
#define VYRE_BENCH_REPORT_H

#include "kernels/roof.h"
#include "kernels/run.h"

enum { MAX_KERNELS = 64 };

typedef struct report_phase {
  double gflops; // multiply-adds at best
  roof_memory memory;
  bool is_latency_missed;
  result results[MAX_KERNELS]; // by the order of the table
} report_phase;

typedef struct report {
  bool is_json;
  report_phase phases[PHASES];
} report;

void report_head(const report_phase *p, phase at);
void report_row(const kernel *k, const result *r, const report_phase *p, phase at);
void report_json(const report *all); // ends with the bars, which report_bars does not print then
bool report_bars(const report *all); // whether all were reached

#endif
