// SPDX-License-Identifier: MIT
#include "backend/backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/args.h"
#include "cli/array_file.h"
#include "cli/bind.h"
#include "cli/load.h"
#include "cli/number.h"
#include "cli/run_check.h"
#include "cli/run_cluster.h"
#include "cli/show.h"
#include "runtime/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRINTED_ELEMENTS = 32, FIRST_ELEMENTS = 6 };
static const uint64_t max_extent = INT32_MAX;

typedef struct output { // --out NAME=FILE or --print NAME[:COUNT]
  char *name, *path;
  uint64_t count;
} output;

typedef struct options {
  char *file;
  source_words source;
  const char *backend;
  vec(char *) words;
  vec(output) outputs;
  uint64_t grid[3], workgroup[3];
  uint32_t grid_count;
  uint64_t repeat, timeout_ns, fuel, threads;
  uint64_t begin_ns; // of the command; the time limit counts from here
  run_steps steps;
  bool explain;         // say what the runtime decided
  bool check;           // watch the run
  bool alone;           // whatever a launcher says
  uint32_t ranks, rank; // that a launcher started; 1: there is none
} options;

typedef struct result {
  const char *backend; // that ran it
  vyre_report report;
  uint64_t *wall_ns; // one per repetition, sorted
  uint64_t repeat;
  vyre_runtime *runtime;
  char *explained; // NULL: not asked for
  run_check check; // what was found, when it was watched
  char where[32];  // it ran, on ranks
} result;

static const args_option run_options[] = {
    {'g', "grid", "extents such as 640,480"},
    {'w', "workgroup", "extents such as 64,1,1"},
    {'b', "backend", "an id that `vyre devices` lists"},
    {'o', "out", "NAME=FILE"},
    {'p', "print", "NAME or NAME:COUNT"},
    {'R', "repeat", "a number of runs"},
    {'S', "steps", "a number of steps"},
    {'X', "swap", "two buffers such as a,b"},
    {'C', "checkpoint", "a folder"},
    {'E', "every", "a number of steps"},
    {'U', "resume", NULL},
    {'T', "timeout", "seconds"},
    {'F', "fuel", "a number of operations"},
    {'t', "threads", "a number of threads"},
    {'e', "explain", NULL},
    {'c', "check", NULL},
    {'A', "alone", NULL},
    SOURCE_LANGUAGE_OPTION,
    {0, NULL, NULL},
};

// ---- the command line
// -----------------------------------------------------------------------------

static bool read_out(const args *a, output *out) {
  char *equals = strchr(a->value, '=');
  *out = (output){.name = a->value, .path = equals ? equals + 1 : NULL};
  if (!equals || equals == a->value || !equals[1]) {
    cli_usage(a->cli, "--out wants NAME=FILE, not `%s`. Fix: write it like `--out y=y.npy`",
              a->value);
    return false;
  }
  *equals = 0;
  return true;
}

static bool read_print(const args *a, output *out) {
  char *colon = strchr(a->value, ':');
  *out = (output){.name = a->value, .count = PRINTED_ELEMENTS};
  if (!colon) return true;
  *colon = 0;
  const char *end;
  out->count = UINT64_MAX;
  if (!strcmp(colon + 1, "all")) return true;
  if (number_read_count(colon + 1, &end, &out->count) && !*end) return true;
  cli_usage(a->cli,
            "--print wants NAME:COUNT, not `%s:%s`. Fix: write it like `--print y:16` or "
            "`--print y:all`",
            a->value, colon + 1);
  return false;
}

static bool read_swap(const args *a, options *o) {
  char *comma = strchr(a->value, ',');
  if (comma && comma > a->value && comma[1]) {
    *comma = 0;
    return vec_push(&o->steps.swaps, (run_swap){a->value, comma + 1});
  }
  cli_usage(a->cli, "--swap wants two buffers, not `%s`. Fix: write it like `--swap a,b`",
            a->value);
  return false;
}

// What only makes sense together.
static bool check_steps(const cli *c, const options *o) {
  const run_steps *s = &o->steps;
  const char *wrong = NULL;
  if (!s->count && (s->swaps.count || s->folder || s->every || s->resumes))
    wrong = "--swap, --checkpoint, --every and --resume are for --steps";
  else if (!s->folder && (s->every || s->resumes))
    wrong = "--every and --resume are for --checkpoint";
  else if (s->count && (o->repeat > 1 || o->check || o->fuel))
    wrong = "--steps goes without --repeat, --check and --fuel";
  if (!wrong) return true;
  cli_usage(c, "%s. Fix: write it like `--steps 1000 --swap a,b --checkpoint saved --every 100`",
            wrong);
  return false;
}

static bool read_grid(const args *a, options *o) {
  o->grid_count = 1;
  for (const char *p = a->value; *p; p++) o->grid_count += *p == ',';
  return args_extents(a, "--grid", max_extent, 1, o->grid);
}

static bool read_option(const args *a, int letter, options *o) {
  output out;
  bool ok;
  if (letter == SOURCE_LANGUAGE) return source_take(&o->source, a, letter, &ok) && ok;
  switch (letter) {
  case 'g': return read_grid(a, o);
  case 'w': return args_extents(a, "--workgroup", UINT32_MAX, 1, o->workgroup);
  case 'b': o->backend = a->value; return true;
  case 'o': return read_out(a, &out) && vec_push(&o->outputs, out);
  case 'p': return read_print(a, &out) && vec_push(&o->outputs, out);
  case 'T': return args_seconds(a, "--timeout", &o->timeout_ns);
  case 'F': return args_u64(a, "--fuel", &o->fuel);
  case 'e': o->explain = true; return true;
  case 'c': o->check = true; return true;
  case 'A': o->alone = true; return true;
  case 'R': return args_count(a, "--repeat", RUN_TIMES, &o->repeat);
  case 'S': return args_count(a, "--steps", 100000000, &o->steps.count);
  case 'X': return read_swap(a, o);
  case 'C': o->steps.folder = a->value; return true;
  case 'E': return args_count(a, "--every", 100000000, &o->steps.every);
  case 'U': o->steps.resumes = true; return true;
  case 't': return args_count(a, "--threads", 65536, &o->threads);
  case ARGS_BUILD: source_add_option(&o->source, a->value); return true;
  default:
    if (letter != ARGS_WORD) return false;
    if (o->file) return vec_push(&o->words, a->value);
    o->file = a->value;
    return true;
  }
}

// What a kernel is made with where the language has launches: sizes of local memory, the launch.
static void take_launch(options *o) {
  size_t kept = 0;
  for (size_t i = 0; i < o->words.count; i++)
    if (!source_take_argument(&o->source, o->words.at[i])) o->words.at[kept++] = o->words.at[i];
  o->words.count = kept;
  o->source.rank = o->grid_count;
  for (int k = 0; k < 3; k++) o->source.workgroup[k] = (uint32_t)o->workgroup[k];
  for (int k = 0; k < 3; k++) o->workgroup[k] = 0; // the program has it
}

static bool read_options(const cli *c, int argc, char **argv, options *o) {
  *o = (options){.repeat = 1, .begin_ns = clock_now_ns()};
  args a = args_begin(c, run_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END;)
    if (!read_option(&a, letter, o)) return false;
  o->ranks = run_cluster_ranks(&o->rank);
  if (o->alone) o->ranks = 1, o->rank = 0;
  if (o->ranks > 1 && (o->check || o->fuel)) {
    cli_usage(c,
              "--check and --fuel are for one process, and there are %u ranks. Fix: run it "
              "without mpirun, or with --alone",
              o->ranks);
    return false;
  }
  if (!check_steps(c, o)) return false;
  if (o->file) {
    if (load_language(o->file, &o->source).has_launch) take_launch(o);
    return true;
  }
  cli_usage(c, "no program is named. Fix: run `vyre run FILE NAME=SPEC ...`");
  return false;
}

// ---- running
// --------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

// What each readwrite buffer held at first, so that every repetition does the same work.
static vyre_status save_inputs(const bindings *b, void ***saved, vyre_error *error) {
  *saved = calloc(b->span_count + 1, sizeof **saved);
  if (!*saved) return error_out_of_memory(error);
  for (uint32_t i = 0, k = 0; i < b->buffer_count; i++) {
    if (b->buffers[i].info.is_transient) continue;
    const vyre_span *span = &b->spans[k];
    if (b->buffers[i].info.access == VYRE_READWRITE) {
      void *copy = (*saved)[k] = malloc(span->size_bytes + 1);
      if (!copy) return error_out_of_memory(error);
      memcpy(copy, span->data, span->size_bytes);
    }
    k++;
  }
  return VYRE_OK;
}

// What is left of the time limit; 0: there is none. Reading and compiling count.
static uint64_t time_left(const options *o) {
  uint64_t spent = clock_now_ns() - o->begin_ns;
  return o->timeout_ns > spent ? o->timeout_ns - spent : o->timeout_ns != 0;
}

// Without a kernel the program is watched while it runs.
static vyre_status dispatch_all(vyre_kernel *kernel, const bindings *b, const options *o, result *r,
                                vyre_error *error) {
  vyre_dispatch_args args = {.params = b->params,
                             .param_count = b->param_count,
                             .buffers = b->spans,
                             .buffer_count = b->span_count,
                             .fuel = o->fuel,
                             .threads = (uint32_t)o->threads};
  for (int k = 0; k < 3; k++) args.workgroup[k] = (uint32_t)o->workgroup[k];
  void **saved = NULL;
  vyre_status status = o->repeat > 1 ? save_inputs(b, &saved, error) : VYRE_OK;
  for (uint64_t n = 0; n < o->repeat && status == VYRE_OK; n++) {
    for (uint32_t k = 0; n && k < b->span_count; k++)
      if (saved[k]) memcpy(b->spans[k].data, saved[k], b->spans[k].size_bytes);
    args.timeout_ns = time_left(o);
    status = kernel ? vyre_kernel_dispatch(kernel, &args, &r->report, error)
                    : run_checked(&r->check, r->backend, &args, &r->report, error);
    r->wall_ns[r->repeat++] = r->report.wall_ns;
  }
  for (uint32_t k = 0; saved && k < b->span_count; k++) free(saved[k]);
  free(saved);
  qsort(r->wall_ns, r->repeat, sizeof *r->wall_ns, by_value);
  return status;
}

static void print_notice(void *context, const char *message) {
  (void)context;
  vyre_error note;
  error_set(&note, VYRE_OK, "%s", message);
  cli_note(&note);
}

// As any program runs it: where it was decided before, learned about in the background. Only the
// interpreter counts operations.
static vyre_status run_kernel(vyre_program *program, const bindings *b, const options *o, result *r,
                              vyre_error *error) {
  vyre_runtime_options options = {.backend = o->backend ? o->backend
                                             : o->fuel  ? backend_oracle()->id
                                                        : NULL,
                                  .specialise = o->explain,
                                  .notice = print_notice};
  vyre_kernel *kernel;
  vyre_status status = vyre_runtime_new(&options, &r->runtime, error);
  if (status == VYRE_OK) status = vyre_runtime_load(r->runtime, program, &kernel, error);
  if (status == VYRE_OK) status = dispatch_all(kernel, b, o, r, error);
  if (status != VYRE_OK) return status;
  r->backend = kernel_backend(kernel);
  if (!o->explain) return VYRE_OK;
  vyre_runtime_settle(r->runtime); // what was begun is part of the answer
  return vyre_kernel_explain(kernel, &r->explained, error);
}

static vyre_status run_ranks(vyre_program *program, const bindings *b, options *o, result *r,
                             vyre_error *error) {
  run_cluster cluster = {.backend = o->backend,
                         .repeat = o->repeat,
                         .timeout_ns = time_left(o),
                         .threads = (uint32_t)o->threads,
                         .explain = o->explain && !o->rank,
                         .is_alone = o->ranks == 1,
                         .steps = &o->steps,
                         .notice = o->rank ? NULL : print_notice,
                         .wall_ns = r->wall_ns,
                         .report = &r->report};
  vyre_dispatch_args args = {
      .params = b->params, .param_count = b->param_count, .buffer_count = b->span_count};
  for (int k = 0; k < 3; k++) args.workgroup[k] = (uint32_t)o->workgroup[k];
  vyre_status status = run_on_cluster(program, b, &args, &cluster, error);
  r->runtime = cluster.runtime;
  r->explained = cluster.explained;
  r->repeat = cluster.count;
  memcpy(r->where, cluster.where, sizeof r->where);
  r->backend = r->where;
  qsort(r->wall_ns, r->repeat, sizeof *r->wall_ns, by_value);
  uint32_t found = vyre_cluster_size(r->runtime);
  if (status == VYRE_OK && !o->rank && found != o->ranks) {
    char text[200];
    snprintf(text, sizeof text,
             "the launcher started %u ranks, but MPI sees %u: each runs all of it. Fix: use the "
             "mpirun of the MPI that libvyre-mpi.so is built with, or srun --mpi=pmix",
             o->ranks, found);
    print_notice(NULL, text);
  }
  return status;
}

static vyre_status run_bound(vyre_program *program, const bindings *b, options *o, result *r,
                             vyre_error *error) {
  uint32_t regions = vyre_program_region_count(program);
  r->report.regions = calloc(regions + 1, sizeof *r->report.regions);
  r->report.region_capacity = regions;
  uint64_t times = o->steps.count ? o->steps.count : o->repeat;
  r->wall_ns = calloc((times < RUN_TIMES ? times : RUN_TIMES) + 1, sizeof *r->wall_ns);
  if (!r->report.regions || !r->wall_ns) return error_out_of_memory(error);
  if (o->ranks > 1 || o->steps.count) return run_ranks(program, b, o, r, error);
  if (!o->check) return run_kernel(program, b, o, r, error);
  r->backend = o->backend ? o->backend : backend_oracle()->id;
  return dispatch_all(NULL, b, o, r, error);
}

// Names in the report are borrowed from what ran.
static void free_result(result *r) {
  vyre_runtime_free(r->runtime);
  vyre_free(r->explained);
  json_decref(r->check.list);
  free(r->report.regions);
  free(r->wall_ns);
}

// ---- results
// --------------------------------------------------------------------------------------

static uint64_t total_invocations(const result *r) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < r->report.region_count; i++) total += r->report.regions[i].invocations;
  return total;
}

static bool is_result(const named_buffer *buf) {
  return !buf->info.is_transient && buf->info.access != VYRE_READ &&
         strcmp(buf->info.name, "printf") != 0;
}

static void show_regions(const result *r) {
  char count[SHOW_TEXT], time[SHOW_TEXT], bytes[SHOW_TEXT];
  int width = 6;
  for (uint32_t i = 0; i < r->report.region_count; i++)
    if ((int)strlen(r->report.regions[i].name) > width)
      width = (int)strlen(r->report.regions[i].name);
  printf("\n  %-*s  %13s  %10s  %10s\n", width, "region", "invocations", "time", "memory");
  for (uint32_t i = 0; i < r->report.region_count; i++) {
    const vyre_region_report *region = &r->report.regions[i];
    printf("  %-*s  %13s  %10s  %10s\n", width, region->name,
           show_count(region->invocations, count), show_time(region->time_ns, time),
           show_bytes(region->bytes, bytes));
  }
}

static void show_summary(const vyre_program *p, const bindings *b, const result *r) {
  char count[SHOW_TEXT], time[SHOW_TEXT];
  printf("%s on %s: %s invocations in %s", vyre_program_name(p), r->backend,
         show_count(total_invocations(r), count), show_time(r->wall_ns[0], time));
  if (r->repeat > 1)
    printf(" (best of %" PRIu64 ", median %s)", r->repeat,
           show_time(r->wall_ns[r->repeat / 2], time));
  putchar('\n');
  for (uint32_t i = 0; i < b->buffer_count; i++) {
    const named_buffer *buf = &b->buffers[i];
    if (!is_result(buf)) continue;
    printf("  %s: %s[%" PRIu64 "] = ", buf->info.name, vyre_type_name(buf->info.type), buf->count);
    show_first(buf->info.type, buf->data, buf->count);
    putchar('\n');
  }
  show_regions(r);
}

static json_t *buffer_json(const named_buffer *buf, const char *key, uint64_t shown) {
  if (shown > buf->count) shown = buf->count;
  return json_pack("{s:s, s:s, s:I, s:o}", "name", buf->info.name, "type",
                   vyre_type_name(buf->info.type), "length", (json_int_t)buf->count, key,
                   show_json(buf->info.type, buf->data, shown));
}

static json_t *result_json(const vyre_program *p, const bindings *b, const result *r) {
  json_t *buffers = json_array(), *regions = json_array();
  for (uint32_t i = 0; i < b->buffer_count; i++)
    if (is_result(&b->buffers[i]))
      json_array_append_new(buffers, buffer_json(&b->buffers[i], "first", FIRST_ELEMENTS));
  for (uint32_t i = 0; i < r->report.region_count; i++) {
    const vyre_region_report *region = &r->report.regions[i];
    json_array_append_new(regions, json_pack("{s:s, s:I, s:I, s:I}", "name", region->name,
                                             "invocations", (json_int_t)region->invocations,
                                             "time_ns", (json_int_t)region->time_ns, "bytes",
                                             (json_int_t)region->bytes));
  }
  return json_pack(
      "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "program", vyre_program_name(p),
      "backend", r->backend, "repeat", (json_int_t)r->repeat, "wall_ns", (json_int_t)r->wall_ns[0],
      "median_wall_ns", (json_int_t)r->wall_ns[r->repeat / 2], "device_ns",
      (json_int_t)r->report.device_ns, "operations", (json_int_t)r->report.operations,
      "invocations", (json_int_t)total_invocations(r), "buffers", buffers, "regions", regions);
}

// One --out or --print. `json` collects what is printed, when there is one.
static vyre_status give_output(bindings *b, const output *out, json_t *json, vyre_error *error) {
  named_buffer *buf = bind_find(b, out->name, error);
  if (!buf) return error->status;
  const char *type = vyre_type_name(buf->info.type);
  if (out->path) {
    uint64_t shape[SPEC_MOST_AXES];
    uint32_t rank = bind_shape(b, buf, shape);
    vyre_status status = array_write(out->path, buf->info.type, rank, shape, buf->data, error);
    if (status == VYRE_OK && !json && strcmp(out->path, "-"))
      printf("%s: %s[%" PRIu64 "] written to %s\n", out->name, type, buf->count, out->path);
    return status;
  }
  if (json) {
    json_array_append_new(json_object_get(json, "printed"), buffer_json(buf, "values", out->count));
    return VYRE_OK;
  }
  printf("%s: %s[%" PRIu64 "]\n", out->name, type, buf->count);
  show_elements(buf->info.type, buf->data, buf->count, out->count);
  return VYRE_OK;
}

// What the kernel printed.
static vyre_status give_printed(bindings *b, json_t *json, vyre_error *error) {
  const named_buffer *buf = bind_printf(b);
  if (!buf) return VYRE_OK;
  char *text;
  uint64_t lost;
  vyre_status status =
      vyre_print_text(buf->data, buf->count * sizeof(uint32_t), &text, &lost, error);
  if (status != VYRE_OK) return status;
  if (json)
    json_object_set_new(json, "printf", cli_text(text));
  else
    fputs(text, stdout);
  vyre_free(text);
  if (!lost) return VYRE_OK;
  fflush(stdout); // before what follows from it
  vyre_error note;
  error_set(&note, VYRE_OK,
            "printf found no room for all of it. Fix: add a word such as `printf=zeros:%" PRIu64
            "`",
            2 * (buf->count + lost));
  cli_note(&note);
  return VYRE_OK;
}

static void show_explained(char *text, json_t *json) {
  json_t *lines = json ? json_array() : NULL;
  if (!json) printf("\n%s", text);
  for (char *line = text, *next; json && *line; line = next) {
    next = line + strcspn(line, "\n");
    if (*next) *next++ = 0;
    json_array_append_new(lines, cli_text(line));
  }
  if (json) json_object_set_new(json, "explained", lines);
}

static vyre_status give_results(const cli *c, const vyre_program *p, bindings *b, const options *o,
                                result *r, vyre_error *error) {
  json_t *json = c->json ? result_json(p, b, r) : NULL;
  if (json && o->outputs.count) json_object_set_new(json, "printed", json_array());
  vyre_status status = give_printed(b, json, error);
  for (size_t i = 0; i < o->outputs.count && status == VYRE_OK; i++)
    status = give_output(b, &o->outputs.at[i], json, error);
  if (status == VYRE_OK && !json && !o->outputs.count) show_summary(p, b, r);
  if (status == VYRE_OK && r->explained) show_explained(r->explained, json);
  if (status == VYRE_OK && o->check) run_check_summary(&r->check, r->backend, json);
  if (status == VYRE_OK && json)
    cli_json(json);
  else
    json_decref(json);
  return status;
}

// A launch shape is a wish that rigid regions ignore; a person who asks for one is told.
static vyre_status check_workgroup(const options *o, const vyre_program *p, vyre_error *error) {
  bool elastic = !o->workgroup[0];
  for (uint32_t i = 0; i < vyre_program_region_count(p) && !elastic; i++)
    elastic = vyre_program_region(p, i).is_elastic;
  if (elastic) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BINDING,
                   "program `%s` has only rigid regions, whose workgroup is part of their meaning. "
                   "Fix: leave --workgroup out",
                   vyre_program_name(p));
}

// A watched run that failed, such as at a barrier, has its findings beside the error.
static int give_failure(const cli *c, run_check *check, const char *backend, vyre_error *error) {
  if (!c->json || !run_check_total(check)) return cli_error(c, error);
  json_t *json = json_object();
  json_object_set_new(json, "error", cli_error_json(error));
  run_check_summary(check, backend, json);
  cli_json(json);
  return cli_exit_code(error->status);
}

// The exit code; *is_late: the time limit passed.
static int run_program(const cli *c, options *o, const loaded *l, bool *is_late) {
  vyre_error error;
  bindings b;
  vyre_program *program = l->program;
  result r = {.check = {.cli = c, .source = l}};
  vyre_status status = check_workgroup(o, program, &error);
  if (status == VYRE_OK)
    status = (o->ranks > 1 ? bind_words_later : bind_words)(program, o->words.at, o->words.count,
                                                            o->grid, o->grid_count, &b, &error);
  // What is wrong before ranks meet is wrong on all of them: one says it.
  if (status != VYRE_OK) return o->rank ? cli_exit_code(error.status) : cli_error(c, &error);
  // A name that does not exist is found before the work, not after it.
  for (size_t i = 0; i < o->outputs.count && status == VYRE_OK; i++)
    if (!bind_find(&b, o->outputs.at[i].name, &error)) status = error.status;
  if (status == VYRE_OK) status = run_steps_check(&o->steps, &b, &error);
  if (status == VYRE_OK) status = run_bound(program, &b, o, &r, &error);
  if (status == VYRE_OK && !o->rank) status = give_results(c, program, &b, o, &r, &error);
  *is_late = status == VYRE_ERROR_TIMEOUT;
  int code = status == VYRE_OK ? EXIT_FINE : give_failure(c, &r.check, r.backend, &error);
  if (run_check_total(&r.check)) code = EXIT_FOUND;
  free_result(&r);
  bind_free(&b);
  return code;
}

static int run(cli *c, int argc, char **argv) {
  options o;
  loaded l;
  vyre_error error;
  int code = EXIT_USAGE;
  bool is_late = false;
  if (read_options(c, argc, argv, &o)) {
    vyre_status status = load_program(o.file, &o.source, &l, &error);
    code = status == VYRE_OK ? run_program(c, &o, &l, &is_late) : cli_error(c, &error);
    if (status == VYRE_OK) load_free(&l);
  }
  source_words_free(&o.source);
  vec_free(&o.words);
  vec_free(&o.outputs);
  vec_free(&o.steps.swaps);
  if (!is_late) return code;
  // A compiler that was given up is not waited for.
  fflush(NULL);
  _exit(code);
}

const command run_command = {
    "run", "run a program on data",
    "usage: vyre run FILE[:ENTRY] [NAME=SPEC ...] [options]\n"
    "\n"
    "Runs a program. Each parameter and buffer gets a word NAME=SPEC; buffers that are only\n"
    "written and declare their length need none.\n"
    "\n"
    "  SPEC of a parameter    2.5, -7, 0xff, nan, inf, true\n"
    "  SPEC of a buffer       @x.npy          a file that numpy.save wrote\n"
    "                         @x.png          an image: u8, or f32 from 0 to 1\n"
    "                         @x.csv          numbers, a line for each row; @- is standard input\n"
    "                         1,2,3           these elements\n"
    "                         zeros:N ones:N  N elements that are 0, or 1\n"
    "                         iota:N          0, 1, 2, ...\n"
    "                         rand:N[:SEED]   floats in [0, 1), integers of any value; the same\n"
    "                                         for the same seed everywhere\n"
    "                         fill:V:N        N times V\n"
    "                         local:BYTES     room for a workgroup-shared argument (OpenCL C)\n"
    "                         image:FORMAT    how an image stores pixels (OpenCL C): rgba_f32\n"
    "                         sampler:WORDS   an argument that is one (OpenCL C): linear:clamp\n"
    "                         N may be 1e6, 1M (a million) or 1Mi (1024 x 1024)\n"
    "                         N may be left out where the program declares the length, and be\n"
    "                         the shape of an image: 480x640x4\n"
    "\n"
    "options:\n"
    "  -p, --print NAME[:COUNT]   print elements of a buffer (32; NAME:all)\n"
    "  -o, --out NAME=FILE        write a buffer to a .npy, .png or .csv file, in the shape of "
    "what\n"
    "                             was read; NAME=- writes CSV to standard output\n"
    "  -g, --grid X[,Y[,Z]]       set the parameters grid_x, grid_y, grid_z; the NDRange of\n"
    "                             OpenCL C\n"
    "  -w, --workgroup X[,Y[,Z]]  launch shape of elastic regions; the workgroup of OpenCL C\n"
    "  -DNAME=VALUE -Idir -cl-... options of OpenCL C; -D also gives a tunable its value\n"
    "  -b, --backend ID           where to run, whatever was decided; `vyre devices` lists them\n"
    "      --repeat N             run N times on the same input, report the best time\n"
    "      --steps N              N runs, each on what the one before left\n"
    "      --swap A,B             buffers that change places between them\n"
    "      --checkpoint FOLDER    keep there what the last step left\n"
    "      --every N              and what every N steps left\n"
    "      --resume               go on from there, on any number of ranks\n"
    "  -e, --explain              say what the runtime decided and why, with variants that have\n"
    "                             arguments as constants; worth it with --repeat\n"
    "      --alone                run alone, also where mpirun or srun started several: otherwise\n"
    "                             these share the work, and rank 0 has the results\n"
    "  -c, --check                watch the run: accesses outside of memory, data races, barriers\n"
    "                             that not all reach, divisions by zero, and in OpenCL C elements\n"
    "                             that nobody wrote; on ref unless -b says otherwise, where only\n"
    "                             accesses and divisions are watched. Exit status 4: found\n"
    "      --timeout SECONDS      give up after that long, reading and compiling included\n"
    "      --fuel N               give up after N operations, which only ref counts\n"
    "      --threads N            use at most N threads of this CPU; 1 runs in order\n"
    "      --language NAME        what FILE is written in, where its name does not say: text,\n"
    "                             wire, opencl\n"
    "      --json                 results as JSON\n"
    "\n"
    "examples:\n"
    "  vyre run saxpy.vyre a=2 x=iota:8 y=ones:8 --print y\n"
    "  vyre run saxpy.vyre a=0.5 x=@x.npy y=@y.npy --out y=result.npy\n"
    "  vyre run kernels.cl:saxpy a=2 x=rand:1000 y=ones:1000 --grid 1000\n"
    "  vyre run saxpy.vyre a=2 x=rand:100000 y=ones:100000 --repeat 100 --explain\n"
    "  vyre run dot.vyre x=rand:1024 y=rand:1024:7 partial=zeros:4 --repeat 10\n"
    "  vyre run dot.vyre x=rand:1024 y=rand:1024 partial=zeros:3 --check\n"
    "  mpirun -n 4 vyre run heat.vyre a=@a.npy b=zeros --out b=b.npy\n"
    "  vyre run heat.vyre a=@a.npy b=zeros --steps 99 --swap a,b --checkpoint saved\n",
    run};
