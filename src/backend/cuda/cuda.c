// SPDX-License-Identifier: MIT
#include "backend/cuda/cuda.h"

#include "backend/cuda/forms.h"
#include "base/error.h"

static vyre_status refuse(vyre_error *error) {
  return error_set(
      error, VYRE_ERROR_UNSUPPORTED,
      "CUDA devices are not driven yet: PTX is only written. Fix: use another backend, "
      "or `vyre compile --emit=ptx`");
}

static vyre_status cuda_probe(const backend *self, vyre_device *devices, uint32_t capacity,
                              uint32_t *count, vyre_error *error) {
  (void)self;
  (void)devices;
  (void)capacity;
  *count = 0;
  return refuse(error);
}

static vyre_status cuda_compile(const backend *self, vyre_program *program,
                                const vyre_compile_options *options, const volatile uint32_t *stop,
                                void **state, vyre_error *error) {
  (void)self;
  (void)program;
  (void)options;
  (void)stop;
  (void)state;
  return refuse(error);
}

static vyre_status cuda_dispatch(void *state, const launch *l, vyre_report *report,
                                 vyre_error *error) {
  (void)state;
  (void)l;
  (void)report;
  return refuse(error);
}

static void cuda_release(void *state) {
  (void)state;
}

const backend cuda_backend = {
    .id = "cuda",
    .summary = "CUDA devices: GPUs of NVIDIA",
    .forms = cuda_forms,
    .probe = cuda_probe,
    .compile = cuda_compile,
    .dispatch = cuda_dispatch,
    .release = cuda_release,
};
