// SPDX-License-Identifier: MIT
//
// The OpenCL driver beside the other platforms of this machine, through the loader: a small kernel
// enqueued and waited for, blocking reads and writes, and kernels over a million elements. It finds
// the driver of its own build tree; the ratio of the last column is to the first other platform.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char source[] =
    "kernel void add(global float *x, float a) { x[get_global_id(0)] += a; }\n"
    "kernel void saxpy(global float *x, float a) {\n"
    "  int i = get_global_id(0); x[i] = a * x[i] + 1.0f; }\n"
    "kernel void poly(global float *x, float a) {\n"
    "  int i = get_global_id(0); float v = x[i];\n"
    "  for (int k = 0; k < 64; k++) v = v * a + 0.5f;\n"
    "  x[i] = v; }\n"
    "kernel void waves(global float *x, float a) {\n"
    "  int i = get_global_id(0); x[i] = sin(x[i]) * cos(a * x[i]) + exp(-x[i] * x[i]); }\n"
    "kernel void sums(global float *x, float a) {\n"
    "  local float t[64]; int l = get_local_id(0); t[l] = x[get_global_id(0)] * a;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int s = 32; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  if (l == 0) x[get_global_id(0)] = t[0]; }\n";

enum { LARGE = 1 << 20, MOST = 8, ROWS = 7 };
static const char *const names[ROWS] = {"enqueue+finish", "write 4 KiB", "read 4 KiB", "saxpy 1M",
                                        "poly 1M",        "waves 1M",    "sums 1M"};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef struct subject {
  cl_command_queue queue;
  cl_program program;
  cl_mem memory;
  float *host;
} subject;

static void launch(subject *s, cl_kernel k, size_t size) {
  size_t local = 64;
  clEnqueueNDRangeKernel(s->queue, k, 1, NULL, &size, &local, 0, NULL, NULL);
  clFinish(s->queue);
}

static void once(subject *s, int row, cl_kernel k) {
  if (row == 1)
    clEnqueueWriteBuffer(s->queue, s->memory, CL_TRUE, 0, 4096, s->host, 0, NULL, NULL);
  else if (row == 2)
    clEnqueueReadBuffer(s->queue, s->memory, CL_TRUE, 0, 4096, s->host, 0, NULL, NULL);
  else
    launch(s, k, row == 0 ? 64 : LARGE);
}

// The best of seven runs, per call.
static double measure(subject *s, int row) {
  static const char *const kernels[ROWS] = {"add", "add", "add", "saxpy", "poly", "waves", "sums"};
  cl_kernel k = clCreateKernel(s->program, kernels[row], NULL);
  float a = 0.99f;
  int rounds = row < 3 ? 2000 : 10;
  double best = 1e30;
  clSetKernelArg(k, 0, sizeof s->memory, &s->memory);
  clSetKernelArg(k, 1, sizeof a, &a);
  for (int i = 0; i < 3; i++) once(s, row, k);
  for (int run = 0; run < 7; run++) {
    double start = now();
    for (int i = 0; i < rounds; i++) once(s, row, k);
    double each = (now() - start) / rounds;
    if (each < best) best = each;
  }
  clReleaseKernel(k);
  return best;
}

static int measure_all(cl_platform_id platform, double *out) {
  cl_device_id device;
  const char *text = source;
  cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL);
  if (code != CL_SUCCESS) return 0;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  subject s = {.queue = clCreateCommandQueue(context, device, 0, NULL),
               .program = clCreateProgramWithSource(context, 1, &text, NULL, NULL),
               .memory = clCreateBuffer(context, 0, LARGE * sizeof(float), NULL, NULL),
               .host = calloc(LARGE, sizeof(float))};
  for (int i = 0; i < LARGE; i++) s.host[i] = (float)(i % 1000) * 0.001f;
  int is_built = clBuildProgram(s.program, 1, &device, "", NULL, NULL) == CL_SUCCESS;
  clEnqueueWriteBuffer(s.queue, s.memory, CL_TRUE, 0, LARGE * sizeof(float), s.host, 0, NULL, NULL);
  for (int row = 0; row < ROWS && is_built; row++) out[row] = measure(&s, row);
  clReleaseMemObject(s.memory);
  clReleaseProgram(s.program);
  clReleaseCommandQueue(s.queue);
  clReleaseContext(context);
  free(s.host);
  return is_built;
}

// A folder with the system's drivers and that of the build tree.
static void choose_drivers(void) {
  char own[4096], folder[] = "/tmp/vyre-vendors-XXXXXX", command[9000];
  ssize_t size = readlink("/proc/self/exe", own, sizeof own - 32);
  if (size <= 0 || !mkdtemp(folder)) return;
  own[size] = 0;
  strcpy(strrchr(own, '/'), "/vendors/vyre.icd");
  snprintf(command, sizeof command, "cp /etc/OpenCL/vendors/*.icd %s/ 2>/dev/null; cp %s %s/",
           folder, own, folder);
  if (system(command) == 0) setenv("OCL_ICD_VENDORS", folder, 1);
}

int main(void) {
  cl_platform_id platforms[MOST];
  cl_uint count = 0;
  double times[MOST][ROWS] = {{0}};
  char titles[MOST][24] = {""};
  int shown[MOST], shown_count = 0;
  choose_drivers();
  clGetPlatformIDs(MOST, platforms, &count);
  for (cl_uint i = 0; i < count && i < MOST; i++) {
    char name[256] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    snprintf(titles[i], sizeof titles[i], "%.20s", name);
    if (!measure_all(platforms[i], times[i])) continue;
    shown[shown_count++] = (int)i;
    if (!strcmp(name, "vyre")) { // first
      shown[shown_count - 1] = shown[0];
      shown[0] = (int)i;
    }
  }
  printf("%-16s", "us per call");
  for (int i = 0; i < shown_count; i++) printf(" %22s", titles[shown[i]]);
  printf("\n");
  for (int row = 0; row < ROWS; row++) {
    printf("%-16s", names[row]);
    for (int i = 0; i < shown_count; i++) printf(" %22.2f", times[shown[i]][row] / 1e3);
    if (shown_count > 1) printf("   %.1f x", times[shown[1]][row] / times[shown[0]][row]);
    printf("\n");
  }
  const char *folder = getenv("OCL_ICD_VENDORS");
  if (folder && strstr(folder, "/tmp/vyre-vendors-")) {
    char command[4200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command)) return 1;
  }
  return shown_count ? 0 : 1;
}
