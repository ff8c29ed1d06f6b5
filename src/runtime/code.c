// SPDX-License-Identifier: MIT
#include "runtime/code.h"

#include "analysis/order.h"
#include "backend/conformance.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void code_free(code *c) {
  if (!c) return;
  vyre_executable_release(c->executable);
  opt_report_free(&c->report);
  free(c->decisions);
  free(c->selection);
  free(c->sums);
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

static void load_verdict(vyre_runtime *rt, code *c) {
  store_code_state known = {0};
  vyre_error error;
  char hex[HASH_HEX];
  hash_hex(c->hash, hex);
  if (rt->evidence.store && store_load_code(rt->evidence.store, c->hash, &known, &error) != VYRE_OK)
    evidence_tell(rt, &error);
  bool is_wrong = known.is_wrong || is_in_routes(rt, hex, known.detail, sizeof known.detail);
  snprintf(c->detail, sizeof c->detail, "%s", known.detail);
  atomic_init(&c->checks, known.checks);
  c->checks_kept = known.checks;
  atomic_init(&c->verdict, is_wrong ? CODE_WRONG : known.checks ? CODE_PROVEN : CODE_UNPROVEN);
}

void code_passed(code *c) {
  unsigned unproven = CODE_UNPROVEN;
  atomic_fetch_add(&c->checks, 1);
  atomic_compare_exchange_strong(&c->verdict, &unproven, CODE_PROVEN);
}

static void remember_wrong(vyre_kernel *k, const code *c, const char *name) {
  vyre_runtime *rt = k->runtime;
  const char *device = evidence_device_name(rt, c->device);
  evidence_keep_code(rt, &(store_code){.hash = c->hash,
                                       .op = k->program->name,
                                       .variant = name,
                                       .device = device,
                                       .is_wrong = true,
                                       .detail = c->detail});
  if (!rt->routes) return;
  char hex[HASH_HEX];
  hash_hex(c->hash, hex);
  route_wrong wrong = {.code = hex,
                       .op_id = k->program->name,
                       .variant = name,
                       .device = device,
                       .reason = c->detail,
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
  runtime_tell(k->runtime,
               "`%s` on %s gives a wrong answer for `%s` (%s) and is not used any more; the first "
               "compile answers instead. Fix: report it with the program and the device",
               name, evidence_device_name(k->runtime, c->device), k->program->name, c->detail);
  remember_wrong(k, c, name);
}

// ---- making one ---------------------------------------------------------------------------------

static vyre_status optimize(vyre_kernel *k, const code_request *request, optimize_result *out,
                            vyre_error *error) {
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
  vyre_program *program = request->program ? request->program : k->program;
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

static code *publish(vyre_kernel *k, code *c) {
  code *same = find_same(k, c); // another thread was first
  if (same) {
    code_free(c);
    return same;
  }
  pthread_mutex_lock(&k->lock);
  c->next = k->codes;
  k->codes = c;
  pthread_mutex_unlock(&k->lock);
  return c;
}

vyre_status code_make(vyre_kernel *k, const code_request *request, code **out, vyre_error *error) {
  *out = NULL;
  vyre_program *program = request->program ? request->program : k->program;
  const backend *b = backend_find(request->backend);
  // Whoever chose the backend gets it; otherwise one that failed what the program needs is out.
  if (!k->runtime->backend[0] && !conformance_allows_backend(request->backend, program, error))
    return VYRE_ERROR_UNSUPPORTED;
  code *c = b ? calloc(1, sizeof *c) : NULL;
  if (!c) return error_out_of_memory(error);
  c->backend = b->id;
  c->tier = request->tier;
  c->passes = request->passes;
  c->constants = request->constants;
  uint64_t start = clock_now_ns();
  optimize_result optimized = {0};
  vyre_status status = optimize(k, request, &optimized, error);
  if (status == VYRE_OK) status = look_up(k, c, optimized.program, out, error);
  if (status == VYRE_OK && !*out) status = compile(c, request, &optimized, error);
  optimize_result_fini(&optimized);
  c->compile_ns = clock_now_ns() - start;
  runtime_tell_warnings(k->runtime);
  if (status != VYRE_OK || *out) {
    code_free(c);
    return status;
  }
  if (c->passes == PASSES_RELEASE && !request->program && !request->only_cached)
    evidence_keep_passes(k, &c->report);
  *out = publish(k, c);
  return VYRE_OK;
}
