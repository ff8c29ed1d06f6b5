// SPDX-License-Identifier: MIT
//
// The OpenCL backend beside the same kernels driven by hand through the OpenCL API, in one process
// on one device: submit-and-wait of a small kernel, throughput of large ones, and the way from a
// program to its first answer with a cold and a warm cache (each in a process of its own). Run in
// turn; medians are compared. Ends with status 1 when a bar is missed. --quick runs fewer rounds.
#define CL_TARGET_OPENCL_VERSION          120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS 1
#include <CL/cl.h>

#include <vyre/vyre.h>

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ROUNDS = 2001 };

// ---- the kernels, twice -------------------------------------------------------------------------

typedef struct subject {
  const char *name, *vyre, *opencl;
} subject;

static const subject saxpy = {
    "saxpy",
    "program saxpy(a: f32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] readwrite\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  y[i] = a * x[i] + y[i]\n}\n",
    "__kernel void run(float a, __global const float *restrict x, __global float *restrict y,\n"
    "                  uint n) {\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "  size_t i = get_global_id(0);\n  if (i < n) y[i] = a * x[i] + y[i];\n}\n"};

static const subject poly = {
    "polynomial",
    "program poly(a: f32)\nbuffer x: f32[] read\nbuffer y: f32[len(x)] readwrite\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  let v = x[i]\n  var s: f32 = a\n"
    "  for k in 0..64u32 { s = s * v + 0.5 }\n  y[i] = s\n}\n",
    "__kernel void run(float a, __global const float *restrict x, __global float *restrict y,\n"
    "                  uint n) {\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "  size_t i = get_global_id(0);\n  if (i >= n) return;\n  float v = x[i], s = a;\n"
    "  for (uint k = 0; k < 64; k++) s = s * v + 0.5f;\n  y[i] = s;\n}\n"};

// ---- by hand ------------------------------------------------------------------------------------

typedef struct hand {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem x, y;
  size_t global, local;
} hand;

static void check(cl_int code, const char *what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "bench_backends: %s: %d\n", what, (int)code);
  exit(3);
}

static bool hand_open(hand *h) {
  cl_platform_id platform;
  cl_int code;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &h->device, NULL) != CL_SUCCESS)
    return false;
  h->context = clCreateContext(NULL, 1, &h->device, NULL, NULL, &code);
  check(code, "context");
  h->queue = clCreateCommandQueue(h->context, h->device, 0, &code);
  check(code, "queue");
  return true;
}

static void hand_build(hand *h, const subject *s) {
  cl_int code;
  h->program = clCreateProgramWithSource(h->context, 1, (const char **)&s->opencl, NULL, &code);
  check(code, "program");
  check(clBuildProgram(h->program, 1, &h->device,
                       "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", NULL, NULL),
        "build");
  h->kernel = clCreateKernel(h->program, "run", &code);
  check(code, "kernel");
}

static void hand_bind(hand *h, float a, float *x, float *y, cl_uint n) {
  cl_int code;
  h->x = clCreateBuffer(h->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, n * 4ul, x, &code);
  check(code, "buffer");
  h->y = clCreateBuffer(h->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, n * 4ul, y, &code);
  check(code, "buffer");
  check(clSetKernelArg(h->kernel, 0, sizeof a, &a), "a");
  check(clSetKernelArg(h->kernel, 1, sizeof h->x, &h->x), "x");
  check(clSetKernelArg(h->kernel, 2, sizeof h->y, &h->y), "y");
  check(clSetKernelArg(h->kernel, 3, sizeof n, &n), "n");
  h->local = 64;
  h->global = (n + 63ul) / 64 * 64;
}

static void hand_run(void *context) {
  hand *h = context;
  check(clEnqueueNDRangeKernel(h->queue, h->kernel, 1, NULL, &h->global, &h->local, 0, NULL, NULL),
        "enqueue");
  check(clFinish(h->queue), "finish");
}

static void hand_release(hand *h) {
  clReleaseMemObject(h->x);
  clReleaseMemObject(h->y);
  clReleaseKernel(h->kernel);
  clReleaseProgram(h->program);
}

// ---- vyre ---------------------------------------------------------------------------------------

typedef struct ours {
  vyre_program *program;
  vyre_executable *executable;
  vyre_scalar a;
  vyre_span spans[2];
  vyre_dispatch_args args;
} ours;

static void must(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "bench_backends: %s\n", error->message);
  exit(3);
}

static void ours_build(ours *o, const subject *s) {
  vyre_error error;
  must(vyre_program_parse(s->vyre, strlen(s->vyre), s->name, &o->program, &error), &error);
  must(vyre_compile(o->program, "opencl", NULL, &o->executable, &error), &error);
}

static void ours_bind(ours *o, float a, float *x, float *y, uint32_t n) {
  o->a = vyre_scalar_f32(a);
  o->spans[0] = (vyre_span){x, n * 4ul};
  o->spans[1] = (vyre_span){y, n * 4ul};
  o->args = (vyre_dispatch_args){
      .params = &o->a, .param_count = 1, .buffers = o->spans, .buffer_count = 2};
}

static void ours_run(void *context) {
  ours *o = context;
  vyre_error error;
  must(vyre_dispatch(o->executable, &o->args, NULL, &error), &error);
}

// ---- measuring ----------------------------------------------------------------------------------

static double seconds(void) {
  return (double)clock_now_ns() * 1e-9;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double median(double *times, int count) {
  qsort(times, (size_t)count, sizeof *times, by_value);
  return times[count / 2];
}

// Both in turn, in changing order; the ratio of the medians.
static double compare(hand *h, ours *o, int rounds, const char *label, const char *unit,
                      double scale) {
  static double by_hand[MAX_ROUNDS], by_vyre[MAX_ROUNDS];
  hand_run(h);
  ours_run(o);
  for (int i = 0; i < rounds; i++)
    for (int k = 0; k < 2; k++) {
      bool is_ours = (i + k) % 2;
      double start = seconds();
      (is_ours ? ours_run : hand_run)(is_ours ? (void *)o : (void *)h);
      (is_ours ? by_vyre : by_hand)[i] = seconds() - start;
    }
  double x = median(by_hand, rounds), y = median(by_vyre, rounds);
  printf("| %s | %.2f %s | %.2f %s | %.2f |\n", label, x * scale, unit, y * scale, unit, y / x);
  return y / x;
}

static double measure(hand *h, const subject *s, uint32_t n, int rounds, const char *label) {
  float *x = aligned_alloc(128, n * 4ul + 128), *y = aligned_alloc(128, n * 4ul + 128);
  float *z = aligned_alloc(128, n * 4ul + 128);
  ours o = {0};
  if (!x || !y || !z) exit(3);
  for (uint32_t i = 0; i < n; i++) x[i] = (float)(i % 1000) * 1e-3f, y[i] = z[i] = 1;
  hand_build(h, s);
  hand_bind(h, 0.5f, x, y, n);
  ours_build(&o, s);
  ours_bind(&o, 0.5f, x, z, n);
  bool is_small = n < 100000;
  double ratio = compare(h, &o, rounds, label, is_small ? "us" : "ms", is_small ? 1e6 : 1e3);
  if (memcmp(y, z, n * 4ul)) {
    fprintf(stderr, "bench_backends: %s gives different results\n", s->name);
    exit(1);
  }
  hand_release(h);
  vyre_executable_release(o.executable);
  vyre_program_release(o.program);
  free(x);
  free(y);
  free(z);
  return ratio;
}

// ---- the first answer ---------------------------------------------------------------------------

// In a process of its own: seconds from a source to its first answer, the driver being loaded.
static void first_answer(bool is_ours) {
  static float x[1000], y[1000];
  hand h = {0};
  ours o = {0};
  vyre_device device;
  uint32_t count;
  if (is_ours)
    vyre_backend_devices("opencl", &device, 1, &count, NULL);
  else
    hand_open(&h);
  double start = seconds();
  if (is_ours) {
    ours_build(&o, &saxpy);
    ours_bind(&o, 0.5f, x, y, 1000);
    ours_run(&o);
  } else {
    hand_build(&h, &saxpy);
    hand_bind(&h, 0.5f, x, y, 1000);
    hand_run(&h);
  }
  printf("%.6f\n", seconds() - start);
}

static double run_first(const char *self, const char *who, const char *folder) {
  char command[600], line[64] = "";
  snprintf(command, sizeof command, "VYRE_HOME=%s/vyre POCL_CACHE_DIR=%s/pocl-%s '%s' --first %s",
           folder, folder, who, self, who);
  FILE *p = popen(command, "r");
  if (!p || !fgets(line, sizeof line, p)) exit(3);
  pclose(p);
  return atof(line);
}

// Cold: a folder that is empty; warm: what the cold run left there.
static void first_answers(const char *self, int rounds, double ratios[2]) {
  double times[2][2][16];
  for (int i = 0; i < rounds; i++) {
    char folder[] = "/tmp/vyre-bench-XXXXXX", command[100];
    if (!mkdtemp(folder)) exit(3);
    for (int warm = 0; warm < 2; warm++)
      for (int k = 0; k < 2; k++) {
        int who = (i + k) % 2;
        times[warm][who][i] = run_first(self, who ? "vyre" : "hand", folder);
      }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) exit(3);
  }
  for (int warm = 0; warm < 2; warm++) {
    double x = median(times[warm][0], rounds), y = median(times[warm][1], rounds);
    ratios[warm] = y / x;
    printf("| first answer, %s cache | %.1f ms | %.1f ms | %.2f |\n", warm ? "warm" : "cold",
           x * 1e3, y * 1e3, y / x);
  }
}

int main(int argc, char **argv) {
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
  if (argc > 2 && !strcmp(argv[1], "--first")) {
    first_answer(!strcmp(argv[2], "vyre"));
    return 0;
  }
  bool is_quick = argc > 1 && !strcmp(argv[1], "--quick");
  hand h = {0};
  if (!hand_open(&h)) {
    printf("no OpenCL device: nothing to compare\n");
    return 0;
  }
  printf("| | by hand | vyre | ratio |\n| --- | ---: | ---: | ---: |\n");
  double small = measure(&h, &saxpy, 1000, is_quick ? 201 : 2001, "saxpy, 1,000: submit and wait");
  double large[] = {
      measure(&h, &saxpy, 1u << 24, is_quick ? 5 : 21, "saxpy, 2^24"),
      measure(&h, &poly, 1u << 20, is_quick ? 5 : 21, "polynomial of degree 64, 2^20"),
  };
  double first[2];
  first_answers(argv[0], is_quick ? 1 : 5, first);
  bool is_met = bench_at_most("submit and wait, over by hand", small, 1.1, "");
  is_met &= bench_at_most("throughput of saxpy, over by hand", large[0], 1.1, "");
  is_met &= bench_at_most("throughput of a polynomial, over by hand", large[1], 1.1, "");
  return is_met ? 0 : 1;
}
