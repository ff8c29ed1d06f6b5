// SPDX-License-Identifier: MIT
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/args.h"
#include "cli/report_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const args_option report_options[] = {
    {'o', "output", "FILE.html"},
    {'M', "no-measure", NULL},
    {0, NULL, NULL},
};

typedef struct options {
  const char *path, *only;
  bool measures;
} options;

static bool read_options(const cli *c, int argc, char **argv, options *o) {
  *o = (options){.measures = true};
  args a = args_begin(c, report_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return false;
    if (letter == 'o') o->path = a.value;
    if (letter == 'M') o->measures = false;
    if (letter == ARGS_WORD && o->only) {
      cli_usage(c, "one op at a time: `%s` is too many", a.value);
      return false;
    }
    if (letter == ARGS_WORD) o->only = a.value;
  }
  if (o->path) return true;
  cli_usage(c, "it is not said where the page goes. Fix: run `vyre report -o report.html`");
  return false;
}

static vyre_status write_page(const options *o, const report_data *d, vyre_error *error) {
  strbuf page = {0};
  size_t size;
  report_page(&page, d, clock_unix_seconds());
  char *text = strbuf_take(&page, &size);
  if (!text) return error_out_of_memory(error);
  vyre_status status = VYRE_OK;
  if (!strcmp(o->path, "-"))
    fwrite(text, 1, size, stdout); // the end of main looks whether that worked
  else
    status = file_replace(o->path, text, size, error);
  free(text);
  return status;
}

static int run(cli *c, int argc, char **argv) {
  options o;
  report_data d;
  vyre_error error;
  note_sink notes = cli_notes();
  if (!read_options(c, argc, argv, &o)) return EXIT_USAGE;
  vyre_status status = report_gather(&d, o.only, &notes, &error);
  if (status == VYRE_OK && o.only && !d.programs.count)
    status = error_set(&error, VYRE_ERROR_BINDING,
                       "nothing was measured of `%s`. Fix: run it some times, or see the ops in "
                       "`vyre profile show`",
                       o.only);
  if (status == VYRE_OK && o.measures) {
    d.machine_bytes_per_ns = report_measure_memory();
    d.machine_operations_per_ns = report_measure_operations();
  }
  if (status == VYRE_OK) status = write_page(&o, &d, &error);
  size_t programs = d.programs.count;
  report_data_fini(&d);
  if (status != VYRE_OK) return cli_error(c, &error);
  if (!strcmp(o.path, "-")) return EXIT_FINE;
  if (c->json)
    return cli_json(
        json_pack("{s:o, s:I}", "file", cli_text(o.path), "programs", (json_int_t)programs));
  printf("%s: %zu program%s\n", o.path, programs, programs == 1 ? "" : "s");
  return EXIT_FINE;
}

const command report_command = {
    "report", "draw what was learned as a page for a browser",
    "usage: vyre report -o FILE.html [OP] [--json]\n"
    "\n"
    "Writes one page with everything in it, no script and nothing from elsewhere: for each "
    "program\n"
    "where its time goes, its time by size on each backend and where the fastest changes, how\n"
    "samples lie apart, decisions over time, what runs and why, and what would change it; for the\n"
    "machine the operations and bytes of regions against what it computes and what memory gives,\n"
    "and how searches went. Figures\n"
    "are those of `vyre profile show`, of this machine, and are in the page as JSON too. OP: only\n"
    "programs of that name.\n"
    "\n"
    "options:\n"
    "  -o, --output FILE.html   where the page goes; - is standard output\n"
    "      --no-measure         do not measure the machine (half a second)\n"
    "\n"
    "examples:\n"
    "  vyre report -o report.html\n"
    "  vyre report saxpy -o saxpy.html\n",
    run};
