// SPDX-License-Identifier: MIT
#include "cli/bench_peer.h"

#include "backend/opencl/api.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_peer {
  const measure *m;
  const opencl_api *api;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem buffers[LIMIT_BUFFERS]; // by the program's numbers; NULL: no argument of the kernel
  size_t global[3], local[3];
  bool has_local; // false: groups of that size do not fill the grid, and the driver chooses
  uint32_t rank;
};

static vyre_status refuse(vyre_error *error, const char *why) {
  return error_set(error, VYRE_ERROR_UNSUPPORTED, "%s. Fix: leave it, it is only a comparison",
                   why);
}

static vyre_status find_device(bench_peer *p, cl_device_id *device, char name[64],
                               vyre_error *error) {
  cl_platform_id platform;
  cl_uint count = 0;
  cl_int code = p->api->GetPlatformIDs(1, &platform, &count);
  if (code != CL_SUCCESS || !count) return refuse(error, "there is no OpenCL platform");
  if (p->api->GetPlatformInfo(platform, CL_PLATFORM_NAME, 64, name, NULL) != CL_SUCCESS)
    strcpy(name, "OpenCL");
  code = p->api->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, device, &count);
  if (code != CL_SUCCESS || !count) return refuse(error, "the OpenCL platform has no device");
  p->context = p->api->CreateContext(NULL, 1, device, NULL, NULL, &code);
  if (code == CL_SUCCESS) p->queue = p->api->CreateCommandQueue(p->context, *device, 0, &code);
  return code == CL_SUCCESS ? VYRE_OK : opencl_error(error, code, "make a queue", NULL);
}

static vyre_status build(bench_peer *p, cl_device_id device, const char *entry, vyre_error *error) {
  const loaded *source = &p->m->program;
  const char *text = source->source;
  cl_int code;
  p->program = p->api->CreateProgramWithSource(p->context, 1, &text, &source->size, &code);
  const char *options = p->m->source.build.at ? p->m->source.build.at : "";
  if (code == CL_SUCCESS) code = p->api->BuildProgram(p->program, 1, &device, options, NULL, NULL);
  if (code != CL_SUCCESS) return opencl_error(error, code, "build the source", NULL);
  p->kernel = p->api->CreateKernel(p->program, entry, &code);
  return code == CL_SUCCESS ? VYRE_OK : opencl_error(error, code, "make the kernel", NULL);
}

// The number of a parameter of the program, or -1.
static int find_param(const vyre_program *p, const char *name) {
  for (uint32_t i = 0; i < vyre_program_param_count(p); i++)
    if (!strcmp(vyre_program_param(p, i).name, name)) return (int)i;
  return -1;
}

static vyre_status set_arg(bench_peer *p, uint32_t index, const vyre_source_arg *arg,
                           vyre_error *error) {
  const measure *m = p->m;
  cl_int code = CL_SUCCESS;
  for (uint32_t i = 0; i < m->bound.buffer_count; i++) {
    const named_buffer *b = &m->bound.buffers[i];
    if (strcmp(b->info.name, arg->name) || b->info.is_transient) continue;
    size_t bytes = b->count * vyre_type_size(b->info.type);
    p->buffers[i] =
        p->api->CreateBuffer(p->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &code);
    if (code == CL_SUCCESS)
      code = p->api->SetKernelArg(p->kernel, index, sizeof(cl_mem), &p->buffers[i]);
    return code == CL_SUCCESS ? VYRE_OK : opencl_error(error, code, "set a buffer", NULL);
  }
  for (size_t i = 0; i < m->source.locals.count; i++) {
    if (strcmp(m->source.locals.at[i].name, arg->name)) continue;
    code = p->api->SetKernelArg(p->kernel, index, m->source.locals.at[i].size_bytes, NULL);
    return code == CL_SUCCESS ? VYRE_OK : opencl_error(error, code, "set local memory", NULL);
  }
  int param = find_param(m->program.program, arg->name);
  if (arg->space != VYRE_SPACE_VALUE || param < 0 || arg->size_bytes > sizeof(uint64_t))
    return refuse(error, "it has an argument that is no buffer, number or local memory");
  code = p->api->SetKernelArg(p->kernel, index, arg->size_bytes, &m->bound.params[param].bits);
  return code == CL_SUCCESS ? VYRE_OK : opencl_error(error, code, "set a number", NULL);
}

static vyre_status set_args(bench_peer *p, const vyre_source_entry *entry, vyre_error *error) {
  for (uint32_t i = 0; i < entry->arg_count; i++) {
    vyre_status status = set_arg(p, i, &entry->args[i], error);
    if (status != VYRE_OK) return status;
  }
  vyre_region_info region = vyre_program_region(p->m->program.program, 0);
  uint64_t lengths[LIMIT_BUFFERS] = {0}, grids[1][3] = {{0}};
  for (uint32_t i = 0; i < p->m->bound.buffer_count; i++) lengths[i] = p->m->bound.buffers[i].count;
  vyre_status status =
      vyre_program_extents(p->m->program.program, p->m->bound.params, lengths, grids, error);
  p->rank = region.rank;
  p->has_local = true;
  for (int k = 0; k < 3; k++) {
    p->global[k] = (size_t)grids[0][k];
    p->local[k] = region.workgroup[k];
    if (!p->local[k] || p->global[k] % p->local[k]) p->has_local = false;
  }
  return status;
}

static vyre_status find_entry(const measure *m, vyre_source_entry **all, uint32_t *which,
                              vyre_error *error) {
  uint32_t count = 0;
  const char *name = vyre_program_name(m->program.program);
  vyre_status status =
      vyre_source_entries(m->program.language.name, m->program.source, m->program.size, m->file,
                          m->source.build.at, all, &count, error);
  for (*which = 0; status == VYRE_OK && *which < count; ++*which)
    if (!strcmp((*all)[*which].name, name)) return VYRE_OK;
  return status == VYRE_OK ? refuse(error, "the kernel is not in the file itself") : status;
}

vyre_status bench_peer_new(const measure *m, bench_peer **out, char name[64], vyre_error *error) {
  *out = NULL;
  if (!m->program.language.has_launch || vyre_program_region_count(m->program.program) != 1)
    return refuse(error, "it is no OpenCL C");
  vyre_source_entry *entries = NULL;
  uint32_t which = 0;
  cl_device_id device;
  vyre_status status = find_entry(m, &entries, &which, error);
  bench_peer *p = calloc(1, sizeof *p);
  if (!p) status = error_out_of_memory(error);
  if (status == VYRE_OK) {
    p->m = m;
    p->api = opencl_api_get(error);
    status = p->api ? find_device(p, &device, name, error) : error->status;
  }
  if (status == VYRE_OK) status = build(p, device, entries[which].name, error);
  if (status == VYRE_OK) status = set_args(p, &entries[which], error);
  vyre_free(entries);
  if (status == VYRE_OK)
    *out = p;
  else
    bench_peer_free(p);
  return status;
}

// The context stays: some drivers do not survive its end.
void bench_peer_free(bench_peer *p) {
  if (!p) return;
  for (uint32_t i = 0; i < LIMIT_BUFFERS; i++)
    if (p->buffers[i]) p->api->ReleaseMemObject(p->buffers[i]);
  if (p->kernel) p->api->ReleaseKernel(p->kernel);
  if (p->program) p->api->ReleaseProgram(p->program);
  if (p->queue) p->api->ReleaseCommandQueue(p->queue);
  free(p);
}

static cl_int put_inputs(bench_peer *p) {
  cl_int code = CL_SUCCESS;
  for (uint32_t i = 0; i < p->m->bound.buffer_count && code == CL_SUCCESS; i++) {
    const named_buffer *b = &p->m->bound.buffers[i];
    size_t bytes = b->count * vyre_type_size(b->info.type);
    if (p->buffers[i] && bytes)
      code = p->api->EnqueueWriteBuffer(p->queue, p->buffers[i], CL_TRUE, 0, bytes, b->data, 0,
                                        NULL, NULL);
  }
  return code;
}

vyre_status bench_peer_run(bench_peer *p, uint64_t *elapsed_ns, vyre_error *error) {
  cl_int code = put_inputs(p);
  uint64_t start = clock_now_ns();
  if (code == CL_SUCCESS)
    code = p->api->EnqueueNDRangeKernel(p->queue, p->kernel, p->rank, NULL, p->global,
                                        p->has_local ? p->local : NULL, 0, NULL, NULL);
  if (code == CL_SUCCESS) code = p->api->Finish(p->queue);
  *elapsed_ns = clock_now_ns() - start;
  return code == CL_SUCCESS ? VYRE_OK : opencl_error(error, code, "run the kernel", NULL);
}
