// SPDX-License-Identifier: MIT
#define CL_TARGET_OPENCL_VERSION 120
#include "kernels/opencl.h"

#include "base/file.h"
#include "kernels/latency.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROGRAMS = 24, MAX_ARGUMENTS = 16 };

struct cl_driver {
  cl_context context;
  cl_device_id device;
  cl_command_queue queue;
  char version[200];
  struct {
    char path[300], options[60];
    cl_program program; // NULL: it could not be built
  } programs[MAX_PROGRAMS];
  uint32_t program_count;
};

struct cl_peer {
  cl_driver *driver;
  cl_kernel kernel;
  cl_mem buffers[MAX_ARGUMENTS];
  cl_uint buffer_count, argument_count, rank;
  size_t grid[3], group[3];
};

static void must(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "OpenCL: %s failed with %d\n", what, (int)status);
  exit(1);
}

static bool find_platform(const char *name, cl_platform_id *out) {
  cl_platform_id all[8];
  cl_uint count = 0;
  char text[200];
  if (clGetPlatformIDs(8, all, &count) != CL_SUCCESS) return false;
  for (cl_uint i = 0; i < count && i < 8; i++) {
    if (clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof text, text, NULL) != CL_SUCCESS)
      continue;
    if (!strstr(text, name)) continue;
    *out = all[i];
    return true;
  }
  return false;
}

cl_driver *cl_driver_open(const char *platform) {
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
  setenv("POCL_KERNEL_CACHE", "0", 0); // cold builds are measured
  cl_platform_id found;
  cl_uint count = 0;
  cl_int status;
  if (!find_platform(platform, &found)) return NULL;
  cl_driver *d = calloc(1, sizeof *d);
  if (clGetDeviceIDs(found, CL_DEVICE_TYPE_CPU, 1, &d->device, &count) != CL_SUCCESS || !count) {
    free(d);
    return NULL;
  }
  must(clGetPlatformInfo(found, CL_PLATFORM_VERSION, sizeof d->version, d->version, NULL),
       "clGetPlatformInfo");
  d->context = clCreateContext(NULL, 1, &d->device, NULL, NULL, &status);
  must(status, "clCreateContext");
  d->queue = clCreateCommandQueue(d->context, d->device, 0, &status);
  must(status, "clCreateCommandQueue");
  return d;
}

const char *cl_driver_version(const cl_driver *d) {
  return d->version;
}

static cl_program build(const cl_driver *d, const char *text, size_t size, const char *options) {
  cl_int status;
  cl_program program = clCreateProgramWithSource(d->context, 1, &text, &size, &status);
  must(status, "clCreateProgramWithSource");
  if (clBuildProgram(program, 1, &d->device, options, NULL, NULL) == CL_SUCCESS) return program;
  char log[2000] = "";
  clGetProgramBuildInfo(program, d->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
  fprintf(stderr, "OpenCL: clBuildProgram failed: %s\n", log);
  clReleaseProgram(program);
  return NULL;
}

static cl_program program_of(cl_driver *d, const char *path, const char *options) {
  for (uint32_t i = 0; i < d->program_count; i++)
    if (!strcmp(d->programs[i].path, path) && !strcmp(d->programs[i].options, options))
      return d->programs[i].program;
  char *text, all[100];
  size_t size;
  vyre_error error;
  if (file_read(path, 1 << 20, &text, &size, &error) != VYRE_OK) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  snprintf(all, sizeof all, "-cl-std=CL1.2 %s", options);
  cl_program made = build(d, text, size, all);
  free(text);
  if (d->program_count < MAX_PROGRAMS) {
    uint32_t i = d->program_count++;
    snprintf(d->programs[i].path, sizeof d->programs[i].path, "%s", path);
    snprintf(d->programs[i].options, sizeof d->programs[i].options, "%s", options);
    d->programs[i].program = made;
  }
  return made;
}

static cl_peer *peer_of(cl_driver *d, cl_program program, const char *kernel,
                        const uint32_t grid[3], const uint32_t group[3]) {
  cl_int status;
  char name[40];
  snprintf(name, sizeof name, "k_%s", kernel); // `dot` alone is a builtin
  cl_kernel made = clCreateKernel(program, name, &status);
  if (status != CL_SUCCESS) {
    fprintf(stderr, "OpenCL: clCreateKernel of %s failed with %d\n", name, (int)status);
    return NULL;
  }
  cl_peer *p = calloc(1, sizeof *p);
  p->driver = d;
  p->kernel = made;
  for (; p->rank < 3 && grid[p->rank]; p->rank++) {
    p->grid[p->rank] = grid[p->rank];
    p->group[p->rank] = group[p->rank] ? group[p->rank] : 1;
  }
  if (!group[0]) p->group[0] = 0;
  return p;
}

cl_peer *cl_peer_new(cl_driver *d, const char *source_path, const char *options, const char *kernel,
                     const uint32_t grid[3], const uint32_t group[3]) {
  cl_program program = program_of(d, source_path, options);
  return program ? peer_of(d, program, kernel, grid, group) : NULL;
}

void cl_peer_buffer(cl_peer *p, void *data, size_t bytes) {
  cl_int status;
  cl_mem m = clCreateBuffer(p->driver->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                            data, &status);
  must(status, "clCreateBuffer");
  must(clSetKernelArg(p->kernel, p->argument_count++, sizeof m, &m), "clSetKernelArg");
  p->buffers[p->buffer_count++] = m;
}

void cl_peer_scalar(cl_peer *p, const void *value) {
  must(clSetKernelArg(p->kernel, p->argument_count++, 4, value), "clSetKernelArg");
}

bool cl_peer_run(cl_peer *p) {
  cl_command_queue queue = p->driver->queue;
  cl_int status = clEnqueueNDRangeKernel(queue, p->kernel, p->rank, NULL, p->grid,
                                         p->group[0] ? p->group : NULL, 0, NULL, NULL);
  if (status == CL_SUCCESS) status = clFinish(queue);
  return status == CL_SUCCESS;
}

void cl_peer_free(cl_peer *p) {
  if (!p) return;
  for (cl_uint i = 0; i < p->buffer_count; i++) clReleaseMemObject(p->buffers[i]);
  clReleaseKernel(p->kernel);
  free(p);
}

double cl_first_ms(cl_driver *d) {
  static const char source[] =
      "kernel void k_saxpy(global const float *x, global float *y, float a)"
      "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }";
  static float x[64], y[64];
  double best = 1e9;
  for (int i = 0; i < 7; i++) {
    // A comment makes the source new, so that nothing cached in the process answers.
    char text[300];
    size_t size = (size_t)snprintf(text, sizeof text, "%s // %d", source, i);
    double start = latency_cpu_ms();
    cl_program program = build(d, text, size, "-cl-std=CL1.2");
    if (!program) exit(1);
    cl_peer *p = peer_of(d, program, "saxpy", (uint32_t[3]){64}, (uint32_t[3]){0});
    cl_peer_buffer(p, x, sizeof x);
    cl_peer_buffer(p, y, sizeof y);
    cl_peer_scalar(p, &(float){0.5f});
    if (!cl_peer_run(p)) exit(1);
    double ms = latency_cpu_ms() - start;
    if (ms < best) best = ms;
    cl_peer_free(p);
    clReleaseProgram(program);
  }
  return best;
}
