// SPDX-License-Identifier: MIT
//
// Slow and obviously right. A workgroup without barriers runs its invocations one after the other
// in one frame. With barriers, each invocation has a frame of its own and runs to the next barrier;
// the group goes on when all stand at the same one, and it is an error when they do not.
#include "backend/ref/ref.h"

#include "backend/ref/machine.h"
#include "base/clock.h"
#include "base/error.h"
#include "ir/math.h"
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

// ---- a workgroup --------------------------------------------------------------------------------

static void place(const machine *m, frame *f, uint64_t index) {
  const uint32_t *size = m->shape->workgroup;
  f->local[0] = index % size[0];
  f->local[1] = index / size[0] % size[1];
  f->local[2] = index / size[0] / size[1];
  for (int k = 0; k < 3; k++) f->global[k] = m->group[k] * size[k] + f->local[k];
  f->pc = m->region->body.first;
}

// Only elastic regions have groups that stick out of the grid. A lowered one may have to see to it
// itself along the axes that its grid has.
static bool is_in_grid(const machine *m, const frame *f) {
  bool is_padded = m->p->target && m->p->target->pads_grid;
  for (uint32_t k = is_padded ? m->region->rank : 0; k < 3; k++)
    if (f->global[k] >= m->shape->grid[k]) return false;
  const launch_part *part = m->region->is_elastic ? m->l->part : NULL;
  for (int k = 0; k < 3 && part; k++)
    if (f->global[k] < part->first[k] || f->global[k] >= part->end[k]) return false;
  return true;
}

// Of a rigid region.
static bool is_in_part(const machine *m) {
  const launch_part *part = m->region->is_elastic ? NULL : m->l->part;
  for (int k = 0; k < 3 && part; k++)
    if (m->group[k] < part->first[k] || m->group[k] >= part->end[k]) return false;
  return true;
}

static stop run_in_turn(machine *m, frame *f, uint64_t size) {
  for (uint64_t i = 0; i < size; i++) {
    place(m, f, i);
    if (!is_in_grid(m, f)) continue;
    machine_run(m, f);
    if (f->stop != DONE) return f->stop;
  }
  return DONE;
}

// Where two invocations stand that should be at the same barrier, or at the end.
static void observe_divergence(const machine *m, const frame *x, const frame *y) {
  if (!m->observer || !m->observer->diverge) return;
  const uint64_t *grid = m->shape->grid;
  const frame *frames[2] = {x, y};
  ref_divergence d;
  for (int k = 0; k < 2; k++) {
    const frame *f = frames[k];
    d.barriers[k] = f->stop == DONE ? 0 : f->pc - 1;
    d.invocations[k] = f->global[0] + grid[0] * (f->global[1] + grid[1] * f->global[2]);
  }
  m->observer->diverge(m->observer->context, &d);
}

static stop run_in_phases(machine *m, frame *frames, uint64_t size, bool *diverged) {
  for (uint64_t i = 0; i < size; i++) place(m, &frames[i], i);
  for (;; m->phase++) {
    for (uint64_t i = 0; i < size; i++) {
      machine_run(m, &frames[i]);
      if (frames[i].stop > DONE) return frames[i].stop;
    }
    for (uint64_t i = 1; i < size; i++) {
      bool is_same = frames[i].stop == frames[0].stop &&
                     (frames[i].stop == DONE || frames[i].pc == frames[0].pc);
      if (is_same) continue;
      observe_divergence(m, &frames[0], &frames[i]);
      *diverged = true;
      return DONE;
    }
    if (frames[0].stop == DONE) return DONE;
  }
}

// ---- a region -----------------------------------------------------------------------------------

// Zero, or what a device may have left there.
static void clear_shared(const machine *m) {
  int byte = m->p->target && !m->p->target->zeroes_shared ? 0xa5 : 0;
  for (uint32_t i = m->region->shared.first; i < m->region->shared.end; i++)
    memset(m->shared[i].data, byte, m->shared[i].length * type_bytes(m->shared[i].type));
}

static stop run_groups(machine *m, frame *frames, bool *diverged) {
  uint64_t counts[3];
  const launch_region *s = m->shape;
  for (int k = 0; k < 3; k++) counts[k] = (s->grid[k] + s->workgroup[k] - 1) / s->workgroup[k];
  uint64_t size = (uint64_t)s->workgroup[0] * s->workgroup[1] * s->workgroup[2];
  for (m->group[2] = 0; m->group[2] < counts[2]; m->group[2]++)
    for (m->group[1] = 0; m->group[1] < counts[1]; m->group[1]++)
      for (m->group[0] = 0; m->group[0] < counts[0]; m->group[0]++) {
        if (!is_in_part(m)) continue;
        clear_shared(m);
        m->phase++;
        stop end = m->region->has_barrier ? run_in_phases(m, frames, size, diverged)
                                          : run_in_turn(m, frames, size);
        if (end != DONE || *diverged) return end;
      }
  return DONE;
}

static vyre_status promise_error(const machine *m, vyre_error *error) {
  const inst *in = &m->p->code[m->broken];
  const char *name = m->p->names && m->p->names[m->broken] ? m->p->names[m->broken] : "";
  return error_set(error, VYRE_ERROR_BACKEND,
                   "`%s` (operation %u%s%s, of the recipe `%s` for `%s`) in region `%s`: its "
                   "precondition does not hold: %s. Fix: report this with the program",
                   op_forms[in->op].name, m->broken, *name ? ", " : "", name,
                   lower_recipe_name(in->promised_by - 1u), m->p->target->name, m->region->name,
                   op_forms[in->op].precondition);
}

static vyre_status stop_error(const machine *m, stop end, bool diverged, vyre_error *error) {
  if (diverged) return launch_divergence_error(m->region->name, error);
  if (end == OUT_OF_TIME) return launch_stopped_error(m->l, m->region->name, error);
  if (end == BROKEN_PROMISE) return promise_error(m, error);
  if (end == OUT_OF_FUEL)
    return error_set(error, VYRE_ERROR_FUEL,
                     "region `%s` passed the limit of %llu operations. Fix: look for a loop that "
                     "does not end, or allow more",
                     m->region->name, (unsigned long long)m->l->fuel);
  return VYRE_OK;
}

// Each array's place in a frame's private memory.
static void place_arrays(machine *m) {
  uint32_t at = 0;
  for (uint32_t i = m->region->body.first; i < m->region->body.end; i++) {
    const inst *in = &m->p->code[i];
    if (in->op != VYRE_OP_ARRAY) continue;
    m->private_at[i - m->region->body.first] = at;
    at += in->arg[0] * type_bytes(in->type);
  }
}

// Room for what an observer is told late.
static bool make_deferral(machine *m, frame *frames, uint64_t frame_count, size_t slots) {
  const ref_observer *o = m->observer;
  if (!o || (!o->access && !o->divide_by_zero)) return true;
  if (!deferral_init(&m->deferral, m->p, m->region)) return false;
  for (uint64_t i = 0; i < frame_count && m->deferral.count; i++) {
    deferral_state *s = frames[i].deferred = calloc(1, sizeof *s);
    if (!s || !(s->marks = calloc(slots, sizeof *s->marks))) return false;
  }
  return true;
}

static void free_deferral(machine *m, frame *frames, uint64_t frame_count) {
  for (uint64_t i = 0; i < frame_count && frames; i++) {
    if (frames[i].deferred) free(frames[i].deferred->marks);
    free(frames[i].deferred);
  }
  deferral_fini(&m->deferral);
}

static vyre_status run_frames(machine *m, vyre_error *error) {
  const uint32_t *w = m->shape->workgroup;
  uint64_t frame_count = m->region->has_barrier ? (uint64_t)w[0] * w[1] * w[2] : 1;
  size_t slots = m->region->body.end - m->region->body.first + 1u;
  size_t frame_bytes = 2 * slots * sizeof(uint64_t) + (m->region->private_bytes + 7u) / 8 * 8;
  frame *frames = calloc(frame_count, sizeof *frames);
  unsigned char *frame_memory = calloc(frame_count, frame_bytes);
  m->private_at = calloc(slots, sizeof *m->private_at);
  vyre_status status;
  if (!frames || !frame_memory || !m->private_at || !make_deferral(m, frames, frame_count, slots)) {
    status = error_out_of_memory(error);
  } else {
    place_arrays(m);
    for (uint64_t i = 0; i < frame_count; i++) {
      frames[i].values = (uint64_t *)(frame_memory + i * frame_bytes);
      frames[i].trips = frames[i].values + slots;
      frames[i].private_memory = (unsigned char *)(frames[i].trips + slots);
    }
    bool diverged = false;
    stop end = run_groups(m, frames, &diverged);
    status = stop_error(m, end, diverged, error);
  }
  free_deferral(m, frames, frame_count);
  free(frames);
  free(frame_memory);
  free(m->private_at);
  return status;
}

static vyre_status run_region(machine *m, vyre_report *report, vyre_error *error) {
  uint64_t start = clock_now_ns(), bytes_before = m->bytes;
  vyre_status status = m->shape->invocations ? run_frames(m, error) : VYRE_OK;
  // The name is borrowed from the caller's program: the expanded one may not live as long.
  const char *name = m->l->program->regions[m->region - m->p->regions].name;
  if (status == VYRE_OK)
    report_region(report, name, clock_now_ns() - start, m->bytes - bytes_before,
                  m->shape->invocations);
  return status;
}

// ---- a dispatch ---------------------------------------------------------------------------------

static size_t padded(const memory *m) {
  return (m->length * type_bytes(m->type) + 15) / 16 * 16;
}

// Buffers as bound; transient ones and shared arrays come from one zeroed block.
static bool find_all_memory(machine *m, unsigned char **block) {
  const vyre_program *p = m->p;
  size_t bytes = 0;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    m->buffers[i] = (memory){m->l->buffers[i].data, m->l->buffers[i].length, p->buffers[i].type};
    if (p->buffers[i].is_transient) bytes += padded(&m->buffers[i]);
  }
  for (uint32_t i = 0; i < p->shared_count; i++) {
    m->shared[i] = (memory){NULL, p->shared[i].length, p->shared[i].type};
    bytes += padded(&m->shared[i]);
  }
  unsigned char *at = *block = calloc(1, bytes + 1);
  if (!at) return false;
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    if (!p->buffers[i].is_transient) continue;
    m->buffers[i].data = at;
    at += padded(&m->buffers[i]);
  }
  for (uint32_t i = 0; i < p->shared_count; i++) {
    m->shared[i].data = at;
    at += padded(&m->shared[i]);
  }
  return true;
}

vyre_status ref_run(const vyre_program *p, const launch *l, const ref_observer *observer,
                    vyre_report *report, vyre_error *error) {
  machine m = {.p = p, .l = l, .observer = observer};
  unsigned char *block = NULL;
  m.buffers = calloc(p->buffer_count + 1u, sizeof *m.buffers);
  m.shared = calloc(p->shared_count + 1u, sizeof *m.shared);
  vyre_status status = VYRE_OK;
  if (!m.buffers || !m.shared || !find_all_memory(&m, &block)) status = error_out_of_memory(error);
  for (uint32_t i = 0; i < p->region_count && status == VYRE_OK; i++) {
    m.region = &p->regions[i];
    m.shape = &l->regions[i];
    status = run_region(&m, report, error);
  }
  report->operations = m.operations;
  free(m.buffers);
  free(m.shared);
  free(block);
  return status;
}

static vyre_status ref_dispatch(void *state, const launch *l, vyre_report *report,
                                vyre_error *error) {
  return ref_run(state, l, NULL, report, error);
}

static vyre_status ref_probe(const backend *self, vyre_device *devices, uint32_t capacity,
                             uint32_t *count, vyre_error *error) {
  (void)self;
  (void)error;
  *count = 1;
  if (capacity)
    devices[0] = (vyre_device){.adapter = "ref",
                               .description = "reference interpreter, one thread",
                               .compute_units = 1,
                               .max_workgroup = 1024,
                               .has_f64 = true,
                               .has_i64 = true,
                               .has_i64_atomics = true};
  return VYRE_OK;
}

static vyre_status ref_compile(const backend *self, vyre_program *program,
                               const vyre_compile_options *options, const volatile uint32_t *stop,
                               void **state, vyre_error *error) {
  (void)self;
  (void)options;
  (void)stop;
  vyre_program *expanded = NULL;
  vyre_status status = math_expand(program, &expanded, error);
  *state = expanded;
  return status;
}

static void ref_release(void *state) {
  vyre_program_release(state);
}

const backend ref_backend = {
    .id = "ref",
    .is_host = true,
    .summary = "reference interpreter: slow, exact, the oracle for all others",
    .probe = ref_probe,
    .compile = ref_compile,
    .dispatch = ref_dispatch,
    .release = ref_release,
};
