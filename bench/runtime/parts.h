// SPDX-License-Identifier: MIT
//
// The parts of bench_runtime and what they share. Each part prints its figures and says whether all
// bars were reached; its files are in a scratch VYRE_HOME that main makes.
#ifndef VYRE_BENCH_RUNTIME_PARTS_H
#define VYRE_BENCH_RUNTIME_PARTS_H

#include <vyre/vyre.h>

bool part_dispatch(void);         // overhead of a steady dispatch
bool part_routes(void);           // regret of learned routes
bool part_tuner(void);            // chosen shape against the best of all
bool part_speculation(void);      // stalls removed, time wasted
bool part_loop(void);             // following changes, wrong answers, cost, the second process
bool part_special(void);          // specialised variants never lose
bool loop_step(const char *name); // one step of part_loop, in a process of its own
bool part_store(void);            // what a million dispatches leave behind

// Prints the message and ends with status 2 when something that must work does not.
void must(vyre_status status, const vyre_error *error);
vyre_program *parse(const char *name, const char *text);
vyre_program *parse_kernel(const char *name);     // of bench/kernels
double median_of(double *values, uint32_t count); // sorts them
// Whether the command line names the word, or none of its kind.
bool is_picked(const char *word, bool (*is_of_kind)(const char *word));

// A Vulkan device driven by hand: one dispatch of an empty shader, submitted and waited for.
bool vulkan_open(void); // false: there is none
void vulkan_submit(void *unused, uint64_t count);

#endif
