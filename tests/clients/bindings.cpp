// SPDX-License-Identifier: MIT
//
// A client in C++, with the bindings of opencl.hpp: buffers, functors, events, errors as exceptions.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 200
#include <CL/opencl.hpp>

#include <iostream>
#include <numeric>
#include <vector>

static const char source[] =
    "kernel void scale(global const float *x, global float *y, float a) {\n"
    "  int i = get_global_id(0); y[i] = a * x[i]; }\n"
    "kernel void sum(global const float *x, global float *y, local float *t) {\n"
    "  int l = get_local_id(0); t[l] = x[get_global_id(0)];\n"
    "  for (int s = get_local_size(0) / 2; s > 0; s /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); if (l < s) t[l] += t[l + s]; }\n"
    "  if (l == 0) y[get_group_id(0)] = t[0]; }\n";

int main() try {
  cl::Device device = cl::Device::getDefault();
  cl::Context context(device);
  cl::CommandQueue queue(context, device, CL_QUEUE_PROFILING_ENABLE);
  cl::Program program(context, source, true);
  std::vector<float> x(4096), y(4096), sums(64);
  std::iota(x.begin(), x.end(), 0.0f);
  cl::Buffer bx(context, x.begin(), x.end(), true), by(context, CL_MEM_READ_WRITE, 4096 * 4);
  cl::Buffer bs(context, CL_MEM_WRITE_ONLY, 64 * 4);
  cl::KernelFunctor<cl::Buffer, cl::Buffer, float> scale(program, "scale");
  cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::LocalSpaceArg> sum(program, "sum");
  cl::Event scaled = scale(cl::EnqueueArgs(queue, cl::NDRange(4096)), bx, by, 2.0f);
  sum(cl::EnqueueArgs(queue, scaled, cl::NDRange(4096), cl::NDRange(64)), by, bs, cl::Local(256));
  cl::copy(queue, by, y.begin(), y.end());
  cl::copy(queue, bs, sums.begin(), sums.end());
  for (int i = 0; i < 4096; i++)
    if (y[i] != 2.0f * static_cast<float>(i)) throw std::runtime_error("scale is wrong");
  if (sums[1] != 2.0f * (64 + 127) * 32) throw std::runtime_error("sum is wrong");
  if (scaled.getProfilingInfo<CL_PROFILING_COMMAND_END>() <
      scaled.getProfilingInfo<CL_PROFILING_COMMAND_START>())
    throw std::runtime_error("time goes backwards");
  try {
    cl::Program(context, "kernel void k( {", true);
    throw std::runtime_error("a wrong program was built");
  } catch (const cl::BuildError &error) {
    if (error.getBuildLog().at(0).second.empty()) throw std::runtime_error("the log is empty");
  }
  std::cout << "all right\n";
  return 0;
} catch (const std::exception &error) {
  std::cerr << "failed: " << error.what() << "\n";
  return 1;
}
