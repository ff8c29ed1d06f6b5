// SPDX-License-Identifier: MIT
#include "cluster/cluster.h"

#include "base/error.h"
#include "base/module.h"
#include "cluster/cluster_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- failure ------------------------------------------------------------------------------------

vyre_status cluster_check(const cluster *c, vyre_error *error) {
  if (!c->has_failed) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "the cluster has failed before: %.300s. Fix: mend that, and start it again",
                   c->failure);
}

vyre_status cluster_failed(cluster *c, vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK || c->has_failed) return status;
  c->has_failed = true;
  snprintf(c->failure, sizeof c->failure, "%s", error->message);
  c->transport->fail(c->state, error->message);
  return status;
}

// ---- agreement ----------------------------------------------------------------------------------

static const vyre_program *program_of(const void *context, uint32_t kernel) {
  const cluster_kernel *k = ((const cluster *)context)->kernels;
  while (k && k->number != kernel) k = k->next;
  return k ? k->program : NULL;
}

static vyre_status tell_difference(const cluster *c, uint32_t a, const calls_said *of_a, uint32_t b,
                                   const calls_said *of_b, vyre_error *error) {
  char text[320];
  calls_difference(a, of_a, b, of_b, program_of, c, text, sizeof text);
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "rank %u makes another call than rank %u: %s. Fix: call the same on every rank, "
                   "with the same program, parameters and buffers",
                   b, a, text);
}

static vyre_status compare_place(void *context, uint32_t rank, const void *said, bool *answer,
                                 vyre_error *error) {
  const cluster *c = context;
  const calls_said *own = &c->made.said, *other = said;
  calls_verdict v = calls_compare(&c->made, other);
  *answer = v == CALLS_UNKNOWN;
  if (v != CALLS_DIFFER) return VYRE_OK;
  bool is_lower = rank < c->rank;
  return tell_difference(c, is_lower ? rank : c->rank, is_lower ? other : own,
                         is_lower ? c->rank : rank, is_lower ? own : other, error);
}

// They compare where they wait for each other anyway and where something is done for the first
// time: a rank that was called otherwise, or that cannot make a call, would let the others wait for
// ever, or compute with other numbers.

static uint32_t first_wrong(const cluster *c, const cluster_said *all) {
  uint32_t n = 0;
  while (n < c->size && !all[n].is_wrong) n++;
  return n;
}

static uint32_t first_other(const cluster *c, const cluster_said *all, bool is_before) {
  uint32_t n = 1;
  while (n < c->size &&
         (is_before ? all[n].before == all[0].before : all[n].history == all[0].history))
    n++;
  return n;
}

// All see that rank `other` was called otherwise than rank 0, and all tell each other how.
static vyre_status tell_other(cluster *c, uint32_t other, vyre_error *error) {
  calls_said *all = calloc(c->size, sizeof *all);
  vyre_status status = all ? VYRE_OK : error_out_of_memory(error);
  if (all) status = c->transport->gather(c->state, &c->made.said, sizeof *all, all, error);
  if (status == VYRE_OK) status = tell_difference(c, 0, &all[0], other, &all[other], error);
  free(all);
  return status;
}

// The said of this rank: how its call went, and what belongs to it.
static vyre_status compare_said(cluster *c, vyre_status own, cluster_said mine, cluster_said *all,
                                vyre_error *error) {
  vyre_error found = {0};
  mine.history = calls_history(&c->made);
  mine.before = calls_history_before(&c->made);
  mine.is_wrong = own != VYRE_OK;
  vyre_status status = c->transport->gather(c->state, &mine, sizeof mine, all, &found);
  uint32_t wrong = status == VYRE_OK ? first_wrong(c, all) : c->size;
  uint32_t other = status == VYRE_OK ? first_other(c, all, wrong < c->size) : c->size;
  if (other < c->size) {
    status = tell_other(c, other, &found);
  } else if (wrong < c->size) {
    calls_take_back(&c->made);
    if (own != VYRE_OK) return own;
    return error_set(error, VYRE_ERROR_BACKEND,
                     "rank %u cannot make this call, and so no rank does. Fix: see what that rank "
                     "says; every rank makes the same calls with the same numbers",
                     wrong);
  }
  if (cluster_failed(c, status, &found) == VYRE_OK || own != VYRE_OK) return own;
  if (error) *error = found;
  return status;
}

vyre_status cluster_agree(cluster *c, vyre_status own, interval range, cluster_said *all,
                          vyre_error *error) {
  cluster_said mine = {.range = range};
  if (all) return compare_said(c, own, mine, all, error);
  cluster_said *room = calloc(c->size, sizeof *room);
  if (!room) {
    vyre_error none = {0};
    vyre_error *told = error ? error : &none;
    return cluster_failed(c, error_out_of_memory(told), told);
  }
  vyre_status status = compare_said(c, own, mine, room, error);
  free(room);
  return status;
}

vyre_status cluster_agree_measured(cluster *c, const balance_said *measured, cluster_said *all,
                                   vyre_error *error) {
  return compare_said(c, VYRE_OK, (cluster_said){.measured = *measured}, all, error);
}

enum { SPLIT_LEAST = 4096 }; // invocations: a message takes as long as thousands of them

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
  c->options = *options;
  c->options.weights = NULL;
  if (!c->options.split_least) c->options.split_least = SPLIT_LEAST;
  c->place = (transport_place){&c->made.said, sizeof c->made.said, c, compare_place};
  status = transport->open(communicator, &c->place, &c->state, &c->rank, &c->size, error);
  if (status == VYRE_OK) {
    c->weights = calloc(c->size, sizeof *c->weights);
    for (uint32_t n = 0; c->weights && n < c->size; n++)
      c->weights[n] = options->weights ? options->weights[n] : BALANCE_MOST;
    if (c->weights) {
      *out = c;
      return VYRE_OK;
    }
    status = error_out_of_memory(error);
    transport->fail(c->state, "out of memory");
    transport->close(c->state);
  }
  free(c);
  return status;
}

void cluster_free(cluster *c) {
  if (!c) return;
  // Ranks end together: one that does not would let the others wait.
  vyre_error unused = {0};
  calls_add(&c->made, CALL_END, 0, NULL, 0);
  if (!c->has_failed) (void)cluster_agree(c, VYRE_OK, (interval){0, 0}, NULL, &unused);
  c->transport->close(c->state);
  free(c->weights);
  free(c);
}

uint32_t cluster_rank(const cluster *c) {
  return c->rank;
}

uint32_t cluster_size(const cluster *c) {
  return c->size;
}

// ---- buffers ------------------------------------------------------------------------------------

vyre_status cluster_place(cluster *c, vyre_buffer *b, size_t size_bytes, vyre_error *error) {
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
  vyre_status status = cluster_check(c, error);
  if (status != VYRE_OK) return status;
  calls_add(&c->made, CALL_ALLOCATE, 0, &(uint64_t){size_bytes}, 1);
  vyre_status own = cluster_place(c, b, size_bytes, error);
  status = cluster_agree(c, own, (interval){0, 0}, NULL, error);
  if (status == VYRE_OK) b->number = c->buffer_count++;
  if (status != VYRE_OK && own == VYRE_OK) cluster_buffer_fini(c, b);
  return status;
}

void cluster_take_layout(cluster *c, vyre_buffer *b, layout *now) {
  layout_release(&c->layouts, b->layout);
  b->layout = now;
}

// What every rank passed; from UINT64_MAX on where it was wrong.
static vyre_status gather_ranges(cluster *c, const vyre_buffer *b, call_kind what, size_t offset,
                                 size_t size_bytes, interval **out, vyre_error *error) {
  bool is_right = offset <= b->size_bytes && size_bytes <= b->size_bytes - offset;
  interval own = {is_right ? offset : UINT64_MAX, is_right ? offset + size_bytes : 0};
  cluster_said *all = calloc(c->size, sizeof *all);
  *out = calloc(c->size, sizeof **out);
  vyre_status status = all && *out ? VYRE_OK : cluster_failed(c, error_out_of_memory(error), error);
  calls_add(&c->made, what, b->number, NULL, 0);
  if (status == VYRE_OK) status = cluster_agree(c, VYRE_OK, own, all, error);
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
  vyre_status status = cluster_check(c, error);
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
      cluster_take_layout(c, b, now);
    } else {
      status = cluster_failed(c, error_out_of_memory(error), error);
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

vyre_status cluster_begin(cluster *c, const cluster_messages *sends,
                          const cluster_messages *receives, void *const *memory, void *staging,
                          transport_message *room, vyre_error *error) {
  transport_message *out = room, *in = room + sends->count;
  char *rest = fill_messages(sends, memory, staging, true, out);
  fill_messages(receives, memory, rest, false, in);
  return c->transport->begin(c->state, out, (uint32_t)sends->count, in, (uint32_t)receives->count,
                             error);
}

vyre_status cluster_end(cluster *c, const cluster_messages *sends, const cluster_messages *receives,
                        void *const *memory, transport_message *room, vyre_error *error) {
  transport_message *in = room + sends->count;
  vyre_status status = c->transport->end(c->state, error);
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
  if (now && sends.count + receives.count) {
    status = cluster_begin(c, &sends, &receives, &b->host, staging, room, error);
    if (status == VYRE_OK) status = cluster_end(c, &sends, &receives, &b->host, room, error);
  }
  if (status == VYRE_OK)
    cluster_take_layout(c, b, now);
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
  vyre_status status = cluster_check(c, error);
  if (status == VYRE_OK)
    status = gather_ranges(c, b, CALL_READ, offset, size_bytes, &wanted, error);
  if (status == VYRE_OK) status = cluster_failed(c, bring(c, b, wanted, error), error);
  if (status == VYRE_OK && size_bytes) memcpy(data, (char *)b->host + offset, size_bytes);
  free(wanted);
  return status;
}
