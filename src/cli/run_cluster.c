// SPDX-License-Identifier: MIT
#include "cli/run_cluster.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/error.h"
#include "runtime/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Open MPI's launcher, those that speak PMI (MPICH, Intel's), and Slurm's.
static const char *const launchers[][2] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"SLURM_NTASKS", "PMIX_RANK"},
};

uint32_t run_cluster_ranks(uint32_t *rank) {
  *rank = 0;
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const char *size = environment_get(launchers[i][0]), *own = environment_get(launchers[i][1]);
    if (!size || !own) continue;
    unsigned long count = strtoul(size, NULL, 10);
    *rank = (uint32_t)strtoul(own, NULL, 10);
    return count && count < 1u << 20 ? (uint32_t)count : 1;
  }
  return 1;
}

enum { GIVEN_BYTES = 1 << 24 }; // at once

// Each rank reads or makes its share, and gives it, piece by piece: as many of them on all ranks.
static vyre_status give_share(const vyre_runtime *rt, vyre_buffer *to, const named_buffer *from,
                              vyre_error *error) {
  uint64_t rank = vyre_cluster_rank(rt), size = vyre_cluster_size(rt);
  size_t width = vyre_type_size(from->info.type);
  uint64_t share = from->count / size, first = share * rank,
           most = from->count - share * (size - 1);
  uint64_t end = rank + 1 == size ? from->count : first + share, step = GIVEN_BYTES / width;
  void *room = malloc((most < step ? most : step) * width + 1);
  vyre_status status = room ? VYRE_OK : error_out_of_memory(error);
  for (uint64_t at = 0; at < most && status == VYRE_OK; at += step) {
    uint64_t lo = first + at < end ? first + at : end, hi = end - lo < step ? end : lo + step;
    status = bind_fill(from, lo, hi - lo, room, error);
    if (status == VYRE_OK)
      status = vyre_buffer_write(to, lo * width, room, (hi - lo) * width, error);
  }
  free(room);
  return status;
}

// Zeros are there already.
static bool is_given(const named_buffer *b) {
  return b->is_given && b->spec.kind != SPEC_ZEROS;
}

static vyre_status give_inputs(const run_cluster *r, const bindings *b, vyre_buffer **handles,
                               bool is_first, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0, k = 0; i < b->buffer_count && status == VYRE_OK; i++) {
    if (b->buffers[i].info.is_transient) continue;
    bool is_kept =
        is_first ? !is_given(&b->buffers[i]) : b->buffers[i].info.access != VYRE_READWRITE;
    if (!is_kept) status = give_share(r->runtime, handles[k], &b->buffers[i], error);
    k++;
  }
  return status;
}

static vyre_status take_results(const run_cluster *r, const bindings *b, vyre_buffer **handles,
                                vyre_error *error) {
  vyre_status status = VYRE_OK;
  bool is_mine = !vyre_cluster_rank(r->runtime);
  for (uint32_t k = 0; k < b->span_count && status == VYRE_OK; k++)
    status = vyre_buffer_read(handles[k], 0, is_mine ? b->spans[k].data : NULL,
                              is_mine ? b->spans[k].size_bytes : 0, error);
  return status;
}

// Rows of the report are of whole regions, with the time of this rank.
static vyre_status fill_rows(const vyre_program *p, const bindings *b, vyre_report *report,
                             vyre_error *error) {
  uint32_t regions = vyre_program_region_count(p);
  uint64_t(*grids)[3] = calloc(regions + 1u, sizeof *grids);
  uint64_t *lengths = calloc(b->buffer_count + 1u, sizeof *lengths);
  vyre_status status = grids && lengths ? VYRE_OK : error_out_of_memory(error);
  for (uint32_t i = 0; i < b->buffer_count && status == VYRE_OK; i++)
    lengths[i] = b->buffers[i].count;
  if (status == VYRE_OK) status = vyre_program_extents(p, b->params, lengths, grids, error);
  vyre_report own = *report;
  vyre_region_report *rows = calloc(own.region_count + 1u, sizeof *rows);
  if (status == VYRE_OK && !rows) status = error_out_of_memory(error);
  if (status == VYRE_OK) {
    if (own.region_count) memcpy(rows, own.regions, own.region_count * sizeof *rows);
    report->region_count = 0;
    for (uint32_t i = 0, k = 0; i < regions && i < report->region_capacity; i++) {
      const char *name = vyre_program_region(p, i).name;
      vyre_region_report row = {.name = name};
      if (k < own.region_count && !strcmp(rows[k].name, name)) row = rows[k++];
      row.invocations = grids[i][0] * grids[i][1] * grids[i][2];
      report->regions[report->region_count++] = row;
    }
  }
  free(rows);
  free(grids);
  free(lengths);
  return status;
}

static vyre_status dispatch_steps(vyre_kernel *kernel, const bindings *b, vyre_buffer **handles,
                                  const vyre_dispatch_args *args, run_cluster *r,
                                  vyre_error *error) {
  run_steps *s = r->steps;
  vyre_dispatch_args own = *args;
  uint64_t begin_ns = clock_now_ns();
  vyre_status status = give_inputs(r, b, handles, true, error);
  if (status == VYRE_OK && s->resumes) status = run_steps_resume(s, r->runtime, b, handles, error);
  for (uint64_t n = s->first; n < s->count && status == VYRE_OK; n++) {
    if (n) run_steps_swap(s, b, handles);
    uint64_t spent = clock_now_ns() - begin_ns; // the limit is that of all steps
    if (own.timeout_ns) own.timeout_ns = args->timeout_ns > spent ? args->timeout_ns - spent : 1;
    status = vyre_kernel_dispatch(kernel, &own, r->report, error);
    if (status != VYRE_OK) return status;
    if (r->count < RUN_TIMES) r->wall_ns[r->count++] = r->report->wall_ns;
    status = run_steps_save(s, r->runtime, b, handles, n + 1, error);
  }
  return status;
}

static vyre_status dispatch_all(vyre_kernel *kernel, const bindings *b, vyre_buffer **handles,
                                const vyre_dispatch_args *args, run_cluster *r, vyre_error *error) {
  vyre_dispatch_args own = *args;
  vyre_status status = VYRE_OK;
  own.buffers = NULL;
  own.handles = handles;
  own.threads = r->threads;
  own.timeout_ns = r->timeout_ns;
  if (r->steps->count) return dispatch_steps(kernel, b, handles, &own, r, error);
  for (uint64_t n = 0; n < r->repeat && status == VYRE_OK; n++) {
    status = give_inputs(r, b, handles, n == 0, error);
    if (status == VYRE_OK) status = vyre_kernel_dispatch(kernel, &own, r->report, error);
    if (status == VYRE_OK) r->wall_ns[r->count++] = r->report->wall_ns;
  }
  return status;
}

vyre_status run_on_cluster(vyre_program *program, const bindings *b, const vyre_dispatch_args *args,
                           run_cluster *r, vyre_error *error) {
  vyre_runtime_options options = {
      .backend = r->backend, .specialise = r->explain, .notice = r->notice};
  vyre_kernel *kernel = NULL;
  vyre_buffer **handles = calloc(b->span_count + 1u, sizeof(vyre_buffer *));
  vyre_status status = handles ? VYRE_OK : error_out_of_memory(error);
  if (status == VYRE_OK)
    status = r->is_alone ? vyre_runtime_new(&options, &r->runtime, error)
                         : vyre_cluster_new(VYRE_CLUSTER_WORLD, &options, &r->runtime, error);
  if (status == VYRE_OK) status = vyre_runtime_load(r->runtime, program, &kernel, error);
  for (uint32_t k = 0; k < b->span_count && status == VYRE_OK; k++)
    status = vyre_buffer_new(r->runtime, b->spans[k].size_bytes, &handles[k], error);
  if (status == VYRE_OK) status = dispatch_all(kernel, b, handles, args, r, error);
  if (status == VYRE_OK) status = take_results(r, b, handles, error);
  if (status == VYRE_OK && !r->is_alone) status = fill_rows(program, b, r->report, error);
  if (status == VYRE_OK && r->explain) vyre_runtime_settle(r->runtime);
  if (status == VYRE_OK && r->explain) status = vyre_kernel_explain(kernel, &r->explained, error);
  if (status == VYRE_OK && r->is_alone)
    snprintf(r->where, sizeof r->where, "%s", kernel_backend(kernel));
  else if (status == VYRE_OK)
    snprintf(r->where, sizeof r->where, "%u ranks", vyre_cluster_size(r->runtime));
  free(handles);
  return status;
}
