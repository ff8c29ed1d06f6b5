// SPDX-License-Identifier: MIT
//
// CLBlast as a client: routines of the three levels, compared with plain loops in double.
#include <clblast.h>

#include <cmath>
#include <cstdio>
#include <vector>

using numbers = std::vector<float>;
static cl_context context;
static cl_command_queue queue;
static int failures;

static cl_mem buffer(numbers &v) {
  return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, v.size() * 4, v.data(), nullptr);
}

static void compare(const char *name, clblast::StatusCode code, cl_mem m, const numbers &wanted) {
  numbers got(wanted.size());
  clEnqueueReadBuffer(queue, m, CL_TRUE, 0, got.size() * 4, got.data(), 0, nullptr, nullptr);
  double worst = 0;
  for (size_t i = 0; i < got.size(); i++)
    worst = std::fmax(worst, std::fabs(got[i] - wanted[i]) / (1 + std::fabs(wanted[i])));
  bool right = code == clblast::StatusCode::kSuccess && worst < 1e-4;
  std::printf("%s: %s (status %d, off by %g)\n", name, right ? "passed" : "failed", (int)code, worst);
  failures += !right;
}

int main() {
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr);
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  queue = clCreateCommandQueue(context, device, 0, nullptr);
  const size_t m = 70, n = 45, k = 33;
  numbers a(m * k), b(k * n), c(m * n), x(n), y(m);
  for (size_t i = 0; i < a.size(); i++) a[i] = (float)((i * 37) % 101) / 50 - 1;
  for (size_t i = 0; i < b.size(); i++) b[i] = (float)((i * 53) % 97) / 48 - 1;
  for (size_t i = 0; i < x.size(); i++) x[i] = (float)i / 20;
  numbers wanted(m * n), line(m);
  for (size_t r = 0; r < m; r++)
    for (size_t s = 0; s < n; s++) {
      double sum = 0;
      for (size_t t = 0; t < k; t++) sum += (double)a[r * k + t] * b[t * n + s];
      wanted[r * n + s] = (float)(2 * sum);
    }
  cl_mem ba = buffer(a), bb = buffer(b), bc = buffer(c), bx = buffer(x), by = buffer(y);
  const auto row = clblast::Layout::kRowMajor;
  const auto no = clblast::Transpose::kNo;
  auto code = clblast::Gemm(row, no, no, m, n, k, 2.0f, ba, 0, k, bb, 0, n, 0.0f, bc, 0, n, &queue);
  compare("sgemm", code, bc, wanted);
  for (size_t r = 0; r < m; r++) {
    double sum = 0;
    for (size_t s = 0; s < n; s++) sum += (double)wanted[r * n + s] * x[s];
    line[r] = (float)sum;
  }
  code = clblast::Gemv(row, no, m, n, 1.0f, bc, 0, n, bx, 0, 1, 0.0f, by, 0, 1, &queue);
  compare("sgemv", code, by, line);
  for (size_t s = 0; s < n; s++) line[s] += 3 * x[s];
  code = clblast::Axpy(n, 3.0f, bx, 0, 1, by, 0, 1, &queue);
  compare("saxpy", code, by, line);
  double sum = 0;
  for (size_t s = 0; s < n; s++) sum += (double)x[s] * x[s];
  numbers one(1), norm{(float)std::sqrt(sum)};
  cl_mem b1 = buffer(one);
  compare("snrm2", clblast::Nrm2<float>(n, b1, 0, bx, 0, 1, &queue), b1, norm);
  std::printf("%d failed\n", failures);
  return failures != 0;
}
