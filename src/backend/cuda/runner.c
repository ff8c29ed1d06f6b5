// SPDX-License-Identifier: MIT
#include "backend/cuda/runner.h"

#include "backend/cuda/residency.h"
#include "backend/pieces.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// How long a device that was told to stop may go on.
#define GRACE_NS 2000000000u

// What is launched at once under a time limit. A device that was told to stop still goes through
// the invocations of what was launched, each of which takes about a nanosecond to leave.
#define PIECE_INVOCATIONS ((uint64_t)1 << 22)

// Launches between two looks at the clock, where nothing else limits them; regions among them, each
// with an event.
enum { BATCH_STEPS = 256, BATCH_REGIONS = BATCH_STEPS };

// Larger copies are the driver's to cut: pinned memory of their size would be taken from the host.
#define MOST_STAGED ((size_t)32 << 20)

// ---- life ---------------------------------------------------------------------------------------

// The beginning of a batch, and the end of each region in it.
static uint32_t event_count(const vyre_program *p) {
  return 1 + (p->region_count < BATCH_REGIONS ? p->region_count : BATCH_REGIONS);
}

vyre_status cuda_runner_new(cuda_build *build, const vyre_program *program, cuda_runner **out,
                            vyre_error *error) {
  cuda_runner *i = calloc(1, sizeof *i);
  if (!i) return error_out_of_memory(error);
  cuda_device *d = build->device;
  uint32_t regions = program->region_count;
  *i = (cuda_runner){.device = d, .build = build, .program = program};
  i->events = calloc(event_count(program), sizeof *i->events);
  i->times_ns = calloc(regions + 1u, sizeof *i->times_ns);
  i->places = calloc(program->buffer_count + 1u, sizeof *i->places);
  cu_result code = i->events && i->times_ns && i->places ? CU_SUCCESS : CU_ERROR_OUT_OF_MEMORY;
  if (code == CU_SUCCESS) code = cuda_memory_take(d, CUDA_HOST_MEMORY, sizeof(uint32_t), &i->flag);
  if (code == CU_SUCCESS) code = d->api.StreamCreate(&i->stream, CU_STREAM_NON_BLOCKING);
  for (uint32_t k = 0; k < event_count(program) && code == CU_SUCCESS; k++)
    code = d->api.EventCreate(&i->events[k], CU_EVENT_DEFAULT);
  if (code != CU_SUCCESS) {
    cuda_runner_free(i);
    return cuda_device_error(d, error, code, "make what a launch needs");
  }
  *out = i;
  return VYRE_OK;
}

void cuda_runner_free(cuda_runner *i) {
  cuda_device *d = i->device;
  for (uint32_t k = 0; k < event_count(i->program) && i->events; k++)
    if (i->events[k]) d->api.EventDestroy(i->events[k]);
  if (i->stream) d->api.StreamDestroy(i->stream);
  for (uint32_t b = 0; b < i->program->buffer_count && i->places; b++) {
    cuda_memory_give(d, &i->places[b].own);
    cuda_memory_give(d, &i->places[b].staging);
  }
  cuda_memory_give(d, &i->flag);
  free(i->events);
  free(i->times_ns);
  free(i->places);
  free(i);
}

// ---- waiting ------------------------------------------------------------------------------------

// A dispatch under way: what is launched next is found when it is due, because a large grid has
// more pieces than anybody could list.
typedef struct run {
  const launch *l;
  uint32_t region; // at work
  bool is_begun;   // `pieces` are this region's
  pieces pieces;
  uint32_t workgroup[3];
  bool is_late, is_stuck;
} run;

static void rest(uint64_t waited) {
  if (waited < 64) return; // soon over, mostly
  nanosleep(&(struct timespec){.tv_nsec = waited < 1024 ? 20000 : 500000}, NULL);
}

// Asks until the device is done. When the limit passes, it is told to stop; also when a driver does
// not say whether it is done (`failed`, or what a question fails with): the memory and the code
// that it may still use are nobody else's before it is.
static cu_result ask_until_done(cuda_runner *i, run *r, cu_result failed) {
  uint64_t give_up = 0;
  for (uint64_t n = 0;; n++) {
    cu_result code = i->device->api.StreamQuery(i->stream);
    if (cuda_is_loss(code)) return code;
    if (code == CU_SUCCESS) return failed;
    if (code != CU_ERROR_NOT_READY) failed = code;
    bool is_late = !give_up && launch_must_end(r->l);
    r->is_late |= is_late;
    if (!give_up && (is_late || failed != CU_SUCCESS)) {
      __atomic_store_n((uint32_t *)i->flag.host, 1, __ATOMIC_RELEASE);
      give_up = clock_now_ns() + GRACE_NS;
    }
    if (give_up && clock_now_ns() > give_up) {
      r->is_stuck = true;
      return failed;
    }
    rest(n);
  }
}

static cu_result synchronize(cuda_runner *i, run *r) {
  cu_result code = i->device->api.StreamSynchronize(i->stream);
  return code == CU_SUCCESS || cuda_is_loss(code) ? code : ask_until_done(i, r, code);
}

static cu_result finish(cuda_runner *i, run *r) {
  return launch_may_end(r->l) ? ask_until_done(i, r, CU_SUCCESS) : synchronize(i, r);
}

// ---- memory -------------------------------------------------------------------------------------

static size_t bytes_of(const cuda_runner *i, const launch *l, uint32_t b) {
  return l->buffers[b].length * type_bytes(i->program->buffers[b].type);
}

static cu_result grow(cuda_device *d, cuda_memory *m, cuda_memory_kind kind, size_t size) {
  if (m->piece && m->size >= size) return CU_SUCCESS;
  cuda_memory_give(d, m);
  return cuda_memory_take(d, kind, size, m);
}

static cu_result copy_in(cuda_runner *i, const cuda_runner_place *p, const void *data,
                         size_t size) {
  if (p->staging.piece) memcpy(p->staging.host, data, size);
  const void *from = p->staging.piece ? p->staging.host : data;
  return i->device->api.MemcpyHtoDAsync(p->own.address, from, size, i->stream);
}

static cu_result place_own(cuda_runner *i, uint32_t b, const void *data, size_t size) {
  cuda_runner_place *p = &i->places[b];
  cuda_device *d = i->device;
  cu_result code = grow(d, &p->own, CUDA_DEVICE_MEMORY, size);
  if (code != CU_SUCCESS) return code;
  p->address = p->own.address;
  p->is_copied = data != NULL;
  if (!data) return d->api.MemsetD8Async(p->address, 0, size, i->stream);
  if (size <= MOST_STAGED)
    code = grow(d, &p->staging, CUDA_HOST_MEMORY, size);
  else
    cuda_memory_give(d, &p->staging);
  return code == CU_SUCCESS ? copy_in(i, p, data, size) : code;
}

static cu_result place(cuda_runner *i, const launch *l, uint32_t b) {
  vyre_buffer *handle = launch_handle(l, b);
  const buffer *declared = &i->program->buffers[b];
  cuda_runner_place *p = &i->places[b];
  size_t size = bytes_of(i, l, b);
  p->is_copied = false;
  p->address = 0;
  if (!size) return CU_SUCCESS; // no kernel touches it
  if (declared->is_transient) return place_own(i, b, NULL, size);
  if (!handle) return place_own(i, b, l->buffers[b].data, size);
  return cuda_place(i->device, l->owner, i->stream, handle, declared->access != VYRE_READ,
                    &p->address);
}

static cu_result place_all(cuda_runner *i, const launch *l) {
  cu_result code = CU_SUCCESS;
  for (uint32_t b = 0; b < i->program->buffer_count && code == CU_SUCCESS; b++)
    code = place(i, l, b);
  return code;
}

// Kernels are done when this begins.
static cu_result copy_out(cuda_runner *i, run *r) {
  const launch *l = r->l;
  const cuda_api *api = &i->device->api;
  cu_result code = CU_SUCCESS;
  for (uint32_t b = 0; b < i->program->buffer_count && code == CU_SUCCESS; b++) {
    const cuda_runner_place *p = &i->places[b];
    if (!p->is_copied || i->program->buffers[b].access == VYRE_READ) continue;
    void *to = p->staging.piece ? p->staging.host : l->buffers[b].data;
    code = api->MemcpyDtoHAsync(to, p->address, bytes_of(i, l, b), i->stream);
  }
  cu_result ended = synchronize(i, r); // in any case: it writes the caller's memory
  if (code == CU_SUCCESS) code = ended;
  for (uint32_t b = 0; b < i->program->buffer_count && code == CU_SUCCESS; b++) {
    const cuda_runner_place *p = &i->places[b];
    if (p->is_copied && p->staging.piece && i->program->buffers[b].access != VYRE_READ)
      memcpy(l->buffers[b].data, p->staging.host, bytes_of(i, l, b));
  }
  return code;
}

// ---- steps --------------------------------------------------------------------------------------

static uint64_t weight_of(const cuda_runner *i, uint32_t r) {
  return i->build->is_polled ? pieces_weight(i->program, &i->program->regions[r]) : 1;
}

// A grid in pieces that the device takes at once, and that a time limit can end.
static void begin_region(const cuda_runner *i, run *r) {
  const launch_region *wanted = &r->l->regions[r->region];
  uint64_t most = i->build->is_polled ? PIECE_INVOCATIONS / weight_of(i, r->region) : UINT64_MAX;
  size_t local[3], global[3];
  cuda_choose_workgroup(i->build, i->program, r->region, wanted->workgroup, r->workgroup);
  for (int k = 0; k < 3; k++) {
    local[k] = r->workgroup[k];
    global[k] = (wanted->grid[k] + local[k] - 1) / local[k] * local[k];
  }
  pieces_begin(&r->pieces, global, local, most);
  for (int k = 0; k < 3; k++) {
    size_t largest = i->device->most_grid[k] * local[k];
    if (r->pieces.piece[k] > largest) r->pieces.piece[k] = largest;
  }
  r->is_begun = true;
}

// False when all is launched.
static bool next_step(const cuda_runner *i, run *r, cuda_runner_step *out) {
  size_t offset[3], size[3];
  for (; r->region < i->program->region_count; r->region++, r->is_begun = false) {
    if (!r->l->regions[r->region].invocations) continue;
    if (!r->is_begun) begin_region(i, r);
    if (!pieces_next(&r->pieces, offset, size)) continue;
    *out = (cuda_runner_step){.region = r->region,
                              .invocations = (uint64_t)size[0] * size[1] * size[2]};
    for (int k = 0; k < 3; k++) {
      out->workgroup[k] = r->workgroup[k];
      out->base[k] = (uint32_t)(offset[k] / r->workgroup[k]);
      out->groups[k] = (uint32_t)(size[k] / r->workgroup[k]);
    }
    return true;
  }
  return false;
}

// ---- launching ----------------------------------------------------------------------------------

// Numbers of up to 64 bits are passed by their lower bytes.
static uint64_t fact(const cuda_runner *i, const launch *l, const cuda_runner_step *s,
                     cuda_argument a) {
  switch ((cuda_fact)a.kind) {
  case CUDA_BUFFER: return i->places[a.index].address;
  case CUDA_LENGTH: return l->buffers[a.index].length;
  case CUDA_PARAM: return l->params[a.index];
  case CUDA_GRID: return l->regions[s->region].grid[a.index];
  case CUDA_BASE: return s->base[a.index];
  case CUDA_STOP: return i->flag.address;
  case CUDA_FACTS: break;
  }
  return 0;
}

static cu_result launch_step(cuda_runner *i, const launch *l, const cuda_runner_step *s) {
  const cuda_kernel *k = &i->build->code.kernels[s->region];
  uint64_t values[CUDA_MOST_ARGUMENTS];
  void *params[CUDA_MOST_ARGUMENTS];
  for (uint32_t n = 0; n < k->argument_count; n++) {
    values[n] = fact(i, l, s, k->arguments[n]);
    params[n] = &values[n];
  }
  return i->device->api.LaunchKernel(i->build->functions[s->region], s->groups[0], s->groups[1],
                                     s->groups[2], s->workgroup[0], s->workgroup[1],
                                     s->workgroup[2], k->dynamic_shared, i->stream, params, NULL);
}

// ---- batches ------------------------------------------------------------------------------------

// Between two events lies what was launched of one region.
typedef struct batch {
  uint32_t regions[BATCH_REGIONS];
  uint32_t count;
  bool is_last;
} batch;

// What may be launched at once; the next one begins with what is left over.
static cu_result launch_batch(cuda_runner *i, run *r, batch *out) {
  const cuda_api *api = &i->device->api;
  uint64_t most = i->build->is_polled ? PIECE_INVOCATIONS : UINT64_MAX, taken = 0;
  cuda_runner_step s;
  *out = (batch){0};
  cu_result code = api->EventRecord(i->events[0], i->stream);
  for (uint32_t n = 0; n < BATCH_STEPS && taken < most && code == CU_SUCCESS; n++) {
    if (!next_step(i, r, &s)) {
      out->is_last = true;
      break;
    }
    bool is_new = !out->count || out->regions[out->count - 1] != s.region;
    if (is_new) out->regions[out->count++] = s.region;
    uint64_t work = s.invocations * weight_of(i, s.region);
    taken = work > UINT64_MAX - taken ? UINT64_MAX : taken + work;
    code = launch_step(i, r->l, &s);
    if (code == CU_SUCCESS) code = api->EventRecord(i->events[out->count], i->stream);
  }
  return code;
}

static cu_result take_times(cuda_runner *i, const batch *b) {
  cu_result code = CU_SUCCESS;
  for (uint32_t n = 0; n < b->count && code == CU_SUCCESS; n++) {
    float ms = 0;
    code = i->device->api.EventElapsedTime(&ms, i->events[n], i->events[n + 1]);
    if (code == CU_SUCCESS && ms > 0) i->times_ns[b->regions[n]] += (uint64_t)((double)ms * 1e6);
  }
  return code;
}

static cu_result run_batch(cuda_runner *i, run *r, bool *is_last) {
  batch b;
  cu_result code = launch_batch(i, r, &b);
  // What was launched before one that failed uses the memory of this runner.
  cu_result ended = finish(i, r);
  if (code == CU_SUCCESS) code = ended;
  if (code == CU_SUCCESS && !r->is_stuck) code = take_times(i, &b);
  if (!b.is_last && launch_must_end(r->l)) r->is_late = true;
  *is_last = b.is_last;
  return code;
}

// One that was done in time is done, however late somebody looked.
static cu_result run_steps(cuda_runner *i, run *r, bool *is_done) {
  bool is_last = false;
  cu_result code = CU_SUCCESS;
  memset(i->times_ns, 0, i->program->region_count * sizeof *i->times_ns);
  __atomic_store_n((uint32_t *)i->flag.host, 0, __ATOMIC_RELEASE);
  r->is_late = launch_must_end(r->l);
  while (code == CU_SUCCESS && !r->is_late && !is_last) code = run_batch(i, r, &is_last);
  // Where the flag is up some may have left, unless nobody looks at it.
  bool is_told = __atomic_load_n((uint32_t *)i->flag.host, __ATOMIC_ACQUIRE) != 0;
  *is_done = is_last && !r->is_stuck && !(is_told && i->build->is_polled);
  return code;
}

// ---- all ----------------------------------------------------------------------------------------

// Bytes of buffers that a region touches, estimated: at most each buffer once.
static uint64_t traffic(const cuda_runner *i, const launch *l, uint32_t r) {
  const cuda_kernel *k = &i->build->code.kernels[r];
  uint64_t bytes = 0, invocations = l->regions[r].invocations;
  for (uint32_t n = 0; n < k->argument_count; n++) {
    if (k->arguments[n].kind != CUDA_BUFFER) continue;
    uint32_t b = k->arguments[n].index;
    uint64_t length = l->buffers[b].length;
    bytes +=
        (length < invocations ? length : invocations) * type_bytes(i->program->buffers[b].type);
  }
  return bytes;
}

static const char *region_at_work(const cuda_runner *i, const run *r) {
  uint32_t last = i->program->region_count - 1;
  return i->program->regions[r->region < last ? r->region : last].name;
}

vyre_status cuda_runner_run(cuda_runner *i, const launch *l, vyre_report *report, bool *is_stuck,
                            vyre_error *error) {
  cuda_device *d = i->device;
  run r = {.l = l};
  bool is_done = false;
  *is_stuck = false;
  cu_result code = place_all(i, l);
  if (code != CU_SUCCESS) {
    synchronize(i, &r); // copies that have begun read the caller's memory
    *is_stuck = r.is_stuck;
    return cuda_device_error(d, error, code, "place a buffer");
  }
  code = run_steps(i, &r, &is_done);
  *is_stuck = r.is_stuck;
  if (code != CU_SUCCESS) return cuda_device_error(d, error, code, "run a kernel");
  if (!is_done) return launch_stopped_error(l, region_at_work(i, &r), error);
  code = copy_out(i, &r);
  *is_stuck = r.is_stuck;
  if (code != CU_SUCCESS) return cuda_device_error(d, error, code, "read what was computed");
  for (uint32_t n = 0; n < i->program->region_count; n++)
    report_region(report, i->program->regions[n].name, i->times_ns[n], traffic(i, l, n),
                  l->regions[n].invocations);
  return VYRE_OK;
}
