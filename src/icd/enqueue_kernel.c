// SPDX-License-Identifier: MIT
//
// Launches. An enqueue checks the launch, finds a variant, and copies the arguments into the
// command; a launch like the last one of its kernel takes no lock but the schedule's.
#include "icd/context.h"
#include "icd/image.h"
#include "icd/queue.h"
#include "icd/schedule.h"
#include "icd/variant.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCH_FEW_BYTES = EVENT_WORK_BYTES - 64 };

typedef struct launch_work {
  variant *v;
  cl_kernel kernel; // held, and with it the program and the variant
  vyre_scalar *params;
  vyre_span *spans;
  cl_mem *held; // one per span, or NULL
  void *block;  // malloc'ed, when they do not fit here
  _Alignas(16) char few[LAUNCH_FEW_BYTES];
} launch_work;

_Static_assert(sizeof(launch_work) <= EVENT_WORK_BYTES, "the work of a launch");

// ---- running ------------------------------------------------------------------------------------

static void print_one(void *data, const vyre_printed *printed) {
  (void)data;
  fwrite(printed->text, 1, printed->size, stdout);
}

static void print_all(const vyre_span *span) {
  vyre_print_each(span->data, span->size_bytes, print_one, NULL, NULL, NULL);
  fflush(stdout);
}

static vyre_span *find_printf(launch_work *w) {
  for (uint32_t i = 0; i < w->v->buffer_count; i++)
    if (w->v->buffers[i].room == ROOM_PRINTF) return &w->spans[i];
  return NULL;
}

static cl_int run_launch(cl_event e) {
  launch_work *w = EVENT_WORK(launch_work, e);
  vyre_error error;
  vyre_span *print = find_printf(w);
  if (print && !(print->data = calloc(1, print->size_bytes))) return CL_OUT_OF_HOST_MEMORY;
  vyre_dispatch_args args = {.params = w->params,
                             .param_count = w->v->param_count,
                             .buffers = w->spans,
                             .buffer_count = w->v->buffer_count};
  vyre_status status = w->v->executable ? vyre_dispatch(w->v->executable, &args, NULL, &error)
                                        : vyre_kernel_dispatch(w->v->routed, &args, NULL, &error);
  if (print) {
    print_all(print);
    free(print->data);
  }
  if (status == VYRE_OK) return CL_SUCCESS;
  context_tell(e->context, &error);
  return status == VYRE_ERROR_MEMORY ? CL_OUT_OF_HOST_MEMORY : CL_OUT_OF_RESOURCES;
}

static void end_launch(cl_event e) {
  launch_work *w = EVENT_WORK(launch_work, e);
  for (uint32_t i = 0; i < w->v->buffer_count; i++) object_drop(w->held[i]);
  object_drop(w->kernel);
  free(w->block);
}

// ---- the launch ---------------------------------------------------------------------------------

typedef struct grid {
  uint32_t rank;
  size_t size[3], offset[3];
  bool is_empty;
} grid;

static const size_t most_extent = 0x7fffffff;

static cl_int read_grid(cl_uint rank, const size_t *offset, const size_t *size, grid *g) {
  *g = (grid){.rank = rank, .size = {1, 1, 1}};
  if (rank < 1 || rank > 3) return CL_INVALID_WORK_DIMENSION;
  g->is_empty = !size;
  for (cl_uint i = 0; i < rank && size; i++) {
    g->size[i] = size[i];
    g->offset[i] = offset ? offset[i] : 0;
    g->is_empty |= !size[i];
    if (size[i] > most_extent) return CL_INVALID_GLOBAL_WORK_SIZE;
    if (g->offset[i] > SIZE_MAX - size[i]) return CL_INVALID_GLOBAL_OFFSET;
  }
  return CL_SUCCESS;
}

static uint32_t largest_divisor(size_t n, uint32_t most) {
  if (most > n) most = (uint32_t)n;
  while (most > 1 && n % most) most--;
  return most ? most : 1;
}

// What the client asks for, or what the source requires, or what divides the grid.
static cl_int choose_workgroup(cl_kernel k, const grid *g, const size_t *local,
                               uint32_t workgroup[3]) {
  const uint32_t *stated = k->entry->about->workgroup;
  size_t product = 1;
  uint32_t room = 64;
  for (uint32_t i = 0; i < 3; i++) {
    bool is_axis = i < g->rank;
    if (local && is_axis && (!local[i] || local[i] > DEVICE_MOST_WORKGROUP))
      return local[i] ? CL_INVALID_WORK_ITEM_SIZE : CL_INVALID_WORK_GROUP_SIZE;
    workgroup[i] = local && is_axis ? (uint32_t)local[i]
                   : stated[0]      ? stated[i]
                   : is_axis        ? largest_divisor(g->size[i], room)
                                    : 1;
    if (!local && !stated[0]) room /= workgroup[i];
    product *= workgroup[i];
    if (stated[0] && workgroup[i] != stated[i]) return CL_INVALID_WORK_GROUP_SIZE;
    if (g->size[i] % workgroup[i]) return CL_INVALID_WORK_GROUP_SIZE;
  }
  return product > DEVICE_MOST_WORKGROUP ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

// ---- arguments ----------------------------------------------------------------------------------

static uint64_t read_value(const char *at, const variant_param *p) {
  uint64_t bits = 0;
  memcpy(&bits, at, vyre_type_size(p->type));
  return bits;
}

static void fill_params(cl_kernel k, const variant *v, const grid *g, vyre_scalar *out) {
  for (uint32_t i = 0; i < v->param_count; i++) {
    const variant_param *p = &v->params[i];
    uint64_t bits = 0;
    switch (p->from) {
    case FROM_VALUE: bits = read_value(k->values + p->at, p); break;
    case FROM_EXTENT: bits = image_extent(k->args[p->at].memory, p->axis); break;
    case FROM_GRID: bits = g->size[p->axis]; break;
    case FROM_OFFSET: bits = g->offset[p->axis]; break;
    }
    out[i] = (vyre_scalar){p->type, bits};
  }
}

static vyre_span memory_of(const kernel_arg *a) {
  cl_mem m = a->memory;
  return m ? (vyre_span){m->data, m->size} : (vyre_span){NULL, 0};
}

static void fill_spans(cl_kernel k, const variant *v, vyre_span *out, cl_mem *held) {
  for (uint32_t i = 0; i < v->buffer_count; i++) {
    const variant_buffer *b = &v->buffers[i];
    held[i] = b->room == ROOM_ARG ? k->args[b->arg].memory : NULL;
    out[i] = b->room == ROOM_PRINTF   ? (vyre_span){NULL, DEVICE_PRINTF_BYTES}
             : b->room == ROOM_GLOBAL ? (vyre_span){b->global, b->global_bytes}
                                      : memory_of(&k->args[b->arg]);
    out[i].size_bytes -= out[i].size_bytes % b->element_bytes;
  }
}

static bool is_overlapping(const vyre_span *a, const vyre_span *b) {
  const char *x = a->data, *y = b->data;
  return a->size_bytes && b->size_bytes && x < y + b->size_bytes && y < x + a->size_bytes;
}

// Memory that is written and that another argument has too.
static bool has_overlap(const variant *v, const vyre_span *spans) {
  for (uint32_t i = 0; i < v->buffer_count; i++)
    for (uint32_t j = 0; j < i; j++)
      if ((v->buffers[i].is_written || v->buffers[j].is_written) &&
          is_overlapping(&spans[i], &spans[j]))
        return true;
  return false;
}

// ---- aliases ------------------------------------------------------------------------------------

static bool is_pointer_arg(cl_kernel k, uint32_t i) {
  vyre_source_space space = k->entry->about->args[i].space;
  return space == VYRE_SPACE_GLOBAL || space == VYRE_SPACE_CONSTANT;
}

static bool has_null(cl_kernel k) {
  for (uint32_t i = 0; i < k->arg_count; i++)
    if (is_pointer_arg(k, i) && !k->args[i].memory) return true;
  return false;
}

typedef struct alias_list {
  vyre_source_alias *at; // one per argument at most
  uint32_t count;
  vyre_span *whole; // per argument: what its buffer is, when others are aliases of it
  char *text;
} alias_list;

static void alias_free(alias_list *l) {
  free(l->at);
  free(l->whole);
  free(l->text);
}

static vyre_span arg_span(cl_kernel k, uint32_t i) {
  return is_pointer_arg(k, i) ? memory_of(&k->args[i]) : (vyre_span){NULL, 0};
}

// The arguments that overlap with argument `root`, directly or through others, get it as their
// buffer, which is as long as all of them.
static void gather(cl_kernel k, uint32_t root, bool *is_done, alias_list *l) {
  bool is_in[256] = {false};
  vyre_span all = arg_span(k, root);
  uint32_t members = 0;
  is_in[root] = true;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < k->arg_count; i++) {
      vyre_span one = arg_span(k, i);
      if (is_in[i] || is_done[i] || !is_overlapping(&all, &one)) continue;
      char *from = (char *)all.data < (char *)one.data ? all.data : one.data;
      char *end = (char *)all.data + all.size_bytes, *other = (char *)one.data + one.size_bytes;
      all = (vyre_span){from, (size_t)((end > other ? end : other) - from)};
      is_in[i] = again = true;
    }
  }
  for (uint32_t i = 0; i < k->arg_count; i++) members += is_in[i];
  for (uint32_t i = 0; i < k->arg_count && members > 1; i++) {
    if (!is_in[i]) continue;
    is_done[i] = true;
    size_t offset = (size_t)((char *)arg_span(k, i).data - (char *)all.data);
    l->at[l->count++] = (vyre_source_alias){k->entry->about->args[i].name,
                                            k->entry->about->args[root].name, offset};
  }
  l->whole[root] = all;
}

static bool find_aliases(cl_kernel k, bool shares, alias_list *l) {
  bool is_done[256] = {false};
  strbuf text = {0};
  *l = (alias_list){.at = calloc(k->arg_count + 1, sizeof *l->at),
                    .whole = calloc(k->arg_count + 1, sizeof *l->whole)};
  if (!l->at || !l->whole || k->arg_count > 256) return false;
  for (uint32_t i = 0; i < k->arg_count; i++) {
    if (!is_pointer_arg(k, i) || is_done[i]) continue;
    if (!k->args[i].memory)
      l->at[l->count++] = (vyre_source_alias){k->entry->about->args[i].name, NULL, 0};
    else if (shares)
      gather(k, i, is_done, l);
  }
  for (uint32_t i = 0; i < l->count; i++)
    strbuf_printf(&text, "%s~%s+%llu;", l->at[i].name, l->at[i].of ? l->at[i].of : "",
                  (unsigned long long)l->at[i].offset_bytes);
  l->text = strbuf_take(&text, NULL);
  return l->text != NULL;
}

// ---- the command --------------------------------------------------------------------------------

static cl_int status_of(vyre_status status) {
  return status == VYRE_ERROR_MEMORY ? CL_OUT_OF_HOST_MEMORY : CL_OUT_OF_RESOURCES;
}

// Room for the arguments of the variant.
static bool reserve(launch_work *w, const variant *v) {
  size_t params = v->param_count * sizeof(vyre_scalar), spans = v->buffer_count * sizeof(vyre_span);
  size_t all = params + spans + v->buffer_count * sizeof(cl_mem);
  char *at = w->few;
  free(w->block);
  w->block = NULL;
  if (all > LAUNCH_FEW_BYTES && !(at = w->block = malloc(all))) return false;
  w->params = (vyre_scalar *)(void *)at;
  w->spans = (vyre_span *)(void *)(at + params);
  w->held = (cl_mem *)(void *)(at + params + spans);
  return true;
}

static cl_int fill(launch_work *w, variant *v, const grid *g, vyre_error *error) {
  if (!reserve(w, v)) return status_of(error_out_of_memory(error));
  w->v = v;
  fill_params(w->kernel, v, g, w->params);
  fill_spans(w->kernel, v, w->spans, w->held);
  return CL_SUCCESS;
}

// The variant for arguments that overlap or are null.
static cl_int fill_aliased(launch_work *w, variant_launch *launch, const grid *g, bool shares,
                           vyre_error *error) {
  alias_list aliases;
  cl_int code = CL_SUCCESS;
  if (!find_aliases(w->kernel, shares, &aliases)) {
    code = status_of(error_out_of_memory(error));
  } else {
    launch->aliases = aliases.at;
    launch->alias_count = aliases.count;
    launch->alias_text = aliases.text;
    variant *v = variant_find(w->kernel, launch, error);
    code = v ? fill(w, v, g, error) : status_of(error->status);
    for (uint32_t i = 0; code == CL_SUCCESS && i < v->buffer_count; i++) {
      const variant_buffer *b = &v->buffers[i];
      if (b->room != ROOM_ARG || !aliases.whole[b->arg].data) continue;
      w->spans[i] = aliases.whole[b->arg];
      w->spans[i].size_bytes -= w->spans[i].size_bytes % b->element_bytes;
    }
  }
  alias_free(&aliases);
  return code;
}

static cl_int prepare(launch_work *w, variant_launch *launch, const grid *g, vyre_error *error) {
  cl_kernel k = w->kernel;
  bool is_null = has_null(k);
  variant *v = k->recent;
  if (is_null) {
    cl_int code = fill_aliased(w, launch, g, false, error);
    if (code != CL_SUCCESS || !has_overlap(w->v, w->spans)) return code;
    return fill_aliased(w, launch, g, true, error);
  }
  if (k->is_shape_old || !v || !variant_fits(v, launch)) v = variant_find(k, launch, error);
  if (!v) return status_of(error->status);
  k->recent = v;
  cl_int code = fill(w, v, g, error);
  if (code != CL_SUCCESS || !has_overlap(v, w->spans)) return code;
  return fill_aliased(w, launch, g, true, error);
}

// Memory that aliases stand for is held as well.
static void hold_all(launch_work *w) {
  object_hold(w->kernel);
  for (uint32_t i = 0; i < w->v->buffer_count; i++) object_hold(w->held[i]);
}

static cl_int check_kernel(cl_command_queue queue, cl_kernel k) {
  if (!queue_is(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!object_is(k, OBJECT_KERNEL)) return CL_INVALID_KERNEL;
  if (k->program->context != queue->context) return CL_INVALID_CONTEXT;
  if (k->unset) return CL_INVALID_KERNEL_ARGS;
  for (uint32_t i = 0; i < k->arg_count; i++) {
    cl_mem m = k->args[i].memory;
    if (m && !object_is(m, OBJECT_MEMORY)) return CL_INVALID_KERNEL_ARGS;
  }
  return CL_SUCCESS;
}

static cl_int enqueue(cl_command_queue queue, cl_kernel k, cl_command_type type, const grid *g,
                      const size_t *local, cl_uint wait_count, const cl_event *wait_list,
                      cl_event *out) {
  variant_launch launch = {.device = queue->device, .rank = g->rank};
  cl_int code = choose_workgroup(k, g, local, launch.workgroup);
  if (code != CL_SUCCESS && !g->is_empty) return code;
  launch.has_offset = g->offset[0] || g->offset[1] || g->offset[2];
  cl_event e;
  code = event_begin(queue, type, wait_count, wait_list, &e);
  if (code != CL_SUCCESS) return code;
  if (!g->is_empty) {
    vyre_error error;
    launch_work *w = EVENT_WORK(launch_work, e);
    w->kernel = k;
    w->block = NULL;
    code = prepare(w, &launch, g, &error);
    if (code != CL_SUCCESS) {
      free(w->block);
      event_abandon(e);
      context_tell(queue->context, &error);
      return code;
    }
    hold_all(w);
    e->run = run_launch;
    e->end = end_launch;
  }
  return schedule_submit(e, wait_count, wait_list, CL_FALSE, out);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel k, cl_uint rank,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  grid g;
  cl_int code = check_kernel(queue, k);
  if (code == CL_SUCCESS) code = read_grid(rank, offset, global, &g);
  if (code != CL_SUCCESS) return code;
  return enqueue(queue, k, CL_COMMAND_NDRANGE_KERNEL, &g, local, wait_count, wait_list, out);
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel k, cl_uint wait_count,
                     const cl_event *wait_list, cl_event *out) {
  static const size_t one = 1;
  grid g = {.rank = 1, .size = {1, 1, 1}};
  cl_int code = check_kernel(queue, k);
  if (code != CL_SUCCESS) return code;
  return enqueue(queue, k, CL_COMMAND_TASK, &g, &one, wait_count, wait_list, out);
}
