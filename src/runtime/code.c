// SPDX-License-Identifier: MIT
#include "runtime/code.h"

#include "analysis/order.h"
#include "backend/acquaint.h"
#include "backend/conformance.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "front/origin.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void code_free(code *c) {
  if (!c) return;
  vyre_executable_release(c->executable);
  vyre_program_release(c->program);
  opt_report_free(&c->report);
  free(c->decisions);
  free(c->selection);
  free(c->sums);
  effort_free(c->effort);
  free(c);
}

void code_unlink(vyre_kernel *k, code *c) {
  code **at = &k->codes;
  while (*at != c) at = &(*at)->next;
  *at = c->next;
}

void code_name(const code *c, const uint32_t shape[3], char out[VARIANT_TEXT]) {
  variant_name n = {.backend = c->backend,
                    .tier = c->tier,
                    .passes = c->passes,
                    .digest = c->digest,
                    .constants = c->constants};
  if (shape) memcpy(n.shape, shape, sizeof n.shape);
  memcpy(n.configuration, c->configuration, sizeof n.configuration);
  variant_name_format(&n, out);
}

// ---- what it is made from -----------------------------------------------------------------------

static void add_text(hasher *h, const char *text) {
  hash_update(h, text, strlen(text) + 1);
}

static void find_hash(code *c, const vyre_program *made, const char *adapter) {
  hasher h;
  hash_init(&h);
  add_text(&h, "vyre-code");
  add_text(&h, vyre_version());
  add_text(&h, c->backend);
  add_text(&h, adapter);
  add_text(&h, c->tier == VYRE_TIER_QUICK ? "quick" : "full");
  hash_update(&h, program_fingerprint(made), HASH_BYTES);
  // One that is made for some arguments goes when they do: it is nobody else's.
  if (c->constants) hash_update(&h, &c->constants, sizeof c->constants);
  hash_final(&h, c->hash);
}

// Without passes there is nothing to tell apart.
static uint32_t digest_of(const code *c, const vyre_program *made) {
  uint32_t digest;
  memcpy(&digest, program_fingerprint(made), sizeof digest);
  return c->passes == PASSES_NONE ? 0 : digest | 1;
}

static code *find_same(vyre_kernel *k, const code *c) {
  pthread_mutex_lock(&k->lock);
  code *found = k->codes;
  while (found && memcmp(found->hash, c->hash, sizeof c->hash)) found = found->next;
  pthread_mutex_unlock(&k->lock);
  return found;
}

// ---- what is known of its answers ---------------------------------------------------------------

static bool is_in_routes(vyre_runtime *rt, const char *hex, char *detail, size_t size) {
  if (!rt->routes) return false;
  pthread_mutex_lock(&rt->files);
  const route_wrong *w = route_table_find_wrong(rt->routes, hex);
  if (w) snprintf(detail, size, "%s", w->reason ? w->reason : "pgo.toml says so");
  pthread_mutex_unlock(&rt->files);
  return w != NULL;
}

// `checks` (may be NULL) is how many answers were right on this machine.
static bool is_known_wrong(vyre_runtime *rt, const uint8_t hash[HASH_BYTES], char *detail,
                           size_t size, uint64_t *checks) {
  store_code_state known = {0};
  vyre_error error;
  char hex[HASH_HEX];
  hash_hex(hash, hex);
  if (rt->evidence.store && store_load_code(rt->evidence.store, hash, &known, &error) != VYRE_OK)
    evidence_tell(rt, &error);
  bool is_wrong = known.is_wrong || is_in_routes(rt, hex, known.detail, sizeof known.detail);
  snprintf(detail, size, "%s", known.detail);
  if (checks) *checks = known.checks;
  return is_wrong;
}

static void load_verdict(vyre_runtime *rt, code *c) {
  uint64_t checks;
  bool is_wrong = is_known_wrong(rt, c->hash, c->detail, sizeof c->detail, &checks);
  atomic_init(&c->checks, checks);
  c->checks_kept = checks;
  atomic_init(&c->verdict, is_wrong ? CODE_WRONG : checks ? CODE_PROVEN : CODE_UNPROVEN);
}

void code_passed(code *c) {
  unsigned unproven = CODE_UNPROVEN;
  atomic_fetch_add(&c->checks, 1);
  atomic_compare_exchange_strong(&c->verdict, &unproven, CODE_PROVEN);
}

typedef struct wrong_one {
  const uint8_t *hash;
  const char *name, *device, *detail;
} wrong_one;

static void remember_wrong(vyre_kernel *k, const wrong_one *w) {
  vyre_runtime *rt = k->runtime;
  evidence_keep_code(rt, &(store_code){.hash = w->hash,
                                       .op = k->program->name,
                                       .variant = w->name,
                                       .device = w->device,
                                       .is_wrong = true,
                                       .detail = w->detail});
  if (!rt->routes) return;
  char hex[HASH_HEX];
  hash_hex(w->hash, hex);
  route_wrong wrong = {.code = hex,
                       .op_id = k->program->name,
                       .variant = w->name,
                       .device = w->device,
                       .reason = w->detail,
                       .date = clock_unix_seconds()};
  pthread_mutex_lock(&rt->files);
  (void)route_table_put_wrong(rt->routes, &wrong, NULL);
  pthread_mutex_unlock(&rt->files);
  runtime_save_routes(rt);
}

// True when it is news.
static bool judge(vyre_kernel *k, code *c, code_verdict verdict, const char *detail) {
  pthread_mutex_lock(&k->lock);
  bool is_new = atomic_load(&c->verdict) < verdict;
  if (is_new) snprintf(c->detail, sizeof c->detail, "%s", detail);
  if (is_new) atomic_store_explicit(&c->verdict, verdict, memory_order_release);
  pthread_mutex_unlock(&k->lock);
  return is_new;
}

void code_fail(vyre_kernel *k, code *c, const char *detail, bool was_in_use) {
  char name[VARIANT_TEXT];
  if (!judge(k, c, CODE_FAILED, detail)) return;
  kernel_forsake(k, c);
  if (!was_in_use) return;
  code_name(c, NULL, name);
  runtime_tell(k->runtime, "`%s` on %s failed on `%s` and is not used for it any more: %s", name,
               evidence_device_name(k->runtime, c->device), k->program->name, detail);
}

// Answers that depend on the values of tunables for some inputs do so whichever values these are:
// no others are used any more, in no later process either. By the hash of the program alone.
static void hash_configurations(const vyre_kernel *k, uint8_t out[HASH_BYTES]) {
  hasher h;
  hash_init_for(&h, "vyre-configurations");
  hash_update(&h, program_fingerprint(k->program), HASH_BYTES);
  hash_final(&h, out);
}

static bool may_configure(vyre_kernel *k) {
  uint8_t hash[HASH_BYTES];
  unsigned known = atomic_load(&k->configurations);
  if (known != CONFIGURATIONS_UNKNOWN) return known == CONFIGURATIONS_USED;
  hash_configurations(k, hash);
  char detail[160];
  known = is_known_wrong(k->runtime, hash, detail, sizeof detail, NULL) ? CONFIGURATIONS_WRONG
                                                                        : CONFIGURATIONS_USED;
  atomic_store(&k->configurations, known);
  return known == CONFIGURATIONS_USED;
}

static void end_configurations(vyre_kernel *k, const code *wrong) {
  uint8_t hash[HASH_BYTES];
  atomic_store(&k->configurations, CONFIGURATIONS_WRONG);
  hash_configurations(k, hash);
  remember_wrong(k, &(wrong_one){hash, "all values of its tunables but its own",
                                 evidence_device_name(k->runtime, wrong->device), wrong->detail});
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    for (uint32_t n = 0; p && n < atomic_load(&p->variant_count); n++) {
      code *c = p->variants[n]->code;
      if (c->configuration[0] && c != wrong)
        code_fail(k, c, "other values of its tunables gave a wrong answer", false);
    }
  }
}

// Two right answers may differ where the order of invocations matters, even when one thread makes
// them, because lanes go together: that is nobody's fault, and nothing to remember. Only the first
// compile is used then, because no other can be proven.
void code_condemn(vyre_kernel *k, code *c, const char *detail) {
  char name[VARIANT_TEXT];
  if (order_matters(k->program)) {
    code_fail(k, c, "its answer depends on the order of atomics and cannot be compared", false);
    return;
  }
  if (!judge(k, c, CODE_WRONG, detail)) return;
  kernel_forsake(k, c);
  code_name(c, NULL, name);
  const char *fix = c->configuration[0] ? "let answers not depend on tunables, or report it"
                                        : "report it with the program and the device";
  runtime_tell(k->runtime,
               "`%s` on %s gives a wrong answer for `%s` (%s) and is not used any more; the first "
               "compile answers instead. Fix: %s",
               name, evidence_device_name(k->runtime, c->device), k->program->name, c->detail, fix);
  remember_wrong(
      k, &(wrong_one){c->hash, name, evidence_device_name(k->runtime, c->device), c->detail});
  if (c->configuration[0]) end_configurations(k, c);
}

// ---- making one ---------------------------------------------------------------------------------

static vyre_status optimize(vyre_kernel *k, vyre_program *program, const code_request *request,
                            optimize_result *out, vyre_error *error) {
  // The usual passes are selected; what goes further is tried whole, because it is measured anyway.
  optimize_options options = {.mode = request->passes == PASSES_NONE      ? OPTIMIZE_NOTHING
                                      : request->selection                ? OPTIMIZE_AGAIN
                                      : request->passes == PASSES_RELEASE ? OPTIMIZE_SELECTED
                                                                          : OPTIMIZE_EVERYTHING,
                              .profiles = variant_passes_profiles(request->passes),
                              .selection = request->selection,
                              .hints = k->runtime->hints,
                              .known_as = program_fingerprint(k->program),
                              .lengths = request->lengths};
  if (options.mode == OPTIMIZE_SELECTED) {
    evidence_load_passes(k);
    options.previous = &k->earlier;
  }
  return optimize_program(program, &options, out, error);
}

static vyre_status compile(code *c, const code_request *request, optimize_result *optimized,
                           vyre_error *error) {
  vyre_compile_options how = {.tier = request->tier, .timeout_ns = request->timeout_ns};
  vyre_status status =
      request->only_cached
          ? executable_from_cache(optimized->program, request->backend, &how, &c->executable, error)
          : executable_compile(optimized->program, request->backend, &how, &c->executable, error);
  if (status != VYRE_OK) return status;
  c->selection = optimize_selection(optimized);
  c->report = optimized->report;
  c->decisions = optimized->decisions;
  c->pass_count = optimized->pass_count;
  c->region_count = optimized->region_count;
  optimized->report = (opt_report){0};
  optimized->decisions = NULL;
  c->sums_count = executable_program(c->executable)->region_count;
  c->sums = calloc(c->sums_count + 1u, sizeof *c->sums);
  c->effort = effort_new(executable_program(c->executable)); // without it less is told
  return c->sums && c->selection ? VYRE_OK : error_out_of_memory(error);
}

// A code that is there already, or is known to be wrong, is not compiled. *out stays NULL when it
// is neither.
static vyre_status look_up(vyre_kernel *k, code *c, const vyre_program *made, code **out,
                           vyre_error *error) {
  char adapter[128];
  runtime_adapter(c->backend, adapter);
  c->device = evidence_device(k->runtime, c->backend);
  c->digest = digest_of(c, made);
  find_hash(c, made, adapter);
  *out = find_same(k, c);
  if (*out) return VYRE_OK;
  load_verdict(k->runtime, c);
  if (!code_is_wrong(c)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_VERIFY,
                   "it gave a wrong answer before (%.120s). Fix: none is needed; it is not used",
                   c->detail);
}

code *code_list(vyre_kernel *k, code *c) {
  if (c->is_listed) return c;
  code *same = find_same(k, c); // another thread was first
  if (same) {
    code_free(c);
    return same;
  }
  pthread_mutex_lock(&k->lock);
  c->next = k->codes;
  c->is_listed = true;
  k->codes = c;
  pthread_mutex_unlock(&k->lock);
  return c;
}

// What the code is made from; the caller releases it.
static vyre_status find_program(vyre_kernel *k, const code_request *request, vyre_program **out,
                                vyre_error *error) {
  bool has_values = request->configuration && request->configuration[0];
  if (has_values && !may_configure(k))
    return error_set(error, VYRE_ERROR_VERIFY,
                     "values of its tunables gave a wrong answer before. Fix: let answers not "
                     "depend on tunables");
  if (!request->program && has_values)
    return origin_configure(k->program, request->configuration, out, error);
  *out = vyre_program_retain(request->program ? request->program : k->program);
  return VYRE_OK;
}

// *out is a code that is there already, or NULL: then `c` has become one.
static vyre_status make(vyre_kernel *k, code *c, const code_request *request, code **out,
                        vyre_error *error) {
  optimize_result optimized = {0};
  vyre_status status = find_program(k, request, &c->program, error);
  if (status != VYRE_OK) return status;
  if (backend_is_of(request->backend, k->runtime->without))
    return error_set(error, VYRE_ERROR_UNSUPPORTED,
                     "the runtime is to work without `%s`. Fix: none is needed", request->backend);
  // Whoever chose the backend gets it; otherwise one that failed what the program needs is out.
  bool is_allowed = k->runtime->backend[0] ||
                    (acquaint_allows(request->backend, !request->is_waited_for, error) &&
                     conformance_allows_backend(request->backend, c->program, error));
  if (!is_allowed) return VYRE_ERROR_UNSUPPORTED;
  status = optimize(k, c->program, request, &optimized, error);
  if (status == VYRE_OK) status = look_up(k, c, optimized.program, out, error);
  if (status == VYRE_OK && !*out) status = compile(c, request, &optimized, error);
  optimize_result_fini(&optimized);
  return status;
}

vyre_status code_make(vyre_kernel *k, const code_request *request, code **out, vyre_error *error) {
  *out = NULL;
  const backend *b = backend_find(request->backend);
  code *c = b ? calloc(1, sizeof *c) : NULL;
  if (!c) return error_out_of_memory(error);
  c->backend = b->id;
  c->tier = request->tier;
  c->passes = request->passes;
  c->constants = request->constants;
  if (request->configuration)
    snprintf(c->configuration, sizeof c->configuration, "%s", request->configuration);
  uint64_t start = clock_now_ns();
  vyre_status status = make(k, c, request, out, error);
  c->compile_ns = clock_now_ns() - start;
  runtime_tell_warnings(k->runtime);
  if (status != VYRE_OK || *out) {
    code_free(c);
    return status;
  }
  bool is_usual = !request->program && !c->configuration[0] && !request->only_cached;
  if (c->passes == PASSES_RELEASE && is_usual) evidence_keep_passes(k, &c->report);
  *out = request->is_attempt ? c : code_list(k, c);
  return VYRE_OK;
}
