// SPDX-License-Identifier: MIT
//
// A dispatch's inputs, copied so that variants can be run and compared on them while the caller
// goes on with its own buffers. A capture owns its copies; one thread at a time.
#ifndef VYRE_RUNTIME_CAPTURE_H
#define VYRE_RUNTIME_CAPTURE_H

#include <vyre/vyre.h>

#include "ir/limits.h"

#define CAPTURE_MAX_BYTES ((size_t)512 << 20)

typedef struct capture {
  const vyre_program *program; // the interface: borrowed
  vyre_scalar *params;
  vyre_span *inputs;       // one per bound buffer: what the caller had; NULL when it is borrowed
  vyre_span *work;         // memory of the same sizes that runs write to, or what is borrowed
  vyre_dispatch_args args; // over params and work
  size_t bytes;            // of one set of buffers
  bool is_ordered;         // the answer depends on the order of invocations: see capture_answer
} capture;

typedef enum capture_result { CAPTURE_TAKEN, CAPTURE_TOO_LARGE, CAPTURE_NO_MEMORY } capture_result;

// Whether the spans fit the program's interface well enough to be copied; a dispatch with others is
// an error, which it is the dispatch's to report.
bool capture_can_take(const vyre_program *program, const vyre_dispatch_args *args);
capture_result capture_take(capture *c, const vyre_program *program,
                            const vyre_dispatch_args *args);
// The same for a caller that waits: what the program only reads is used where it is.
capture_result capture_borrow(capture *c, const vyre_program *program,
                              const vyre_dispatch_args *args);
void capture_fini(capture *c);

// A capture for other arguments: the same data, repeated or cut to the lengths of `key` (parameters
// in canonical bits, then the length of every buffer of the program).
capture_result capture_resize(const capture *from, const uint64_t *key, capture *out);

// The length of every buffer of the program, transient ones too, and the grid of one region.
bool capture_lengths(const capture *c, uint64_t lengths[LIMIT_BUFFERS]);
bool capture_grid(const capture *c, uint32_t region, uint32_t grid[3]);

// Fills the work memory with the inputs again and runs the executable on it once.
vyre_status capture_run(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                        vyre_report *report, vyre_error *error);
// The same for what it leaves there, to compare: where the order of invocations matters, by one
// thread, so that two right answers are the same one where that can be had.
vyre_status capture_answer(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                           vyre_error *error);

// The time of a run. What takes microseconds is disturbed by whatever ran before it: of several the
// best counts. Of a host backend that another thread took the CPU from, the CPU time counts.
// `spent_ns` grows by what was run.
vyre_status capture_time(capture *c, vyre_executable *executable, const uint32_t workgroup[3],
                         uint64_t *ns, uint64_t *spent_ns, vyre_error *error);

// What a run left in the buffers that the program writes.
typedef struct capture_output {
  vyre_span *buffers; // one per bound buffer; only written ones have data
  uint32_t count;
} capture_output;

bool capture_keep(const capture *c, capture_output *out); // false: out of memory
// The same from memory of the caller's, one span per bound buffer; and back into the work memory.
bool capture_keep_spans(const capture *c, const vyre_span *spans, capture_output *out);
void capture_put(capture *c, const capture_output *output);
// What is in the work memory goes to the caller's.
void capture_give(const capture *c, const vyre_span *spans);
void capture_output_fini(capture_output *out);
// Compares the work memory with a kept output: bit for bit, except that any NaN equals any NaN, and
// within the program's ULP budget when it is `fast`. A difference is described in `text`.
bool capture_matches(const capture *c, const capture_output *expected, char *text, size_t size);
// Compares memory of the caller's, one span per bound buffer, with the work memory, in the same
// way.
bool capture_matches_spans(const capture *c, const vyre_span *spans, char *text, size_t size);

#endif
