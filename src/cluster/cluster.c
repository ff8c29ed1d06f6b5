// SPDX-License-Identifier: MIT
#include "cluster/cluster.h"

#include "backend/executable.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/module.h"
#include "cluster/cluster_plan.h"
#include "ir/builder.h"
#include "ir/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  PLAN_SLOTS = 256,
  MOST_PLANS = 1024,  // of a kernel; when there are more, all are made again as they are needed
  SPLIT_LEAST = 4096, // invocations: a message takes as long as thousands of them
};

struct cluster {
  const cluster_transport *transport;
  void *state;
  uint32_t rank, size;
  const backend *backend;
  uint64_t split_least;
  layout_table layouts;
  uint64_t history, before; // of the calls of this rank: with the one that is made now, and without
  uint32_t kernel_count;    // ever made
  bool has_failed;
  char failure[600];
};

struct cluster_kernel {
  cluster *c;
  uint32_t number; // the same on every rank
  vyre_program *program;
  footprint_region **footprints;   // per region
  vyre_executable **executables;   // per region: a program of that region alone
  vyre_buffer *transients;         // per buffer; of those that are not bound
  cluster_plan *plans[PLAN_SLOTS]; // by the hash of their keys
  uint32_t plan_count;
  const cluster_plan *latest;
  uint8_t *key; // room for one
  size_t key_bytes;
};

// ---- life ---------------------------------------------------------------------------------------

static vyre_status find_transport(const cluster_transport **out, vyre_error *error) {
  const void *found;
  vyre_status status = module_check(TRANSPORT_MODULE_FILE, error);
  if (status != VYRE_OK)
    return error_set(error, VYRE_ERROR_BACKEND,
                     "clusters need the module " TRANSPORT_MODULE_FILE
                     ", which is not there. Fix: install libopenmpi-dev and openmpi-bin and build "
                     "vyre again, or install the module beside libvyre");
  status = module_find(TRANSPORT_MODULE_FILE, TRANSPORT_MODULE_SYMBOL, &found, error);
  if (status != VYRE_OK) return status;
  *out = found;
  if ((*out)->version == TRANSPORT_VERSION) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "the module %s is of another version of vyre. Fix: install both from one build",
                   TRANSPORT_MODULE_FILE);
}

static vyre_status find_backend(const char *id, const backend **out, vyre_error *error) {
  *out = id ? backend_find(id) : backend_usual();
  if (!*out) return backend_unknown(id, error);
  if ((*out)->is_host && !(*out)->is_peer) return VYRE_OK;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "backend `%s` cannot run a part of a grid. Fix: use cpu or ref in a cluster",
                   (*out)->id);
}

vyre_status cluster_new(const cluster_transport *transport, int32_t communicator,
                        const cluster_options *options, cluster **out, vyre_error *error) {
  const backend *b;
  vyre_status status = find_backend(options->backend, &b, error);
  if (status == VYRE_OK && !transport) status = find_transport(&transport, error);
  if (status != VYRE_OK) return status;
  cluster *c = calloc(1, sizeof *c);
  if (!c) return error_out_of_memory(error);
  c->transport = transport;
  c->backend = b;
  c->split_least = options->split_least ? options->split_least : SPLIT_LEAST;
  status = transport->open(communicator, &c->state, &c->rank, &c->size, error);
  if (status == VYRE_OK)
    *out = c;
  else
    free(c);
  return status;
}

void cluster_free(cluster *c) {
  if (!c) return;
  c->transport->close(c->state);
  free(c);
}

uint32_t cluster_rank(const cluster *c) {
  return c->rank;
}

uint32_t cluster_size(const cluster *c) {
  return c->size;
}

// ---- failure ------------------------------------------------------------------------------------

static vyre_status check_failed(const cluster *c, vyre_error *error) {
  if (!c->has_failed) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "the cluster has failed before: %.300s. Fix: mend that, and start it again",
                   c->failure);
}

// This rank cannot go on, and so the others cannot.
static vyre_status failed(cluster *c, vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK || c->has_failed) return status;
  c->has_failed = true;
  snprintf(c->failure, sizeof c->failure, "%s", error->message);
  c->transport->fail(c->state, error->message);
  return status;
}

// ---- agreement ----------------------------------------------------------------------------------

// Every rank makes the same calls, with the same numbers. They compare where they wait for each
// other anyway and where something is done for the first time: a rank that was called otherwise, or
// that cannot make a call, would let the others wait for ever, or compute with other numbers.
typedef enum call { CALL_LOAD = 1, CALL_ALLOCATE, CALL_WRITE, CALL_READ, CALL_DISPATCH } call;

typedef struct said { // by each rank; of one size in every call, so that different ones meet
  uint64_t history, is_wrong;
  interval range; // of a read or write
} said;

static void remember(cluster *c, call what, const uint64_t *facts, size_t count) {
  uint64_t all[3] = {c->history, what, count ? hash_fast(facts, count * sizeof *facts) : 0};
  c->before = c->history;
  c->history = hash_fast(all, sizeof all);
}

// After the call was remembered. `own` is how it went here so far. Where a rank cannot make it, it
// is made by none, and they may go on.
static vyre_status agree(cluster *c, vyre_status own, interval range, said *all,
                         vyre_error *error) {
  vyre_error found = {0};
  said mine = {c->history, own != VYRE_OK, range};
  vyre_status status = c->transport->gather(c->state, &mine, sizeof mine, all, &found);
  for (uint32_t n = 0; n < c->size && status == VYRE_OK; n++) {
    if (!all[n].is_wrong) continue;
    c->history = c->before;
    if (own != VYRE_OK) return own;
    return error_set(error, VYRE_ERROR_BACKEND,
                     "rank %u cannot make this call, and so no rank does. Fix: see what that rank "
                     "says; every rank makes the same calls with the same numbers",
                     n);
  }
  for (uint32_t n = 1; n < c->size && status == VYRE_OK; n++)
    if (all[n].history != all[0].history)
      status = error_set(&found, VYRE_ERROR_ARGUMENT,
                         "rank %u makes another call than rank 0, or with other numbers. Fix: call "
                         "the same on every rank, with the same program, parameters and sizes",
                         n);
  if (failed(c, status, &found) == VYRE_OK || own != VYRE_OK) return own;
  if (error) *error = found;
  return status;
}

// The same where nobody looks at the ranges.
static vyre_status agree_alone(cluster *c, vyre_status own, vyre_error *error) {
  said *all = calloc(c->size, sizeof *all);
  if (!all) {
    vyre_error none = {0};
    return failed(c, error_out_of_memory(error ? error : &none), error ? error : &none);
  }
  vyre_status status = agree(c, own, (interval){0, 0}, all, error);
  free(all);
  return status;
}

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
  k->program = vyre_program_retain(program);
  k->footprints = calloc(program->region_count, sizeof(footprint_region *));
  k->executables = calloc(program->region_count, sizeof(vyre_executable *));
  k->transients = calloc(program->buffer_count + 1u, sizeof *k->transients);
  k->key_bytes = ((size_t)program->param_count + 2 * program->buffer_count +
                  3 * (size_t)program->region_count) *
                 sizeof(uint64_t);
  k->key = calloc(1, k->key_bytes + 1);
  bool has_memory = k->footprints && k->executables && k->transients && k->key;
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
  vyre_status status = check_failed(c, error);
  if (status != VYRE_OK) return status;
  uint64_t fingerprint[HASH_BYTES / sizeof(uint64_t)];
  memcpy(fingerprint, program_fingerprint(program), sizeof fingerprint);
  cluster_kernel *k = NULL;
  remember(c, CALL_LOAD, fingerprint, HASH_BYTES / sizeof(uint64_t));
  status = agree_alone(c, make_kernel(c, program, &k, error), error);
  if (status == VYRE_OK) {
    k->number = c->kernel_count++;
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
  free(k);
}

vyre_status cluster_explain(const cluster_kernel *k, strbuf *out) {
  for (uint32_t r = 0; k->latest && r < k->latest->region_count; r++) {
    const cluster_region *at = &k->latest->regions[r];
    strbuf_printf(out, "  %s on %u ranks: ", k->program->regions[r].name, k->c->size);
    if (at->is_split)
      strbuf_printf(out, "%s\n", at->reason);
    else if (at->is_everywhere)
      strbuf_printf(out, "whole on every rank: %s\n", at->reason);
    else
      strbuf_printf(out, "whole on rank %u: %s\n", at->runs_on, at->reason);
  }
  return VYRE_OK;
}

// ---- buffers ------------------------------------------------------------------------------------

static vyre_status place_buffer(cluster *c, vyre_buffer *b, size_t size_bytes, vyre_error *error) {
  if (!resident_init_mapped(b, size_bytes)) {
    b->host = NULL;
    return error_out_of_memory(error);
  }
  b->layout = layout_everywhere(&c->layouts, c->size, size_bytes);
  if (b->layout) return VYRE_OK;
  resident_fini(b);
  b->host = NULL;
  return error_out_of_memory(error);
}

void cluster_buffer_fini(cluster *c, vyre_buffer *b) {
  layout_release(&c->layouts, b->layout);
  resident_fini(b);
}

vyre_status cluster_buffer_init(cluster *c, vyre_buffer *b, size_t size_bytes, vyre_error *error) {
  vyre_status status = check_failed(c, error);
  if (status != VYRE_OK) return status;
  remember(c, CALL_ALLOCATE, &(uint64_t){size_bytes}, 1);
  vyre_status own = place_buffer(c, b, size_bytes, error);
  status = agree_alone(c, own, error);
  if (status != VYRE_OK && own == VYRE_OK) cluster_buffer_fini(c, b);
  return status;
}

static void take_layout(cluster *c, vyre_buffer *b, layout *now) {
  layout_release(&c->layouts, b->layout);
  b->layout = now;
}

// What every rank passed; from UINT64_MAX on where it was wrong.
static vyre_status gather_ranges(cluster *c, const vyre_buffer *b, call what, size_t offset,
                                 size_t size_bytes, interval **out, vyre_error *error) {
  bool is_right = offset <= b->size_bytes && size_bytes <= b->size_bytes - offset;
  interval own = {is_right ? offset : UINT64_MAX, is_right ? offset + size_bytes : 0};
  said *all = calloc(c->size, sizeof *all);
  *out = calloc(c->size, sizeof **out);
  vyre_status status = all && *out ? VYRE_OK : failed(c, error_out_of_memory(error), error);
  remember(c, what, &(uint64_t){b->size_bytes}, 1);
  if (status == VYRE_OK) status = agree(c, VYRE_OK, own, all, error);
  for (uint32_t n = 0; n < c->size && status == VYRE_OK; n++) {
    (*out)[n] = all[n].range;
    if (all[n].range.lo == UINT64_MAX)
      status = error_set(error, VYRE_ERROR_ARGUMENT,
                         "rank %u names bytes outside of a buffer of %zu. Fix: stay inside, or "
                         "make it larger",
                         n, b->size_bytes);
  }
  free(all);
  return status;
}

static bool change_written(intervals *has, const interval *given, uint32_t ranks) {
  intervals all = {0};
  bool ok = true;
  for (uint32_t n = 0; n < ranks && ok; n++)
    if (given[n].lo < given[n].hi) ok = intervals_add(&all, given[n].lo, given[n].hi);
  for (uint32_t n = 0; n < ranks && ok; n++) ok = intervals_subtract(&has[n], &all);
  intervals taken = {0}; // by lower ranks
  for (uint32_t n = 0; n < ranks && ok; n++) {
    intervals own = {0};
    ok = intervals_push(&own, given[n].lo, given[n].hi) && intervals_subtract(&own, &taken) &&
         intervals_unite(&taken, &own) && intervals_unite(&has[n], &own);
    intervals_free(&own);
  }
  intervals_free(&taken);
  intervals_free(&all);
  return ok;
}

vyre_status cluster_write(cluster *c, vyre_buffer *b, size_t offset, const void *data,
                          size_t size_bytes, vyre_error *error) {
  interval *given = NULL;
  vyre_error own_error = {0};
  if (!error) error = &own_error;
  vyre_status status = check_failed(c, error);
  if (status == VYRE_OK)
    status = gather_ranges(c, b, CALL_WRITE, offset, size_bytes, &given, error);
  if (status == VYRE_OK) {
    intervals *has = layout_copy(b->layout);
    layout *now = NULL;
    if (has && change_written(has, given, c->size))
      now = layout_intern(&c->layouts, c->size, b->size_bytes, has);
    else
      layout_sets_free(has, c->size);
    if (now) {
      if (size_bytes) memcpy((char *)b->host + offset, data, size_bytes);
      take_layout(c, b, now);
    } else {
      status = failed(c, error_out_of_memory(error), error);
    }
  }
  free(given);
  return status;
}

// ---- what travels -------------------------------------------------------------------------------

static void copy_pieces(const cluster_message *m, void *const *memory, char *staging, bool is_out) {
  for (size_t i = 0; i < m->pieces.count; i++) {
    const cluster_piece *p = &m->pieces.at[i];
    char *at = (char *)memory[p->buffer] + p->lo;
    memcpy(is_out ? staging : at, is_out ? at : staging, p->hi - p->lo);
    staging += p->hi - p->lo;
  }
}

static char *fill_messages(const cluster_messages *from, void *const *memory, char *staging,
                           bool is_out, transport_message *to) {
  for (size_t i = 0; i < from->count; i++) {
    const cluster_message *m = &from->at[i];
    to[i] = (transport_message){.rank = m->rank, .bytes = m->bytes};
    if (m->pieces.count == 1) {
      to[i].data = (char *)memory[m->pieces.at[0].buffer] + m->pieces.at[0].lo;
      continue;
    }
    if (is_out) copy_pieces(m, memory, staging, true);
    to[i].data = staging;
    staging += (m->bytes + 63) / 64 * 64;
  }
  return staging;
}

static vyre_status exchange(cluster *c, const cluster_messages *sends,
                            const cluster_messages *receives, void *const *memory, void *staging,
                            transport_message *room, vyre_error *error) {
  if (!sends->count && !receives->count) return VYRE_OK;
  transport_message *out = room, *in = room + sends->count;
  char *rest = fill_messages(sends, memory, staging, true, out);
  fill_messages(receives, memory, rest, false, in);
  vyre_status status = c->transport->exchange(c->state, out, (uint32_t)sends->count, in,
                                              (uint32_t)receives->count, error);
  for (size_t i = 0; i < receives->count && status == VYRE_OK; i++)
    if (receives->at[i].pieces.count > 1) copy_pieces(&receives->at[i], memory, in[i].data, false);
  return status;
}

static vyre_status bring(cluster *c, vyre_buffer *b, const interval *wanted, vyre_error *error) {
  cluster_messages sends = {0}, receives = {0};
  intervals *has = layout_copy(b->layout), *wants = calloc(c->size, sizeof *wants);
  bool ok = has && wants;
  for (uint32_t n = 0; n < c->size && ok; n++)
    ok = intervals_push(&wants[n], wanted[n].lo, wanted[n].hi);
  ok = ok && cluster_moves(c->rank, c->size, 0, wants, has, &sends, &receives);
  uint64_t bytes = 0;
  for (size_t i = 0; i < sends.count; i++) bytes += sends.at[i].bytes + 64;
  for (size_t i = 0; i < receives.count; i++) bytes += receives.at[i].bytes + 64;
  bool is_direct = true;
  for (size_t i = 0; i < sends.count; i++) is_direct &= sends.at[i].pieces.count == 1;
  for (size_t i = 0; i < receives.count; i++) is_direct &= receives.at[i].pieces.count == 1;
  void *staging = ok && !is_direct ? malloc(bytes) : NULL;
  transport_message *room = calloc(sends.count + receives.count + 1, sizeof *room);
  layout *now = NULL;
  if (ok && room && (is_direct || staging)) {
    now = layout_intern(&c->layouts, c->size, b->size_bytes, has);
    has = NULL;
  }
  vyre_status status = now ? VYRE_OK : error_out_of_memory(error);
  if (now) status = exchange(c, &sends, &receives, &b->host, staging, room, error);
  if (status == VYRE_OK)
    take_layout(c, b, now);
  else if (now)
    layout_release(&c->layouts, now);
  layout_sets_free(has, c->size);
  layout_sets_free(wants, c->size);
  cluster_messages_free(&sends);
  cluster_messages_free(&receives);
  free(staging);
  free(room);
  return status;
}

vyre_status cluster_read(cluster *c, vyre_buffer *b, size_t offset, void *data, size_t size_bytes,
                         vyre_error *error) {
  interval *wanted = NULL;
  vyre_error own_error = {0};
  if (!error) error = &own_error;
  vyre_status status = check_failed(c, error);
  if (status == VYRE_OK)
    status = gather_ranges(c, b, CALL_READ, offset, size_bytes, &wanted, error);
  if (status == VYRE_OK) status = failed(c, bring(c, b, wanted, error), error);
  if (status == VYRE_OK && size_bytes) memcpy(data, (char *)b->host + offset, size_bytes);
  free(wanted);
  return status;
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
    take_layout(k->c, b, all);
    return VYRE_OK;
  }
  if (b->host) cluster_buffer_fini(k->c, b);
  b->host = NULL;
  return place_buffer(k->c, b, bytes, error);
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
                         .split_least = k->c->split_least};
  cluster_plan *made = cluster_plan_make(&k->c->layouts, &facts);
  free(grids);
  return made;
}

static void remember_dispatch(const cluster_kernel *k, const launch *l, const bound *b) {
  const vyre_program *p = k->program;
  uint64_t facts[3] = {k->number};
  facts[1] = p->param_count ? hash_fast(l->params, p->param_count * sizeof *l->params) : 0;
  facts[2] = p->buffer_count ? hash_fast(b->lengths, p->buffer_count * sizeof *b->lengths) : 0;
  remember(k->c, CALL_DISPATCH, facts, 3); // grids follow from these
}

static vyre_status find_plan(cluster_kernel *k, const launch *l, const bound *b, cluster_plan **out,
                             vyre_error *error) {
  fill_key(k, l, b);
  remember_dispatch(k, l, b);
  uint64_t hash = hash_fast(k->key, k->key_bytes);
  for (*out = k->plans[hash % PLAN_SLOTS]; *out; *out = (*out)->next)
    if ((*out)->hash == hash && !memcmp((*out)->key, k->key, k->key_bytes)) return VYRE_OK;
  vyre_status status = agree_alone(k->c, VYRE_OK, error);
  if (status != VYRE_OK) return status;
  if (k->plan_count >= MOST_PLANS) free_plans(k);
  cluster_plan *made = make_plan(k, l, b);
  if (!made) return failed(k->c, error_out_of_memory(error), error);
  made->key = malloc(k->key_bytes + 1);
  if (!made->key) {
    cluster_plan_free(&k->c->layouts, made);
    return failed(k->c, error_out_of_memory(error), error);
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

static vyre_status run_here(cluster_kernel *k, uint32_t r, const cluster_region *region,
                            const vyre_dispatch_args *args, const bound *b, vyre_report *report,
                            vyre_error *error) {
  vyre_span spans[LIMIT_BUFFERS];
  vyre_dispatch_args own = *args;
  for (uint32_t i = 0; i < k->program->buffer_count; i++)
    spans[i] = (vyre_span){b->memory[i], b->handles[i]->size_bytes};
  own.buffers = spans;
  own.buffer_count = k->program->buffer_count;
  own.handles = NULL;
  launch_part part;
  memcpy(part.first, region->box.first, sizeof part.first);
  memcpy(part.end, region->box.end, sizeof part.end);
  vyre_region_report row;
  vyre_report of_region = {.regions = &row, .region_capacity = 1};
  vyre_status status = executable_dispatch_part(k->executables[r], &own, &part, &of_region, error);
  if (status != VYRE_OK || !of_region.region_count) return status;
  report->operations += of_region.operations;
  report_region(report, k->program->regions[r].name, row.time_ns, row.bytes, row.invocations);
  return VYRE_OK;
}

static vyre_status run_region(cluster_kernel *k, uint32_t r, cluster_plan *p,
                              const vyre_dispatch_args *args, const bound *b, vyre_report *report,
                              vyre_error *error) {
  cluster_region *region = &p->regions[r];
  vyre_status status =
      exchange(k->c, &region->sends, &region->receives, b->memory, p->staging, p->messages, error);
  for (size_t i = 0; i < region->combines.count && k->c->rank && status == VYRE_OK; i++)
    fill_neutral(&region->combines.at[i], b->memory[region->combines.at[i].buffer]);
  if (status == VYRE_OK && region->runs_here)
    status = run_here(k, r, region, args, b, report, error);
  for (size_t i = 0; i < region->combines.count && status == VYRE_OK; i++)
    status =
        combine(k->c, &region->combines.at[i], b->memory[region->combines.at[i].buffer], error);
  return status;
}

static vyre_status run_bound(cluster_kernel *k, const vyre_dispatch_args *args, const launch *l,
                             vyre_report *report, vyre_error *error) {
  bound b;
  cluster_plan *p;
  vyre_status status = failed(k->c, bind_all(k, args, l, &b, error), error);
  if (status == VYRE_OK) status = find_plan(k, l, &b, &p, error);
  if (status != VYRE_OK) return status;
  k->latest = p;
  for (uint32_t r = 0; r < p->region_count && status == VYRE_OK; r++)
    status = run_region(k, r, p, args, &b, report, error);
  for (uint32_t i = 0; i < p->buffer_count && status == VYRE_OK; i++)
    if (b.handles[i]->layout != p->after[i])
      take_layout(k->c, b.handles[i], layout_retain(p->after[i]));
  return failed(k->c, status, error);
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
  vyre_status status = check_failed(k->c, error);
  if (status != VYRE_OK) return status;
  vyre_dispatch_args checked = *args;
  checked.buffers = spans;
  checked.handles = NULL;
  launch l;
  status = bind_handles(k, args, spans, error);
  if (status == VYRE_OK) status = launch_init(&l, k->program, &checked, error);
  if (status != VYRE_OK) { // nothing has begun
    remember(k->c, CALL_DISPATCH, NULL, 0);
    return agree_alone(k->c, status, error);
  }
  status = run_bound(k, args, &l, report, error);
  launch_fini(&l);
  report->wall_ns = clock_now_ns() - start;
  return status;
}
