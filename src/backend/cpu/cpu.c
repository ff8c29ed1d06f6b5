// SPDX-License-Identifier: MIT
//
// A dispatch cuts each region into boxes (of invocations when it is elastic, of workgroups when it
// is rigid) and lets the pool's threads take them. How many threads are worth their wake-up is
// learned (threads.h). The answer is the same bits either way.
#include "backend/cpu/cpu.h"

#include "analysis/axis.h"
#include "backend/cpu/compile.h"
#include "backend/cpu/forms.h"
#include "backend/cpu/host.h"
#include "backend/cpu/threads.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/priority.h"
#include "base/watchdog.h"
#include "ir/limits.h"

#include <llvm/Config/llvm-config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct region_state {
  threads_state threads;
  uint32_t touched_count; // buffers that the region's code accesses
  uint32_t touched[LIMIT_BUFFERS];
} region_state;

typedef struct cpu_state {
  vyre_program *program;
  cpu_kernels kernels;
  region_state *regions;
  uint32_t threads;
  uint64_t cache_bytes;
  _Atomic(struct block *) spare; // transient memory of the last dispatch, for the next one
} cpu_state;

// ---- boxes --------------------------------------------------------------------------------------

typedef struct box_job {
  cpu_kernel kernel;
  const cpu_args *args;
  size_t scratch_bytes;
  uint32_t first[3], extent[3], box[3]; // of the part that runs
  uint64_t count[3];                    // boxes along each axis
  atomic_int result;                    // the first that is not CPU_RAN
} box_job;

static void find_box(const box_job *j, uint64_t number, uint64_t at[3]) {
  at[0] = number % j->count[0];
  at[1] = number / j->count[0] % j->count[1];
  at[2] = number / j->count[0] / j->count[1];
}

static void next_box(const box_job *j, uint64_t at[3]) {
  if (++at[0] < j->count[0]) return;
  at[0] = 0;
  if (++at[1] < j->count[1]) return;
  at[1] = 0;
  at[2]++;
}

static bool run_boxes(void *context, uint64_t first, uint64_t end) {
  box_job *j = context;
  void *scratch = j->scratch_bytes ? pool_scratch(j->scratch_bytes) : NULL;
  if (j->scratch_bytes && !scratch) {
    atomic_store(&j->result, -1);
    return false;
  }
  uint64_t at[3] = {0};
  if (first) find_box(j, first, at);
  for (uint64_t i = first; i < end; i++, next_box(j, at)) {
    uint32_t lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
      lo[k] = (uint32_t)at[k] * j->box[k];
      hi[k] = at[k] + 1 == j->count[k] ? j->extent[k] : lo[k] + j->box[k];
      lo[k] += j->first[k];
      hi[k] += j->first[k];
    }
    bool is_late = __atomic_load_n(j->args->stop, __ATOMIC_RELAXED);
    int result = is_late ? CPU_STOPPED : j->kernel(j->args, lo, hi, scratch);
    if (result == CPU_RAN) continue;
    int ran = CPU_RAN;
    atomic_compare_exchange_strong(&j->result, &ran, result);
    return false;
  }
  return true;
}

// A box is large enough that calling the kernel costs nothing, and small enough that every thread
// gets several; the numbers are of the order that fills a first-level cache. Threads end at the
// same time when boxes are short, whoever began late and whatever is uneven: of a few microseconds,
// where it is known what an invocation takes.
enum { BOX_X = 4096, BOX_INVOCATIONS = 16384, LEAST_BOXES = 4, MOST_BOXES = 32, BOX_NS = 4000 };

static uint64_t boxes_wanted(uint32_t threads, uint64_t work_ns) {
  if (threads == 1) return 1;
  uint64_t each = work_ns / threads / BOX_NS;
  return threads * (each < LEAST_BOXES ? LEAST_BOXES : each > MOST_BOXES ? MOST_BOXES : each);
}

// Boxes that end inside of a vector would run lane by lane, and with fewer rows than are jammed
// each row for itself: a launch shape is taken in whole ones of both.
static uint32_t whole(uint32_t invocations, uint32_t unit) {
  return (invocations + unit - 1) / unit * unit;
}

// One row that is a box. Short dispatches are such, and the divisions below would be most of what
// starting them costs.
static bool is_short_row(const box_job *j) {
  uint32_t most = j->box[0] ? j->box[0] : BOX_X;
  // Not two comparisons: read together, what was just written apart is waited for.
  return j->extent[0] <= most && (uint64_t)j->extent[1] * j->extent[2] == 1;
}

// What is left over, and would not fill one vector or one jam of rows, belongs to the last box.
static void count_boxes(const cpu_region_code *code, bool is_free, box_job *j) {
  uint32_t least[3] = {code->width, code->rows, 1};
  bool is_jammed = is_free && code->rows > 1;
  for (int k = 0; k < 3; k++) {
    uint64_t extent = j->extent[k], box = j->box[k], count = (extent + box - 1) / box;
    bool is_small = count > 1 && extent - (count - 1) * box < least[k];
    j->count[k] = is_jammed && is_small ? count - 1 : count;
  }
}

static uint64_t count_of(uint64_t extent, uint64_t box) {
  return (extent + box - 1) / box;
}

// As high as leaves every thread several boxes.
static uint32_t highest(const box_job *j, uint32_t rows, uint64_t wanted) {
  uint64_t columns = count_of(j->extent[0], j->box[0]) * j->extent[2];
  uint64_t pieces = count_of(wanted, columns);
  uint32_t fair = whole((uint32_t)((j->extent[1] + pieces - 1) / pieces), rows);
  return fair > j->box[1] ? fair : j->box[1];
}

static void choose_box(const cpu_region_code *code, const launch *l, const launch_region *shape,
                       bool is_elastic, uint32_t threads, uint64_t wanted, box_job *j) {
  for (int k = 0; k < 3; k++) {
    uint32_t w = shape->workgroup[k], axis = axis_turned(code->lanes, (uint32_t)k);
    j->first[k] = l->part ? (uint32_t)l->part->first[axis] : 0;
    j->extent[k] = (uint32_t)(is_elastic ? shape->grid[k] : shape->grid[k] / w);
    if (l->part) j->extent[k] = (uint32_t)l->part->end[axis] - j->first[k];
    j->box[k] = !is_elastic ? 1 : l->has_workgroup ? w : code->tile_hint[k];
  }
  if (is_elastic && l->has_workgroup) {
    j->box[0] = whole(j->box[0], code->width);
    j->box[1] = whole(j->box[1], code->rows);
  }
  uint32_t group = is_elastic ? 1 : shape->workgroup[0] * shape->workgroup[1] * shape->workgroup[2];
  bool is_free = is_elastic && !l->has_workgroup;
  if (is_free && threads == 1 && is_short_row(j)) {
    for (int k = 0; k < 3; k++) j->box[k] = j->extent[k], j->count[k] = 1;
    return;
  }
  if (!j->box[0] || !is_elastic) j->box[0] = BOX_X / group ? BOX_X / group : 1;
  if (j->box[0] > j->extent[0]) j->box[0] = j->extent[0];
  if (!j->box[1]) {
    uint64_t rows = BOX_INVOCATIONS / j->box[0] ? BOX_INVOCATIONS / j->box[0] : 1;
    uint64_t fair = (uint64_t)j->extent[1] * j->extent[2] / wanted;
    if (is_free && rows > fair && threads > 1) rows = fair ? fair : 1;
    j->box[1] = (uint32_t)(rows < j->extent[1] ? rows : j->extent[1]);
  }
  if (is_free && code->packs) j->box[1] = highest(j, code->rows, wanted);
  if (!j->box[2]) j->box[2] = 1;
  // One row, or few: share it out along x, in pieces that keep whole vectors together.
  uint64_t rows = count_of(j->extent[1], j->box[1]) * count_of(j->extent[2], j->box[2]);
  uint64_t fair = count_of(j->extent[0], count_of(wanted, rows));
  uint64_t unit = is_elastic ? 64 : code->is_merged ? code->width : 1;
  fair = (fair + unit - 1) / unit * unit;
  if ((is_free || !is_elastic) && fair < j->box[0]) j->box[0] = (uint32_t)fair;
  count_boxes(code, is_free, j);
}

// ---- regions ------------------------------------------------------------------------------------

static bool has_buffer_atomics(const vyre_program *p, const region *r) {
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (op_is_atomic(p->code[i].op) && mem_space(p->code[i].arg[0]) == MEM_BUFFER) return true;
  return false;
}

static void find_touched(const vyre_program *p, const region *r, region_state *out) {
  bool seen[LIMIT_BUFFERS] = {false};
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    if (op_table[in->op].operands[0] != 'm' || mem_space(in->arg[0]) != MEM_BUFFER) continue;
    uint32_t b = mem_index(in->arg[0]);
    if (!seen[b]) out->touched[out->touched_count++] = b;
    seen[b] = true;
  }
}

// Bytes of buffers that a region touches, estimated: what one invocation accesses outside of loops
// times the invocations, at most each buffer once.
static uint64_t traffic(const vyre_program *p, const region_state *r, const launch *l,
                        uint64_t invocations) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < r->touched_count; i++) {
    uint64_t length = l->buffers[r->touched[i]].length;
    bytes +=
        (length < invocations ? length : invocations) * type_bytes(p->buffers[r->touched[i]].type);
  }
  return bytes;
}

static vyre_status result_error(int result, const launch *l, const region *r, vyre_error *error) {
  if (result == CPU_STOPPED) return launch_stopped_error(l, r->name, error);
  if (result == CPU_DIVERGED) return launch_divergence_error(r->name, error);
  return result < 0 ? error_out_of_memory(error) : VYRE_OK;
}

static vyre_status run_region(cpu_state *s, uint32_t index, const launch *l,
                              const launch_region *shape, cpu_args *args, vyre_report *report,
                              vyre_error *error) {
  const region *r = &s->program->regions[index];
  // The first one begins with the dispatch, the others where the one before has ended.
  uint64_t start = *l->end_stamp ? *l->end_stamp : l->start_stamp;
  region_state *state = &s->regions[index];
  threads_cost *cost = threads_find(&state->threads, l, shape->invocations);
  uint32_t most = l->threads && l->threads < s->threads ? l->threads : s->threads;
  bool is_awake = most > 1 && pool_is_awake();
  uint32_t threads = threads_choose(&state->threads, cost, most, shape->invocations, is_awake);
  uint64_t bytes = traffic(s->program, state, l, shape->invocations);
  args->is_alone = threads == 1;
  args->streams = bytes > s->cache_bytes;
  box_job j = {.kernel = s->kernels.functions[index],
               .args = args,
               .scratch_bytes = s->kernels.regions[index].scratch_bytes};
  vyre_status status = VYRE_OK;
  if (shape->invocations) {
    const cpu_region_code *code = &s->kernels.regions[index];
    bool is_shared = threads > 1 && !code->packs; // a short dispatch asks for no more than it needs
    uint64_t work_ns = is_shared ? threads_work_ns(cost, most, shape->invocations) : 0;
    choose_box(code, l, shape, r->is_elastic, threads, boxes_wanted(threads, work_ns), &j);
    uint64_t boxes = j.count[0] * j.count[1] * j.count[2];
    uint64_t batch = boxes > threads ? boxes / (threads * MOST_BOXES) : 1;
    pool_run(threads, boxes, batch ? batch : 1, run_boxes, &j);
    status = result_error(atomic_load(&j.result), l, r, error);
  }
  *l->end_stamp = clock_stamp();
  uint64_t time_ns = clock_between_ns(start, *l->end_stamp);
  if (status != VYRE_OK) return status;
  if (shape->invocations) threads_learn(cost, time_ns, threads, shape->invocations, is_awake);
  report_region(report, r->name, time_ns, bytes, shape->invocations);
  return VYRE_OK;
}

// ---- transient buffers --------------------------------------------------------------------------

static size_t padded_bytes(const vyre_program *p, const launch *l, uint32_t i) {
  return (l->buffers[i].length * type_bytes(p->buffers[i].type) + 63) / 64 * 64;
}

static size_t transient_bytes(const vyre_program *p, const launch *l) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (p->buffers[i].is_transient) bytes += padded_bytes(p, l, i);
  return bytes;
}

// Memory in front of which its size stands, so that the spare block can be judged by itself.
typedef struct block {
  size_t bytes;
  char padding[64 - sizeof(size_t)];
} block;

static block *take_block(cpu_state *s, size_t bytes) {
  block *spare = atomic_exchange(&s->spare, NULL);
  if (spare && spare->bytes >= bytes) return spare;
  free(spare);
  block *made = aligned_alloc(64, sizeof(block) + bytes);
  if (made) made->bytes = bytes;
  return made;
}

static void give_block(cpu_state *s, block *b) {
  free(atomic_exchange(&s->spare, b));
}

static void place_transients(const vyre_program *p, const launch *l, block *b,
                             bound_buffer *buffers) {
  char *at = (char *)(b + 1);
  for (uint32_t i = 0; i < p->buffer_count; i++) {
    buffers[i] = l->buffers[i];
    if (!p->buffers[i].is_transient) continue;
    buffers[i].data = at;
    memset(at, 0, padded_bytes(p, l, i));
    at += padded_bytes(p, l, i);
  }
}

// ---- dispatch -----------------------------------------------------------------------------------

// The launch as the code sees it.
static launch_region turned(const launch_region *shape, uint32_t lanes) {
  launch_region out = *shape;
  for (uint32_t i = 0; i < 3; i++) {
    out.grid[i] = shape->grid[axis_turned(lanes, i)];
    out.workgroup[i] = shape->workgroup[axis_turned(lanes, i)];
  }
  return out;
}

// What the code asks for as the size of the grid.
static void set_grid(cpu_args *args, const launch_region *shape, bool is_merged) {
  for (int i = 0; i < 3; i++)
    args->grid[i] = is_merged ? shape->grid[i] / shape->workgroup[i] : shape->grid[i];
}

// Of the part that runs.
static uint64_t invocations_of(const launch *l, const launch_region *shape, const region *r) {
  uint64_t count = 1;
  for (int k = 0; k < 3; k++) {
    uint64_t extent = l->part->end[k] - l->part->first[k];
    count *= r->is_elastic ? extent : extent * shape->workgroup[k];
  }
  return count;
}

static vyre_status run_regions(cpu_state *s, const launch *l, const bound_buffer *buffers,
                               vyre_report *report, vyre_error *error) {
  volatile uint32_t own = 0, *stop = l->stop ? l->stop : &own;
  watch w;
  bool is_watched = l->timeout_ns && l->deadline_ns != UINT64_MAX;
  if (is_watched && !watchdog_arm(&w, l->deadline_ns, stop)) return launch_thread_error(error);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < s->program->region_count && status == VYRE_OK; i++) {
    const launch_region *shape = &l->regions[i];
    uint32_t lanes = s->kernels.regions[i].lanes;
    launch_region other;
    if (lanes || l->part) {
      other = turned(shape, lanes);
      if (l->part) other.invocations = invocations_of(l, shape, &s->program->regions[i]);
      shape = &other;
    }
    cpu_args args = {.params = l->params, .buffers = buffers, .stop = stop};
    set_grid(&args, shape, s->kernels.regions[i].is_merged);
    memcpy(args.workgroup, shape->workgroup, sizeof args.workgroup);
    status = run_region(s, i, l, shape, &args, report, error);
  }
  if (is_watched) watchdog_disarm(&w);
  return status;
}

static vyre_status cpu_dispatch(void *state, const launch *l, vyre_report *report,
                                vyre_error *error) {
  cpu_state *s = state;
  size_t bytes = transient_bytes(s->program, l);
  if (!bytes) return run_regions(s, l, l->buffers, report, error);
  bound_buffer buffers[LIMIT_BUFFERS];
  block *b = take_block(s, bytes);
  if (!b) return error_out_of_memory(error);
  place_transients(s->program, l, b, buffers);
  vyre_status status = run_regions(s, l, buffers, report, error);
  give_block(s, b);
  return status;
}

static void cpu_expect(void *state, uint64_t ns) {
  cpu_state *s = state;
  for (uint32_t i = 0; i < s->program->region_count; i++)
    atomic_store_explicit(&s->regions[i].threads.expected_ns, ns, memory_order_relaxed);
}

// ---- compile ------------------------------------------------------------------------------------

static void cpu_release(void *state) {
  cpu_state *s = state;
  if (!s) return;
  cpu_kernels_fini(&s->kernels);
  vyre_program_release(s->program);
  free(atomic_load(&s->spare));
  free(s->regions);
  free(s);
}

typedef vyre_status (*kernels_source)(const vyre_program *program, const cpu_options *options,
                                      cpu_kernels *out, vyre_error *error);

static vyre_status make_state(vyre_program *program, const vyre_compile_options *options,
                              const volatile uint32_t *stop, kernels_source get, void **state,
                              vyre_error *error) {
  cpu_state *s = calloc(1, sizeof *s);
  if (!s || !(s->regions = calloc(program->region_count, sizeof *s->regions))) {
    free(s);
    return error_out_of_memory(error);
  }
  s->threads = options->threads ? options->threads : pool_cpu_count();
  s->cache_bytes = host_cache_bytes();
  cpu_options wanted = {.width = options->vector_width,
                        .tier = options->tier,
                        .stop = stop,
                        .run = pool_run,
                        .threads = priority_is_lowered() ? 1 : s->threads,
                        .debug_lines = environment_get("VYRE_DEBUG_LINES") != NULL,
                        .source_name = program->source_name ? program->source_name : program->name};
  s->program = vyre_program_retain(program);
  vyre_status status = cpu_options_here(&wanted, error);
  if (status == VYRE_OK) status = get(s->program, &wanted, &s->kernels, error);
  for (uint32_t i = 0; i < program->region_count && status == VYRE_OK; i++) {
    const region *r = &s->program->regions[i];
    s->regions[i].threads.has_atomics = has_buffer_atomics(s->program, r);
    find_touched(s->program, r, &s->regions[i]);
  }
  if (status == VYRE_OK)
    *state = s;
  else
    cpu_release(s);
  return status;
}

static vyre_status cpu_compile(const backend *self, vyre_program *program,
                               const vyre_compile_options *options, const volatile uint32_t *stop,
                               void **state, vyre_error *error) {
  (void)self;
  return make_state(program, options, stop, cpu_kernels_get, state, error);
}

static vyre_status cpu_compile_cached(const backend *self, vyre_program *program,
                                      const vyre_compile_options *options, void **state,
                                      vyre_error *error) {
  (void)self;
  return make_state(program, options, NULL, cpu_kernels_cached, state, error);
}

// ---- probe --------------------------------------------------------------------------------------

static vyre_status cpu_probe(const backend *self, vyre_device *devices, uint32_t capacity,
                             uint32_t *count, vyre_error *error) {
  vyre_status status = cpu_codegen_check(error);
  if (status != VYRE_OK) return status;
  *count = 1;
  if (!capacity) return VYRE_OK;
  char name[HOST_TEXT];
  host_name(name);
  devices[0] = (vyre_device){.compute_units = pool_cpu_count(),
                             .max_workgroup = LIMIT_WORKGROUP,
                             .has_f64 = true,
                             .has_i64 = true,
                             .has_i64_atomics = true};
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) devices[0].memory_bytes = (uint64_t)pages * (uint64_t)page;
  snprintf(devices[0].description, sizeof devices[0].description, "%s, %u threads", name,
           devices[0].compute_units);
  device_adapter_name(devices[0].adapter, sizeof devices[0].adapter, self->id, name,
                      "llvm-" LLVM_VERSION_STRING);
  return VYRE_OK;
}

static vyre_status cpu_check(vyre_error *error) {
  const cpu_codegen *unused;
  return cpu_codegen_get(&unused, error);
}

const backend cpu_backend = {
    .id = "cpu",
    .is_host = true,
    .summary = "this CPU: vectorised by LLVM, all cores",
    .forms = cpu_forms,
    .probe = cpu_probe,
    .check = cpu_check,
    .compile = cpu_compile,
    .compile_cached = cpu_compile_cached,
    .dispatch = cpu_dispatch,
    .release = cpu_release,
    .expect = cpu_expect,
};
