// SPDX-License-Identifier: MIT
#include "backend/cuda/api.h"

#include "base/environment.h"
#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>

static cuda_api api;
static vyre_error load_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// ---- errors -------------------------------------------------------------------------------------

typedef struct code_row {
  int code;
  const char *name;
  bool is_loss;
} code_row;

#define ROW(name, is_loss)                                                                         \
  { CU_ERROR_##name, "CUDA_ERROR_" #name, is_loss }
static const code_row codes[] = {
    ROW(INVALID_VALUE, false),
    ROW(OUT_OF_MEMORY, false),
    ROW(NOT_INITIALIZED, true),
    ROW(DEINITIALIZED, true),
    ROW(DEVICE_UNAVAILABLE, true),
    ROW(NO_DEVICE, false),
    ROW(INVALID_IMAGE, false),
    ROW(INVALID_CONTEXT, true),
    ROW(NO_BINARY_FOR_GPU, false),
    ROW(ECC_UNCORRECTABLE, true),
    ROW(INVALID_PTX, false),
    ROW(NVLINK_UNCORRECTABLE, true),
    ROW(JIT_COMPILER_NOT_FOUND, false),
    ROW(UNSUPPORTED_PTX_VERSION, false),
    ROW(CONTAINED, true),
    ROW(INVALID_HANDLE, false),
    ROW(NOT_FOUND, false),
    ROW(NOT_READY, false),
    ROW(ILLEGAL_ADDRESS, true),
    ROW(LAUNCH_OUT_OF_RESOURCES, false),
    ROW(LAUNCH_TIMEOUT, true),
    ROW(CONTEXT_IS_DESTROYED, true),
    ROW(ASSERT, true),
    ROW(HARDWARE_STACK, true),
    ROW(ILLEGAL_INSTRUCTION, true),
    ROW(MISALIGNED_ADDRESS, true),
    ROW(INVALID_ADDRESS_SPACE, true),
    ROW(INVALID_PC, true),
    ROW(LAUNCH_FAILED, true),
    ROW(EXTERNAL_DEVICE, true),
    ROW(UNKNOWN, true),
};
#undef ROW

static const code_row *find_code(cu_result code) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) return &codes[i];
  return NULL;
}

bool cuda_is_loss(cu_result code) {
  const code_row *row = find_code(code);
  return row && row->is_loss;
}

vyre_status cuda_error(vyre_error *error, cu_result code, const char *what) {
  const code_row *row = find_code(code);
  bool is_memory = code == CU_ERROR_OUT_OF_MEMORY, is_loss = row && row->is_loss;
  return error_set(error, is_memory ? VYRE_ERROR_MEMORY : VYRE_ERROR_BACKEND,
                   "CUDA could not %s: %s (%d). Fix: %s", what,
                   row ? row->name : "an unnamed error", code,
                   is_memory ? "use smaller buffers or another backend"
                   : is_loss ? "use another backend until the process ends"
                             : "update the driver, or use another backend");
}

// ---- loading ------------------------------------------------------------------------------------

static bool find_functions(void *library) {
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&api.name = dlsym(library, symbol);                                                    \
  if (!api.name) {                                                                                 \
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,                                                 \
              "libcuda.so.1 has no " symbol ". Fix: install a newer driver");                      \
    return false;                                                                                  \
  }
  CUDA_FUNCTIONS(FIND)
#undef FIND
  return true;
}

static void start(void) {
  cu_result code = api.Init(0);
  if (code == CU_ERROR_NO_DEVICE)
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "CUDA has no device here. Fix: look at the output of nvidia-smi");
  else if (code != CU_SUCCESS)
    cuda_error(&load_error, code, "be started");
  else if ((code = api.DriverGetVersion(&api.version)) != CU_SUCCESS)
    cuda_error(&load_error, code, "say its version");
  if (load_error.status != VYRE_OK) load_error.status = VYRE_ERROR_UNSUPPORTED;
}

static void load(void) {
  // The driver lets variables of its own choose what it loads.
  if (environment_is_foreign()) {
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "the CUDA driver is not loaded into a process that runs with other rights than those "
              "of whoever started it. Fix: use another backend there");
    return;
  }
  if (environment_is("VYRE_CUDA", "off")) {
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "CUDA is turned off by VYRE_CUDA=off. Fix: unset it to use CUDA devices");
    return;
  }
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "the CUDA driver cannot be opened (%s). Fix: install NVIDIA's driver with "
              "libcuda.so.1",
              why ? why : "no reason given");
  } else if (find_functions(library)) {
    start();
  }
}

const cuda_api *cuda_api_get(vyre_error *error) {
  pthread_once(&once, load);
  if (load_error.status == VYRE_OK) return &api;
  if (error) *error = load_error;
  return NULL;
}
