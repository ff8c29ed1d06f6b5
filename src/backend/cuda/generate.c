// SPDX-License-Identifier: MIT
#include "backend/cuda/codegen.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/module.h"

#include <stdlib.h>

static const char module_file[] = "libvyre-llvm.so";

static vyre_status find_generator(const cuda_codegen **out, vyre_error *error) {
  const void *found;
  vyre_status status = module_find(module_file, CUDA_CODEGEN_SYMBOL, &found, error);
  if (status != VYRE_OK) return status;
  *out = found;
  if ((*out)->abi_version == CUDA_ABI_VERSION) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND,
                   "the module %s is of another version of vyre. Fix: install both from one build",
                   module_file);
}

// LLVM has locks of its own, which a child of fork() must not find taken.
vyre_status cuda_generate(const vyre_program *program, const cuda_options *options, cuda_code *out,
                          vyre_error *error) {
  const cuda_codegen *generator;
  *out = (cuda_code){0};
  vyre_status status = fork_hold(error);
  if (status != VYRE_OK) return status;
  status = find_generator(&generator, error);
  if (status == VYRE_OK) status = generator->compile(program, options, out, error);
  fork_let_go();
  if (status != VYRE_OK) cuda_code_free(out);
  return status;
}

void cuda_code_free(cuda_code *code) {
  for (uint32_t i = 0; i < code->kernel_count && code->kernels; i++)
    free(code->kernels[i].arguments);
  free(code->kernels);
  free(code->ptx);
  *code = (cuda_code){0};
}
