// SPDX-License-Identifier: MIT
#include "cluster/calls.h"

#include "base/format.h"
#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

// ---- remembering --------------------------------------------------------------------------------

static call_record *record_of(calls *c, uint64_t n) {
  return &c->said.latest[n % CALLS_KEPT];
}

uint64_t calls_history(const calls *c) {
  return c->histories[c->said.count % CALLS_HISTORIES];
}

uint64_t calls_history_before(const calls *c) {
  return c->histories[(c->said.count - 1) % CALLS_HISTORIES];
}

static call_record *next_record(calls *c, call_kind kind, uint32_t number, uint32_t count,
                                uint64_t facts_hash) {
  uint64_t all[4] = {calls_history(c), kind | (uint64_t)number << 32, count, facts_hash};
  c->said.count++;
  call_record *r = record_of(c, c->said.count);
  r->kind = kind;
  r->number = number;
  r->count = count;
  r->is_wrong = false;
  r->history = hash_fast(all, sizeof all);
  c->histories[c->said.count % CALLS_HISTORIES] = r->history;
  return r;
}

void calls_add(calls *c, call_kind kind, uint32_t number, const uint64_t *facts, uint32_t count) {
  uint64_t hash = count ? hash_fast(facts, count * sizeof *facts) : 0;
  call_record *r = next_record(c, kind, number, count, hash);
  uint32_t kept = count < CALLS_FACTS ? count : CALLS_FACTS;
  if (kept) memcpy(r->facts, facts, kept * sizeof *facts);
}

void calls_add_wrong(calls *c, call_kind kind, uint32_t number) {
  next_record(c, kind, number, 0, UINT64_MAX)->is_wrong = true;
}

void calls_take_back(calls *c) {
  c->said.count--;
}

// ---- comparing ----------------------------------------------------------------------------------

static bool is_kept(const calls_said *s, uint64_t n) {
  return n && n <= s->count && s->count - n < CALLS_KEPT;
}

calls_verdict calls_compare(const calls *own, const calls_said *other) {
  uint64_t mine = own->said.count, n = mine < other->count ? mine : other->count;
  if (!n) return CALLS_SAME;
  if (!is_kept(other, n)) return CALLS_UNKNOWN;
  if (mine - n >= CALLS_HISTORIES) return CALLS_SAME; // they meet before they are that far apart
  bool is_same = own->histories[n % CALLS_HISTORIES] == other->latest[n % CALLS_KEPT].history;
  return is_same ? CALLS_SAME : CALLS_DIFFER;
}

// ---- saying -------------------------------------------------------------------------------------

static void say_number(vyre_type type, uint64_t bits, char *out, size_t size) {
  float f;
  double d;
  memcpy(&f, &bits, sizeof f); // the low bytes are in front
  memcpy(&d, &bits, sizeof d);
  if (type == VYRE_F32)
    format_text(out, size, "%.9g", (double)f);
  else if (type == VYRE_F64)
    format_text(out, size, "%.17g", d);
  else if (type_is_signed(type))
    format_text(out, size, "%" PRId64, (int64_t)bits);
  else
    format_text(out, size, "%" PRIu64, bits);
}

// Parameters come first, then the buffers that are bound, by the order in which they were made.
static void say_fact(const vyre_program *p, const call_record *r, uint32_t i, char *out,
                     size_t size) {
  char text[40];
  if (i < p->param_count) {
    say_number(p->params[i].type, r->facts[i], text, sizeof text);
    format_text(out, size, "`%.40s` is %s", p->params[i].name, text);
    return;
  }
  i -= p->param_count;
  for (uint32_t b = 0, next = 0; b < p->buffer_count; b++) {
    if (p->buffers[b].is_transient || next++ != i) continue;
    format_text(out, size, "`%.40s` is buffer %" PRIu64, p->buffers[b].name,
                r->facts[p->param_count + i]);
    return;
  }
  format_text(out, size, "a number differs");
}

static void say_call(const call_record *r, const vyre_program *p, char *out, size_t size) {
  uint64_t fact = r->count ? r->facts[0] : 0;
  const char *cannot = r->is_wrong ? "cannot do what it was called for, and " : "";
  switch ((call_kind)r->kind) {
  case CALL_LOAD:
    format_text(out, size, "%sloads program %08x", cannot, (unsigned)(fact & UINT32_MAX));
    return;
  case CALL_ALLOCATE:
    format_text(out, size, "%smakes a buffer of %" PRIu64 " bytes", cannot, fact);
    return;
  case CALL_WRITE: format_text(out, size, "%swrites to buffer %u", cannot, r->number); return;
  case CALL_READ: format_text(out, size, "%sreads from buffer %u", cannot, r->number); return;
  case CALL_DISPATCH:
    format_text(out, size, "%sdispatches `%.60s`", cannot, p ? p->name : "a kernel that is gone");
    return;
  case CALL_SAVE:
    format_text(out, size, "%ssaves a checkpoint of step %" PRIu64, cannot, fact);
    return;
  case CALL_LOAD_CHECKPOINT:
    format_text(out, size, "%sloads checkpoint %08x", cannot, (unsigned)(fact & UINT32_MAX));
    return;
  case CALL_END: format_text(out, size, "ends its runtime"); return;
  }
  format_text(out, size, "made no call");
}

// The first number of two dispatches of one kernel that differs; CALLS_FACTS: none that is kept.
static uint32_t other_fact(const call_record *a, const call_record *b) {
  uint32_t i = 0;
  while (i < CALLS_FACTS && i < a->count && a->facts[i] == b->facts[i]) i++;
  return i < a->count ? i : CALLS_FACTS;
}

void calls_difference(uint32_t rank_a, const calls_said *a, uint32_t rank_b, const calls_said *b,
                      calls_program programs, const void *context, char *out, size_t size) {
  static const call_record none;
  uint64_t n = a->count < b->count ? a->count : b->count;
  while (is_kept(a, n - 1) && is_kept(b, n - 1) &&
         a->latest[(n - 1) % CALLS_KEPT].history != b->latest[(n - 1) % CALLS_KEPT].history)
    n--;
  const call_record *of_a = is_kept(a, n) ? &a->latest[n % CALLS_KEPT] : &none;
  const call_record *of_b = is_kept(b, n) ? &b->latest[n % CALLS_KEPT] : &none;
  if (of_a->history == of_b->history && a->count != b->count) { // one has made more calls
    n++;
    of_a = is_kept(a, n) ? &a->latest[n % CALLS_KEPT] : &none;
    of_b = is_kept(b, n) ? &b->latest[n % CALLS_KEPT] : &none;
  }
  bool is_alike = of_a->kind == CALL_DISPATCH && of_b->kind == CALL_DISPATCH &&
                  of_a->number == of_b->number && of_a->count == of_b->count && !of_a->is_wrong &&
                  !of_b->is_wrong;
  const vyre_program *p = of_a->kind == CALL_DISPATCH ? programs(context, of_a->number) : NULL;
  const vyre_program *q = of_b->kind == CALL_DISPATCH ? programs(context, of_b->number) : NULL;
  char text_a[120], text_b[120];
  uint32_t fact = is_alike ? other_fact(of_a, of_b) : CALLS_FACTS;
  if (p && fact < CALLS_FACTS) {
    say_fact(p, of_a, fact, text_a, sizeof text_a);
    say_fact(p, of_b, fact, text_b, sizeof text_b);
    format_text(out, size, "call %" PRIu64 " dispatches `%.60s`; on rank %u %s, on rank %u %s", n,
                p->name, rank_a, text_a, rank_b, text_b);
    return;
  }
  say_call(of_a, p, text_a, sizeof text_a);
  say_call(of_b, q, text_b, sizeof text_b);
  format_text(out, size, "in call %" PRIu64 " rank %u %s, rank %u %s", n, rank_a, text_a, rank_b,
              text_b);
}
