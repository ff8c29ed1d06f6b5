// SPDX-License-Identifier: MIT
#define CL_TARGET_OPENCL_VERSION 120
#include "kernels/peer.h"

#include "base/file.h"
#include "bench.h"

#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

vyre_status peer_read_file(const char *path, char **text, size_t *size, vyre_error *error) {
  return file_read(path, 1 << 20, text, size, error);
}

vyre_status peer_compile(vyre_program *program, const vyre_compile_options *options,
                         vyre_executable **out, vyre_error *error) {
  vyre_compile_options selected = *options;
  selected.optimize = VYRE_OPTIMIZE_SELECTED;
  return vyre_compile(program, "cpu", &selected, out, error);
}

// ---- PoCL ---------------------------------------------------------------------------------------

static struct {
  cl_context context;
  cl_device_id device[2]; // one core, all cores
  cl_command_queue queue[2];
  cl_program program;
  char *source;
} cl;

struct cl_peer {
  cl_kernel kernel;
  cl_command_queue queue;
  cl_mem buffers[8];
  cl_uint buffer_count, argument_count, rank;
  size_t grid[2], group[2];
};

static void must(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "OpenCL: %s failed with %d\n", what, (int)status);
  exit(1);
}

bool cl_peer_open(const char *source_path) {
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
  setenv("POCL_KERNEL_CACHE", "0", 0); // cold builds are measured
  cl_platform_id platform;
  cl_uint count = 0;
  cl_int status;
  size_t size;
  if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count) return false;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &cl.device[1], &count) != CL_SUCCESS)
    return false;
  cl_device_partition_property one[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                        CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  if (clCreateSubDevices(cl.device[1], one, 1, &cl.device[0], NULL) != CL_SUCCESS)
    cl.device[0] = cl.device[1];
  cl.context = clCreateContext(NULL, 2, cl.device, NULL, NULL, &status);
  must(status, "clCreateContext");
  for (int i = 0; i < 2; i++) {
    cl.queue[i] = clCreateCommandQueue(cl.context, cl.device[i], 0, &status);
    must(status, "clCreateCommandQueue");
  }
  if (peer_read_file(source_path, &cl.source, &size, NULL) != VYRE_OK) return false;
  cl.program = clCreateProgramWithSource(cl.context, 1, (const char **)&cl.source, &size, &status);
  must(status, "clCreateProgramWithSource");
  must(clBuildProgram(cl.program, 2, cl.device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
  return true;
}

cl_peer *cl_peer_new(const char *kernel, const uint32_t grid[2], const uint32_t group[2],
                     bool one_thread) {
  cl_int status;
  cl_peer *p = calloc(1, sizeof *p);
  char name[40];
  snprintf(name, sizeof name, "k_%s", kernel); // `dot` alone is a builtin
  p->kernel = clCreateKernel(cl.program, name, &status);
  must(status, kernel);
  p->queue = cl.queue[one_thread ? 0 : 1];
  p->rank = grid[1] ? 2 : 1;
  for (int i = 0; i < 2; i++) {
    p->grid[i] = grid[i];
    p->group[i] = group[i];
  }
  return p;
}

void cl_peer_buffer(cl_peer *p, void *data, size_t bytes) {
  cl_int status;
  cl_mem m =
      clCreateBuffer(cl.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, &status);
  must(status, "clCreateBuffer");
  must(clSetKernelArg(p->kernel, p->argument_count++, sizeof m, &m), "clSetKernelArg");
  p->buffers[p->buffer_count++] = m;
}

void cl_peer_scalar(cl_peer *p, const void *value) {
  must(clSetKernelArg(p->kernel, p->argument_count++, 4, value), "clSetKernelArg");
}

void cl_peer_run(cl_peer *p) {
  must(clEnqueueNDRangeKernel(p->queue, p->kernel, p->rank, NULL, p->grid,
                              p->group[0] ? p->group : NULL, 0, NULL, NULL),
       "clEnqueueNDRangeKernel");
  must(clFinish(p->queue), "clFinish");
}

void cl_peer_free(cl_peer *p) {
  if (!p) return;
  for (cl_uint i = 0; i < p->buffer_count; i++) clReleaseMemObject(p->buffers[i]);
  clReleaseKernel(p->kernel);
  free(p);
}

// ---- latency ------------------------------------------------------------------------------------

static double cpu_ms(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
         (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

enum { TINY = 64, LATENCY_RUNS = 7 };

static float tiny_x[TINY], tiny_y[TINY];

static void dispatch_tiny(vyre_executable *e) {
  vyre_scalar a = vyre_scalar_f32(0.5f);
  vyre_span spans[] = {{tiny_x, sizeof tiny_x}, {tiny_y, sizeof tiny_y}};
  vyre_dispatch_args args = {.params = &a, .param_count = 1, .buffers = spans, .buffer_count = 2};
  if (vyre_dispatch(e, &args, NULL, NULL) != VYRE_OK) exit(1);
}

// CPU milliseconds from a program to its first answer, the best of several.
static double vyre_first(vyre_program *p, vyre_tier tier) {
  double best = 1e9;
  for (int i = 0; i < LATENCY_RUNS; i++) {
    vyre_executable *e;
    vyre_compile_options options = {.tier = tier, .threads = 1};
    double start = cpu_ms();
    if (vyre_compile(p, "cpu", &options, &e, NULL) != VYRE_OK) exit(1);
    dispatch_tiny(e);
    double ms = cpu_ms() - start;
    if (ms < best) best = ms;
    vyre_executable_release(e);
  }
  return best;
}

static double pocl_first(void) {
  static const char source[] =
      "kernel void k_saxpy(global const float *x, global float *y, float a)"
      "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }";
  double best = 1e9;
  for (int i = 0; i < LATENCY_RUNS; i++) {
    // A comment makes the source new, so that nothing cached in the process answers.
    char text[300];
    size_t size = (size_t)snprintf(text, sizeof text, "%s // %d", source, i);
    const char *at = text;
    cl_int status;
    double start = cpu_ms();
    cl_program program = clCreateProgramWithSource(cl.context, 1, &at, &size, &status);
    must(clBuildProgram(program, 2, cl.device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    cl_program kept = cl.program;
    cl.program = program;
    cl_peer *p = cl_peer_new("saxpy", (uint32_t[2]){TINY, 0}, (uint32_t[2]){0, 0}, true);
    cl_peer_buffer(p, tiny_x, sizeof tiny_x);
    cl_peer_buffer(p, tiny_y, sizeof tiny_y);
    float a = 0.5f;
    cl_peer_scalar(p, &a);
    cl_peer_run(p);
    double ms = cpu_ms() - start;
    if (ms < best) best = ms;
    cl_peer_free(p);
    clReleaseProgram(program);
    cl.program = kept;
  }
  return best;
}

static void run_vyre_tiny(void *context, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) dispatch_tiny(context);
}

static void run_pocl_tiny(void *context, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) cl_peer_run(context);
}

static void tiny_dispatches(vyre_program *p) {
  vyre_executable *e;
  if (vyre_compile(p, "cpu", NULL, &e, NULL) != VYRE_OK) exit(1);
  double mine = bench_ns(run_vyre_tiny, e, 20000, 9);
  printf("%-50s %10.1f ns\n", "a dispatch of 64 elements", mine);
  if (cl.context) {
    cl_peer *peer = cl_peer_new("saxpy", (uint32_t[2]){TINY, 0}, (uint32_t[2]){0, 0}, true);
    cl_peer_buffer(peer, tiny_x, sizeof tiny_x);
    cl_peer_buffer(peer, tiny_y, sizeof tiny_y);
    cl_peer_scalar(peer, &(float){0.5f});
    double other = bench_ns(run_pocl_tiny, peer, 2000, 9);
    bench_at_least("  less than PoCL's enqueue and finish", other / mine, 5, "x");
    cl_peer_free(peer);
  }
  vyre_executable_release(e);
}

void peer_latency(const char *vyre_path) {
  char *text;
  size_t size;
  vyre_program *p;
  if (peer_read_file(vyre_path, &text, &size, NULL) != VYRE_OK ||
      vyre_program_parse(text, size, vyre_path, &p, NULL) != VYRE_OK)
    exit(1);
  setenv("VYRE_CACHE", "off", 1);
  double quick = vyre_first(p, VYRE_TIER_QUICK), full = vyre_first(p, VYRE_TIER_FULL);
  unsetenv("VYRE_CACHE");
  (void)vyre_first(p, VYRE_TIER_FULL); // fills the cache
  double cached = vyre_first(p, VYRE_TIER_FULL);
  printf("\nsaxpy, program to first answer, CPU ms: quick %.2f, full %.2f, cached %.3f\n", quick,
         full, cached);
  if (cl.context)
    bench_at_least("less CPU time than PoCL's build and first run", pocl_first() / quick, 30, "x");
  bench_at_least("full compile over cached object", full / cached, 20, "x");
  tiny_dispatches(p);
  vyre_program_release(p);
  free(text);
}
