// SPDX-License-Identifier: MIT
//
// The CPU backend beside what its users would write instead: the natural C loop (gcc -O3), the same
// with OpenMP, the same kernel in OpenCL C on PoCL, and OpenBLAS for the matrix product. All run on
// the same data in one process, in turn, and medians are compared; what is printed are ratios. Ends
// with status 1 when a bar is missed.
#include "kernels/native.h"
#include "kernels/peer.h"

#include "bench.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BUFFERS = 8, ROUNDS = 9 };

typedef enum peer { VYRE_1, VYRE_N, C_1, OMP_N, POCL_1, POCL_N, BLAS_1, PEERS } peer;

typedef struct kernel {
  const char *name, *label;
  native_kernel c, omp;
  uint32_t sizes[3], size_count;
  float scalars[2];
  uint32_t scalar_count;
  uint32_t grid[2], group[2]; // OpenCL's; a group of 0 is the driver's choice
  struct {
    char kind; // f floats, u random keys below `below`, b bytes, F written floats, U written u32
    uint32_t count, below;
  } buffers[MAX_BUFFERS];
  bool is_compute_bound, is_scalar_first; // for vyre: floats before sizes in the parameter list
} kernel;

#define N1      (1u << 20)
#define C(name) #name, #name, c_##name, omp_##name
static const kernel kernels[] = {
    {C(saxpy), .scalars = {0.5f}, .scalar_count = 1, .sizes = {N1}, .grid = {N1},
     .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {C(dot), .sizes = {N1}, .grid = {N1}, .group = {256},
     .buffers = {{'f', N1, 0}, {'f', N1, 0}, {'F', N1 / 256, 0}}},
    {C(stencil3), .sizes = {N1}, .size_count = 1, .grid = {N1},
     .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {C(conv2d), .sizes = {512}, .size_count = 1, .grid = {512, 512}, .is_compute_bound = true,
     .buffers = {{'f', 516 * 516, 0}, {'f', 25, 0}, {'F', 512 * 512, 0}}},
    {"matmul", "matmul 512", c_matmul, omp_matmul, .sizes = {512}, .size_count = 1,
     .grid = {512, 512}, .is_compute_bound = true,
     .buffers = {{'f', 512 * 512, 0}, {'f', 512 * 512, 0}, {'F', 512 * 512, 0}}},
    {"matmul", "matmul 1024", c_matmul, omp_matmul, .sizes = {1024}, .size_count = 1,
     .grid = {1024, 1024}, .is_compute_bound = true,
     .buffers = {{'f', N1, 0}, {'f', N1, 0}, {'F', N1, 0}}},
    {C(transpose), .sizes = {1024, 1024}, .size_count = 2, .grid = {1024, 1024}, .group = {16, 16},
     .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {C(nbody), .sizes = {2048}, .size_count = 1, .scalars = {0.01f}, .scalar_count = 1,
     .grid = {2048}, .is_compute_bound = true,
     .buffers = {{'f', 2048, 0},
                 {'f', 2048, 0},
                 {'f', 2048, 0},
                 {'f', 2048, 0},
                 {'F', 2048, 0},
                 {'F', 2048, 0},
                 {'F', 2048, 0}}},
    {C(mandelbrot), .sizes = {512, 512, 256}, .size_count = 3, .grid = {512, 512},
     .is_compute_bound = true, .buffers = {{'U', 512 * 512, 0}}},
    {C(divergent), .sizes = {N1}, .grid = {N1},
     .buffers = {{'f', N1, 0}, {'f', N1, 0}, {'F', N1, 0}}},
    {C(histogram), .sizes = {N1}, .grid = {N1}, .buffers = {{'u', N1, 256}, {'U', 256, 0}}},
    {C(gather), .scalars = {0.5f}, .scalar_count = 1, .sizes = {N1}, .grid = {N1},
     .buffers = {{'f', N1, 0}, {'u', N1, N1}, {'F', N1, 0}}},
    {C(aos), .sizes = {N1 / 4}, .grid = {N1 / 4}, .buffers = {{'f', N1, 0}, {'F', N1 / 4, 0}}},
    {C(scan), .sizes = {N1}, .grid = {N1}, .group = {256}, .buffers = {{'f', N1, 0}, {'F', N1, 0}}},
    {C(blackscholes), .scalars = {0.02f, 0.3f}, .scalar_count = 2, .sizes = {N1 / 4},
     .grid = {N1 / 4}, .is_compute_bound = true,
     .buffers = {{'f', N1 / 4, 0}, {'f', N1 / 4, 0}, {'f', N1 / 4, 0}, {'F', N1 / 4, 0}}},
    {C(sgemv), .sizes = {1024}, .size_count = 1, .grid = {1024},
     .buffers = {{'f', N1, 0}, {'f', 1024, 0}, {'F', 1024, 0}}},
    {"sgemv", "sgemv 4096", c_sgemv, omp_sgemv, .sizes = {4096}, .size_count = 1, .grid = {4096},
     .buffers = {{'f', 16 * N1, 0}, {'f', 4096, 0}, {'F', 4096, 0}}},
    {C(gauss), .sizes = {1024, 3}, .size_count = 2, .grid = {1024, 1024},
     .buffers = {{'f', N1, 0}, {'f', 1024, 0}, {'F', N1, 0}}},
    {C(bytes), .sizes = {N1}, .grid = {N1 / 16}, .group = {256},
     .buffers = {{'b', N1, 0}, {'U', 256, 0}}},
};

// ---- data ---------------------------------------------------------------------------------------

typedef struct run {
  const kernel *k;
  void *buffers[MAX_BUFFERS];
  size_t bytes[MAX_BUFFERS];
  uint32_t buffer_count;
  vyre_executable *vyre[2];
  cl_peer *pocl[2];
  double ns[PEERS][ROUNDS];
  int rounds[PEERS]; // of each
} run;

static uint32_t next_random(uint32_t *state) {
  return *state = *state * 1664525u + 1013904223u;
}

static void fill(run *r) {
  uint32_t state = 7;
  for (uint32_t i = 0; i < r->buffer_count; i++) {
    char kind = r->k->buffers[i].kind;
    for (uint32_t k = 0; k < r->k->buffers[i].count; k++) {
      uint32_t x = next_random(&state) >> 8;
      // From 0.25 to 1.25: no denormals, which make any CPU slow, whatever the kernel does.
      if (kind == 'f' || kind == 'F') ((float *)r->buffers[i])[k] = 0.25f + (float)x / 16777216.0f;
      if (kind == 'u') ((uint32_t *)r->buffers[i])[k] = x % r->k->buffers[i].below;
      if (kind == 'U') ((uint32_t *)r->buffers[i])[k] = 0;
      if (kind == 'b') ((uint8_t *)r->buffers[i])[k] = (uint8_t)x;
    }
  }
  // Signs for the branch of `divergent`.
  if (!strcmp(r->k->name, "divergent"))
    for (uint32_t k = 0; k < r->k->buffers[0].count; k++)
      if (next_random(&state) >> 31) ((float *)r->buffers[0])[k] *= -1.0f;
}

static bool allocate(run *r) {
  for (; r->buffer_count < MAX_BUFFERS && r->k->buffers[r->buffer_count].kind; r->buffer_count++) {
    uint32_t i = r->buffer_count;
    r->bytes[i] = r->k->buffers[i].count * (r->k->buffers[i].kind == 'b' ? 1u : 4u);
    r->buffers[i] = aligned_alloc(4096, (r->bytes[i] + 4095) / 4096 * 4096);
    if (!r->buffers[i]) return false;
  }
  return true;
}

// ---- peers --------------------------------------------------------------------------------------

static vyre_dispatch_args vyre_args(const run *r, vyre_scalar *params, vyre_span *spans) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->k->size_count; i++) params[count++] = vyre_scalar_u32(r->k->sizes[i]);
  for (uint32_t i = 0; i < r->k->scalar_count; i++)
    params[count++] = vyre_scalar_f32(r->k->scalars[i]);
  for (uint32_t i = 0; i < r->buffer_count; i++) spans[i] = (vyre_span){r->buffers[i], r->bytes[i]};
  return (vyre_dispatch_args){
      .params = params, .param_count = count, .buffers = spans, .buffer_count = r->buffer_count};
}

static void run_vyre(const run *r, int which) {
  vyre_scalar params[8];
  vyre_span spans[MAX_BUFFERS];
  vyre_error error;
  vyre_dispatch_args args = vyre_args(r, params, spans);
  if (vyre_dispatch(r->vyre[which], &args, NULL, &error) == VYRE_OK) return;
  fprintf(stderr, "%s: %s\n", r->k->label, error.message);
  exit(1);
}

static void run_blas(const run *r) {
  int n = (int)r->k->sizes[0];
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, r->buffers[0], n,
              r->buffers[1], n, 0.0f, r->buffers[2], n);
}

static bool has_peer(const run *r, peer p) {
  if (p == POCL_1 || p == POCL_N) return r->pocl[p == POCL_N] != NULL;
  return p != BLAS_1 || !strcmp(r->k->name, "matmul");
}

static void run_peer(const run *r, peer p) {
  switch (p) {
  case VYRE_1: run_vyre(r, 0); break;
  case VYRE_N: run_vyre(r, 1); break;
  case C_1: r->k->c(r->buffers, r->k->sizes, r->k->scalars); break;
  case OMP_N: r->k->omp(r->buffers, r->k->sizes, r->k->scalars); break;
  case POCL_1: cl_peer_run(r->pocl[0]); break;
  case POCL_N: cl_peer_run(r->pocl[1]); break;
  default: run_blas(r); break;
  }
}

// ---- measuring ----------------------------------------------------------------------------------

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double once(const run *r, peer p, uint32_t repeat) {
  uint64_t start = clock_now_ns();
  for (uint32_t i = 0; i < repeat; i++) run_peer(r, p);
  double ns = (double)(clock_now_ns() - start) / repeat;
  // OpenMP's threads go on looking for work, in the way of whoever comes next.
  if (p == OMP_N) usleep(20000);
  return ns;
}

// Who takes this long is measured less often.
static const double LONG_NS = 2e8;

static void measure(run *r) {
  uint32_t repeat[PEERS];
  for (peer p = 0; p < PEERS; p++) {
    if (!has_peer(r, p)) continue;
    double best = once(r, p, 1);
    for (int i = 0; i < 4 && best < LONG_NS; i++) best = fmin(best, once(r, p, 1));
    repeat[p] = best > 2e6 ? 1 : (uint32_t)(2e6 / best) + 1;
    r->rounds[p] = best < LONG_NS ? ROUNDS : 3;
  }
  for (int round = 0; round < ROUNDS; round++)
    for (peer p = 0; p < PEERS; p++)
      if (has_peer(r, p) && round < r->rounds[p]) r->ns[p][round] = once(r, p, repeat[p]);
  for (peer p = 0; p < PEERS; p++)
    qsort(r->ns[p], (size_t)r->rounds[p], sizeof(double), compare_doubles);
}

static double median(const run *r, peer p) {
  return r->ns[p][r->rounds[p] / 2];
}

// What vyre computes against what C computes, as a guard against measuring nonsense.
static void check(run *r) {
  uint32_t out = r->buffer_count - 1;
  fill(r);
  run_peer(r, C_1);
  void *expected = malloc(r->bytes[out]);
  memcpy(expected, r->buffers[out], r->bytes[out]);
  fill(r);
  run_peer(r, VYRE_N);
  double worst = 0;
  for (size_t i = 0; i < r->bytes[out] / 4; i++) {
    bool is_float = r->k->buffers[out].kind == 'F';
    double x = is_float ? (double)((float *)expected)[i] : ((uint32_t *)expected)[i];
    double y = is_float ? (double)((float *)r->buffers[out])[i] : ((uint32_t *)r->buffers[out])[i];
    double e = fabs(x - y) / (fabs(x) + 1);
    if (!(e <= worst)) worst = e;
  }
  if (!(worst < 1e-3)) fprintf(stderr, "%s: results differ by %g\n", r->k->label, worst);
  free(expected);
}

static vyre_executable *compile(const kernel *k, uint32_t threads) {
  char path[300];
  char *text;
  size_t size;
  vyre_error error;
  vyre_program *program;
  vyre_executable *made = NULL;
  snprintf(path, sizeof path, "%s/bench/kernels/%s.vyre", VYRE_SOURCE_DIR, k->name);
  vyre_compile_options options = {.threads = threads};
  vyre_status status = peer_read_file(path, &text, &size, &error);
  if (status == VYRE_OK) status = vyre_program_parse(text, size, path, &program, &error);
  if (status == VYRE_OK) status = peer_compile(program, &options, &made, &error);
  if (status != VYRE_OK) {
    fprintf(stderr, "%s: %s\n", path, error.message);
    exit(1);
  }
  vyre_program_release(program);
  free(text);
  return made;
}

static void bench_kernel(run *r, bool *has_pocl) {
  const kernel *k = r->k;
  if (!allocate(r)) exit(1);
  r->vyre[0] = compile(k, 1);
  r->vyre[1] = compile(k, 0);
  for (int i = 0; i < 2 && *has_pocl; i++) {
    r->pocl[i] = cl_peer_new(k->name, k->grid, k->group, i == 0);
    for (uint32_t b = 0; b < r->buffer_count && r->pocl[i]; b++)
      cl_peer_buffer(r->pocl[i], r->buffers[b], r->bytes[b]);
    for (uint32_t s = 0; s < k->size_count && r->pocl[i]; s++)
      cl_peer_scalar(r->pocl[i], &k->sizes[s]);
    for (uint32_t s = 0; s < k->scalar_count && r->pocl[i]; s++)
      cl_peer_scalar(r->pocl[i], &k->scalars[s]);
  }
  check(r);
  fill(r);
  measure(r);
}

static void end_kernel(run *r) {
  for (int i = 0; i < 2; i++) {
    vyre_executable_release(r->vyre[i]);
    cl_peer_free(r->pocl[i]);
  }
  for (uint32_t i = 0; i < r->buffer_count; i++) free(r->buffers[i]);
}

// ---- reporting ----------------------------------------------------------------------------------

static double over(const run *r, peer other, peer mine) {
  return has_peer(r, other) ? median(r, other) / median(r, mine) : NAN;
}

static void print_row(const run *r) {
  printf("%-13s %9.1f %8.2f %8.2f %8.2f %8.2f %8.2f", r->k->label, median(r, VYRE_1) / 1000,
         over(r, C_1, VYRE_1), over(r, POCL_1, VYRE_1), over(r, OMP_N, VYRE_N),
         over(r, POCL_N, VYRE_N), over(r, VYRE_1, VYRE_N));
  if (has_peer(r, BLAS_1)) printf(" %8.2f", over(r, BLAS_1, VYRE_1));
  putchar('\n');
  fflush(stdout);
}

static bool print_bars(const run *runs, size_t count) {
  double log_sum = 0, worst = INFINITY, scaling = INFINITY;
  uint32_t with_pocl = 0;
  const char *worst_name = "", *scaling_name = "";
  for (size_t i = 0; i < count; i++) {
    const run *r = &runs[i];
    double best = over(r, C_1, VYRE_1);
    if (has_peer(r, POCL_1)) {
      double ratio = over(r, POCL_1, VYRE_1);
      log_sum += log(ratio);
      with_pocl++;
      if (ratio < best) best = ratio;
    }
    if (best < worst) worst = best, worst_name = r->k->label;
    double threads = over(r, VYRE_1, VYRE_N);
    if (r->k->is_compute_bound && threads < scaling) scaling = threads, scaling_name = r->k->label;
  }
  char text[80];
  bool ok = true;
  puts("");
  if (with_pocl)
    ok &= bench_at_least("geometric mean over PoCL, one thread", exp(log_sum / with_pocl), 3, "x");
  snprintf(text, sizeof text, "worst kernel over the better peer (%s)", worst_name);
  ok &= bench_at_least(text, worst, 0.95, "x");
  snprintf(text, sizeof text, "two threads over one, compute-bound (%s)", scaling_name);
  ok &= bench_at_least(text, scaling, 1.8, "x");
  for (size_t i = 0; i < count; i++) {
    const char *name = runs[i].k->label;
    const run *r = &runs[i];
    if (!strcmp(name, "mandelbrot"))
      ok &= bench_at_least("mandelbrot over gcc", over(r, C_1, VYRE_1), 6, "x");
    if (!strcmp(name, "nbody"))
      ok &= bench_at_least("n-body over gcc", over(r, C_1, VYRE_1), 5, "x");
    if (!strcmp(name, "stencil3"))
      ok &= bench_at_least("stencil with checks over gcc without", over(r, C_1, VYRE_1), 1, "x");
    if (!strcmp(name, "matmul 512"))
      ok &= bench_at_least("matmul 512 over OpenBLAS", over(r, BLAS_1, VYRE_1), 0.5, "x");
    if (!strcmp(name, "matmul 1024"))
      ok &= bench_at_least("matmul 1024 over OpenBLAS", over(r, BLAS_1, VYRE_1), 0.3, "x");
  }
  return ok;
}

int main(int argc, char **argv) {
  enum { COUNT = sizeof kernels / sizeof *kernels };
  static run runs[COUNT];
  const char *only = argc > 1 ? argv[1] : "";
  size_t count = 0;
  bool has_pocl = cl_peer_open(VYRE_SOURCE_DIR "/bench/kernels/kernels.cl");
  if (!has_pocl) puts("PoCL is not there: its columns are empty");
  puts("times faster than the peer (more is better); medians of runs in turn");
  puts("kernel         vyre us   gcc -O3   PoCL 1   OpenMP   PoCL N  threads  OpenBLAS");
  for (size_t i = 0; i < COUNT; i++) {
    if (!strstr(kernels[i].label, only)) continue;
    run *r = &runs[count++];
    r->k = &kernels[i];
    bench_kernel(r, &has_pocl);
    print_row(r);
    end_kernel(r);
  }
  bool ok = print_bars(runs, count);
  peer_latency(VYRE_SOURCE_DIR "/bench/kernels/saxpy.vyre");
  return ok ? 0 : 1;
}
