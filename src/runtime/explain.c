// SPDX-License-Identifier: MIT
//
// What was decided for a kernel, and why, for people: from the records that decided.
#include "base/error.h"
#include "base/fpenv.h"
#include "base/strbuf.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <string.h>

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
  FPENV_SCOPE;
  if (!k || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_kernel_explain was called with NULL. Fix: pass a kernel and where the "
                     "text goes");
  vyre_status status = runtime_check(k->runtime, error);
  if (status != VYRE_OK) return status;
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
