// SPDX-License-Identifier: MIT
//
// Kernels of a cluster, and how their plans are found and replayed.
#include "backend/executable.h"
#include "base/clock.h"
#include "base/error.h"
#include "cluster/cluster_state.h"
#include "ir/builder.h"
#include "ir/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  MOST_PLANS = 1024, // of a kernel; when there are more, all are made again as they are needed
  AGREE_EVERY = 256  // calls after which ranks compare although nothing is new
};

// ---- kernels ------------------------------------------------------------------------------------

// A region alone, with all buffers bound.
static vyre_status program_of_region(const vyre_program *p, uint32_t region, vyre_program **out,
                                     vyre_error *error) {
  vyre_builder *b = vyre_builder_new("");
  ref *map = calloc(p->code_count + 1u, sizeof *map);
  vyre_status status;
  if (b && map) {
    builder_copy_interface_bound(b, p);
    builder_copy_region(b, p, region, map);
    status = vyre_builder_finish(b, out, error);
  } else {
    status = error_out_of_memory(error);
  }
  vyre_builder_free(b);
  free(map);
  return status;
}

// Boxes are cut from the grid as it was written: passes must have left it alone.
static bool is_alike(const vyre_program *a, const vyre_program *b) {
  return b->region_count == 1 && a->regions[0].rank == b->regions[0].rank &&
         a->regions[0].is_elastic == b->regions[0].is_elastic &&
         !memcmp(a->regions[0].workgroup, b->regions[0].workgroup, sizeof b->regions[0].workgroup);
}

static vyre_status compile_region(const cluster *c, vyre_program *alone, vyre_executable **out,
                                  vyre_error *error) {
  vyre_compile_options options = {0};
  vyre_program *made;
  vyre_status status = executable_optimize(alone, c->backend, &options, &made, error);
  if (status != VYRE_OK) return status;
  vyre_program *used = is_alike(alone, made) ? made : alone;
  status = executable_compile(used, c->backend->id, &options, out, error);
  vyre_program_release(made);
  return status;
}

static vyre_status make_region(cluster_kernel *k, uint32_t r, vyre_error *error) {
  vyre_program *alone = NULL;
  k->footprints[r] = footprint_new(k->program, r);
  if (!k->footprints[r]) return error_out_of_memory(error);
  vyre_status status = program_of_region(k->program, r, &alone, error);
  if (status == VYRE_OK) status = compile_region(k->c, alone, &k->executables[r], error);
  vyre_program_release(alone);
  return status;
}

static vyre_status make_kernel(cluster *c, vyre_program *program, cluster_kernel **out,
                               vyre_error *error) {
  cluster_kernel *k = calloc(1, sizeof *k);
  if (!k) return error_out_of_memory(error);
  k->c = c;
  k->depth = c->options.depth ? c->options.depth : 1;
  k->program = vyre_program_retain(program);
  k->footprints = calloc(program->region_count, sizeof(footprint_region *));
  k->executables = calloc(program->region_count, sizeof(vyre_executable *));
  k->transients = calloc(program->buffer_count + 1u, sizeof *k->transients);
  k->key_bytes = ((size_t)program->param_count + 2 * program->buffer_count +
                  3 * (size_t)program->region_count + 2) *
                 sizeof(uint64_t);
  k->key = calloc(1, k->key_bytes + 1);
  k->facts = calloc((size_t)program->param_count + program->buffer_count + 1, sizeof *k->facts);
  bool has_memory = k->footprints && k->executables && k->transients && k->key && k->facts;
  vyre_status status = has_memory ? VYRE_OK : error_out_of_memory(error);
  for (uint32_t r = 0; r < program->region_count && status == VYRE_OK; r++)
    status = make_region(k, r, error);
  if (status == VYRE_OK)
    *out = k;
  else
    cluster_kernel_free(k);
  return status;
}

vyre_status cluster_kernel_new(cluster *c, vyre_program *program, cluster_kernel **out,
                               vyre_error *error) {
  vyre_status status = cluster_check(c, error);
  if (status != VYRE_OK) return status;
  uint64_t fingerprint[HASH_BYTES / sizeof(uint64_t)];
  memcpy(fingerprint, program_fingerprint(program), sizeof fingerprint);
  cluster_kernel *k = NULL;
  calls_add(&c->made, CALL_LOAD, 0, fingerprint, HASH_BYTES / sizeof(uint64_t));
  status = cluster_agree(c, make_kernel(c, program, &k, error), (interval){0, 0}, NULL, error);
  if (status == VYRE_OK) {
    k->number = c->kernel_count++;
    k->next = c->kernels;
    c->kernels = k;
    *out = k;
  } else {
    cluster_kernel_free(k);
  }
  return status;
}

static void free_plans(cluster_kernel *k) {
  for (uint32_t i = 0; i < PLAN_SLOTS; i++)
    for (cluster_plan *next; k->plans[i]; k->plans[i] = next) {
      next = k->plans[i]->next;
      cluster_plan_free(&k->c->layouts, k->plans[i]);
    }
  k->plan_count = 0;
  k->latest = NULL;
}

void cluster_kernel_free(cluster_kernel *k) {
  if (!k) return;
  for (cluster_kernel **at = &k->c->kernels; *at; at = &(*at)->next)
    if (*at == k) {
      *at = k->next;
      break;
    }
  free_plans(k);
  for (uint32_t r = 0; r < k->program->region_count; r++) {
    if (k->footprints) footprint_free(k->footprints[r]);
    if (k->executables) vyre_executable_release(k->executables[r]);
  }
  for (uint32_t b = 0; k->transients && b < k->program->buffer_count; b++)
    if (k->transients[b].host) cluster_buffer_fini(k->c, &k->transients[b]);
  vyre_program_release(k->program);
  free(k->footprints);
  free(k->executables);
  free(k->transients);
  free(k->key);
  free(k->facts);
  free(k);
}

// The way that took less; each is tried twice, and the other one now and then.
static bool is_interior_first(const cluster *c, const cluster_region *r) {
  const cluster_choice *o = &r->choice;
  if (!r->has_interior || c->options.interior == INTERIOR_LAST) return false;
  if (c->options.interior == INTERIOR_FIRST) return true;
  if (o->tries[0] < 2 || o->tries[1] < 2) return o->tries[1] < o->tries[0];
  bool is_first = o->ns[1] < o->ns[0];
  return (o->tries[0] + o->tries[1]) % 64 ? is_first : !is_first;
}

vyre_status cluster_explain(const cluster_kernel *k, strbuf *out) {
  for (uint32_t r = 0; k->latest && r < k->latest->region_count; r++) {
    const cluster_region *at = &k->latest->regions[r];
    strbuf_printf(out, "  %s on %u ranks: ", k->program->regions[r].name, k->c->size);
    if (at->is_split) {
      strbuf_printf(out, "%s, %" PRIu64 " of %" PRIu64 " here", at->reason, at->here,
                    at->invocations);
      if (at->overlap) strbuf_printf(out, ", parts overlap by %" PRIu64, at->overlap);
      if (is_interior_first(k->c, at)) strbuf_puts(out, ", what needs no message first");
      strbuf_putc(out, '\n');
    } else if (at->is_everywhere)
      strbuf_printf(out, "whole on every rank: %s\n", at->reason);
    else
      strbuf_printf(out, "whole on rank %u: %s\n", at->runs_on, at->reason);
  }
  return VYRE_OK;
}

// ---- a dispatch ---------------------------------------------------------------------------------

typedef struct bound { // what the program's buffers are now
  vyre_buffer *handles[LIMIT_BUFFERS];
  void *memory[LIMIT_BUFFERS];
  uint64_t lengths[LIMIT_BUFFERS];
} bound;

static vyre_status bind_handles(const cluster_kernel *k, const vyre_dispatch_args *args,
                                vyre_span *spans, vyre_error *error) {
  for (uint32_t i = 0; i < args->buffer_count && i < LIMIT_BUFFERS; i++) {
    vyre_buffer *b = args->handles ? args->handles[i] : NULL;
    if (!b || !b->layout || b->layout->table != &k->c->layouts)
      return error_set(
          error, VYRE_ERROR_BINDING,
          "buffer %u is not one of the cluster. Fix: make it with vyre_buffer_new, and "
          "pass it in `handles`",
          i);
    spans[i] = (vyre_span){b->host, b->size_bytes};
  }
  return VYRE_OK;
}

// Transient buffers are zero at first, on every rank.
static vyre_status place_transient(cluster_kernel *k, uint32_t i, uint64_t bytes,
                                   vyre_error *error) {
  vyre_buffer *b = &k->transients[i];
  if (b->host && b->size_bytes == bytes) {
    layout *all = layout_everywhere(&k->c->layouts, k->c->size, bytes);
    if (!all || madvise(b->host, bytes ? bytes : 1, MADV_DONTNEED)) {
      layout_release(&k->c->layouts, all);
      return error_out_of_memory(error);
    }
    cluster_take_layout(k->c, b, all);
    return VYRE_OK;
  }
  if (b->host) cluster_buffer_fini(k->c, b);
  b->host = NULL;
  return cluster_place(k->c, b, bytes, error);
}

static vyre_status bind_all(cluster_kernel *k, const vyre_dispatch_args *args, const launch *l,
                            bound *out, vyre_error *error) {
  const vyre_program *p = k->program;
  for (uint32_t i = 0, next = 0; i < p->buffer_count; i++) {
    out->lengths[i] = l->buffers[i].length;
    if (p->buffers[i].is_transient) {
      uint64_t bytes = out->lengths[i] * type_bytes(p->buffers[i].type);
      vyre_status status = place_transient(k, i, bytes, error);
      if (status != VYRE_OK) return status;
      out->handles[i] = &k->transients[i];
    } else {
      out->handles[i] = args->handles[next++];
    }
    out->memory[i] = out->handles[i]->host;
  }
  return VYRE_OK;
}

static void fill_key(cluster_kernel *k, const launch *l, const bound *b) {
  const vyre_program *p = k->program;
  uint64_t *at = (uint64_t *)k->key;
  memcpy(at, l->params, p->param_count * sizeof *at);
  at += p->param_count;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    *at++ = b->lengths[i];
    *at++ = (uintptr_t)b->handles[i]->layout; // interned, and kept alive by the plan
  }
  for (uint32_t r = 0; r < p->region_count; r++, at += 3)
    memcpy(at, l->regions[r].grid, 3 * sizeof *at);
  *at++ = k->c->weights_number;
  *at++ = k->depth;
}

static cluster_plan *make_plan(cluster_kernel *k, const launch *l, const bound *b) {
  const vyre_program *p = k->program;
  layout *before[LIMIT_BUFFERS];
  uint64_t(*grids)[3] = calloc(p->region_count, sizeof *grids);
  if (!grids) return NULL;
  for (uint32_t i = 0; i < p->buffer_count; i++) before[i] = b->handles[i]->layout;
  for (uint32_t r = 0; r < p->region_count; r++)
    memcpy(grids[r], l->regions[r].grid, sizeof grids[r]);
  cluster_facts facts = {.program = p,
                         .footprints = k->footprints,
                         .params = l->params,
                         .lengths = b->lengths,
                         .grids = (const uint64_t(*)[3])grids,
                         .before = before,
                         .rank = k->c->rank,
                         .ranks = k->c->size,
                         .split_least = k->c->options.split_least,
                         .weights = k->c->weights,
                         .depth = k->depth};
  cluster_plan *made = cluster_plan_make(&k->c->layouts, &facts);
  free(grids);
  return made;
}

// Grids and lengths follow from these.
static void remember_dispatch(const cluster_kernel *k, const launch *l, const bound *b) {
  const vyre_program *p = k->program;
  uint64_t *facts = k->facts;
  uint32_t count = p->param_count;
  if (count) memcpy(facts, l->params, count * sizeof *facts);
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (!p->buffers[i].is_transient) facts[count++] = b->handles[i]->number;
  calls_add(&k->c->made, CALL_DISPATCH, k->number, facts, count);
}

// Whether ranks say now what they measured: soon at first, then rarely.
static bool is_time_to_adapt(const cluster_kernel *k) {
  const cluster_options *o = &k->c->options;
  uint64_t n = k->dispatch_count;
  if (k->c->size == 1 || (o->keeps_shares && o->depth)) return false;
  if (o->adapt_every) return n && n % o->adapt_every == 0;
  return n == 5 || n == 10 || n == 16 || n == 32 || n == 64 || n == 128 || (n && n % 256 == 0);
}

static vyre_status adapt(cluster_kernel *k, vyre_error *error) {
  cluster *c = k->c;
  cluster_said *all = calloc(c->size, sizeof *all);
  balance_said *measured = calloc(c->size, sizeof *measured);
  vyre_status status = all && measured ? VYRE_OK : error_out_of_memory(error);
  k->measured.whole_ns = c->whole_ns;
  if (status == VYRE_OK) status = cluster_agree_measured(c, &k->measured, all, error);
  for (uint32_t n = 0; n < c->size && status == VYRE_OK; n++) measured[n] = all[n].measured;
  double least_gain = c->options.adapt_every ? 0 : 0.05;
  if (status == VYRE_OK && !c->options.keeps_shares &&
      balance_weights(measured, c->size, least_gain, c->weights))
    c->weights_number++;
  if (status == VYRE_OK && !c->options.depth)
    k->depth = balance_depth(measured, c->size, k->depth, &k->seen);
  k->measured = (balance_said){0};
  c->whole_ns = 0;
  free(all);
  free(measured);
  return cluster_failed(c, status, error);
}

static cluster_plan *look_up_plan(cluster_kernel *k, const launch *l, const bound *b,
                                  uint64_t *hash) {
  fill_key(k, l, b);
  *hash = hash_fast(k->key, k->key_bytes);
  cluster_plan *found = k->plans[*hash % PLAN_SLOTS];
  while (found && (found->hash != *hash || memcmp(found->key, k->key, k->key_bytes)))
    found = found->next;
  return found;
}

static vyre_status find_plan(cluster_kernel *k, const launch *l, const bound *b, cluster_plan **out,
                             vyre_error *error) {
  uint64_t hash;
  vyre_status status = VYRE_OK;
  remember_dispatch(k, l, b);
  bool is_adapting = is_time_to_adapt(k);
  if (is_adapting) status = adapt(k, error);
  k->dispatch_count++;
  if (status != VYRE_OK) return status;
  *out = look_up_plan(k, l, b, &hash);
  if (!is_adapting && (!*out || k->c->made.said.count % AGREE_EVERY == 0))
    status = cluster_agree(k->c, VYRE_OK, (interval){0, 0}, NULL, error);
  if (status != VYRE_OK || *out) return status;
  if (k->plan_count >= MOST_PLANS) free_plans(k);
  cluster_plan *made = make_plan(k, l, b);
  if (made) made->key = malloc(k->key_bytes + 1);
  if (!made || !made->key) {
    cluster_plan_free(&k->c->layouts, made);
    return cluster_failed(k->c, error_out_of_memory(error), error);
  }
  memcpy(made->key, k->key, k->key_bytes);
  made->key_bytes = k->key_bytes;
  made->hash = hash;
  made->next = k->plans[hash % PLAN_SLOTS];
  k->plan_count++;
  *out = k->plans[hash % PLAN_SLOTS] = made;
  return VYRE_OK;
}

// What changes nothing when it is combined.
static uint64_t neutral(vyre_type type, vyre_op op) {
  unsigned bits = type_bits(type);
  uint64_t ones = UINT64_MAX >> (64 - bits), top = (uint64_t)1 << (bits - 1);
  if (op == VYRE_OP_ATOMIC_AND) return ones;
  if (op == VYRE_OP_ATOMIC_MIN) return type_is_signed(type) ? top - 1 : ones;
  if (op == VYRE_OP_ATOMIC_MAX) return type_is_signed(type) ? top : 0;
  return 0;
}

static void fill_neutral(const cluster_combine *m, void *memory) {
  uint64_t value = neutral(m->type, m->op);
  unsigned size = type_bytes(m->type); // 4 or 8
  for (size_t i = 0; i < m->bytes.count; i++)
    for (uint64_t at = m->bytes.at[i].lo; at < m->bytes.at[i].hi; at += size)
      memcpy((char *)memory + at, &value, size); // the low bytes are in front
}

static vyre_status combine(cluster *c, const cluster_combine *m, void *memory, vyre_error *error) {
  vyre_status status = VYRE_OK;
  unsigned size = type_bytes(m->type);
  for (size_t i = 0; i < m->bytes.count && status == VYRE_OK; i++)
    status = c->transport->combine(c->state, (char *)memory + m->bytes.at[i].lo,
                                   (m->bytes.at[i].hi - m->bytes.at[i].lo) / size, m->type, m->op,
                                   error);
  return status;
}

typedef struct running { // a region that is being run
  cluster_kernel *k;
  uint32_t index;
  cluster_plan *plan;
  cluster_region *region;
  const vyre_dispatch_args *args;
  const bound *b;
  uint64_t time_ns, bytes, invocations, operations; // of the parts that ran
} running;

static vyre_status run_part(running *x, const footprint_box *box, vyre_error *error) {
  const vyre_program *p = x->k->program;
  vyre_span spans[LIMIT_BUFFERS];
  vyre_dispatch_args own = *x->args;
  for (uint32_t i = 0; i < p->buffer_count; i++)
    spans[i] = (vyre_span){x->b->memory[i], x->b->handles[i]->size_bytes};
  own.buffers = spans;
  own.buffer_count = p->buffer_count;
  own.handles = NULL;
  launch_part part;
  memcpy(part.first, box->first, sizeof part.first);
  memcpy(part.end, box->end, sizeof part.end);
  vyre_region_report row;
  vyre_report report = {.regions = &row, .region_capacity = 1};
  vyre_status status =
      executable_dispatch_part(x->k->executables[x->index], &own, &part, &report, error);
  if (status != VYRE_OK || !report.region_count) return status;
  x->time_ns += row.time_ns;
  x->bytes += row.bytes;
  x->invocations += row.invocations;
  x->operations += report.operations;
  return VYRE_OK;
}

static vyre_status begin_messages(const running *x, vyre_error *error) {
  return cluster_begin(x->k->c, &x->region->sends, &x->region->receives, x->b->memory,
                       x->plan->staging, x->plan->messages, error);
}

static vyre_status end_messages(const running *x, vyre_error *error) {
  return cluster_end(x->k->c, &x->region->sends, &x->region->receives, x->b->memory,
                     x->plan->messages, error);
}

// Messages go on when they are looked after: a long interior is run in pieces.
enum { PIECE_NS = 300000, MOST_PIECES = 8 };

static vyre_status run_interior(running *x, vyre_error *error) {
  const cluster_region *r = x->region;
  uint64_t size = r->interior_end - r->interior_first, count = x->region->choice.ns[1] / PIECE_NS;
  bool is_done = false;
  if (count > MOST_PIECES) count = MOST_PIECES;
  if (count > size) count = size;
  if (!count) count = 1;
  vyre_status status = VYRE_OK;
  for (uint64_t i = 0; i < count && status == VYRE_OK; i++) {
    footprint_box box = r->box;
    box.first[r->axis] = r->interior_first + size * i / count;
    box.end[r->axis] = r->interior_first + size * (i + 1) / count;
    status = run_part(x, &box, error);
    if (status == VYRE_OK && !is_done && i + 1 < count)
      status = x->k->c->transport->test(x->k->c->state, &is_done, error);
  }
  return status;
}

static vyre_status run_edges(running *x, vyre_error *error) {
  const cluster_region *r = x->region;
  footprint_box low = r->box, high = r->box;
  low.end[r->axis] = r->interior_first;
  high.first[r->axis] = r->interior_end;
  vyre_status status = VYRE_OK;
  if (low.first[r->axis] < low.end[r->axis]) status = run_part(x, &low, error);
  if (status == VYRE_OK && high.first[r->axis] < high.end[r->axis])
    status = run_part(x, &high, error);
  return status;
}

static void note_choice(cluster_choice *o, bool way, uint64_t ns) {
  o->ns[way] = o->tries[way]++ > 1 ? o->ns[way] - o->ns[way] / 4 + ns / 4 : ns;
}

static const uint64_t WAITED_NS = 3000; // less is what looking after messages takes

// Messages, and this rank's part.
static vyre_status run_here(running *x, vyre_error *error) {
  cluster_region *r = x->region;
  balance_said *m = &x->k->measured;
  bool has_messages = r->sends.count || r->receives.count;
  bool is_first = has_messages && is_interior_first(x->k->c, r);
  uint64_t begin = has_messages ? clock_now_ns() : 0, waits = begin;
  vyre_status status = has_messages ? begin_messages(x, error) : VYRE_OK;
  if (status == VYRE_OK && is_first) {
    status = run_interior(x, error);
    waits = clock_now_ns();
  }
  if (status == VYRE_OK && has_messages) status = end_messages(x, error);
  if (has_messages) {
    uint64_t now = clock_now_ns();
    if (now - waits > WAITED_NS) m->travel_ns += now - begin, m->travels++;
  }
  for (size_t i = 0; i < r->combines.count && x->k->c->rank && status == VYRE_OK; i++)
    fill_neutral(&r->combines.at[i], x->b->memory[r->combines.at[i].buffer]);
  if (status == VYRE_OK && r->runs_here)
    status = is_first ? run_edges(x, error) : run_part(x, &r->box, error);
  if (has_messages && status == VYRE_OK && r->has_interior)
    note_choice(&r->choice, is_first, clock_now_ns() - begin);
  return status;
}

static vyre_status run_region(running *x, vyre_report *report, vyre_error *error) {
  cluster_region *r = x->region;
  vyre_status status = run_here(x, error);
  for (size_t i = 0; i < r->combines.count && status == VYRE_OK; i++)
    status = combine(x->k->c, &r->combines.at[i], x->b->memory[r->combines.at[i].buffer], error);
  if (status != VYRE_OK || !x->invocations) return status;
  report->operations += x->operations;
  report_region(report, x->k->program->regions[x->index].name, x->time_ns, x->bytes,
                x->invocations);
  x->k->measured.busy_ns += x->time_ns;
  if (!r->is_split) return VYRE_OK;
  x->k->c->whole_ns += (uint64_t)((double)x->time_ns / (double)r->here * (double)r->invocations);
  x->k->measured.rows = r->box.end[r->axis] - r->box.first[r->axis];
  return VYRE_OK;
}

static vyre_status run_bound(cluster_kernel *k, const vyre_dispatch_args *args, const launch *l,
                             vyre_report *report, vyre_error *error) {
  bound b;
  cluster_plan *p;
  vyre_status status = cluster_failed(k->c, bind_all(k, args, l, &b, error), error);
  if (status == VYRE_OK) status = find_plan(k, l, &b, &p, error);
  if (status != VYRE_OK) return status;
  k->latest = p;
  k->measured.dispatches++;
  for (uint32_t r = 0; r < p->region_count && status == VYRE_OK; r++) {
    running x = {.k = k, .index = r, .plan = p, .region = &p->regions[r], .args = args, .b = &b};
    status = run_region(&x, report, error);
  }
  for (uint32_t i = 0; i < p->buffer_count && status == VYRE_OK; i++)
    if (b.handles[i]->layout != p->after[i])
      cluster_take_layout(k->c, b.handles[i], layout_retain(p->after[i]));
  return cluster_failed(k->c, status, error);
}

vyre_status cluster_dispatch(cluster_kernel *k, const vyre_dispatch_args *args, vyre_report *report,
                             vyre_error *error) {
  vyre_report unused = {0};
  vyre_error own_error = {0};
  vyre_span spans[LIMIT_BUFFERS];
  if (!report) report = &unused;
  if (!error) error = &own_error;
  uint64_t start = clock_now_ns();
  report->wall_ns = report->device_ns = report->operations = 0;
  report->region_count = 0;
  vyre_status status = cluster_check(k->c, error);
  if (status != VYRE_OK) return status;
  vyre_dispatch_args checked = *args;
  checked.buffers = spans;
  checked.handles = NULL;
  launch l;
  status = bind_handles(k, args, spans, error);
  if (status == VYRE_OK) status = launch_init(&l, k->program, &checked, error);
  if (status != VYRE_OK) { // nothing has begun
    calls_add_wrong(&k->c->made, CALL_DISPATCH, k->number);
    return cluster_agree(k->c, status, (interval){0, 0}, NULL, error);
  }
  status = run_bound(k, args, &l, report, error);
  launch_fini(&l);
  report->wall_ns = clock_now_ns() - start;
  return status;
}
