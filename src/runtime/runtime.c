// SPDX-License-Identifier: MIT
#include "runtime/kernel.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void runtime_notice(vyre_runtime *rt, uint32_t kind, const char *format, ...) {
  pthread_mutex_lock(&rt->lock);
  bool is_new = !(rt->notices & kind);
  rt->notices |= kind;
  pthread_mutex_unlock(&rt->lock);
  if (!is_new || !rt->options.notice) return;
  char message[600];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  rt->options.notice(rt->options.notice_context, message);
}

static void take_note(void *context, const vyre_error *note) {
  runtime_notice(context, NOTICE_STORE, "%s", note->message);
}

note_sink runtime_notes(vyre_runtime *rt) {
  return (note_sink){take_note, rt};
}

void runtime_adapter(const char *backend, char out[128]) {
  vyre_device device;
  uint32_t count = 0;
  out[0] = 0;
  if (vyre_backend_devices(backend, &device, 1, &count, NULL) == VYRE_OK && count)
    snprintf(out, 128, "%s", device.adapter);
}

// A file that cannot be read costs what was learned, not the work.
static void load_files(vyre_runtime *rt) {
  vyre_error error;
  note_sink notes = runtime_notes(rt);
  if (tune_mode_from_env(&rt->tune_mode, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "%s", error.message);
  if (rt->options.no_store) return;
  char *path = route_default_path();
  rt->routes = route_table_new();
  if (path && rt->routes && route_table_load(rt->routes, path, &notes, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "%s", error.message);
  free(path);
}

void runtime_save_routes(vyre_runtime *rt) {
  vyre_error error;
  note_sink notes = runtime_notes(rt);
  char *path = route_default_path();
  pthread_mutex_lock(&rt->files);
  if (path && route_table_save(rt->routes, path, &notes, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "routes are not kept: %s", error.message);
  pthread_mutex_unlock(&rt->files);
  free(path);
}

static void flush(void *runtime) {
  vyre_runtime *rt = runtime;
  evidence_flush(rt);
  pthread_mutex_lock(&rt->lock);
  for (vyre_kernel *k = rt->kernels; k; k = k->next_in_runtime) {
    pthread_mutex_lock(&k->lock);
    for (uint32_t i = 0; i < SIZE_CLASSES; i++) {
      plan *p = atomic_load(&k->plans[i]);
      if (p) resize_consider(k, p);
    }
    pthread_mutex_unlock(&k->lock);
  }
  pthread_mutex_unlock(&rt->lock);
}

vyre_status vyre_runtime_new(const vyre_runtime_options *options, vyre_runtime **out,
                             vyre_error *error) {
  vyre_runtime_options defaults = {0};
  if (!options) options = &defaults;
  if (options->backend && !backend_find(options->backend))
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "there is no backend `%s`. Fix: use one that `vyre devices` lists",
                     options->backend);
  vyre_runtime *rt = calloc(1, sizeof *rt);
  if (!rt) return error_out_of_memory(error);
  rt->options = *options;
  if (options->backend) snprintf(rt->backend, sizeof rt->backend, "%s", options->backend);
  rt->options.backend = NULL; // the copy is what counts
  pthread_mutex_init(&rt->lock, NULL);
  pthread_mutex_init(&rt->files, NULL);
  pthread_mutex_init(&rt->submit_lock, NULL);
  pthread_cond_init(&rt->submit_done, NULL);
  load_files(rt);
  rt->hints = hints_new(&HINTS_RUNTIME);
  evidence_open(rt);
  if (!options->no_learning) {
    rt->worker = worker_new(&(worker_options){
        .in_background = true, .tick = flush, .tick_ns = EVIDENCE_TICK_NS, .context = rt});
    if (!rt->worker)
      runtime_notice(
          rt, NOTICE_NO_THREAD,
          "no background thread could be started: programs stay with their first variant");
  }
  if (!rt->hints) {
    vyre_runtime_free(rt);
    return error_out_of_memory(error);
  }
  *out = rt;
  return VYRE_OK;
}

void vyre_runtime_settle(vyre_runtime *rt) {
  if (rt->worker) worker_wait_idle(rt->worker);
  evidence_flush(rt);
}

void vyre_runtime_free(vyre_runtime *rt) {
  if (!rt) return;
  worker_free(rt->submitter); // what waits for its turn completes with an error
  worker_free(rt->worker);
  rt->worker = NULL;
  while (rt->kernels) vyre_kernel_free(rt->kernels);
  while (rt->buffers) vyre_buffer_free(rt->buffers);
  evidence_close(rt);
  hints_free(rt->hints);
  route_table_free(rt->routes);
  pthread_cond_destroy(&rt->submit_done);
  pthread_mutex_destroy(&rt->submit_lock);
  pthread_mutex_destroy(&rt->files);
  pthread_mutex_destroy(&rt->lock);
  free(rt);
}

// ---- explaining ---------------------------------------------------------------------------------

static const plan_route *find_route(const plan *p, const char *backend, uint64_t median_ns) {
  for (uint32_t i = 0; i < p->route_count; i++)
    if (!strcmp(p->routes[i].variant->backend, backend) &&
        p->routes[i].variant->median_ns == median_ns)
      return &p->routes[i];
  return NULL;
}

static void explain_plan(strbuf *s, const plan *p) {
  static const char *const states[] = {"not enough dispatches yet", "being learned", "learned",
                                       "not learned"};
  plan *q = (plan *)p;
  const variant *v = atomic_load(&q->current);
  uint64_t count = atomic_load(&q->dispatches), total = atomic_load(&q->total_ns);
  unsigned state = atomic_load(&q->state);
  strbuf_printf(s, "size class %u (below %llu bytes): %llu dispatches, mean %.3f us\n",
                p->size_class, p->size_class < 64 ? 1ull << p->size_class : UINT64_MAX,
                (unsigned long long)count, count ? (double)total / (double)count / 1000.0 : 0.0);
  strbuf_printf(s, "  runs on %s (%s); %s", v->backend, v->origin, states[state]);
  if (p->reason != REASON_NONE) strbuf_printf(s, ": %s", plan_reason_name(p->reason));
  strbuf_printf(s, "; routing table: %s", route_state_name(p->route));
  uint32_t shape[3];
  plan_shape(p, shape);
  if (p->tune_reason && shape[0])
    strbuf_printf(s, "; shape %u x %u x %u (%s)", shape[0], shape[1], shape[2], p->tune_reason);
  else if (p->tune_reason)
    strbuf_printf(s, "; shape as declared (%s)", p->tune_reason);
  strbuf_putc(s, '\n');
  for (uint32_t i = 0; i < p->note_count && state >= PLAN_LEARNED; i++) {
    const candidate_note *n = &p->notes[i];
    strbuf_printf(s, "    %-8s %-10s %-14s", n->backend, n->origin, plan_reason_name(n->reason));
    if (n->median_ns) strbuf_printf(s, " median %.3f us", (double)n->median_ns / 1000.0);
    if (n->compile_ns) strbuf_printf(s, ", compiled in %.1f ms", (double)n->compile_ns / 1e6);
    const plan_route *r = find_route(p, n->backend, n->median_ns);
    if (r && r->copy_ns_per_byte > 0)
      strbuf_printf(s, ", %.3f us with its buffers there", (double)r->resident_ns / 1000.0);
    if (n->detail[0]) strbuf_printf(s, ", %s", n->detail);
    strbuf_putc(s, '\n');
  }
}

static void explain_passes(strbuf *s, const vyre_program *p, const variant *v) {
  if (!v->decisions) return;
  for (uint32_t r = 0; r < v->region_count; r++) {
    strbuf_printf(s, "  passes for region %s:\n", r < p->region_count ? p->regions[r].name : "?");
    for (size_t i = 0; i < v->pass_count; i++) {
      const select_decision *d = &v->decisions[r * v->pass_count + i];
      strbuf_printf(s, "    %-24s %-3s %s\n", d->pass->name, d->selected ? "yes" : "no",
                    select_reason_name(d->reason));
    }
  }
}

vyre_status vyre_kernel_explain(vyre_kernel *k, char **out, vyre_error *error) {
  strbuf s = {0};
  strbuf_printf(&s, "%s\n", k->program->name);
  pthread_mutex_lock(&k->lock);
  for (uint32_t i = 0; i < SIZE_CLASSES; i++) {
    plan *p = atomic_load(&k->plans[i]);
    if (!p) continue;
    explain_plan(&s, p);
    explain_passes(&s, k->program, atomic_load(&p->current));
  }
  if (k->predictor) {
    char decision[SPECULATE_TEXT];
    speculate_format(k->last_decision, decision);
    strbuf_printf(&s, "specialised variants: %u, of them %u foreseen and %u of those used; %s\n",
                  k->special_count, k->speculated, k->speculated_used, decision);
    strbuf_printf(&s, "  the arguments changed %llu times, %llu times there was no variant yet\n",
                  (unsigned long long)k->changes, (unsigned long long)k->stalls);
  }
  pthread_mutex_unlock(&k->lock);
  *out = strbuf_take(&s, NULL);
  return *out ? VYRE_OK : error_out_of_memory(error);
}
