// SPDX-License-Identifier: MIT
#include "runtime/decision.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All that was considered, as the routing table takes it.
typedef struct considered {
  trial_candidate rows[PLAN_VARIANTS + PLAN_NOTES];
  uint32_t count;
  trial_decision decision;
  code *winner;
  plan_decision last;
  strbuf others;
} considered;

static trial_reason route_reason(variant_reason reason) {
  switch (reason) {
  case REASON_OPTIMIZED: return TRIAL_WITHIN_NOISE;
  case REASON_ONLY_ONE: return TRIAL_ONLY_CANDIDATE;
  case REASON_NONE:
  case REASON_FIRST:
  case REASON_NOT_FASTER: return TRIAL_DEFAULT_FASTEST;
  case REASON_FASTER:
  case REASON_ROUTED:
  case REASON_PREDICTED:
  case REASON_CHANGED:
  case REASON_WRONG_RESULT:
  case REASON_FAILED:
  case REASON_UNSUPPORTED:
  case REASON_INPUTS_TOO_LARGE:
  case REASON_NO_MEMORY:
  case REASON_COUNT: break;
  }
  return TRIAL_FASTEST;
}

static void reject(trial_candidate *c, const char *detail) {
  c->rejected = true;
  snprintf(c->error.message, sizeof c->error.message, "%s", detail);
}

static void consider_variant(considered *all, const plan *p, const variant *v) {
  char text[VARIANT_TEXT];
  trial_candidate *c = &all->rows[all->count++];
  double ns = plan_estimate_ns(p, v);
  *c = (trial_candidate){
      .name = v->code->backend, .median_ns = (uint64_t)ns, .sample_count = ns > 0};
  bool is_out = code_is_wrong(v->code) || atomic_load(&v->code->verdict) == CODE_FAILED;
  if (is_out) reject(c, v->code->detail);
  variant_text(v, text);
  if (ns > 0)
    strbuf_printf(&all->others, "%s: %.0f ns\n", text, ns);
  else if (is_out)
    strbuf_printf(&all->others, "%s: %s\n", text, v->code->detail);
}

// With the kernel's lock.
static void consider(considered *all, const plan *p) {
  variant *current = atomic_load(&((plan *)p)->current);
  all->winner = current->code;
  all->last = *plan_last_decision(p);
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++) {
    if (p->variants[i] == current) all->decision.winner = (int)i;
    consider_variant(all, p, p->variants[i]);
  }
  for (uint32_t i = 0; i < p->note_count; i++) {
    const plan_note *n = &p->notes[i];
    if (n->reason != REASON_WRONG_RESULT && n->reason != REASON_FAILED) continue;
    trial_candidate *c = &all->rows[all->count++];
    *c = (trial_candidate){.name = n->name};
    reject(c, n->detail);
  }
  all->decision.fastest = all->decision.winner;
  all->decision.reason = route_reason(all->last.reason);
}

static void keep_route(vyre_kernel *k, const plan *p, const considered *all) {
  vyre_runtime *rt = k->runtime;
  char hex[HASH_HEX], build[BUILD_TEXT];
  if (!rt->routes || rt->backend[0]) return;
  build_name(build);
  hash_hex(all->winner->hash, hex);
  route_certify_options o = {.fingerprint = program_fingerprint(k->program),
                             .device = evidence_device_name(rt, all->winner->device),
                             .has_size_class = true,
                             .size_class = p->size_class,
                             .work = p->work[0] ? p->work : NULL,
                             .variant = all->last.name,
                             .passes = all->winner->selection,
                             .code = hex,
                             .build = build,
                             .date = all->last.date};
  pthread_mutex_lock(&rt->files);
  (void)route_decide(rt->routes, k->program->name, all->rows, all->count, &all->decision, &o, NULL);
  pthread_mutex_unlock(&rt->files);
  runtime_save_routes(rt);
}

// With the kernel's lock. What the table said already is no decision, and neither is the first
// code.
static bool is_news(plan *p) {
  variant_reason reason = plan_last_decision(p)->reason;
  bool is_new = p->decision_count != p->decisions_kept;
  p->decisions_kept = p->decision_count;
  return is_new && reason != REASON_ROUTED && reason != REASON_FIRST;
}

void decision_keep(vyre_kernel *k, plan *p) {
  considered *all = calloc(1, sizeof *all);
  char build[BUILD_TEXT];
  if (!all) return;
  build_name(build);
  pthread_mutex_lock(&k->lock);
  bool has_news = is_news(p);
  if (has_news) consider(all, p);
  pthread_mutex_unlock(&k->lock);
  if (!has_news) {
    free(all);
    return;
  }
  const char *others = all->others.at && !all->others.failed ? all->others.at : "";
  evidence_keep_decision(
      k->runtime, &(store_decision){.fingerprint = program_fingerprint(k->program),
                                    .size_class = p->size_class,
                                    .work = p->work,
                                    .op = k->program->name,
                                    .device = evidence_device_name(k->runtime, all->winner->device),
                                    .variant = all->last.name,
                                    .build = build,
                                    .reason = variant_reason_name(all->last.reason),
                                    .samples = all->last.samples,
                                    .mean_ns = all->last.mean_ns,
                                    .spread_ns = all->last.spread_ns,
                                    .others = others});
  keep_route(k, p, all);
  strbuf_fini(&all->others);
  free(all);
}
