// SPDX-License-Identifier: MIT
#include "conform/suite.h"

#include "conform/batch.h"
#include "base/error.h"
#include "ir/limits.h"

#include <stdio.h>
#include <string.h>

enum { ROW_ALONE = 1, ROW_RACY = 2 };

typedef struct row {
  const char *name, *types, *operations;
  int flags;
  const char *text;
} row;

static const row rows[] = {
#define ROW(name, types, operations, flags, text) {name, types, operations, flags, text},
#include "conform/rows.def"
};

void suite_fini(suite *s) {
  for (size_t i = 0; i < s->cases.count; i++) trial_fini(&s->cases.at[i].trial);
  vec_free(&s->cases);
}

static suite_case *add_case(suite *s, const char *name, vyre_error *error) {
  if (!vec_push(&s->cases, (suite_case){.is_alone = false})) {
    error_out_of_memory(error);
    return NULL;
  }
  suite_case *c = &s->cases.at[s->cases.count - 1];
  snprintf(c->name, sizeof c->name, "%s", name);
  return c;
}

// ---- rows ---------------------------------------------------------------------------------------

static bool is_for_type(const row *r, vyre_type t) {
  switch (r->types[0]) {
  case 'i': return type_is_int(t);
  case 'w': return type_is_int(t) && type_bits(t) >= 32;
  case 'f': return type_is_float(t);
  case 'x': return type_is_float(t) && type_bits(t) >= 32;
  case 'n': return type_is_numeric(t);
  case 'a': return t != VYRE_VOID;
  default: return t == VYRE_VOID;
  }
}

static char *expand_type(const char *text, vyre_type t) {
  strbuf out = {0};
  for (; *text; text++) {
    if (text[0] == '$' && text[1] == 'T') {
      strbuf_puts(&out, vyre_type_name(t));
      text++;
    } else {
      strbuf_putc(&out, *text);
    }
  }
  return strbuf_take(&out, NULL);
}

enum { MAX_SPECIALS = 40, MAX_PAIRS = 600 };

// x and y hold all pairs of special values; other buffers are left as they are.
static void fill_pairs(const vyre_program *p, trial *t) {
  for (uint32_t i = 0, bound = 0; i < p->buffer_count; i++) {
    const buffer *b = &p->buffers[i];
    if (b->is_transient) continue;
    const vyre_span *span = &t->buffers[bound++];
    bool is_x = !strcmp(b->name, "x"), is_y = !strcmp(b->name, "y");
    if (b->length || (!is_x && !is_y)) continue;
    uint64_t special[MAX_SPECIALS];
    uint32_t count = generate_specials(b->type, special, MAX_SPECIALS);
    size_t size = type_bytes(b->type), elements = span->size_bytes / size;
    for (size_t k = 0; k < elements; k++) {
      uint64_t bits = special[is_x ? k % count : k / count % count];
      memcpy((char *)span->data + k * size, &bits, size);
    }
  }
}

static vyre_status parse_row(suite *s, const char *name, const char *text, suite_case **out,
                             vyre_error *error) {
  vyre_program *p = NULL;
  vyre_status status = vyre_program_parse(text, strlen(text), name, &p, error);
  if (status != VYRE_OK) return status;
  suite_case *c = *out = add_case(s, name, error);
  status = c ? generate_inputs(p, 1, MAX_PAIRS, &c->trial, error) : VYRE_ERROR_MEMORY;
  if (status == VYRE_OK) fill_pairs(p, &c->trial);
  vyre_program_release(p);
  return status;
}

static vyre_status add_row(suite *s, const row *r, vyre_type t, vyre_error *error) {
  char name[96];
  suite_case *c;
  snprintf(name, sizeof name, t ? "%s/%s" : "%s", r->name, vyre_type_name(t));
  char *text = expand_type(r->text, t);
  if (!text) return error_out_of_memory(error);
  vyre_status status = parse_row(s, name, text, &c, error);
  free(text);
  if (status != VYRE_OK) return status;
  c->is_alone = r->flags != 0;
  c->is_racy = r->flags & ROW_RACY;
  if (features_parse(r->operations, t, &c->needs)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "row `%s` names an unknown operation. Fix: correct rows.def", r->name);
}

vyre_status suite_add_rows(suite *s, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int t = VYRE_VOID; t < VYRE_TYPE_COUNT && status == VYRE_OK; t++)
      if (is_for_type(&rows[i], (vyre_type)t)) status = add_row(s, &rows[i], (vyre_type)t, error);
  return status;
}

// ---- mathematical functions ---------------------------------------------------------------------

// Points where functions are interesting: near multiples of pi/2, near 1, at the ends of exp.
static uint64_t math_bits(random_state *r, vyre_type type) {
  uint32_t way = random_below(r, 100);
  if (way < 40) return generate_bits(r, type);
  double d = (double)(int32_t)(uint32_t)random_bits(r) / 2147483648.0;
  d = way < 55 ? d * 7 : way < 70 ? d * 800 : way < 85 ? 1 + d * 1e-3 : d * 1e9;
  return generate_float(type, d);
}

static vyre_status add_function(suite *s, vyre_op op, vyre_type t, uint64_t seed, uint32_t points,
                                vyre_error *error) {
  char name[96], text[400];
  const char *type = vyre_type_name(t), *function = op_table[op].name;
  suite_case *c;
  snprintf(name, sizeof name, "%s/%s", function, type);
  snprintf(text, sizeof text,
           "program p()\nbuffer x: %s[] read\nbuffer y: %s[] read\n"
           "buffer u: %s[%u] read\nbuffer v: %s[%u] read\n"
           "buffer o: %s[len(x)] write\nbuffer q: %s[%u] write\n"
           "region special grid(len(x)) { let i = global_id.x\n o[i] = %s(x[i]%s) }\n"
           "region points grid(%u) { let i = global_id.x\n q[i] = %s(u[i]%s) }\n",
           type, type, type, points, type, points, type, type, points, function,
           op_table[op].operand_count > 1 ? ", y[i]" : "", points, function,
           op_table[op].operand_count > 1 ? ", v[i]" : "");
  vyre_status status = parse_row(s, name, text, &c, error);
  if (status != VYRE_OK) return status;
  random_state r = {seed + op * 2 + t};
  for (int b = 2; b < 4; b++)
    for (uint32_t i = 0; i < points; i++) {
      uint64_t bits = math_bits(&r, t);
      memcpy((char *)c->trial.buffers[b].data + i * type_bytes(t), &bits, type_bytes(t));
    }
  features_parse(function, t, &c->needs);
  return VYRE_OK;
}

vyre_status suite_add_math(suite *s, uint64_t seed, uint32_t points, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (int op = 1; op < VYRE_OP_COUNT && status == VYRE_OK; op++)
    for (int t = VYRE_F32; t <= VYRE_F16 && op_is((vyre_op)op, OPF_MATH) && status == VYRE_OK; t++)
      status = add_function(s, (vyre_op)op, (vyre_type)t, seed, points, error);
  return status;
}

// ---- programs -----------------------------------------------------------------------------------

vyre_status suite_add_program(suite *s, const char *name, vyre_program *program, uint64_t seed,
                              vyre_error *error) {
  suite_case *c = add_case(s, name, error);
  if (!c) return VYRE_ERROR_MEMORY;
  c->needs_all = true;
  features_of(program, &c->needs);
  return generate_inputs(program, seed, 512, &c->trial, error);
}

vyre_status suite_add_random(suite *s, const generate_options *options, uint32_t count,
                             vyre_error *error) {
  generate_options o = *options;
  for (uint32_t i = 0; i < count; i++, o.seed++) {
    char name[96];
    // Neighbours are merged into one program, which has one budget.
    o.fast_ulp = o.seed / 32 % 8 == 7 ? 4 : options->fast_ulp;
    snprintf(name, sizeof name, "random/%llu", (unsigned long long)o.seed);
    suite_case *c = add_case(s, name, error);
    vyre_status status = c ? generate_trial(&o, &c->trial, error) : VYRE_ERROR_MEMORY;
    if (status != VYRE_OK) return status;
    c->needs_all = true;
  }
  return VYRE_OK;
}

// ---- running ------------------------------------------------------------------------------------

static bool run_alone(suite_case *c, const char *backend, const vyre_compile_options *options) {
  difference *d = &c->result;
  if (!compare_run(&c->trial, NULL, backend, options, d)) return false;
  bool is_value = d->verdict == DIFFERENT && !d->is_about_status && !d->is_overrun;
  if (c->is_racy && is_value) *d = (difference){.verdict = SAME};
  return true;
}

enum { BATCH = 40 };

static bool run_batch(suite_case **cases, uint32_t count, const char *backend,
                      const vyre_compile_options *options, trial_limits limits) {
  trial trials[BATCH] = {0};
  difference results[BATCH];
  for (uint32_t i = 0; i < count; i++) trials[i] = cases[i]->trial; // borrowed
  if (!batch_compare(trials, count, backend, options, limits, results)) return false;
  for (uint32_t i = 0; i < count; i++) cases[i]->result = results[i];
  return true;
}

bool suite_run(suite *s, const char *backend, const vyre_compile_options *options,
               trial_limits limits) {
  suite_case *waiting[BATCH];
  uint32_t count = 0;
  for (size_t i = 0; i < s->cases.count; i++) {
    suite_case *c = &s->cases.at[i];
    if (c->is_alone || c->is_racy) {
      if (!run_alone(c, backend, options)) return false;
      continue;
    }
    waiting[count++] = c;
    if (count < BATCH) continue;
    if (!run_batch(waiting, count, backend, options, limits)) return false;
    count = 0;
  }
  return !count || run_batch(waiting, count, backend, options, limits);
}

suite_counts suite_count(const suite *s) {
  suite_counts n = {0};
  for (size_t i = 0; i < s->cases.count; i++) {
    verdict v = s->cases.at[i].result.verdict;
    n.passed += v == SAME;
    n.declined += v == DECLINED;
    n.failed += v == DIFFERENT || v == UNUSABLE;
  }
  return n;
}

void suite_needs(const suite_case *c, features *out) {
  *out = c->needs;
  if (c->needs_all) features_of(c->trial.program, out);
}
