// SPDX-License-Identifier: MIT
//
// What `certify` and `tune` share: a program and its arguments from the words of a command line,
// copies of the inputs, the reference's answer to compare with, progress with the time that is
// left, and Ctrl-C, which ends measuring and keeps what was measured. One thread, one at a time.
#ifndef VYRE_CLI_MEASURE_H
#define VYRE_CLI_MEASURE_H

#include "base/note.h"
#include "cli/args.h"
#include "cli/bind.h"
#include "cli/load.h"
#include "policy/variant_name.h"
#include "profile/store.h"
#include "runtime/capture.h"

// Of the options that both commands have. The letters g, b, r and N are taken.
#define MEASURE_OPTIONS                                                                            \
  {'g', "grid", "extents such as 640,480"}, {'b', "backend", "an id that `vyre devices` lists"},   \
      {'r', "rounds", "a number of samples"}, {'N', "dry-run", NULL}, SOURCE_LANGUAGE_OPTION

// How a program is compiled, where the usual way is not asked for.
typedef struct measure_choices {
  uint32_t vector_width, threads; // 0: as the backend chooses
  bool has_passes;
  variant_passes passes;
} measure_choices;

typedef struct measure {
  const cli *cli;
  // From the command line.
  char *file;
  source_words source;
  vec(char *) words;
  vec(const char *) backends; // empty: all
  const char *grid_text;      // --grid with braces, which only tunables give a value; or NULL
  uint64_t grid[3], rounds;
  uint32_t grid_count;
  bool is_dry;
  measure_choices compile;
  // Made by measure_begin.
  loaded program;
  bindings bound;
  capture inputs;
  capture_output expected;
  note_sink notes;
  store *store; // NULL: dry, or not to be had
  // Progress.
  const char *what; // shown in front
  uint64_t start_ns, shown_ns;
  uint32_t done, expected_runs;
} measure;

// Extents such as 640,480; false when they are wrong, after a message.
bool measure_set_grid(measure *m, const args *a);
// Takes one option or word; false when it was wrong, after a message.
bool measure_option(measure *m, const args *a, int letter);
// Ends measuring at Ctrl-C instead of the process.
void measure_catch_stop(void);
// Loads, binds and copies the inputs.
vyre_status measure_load(measure *m, vyre_error *error);
// The same; and runs the reference on them and opens the store.
vyre_status measure_begin(measure *m, vyre_error *error);
void measure_end(measure *m);

enum { MEASURE_BACKENDS = 24 };

// The ids of what is to be measured, up to MEASURE_BACKENDS: the backends that were named; without
// any, all contenders with each of their devices, `with_others` also the oracle and peers. Drivers
// are opened.
uint32_t measure_ids(const measure *m, bool with_others, const char **out);
// Compiles the program as the runtime's best variants are.
vyre_status measure_compile(const measure *m, const char *backend, vyre_executable **out,
                            vyre_error *error);

// A keep_going callback; `measure` is its context. Shows progress on a terminal.
bool measure_goes_on(void *measure, uint32_t done, uint32_t expected);
void measure_clear_line(const measure *m);
bool measure_was_stopped(void);
enum { EXIT_STOPPED = 130 }; // as shells have it for a process that Ctrl-C ended
// The exit status of the command, after printing the error if there is one.
int measure_exit(const measure *m, vyre_status status, const vyre_error *error);

// "3 days ago", "just now"; `out` has SHOW_TEXT bytes and is returned.
const char *measure_age(int64_t date, char *out);

#endif
