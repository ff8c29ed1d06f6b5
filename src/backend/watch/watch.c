// SPDX-License-Identifier: MIT
#include "backend/watch/watch.h"

#include "backend/executable.h"
#include "backend/ref/ref.h"
#include "backend/watch/instrument.h"
#include "backend/watch/shadow.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "ir/math.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct watcher {
  vyre_program *program;
  // On the reference.
  vyre_program *expanded; // NULL: on another backend
  uint16_t *kinds;        // of accesses, per operation: see shadow.h
  // On another.
  instrumented counting;
  vyre_executable *executable;
};

// ---- on the reference ---------------------------------------------------------------------------

// Loads, and atomics of whatever kind, are fine beside one another.
static uint16_t kind_of(const inst *in) {
  return in->op == VYRE_OP_LOAD ? 1 : op_is_atomic(in->op) ? 2 : 0;
}

typedef struct run {
  watcher *watcher;
  const vyre_check_options *options;
  uint64_t *counts;
  findings found;
  shadow *shadow;
} run;

static void at_element(vyre_finding *v, const ref_event *e) {
  v->index = (int64_t)e->index;
  v->length = e->length;
}

static void note_race(run *r, const ref_event *e, shadow_access other) {
  vyre_finding *v = findings_add(&r->found, VYRE_FINDING_RACE, e->instruction, e->invocation);
  if (!v) return;
  const vyre_program *p = r->found.p;
  at_element(v, e);
  v->other = op_table[p->code[other.instruction].op].name;
  v->other_line = program_line(p, other.instruction, NULL);
  findings_place(&r->found, findings_region(p, e->instruction), other.invocation,
                 v->other_invocation);
}

static void on_access(void *context, const ref_event *e) {
  run *r = context;
  const vyre_program *p = r->found.p;
  vyre_finding_kind kind = VYRE_FINDING_BOUNDS;
  bool is_inside = e->index < e->length;
  bool is_private = mem_space(p->code[e->instruction].arg[0]) == MEM_PRIVATE;
  shadow_access other;
  if (is_inside && !is_private &&
      shadow_conflicts(r->shadow, findings_region(p, e->instruction), e, &other))
    note_race(r, e, other);
  if (is_inside) {
    if (!p->begins_undefined || !shadow_is_unset(r->shadow, e)) return;
    kind = VYRE_FINDING_UNSET;
  }
  vyre_finding *v = findings_add(&r->found, kind, e->instruction, e->invocation);
  if (v) at_element(v, e);
}

static void on_declaration(void *context, const ref_event *e) {
  run *r = context;
  if (r->found.p->begins_undefined) shadow_declare(r->shadow, e);
}

static void on_division(void *context, const ref_event *e) {
  run *r = context;
  findings_add(&r->found, VYRE_FINDING_DIVISION, e->instruction, e->invocation);
}

static void on_divergence(void *context, const ref_divergence *d) {
  run *r = context;
  int here = d->barriers[0] ? 0 : 1; // one of them waits
  vyre_finding *v =
      findings_add(&r->found, VYRE_FINDING_BARRIER, d->barriers[here], d->invocations[here]);
  if (!v) return;
  const vyre_program *p = r->found.p;
  uint32_t other = d->barriers[!here];
  if (other) v->other_line = program_line(p, other, NULL);
  findings_place(&r->found, findings_region(p, d->barriers[here]), d->invocations[!here],
                 v->other_invocation);
}

static void tell(run *r) {
  uint32_t most = r->options ? r->options->most : 0;
  if (r->options) findings_tell(&r->found, most, r->options->found, r->options->data);
  for (int k = 0; r->counts && k < VYRE_FINDING_KINDS; k++) r->counts[k] = r->found.counts[k];
}

static vyre_status out_of_shadow(vyre_error *error) {
  return error_set(error, VYRE_ERROR_MEMORY,
                   "there is no memory to watch every element. Fix: check a smaller input, or on "
                   "another backend, where only accesses outside and divisions are watched");
}

static vyre_status run_on_reference(void *context, const launch *l, vyre_report *report,
                                    vyre_error *error) {
  run *r = context;
  watcher *w = r->watcher;
  bool ok = findings_init(&r->found, w->expanded, l);
  r->shadow = ok ? shadow_new(w->expanded, l, w->kinds) : NULL;
  vyre_status status = r->shadow ? VYRE_OK : error_out_of_memory(error);
  if (status == VYRE_OK) {
    ref_observer observer = {.access = on_access,
                             .declare = on_declaration,
                             .divide_by_zero = on_division,
                             .diverge = on_divergence,
                             .context = r};
    status = ref_run(w->expanded, l, &observer, report, error);
    tell(r);
    if (status == VYRE_OK && (shadow_failed(r->shadow) || r->found.failed))
      status = out_of_shadow(error);
  }
  shadow_free(r->shadow);
  findings_fini(&r->found);
  return status;
}

// ---- on another backend -------------------------------------------------------------------------

static vyre_status count_on(run *r, const vyre_dispatch_args *args, uint32_t *counted,
                            vyre_report *report, vyre_error *error) {
  watcher *w = r->watcher;
  vyre_span spans[LIMIT_BUFFERS];
  vyre_buffer *handles[LIMIT_BUFFERS] = {0};
  uint32_t count = args->buffer_count;
  if (count >= LIMIT_BUFFERS || (count && !args->buffers && !args->handles))
    return error_set(error, VYRE_ERROR_BINDING,
                     "the buffers are missing. Fix: bind one span for each buffer");
  if (count && args->buffers) memcpy(spans, args->buffers, count * sizeof *spans);
  if (count && args->handles) memcpy(handles, args->handles, count * sizeof *handles);
  vyre_dispatch_args more = *args;
  if (w->counting.program) {
    spans[count] =
        (vyre_span){counted, sizeof *counted * INSTRUMENT_WORDS * w->counting.place_count};
    more.buffers = spans;
    more.buffer_count = count + 1;
    if (args->handles) more.handles = handles;
  }
  return executable_dispatch(w->executable, &more, report, error);
}

// Names in a report live as long as the caller's program; those of what was compiled do not.
static void borrow_names(const vyre_program *p, vyre_report *report) {
  for (uint32_t i = 0; report && report->regions && i < report->region_count; i++) {
    const char *name = p->name; // of regions that passes joined
    for (uint32_t k = 0; k < p->region_count; k++)
      if (!strcmp(p->regions[k].name, report->regions[i].name)) name = p->regions[k].name;
    report->regions[i].name = name;
  }
}

static vyre_status run_on_backend(run *r, const vyre_dispatch_args *args, vyre_report *report,
                                  vyre_error *error) {
  watcher *w = r->watcher;
  launch l;
  vyre_status status = launch_init(&l, w->program, args, error);
  if (status != VYRE_OK) return status;
  size_t words = (size_t)w->counting.place_count * INSTRUMENT_WORDS;
  uint32_t *counted = calloc(words + 1, sizeof *counted);
  bool ok = counted && findings_init(&r->found, w->program, &l);
  status = ok ? count_on(r, args, counted, report, error) : error_out_of_memory(error);
  if (ok) borrow_names(w->program, report);
  if (ok) {
    instrument_findings(&w->counting, counted, &r->found);
    tell(r);
  }
  findings_fini(&r->found);
  free(counted);
  launch_fini(&l);
  return status;
}

// ---- life ---------------------------------------------------------------------------------------

static vyre_status prepare_reference(watcher *w, vyre_error *error) {
  vyre_status status = math_expand(w->program, &w->expanded, error);
  if (status != VYRE_OK) return status;
  w->kinds = calloc(w->expanded->code_count + 1u, sizeof *w->kinds);
  if (!w->kinds) return error_out_of_memory(error);
  for (uint32_t i = 0; i < w->expanded->code_count; i++)
    w->kinds[i] = kind_of(&w->expanded->code[i]);
  return VYRE_OK;
}

static vyre_status prepare_backend(watcher *w, const char *id, vyre_error *error) {
  vyre_status status = instrument(w->program, &w->counting, error);
  if (status != VYRE_OK) return status;
  const backend *b = backend_find(id);
  if (!b) return backend_unknown(id, error);
  vyre_program *made = w->counting.program ? w->counting.program : w->program, *optimized;
  vyre_compile_options options = {0};
  status = executable_optimize(made, b, &options, &optimized, error);
  if (status != VYRE_OK) return status;
  status = executable_compile(optimized, id, &options, &w->executable, error);
  vyre_program_release(optimized);
  return status;
}

vyre_status watcher_new(vyre_program *program, const char *backend, watcher **out,
                        vyre_error *error) {
  *out = NULL;
  watcher *w = calloc(1, sizeof *w);
  if (!w) return error_out_of_memory(error);
  w->program = vyre_program_retain(program);
  vyre_status status = !backend || backend_is_oracle(backend) ? prepare_reference(w, error)
                                                              : prepare_backend(w, backend, error);
  if (status == VYRE_OK)
    *out = w;
  else
    watcher_free(w);
  return status;
}

void watcher_free(watcher *w) {
  if (!w) return;
  vyre_executable_release(w->executable);
  instrument_fini(&w->counting);
  vyre_program_release(w->expanded);
  vyre_program_release(w->program);
  free(w->kinds);
  free(w);
}

vyre_status watcher_dispatch(watcher *w, const vyre_dispatch_args *args,
                             const vyre_check_options *options, uint64_t counts[VYRE_FINDING_KINDS],
                             vyre_report *report, vyre_error *error) {
  run r = {.watcher = w, .options = options, .counts = counts};
  for (int k = 0; counts && k < VYRE_FINDING_KINDS; k++) counts[k] = 0;
  if (!w->expanded) return run_on_backend(&r, args, report, error);
  return executable_launch(w->program, backend_oracle(), run_on_reference, &r, args, report, error);
}

vyre_status vyre_check_dispatch(vyre_program *program, const vyre_dispatch_args *args,
                                const vyre_check_options *options,
                                uint64_t counts[VYRE_FINDING_KINDS], vyre_report *report,
                                vyre_error *error) {
  FPENV_SCOPE;
  if (!program || !args)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_check_dispatch was called with NULL. Fix: pass a program and arguments");
  watcher *w;
  vyre_status status = watcher_new(program, options ? options->backend : NULL, &w, error);
  if (status != VYRE_OK) return status;
  status = watcher_dispatch(w, args, options, counts, report, error);
  watcher_free(w);
  return status;
}

// ---- the environment ----------------------------------------------------------------------------

static struct {
  pthread_once_t once;
  bool is_wanted;
  const char *backend;
} wish = {.once = PTHREAD_ONCE_INIT};

static void read_wish(void) {
  const char *value = environment_get("VYRE_CHECK");
  wish.is_wanted = value && strcmp(value, "0");
  if (environment_is("VYRE_CHECK", "bounds")) wish.backend = backend_usual()->id;
}

bool watch_is_wanted(const char **backend) {
  pthread_once(&wish.once, read_wish);
  *backend = wish.backend;
  return wish.is_wanted;
}

typedef struct listener {
  void (*notice)(void *context, const char *message);
  void *context;
} listener;

static void pass_on(void *data, const vyre_finding *v) {
  const listener *to = data;
  strbuf s = {0};
  if (v->file) strbuf_printf(&s, "%s:", v->file);
  if (v->line) strbuf_printf(&s, "%u:%u:", v->line, v->column);
  strbuf_printf(&s, "%s%s in region `%s`: %s", s.size ? " " : "", vyre_finding_name(v->kind),
                v->region, v->text);
  char *text = strbuf_take(&s, NULL);
  if (text && to->notice)
    to->notice(to->context, text);
  else if (text)
    fprintf(stderr, "vyre: %s\n", text);
  free(text);
}

vyre_status watch_dispatch(watcher *w, const vyre_dispatch_args *args,
                           void (*notice)(void *context, const char *message), void *context,
                           vyre_report *report, vyre_error *error) {
  listener to = {notice, context};
  vyre_check_options options = {.found = pass_on, .data = &to};
  return watcher_dispatch(w, args, &options, NULL, report, error);
}
