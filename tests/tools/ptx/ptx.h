// SPDX-License-Identifier: MIT
//
// An evaluator of PTX for the tests, written from the ISA's documentation (Parallel Thread
// Execution ISA, "Instruction Set") and not from what the CUDA backend emits. It reads a text, and
// runs the threads of a launch, one cooperative thread array after the other, switching between
// threads after a few instructions in an order that a seed chooses. What it does not know is an
// error with its line, and so is what the ISA leaves open or a device may do in two ways: float
// sums and products that do not say how they round (an assembler may contract them),
// approximations, flushing of subnormals, division by zero, access to memory that nobody gave,
// misaligned access, a barrier that some threads never reach. Nothing of it is shared with src/.
// One thread per launch; a module may run in several.
#ifndef VYRE_TESTS_PTX_H
#define VYRE_TESTS_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ptx_module ptx_module;
typedef struct ptx_kernel ptx_kernel;

enum { PTX_MESSAGE = 256 };

// NULL with a message ("line 7: ...") when the text is not understood, all of it.
ptx_module *ptx_parse(const char *text, size_t size, char message[PTX_MESSAGE]);
void ptx_free(ptx_module *module);

const ptx_kernel *ptx_find(const ptx_module *module, const char *entry); // NULL: none
uint32_t ptx_param_count(const ptx_kernel *kernel);
uint32_t ptx_param_bytes(const ptx_kernel *kernel, uint32_t index);
uint32_t ptx_static_shared(const ptx_kernel *kernel); // bytes
uint32_t ptx_most_threads(const ptx_kernel *kernel);  // .maxntid; 1024 where it has none

typedef struct ptx_launch {
  uint32_t grid[3], block[3];
  const void *const *params; // one pointer per parameter
  uint32_t dynamic_shared;   // bytes
  // Whether a kernel may touch these bytes, which are the host's at this address.
  bool (*is_given)(void *context, uint64_t address, uint32_t bytes);
  void *context;
  uint64_t seed;
  const volatile uint32_t *abort; // not 0: end at once, as a success; may be NULL
} ptx_launch;

// False with a message when something is wrong with the program.
bool ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char message[PTX_MESSAGE]);

#endif
