// SPDX-License-Identifier: MIT
#include "workload.h"

#include "parts.h"

#include <math.h>
#include <stdlib.h>

// How an extent follows from n, the number of work items: N n, S its root, Q n (root squared).
typedef struct shape {
  const char *name;
  double params[WORKLOAD_PARAMS];
  const char *param_kinds; // N, S, or = for the number as it is
  const char *buffers;     // N, S, Q (root squared), c 256 counters
  uint32_t below;          // of the elements of u32 buffers that are read; 0: n
} shape;

static const shape shapes[WORKLOADS] = {
    {"saxpy", {0.5}, "=", "NN", 0},
    {"stencil3", {0}, "N", "NN", 0},
    {"gather", {0.5}, "=", "NNN", 0},
    {"divergent", {0}, "", "NNN", 0},
    {"blackscholes", {0.02, 0.3}, "==", "NNNN", 0},
    {"mandelbrot", {0, 0, 64}, "SS=", "Q", 0},
    {"matmul", {0}, "S", "QQQ", 0},
    {"histogram", {0}, "", "Nc", 256},
    {"sgemv", {0}, "S", "QSS", 0},
};

const char *workload_name(uint32_t which) {
  return shapes[which].name;
}

static uint32_t extent(char kind, uint32_t n) {
  uint32_t root = (uint32_t)sqrt((double)n);
  return kind == 'N' ? n : kind == 'S' ? root : kind == 'Q' ? root * root : 256;
}

static void fill(const vyre_buffer_info *info, void *data, uint32_t count, uint32_t below) {
  uint32_t state = 7;
  for (uint32_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    // From 0.25 to 1.25: no denormals, which make any CPU slow, whatever the kernel does.
    if (info->type == VYRE_F32)
      ((float *)data)[i] = 0.25f + (float)(state >> 8) / 16777216.0f;
    else
      ((uint32_t *)data)[i] = info->access == VYRE_READ ? (state >> 8) % below : 0;
  }
}

void workload_init(workload *w, uint32_t which, uint32_t n) {
  const shape *s = &shapes[which];
  *w = (workload){.name = s->name, .program = parse_kernel(s->name)};
  uint32_t params = vyre_program_param_count(w->program);
  uint32_t buffers = vyre_program_buffer_count(w->program);
  for (uint32_t i = 0; i < params; i++)
    w->params[i] = vyre_program_param(w->program, i).type == VYRE_F32
                       ? vyre_scalar_f32((float)s->params[i])
                   : s->param_kinds[i] == '=' ? vyre_scalar_u32((uint32_t)s->params[i])
                                              : vyre_scalar_u32(extent(s->param_kinds[i], n));
  for (uint32_t i = 0; i < buffers; i++) {
    vyre_buffer_info info = vyre_program_buffer(w->program, i);
    uint32_t count = extent(s->buffers[i], n);
    size_t bytes = (size_t)count * 4;
    void *data = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!data) exit(2);
    fill(&info, data, count, s->below ? s->below : n);
    w->spans[i] = (vyre_span){data, bytes};
  }
  w->args = (vyre_dispatch_args){
      .params = w->params, .param_count = params, .buffers = w->spans, .buffer_count = buffers};
}

void workload_fini(workload *w) {
  for (uint32_t i = 0; i < w->args.buffer_count; i++) free(w->spans[i].data);
  vyre_program_release(w->program);
}
