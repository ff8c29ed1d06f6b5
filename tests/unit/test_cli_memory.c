// SPDX-License-Identifier: MIT
//
// A command gives back all that it took, also when it refuses what it was asked: each of these is
// run again and again in this process, and what is held must not grow. Everything runs on `ref`,
// because compilers and drivers keep what they please. And it ends well when there is no memory.
#include "base/warning.h"
#include "cli/cli.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../failing_malloc.h"
#include "../scratch_dir.h"

#define SAXPY VYRE_SOURCE_DIR "/examples/saxpy.vyre"
#define SCALE VYRE_SOURCE_DIR "/tests/golden/cli/inputs/scale.vyre"
#define SUMS  VYRE_SOURCE_DIR "/tests/golden/cli/inputs/sums.vyre"

typedef struct line {
  const command *command;
  const char *words; // apart by blanks; % is the scratch folder
  int code;
} line;

// In this order: later ones read what earlier ones wrote.
static const line lines[] = {
    {&check_command, SAXPY " " SUMS, EXIT_FINE},
    {&check_command, "--json " SAXPY, EXIT_FINE},
    {&check_command, "no-such-file.vyre", EXIT_ENVIRONMENT},
    {&check_command, "--json no-such-file.vyre", EXIT_ENVIRONMENT},
    {&check_command, "%/wrong.vyre", EXIT_INPUT},
    {&check_command, "--json %/wrong.vyre", EXIT_INPUT},
    {&check_command, "--frobnicate " SAXPY, EXIT_USAGE},
    {&check_command, "", EXIT_USAGE},
    {&fmt_command, SAXPY, EXIT_FINE},
    {&fmt_command, "--json --check " SAXPY, EXIT_FINE},
    {&fmt_command, "%/wrong.vyre", EXIT_INPUT},
    {&info_command, SUMS, EXIT_FINE},
    {&info_command, "--json " SUMS, EXIT_FINE},
    {&info_command, "--json %/wrong.vyre", EXIT_INPUT},
    {&convert_command, SAXPY " -o %/saxpy.vyreb", EXIT_FINE},
    {&convert_command, "%/saxpy.vyreb --to text", EXIT_FINE},
    {&convert_command, "%/saxpy.vyreb -o %/saxpy.vyre --json", EXIT_FINE},
    {&convert_command, "%/saxpy.vyreb --json", EXIT_USAGE},
    {&convert_command, SAXPY " --to xml", EXIT_USAGE},
    {&convert_command, SAXPY " -o %/no/such/folder.vyre", EXIT_ENVIRONMENT},
    {&opt_command, SUMS, EXIT_FINE},
    {&opt_command, "--report " SUMS, EXIT_FINE},
    {&opt_command, "--report --json " SUMS, EXIT_FINE},
    {&opt_command, "--json " SUMS " -o %/sums.vyre", EXIT_FINE},
    {&opt_command, "--list", EXIT_FINE},
    {&opt_command, "--list --json", EXIT_FINE},
    {&opt_command, "--passes=canonicalize,const_fold,dce --dump-after=const_fold " SUMS, EXIT_FINE},
    {&opt_command, "--passes=nothing " SUMS, EXIT_USAGE},
    {&opt_command, "%/wrong.vyre", EXIT_INPUT},
    {&compile_command, SAXPY " --emit=c", EXIT_FINE},
    {&compile_command, SAXPY " --emit=opencl --json -o %/saxpy.cl", EXIT_FINE},
    {&compile_command, SAXPY " --emit=opencl --json", EXIT_USAGE},
    {&compile_command, SUMS " --emit=text -o %/sums.text", EXIT_FINE},
    {&compile_command, "--list", EXIT_FINE},
    {&compile_command, "--list --json", EXIT_FINE},
    {&compile_command, SAXPY " --emit=fortran", EXIT_USAGE},
    {&run_command, SAXPY " a=2 x=iota:8 y=ones:8 --print y -b ref", EXIT_FINE},
    {&run_command, SAXPY " a=2 x=iota:8 y=ones:8 --json --print y -b ref", EXIT_FINE},
    {&run_command, SAXPY " a=2 x=iota:8 y=ones:8 --out y=%/y.npy -b ref --repeat 3", EXIT_FINE},
    {&run_command, SAXPY " a=2 x=@%/y.npy y=@%/y.npy --print y -b ref", EXIT_FINE},
    {&run_command, SAXPY " a=2 x=@%/none.npy y=ones:8 -b ref", EXIT_ENVIRONMENT},
    {&run_command, SAXPY " a=2 x=iota:8 -b ref", EXIT_INPUT},
    {&run_command, SAXPY " a=two x=iota:8 y=ones:8 -b ref", EXIT_INPUT},
    {&run_command, SAXPY " a=2 x=iota:8 y=ones:8 z=ones:8 -b ref", EXIT_INPUT},
    {&run_command, SAXPY " a=2 x=iota:8 y=ones:8 --print q -b ref", EXIT_INPUT},
    {&run_command, SAXPY " a=2 x=iota:8 y=ones:8 -b nothing", EXIT_USAGE},
    {&run_command, SCALE " a=3 x=iota:1000 -b ref --repeat 20 --explain", EXIT_FINE},
    {&certify_command, SCALE " a=3 x=iota:1000 -b ref -r 1", EXIT_FINE},
    {&certify_command, SCALE " a=3 x=iota:1000 -b ref -r 1 --json", EXIT_FINE},
    {&certify_command, SCALE " a=3 -b ref", EXIT_INPUT},
    {&bench_command, SCALE " a=3 x=iota:300 -b ref -r 1", EXIT_FINE},
    {&bench_command, SCALE " a=3 x=iota:300 -b ref -r 1 --json", EXIT_FINE},
    {&bench_command, SCALE " a=3 -b ref", EXIT_INPUT},
    {&bench_command, "", EXIT_USAGE},
    {&tune_command, SCALE " a=3 x=iota:300 -b ref -r 1", EXIT_FINE},
    {&tune_command, SCALE " a=3 x=iota:300 -b ref -r 1 --json", EXIT_FINE},
    {&explain_command, SCALE, EXIT_FINE},
    {&explain_command, "--json " SCALE, EXIT_FINE},
    {&explain_command, "scale", EXIT_FINE},
    {&explain_command, "nothing.like.it", EXIT_INPUT},
    {&profile_command, "show", EXIT_FINE},
    {&profile_command, "show scale --json", EXIT_FINE},
    {&profile_command, "export %/evidence.db", EXIT_FINE},
    {&profile_command, "import %/evidence.db", EXIT_FINE},
    {&profile_command, "import %/wrong.vyre", EXIT_ENVIRONMENT},
    {&profile_command, "merge %/merged.db %/evidence.db %/evidence.db", EXIT_FINE},
    {&profile_command, "imprt x", EXIT_USAGE},
    {&cache_command, "show", EXIT_FINE},
    {&cache_command, "show --json", EXIT_FINE},
    {&cache_command, "polish", EXIT_USAGE},
    {&devices_command, "ref", EXIT_FINE},
    {&devices_command, "--json ref", EXIT_FINE},
    {&devices_command, "reff", EXIT_ENVIRONMENT},
    {&conform_command, "--backend ref --count 3 --suite rows", EXIT_FINE},
    {&conform_command, "--backend ref --count 3 --suite rows --json", EXIT_FINE},
    {&conform_command, "--backend ref --suite programs " SAXPY " " SCALE, EXIT_FINE},
    {&conform_command, "--backend ref --suite programs --json " SAXPY, EXIT_FINE},
    {&conform_command, SAXPY " no-such-file.vyre", EXIT_ENVIRONMENT},
    {&conform_command, SAXPY " %/wrong.vyre --json", EXIT_INPUT},
    {&conform_command, "--backend reff", EXIT_USAGE},
    {&conform_command, "--replay %/nothing", EXIT_USAGE},
    {&conform_command, "--replay %/nothing --backend ref", EXIT_ENVIRONMENT},
};

enum { WORDS = 16, ROOM = 2000 };

static int run(const line *l) {
  char room[ROOM], *argv[WORDS + 1];
  int argc = 0;
  size_t used = 0;
  for (const char *at = l->words; *at && used < ROOM - 300; at++)
    if (*at == '%')
      used += (size_t)snprintf(room + used, 300, "%s", scratch_dir);
    else
      room[used++] = *at;
  room[used] = 0;
  for (char *word = strtok(room, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
  argv[argc] = NULL;
  bool is_json = strstr(l->words, "--json") != NULL;
  cli c = {.command = l->command, .json = is_json};
  int code = l->command->run(&c, argc, argv);
  note_sink notes = cli_notes();
  warning_take(&notes);
  fflush(stdout);
  return code;
}

// Without a word on the terminal.
static int run_silent(const line *l) {
  fflush(stdout);
  int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  int code = run(l);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(nowhere);
  close(out);
  close(err);
  return code;
}

static void commands_give_back_what_they_took(void **state) {
  (void)state;
  scratch_write(scratch_path("wrong.vyre"), "program p()\nregion r grid(1) { x[0] = 1 }\n");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    int code = run_silent(&lines[i]);
    if (code != lines[i].code) fail_msg("%s %s: %d", lines[i].command->name, lines[i].words, code);
#if FAILING_MALLOC
    // What is made once per process, and by threads, is made the first times.
    for (int attempt = 0; attempt < 5; attempt++) {
      memory_arm(0, false);
      run_silent(&lines[i]);
      memory_disarm();
      if (!memory.held) break;
      if (attempt == 4)
        fail_msg("%s %s: %ld blocks are lost", lines[i].command->name, lines[i].words,
                 (long)memory.held);
    }
#endif
  }
}

// Allocations fail, one at a time, of many only some: that is told, or done without, and is never a
// crash, nor what was wrong before right.
static void commands_end_well_without_memory(void **state) {
  (void)state;
#if FAILING_MALLOC
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    for (long at = 1;; at += 1 + at / 4) {
      memory_arm(at, false);
      int code = run_silent(&lines[i]);
      memory_disarm();
      if (memory.calls < at) break;
      if (code == EXIT_FINE && lines[i].code != EXIT_FINE)
        fail_msg("%s %s: %d without allocation %ld", lines[i].command->name, lines[i].words, code,
                 at);
    }
  }
#else
  skip();
#endif
}

static int make_home(void **state) {
  if (scratch_dir_make(state)) return -1;
  return setenv("VYRE_HOME", scratch_dir, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands_give_back_what_they_took),
      cmocka_unit_test(commands_end_well_without_memory),
  };
  return cmocka_run_group_tests(tests, make_home, scratch_dir_remove);
}
