// SPDX-License-Identifier: MIT
//
// What was decided for a kernel, and why, for people: from the records that decided, and from
// nothing else.
#include "base/error.h"
#include "base/fpenv.h"
#include "base/strbuf.h"
#include "cluster/cluster.h"
#include "runtime/kernel.h"
#include "runtime/review.h"
#include "runtime/runtime.h"
#include "runtime/tuning.h"

#include <time.h>

static void show_date(strbuf *s, int64_t date) {
  struct tm t;
  time_t seconds = (time_t)date;
  char text[32];
  if (gmtime_r(&seconds, &t) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &t))
    strbuf_puts(s, text);
}

static void show_measured(strbuf *s, double ns, double spread_ns, uint64_t samples) {
  strbuf_printf(s, "%.3f us +- %.3f in %llu sample%s", ns / 1000, spread_ns / 1000,
                (unsigned long long)samples, samples == 1 ? "" : "s");
}

static void explain_decision(strbuf *s, const plan_decision *d) {
  strbuf_printf(s, "%s, because %s", d->name, variant_reason_name(d->reason));
  if (d->detail[0]) strbuf_printf(s, " (%s)", d->detail);
  strbuf_puts(s, "; decided ");
  show_date(s, d->date);
  if (d->samples) {
    strbuf_puts(s, " from ");
    show_measured(s, (double)d->mean_ns, (double)d->spread_ns, d->samples);
  }
  strbuf_putc(s, '\n');
}

static const char *verdict_name(const code *c) {
  static const char *const names[] = {
      [CODE_UNPROVEN] = "not proven",
      [CODE_PROVEN] = "proven",
      [CODE_FAILED] = "failed",
      [CODE_WRONG] = "wrong-result",
  };
  return names[atomic_load(&((code *)c)->verdict)];
}

static void explain_variant(strbuf *s, const variant *v) {
  char name[VARIANT_TEXT];
  variant_text(v, name);
  strbuf_printf(s, "    %-44s %-12s", name, variant_reason_name(v->reason));
  if (v->figure.count) {
    strbuf_puts(s, " dispatches ");
    show_measured(s, figure_expected_ns(&v->figure), figure_spread_ns(&v->figure), v->figure.count);
    strbuf_putc(s, ';');
  }
  if (v->trial_ns) {
    strbuf_puts(s, " trial ");
    show_measured(s, (double)v->trial_ns, (double)v->trial_noise_ns, v->trial_samples);
    strbuf_putc(s, ';');
  }
  if (v->prior_ns > 0) strbuf_printf(s, " before this process %.3f us;", v->prior_ns / 1000);
  if (v->copy_ns_per_byte > 0)
    strbuf_printf(s, " %.3f us with its buffers there;", (double)v->resident_ns / 1000.0);
  strbuf_printf(s, " compiled in %.1f ms; %s", (double)v->code->compile_ns / 1e6,
                verdict_name(v->code));
  strbuf_printf(s, ", %llu checks", (unsigned long long)atomic_load(&v->code->checks));
  if (v->code->detail[0]) strbuf_printf(s, ": %s", v->code->detail);
  strbuf_putc(s, '\n');
}

static void explain_stages(strbuf *s, const plan *p) {
  static const char *const names[] = {"passes", "launch shapes", "other backends", "tunables"};
  strbuf_puts(s, "  not looked at yet, because it would cost more than it may gain so far:");
  bool is_first = true;
  for (int i = 0; i < STAGE_COUNT; i++) {
    if (p->stages & 1u << i) continue;
    strbuf_printf(s, "%s %s", is_first ? "" : ",", names[i]);
    is_first = false;
  }
  strbuf_puts(s, is_first ? " nothing\n" : "\n");
}

static void explain_change(strbuf *s, const plan *p, const variant *v) {
  strbuf_puts(s, "  what would change it: ");
  switch ((plan_state)atomic_load(&((plan *)p)->state)) {
  case PLAN_COLD: strbuf_puts(s, "more dispatches\n"); return;
  case PLAN_OPENING: strbuf_puts(s, "whoever is fastest when all have had their turns\n"); return;
  case PLAN_LEARNING: strbuf_puts(s, "what the background is measuring now\n"); return;
  case PLAN_LEARNED:
  case PLAN_DECLINED: break;
  }
  if (v->figure.count < FIGURE_ENOUGH)
    strbuf_puts(s, "what dispatches measure\n");
  else
    strbuf_printf(s,
                  "a variant that takes less than %.3f us in dispatches, times of this one that "
                  "change for good, or a wrong answer\n",
                  figure_expected_ns(&v->figure) * (10000 - REVIEW_MARGIN_BPS) / 1e7);
}

static void explain_plan(strbuf *s, plan *p) {
  static const char *const states[] = {
      [PLAN_COLD] = "not enough dispatches yet", [PLAN_OPENING] = "known variants take turns",
      [PLAN_LEARNING] = "being learned",         [PLAN_LEARNED] = "learned",
      [PLAN_DECLINED] = "not learned",
  };
  const variant *v = atomic_load(&p->current);
  uint64_t count = plan_dispatches(p), total = plan_total_ns(p);
  strbuf_printf(s, "size class %u (below %llu bytes)", p->size_class,
                p->size_class < 64 ? 1ull << p->size_class : UINT64_MAX);
  if (p->work[0]) strbuf_printf(s, ", work %s", p->work);
  strbuf_printf(s, ": %llu dispatches, mean %.3f us; %s\n", (unsigned long long)count,
                count ? (double)total / (double)count / 1000.0 : 0.0,
                states[atomic_load(&p->state)]);
  strbuf_puts(s, "  runs ");
  explain_decision(s, plan_last_decision(p));
  strbuf_printf(s, "  routing table: %s", route_state_name(p->route));
  if (p->routed[0]) strbuf_printf(s, ", `%s`", p->routed);
  if (p->tune_reason)
    strbuf_printf(s, "; launch shape: %s%s", p->tune_reason, v->shape[0] ? "" : ", as declared");
  strbuf_printf(s, "; trying others has cost %.3f ms\n", (double)p->explored_ns / 1e6);
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++) explain_variant(s, p->variants[i]);
  for (uint32_t i = 0; i < p->note_count; i++)
    strbuf_printf(s, "    %-44s %-12s %s\n", p->notes[i].name,
                  variant_reason_name(p->notes[i].reason), p->notes[i].detail);
  if (tuning_story(p)[0]) strbuf_printf(s, "  %s\n", tuning_story(p));
  if (p->is_led)
    strbuf_puts(s,
                "  what machines of this kind found fastest won here too: the rest is put off\n");
  else if (atomic_load(&p->state) == PLAN_LEARNED)
    explain_stages(s, p);
  explain_change(s, p, v);
  uint32_t first = p->decision_count > PLAN_DECISIONS ? p->decision_count - PLAN_DECISIONS : 0;
  for (uint32_t i = p->decision_count - 1; i > first; i--) {
    strbuf_puts(s, "  before that ");
    explain_decision(s, &p->decisions[(i - 1) % PLAN_DECISIONS]);
  }
}

static void explain_passes(strbuf *s, const vyre_program *p, const code *c) {
  if (!c->decisions) return;
  for (uint32_t r = 0; r < c->region_count; r++) {
    strbuf_printf(s, "  passes for region %s:\n", r < p->region_count ? p->regions[r].name : "?");
    for (size_t i = 0; i < c->pass_count; i++) {
      const select_decision *d = &c->decisions[r * c->pass_count + i];
      strbuf_printf(s, "    %-24s %-3s %s\n", d->pass->name, d->selected ? "yes" : "no",
                    select_reason_name(d->reason));
    }
  }
}

static void explain_specials(strbuf *s, const vyre_kernel *k) {
  strbuf_printf(s,
                "specialised variants: %u now; of all, %u were foreseen and %u of those used; %u "
                "sets of arguments gained nothing; those that are here ran %llu dispatches\n",
                k->special_count, k->speculated, k->speculated_used,
                atomic_load(&((vyre_kernel *)k)->special_losers),
                (unsigned long long)special_runs(k));
  if (k->last_decision.speculate)
    strbuf_printf(s, "  the next one is prepared ahead: it is expected to save %.3f us\n",
                  (double)k->last_decision.expected_savings_ns / 1000);
  else
    strbuf_puts(s, "  none is prepared ahead: it is not expected to pay\n");
  strbuf_printf(s, "  the arguments changed %llu times, %llu times there was no variant yet\n",
                (unsigned long long)k->changes, (unsigned long long)k->stalls);
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
  if (k->clustered) cluster_explain(k->clustered, &s);
  pthread_mutex_lock(&k->lock);
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    if (!p) continue;
    explain_plan(&s, p);
    explain_passes(&s, k->program, atomic_load(&p->current)->code);
  }
  if (atomic_load(&k->checks.is_off))
    strbuf_puts(&s, "answers are not compared again: the program's own differ from run to run\n");
  if (k->predictor) explain_specials(&s, k);
  if (k->runtime->worker)
    strbuf_printf(&s, "the background has used %.3f s of CPU time for all kernels\n",
                  (double)worker_cpu_ns(k->runtime->worker) / 1e9);
  pthread_mutex_unlock(&k->lock);
  *out = strbuf_take(&s, NULL);
  return *out ? VYRE_OK : error_out_of_memory(error);
}
