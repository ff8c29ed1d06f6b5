// SPDX-License-Identifier: MIT
//
// What an ELF object leaves open until it has an address, by the machine that it is for: how a
// relocation is written, and how a function is reached that is further away than a call. Every
// machine is compiled in, so that tests reach all of them; the loader takes that of the host.
// Pure functions over the caller's bytes. Any thread.
#ifndef VYRE_BACKEND_CPU_RELOCATE_H
#define VYRE_BACKEND_CPU_RELOCATE_H

#include <stdbool.h>
#include <stdint.h>

enum { STUB_BYTES = 16 };

typedef struct elf_machine {
  uint16_t number; // e_machine
  // How many bytes a relocation of this type writes; 0 for one that is not known.
  unsigned (*bytes)(uint32_t type);
  // Writes it to `place`, which the code will see at the address `at`; `value` is the symbol with
  // the addend. False when it does not fit.
  bool (*apply)(uint32_t type, unsigned char *place, uint64_t at, uint64_t value);
  // Code that jumps to `target`, wherever that is.
  void (*stub)(unsigned char out[STUB_BYTES], uint64_t target);
} elf_machine;

extern const elf_machine elf_x86_64, elf_aarch64;

// The machine that this process runs on; NULL for one whose objects cannot be loaded.
const elf_machine *elf_host(void);

#endif
