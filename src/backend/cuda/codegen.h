// SPDX-License-Identifier: MIT
//
// Between the CUDA backend and its code generator, which lives in the module that links LLVM
// (libvyre-llvm.so) and is loaded when something has to be compiled. It turns a program into one
// PTX text with a kernel per region. The text is the same for every device: PTX for an older
// architecture runs on the newer ones, so that what the tests prove is what devices get.
#ifndef VYRE_BACKEND_CUDA_CODEGEN_H
#define VYRE_BACKEND_CUDA_CODEGEN_H

#include "ir/program.h"

// What a kernel takes, in the order of its parameters; each is passed by value.
typedef enum cuda_fact {
  CUDA_BUFFER, // address of buffer `index`
  CUDA_LENGTH, // number of its elements, u32
  CUDA_PARAM,  // scalar `index` of the program, in its own type; bool is a byte
  CUDA_GRID,   // extent along axis `index`, u32
  CUDA_BASE,   // where the launch begins along axis `index`, in workgroups, u32
  CUDA_STOP,   // address of the stop flag, u32
  CUDA_FACTS
} cuda_fact;

typedef struct cuda_argument {
  uint8_t kind; // cuda_fact
  uint8_t bytes;
  uint16_t index;
} cuda_argument;

// All that a kernel may take: buffers and their lengths, parameters, grid, base and flag.
enum { CUDA_MOST_ARGUMENTS = 2 * 128 + 256 + 7 };

typedef struct cuda_kernel {
  char entry[64];          // name in the text: "vyre_<n>_<region>", cut to fit
  uint32_t dynamic_shared; // bytes that the launch gives; 0: what it needs is declared
  uint32_t argument_count;
  cuda_argument *arguments; // malloc'ed
} cuda_kernel;

typedef struct cuda_code {
  char *ptx; // malloc'ed, with a NUL behind it
  size_t ptx_size;
  cuda_kernel *kernels; // one per region, malloc'ed
  uint32_t kernel_count;
} cuda_code;

typedef struct cuda_options {
  bool is_polled; // kernels look at a stop flag, so that a time limit can end them
  bool is_quick;
  bool keeps_names;
  const volatile uint32_t *stop; // not 0: give up soon; may be NULL
} cuda_options;

// The oldest architecture that kernels run on: loops that wait for another thread of the same warp,
// as those of atomics do, need its scheduling. And the version of PTX that it takes.
enum { CUDA_OLDEST = 75, CUDA_PTX = 63 };

enum { CUDA_ABI_VERSION = 1 };
#define CUDA_CODEGEN_SYMBOL "vyre_cuda_codegen"

typedef struct cuda_codegen {
  uint32_t abi_version;
  // Any thread, also at once. The program is lowered here (lower/lower.h): VYRE_ERROR_UNSUPPORTED
  // names what cannot be, such as a barrier that is not provably reached by whole workgroups.
  vyre_status (*compile)(const vyre_program *program, const cuda_options *options, cuda_code *out,
                         vyre_error *error);
} cuda_codegen;

// In the backend, not the module.
vyre_status cuda_generate(const vyre_program *program, const cuda_options *options, cuda_code *out,
                          vyre_error *error);
void cuda_code_free(cuda_code *code);

#endif
