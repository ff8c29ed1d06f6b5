// SPDX-License-Identifier: MIT
#include "policy/route.h"

#include "base/error.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

// ---- measuring ---------------------------------------------------------------------------------

typedef struct certification {
  const vyre_dispatch_args *args;
  const route_backend *backends;
  const route_certify_options *options;
} certification;

static vyre_status run(void *context, uint32_t index, uint64_t *elapsed_ns, vyre_error *error) {
  certification *c = context;
  const route_backend *b = &c->backends[index];
  return b->dispatch(b->context, c->args, elapsed_ns, error);
}

static vyre_status check(void *context, uint32_t index, vyre_error *error) {
  certification *c = context;
  const route_backend *b = &c->backends[index];
  return b->check ? b->check(b->context, c->args, error) : VYRE_OK;
}

static bool keep_going(void *context, uint32_t done, uint32_t expected) {
  certification *c = context;
  return c->options->keep_going(c->options->context, done, expected);
}

static int by_latency(const void *a, const void *b) {
  const route_observation *x = a, *y = b;
  if (x->latency_ns != y->latency_ns) return x->latency_ns < y->latency_ns ? -1 : 1;
  return strcmp(x->backend, y->backend);
}

// The place of a backend among what was seen, the next free one when it is new.
static uint32_t place_of(const route_observation *seen, uint32_t count, const char *backend) {
  uint32_t i = 0;
  while (i < count && strcmp(seen[i].backend, backend)) i++;
  return i;
}

// The entry borrows everything; the table copies it.
vyre_status route_decide(route_table *table, const char *op_id, const trial_candidate *candidates,
                         uint32_t count, const trial_decision *decision,
                         const route_certify_options *o, vyre_error *error) {
  route_observation seen[ROUTE_MAX_BACKENDS];
  route_rejection rejected[ROUTE_MAX_BACKENDS];
  char hex[HASH_HEX];
  route_entry e = {.op_id = op_id,
                   .backend = candidates[decision->winner].name,
                   .reason = trial_reason_name(decision->reason),
                   .device = o->device,
                   .has_size_class = o->has_size_class,
                   .size_class = o->size_class,
                   .work = o->work,
                   .variant = o->variant,
                   .passes = o->passes,
                   .code = o->code,
                   .build = o->build,
                   .date = o->date,
                   .observations = seen,
                   .rejections = rejected};
  if (o->fingerprint) {
    hash_hex(o->fingerprint, hex);
    e.fingerprint = hex;
  }
  for (uint32_t i = 0; i < count; i++) {
    const trial_candidate *c = &candidates[i];
    uint32_t at = place_of(seen, e.observation_count, c->name);
    if (c->rejected) {
      rejected[e.rejection_count++] = (route_rejection){c->name, c->error.message};
    } else if (c->sample_count) {
      if (at == e.observation_count || c->median_ns < seen[at].latency_ns)
        seen[at] = (route_observation){c->name, c->median_ns};
      e.observation_count += at == e.observation_count;
    }
  }
  qsort(seen, e.observation_count, sizeof *seen, by_latency);
  return route_table_put(table, &e, error);
}

static vyre_status fail_all(const char *op_id, const trial_candidate *candidates, uint32_t count,
                            vyre_error *error) {
  const trial_candidate *first = NULL;
  for (uint32_t i = 0; i < count && !first; i++)
    if (candidates[i].rejected) first = &candidates[i];
  if (!first)
    return error_set(error, VYRE_ERROR_BACKEND,
                     "PGO cert for `%.100s` was ended before it measured anything. Fix: let it run",
                     op_id);
  return error_set(error, first->error.status ? first->error.status : VYRE_ERROR_BACKEND,
                   "PGO cert for `%.100s` has no backend left; `%.40s` said: %.300s", op_id,
                   first->name, first->error.message);
}

static bool is_same(const char *a, const char *b) {
  return !a == !b && (!a || !strcmp(a, b));
}

static const route_entry *find_put(const route_table *table, const char *op_id,
                                   const route_certify_options *o) {
  size_t first, count = route_table_find(table, op_id, &first);
  for (size_t i = 0; i < count; i++) {
    const route_entry *e = route_table_at(table, first + i);
    bool same_device = is_same(e->device, o->device) && is_same(e->work, o->work);
    if (same_device && e->has_size_class == o->has_size_class &&
        (!o->has_size_class || e->size_class == o->size_class))
      return e;
  }
  VYRE_BUG("route", "the route of `%s` was not retained after insertion", op_id);
}

vyre_status route_certify(route_table *table, const char *op_id, const vyre_dispatch_args *args,
                          const route_backend *backends, uint32_t count,
                          const route_certify_options *options, const route_entry **out,
                          vyre_error *error) {
  static const route_certify_options plain;
  const route_certify_options *o = options ? options : &plain;
  *out = NULL;
  if (!count)
    return error_set(
        error, VYRE_ERROR_ARGUMENT,
        "PGO cert for `%.200s` received no backends. Fix: pass every available backend "
        "to the cert gate.",
        op_id);
  if (count > ROUTE_MAX_BACKENDS)
    return error_set(error, VYRE_ERROR_LIMIT,
                     "PGO cert for `%.200s` received more than %d backends. Fix: pass fewer", op_id,
                     ROUTE_MAX_BACKENDS);
  trial_candidate *candidates = calloc(count, sizeof *candidates);
  if (!candidates) return error_out_of_memory(error);
  certification c = {args, backends, o};
  trial_options t = TRIAL_PLAIN;
  if (o->rounds) t.rounds = o->rounds;
  t.max_rounds = o->max_rounds > t.rounds ? o->max_rounds : t.rounds;
  if (o->margin_bps) t.margin_bps = o->margin_bps;
  t.run = run;
  t.check = check;
  t.keep_going = o->keep_going ? keep_going : NULL;
  t.context = &c;
  for (uint32_t i = 0; i < count; i++) {
    candidates[i].name = backends[i].id;
    if (o->default_backend && !strcmp(o->default_backend, backends[i].id)) t.default_index = (int)i;
  }
  trial_decision d = trial_measure(candidates, count, &t);
  vyre_status status = d.winner < 0 ? fail_all(op_id, candidates, count, error)
                                    : route_decide(table, op_id, candidates, count, &d, o, error);
  if (status == VYRE_OK) *out = find_put(table, op_id, o);
  free(candidates);
  return status;
}

// ---- resolving ---------------------------------------------------------------------------------

const char *route_state_name(route_state state) {
  static const char *const names[] = {"usable",       "backend-missing", "too-old", "other-size",
                                      "other-device", "other-program",   "no-entry"};
  return (unsigned)state < ROUTE_STATE_COUNT ? names[state] : "unknown";
}

static route_state state_of(const route_entry *e, const route_query *q, const char *fingerprint) {
  if (e->fingerprint && fingerprint && strcmp(e->fingerprint, fingerprint))
    return ROUTE_OTHER_PROGRAM;
  if (e->device && q->device && strcmp(e->device, q->device)) return ROUTE_OTHER_DEVICE;
  if (e->has_size_class && q->has_size_class && e->size_class != q->size_class)
    return ROUTE_OTHER_SIZE;
  if (e->work && q->work && strcmp(e->work, q->work)) return ROUTE_OTHER_SIZE;
  // A difference below zero is a clock that was set back, or a file from a clock that runs ahead.
  if (e->date && q->max_age_seconds && q->now > e->date && q->now - e->date > q->max_age_seconds)
    return ROUTE_TOO_OLD;
  if (q->has_backend && !q->has_backend(q->context, e->backend)) return ROUTE_BACKEND_MISSING;
  return ROUTE_USABLE;
}

// How much an entry says: the more it states, the closer it was measured to this dispatch.
static int weight(const route_entry *e) {
  return (e->device != NULL) * 8 + e->has_size_class * 4 + (e->work != NULL) * 2 +
         (e->fingerprint != NULL);
}

route_state route_resolve(const route_table *table, const route_query *query,
                          const route_entry **entry) {
  char hex[HASH_HEX];
  if (query->fingerprint) hash_hex(query->fingerprint, hex);
  size_t first, count = route_table_find(table, query->op_id, &first);
  route_state best = ROUTE_NO_ENTRY;
  *entry = NULL;
  for (size_t i = 0; i < count; i++) {
    const route_entry *e = route_table_at(table, first + i);
    route_state state = state_of(e, query, query->fingerprint ? hex : NULL);
    if (state > best || (state == best && weight(e) <= weight(*entry))) continue;
    best = state;
    *entry = e;
  }
  return best;
}
